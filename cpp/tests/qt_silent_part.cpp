// A file whose debug, information and warning output is off when it is compiled.
#define QT_NO_DEBUG_OUTPUT
#define QT_NO_INFO_OUTPUT
#define QT_NO_WARNING_OUTPUT
#include "silverpoint/qt/debug.hpp"

Q_DECLARE_LOGGING_CATEGORY(fates)

int say_in_silence();

int say_in_silence() {
    int evaluated = 0;
    qDebug() << ++evaluated;
    qInfo() << ++evaluated;
    qWarning() << ++evaluated;
    qCDebug(fates) << ++evaluated;
    qCInfo(fates, "%d", ++evaluated);
    qCWarning(fates) << ++evaluated;
    qCCritical(fates) << "still there";
    return evaluated;
}
