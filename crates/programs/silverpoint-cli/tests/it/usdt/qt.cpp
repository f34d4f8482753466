// Statements of Qt, and messages through its handler, while nothing is on: N rounds.
#include <QPoint>
#include <cstdlib>
#include <silverpoint/qt/debug.hpp>

Q_LOGGING_CATEGORY(wares, "shop")

int silent(int i);

int main(int, char** argv) {
    silverpoint::qt::install_message_handler();
    for (int i = 0; i < std::atoi(argv[1]); ++i) {
        qCDebug(wares) << "point" << QPoint(i, -i) << QString("\u00fc");
        qWarning("%d of %s", i, "nine");
        QDebug held = qInfo();
        held << "held" << i;
        // Of another object than this program's: no statement of ours.
        QMessageLogger("other.cpp", 7, "other", "elsewhere").critical("from elsewhere %d", i);
        silent(i);
    }
}
