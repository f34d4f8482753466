// A program as Qt's users write them. Nothing here names Silverpoint but the logger: the target captures
// qDebug().
#include <QCoreApplication>
#include <QDateTime>
#include <QDebug>
#include <QHash>
#include <QLoggingCategory>
#include <QPoint>
#include <QSize>
#include <QStringList>
#include <QTimer>
#include <QVariant>
#include <cstdlib>
#include <silverpoint/logger.hpp>

Q_LOGGING_CATEGORY(shop, "shop")
Q_LOGGING_CATEGORY(noise, "shop.noise", QtWarningMsg)

struct Order {
    int id;
    QString symbol;
};
QDebug operator<<(QDebug out, const Order& order) {
    const QDebugStateSaver saver(out);
    out.nospace() << "Order(" << order.id << ", " << order.symbol << ')';
    return out;
}

class Window : public QObject {
  public:
    using QObject::QObject;
    void resize(const QSize& to) {
        qCDebug(shop) << this << "is" << to << Qt::hex << Qt::showbase << 255;
        qCDebug(noise) << "not shown";
    }
};

int main(int argc, char** argv) {
    QCoreApplication app(argc, argv);
    silverpoint::start(
        silverpoint::logger_config("debug").to(silverpoint::sink::file(std::getenv("ADOPT_LOG"))));
    qInfo() << "the answer" << 42;
    qDebug("printf's way: %d %s", 3, qPrintable(QStringLiteral("apple")));
    qCWarning(shop, "low %d", 3);
    qCInfo(shop) << Order{7, QStringLiteral("SPT")} << QStringList{"a", "b"} << QPoint(1, 2);
    qWarning().noquote().nospace() << QString("without quotes") << QVariant(2.5)
                                   << QHash<QString, int>{{"a", 1}};
    qDebug() << QDateTime::currentDateTimeUtc() << QByteArray("\x01\x02", 2) << Qt::AlignLeft;
    Window window;
    window.setObjectName("main");
    QTimer::singleShot(0, &window, [&window] {
        window.resize(QSize(640, 480));
        QCoreApplication::quit();
    });
    const int status = QCoreApplication::exec();
    return silverpoint::stop() ? status : 1;
}
