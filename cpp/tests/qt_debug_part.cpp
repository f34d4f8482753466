// A file of a program that was not written for Silverpoint.
#include <QDebug>
#include <QString>

void captured_part(int number);

void captured_part(int number) {
    qDebug() << "part" << number << QString("text");
    qWarning("printf %d", number);
    QDebug held = qInfo();
    held << "held" << number;
}
