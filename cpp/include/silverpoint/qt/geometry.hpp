// Points, sizes, rectangles and lines, with integers and floats; colours where Qt's Gui module is there.
#pragma once

#include <QLine>
#include <QLineF>
#include <QMargins>
#include <QPoint>
#include <QPointF>
#include <QRect>
#include <QRectF>
#include <QSize>
#include <QSizeF>
#include <utility>

#include "../silverpoint.hpp"

SP_STRUCT_OF(QPoint, (x, v.x()), (y, v.y()))
SP_STRUCT_OF(QPointF, (x, v.x()), (y, v.y()))
SP_STRUCT_OF(QSize, (width, v.width()), (height, v.height()))
SP_STRUCT_OF(QSizeF, (width, v.width()), (height, v.height()))
SP_STRUCT_OF(QRect, (x, v.x()), (y, v.y()), (width, v.width()), (height, v.height()))
SP_STRUCT_OF(QRectF, (x, v.x()), (y, v.y()), (width, v.width()), (height, v.height()))
SP_STRUCT_OF(QLine, (p1, v.p1()), (p2, v.p2()))
SP_STRUCT_OF(QLineF, (p1, v.p1()), (p2, v.p2()))
SP_STRUCT_OF(QMargins, (left, v.left()), (top, v.top()), (right, v.right()), (bottom, v.bottom()))
SP_STRUCT_OF(QMarginsF, (left, v.left()), (top, v.top()), (right, v.right()), (bottom, v.bottom()))

SP_DETAIL_BEGIN

template <>
inline constexpr bool kIsKnown<QPoint> = true;
template <>
inline constexpr bool kIsKnown<QPointF> = true;
template <>
inline constexpr bool kIsKnown<QSize> = true;
template <>
inline constexpr bool kIsKnown<QSizeF> = true;
template <>
inline constexpr bool kIsKnown<QRect> = true;
template <>
inline constexpr bool kIsKnown<QRectF> = true;
template <>
inline constexpr bool kIsKnown<QLine> = true;
template <>
inline constexpr bool kIsKnown<QLineF> = true;
template <>
inline constexpr bool kIsKnown<QMargins> = true;
template <>
inline constexpr bool kIsKnown<QMarginsF> = true;

SP_DETAIL_END
