// Shows trace files, or programs that run:
//
//   qt_viewer app.silver …            files
//   qt_viewer --follow app.silver     while they grow
//   qt_viewer --live 4711             a program by its process id or name; without one all that record
#include <QtCore/QCommandLineParser>
#include <QtWidgets/QApplication>
#include <cstdio>

#include "viewer.hpp"

int main(int count, char** arguments) {
    QApplication application(count, arguments);
    QApplication::setStyle(QStringLiteral("Fusion"));
    QCommandLineParser parser;
    parser.addHelpOption();
    parser.addOption({QStringLiteral("live"), QStringLiteral("Look at programs that run")});
    parser.addOption({QStringLiteral("follow"), QStringLiteral("Go on as the files grow")});
    parser.addPositionalArgument(QStringLiteral("what"), QStringLiteral("Trace files; process ids or names"),
                                 QStringLiteral("FILE|PID|NAME…"));
    parser.process(application);

    viewer window;
    QString error;
    const QStringList what = parser.positionalArguments();
    const bool is_open = parser.isSet(QStringLiteral("live"))
                             ? window.open_live(what, &error)
                             : window.open(what, parser.isSet(QStringLiteral("follow")), &error);
    if (!is_open) {
        std::fprintf(stderr, "qt_viewer: %s\n", qPrintable(error));
        return 1;
    }
    window.show();
    return QApplication::exec();
}
