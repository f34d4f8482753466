// A program of Qt: its own statements, which are typed, and messages of others through the handler.
#include <QMap>
#include <QPoint>
#include <QVariant>
#include <cstdio>
#include <cstdlib>
#include <silverpoint/qt.hpp>
#include <silverpoint/qt/debug.hpp>
#include <silverpoint/qt/handler.hpp>

SP_CATEGORY("shop")
Q_LOGGING_CATEGORY(wares, "shop")

static void one(int i) {
    const QString text = QString("text \"%1\" \u00fc").arg(i);
    qCDebug(wares) << "stream" << i << text;
    qCInfo(wares) << "point" << QPoint(i, -i) << i / 4.0 << QVariant(i);
    qCWarning(wares, "%d of %s", i, "nine");
    // Of another object than this program's: no statement of ours.
    QMessageLogger("other.cpp", 7, "other", "shop").critical("from elsewhere %d", i);
    SP_EVENT("values", text, QPoint(i, 1), QMap<QString, int>{{"a", i}});
}

int main(int argc, char** argv) {
    silverpoint::qt::install_message_handler();
    const int times = argc > 1 ? std::atoi(argv[1]) : 3;
    one(0);
    if (std::getchar() == EOF) return 1;
    for (int i = 1; i <= times; ++i) one(i);
}
