// Qt's texts, in their own encoding. UTF-16 is copied as it is, and becomes UTF-8 when it is read.
//
// Latin-1 is stored as UTF-8: pure ASCII is a copy, other characters are widened as they are packed.
#pragma once

#include <QByteArray>
#include <QByteArrayView>
#include <QChar>
#include <QLatin1String>
#include <QString>
#include <QStringView>

#include "../detail/short_text.hpp"
#include "../silverpoint.hpp"

SP_DETAIL_BEGIN

// --- UTF-16

struct Utf16 {
    using Like = std::u16string_view;
    using Ref = TextRef<char16_t>;
    static Ref of(QStringView text) { return {text.utf16(), static_cast<std::size_t>(text.size())}; }
};

// A codec that uses another type's, which `As::of` makes of a value at no cost.
template <class T, class As>
struct CodecAs {
    using Ref = decltype(As::of(std::declval<const T&>()));
    using Inner = Codec<Ref>;
    using Like = typename As::Like;
    using Taken = Ref;
    SP_DETAIL_HOT static Ref take(const T& value) { return As::of(value); }
    static constexpr bool kIsWhole = true;
    static constexpr std::size_t fixed = Inner::fixed;
    static constexpr void sign(Signer& out) { Inner::sign(out); }
    template <class Writer>
    static bool put_cbor(Writer& out, const T& value) {
        const Ref ref = As::of(value);
        if constexpr (requires { ref.data; }) {
            if constexpr (requires { Inner::put_cbor(out, ref); }) {
                return Inner::put_cbor(out, ref);
            } else {
                return out.text(ref.data, ref.size);
            }
        } else {
            return put_item(out, ref);
        }
    }
};
template <>
struct Codec<QString> : CodecAs<QString, Utf16> {};
template <>
inline constexpr bool kIsKnown<QString> = true;
template <>
struct Codec<QStringView> : CodecAs<QStringView, Utf16> {};
template <>
inline constexpr bool kIsKnown<QStringView> = true;

// --- Latin-1

struct Latin1Text {
    const char* latin1;
    std::size_t units;
};

template <>
struct Codec<Latin1Text> {
    static constexpr bool kIsFlat = true;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add('s'); }
    // Characters that take two bytes as UTF-8.
    static std::size_t wide(const Latin1Text& text) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < text.units; ++i) count += static_cast<unsigned char>(text.latin1[i]) >> 7;
        return count;
    }
    static std::size_t size(const Latin1Text& text) { return 4 + text.units + wide(text); }
    static char* put(char* out, const Latin1Text& text) {
        const std::size_t more = wide(text);
        out = put_length(out, text.units + more);
        if (more == 0) return put_block(out, text.latin1, text.units);
        for (std::size_t i = 0; i < text.units; ++i) {
            const auto unit = static_cast<unsigned char>(text.latin1[i]);
            if (unit >= 0x80) *out++ = static_cast<char>(0xC0 | unit >> 6);
            *out++ = static_cast<char>(unit < 0x80 ? unit : 0x80 | (unit & 0x3F));
        }
        return out;
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const Latin1Text& text) {
        return Codec<QString>::put_cbor(out,
                                        QString::fromLatin1(text.latin1, static_cast<qsizetype>(text.units)));
    }
};
template <>
struct Passed<Latin1Text> {
    using type = Latin1Text;
};

struct OfLatin1 {
    using Like = std::string_view;
    static Latin1Text of(QLatin1String text) { return {text.data(), static_cast<std::size_t>(text.size())}; }
};
template <>
struct Codec<QLatin1String> : CodecAs<QLatin1String, OfLatin1> {};

// --- Bytes

struct OfBytes {
    using Like = BytesRef;
    static BytesRef of(QByteArrayView bytes) {
        return {bytes.data(), static_cast<std::size_t>(bytes.size())};
    }
};
template <>
struct Codec<QByteArray> : CodecAs<QByteArray, OfBytes> {};
template <>
inline constexpr bool kIsKnown<QByteArray> = true;
template <>
struct Codec<QByteArrayView> : CodecAs<QByteArrayView, OfBytes> {};
template <>
inline constexpr bool kIsKnown<QByteArrayView> = true;

// --- Characters

struct OfChar {
    using Like = char16_t;
    static char16_t of(QChar c) { return c.unicode(); }
};
template <>
struct Codec<QChar> : CodecAs<QChar, OfChar> {};
template <>
struct Codec<QLatin1Char> : CodecAs<QLatin1Char, OfChar> {};
template <>
inline constexpr bool kIsKnown<QChar> = true;

// --- Text that was made for a record.

struct MadeText {
    QString text;
};

template <>
struct Codec<MadeText> {
    using Text = Codec<TextRef<char16_t>>;
    static constexpr bool kIsFlat = true;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add('S'); }
    static std::size_t size(const MadeText& made) { return Text::size(Utf16::of(made.text)); }
    static char* put(char* out, const MadeText& made) { return Text::put(out, Utf16::of(made.text)); }
    template <class Writer>
    static bool put_cbor(Writer& out, const MadeText& made) {
        return Codec<QString>::put_cbor(out, made.text);
    }
};

// A codec that uses the text of `Make::text`: it is made once for a record's argument.
template <class T, class Make>
struct MadeTextCodec {
    using Like = std::u16string_view;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add('S'); }
    using Taken = MadeText;
    static MadeText take(const T& value) { return {Make::text(value)}; }
    template <class Writer>
    static bool put_cbor(Writer& out, const T& value) {
        return Codec<QString>::put_cbor(out, Make::text(value));
    }
};

SP_DETAIL_END
