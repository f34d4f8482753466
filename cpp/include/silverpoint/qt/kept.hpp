// How a piece of a stream keeps its value until the statement ends: the value at its `<<`, where that is
// cheap.
//
// | value | kept |
// |---|---|
// | numbers, truth values, characters, enumerations, pointers | by value |
// | `const char*`, and arrays of char that can be written to | a copy of the text |
// | variables of Qt's implicitly shared types | a copy, which is a reference counted |
// | points, sizes, views and their like | by value (a view refers to its text) |
// | all else, and what dies with the statement anyway | by reference |
#pragma once

#include <QBitArray>
#include <QByteArray>
#include <QDate>
#include <QDateTime>
#include <QHash>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QJsonValue>
#include <QList>
#include <QMap>
#include <QSet>
#include <QString>
#include <QTime>
#include <QUrl>
#include <QUuid>
#include <QVariant>

#include "look.hpp"

SP_DETAIL_BEGIN

// A text that ends with a zero, as it was; null stays null.
struct QtKeptText {
    QByteArray copy;
    SP_DETAIL_HOT const char* get() const { return copy.isNull() ? nullptr : copy.constData(); }
};

template <class T>
concept QtShared = std::same_as<T, QString> || std::same_as<T, QByteArray> || std::same_as<T, QVariant> ||
                   std::same_as<T, QUrl> || std::same_as<T, QDateTime> || std::same_as<T, QBitArray> ||
                   std::same_as<T, QJsonValue> || std::same_as<T, QJsonObject> ||
                   std::same_as<T, QJsonArray> || std::same_as<T, QJsonDocument>;
template <class T>
inline constexpr bool kIsQtShared = QtShared<T>;
template <class T>
inline constexpr bool kIsQtShared<QList<T>> = true;
template <class T>
inline constexpr bool kIsQtShared<QSet<T>> = true;
template <class KeyOf, class Content>
inline constexpr bool kIsQtShared<QMap<KeyOf, Content>> = true;
template <class KeyOf, class Content>
inline constexpr bool kIsQtShared<QMultiMap<KeyOf, Content>> = true;
template <class KeyOf, class Content>
inline constexpr bool kIsQtShared<QHash<KeyOf, Content>> = true;
template <class KeyOf, class Content>
inline constexpr bool kIsQtShared<QMultiHash<KeyOf, Content>> = true;

// Small types of Qt or the language: an own type may print its address.
template <class T>
inline constexpr bool kIsSmallQt =
    std::is_trivially_copyable_v<T> && sizeof(T) <= 32 &&
    (QtLook<T, true>::kIsThere || std::same_as<T, QDate> || std::same_as<T, QTime> || std::same_as<T, QUuid>);
template <class Enumeration>
inline constexpr bool kIsSmallQt<QFlags<Enumeration>> = true;

// `Given` is T&, const T& or T.
template <class T, class Given>
using QtKept = std::conditional_t<
    std::is_scalar_v<T> || kIsSmallQt<T> || (kIsQtShared<T> && std::is_lvalue_reference_v<Given>), T,
    std::conditional_t<std::is_lvalue_reference_v<Given> && !QtLook<T, true>::kIsThere, Given, const T&>>;

SP_DETAIL_END
