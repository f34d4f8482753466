// Qt's maps, hashes and sets; arrays of bits. (QList, QVarLengthArray, QSet and their like are ranges as
// those of the standard library are, QPair is std::pair.)
#pragma once

#include <QBitArray>
#include <QHash>
#include <QMap>
#include <QSet>

#include "text.hpp"

SP_DETAIL_BEGIN

// One entry of a map: a key that was cut has its value, too.
template <class Writer, class KeyOf, class Content>
bool put_pair(Writer& out, const KeyOf& key, const Content& value) {
    const bool is_key_whole = put_item(out, key);
    return out.has_room() && put_item(out, value) && is_key_whole;
}

// Walked by iterators with key() and value().
template <class T>
struct QtMapCodec {
    static constexpr bool kIsWhole = true;
    using Key = CodecOf<typename T::key_type>;
    using Value = CodecOf<typename T::mapped_type>;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) {
        out.add('{');
        out.deeper([&] {
            Key::sign(out);
            Value::sign(out);
        });
    }
    static std::size_t size(const T& map) {
        if constexpr (Key::fixed != kVaries && Value::fixed != kVaries) {
            return 4 + static_cast<std::size_t>(map.size()) * (Key::fixed + Value::fixed);
        } else {
            std::size_t total = 4;
            for (auto it = map.cbegin(); it != map.cend(); ++it)
                total += Key::size(it.key()) + Value::size(it.value());
            return total;
        }
    }
    static char* put(char* out, const T& map) {
        out = put_length(out, static_cast<std::size_t>(map.size()));
        for (auto it = map.cbegin(); it != map.cend(); ++it)
            out = Value::put(Key::put(out, it.key()), it.value());
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

// Digits as text, the first bit first, as it prints itself.
template <>
struct Codec<QBitArray> {
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add('s'); }
    static std::size_t size(const QBitArray& bits) { return 4 + static_cast<std::size_t>(bits.size()); }
    static char* put(char* out, const QBitArray& bits) {
        out = put_length(out, static_cast<std::size_t>(bits.size()));
        for (qsizetype bit = 0; bit < bits.size(); ++bit) *out++ = bits.testBit(bit) ? '1' : '0';
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
