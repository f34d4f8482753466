// Qt's maps, hashes and sets; arrays of bits. (QList, QVarLengthArray, QSet and similar types are ranges,
// like those of the standard library; QPair is std::pair.)
#pragma once

#include <QBitArray>
#include <QHash>
#include <QMap>
#include <QSet>

#include "text.hpp"

SP_DETAIL_BEGIN

// One entry of a map: a key that was cut still has its value.
template <class Writer, class KeyOf, class Content>
bool put_pair(Writer& out, const KeyOf& key, const Content& value) {
    const bool is_key_whole = put_item(out, key);
    return out.has_room() && put_item(out, value) && is_key_whole;
}

// For types whose iterators have key() and value().
template <class T>
struct QtMapCodec {
    static constexpr bool kIsWhole = true;
    using Key = typename T::key_type;
    using Value = typename T::mapped_type;
    static constexpr bool kIsSteady =
        silverpoint::detail::kIsSteady<Key> && silverpoint::detail::kIsSteady<Value>;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) {
        out.add('{');
        out.deeper([&] {
            CodecOf<Key>::sign(out);
            CodecOf<Value>::sign(out);
        });
    }
    template <std::size_t kAfter, class Room>
    static char* walk(Room& room, char* out, const T& map) {
        out = room.fit(out, 4 + kAfter);
        if (out == nullptr) return nullptr;
        const auto length = room.mark(out);
        std::size_t count = 0;
        out += 4;
        for (auto it = map.cbegin(); it != map.cend(); ++it, ++count) {
            out = Within<Key>::template put<kAfter>(room, out, it.key());
            if (out == nullptr) return nullptr;
            out = Within<Value>::template put<kAfter>(room, out, it.value());
            if (out == nullptr) return nullptr;
        }
        put_length(room.at(length), count);
        return out;
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const T& map) {
        bool whole = true;
        out.begin_map();
        for (auto it = map.cbegin(); it != map.cend() && out.has_room(); ++it)
            whole = put_pair(out, it.key(), it.value()) && whole;
        out.end();
        return whole;
    }
};

template <class KeyOf, class Content>
struct Codec<QMap<KeyOf, Content>> : QtMapCodec<QMap<KeyOf, Content>> {};
template <class KeyOf, class Content>
struct Codec<QMultiMap<KeyOf, Content>> : QtMapCodec<QMultiMap<KeyOf, Content>> {};
template <class KeyOf, class Content>
struct Codec<QHash<KeyOf, Content>> : QtMapCodec<QHash<KeyOf, Content>> {};
template <class KeyOf, class Content>
struct Codec<QMultiHash<KeyOf, Content>> : QtMapCodec<QMultiHash<KeyOf, Content>> {};

template <class T>
inline constexpr bool kIsKnown<QList<T>> = true;
template <class T>
inline constexpr bool kIsKnown<QSet<T>> = true;

// Digits as text, the first bit first, as it prints itself.
template <>
struct Codec<QBitArray> {
    static constexpr bool kIsSteady = true;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add('s'); }
    template <std::size_t kAfter, class Room>
    static char* walk(Room& room, char* out, const QBitArray& bits) {
        const qsizetype count = bits.size();
        out = room.fit(out, 4 + static_cast<std::size_t>(count) + kAfter);
        if (out == nullptr) return nullptr;
        out = put_length(out, static_cast<std::size_t>(count));
        for (qsizetype bit = 0; bit < count; ++bit) *out++ = bits.testBit(bit) ? '1' : '0';
        return out;
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const QBitArray& bits) {
        QByteArray text(bits.size(), '0');
        for (qsizetype bit = 0; bit < bits.size(); ++bit)
            if (bits.testBit(bit)) text[bit] = '1';
        return out.text(text.constData(), static_cast<std::size_t>(text.size()));
    }
};

SP_DETAIL_END
