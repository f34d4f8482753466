// Values whose types are known only at run time: QVariant, with its content, and JSON.
//
// Each is one item that carries its types itself (CBOR, type `v`). It is made on the stack and has at most
// 4,000 bytes. A longer text ends with `…`, longer bytes are cut, and the record is marked as cut. A larger
// container is recorded less deep. Containers may be nested 8 deep; beyond that stands `…`. A value of an
// unknown type is recorded as text if Qt can convert it to a QString, otherwise as the name of its type.
#pragma once

#include <QDate>
#include <QDateTime>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QJsonValue>
#include <QLine>
#include <QMetaEnum>
#include <QMetaProperty>
#include <QPoint>
#include <QRect>
#include <QSize>
#include <QTime>
#include <QUrl>
#include <QUuid>
#include <QVariant>

#include "../recursive.hpp"
#include "containers.hpp"
#include "enums.hpp"
#include "geometry.hpp"
#include "ids.hpp"
#include "object_pointer.hpp"
#include "times.hpp"

SP_DETAIL_BEGIN

// A type that is one CBOR item: its codec has put_cbor besides.
template <class T>
struct ItemCodec {
    static constexpr bool kIsWhole = true;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add('v'); }
    // False: something is missing for lack of room.
    static bool fill(Item& item, const T& value) {
        return fill_item(item, [&](CborWriter& out) { return Codec<T>::put_cbor(out, value); });
    }
    using Taken = FilledItem;
    static FilledItem take(const T& value) {
        FilledItem filled;
        filled.is_whole = fill(filled.item, value);
        return filled;
    }
};

// --- Containers of such values.

// Calls `put` one level deeper; beyond the last there is a mark.
template <class Put>
bool put_deeper(CborWriter& out, const Put& put) {
    if (out.deeper == 0) return put_ellipsis(out), false;
    --out.deeper;
    const bool whole = put();
    ++out.deeper;
    return whole;
}

template <class List>
bool put_dynamic_list(CborWriter& out, const List& list) {
    return put_deeper(out, [&] {
        bool whole = true;
        out.begin_array();
        for (auto it = list.begin(); it != list.end() && out.has_room(); ++it) {
            const std::remove_cvref_t<decltype(list.at(0))> element = *it;
            whole = put_item(out, element) && whole;
        }
        out.end();
        return whole;
    });
}
template <class Map>
bool put_dynamic_map(CborWriter& out, const Map& map) {
    return put_deeper(out, [&] {
        bool whole = true;
        out.begin_map();
        for (auto it = map.begin(); it != map.end() && out.has_room(); ++it) {
            const typename Map::mapped_type value = it.value();
            whole = put_pair(out, it.key(), value) && whole;
        }
        out.end();
        return whole;
    });
}

// --- JSON

template <>
struct Codec<QJsonValue> : ItemCodec<QJsonValue> {
    static bool put_cbor(CborWriter& out, const QJsonValue& value) {
        switch (value.type()) {
            case QJsonValue::Bool:
                return put_item(out, value.toBool());
            case QJsonValue::Double: {
                // Integers of 64 bits are kept as such by QJsonValue.
                const double number = value.toDouble();
                const qint64 whole = value.toInteger();
                if (static_cast<double>(whole) == number && value.toVariant().typeId() != QMetaType::Double)
                    return put_item(out, whole);
                return put_item(out, number);
            }
            case QJsonValue::String:
                return put_item(out, value.toString());
            case QJsonValue::Array:
                return put_dynamic_list(out, value.toArray());
            case QJsonValue::Object:
                return put_dynamic_map(out, value.toObject());
            case QJsonValue::Null:
            case QJsonValue::Undefined:
                break;
        }
        return out.null(), true;
    }
};
template <>
struct Codec<QJsonArray> : ItemCodec<QJsonArray> {
    static bool put_cbor(CborWriter& out, const QJsonArray& array) { return put_dynamic_list(out, array); }
};
template <>
struct Codec<QJsonObject> : ItemCodec<QJsonObject> {
    static bool put_cbor(CborWriter& out, const QJsonObject& object) { return put_dynamic_map(out, object); }
};
template <>
struct Codec<QJsonDocument> : ItemCodec<QJsonDocument> {
    static bool put_cbor(CborWriter& out, const QJsonDocument& document) {
        if (document.isArray()) return put_dynamic_list(out, document.array());
        if (document.isObject()) return put_dynamic_map(out, document.object());
        return out.null(), true;
    }
};

// --- Variants

// The properties of a gadget.
inline bool put_gadget(CborWriter& out, const QMetaObject* meta, const void* gadget);
inline bool put_variant(CborWriter& out, const QVariant& value);

template <>
struct Codec<QVariant> : ItemCodec<QVariant> {
    static bool put_cbor(CborWriter& out, const QVariant& value) { return put_variant(out, value); }
};

inline bool put_gadget(CborWriter& out, const QMetaObject* meta, const void* gadget) {
    return put_deeper(out, [&] {
        bool whole = true;
        out.begin_map();
        for (int i = 0; i < meta->propertyCount() && out.has_room(); ++i) {
            const QMetaProperty property = meta->property(i);
            const QVariant value = property.readOnGadget(gadget);
            whole = put_pair(out, property.name(), value) && whole;
        }
        out.end();
        return whole;
    });
}

// The value that a variant of this type holds.
template <class T>
const T& held(const QVariant& value) {
    return *static_cast<const T*>(value.constData());
}

inline bool put_enumeration(CborWriter& out, const QVariant& value, const QMetaType& type) {
    const int number = value.toInt();
    const QMetaObject* meta = type.metaObject();
    QByteArrayView name(type.name());
    name = name.sliced(name.lastIndexOf(':') + 1);
    const int index = meta == nullptr ? -1 : meta->indexOfEnumerator(name.toByteArray().constData());
    if (index >= 0) {
        const QMetaEnum known = meta->enumerator(index);
        if (known.isFlag()) return put_item(out, known.valueToKeys(number));
        if (const char* key = known.valueToKey(number)) return put_item(out, key);
    }
    return put_item(out, number);
}

inline bool put_variant(CborWriter& out, const QVariant& value) {
    const QMetaType type = value.metaType();
    switch (type.id()) {
        case QMetaType::UnknownType:
        case QMetaType::Nullptr:
        case QMetaType::Void:
            return out.null(), true;
#define SP_DETAIL_HELD(name, type) \
    case QMetaType::name:          \
        return put_item(out, held<type>(value));
            SP_DETAIL_HELD(Bool, bool)
            SP_DETAIL_HELD(Char, char)
            SP_DETAIL_HELD(SChar, signed char)
            SP_DETAIL_HELD(UChar, unsigned char)
            SP_DETAIL_HELD(Short, short)
            SP_DETAIL_HELD(UShort, unsigned short)
            SP_DETAIL_HELD(Int, int)
            SP_DETAIL_HELD(UInt, unsigned)
            SP_DETAIL_HELD(Long, long)
            SP_DETAIL_HELD(ULong, unsigned long)
            SP_DETAIL_HELD(LongLong, qlonglong)
            SP_DETAIL_HELD(ULongLong, qulonglong)
            SP_DETAIL_HELD(Float, float)
            SP_DETAIL_HELD(Double, double)
            SP_DETAIL_HELD(QChar, QChar)
            SP_DETAIL_HELD(QString, QString)
            SP_DETAIL_HELD(QByteArray, QByteArray)
            SP_DETAIL_HELD(QStringList, QStringList)
            SP_DETAIL_HELD(QByteArrayList, QByteArrayList)
            SP_DETAIL_HELD(QBitArray, QBitArray)
            SP_DETAIL_HELD(QDate, QDate)
            SP_DETAIL_HELD(QTime, QTime)
            SP_DETAIL_HELD(QDateTime, QDateTime)
            SP_DETAIL_HELD(QUrl, QUrl)
            SP_DETAIL_HELD(QUuid, QUuid)
            SP_DETAIL_HELD(QPoint, QPoint)
            SP_DETAIL_HELD(QPointF, QPointF)
            SP_DETAIL_HELD(QSize, QSize)
            SP_DETAIL_HELD(QSizeF, QSizeF)
            SP_DETAIL_HELD(QRect, QRect)
            SP_DETAIL_HELD(QRectF, QRectF)
            SP_DETAIL_HELD(QLine, QLine)
            SP_DETAIL_HELD(QLineF, QLineF)
            SP_DETAIL_HELD(QJsonValue, QJsonValue)
            SP_DETAIL_HELD(QJsonArray, QJsonArray)
            SP_DETAIL_HELD(QJsonObject, QJsonObject)
            SP_DETAIL_HELD(QJsonDocument, QJsonDocument)
#undef SP_DETAIL_HELD
        case QMetaType::QVariantList:
            return put_dynamic_list(out, held<QVariantList>(value));
        case QMetaType::QVariantMap:
            return put_dynamic_map(out, held<QVariantMap>(value));
        case QMetaType::QVariantHash:
            return put_dynamic_map(out, held<QVariantHash>(value));
        default:
            break;
    }
    if ((type.flags() & QMetaType::IsEnumeration) != 0) return put_enumeration(out, value, type);
    if ((type.flags() & QMetaType::IsGadget) != 0 && type.metaObject() != nullptr)
        return put_gadget(out, type.metaObject(), value.constData());
    if ((type.flags() & QMetaType::PointerToQObject) != 0) {
        return put_item(out, ObjectPointer::of(value.value<QObject*>()));
    }
    if (value.canConvert<QVariantMap>()) return put_dynamic_map(out, value.toMap());
    if (value.canConvert<QVariantList>()) return put_dynamic_list(out, value.toList());
    if (value.canConvert<QString>()) return put_item(out, value.toString());
    return put_item(out, type.name());
}

SP_DETAIL_END
