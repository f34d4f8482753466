// Qt's types as arguments of every tracepoint: recorded with their types, unformatted.
//
//   #include <silverpoint/qt.hpp>
//   SP_INFO("{} at {}", name, rect);          QString as UTF-16, a copy; QRect as a record of four integers
//
// | header | types |
// |---|---|
// | qt/text.hpp | QString, QStringView, QLatin1String, QByteArray and its view, QChar, QLatin1Char |
// | qt/containers.hpp | QMap, QMultiMap, QHash, QMultiHash, QBitArray; QList, QSet, QVarLengthArray, QPair |
// | qt/times.hpp | QDate, QTime, QDateTime |
// | qt/geometry.hpp | QPoint, QSize, QRect, QLine, QMargins, and with F |
// | qt/color.hpp | QColor where Gui is linked |
// | qt/ids.hpp | QUuid, QUrl |
// | qt/enums.hpp | names of Q_ENUM, Q_FLAG and Qt's own enumerations; QFlags |
// | qt/variant.hpp | QVariant with everything within, QJsonValue, QJsonObject, QJsonArray, QJsonDocument |
// | qt/objects.hpp | QObject* and smart pointers to such, QSharedPointer, QWeakPointer, types with Q_GADGET |
//
// Thread-safe: any thread, while no other changes the value. Cost: a copy of the value into the record; for a
// QUrl its text is made.
//
// Needs Qt 6 and its Core module alone. For messages by qDebug() without a change of the source:
// qt/debug.hpp.
#pragma once

#include <QtGlobal>

#if QT_VERSION < QT_VERSION_CHECK(6, 2, 0)
#    error "silverpoint/qt.hpp needs Qt 6.2 or newer; with Qt 5 there are signals (silverpoint/signal/qt.hpp)"
#endif

#include "qt/color.hpp"
#include "qt/containers.hpp"
#include "qt/enums.hpp"
#include "qt/geometry.hpp"
#include "qt/ids.hpp"
#include "qt/objects.hpp"
#include "qt/text.hpp"
#include "qt/times.hpp"
#include "qt/variant.hpp"
