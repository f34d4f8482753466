// The same as qt_debug_test.cpp of the types of Gui, and of enumerations with values beyond those whose names
// a signature has.
#include <QBrush>
#include <QColor>
#include <QEvent>
#include <QFont>
#include <QImage>
#include <QKeyEvent>
#include <QKeySequence>
#include <QMatrix4x4>
#include <QPainterPath>
#include <QPen>
#include <QPolygon>
#include <QQuaternion>
#include <QRegion>
#include <QTransform>
#include <QVector3D>
#include <map>
#include <vector>

#include "support/qt_debug.hpp"

namespace {

TEST_F(QtDebugTest, Colours) {
    std::vector<const char*> sources;
    IN_ALL_WAYS(QColor())
    IN_ALL_WAYS(QColor(Qt::red))
    IN_ALL_WAYS(QColor(1, 2, 3, 4))
    IN_ALL_WAYS(QColor::fromRgba64(1, 2, 3, 4))
    IN_ALL_WAYS(QColor::fromRgbF(0.25f, 0.5f, 0.75f))
    IN_ALL_WAYS(QColor::fromHsv(120, 100, 50))
    IN_ALL_WAYS(QColor::fromHsl(-1, 0, 50))
    IN_ALL_WAYS(QColor::fromCmyk(1, 2, 3, 4))
    IN_ALL_WAYS(QList<QColor>{QColor(Qt::blue), QColor()})
    IN_ALL_WAYS(QMap<QString, QColor>{{"sky", QColor(Qt::blue)}})
    IN_ALL_WAYS(std::map<int, QColor>{{1, QColor(Qt::blue)}})
    IN_ALL_WAYS(std::pair<QColor, int>(Qt::green, 7))
    IN_ALL_WAYS(QVariant(QColor(Qt::blue)))
    IN_ALL_WAYS(Qt::darkMagenta)
    EXPECT_EQ(sources.size(), 56u);
    compare(sources);
}

TEST_F(QtDebugTest, ShapesAndPictures) {
    std::vector<const char*> sources;
    IN_ALL_WAYS(QPolygon(QRect(1, 2, 3, 4)))
    IN_ALL_WAYS(QPolygonF(QRectF(1, 2.5, 3, 4)))
    IN_ALL_WAYS(QRegion(QRect(1, 2, 3, 4)))
    IN_ALL_WAYS(QRegion())
    IN_ALL_WAYS(QTransform::fromScale(2, 3))
    IN_ALL_WAYS(QMatrix4x4())
    IN_ALL_WAYS(QVector2D(1, 2) << QVector3D(1, 2, 3) << QVector4D(1, 2, 3, 4))
    IN_ALL_WAYS(QQuaternion(1, 2, 3, 4))
    IN_ALL_WAYS(QPen(Qt::red, 2))
    IN_ALL_WAYS(QBrush(Qt::green, Qt::Dense4Pattern))
    IN_ALL_WAYS(QImage(3, 4, QImage::Format_ARGB32))
    IN_ALL_WAYS(QImage())
    QPainterPath path;
    path.lineTo(3, 4);
    IN_ALL_WAYS(path)
    EXPECT_EQ(sources.size(), 52u);
    compare(sources);
}

TEST_F(QtDebugTest, KeysFontsAndEvents) {
    std::vector<const char*> sources;
    IN_ALL_WAYS(QKeySequence(Qt::CTRL | Qt::Key_S))
    IN_ALL_WAYS(Qt::Key_A)
    IN_ALL_WAYS(Qt::Key_Escape)
    IN_ALL_WAYS(Qt::Key_Backtab)
    IN_ALL_WAYS(Qt::Key(0x7654321))
    IN_ALL_WAYS(Qt::KeyboardModifiers(Qt::ShiftModifier | Qt::AltModifier))
    IN_ALL_WAYS(QEvent::DynamicPropertyChange)
    IN_ALL_WAYS(QEvent::User)
    IN_ALL_WAYS(QEvent::Type(QEvent::User + 1))
    IN_ALL_WAYS(QFont("Sans", 11))
    QKeyEvent press(QEvent::KeyPress, Qt::Key_A, Qt::ShiftModifier, "A");
    IN_ALL_WAYS(static_cast<QEvent*>(&press))
    IN_ALL_WAYS(static_cast<QEvent*>(nullptr))
    EXPECT_EQ(sources.size(), 48u);
    compare(sources);
}

}  // namespace
