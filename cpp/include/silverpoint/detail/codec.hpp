// Values: for each type its signature, its size and how it is packed (spec/wire.md section 10).
//
// Containers are matched by their members, so that none of their headers is needed here. A codec has:
//
//     static constexpr std::size_t fixed     bytes of every value, or kVaries
//     static constexpr void sign(Signer&)    appends the signature
//
// and one of these, so that a value is queried only once (within.hpp):
//
//     static char* put(char*, const T&)      packs a value of fixed size, returns the end
//     kIsFlat, size(const T&), put(…)        both depend on the bytes of a T alone
//     static char* walk<kAfter>(Room&, char*, const T&)    packs its content, part by part
//     a Capture (capture.hpp)                what is captured of it is one of the above
#pragma once

#include <concepts>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

#include "config.hpp"

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {
// Specialised by SP_STRUCT.
template <class T>
struct Struct;
// Specialised by SP_ENUM.
template <class T>
struct Enum;
}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint

SP_DETAIL_BEGIN

inline constexpr std::size_t kVaries = static_cast<std::size_t>(-1);

// Packing into a room (within.hpp).
template <class T>
struct Within;
// Whether reading a T runs no code of the program (steady.hpp). Beyond kDeep levels nothing is checked: it
// may.
template <class T, unsigned kDeep = 16>
constexpr bool is_steady();
template <class T>
inline constexpr bool kIsSteady = is_steady<std::remove_cvref_t<T>>();
// Whether size and put of a T depend on its bytes alone: it is measured, then packed.
template <class T>
constexpr bool is_flat();
template <class T>
inline constexpr bool kIsFlat = is_flat<T>();

// Appends signature text; without a buffer it only counts.
struct Signer {
    char* out = nullptr;
    std::size_t len = 0;
    unsigned depth = 0;
    // A type lies deeper than readers go; usually it contains itself. The rest is left out.
    bool is_endless = false;

    static constexpr unsigned kDeepest = 31;  // 32 types with the innermost

    // Signs with `sign()` what another type contains.
    template <class Sign>
    constexpr void deeper(const Sign& sign) {
        if (++depth > kDeepest) is_endless = true;
        if (!is_endless) sign();
        --depth;
    }

    constexpr void add(char c) {
        if (out != nullptr) out[len] = c;
        ++len;
    }
    constexpr void add(std::string_view text) {
        for (const char c : text) add(c);
    }
    // A name: characters with a meaning in signatures, and everything but printable ASCII, as %HH.
    constexpr void name(std::string_view text) {
        constexpr std::string_view special = "%|:,;=<>";
        for (const char c : text) {
            const auto byte = static_cast<unsigned char>(c);
            if (byte > ' ' - 1 && byte < 0x7F && special.find(c) == std::string_view::npos) {
                add(c);
            } else {
                add('%');
                add("0123456789ABCDEF"[byte >> 4]);
                add("0123456789ABCDEF"[byte & 15]);
            }
        }
    }
    // As a name, but without unnamed namespaces: each compiler writes them differently.
    constexpr void type_name(std::string_view text) {
        for (const std::string_view nameless :
             {std::string_view("{anonymous}::"), std::string_view("(anonymous namespace)::"),
              std::string_view("<unnamed>::")}) {
            if (const std::size_t at = text.find(nameless); at != std::string_view::npos) {
                type_name(text.substr(0, at));
                return type_name(text.substr(at + nameless.size()));
            }
        }
        name(text);
    }
    constexpr void integer(long long value) {
        if (value < 0) add('-');
        number(value < 0 ? std::size_t{0} - static_cast<std::size_t>(value)
                         : static_cast<std::size_t>(value));
    }
    constexpr void number(std::size_t value) {
        if (value >= 10) number(value / 10);
        add(static_cast<char>('0' + value % 10));
    }
};

#if !SP_DETAIL_IS_GNU
// The type for which Microsoft's compiler has made a function template: `… __cdecl name<class T>(void)`.
constexpr std::string_view type_in_signature(std::string_view text, std::string_view start) {
    const std::size_t begin = text.find(start), end = text.rfind(">(");
    if (begin == text.npos || end == text.npos || end < begin + start.size()) return {};
    text = text.substr(begin + start.size(), end - begin - start.size());
    for (const std::string_view keyword : {"class ", "struct ", "enum ", "union "})
        if (text.substr(0, keyword.size()) == keyword) text.remove_prefix(keyword.size());
    return text;
}
#endif

// The type's name as the compiler writes it.
template <class T>
constexpr std::string_view type_name() {
#if SP_DETAIL_IS_GNU
    std::string_view text = __PRETTY_FUNCTION__;
    const std::size_t begin = text.find("T = ") + 4;
    std::size_t end = text.find_first_of(";]", begin);
    return text.substr(begin, end - begin);
#else
    return type_in_signature(__FUNCSIG__, "type_name<");
#endif
}

template <class Char>
concept Character = std::same_as<Char, char> || std::same_as<Char, char8_t> || std::same_as<Char, char16_t> ||
                    std::same_as<Char, char32_t> || std::same_as<Char, wchar_t>;

// Signature code of text of these characters.
template <Character Char>
inline constexpr char kTextCode = sizeof(Char) == 1   ? 's'
                                  : sizeof(Char) == 2 ? 'S'
                                                      : 'Z';

// Integers of 128 bits, which are not standard types.
#if SP_DETAIL_HAS_INT128
__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

template <class T>
concept Wide = std::same_as<T, Int128> || std::same_as<T, UInt128>;
template <class T>
concept SignedWide = std::same_as<T, Int128>;
#else
template <class T>
concept Wide = false;
template <class T>
concept SignedWide = false;
#endif

// std::string and string_view of any character type, and similar types.
template <class T>
concept TextLike = requires(const T& text) {
    typename T::traits_type;
    { text.data() };
    { text.size() } -> std::convertible_to<std::size_t>;
} && Character<std::remove_cvref_t<decltype(*std::declval<const T&>().data())>>;

// std::expected and similar types.
template <class T>
concept ExpectedLike = requires(const T& value) {
    typename T::value_type;
    typename T::error_type;
    { value.has_value() } -> std::same_as<bool>;
    value.error();
};

template <class T>
concept OptionalLike = requires(const T& value) {
    typename T::value_type;
    { value.has_value() } -> std::same_as<bool>;
    { *value };
} && !ExpectedLike<T>;

template <class T>
concept RangeLike = requires(const T& range) {
    range.begin();
    range.end();
} && !TextLike<T>;

template <class T>
concept MapLike = RangeLike<T> && requires {
    typename T::key_type;
    typename T::mapped_type;
};

template <class T>
concept SetLike = RangeLike<T> && !MapLike<T> && requires { typename T::key_type; };

template <class T>
concept TupleLike = requires { std::tuple_size<T>::value; } && !RangeLike<T>;

// std::array. Excluded is a range whose parts a tuple's access returns (std::ranges::subrange: its begin and
// end).
template <class T>
concept ArrayLike = RangeLike<T> && requires {
    std::tuple_size<T>::value;
    typename T::value_type;
};

template <class T>
concept EnumLike = std::is_enum_v<T>;

template <class T>
concept Described = requires { Struct<T>::kFields; };

// For a type without a description; an error as soon as it is used.
template <class T>
struct Codec {
    static constexpr bool kUnknown = true;
    static constexpr std::size_t fixed = kVaries;
    template <class Out>
    static constexpr void sign(Out&) {
        static_assert(
            sizeof(T) == 0,
            "silverpoint: this type cannot be recorded; describe it with SP_STRUCT(Type, member, ...)");
    }
    static std::size_t size(const T&) { return 0; }
    static char* put(char* out, const T&) { return out; }
};

template <class T>
concept Recordable = !requires { Codec<T>::kUnknown; };

template <class T>
using CodecOf = Codec<std::remove_cvref_t<T>>;

template <class T>
constexpr char integer_code() {
    constexpr char code = sizeof(T) == 1   ? 'a'
                          : sizeof(T) == 2 ? 'h'
                          : sizeof(T) == 4 ? 'i'
                          : sizeof(T) == 8 ? 'l'
                                           : 'o';
    return std::is_signed_v<T> || SignedWide<T> ? code : static_cast<char>(code - 32);
}

template <class T>
SP_DETAIL_HOT char* put_bytes(char* out, const T& value) {
    SP_DETAIL_MEMCPY(out, &value, sizeof value);
    return out + sizeof value;
}

SP_DETAIL_HOT char* put_length(char* out, std::size_t len) {
    return put_bytes(out, static_cast<std::uint32_t>(len));
}

template <class Chunk>
SP_DETAIL_HOT void put_ends(char* out, const char* from, std::size_t size) {
    Chunk first, last;
    SP_DETAIL_MEMCPY(&first, from, sizeof first);
    SP_DETAIL_MEMCPY(&last, from + size - sizeof last, sizeof last);
    SP_DETAIL_MEMCPY(out, &first, sizeof first);
    SP_DETAIL_MEMCPY(out + size - sizeof last, &last, sizeof last);
}

// Short copies without a call, by pieces that overlap: most texts are short.
SP_DETAIL_HOT char* put_block(char* out, const void* from, std::size_t size) {
#if SP_DETAIL_IS_GNU
    using Chunk [[gnu::vector_size(16), gnu::may_alias]] = char;
#else
    using Chunk = __m128i;
#endif
    const char* source = static_cast<const char*>(from);
    // Hides the object from the compiler: g++ 12 warns of the pieces that a shorter text does not have.
    SP_DETAIL_FORGET(source);
    // In the order of frequency: paths and messages, then keys of maps.
    if (size - 33 < 32) {
        Chunk second, third;
        SP_DETAIL_MEMCPY(&second, source + 16, 16);
        SP_DETAIL_MEMCPY(&third, source + size - 32, 16);
        put_ends<Chunk>(out, source, size);
        SP_DETAIL_MEMCPY(out + 16, &second, 16);
        SP_DETAIL_MEMCPY(out + size - 32, &third, 16);
    } else if (size <= 16) {
        if (size >= 8) {
            put_ends<std::uint64_t>(out, source, size);
        } else if (size >= 4) {
            put_ends<std::uint32_t>(out, source, size);
        } else if (size >= 2) {
            put_ends<std::uint16_t>(out, source, size);
        } else if (size == 1) {
            *out = *source;
        }
    } else if (size <= 32) {
        put_ends<Chunk>(out, source, size);
    } else {
        SP_DETAIL_MEMCPY(out, source, size);
    }
    return out + size;
}

// --- Numbers, characters, pointers, enumerations: as they are.

template <class T>
    requires(std::integral<T> || Wide<T>) && (!Character<T>)
struct Codec<T> {
    static constexpr std::size_t fixed = sizeof(T);
    static constexpr void sign(Signer& out) { out.add(std::same_as<T, bool> ? 'b' : integer_code<T>()); }
    static constexpr std::size_t size(const T&) { return fixed; }
    SP_DETAIL_HOT static char* put(char* out, const T& value) { return put_bytes(out, value); }
};

template <class T>
    requires std::floating_point<T>
struct Codec<T> {
    // long double is stored as double.
    using Stored = std::conditional_t<std::same_as<T, float>, float, double>;
    static constexpr std::size_t fixed = sizeof(Stored);
    static constexpr void sign(Signer& out) { out.add(std::same_as<T, float> ? 'f' : 'd'); }
    static constexpr std::size_t size(const T&) { return fixed; }
    SP_DETAIL_HOT static char* put(char* out, const T& value) {
        return put_bytes(out, static_cast<Stored>(value));
    }
};

template <Character T>
struct Codec<T> {
    static constexpr std::size_t fixed = sizeof(T);
    static constexpr void sign(Signer& out) { out.add(sizeof(T) == 1 ? 'c' : sizeof(T) == 2 ? 'w' : 'W'); }
    static constexpr std::size_t size(const T&) { return fixed; }
    SP_DETAIL_HOT static char* put(char* out, const T& value) { return put_bytes(out, value); }
};

template <EnumLike T>
struct Codec<T> {
    using Under = std::underlying_type_t<T>;
    static constexpr std::size_t fixed = sizeof(Under);
    static constexpr void sign(Signer& out) {
        using Bits = std::make_unsigned<std::conditional_t<std::same_as<Under, bool>, char, Under>>;
        constexpr bool is_flags = requires { Enum<T>::kFlags; };
        if constexpr (is_flags) {
            out.add("@flags=");
            Enum<T>::sign_flags(out);
            out.add(';');
        }
        out.add('e');
        out.type_name(type_name<T>());
        out.add('|');
        CodecOf<typename std::conditional_t<is_flags, Bits, std::type_identity<Under>>::type>::sign(out);
        out.add('|');
        if constexpr (!is_flags && requires { Enum<T>::kLabels; }) Enum<T>::sign_labels(out);
        out.add(';');
    }
    static constexpr std::size_t size(const T&) { return fixed; }
    SP_DETAIL_HOT static char* put(char* out, const T& value) {
        return put_bytes(out, static_cast<Under>(value));
    }
};

template <class T>
    requires(std::is_pointer_v<T> && !Character<std::remove_cv_t<std::remove_pointer_t<T>>>) ||
            std::is_null_pointer_v<T>
struct Codec<T> {
    static constexpr std::size_t fixed = 8;
    static constexpr void sign(Signer& out) { out.add('p'); }
    static constexpr std::size_t size(const T&) { return fixed; }
    SP_DETAIL_HOT static char* put(char* out, const T& value) {
        if constexpr (std::is_null_pointer_v<T>) {
            return put_bytes(out, std::uint64_t{0});
        } else {
            return put_bytes<std::uint64_t>(out, reinterpret_cast<std::uintptr_t>(value));
        }
    }
};

// --- Text. Zero-terminated text is measured once, when the arguments are captured (see record.hpp).

template <Character Char>
struct TextRef {
    const Char* data;
    std::size_t size;
};

template <Character Char>
SP_DETAIL_HOT TextRef<Char> measure(const Char* text) {
    if (text == nullptr) {
        if constexpr (sizeof(Char) == 1) return {reinterpret_cast<const Char*>("(null)"), 6};
        static constexpr Char kNull[] = {'(', 'n', 'u', 'l', 'l', ')'};
        return {kNull, 6};
    }
    if constexpr (sizeof(Char) == 1) {
        return {text, SP_DETAIL_STRLEN(reinterpret_cast<const char*>(text))};
    } else {
        std::size_t len = 0;
        while (text[len] != 0) ++len;
        return {text, len};
    }
}

template <Character Char>
struct Codec<TextRef<Char>> {
    static constexpr bool kIsFlat = true;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add(kTextCode<Char>); }
    SP_DETAIL_HOT static std::size_t size(const TextRef<Char>& text) { return 4 + text.size * sizeof(Char); }
    SP_DETAIL_HOT static char* put(char* out, const TextRef<Char>& text) {
        return put_block(put_length(out, text.size), text.data, text.size * sizeof(Char));
    }
};

// (These by their Captures.)
template <TextLike T>
struct Codec<T> {
    using Char = std::remove_cvref_t<decltype(*std::declval<const T&>().data())>;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add(kTextCode<Char>); }
};

template <class T>
    requires std::is_pointer_v<T> && Character<std::remove_cv_t<std::remove_pointer_t<T>>>
struct Codec<T> {
    using Char = std::remove_cv_t<std::remove_pointer_t<T>>;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add(kTextCode<Char>); }
};

SP_DETAIL_END
