// QUuid: 16 bytes in the order of its text. QUrl: its text for people, without a password.
#pragma once

#include <QUrl>
#include <QUuid>

#include "text.hpp"

SP_DETAIL_BEGIN

template <>
struct Codec<QUuid> {
    static constexpr bool kIsFlat = true;
    static constexpr std::size_t fixed = 16;
    static constexpr void sign(Signer& out) { out.add('u'); }
    static constexpr std::size_t size(const QUuid&) { return fixed; }
    static char* put(char* out, const QUuid& uuid) {
        out = put_bytes(out, __builtin_bswap32(uuid.data1));
        out = put_bytes(out, __builtin_bswap16(uuid.data2));
        out = put_bytes(out, __builtin_bswap16(uuid.data3));
        return put_bytes(out, uuid.data4);
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const QUuid& uuid) {
        char bytes[fixed];
        put(bytes, uuid);
        constexpr std::uint64_t kUuidTag = 37;
        out.head(6, kUuidTag);
        return out.bytes(bytes, sizeof bytes);
    }
};

struct UrlText {
    static QString text(const QUrl& url) { return url.toDisplayString(); }
};
template <>
struct Codec<QUrl> : MadeTextCodec<QUrl, UrlText> {};

SP_DETAIL_END
