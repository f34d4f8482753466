// A plug-in of somebody else's, compiled without a word of ours (qt_plugins_test).
#include <QLoggingCategory>
#include <QObject>
#include <QtDebug>

Q_LOGGING_CATEGORY(foreign, "foreign.category")

extern "C" int foreign_run(int number);

int foreign_run(int number) {
    qWarning("foreign %d", number);
    qCWarning(foreign) << "with a category" << number;
    // What Qt itself warns of.
    QObject object;
    QObject::connect(&object, SIGNAL(none()), &object, SLOT(none()));
    return __LINE__;
}
