// Fires tracepoints of qtdemo.tracepoints, and of the macros in this file, as sources of Qt do.
#include <QByteArray>
#include <QEvent>
#include <QRect>
#include <QString>
#include <QUrl>
#include <silverpoint/silverpoint.hpp>

// Types of the program, known before the header.
enum Button : unsigned char { First, Second };
struct Point {
    int x;
    double y;
};
SP_STRUCT(Point, x, y)

#include "editor_tracepoints_p.h"
#include "qtdemo_tracepoints_p.h"

namespace {

Q_TRACE_PREFIX(editor,
               "#include <QtCore/qcoreevent.h>"
               "class View;")
Q_TRACE_METADATA(editor, "ENUM { AUTO, RANGE User ... MaxUser } QEvent::Type;")
Q_TRACE_POINT(editor, View_event, const void* view, QEvent::Type type);
/* Q_TRACE_POINT(editor, commented, Nothing nothing); */
Q_TRACE_POINT(other, of_another_provider, Nothing nothing);

struct Text {
    int length;
};
struct Document {
    static int load(const QString& name, Text* text);
};
int Q_TRACE_INSTRUMENT(editor) Document::load(const QString& name, Text* text) {
    Q_TRACE_PARAM_REPLACE(Text*, int);
    Q_TRACE_SCOPE(Document_load, name, text->length);
    const char* const quoted = "Q_TRACE_POINT(editor, quoted, Nothing nothing);";
    return quoted != nullptr ? text->length : 0;
}

}  // namespace

int main() {
    Q_TRACE(QFactoryLoader_update, QStringLiteral("plug\u00e4.so"));
    Q_TRACE(QLibraryPrivate_load_entry, QString());
    if (Q_TRACE_ENABLED(QLibraryPrivate_load_exit)) Q_UNCONDITIONAL_TRACE(QLibraryPrivate_load_exit, true);
    QEvent event(QEvent::Timer);
    Q_TRACE(QEvent_ctor, &event, event.type());
    Q_TRACE(QCoreApplication_postEvent_exit);
    Q_TRACE(QObject_dtor, nullptr);
    Q_TRACE(qt_message_print, 1, "net", nullptr, "a.cpp", 7, QStringLiteral("text"));
    const char argv[10] = "first";
    const int values[] = {1, -2, 3};
    Q_TRACE(qcoreapplication_foo, 2, argv, values);
    const double list[] = {0.5, 1.5, 2.5};
    Q_TRACE(qcoreapplication_baz, "some string", 4U, list, 2);
    Q_TRACE(qcoreapplication_baz, nullptr, 4U, list, -1);
    Q_TRACE(qcoreapplication_moved, QRect(1, 2, 3, 4), QRect(5, 6, 7, 8));
    Q_TRACE(qcoreapplication_mixed, QByteArray("a\0b", 3), QUrl(QStringLiteral("http://a/b")), Button(3),
            Qt::ShiftModifier | Qt::ControlModifier, Point{1, 2.5});
    Q_TRACE(View_event, &event, event.type());
    Q_TRACE(View_event, nullptr, QEvent::Type(QEvent::User));
    Text text{12};
    return Document::load(QStringLiteral("name"), &text) == 12 ? 0 : 1;
}
