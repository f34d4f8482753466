// Values with metadata: SP_HEX, SP_UNIT, SP_SECRET, and the unit of a counter. Metadata stands in the
// signature, once for the site: no byte of it is in a record.
#pragma once

#include <array>

#include "cbor.hpp"
#include "front.hpp"

SP_DETAIL_BEGIN

// A text as a type. g++ hides a class that has an object as a template argument, as it hides our namespace.
// It would warn of a coroutine whose frame holds such a class.
template <char... kChars>
struct SP_DETAIL_VISIBLE TextType {
    SP_DETAIL_OWN static constexpr char text[] = {kChars..., 0};
};
template <FixedText kText, class At = std::make_index_sequence<sizeof(kText.text) - 1>>
struct TextTypeFrom;
template <FixedText kText, std::size_t... kAt>
struct TextTypeFrom<kText, std::index_sequence<kAt...>> {
    using type = TextType<kText.text[kAt]...>;
};
template <FixedText kText>
using TextTypeOf = typename TextTypeFrom<kText>::type;

// A value and what its site states about it. Anything but a number is held by reference: valid until the
// statement ends.
template <class Key, class Said, class T>
struct SP_DETAIL_VISIBLE Tagged {
    T value;
};
template <class T>
using InHex = Tagged<TextType<'h', 'e', 'x'>, TextType<>, T>;
template <class Unit, class T>
using InUnit = Tagged<TextType<'u', 'n', 'i', 't'>, Unit, T>;

// The codec of a holder that is packed like the value that it holds. Its signature is its own.
template <class Holder, class Held>
struct CodecOfHeld {
    using Of = Holder;
    static constexpr std::size_t fixed = CodecOf<Held>::fixed;
    static constexpr bool kIsSteady = silverpoint::detail::kIsSteady<Held>;
    static constexpr bool kIsFlat = silverpoint::detail::kIsFlat<Held>;
    SP_DETAIL_HOT static constexpr std::size_t size(const Of& of) { return Fields<Held>::size(of.value); }
    SP_DETAIL_HOT static char* put(char* out, const Of& of)
        requires(kIsFlat)
    {
        return Fields<Held>::put(out, of.value);
    }
    template <std::size_t kAfter, class Room>
    SP_DETAIL_HOT static char* walk(Room& room, char* out, const Of& of) {
        return Within<Held>::template put<kAfter>(room, out, of.value);
    }
};

template <class Key, class Said, class T>
struct Codec<Tagged<Key, Said, T>> : CodecOfHeld<Tagged<Key, Said, T>, std::remove_cvref_t<T>> {
    using Of = Tagged<Key, Said, T>;
    using Like = std::remove_cvref_t<T>;
    static constexpr void sign(Signer& out) {
        out.add('@');
        out.name(Key::text);
        out.add('=');
        out.name(Said::text);
        out.add(';');
        CodecOf<T>::sign(out);
    }
    // A stream that is held has no signature to put metadata in: hexadecimal numbers are text there, other
    // values say it themselves.
    template <class Writer>
    static bool put_cbor(Writer& out, const Of& of) {
        if constexpr (kIsHex && std::integral<Like>) {
            bool negative = false;
            if constexpr (std::is_signed_v<Like>) negative = of.value < 0;
            auto number = static_cast<std::uint64_t>(of.value);
            if (negative) number = ~number + 1;
            char room[24], text[32] = "-0x";
            const auto digits = digits_of(number, 16, room);
            SP_DETAIL_MEMCPY(text + 3, digits.data(), digits.size());
            return out.text(text + (negative ? 0 : 1), digits.size() + (negative ? 3 : 2));
        } else {
            out.metadata(kSaid);
            return put_item<Like>(out, of.value);
        }
    }
    // `unit=ms`
    static constexpr auto kJoined = [] {
        std::array<char, sizeof Key::text + sizeof Said::text> text{};
        std::size_t len = 0;
        for (const char c : std::string_view(Key::text)) text[len++] = c;
        text[len++] = '=';
        for (const char c : std::string_view(Said::text)) text[len++] = c;
        return text;
    }();
    static constexpr std::string_view kSaid{kJoined.data()};
    static constexpr bool kIsHex = std::string_view(Key::text) == "hex";
};

template <class Key, class Said, class T>
struct Capture<Tagged<Key, Said, T>> {
    using Inner = Capture<std::remove_cvref_t<T>>;
    using type = Tagged<Key, Said, typename Inner::type>;
    SP_DETAIL_HOT static type of(const Tagged<Key, Said, T>& of) { return {Inner::of(of.value)}; }
};
template <class Key, class Said, class T>
struct Passed<Tagged<Key, Said, T>> {
    using type = Tagged<Key, Said, T>;
};

template <class Key, class Said, class T>
struct CutBefore<Tagged<Key, Said, T>> {
    using Inner = CutBefore<std::remove_cvref_t<T>>;
    static constexpr bool kMayBe = Inner::kMayBe;
    static constexpr bool is_cut(const Tagged<Key, Said, T>& of) { return Inner::is_cut(of.value); }
};

// Bytes in memory: type `y`.
struct SP_DETAIL_VISIBLE BytesRef {
    const char* data;
    std::size_t size;
};

template <>
struct Codec<BytesRef> {
    static constexpr bool kIsFlat = true;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add('y'); }
    SP_DETAIL_HOT static std::size_t size(const BytesRef& bytes) { return 4 + bytes.size; }
    SP_DETAIL_HOT static char* put(char* out, const BytesRef& bytes) {
        return put_block(put_length(out, bytes.size), bytes.data, bytes.size);
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const BytesRef& bytes) {
        return out.bytes(bytes.data, bytes.size);
    }
};
template <>
struct Passed<BytesRef> {
    using type = BytesRef;
};

// What stands for a secret: nothing but the mark in the signature.
struct SP_DETAIL_VISIBLE Secret {};

template <>
struct Codec<Secret> {
    static constexpr bool kIsFlat = true;
    static constexpr std::size_t fixed = 0;
    static constexpr void sign(Signer& out) { out.add("@secret=;n"); }
    static constexpr std::size_t size(const Secret&) { return 0; }
    static char* put(char* out, const Secret&) { return out; }
    template <class Writer>
    static bool put_cbor(Writer& out, const Secret&) {
        return out.text("<secret>", 8);
    }
};

// Elements of one byte each, one after the other.
template <class T>
concept ByteRange = requires(const T& range) {
    { range.size() } -> std::convertible_to<std::size_t>;
    requires sizeof(*range.data()) == 1;
    requires std::is_trivially_copyable_v<std::remove_cvref_t<decltype(*range.data())>>;
};

template <class T>
struct HexSubject : std::bool_constant<(std::integral<T> || Wide<T>)&&!std::same_as<T, bool>> {};
template <class T>
    requires RangeLike<T>
struct HexSubject<T> : HexSubject<typename ElementOf<T>::type> {};
template <class T, std::size_t Length>
struct HexSubject<T[Length]> : HexSubject<std::remove_cv_t<T>> {};
template <OptionalLike T>
struct HexSubject<T> : HexSubject<typename T::value_type> {};

// What the macros expand to. Their names are known to Names (front.hpp), which leaves them out. Numbers are
// taken by value (see given.hpp).
template <class T>
    requires(Small<T>)
SP_DETAIL_HOT constexpr auto wrap_hex(T value) {
    if constexpr (std::is_enum_v<T>) {
        return wrap_hex(static_cast<std::underlying_type_t<T>>(value));
    } else {
        static_assert(HexSubject<T>::value,
                      "silverpoint: SP_HEX takes integers, enumerations, bytes, and ranges of integers");
        return InHex<T>{value};
    }
}
template <class T>
    requires(!Small<T>)
SP_DETAIL_HOT constexpr auto wrap_hex(const T& value) {
    if constexpr (ByteRange<T>) {
        return BytesRef{reinterpret_cast<const char*>(value.data()), static_cast<std::size_t>(value.size())};
    } else if constexpr (std::is_array_v<T> && sizeof(std::remove_extent_t<T>) == 1) {
        return BytesRef{reinterpret_cast<const char*>(value), sizeof value};
    } else if constexpr (std::is_pointer_v<T>) {
        return value;  // is hexadecimal anyway
    } else {
        static_assert(HexSubject<T>::value,
                      "silverpoint: SP_HEX takes integers, enumerations, bytes, and ranges of integers");
        return InHex<typename Passed<T>::type>{value};
    }
}
template <FixedText kUnit, class T>
    requires(Small<T>)
SP_DETAIL_HOT constexpr auto wrap_unit(T value) {
    return InUnit<TextTypeOf<kUnit>, T>{value};
}
template <FixedText kUnit, class T>
    requires(!Small<T>)
SP_DETAIL_HOT constexpr auto wrap_unit(const T& value) {
    return InUnit<TextTypeOf<kUnit>, typename Passed<T>::type>{value};
}
template <class T>
SP_DETAIL_HOT constexpr Secret wrap_secret(const T&) {
    return {};
}

// The value of a counter as it is recorded; without a unit as it is.
template <FixedText kUnit, class T>
SP_DETAIL_HOT auto counted(T value) {
    static_assert(CodecOf<T>::fixed != kVaries, "silverpoint: a counter's value is a number");
    if constexpr (sizeof(kUnit.text) == 1) {
        return value;
    } else {
        return InUnit<TextTypeOf<kUnit>, T>{value};
    }
}

SP_DETAIL_END

// Integers in hexadecimal, alone or in containers; bytes (contiguous elements of one byte, arrays whole) as
// bytes.
#define SP_HEX(...) ::silverpoint::detail::wrap_hex(__VA_ARGS__)
// Any value with a unit, a literal, which readers show behind it: SP_UNIT(elapsed, "ms") is shown as `12 ms`.
#define SP_UNIT(value, unit) ::silverpoint::detail::wrap_unit<unit>(value)
// A value of which nothing is recorded: readers show `<secret>`. It is evaluated as any argument is.
#define SP_SECRET(...) ::silverpoint::detail::wrap_secret(__VA_ARGS__)
