// A plug-in whose qDebug() is ours (silverpoint_capture_qt), with a copy of the headers of its own.
#include <QDebug>

extern "C" void captured_run(int number);

void captured_run(int number) {
    qWarning() << "statement" << number;
    QDebug held = qWarning();
    held << "held" << number;
}
