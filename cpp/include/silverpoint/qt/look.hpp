// States in the value's signature how QDebug writes it: metadata `look` and `notation` (spec/wire.md, section
// 10). So readers show its text, and the record holds the value alone.
//
// The types here are recorded with their own types: numbers, truth values, characters, texts, bytes,
// pointers, points, sizes, rectangles, lines, margins. So are containers and pairs of these, nested to any
// depth. Excluded are containers of characters, Latin-1 and text behind pointers: some of their values look
// different (shows_alike).
#pragma once

#include <QByteArrayView>
#include <QVarLengthArray>
#include <list>
#include <map>
#include <vector>

#include "../qt.hpp"

SP_DETAIL_BEGIN

// The notation of a T: has sign(), which writes the signature, for texts in quotes or without.
template <class T, bool kQuote>
struct QtLook {
    static constexpr bool kIsThere = false;
};
struct QtLookThere {
    static constexpr bool kIsThere = true;
};

// Numbers and truth values: their own notation, floats with six digits.
template <class T, bool kQuote>
    requires((std::integral<T> && !Character<T>) || std::same_as<T, float> || std::same_as<T, double>)
struct QtLook<T, kQuote> : QtLookThere {
    static constexpr void sign(Signer& out) {
        if constexpr (std::floating_point<T>) out.add("@notation=qdebug;");
        Codec<T>::sign(out);
    }
};

// Text and its like: quoted in the notation of Qt, or as they are.
template <class T, bool kQuote>
struct QtLookText : QtLookThere {
    static constexpr void sign(Signer& out) {
        out.add(kQuote ? "@notation=qdebug;" : "@look={};");
        Codec<std::remove_cvref_t<typename Capture<T>::type>>::sign(out);
    }
};
template <bool kQuote>
struct QtLook<QString, kQuote> : QtLookText<QString, kQuote> {};
template <bool kQuote>
struct QtLook<QStringView, kQuote> : QtLookText<QStringView, kQuote> {};
template <bool kQuote>
struct QtLook<QLatin1String, kQuote> : QtLookText<QLatin1String, kQuote> {};
template <bool kQuote>
struct QtLook<QByteArray, kQuote> : QtLookText<QByteArray, kQuote> {};
template <bool kQuote>
struct QtLook<QByteArrayView, kQuote> : QtLookText<QByteArrayView, kQuote> {};
// (Without quotes QDebug still writes what is not ASCII as its code.)
template <>
struct QtLook<QChar, true> : QtLookText<QChar, true> {};
template <>
struct QtLook<char16_t, true> : QtLookText<char16_t, true> {};
template <bool kQuote>
struct QtLook<char, kQuote> : QtLookText<char, false> {};
template <bool kQuote>
struct QtLook<const char*, kQuote> : QtLookText<const char*, false> {};
template <bool kQuote>
struct QtLook<char*, kQuote> : QtLookText<char*, false> {};
template <bool kQuote>
struct QtLook<const void*, kQuote> : QtLookThere {
    static constexpr void sign(Signer& out) { out.add('p'); }
};
template <bool kQuote>
struct QtLook<void*, kQuote> : QtLook<const void*, kQuote> {};

// --- Geometry

template <FixedText kPattern, class T, bool kFloats>
struct QtLookRecord : QtLookThere {
    static constexpr void sign(Signer& out) {
        if constexpr (kFloats) out.add("@notation=qdebug;");
        out.add("@look=");
        out.name(kPattern.text);
        out.add(';');
        Codec<T>::sign(out);
    }
};
template <bool kQuote>
struct QtLook<QPoint, kQuote> : QtLookRecord<"QPoint({},{})", QPoint, false> {};
template <bool kQuote>
struct QtLook<QPointF, kQuote> : QtLookRecord<"QPointF({},{})", QPointF, true> {};
template <bool kQuote>
struct QtLook<QSize, kQuote> : QtLookRecord<"QSize({}, {})", QSize, false> {};
template <bool kQuote>
struct QtLook<QSizeF, kQuote> : QtLookRecord<"QSizeF({}, {})", QSizeF, true> {};
template <bool kQuote>
struct QtLook<QRect, kQuote> : QtLookRecord<"QRect({},{} {}x{})", QRect, false> {};
template <bool kQuote>
struct QtLook<QRectF, kQuote> : QtLookRecord<"QRectF({},{} {}x{})", QRectF, true> {};
template <bool kQuote>
struct QtLook<QMargins, kQuote> : QtLookRecord<"QMargins({}, {}, {}, {})", QMargins, false> {};
template <bool kQuote>
struct QtLook<QMarginsF, kQuote> : QtLookRecord<"QMarginsF({}, {}, {}, {})", QMarginsF, true> {};

template <FixedText kPattern, FixedText kName, class Point>
struct QtLookLine : QtLookThere {
    static constexpr void sign(Signer& out) {
        out.add("@look=");
        out.name(kPattern.text);
        out.add(";<");
        out.add(kName.text);
        out.add("|p1:");
        QtLook<Point, true>::sign(out);
        out.add(",p2:");
        QtLook<Point, true>::sign(out);
        out.add(",>");
    }
};
template <bool kQuote>
struct QtLook<QLine, kQuote> : QtLookLine<"QLine({},{})", "QLine", QPoint> {};
template <bool kQuote>
struct QtLook<QLineF, kQuote> : QtLookLine<"QLineF({},{})", "QLineF", QPointF> {};

// --- Containers

template <class T, bool kQuote>
inline constexpr bool kIsLookedWithin =
    QtLook<T, kQuote>::kIsThere && !Character<T> && !std::same_as<T, QChar> && !std::same_as<T, char*> &&
    !std::same_as<T, const char*> && !std::same_as<T, QLatin1String>;

// `name(1, 2)`
template <FixedText kName, char kCode, class Element, bool kQuote>
struct QtLookList {
    static constexpr bool kIsThere = kIsLookedWithin<Element, kQuote>;
    static constexpr void sign(Signer& out) {
        out.add("@look=");
        out.name(kName.text);
        out.name("({*, })");
        out.add(';');
        out.add(kCode);
        out.deeper([&] { QtLook<Element, kQuote>::sign(out); });
    }
};
// `name((1, 2)(3, 4))`
template <FixedText kName, class Key, class Value, bool kQuote>
struct QtLookMap {
    static constexpr bool kIsThere = kIsLookedWithin<Key, kQuote> && kIsLookedWithin<Value, kQuote>;
    static constexpr void sign(Signer& out) {
        out.add("@look=");
        out.name(kName.text);
        out.name("({*})");
        out.add(";{");
        out.deeper([&] {
            QtLook<Key, kQuote>::sign(out);
            QtLook<Value, kQuote>::sign(out);
        });
    }
};
template <class Left, class Right, bool kQuote>
struct QtLook<std::pair<Left, Right>, kQuote> {
    using First = QtLook<std::remove_cv_t<Left>, kQuote>;
    using Second = QtLook<std::remove_cv_t<Right>, kQuote>;
    static constexpr bool kIsThere =
        kIsLookedWithin<std::remove_cv_t<Left>, kQuote> && kIsLookedWithin<std::remove_cv_t<Right>, kQuote>;
    static constexpr void sign(Signer& out) {
        out.add("@look=");
        out.name("std::pair({},{})");
        out.add(";(");
        First::sign(out);
        Second::sign(out);
        out.add(')');
    }
};
template <class T, bool kQuote>
struct QtLook<QList<T>, kQuote> : QtLookList<"QList", '[', T, kQuote> {};
template <class T, qsizetype kKept, bool kQuote>
struct QtLook<QVarLengthArray<T, kKept>, kQuote> : QtLookList<"QVarLengthArray", '[', T, kQuote> {};
template <class T, class Left, bool kQuote>
struct QtLook<std::vector<T, Left>, kQuote> : QtLookList<"std::vector", '[', T, kQuote> {};
template <class T, class Left, bool kQuote>
struct QtLook<std::list<T, Left>, kQuote> : QtLookList<"std::list", '[', T, kQuote> {};
template <class T, bool kQuote>
struct QtLook<QSet<T>, kQuote> : QtLookList<"QSet", '$', T, kQuote> {};
template <class KeyOf, class Content, bool kQuote>
struct QtLook<QMap<KeyOf, Content>, kQuote> : QtLookMap<"QMap", KeyOf, Content, kQuote> {};
template <class KeyOf, class Content, bool kQuote>
struct QtLook<QMultiMap<KeyOf, Content>, kQuote> : QtLookMap<"QMultiMap", KeyOf, Content, kQuote> {};
template <class KeyOf, class Content, bool kQuote>
struct QtLook<QHash<KeyOf, Content>, kQuote> : QtLookMap<"QHash", KeyOf, Content, kQuote> {};
template <class KeyOf, class Content, bool kQuote>
struct QtLook<QMultiHash<KeyOf, Content>, kQuote> : QtLookMap<"QMultiHash", KeyOf, Content, kQuote> {};

// --- Values that look different

// Whether readers show this value of such a type as QDebug writes it. QDebug treats char as Latin-1, and
// writes half a surrogate pair as its code. It writes unprintable characters in QLatin1String as it does in
// bytes.
SP_DETAIL_HOT bool shows_alike(char value) { return static_cast<unsigned char>(value) < 0x80; }
SP_DETAIL_HOT bool shows_alike(char16_t value) { return (value & 0xF800) != 0xD800; }
SP_DETAIL_HOT bool shows_alike(QChar value) { return shows_alike(value.unicode()); }
SP_DETAIL_HOT bool shows_alike(QLatin1String text) {
    bool are_plain = true;
    for (const char unit : text) are_plain = are_plain && unit >= 0x20 && unit < 0x7F;
    return are_plain;
}
// Qt shows invalid UTF-8 byte by byte, and hides a byte order mark (U+FEFF) at the beginning.
SP_DETAIL_COLD bool is_utf8_for_qt(std::string_view text) {
    const auto size = static_cast<qsizetype>(text.size());
    return QString::fromUtf8(text.data(), size).toUtf8() == QByteArray::fromRawData(text.data(), size);
}
SP_DETAIL_HOT bool shows_utf8_alike(const char* text, std::size_t size) {
    std::uint64_t all = 0;
    std::size_t at = 0;
    for (; at + 8 <= size; at += 8) {
        std::uint64_t eight;
        __builtin_memcpy(&eight, text + at, 8);
        all |= eight;
    }
    for (; at < size; ++at) all |= static_cast<unsigned char>(text[at]);
    return (all & 0x8080808080808080) == 0 || is_utf8_for_qt({text, size});
}
SP_DETAIL_HOT bool shows_alike(const char* text) {
    return text == nullptr || shows_utf8_alike(text, __builtin_strlen(text));
}
template <class T>
concept ShowsOtherwise =
    std::same_as<T, char> || std::same_as<T, char16_t> || std::same_as<T, QChar> ||
    std::same_as<T, QLatin1String> || std::same_as<T, char*> || std::same_as<T, const char*>;

// --- A value with its look, as an argument of a record.

template <class T>
struct QtCaptured : Capture<T> {};
// QDebug shows nothing where there is no text.
template <class T>
    requires(std::same_as<T, const char*> || std::same_as<T, char*>)
struct QtCaptured<T> {
    using type = TextRef<char>;
    SP_DETAIL_HOT static type of(const T& text) {
        return {text, text == nullptr ? 0 : __builtin_strlen(text)};
    }
};

template <class T, bool kQuote>
struct Looked {
    typename QtCaptured<T>::type value;
};

template <class T, bool kQuote>
struct Codec<Looked<T, kQuote>>
    : CodecOfHeld<Looked<T, kQuote>, std::remove_cvref_t<typename QtCaptured<T>::type>> {
    static constexpr void sign(Signer& out) { QtLook<T, kQuote>::sign(out); }
};

// A value whose QDebug text is known: readers show the text, and the value is recorded too.
template <class T>
struct WrittenValue {
    TextRef<char16_t> text;
    typename Capture<T>::type value;
};

template <class T>
struct Codec<WrittenValue<T>> {
    using Text = Codec<TextRef<char16_t>>;
    using Inner = CodecOf<typename Capture<T>::type>;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) {
        out.add("@look={};(@look={};");
        Text::sign(out);
        Inner::sign(out);
        out.add(')');
    }
    static constexpr bool kIsSteady = silverpoint::detail::kIsSteady<CapturedAs<T>>;
    template <std::size_t kAfter, class Room>
    static char* walk(Room& room, char* out, const WrittenValue<T>& of) {
        out = Within<TextRef<char16_t>>::template put<kAfter>(room, out, of.text);
        return out == nullptr ? out : Within<CapturedAs<T>>::template put<kAfter>(room, out, of.value);
    }
};
// (What is cut is the value.)
template <class T>
struct CutBefore<WrittenValue<T>> {
    using Inner = CutBefore<std::remove_cvref_t<typename Capture<T>::type>>;
    static constexpr bool kMayBe = Inner::kMayBe;
    static constexpr bool is_cut(const WrittenValue<T>& of) { return Inner::is_cut(of.value); }
};

// The text alone, of a value of an unknown type.
struct WrittenText {
    TextRef<char16_t> value;
};
template <>
struct Codec<WrittenText> {
    static constexpr bool kIsFlat = true;
    using Of = WrittenText;
    using Text = Codec<TextRef<char16_t>>;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) {
        out.add("@look={};");
        Text::sign(out);
    }
    static std::size_t size(const WrittenText& of) { return Text::size(of.value); }
    static char* put(char* out, const WrittenText& of) { return Text::put(out, of.value); }
};

SP_DETAIL_END
