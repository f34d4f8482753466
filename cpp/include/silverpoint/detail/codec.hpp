// Values: for each type its signature, its size and how it is packed (spec/wire.md section 10).
//
// Containers are matched by what they offer, so that no header of theirs is needed here. A codec has:
//   static constexpr std::size_t fixed     bytes of every value, or kVaries
//   static constexpr void sign(Signer&)    appends the signature
//   static std::size_t size(const T&)      bytes of this value
//   static char* put(char*, const T&)      packs it, gives the end
#pragma once

#include <concepts>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

#include "config.hpp"

namespace silverpoint {
inline namespace v1 [[gnu::visibility("hidden")]] {
// Specialised by SP_STRUCT.
template <class T>
struct Struct;
// Specialised by SP_ENUM.
template <class T>
struct Enum;
}  // namespace gnu::visibility("hidden")
}  // namespace silverpoint

SP_DETAIL_BEGIN

inline constexpr std::size_t kVaries = static_cast<std::size_t>(-1);

// Appends signature text; without a buffer it only counts.
struct Signer {
    char* out = nullptr;
    std::size_t len = 0;

    constexpr void add(char c) {
        if (out != nullptr) out[len] = c;
        ++len;
    }
    constexpr void add(std::string_view text) {
        for (const char c : text) add(c);
    }
    // A name: what has a meaning in signatures, and what is not printable ASCII, as %HH.
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
    // As a name; what compilers write for namespaces without a name is left out: each writes another thing.
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

// The type's name as the compiler writes it.
template <class T>
constexpr std::string_view type_name() {
    std::string_view text = __PRETTY_FUNCTION__;
    const std::size_t begin = text.find("T = ") + 4;
    std::size_t end = text.find_first_of(";]", begin);
    return text.substr(begin, end - begin);
}

template <class C>
concept Character = std::same_as<C, char> || std::same_as<C, char8_t> || std::same_as<C, char16_t> ||
                    std::same_as<C, char32_t> || std::same_as<C, wchar_t>;

// Signature code of text of these characters.
template <Character C>
inline constexpr char kTextCode = sizeof(C) == 1   ? 's'
                                  : sizeof(C) == 2 ? 'S'
                                                   : 'Z';

template <class T>
concept Wide = std::same_as<T, __int128> || std::same_as<T, unsigned __int128>;

// std::string and string_view of any character type, and what looks like them.
template <class T>
concept TextLike = requires(const T& text) {
    typename T::traits_type;
    { text.data() };
    { text.size() } -> std::convertible_to<std::size_t>;
} && Character<std::remove_cvref_t<decltype(*std::declval<const T&>().data())>>;

template <class T>
concept OptionalLike = requires(const T& value) {
    typename T::value_type;
    { value.has_value() } -> std::same_as<bool>;
    { *value };
};

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

template <class T>
concept ArrayLike = RangeLike<T> && requires { std::tuple_size<T>::value; };

template <class T>
concept Described = requires { Struct<T>::kFields; };

template <class T>
struct Codec {
    static_assert(sizeof(T) == 0,
                  "silverpoint: this type cannot be recorded; describe it with SP_STRUCT(Type, member, ...)");
};

template <class T>
using CodecOf = Codec<std::remove_cvref_t<T>>;

template <class T>
constexpr char integer_code() {
    constexpr char code = sizeof(T) == 1   ? 'a'
                          : sizeof(T) == 2 ? 'h'
                          : sizeof(T) == 4 ? 'i'
                          : sizeof(T) == 8 ? 'l'
                                           : 'o';
    return std::is_signed_v<T> || std::same_as<T, __int128> ? code : static_cast<char>(code - 32);
}

template <class T>
SP_DETAIL_HOT char* put_bytes(char* out, const T& value) {
    __builtin_memcpy(out, &value, sizeof value);
    return out + sizeof value;
}

SP_DETAIL_HOT char* put_length(char* out, std::size_t len) {
    return put_bytes(out, static_cast<std::uint32_t>(len));
}

template <class Chunk>
SP_DETAIL_HOT void put_ends(char* out, const char* from, std::size_t size) {
    Chunk first, last;
    __builtin_memcpy(&first, from, sizeof first);
    __builtin_memcpy(&last, from + size - sizeof last, sizeof last);
    __builtin_memcpy(out, &first, sizeof first);
    __builtin_memcpy(out + size - sizeof last, &last, sizeof last);
}

// Short copies without a call, by pieces that overlap: most texts are short.
SP_DETAIL_HOT char* put_block(char* out, const void* from, std::size_t size) {
    using Chunk [[gnu::vector_size(16), gnu::may_alias]] = char;
    const char* source = static_cast<const char*>(from);
    // Hides from the compiler what it points to: g++ 12 warns of the pieces that a shorter text does not
    // have.
    asm("" : "+r"(source));
    if (size > 64) {
        __builtin_memcpy(out, source, size);
    } else if (size > 32) {
        Chunk second, third;
        __builtin_memcpy(&second, source + 16, 16);
        __builtin_memcpy(&third, source + size - 32, 16);
        put_ends<Chunk>(out, source, size);
        __builtin_memcpy(out + 16, &second, 16);
        __builtin_memcpy(out + size - 32, &third, 16);
    } else if (size >= 16) {
        put_ends<Chunk>(out, source, size);
    } else if (size >= 8) {
        put_ends<std::uint64_t>(out, source, size);
    } else if (size >= 4) {
        put_ends<std::uint32_t>(out, source, size);
    } else if (size >= 2) {
        put_ends<std::uint16_t>(out, source, size);
    } else if (size == 1) {
        *out = *source;
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

template <class T>
    requires std::is_enum_v<T>
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

// Durations and points in time of <chrono>, as nanoseconds in 64 bits; those beyond (292 years) at their end.
template <class T>
concept DurationLike = requires(const T& value) {
    typename T::rep;
    { T::period::num + T::period::den } -> std::integral;
    { value.count() } -> std::same_as<typename T::rep>;
};

template <class T>
concept TimePointLike = requires(const T& value) {
    typename T::clock;
    requires DurationLike<std::remove_cvref_t<decltype(value.time_since_epoch())>>;
    T::clock::now();
};

template <DurationLike T>
constexpr std::int64_t nanoseconds_of(const T& value) {
    constexpr std::int64_t kLeast = -0x7FFFFFFFFFFFFFFF - 1, kMost = 0x7FFFFFFFFFFFFFFF;
    if constexpr (std::floating_point<typename T::rep>) {
        const double ns = static_cast<double>(value.count()) * 1e9 * static_cast<double>(T::period::num) /
                          static_cast<double>(T::period::den);
        if (ns >= 9.2e18 || ns <= -9.2e18) return ns > 0 ? kMost : kLeast;
        return ns == ns ? static_cast<std::int64_t>(ns) : 0;
    } else if constexpr (std::is_signed_v<typename T::rep> && T::period::num == 1 &&
                         T::period::den == 1'000'000'000) {
        return static_cast<std::int64_t>(value.count());
    } else {
        __extension__ using Wide128 = __int128;
        Wide128 ns = 0;
        if (__builtin_mul_overflow(static_cast<Wide128>(value.count()) * 1'000'000'000,
                                   static_cast<Wide128>(T::period::num), &ns))
            return value.count() > typename T::rep{} ? kMost : kLeast;
        ns /= T::period::den;
        return ns > kMost ? kMost : ns < kLeast ? kLeast : static_cast<std::int64_t>(ns);
    }
}

// Ticks shorter than a nanosecond would be lost: such durations are their number of ticks, with the unit.
template <class T>
concept FineDuration =
    DurationLike<T> && std::integral<typename T::rep> && T::period::den / T::period::num > 1'000'000'000;

template <FineDuration T>
constexpr void add_unit(auto& out) {
    const std::intmax_t den = T::period::den;
    if (T::period::num == 1 && den == 1'000'000'000'000) {
        out.add(std::string_view("ps"));
    } else if (T::period::num == 1 && den == 1'000'000'000'000'000) {
        out.add(std::string_view("fs"));
    } else {  // as operator<< of durations writes it
        out.add('[');
        out.number(static_cast<std::size_t>(T::period::num));
        out.add('/');
        out.number(static_cast<std::size_t>(den));
        out.add(std::string_view("]s"));
    }
}

template <DurationLike T>
struct Codec<T> {
    static constexpr std::size_t fixed = 8;
    static constexpr void sign(Signer& out) { out.add('T'); }
    static constexpr std::size_t size(const T&) { return fixed; }
    SP_DETAIL_HOT static char* put(char* out, const T& value) {
        return put_bytes(out, nanoseconds_of(value));
    }
};

template <FineDuration T>
struct Codec<T> : Codec<typename T::rep> {
    using Rep = Codec<typename T::rep>;
    static constexpr void sign(Signer& out) {
        out.add("@unit=");
        add_unit<T>(out);
        out.add(';');
        Rep::sign(out);
    }
    static constexpr std::size_t size(const T&) { return Rep::fixed; }
    SP_DETAIL_HOT static char* put(char* out, const T& value) { return Rep::put(out, value.count()); }
};

// A point in time of the system's clock, or of one that knows how to become it; one of another clock is the
// duration since its epoch.
template <TimePointLike T>
struct Codec<T> {
    static constexpr std::size_t fixed = 8;
    static constexpr bool kConverts = requires(const T& value) { T::clock::to_sys(value); };
    static constexpr bool kIsDate = kConverts || requires(const T& value) { T::clock::to_time_t(value); };
    static constexpr void sign(Signer& out) {
        if constexpr (!kIsDate) {
            out.add("@clock=");
            constexpr std::string_view name = silverpoint::detail::type_name<typename T::clock>();
            out.name(name.substr(name.rfind(':') + 1));
            out.add(';');
        }
        out.add(kIsDate ? 't' : 'T');
    }
    static constexpr std::size_t size(const T&) { return fixed; }
    static std::int64_t nanoseconds(const T& value) {
        if constexpr (kConverts) {
            return nanoseconds_of(T::clock::to_sys(value).time_since_epoch());
        } else {
            return nanoseconds_of(value.time_since_epoch());
        }
    }
    SP_DETAIL_HOT static char* put(char* out, const T& value) { return put_bytes(out, nanoseconds(value)); }
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
            return put_bytes(out, static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(value)));
        }
    }
};

// --- Text. Zero-terminated text is measured once, when the arguments are captured (see record.hpp).

template <Character C>
struct TextRef {
    const C* data;
    std::size_t size;
};

template <Character C>
SP_DETAIL_HOT TextRef<C> measure(const C* text) {
    if (text == nullptr) {
        if constexpr (sizeof(C) == 1) return {reinterpret_cast<const C*>("(null)"), 6};
        static constexpr C kNull[] = {'(', 'n', 'u', 'l', 'l', ')'};
        return {kNull, 6};
    }
    if constexpr (sizeof(C) == 1) {
        return {text, __builtin_strlen(reinterpret_cast<const char*>(text))};
    } else {
        std::size_t len = 0;
        while (text[len] != 0) ++len;
        return {text, len};
    }
}

template <Character C>
struct Codec<TextRef<C>> {
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add(kTextCode<C>); }
    SP_DETAIL_HOT static std::size_t size(const TextRef<C>& text) { return 4 + text.size * sizeof(C); }
    SP_DETAIL_HOT static char* put(char* out, const TextRef<C>& text) {
        return put_block(put_length(out, text.size), text.data, text.size * sizeof(C));
    }
};

template <TextLike T>
struct Codec<T> {
    using C = std::remove_cvref_t<decltype(*std::declval<const T&>().data())>;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add(kTextCode<C>); }
    SP_DETAIL_HOT static std::size_t size(const T& text) { return 4 + text.size() * sizeof(C); }
    SP_DETAIL_HOT static char* put(char* out, const T& text) {
        return put_block(put_length(out, text.size()), text.data(), text.size() * sizeof(C));
    }
};

template <class T>
    requires std::is_pointer_v<T> && Character<std::remove_cv_t<std::remove_pointer_t<T>>>
struct Codec<T> : Codec<TextRef<std::remove_cv_t<std::remove_pointer_t<T>>>> {
    using Base = Codec<TextRef<std::remove_cv_t<std::remove_pointer_t<T>>>>;
    using C = std::remove_cv_t<std::remove_pointer_t<T>>;
    SP_DETAIL_HOT static std::size_t size(const T& text) { return Base::size(measure<C>(text)); }
    SP_DETAIL_HOT static char* put(char* out, const T& text) { return Base::put(out, measure<C>(text)); }
};

// --- Containers.

template <class T>
inline constexpr bool kIsPlain = (std::integral<T> || std::same_as<T, float> || std::same_as<T, double> ||
                                  Wide<T>)&&!std::same_as<T, bool>;

template <class Element>
struct Elements {
    using Inner = CodecOf<Element>;

    template <class Range>
    SP_DETAIL_HOT static std::size_t size(const Range& range, std::size_t count) {
        if constexpr (Inner::fixed != kVaries) {
            (void)range;
            return count * Inner::fixed;
        } else {
            std::size_t total = 0;
            for (const auto& element : range) total += Inner::size(element);
            (void)count;
            return total;
        }
    }
    template <class Range>
    SP_DETAIL_HOT static char* put(char* out, const Range& range, std::size_t count) {
        if constexpr (kIsPlain<Element> && requires { range.data(); }) {
            if (count == 0) return out;
            std::size_t size = count * sizeof(Element);
            // A size that the compiler knows makes it write `rep movs`, which takes longer to start than the
            // library's copy takes altogether.
            if (size > 128) asm("" : "+r"(size));
            __builtin_memcpy(out, range.data(), size);
            return out + size;
        } else {
            std::size_t left = count;
            for (auto&& element : range) {
                if (left-- == 0) break;
                if constexpr (std::same_as<Element, bool>) {
                    out = put_bytes(out, static_cast<bool>(element));
                } else {
                    out = Inner::put(out, element);
                }
            }
            return out;
        }
    }
};

template <class Range>
SP_DETAIL_HOT std::size_t count_of(const Range& range) {
    if constexpr (requires { range.size(); }) {
        return range.size();
    } else {
        std::size_t count = 0;
        for (auto it = range.begin(); it != range.end(); ++it) ++count;
        return count;
    }
}

template <class T>
struct ElementOf {
    using type = std::remove_cvref_t<decltype(*std::declval<const T&>().begin())>;
};
template <class T>
    requires requires { typename T::value_type; }
struct ElementOf<T> {
    using type = std::remove_cv_t<typename T::value_type>;
};

template <class T>
    requires RangeLike<T> && (!MapLike<T>) && (!ArrayLike<T>) && (!Described<T>)
struct Codec<T> {
    using Element = typename ElementOf<T>::type;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) {
        out.add(SetLike<T> ? '$' : '[');
        CodecOf<Element>::sign(out);
    }
    SP_DETAIL_HOT static std::size_t size(const T& range) {
        return 4 + Elements<Element>::size(range, count_of(range));
    }
    SP_DETAIL_HOT static char* put(char* out, const T& range) {
        const std::size_t count = count_of(range);
        return Elements<Element>::put(put_length(out, count), range, count);
    }
};

template <class T>
    requires MapLike<T> && (!Described<T>)
struct Codec<T> {
    using Key = CodecOf<typename T::key_type>;
    using Value = CodecOf<typename T::mapped_type>;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) {
        out.add('{');
        Key::sign(out);
        Value::sign(out);
    }
    SP_DETAIL_HOT static std::size_t size(const T& map) {
        if constexpr (Key::fixed != kVaries && Value::fixed != kVaries) {
            return 4 + count_of(map) * (Key::fixed + Value::fixed);
        } else {
            std::size_t total = 4;
            for (const auto& [key, value] : map) total += Key::size(key) + Value::size(value);
            return total;
        }
    }
    SP_DETAIL_HOT static char* put(char* out, const T& map) {
        out = put_length(out, count_of(map));
        for (const auto& [key, value] : map) out = Value::put(Key::put(out, key), value);
        return out;
    }
};

template <class T>
    requires ArrayLike<T> && (!Described<T>)
struct Codec<T> {
    using Element = typename T::value_type;
    static constexpr std::size_t kCount = std::tuple_size<T>::value;
    static constexpr std::size_t fixed = kCount == 0 ? 0
                                         : CodecOf<Element>::fixed == kVaries
                                             ? kVaries
                                             : kCount * CodecOf<Element>::fixed;
    static constexpr void sign(Signer& out) {
        out.add('#');
        out.number(kCount);
        out.add(':');
        CodecOf<Element>::sign(out);
    }
    SP_DETAIL_HOT static std::size_t size(const T& array) { return Elements<Element>::size(array, kCount); }
    SP_DETAIL_HOT static char* put(char* out, const T& array) {
        return Elements<Element>::put(out, array, kCount);
    }
};

// A C array as a range.
template <class T>
struct ArrayRef {
    const T* first;
    std::size_t count;
    const T* begin() const { return first; }
    const T* end() const { return first + count; }
    const T* data() const { return first; }
    std::size_t size() const { return count; }
};

template <class T, std::size_t N>
    requires(!Character<std::remove_cv_t<T>>)
struct Codec<T[N]> {
    using Element = std::remove_cv_t<T>;
    static constexpr std::size_t fixed =
        CodecOf<Element>::fixed == kVaries ? kVaries : N * CodecOf<Element>::fixed;
    static constexpr void sign(Signer& out) {
        out.add('#');
        out.number(N);
        out.add(':');
        CodecOf<Element>::sign(out);
    }
    SP_DETAIL_HOT static std::size_t size(const T (&array)[N]) {
        return Elements<Element>::size(ArrayRef<T>{array, N}, N);
    }
    SP_DETAIL_HOT static char* put(char* out, const T (&array)[N]) {
        return Elements<Element>::put(out, ArrayRef<T>{array, N}, N);
    }
};

// Character arrays hold text up to a zero, or to their end.
template <class T, std::size_t N>
    requires Character<std::remove_cv_t<T>>
struct Codec<T[N]> : Codec<TextRef<std::remove_cv_t<T>>> {
    using C = std::remove_cv_t<T>;
    static TextRef<C> measure_array(const T (&array)[N]) {
        std::size_t len = 0;
        while (len < N && array[len] != 0) ++len;
        return {array, len};
    }
    SP_DETAIL_HOT static std::size_t size(const T (&array)[N]) {
        return Codec<TextRef<C>>::size(measure_array(array));
    }
    SP_DETAIL_HOT static char* put(char* out, const T (&array)[N]) {
        return Codec<TextRef<C>>::put(out, measure_array(array));
    }
};

template <class T>
    requires OptionalLike<T> && (!Described<T>)
struct Codec<T> {
    using Inner = CodecOf<typename T::value_type>;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) {
        out.add('?');
        Inner::sign(out);
    }
    SP_DETAIL_HOT static std::size_t size(const T& value) {
        return value.has_value() ? 1 + Inner::size(*value) : 1;
    }
    SP_DETAIL_HOT static char* put(char* out, const T& value) {
        out = put_bytes(out, value.has_value());
        return value.has_value() ? Inner::put(out, *value) : out;
    }
};

constexpr std::size_t add_fixed(std::size_t a, std::size_t b) {
    return a == kVaries || b == kVaries ? kVaries : a + b;
}

// Fields one after the other.
template <class... Ts>
struct Fields {
    static constexpr std::size_t fixed_size() {
        std::size_t total = 0;
        ((total = add_fixed(total, CodecOf<Ts>::fixed)), ...);
        return total;
    }
    SP_DETAIL_HOT static std::size_t size(const Ts&... fields) {
        return (std::size_t{0} + ... + CodecOf<Ts>::size(fields));
    }
    SP_DETAIL_HOT static char* put(char* out, const Ts&... fields) {
        ((out = CodecOf<Ts>::put(out, fields)), ...);
        return out;
    }
};

template <class T, std::size_t... I>
SP_DETAIL_HOT decltype(auto) with_elements(const T& tuple, std::index_sequence<I...>, auto&& visit) {
    using std::get;
    return visit(get<I>(tuple)...);
}

template <class T>
    requires TupleLike<T> && (!Described<T>)
struct Codec<T> {
    using Indices = std::make_index_sequence<std::tuple_size<T>::value>;
    template <std::size_t I>
    using At = CodecOf<typename std::tuple_element<I, T>::type>;
    template <std::size_t... I>
    static constexpr std::size_t fixed_of(std::index_sequence<I...>) {
        std::size_t total = 0;
        ((total = add_fixed(total, At<I>::fixed)), ...);
        return total;
    }
    template <std::size_t... I>
    static constexpr void sign_all(Signer& out, std::index_sequence<I...>) {
        (At<I>::sign(out), ...);
    }
    static constexpr std::size_t fixed = fixed_of(Indices{});
    static constexpr void sign(Signer& out) {
        out.add('(');
        sign_all(out, Indices{});
        out.add(')');
    }
    SP_DETAIL_HOT static std::size_t size(const T& tuple) {
        return with_elements(tuple, Indices{}, [](const auto&... e) {
            return (std::size_t{0} + ... + CodecOf<decltype(e)>::size(e));
        });
    }
    SP_DETAIL_HOT static char* put(char* out, const T& tuple) {
        return with_elements(tuple, Indices{}, [out](const auto&... e) mutable {
            ((out = CodecOf<decltype(e)>::put(out, e)), ...);
            return out;
        });
    }
};

// Own types: what SP_STRUCT says.
template <Described T>
struct StructCodec {
    static constexpr std::size_t fixed = Struct<T>::fixed_size();
    static constexpr void sign(Signer& out) {
        out.add('<');
        out.name(Struct<T>::kName);
        out.add('|');
        Struct<T>::sign_fields(out);
        out.add('>');
    }
    SP_DETAIL_HOT static std::size_t size(const T& value) {
        return Struct<T>::visit(
            value, [](const auto&... f) { return (std::size_t{0} + ... + CodecOf<decltype(f)>::size(f)); });
    }
    SP_DETAIL_HOT static char* put(char* out, const T& value) {
        return Struct<T>::visit(value, [out](const auto&... f) mutable {
            ((out = CodecOf<decltype(f)>::put(out, f)), ...);
            return out;
        });
    }
};

template <Described T>
struct Codec<T> : StructCodec<T> {};

// The signature of an argument list, as static text.
template <class... Ts>
struct SignatureOf {
    static constexpr std::size_t length() {
        [[maybe_unused]] Signer signer;
        (CodecOf<Ts>::sign(signer), ...);
        return signer.len;
    }
    struct Buffer {
        char text[length() + 1] = {};
    };
    static constexpr Buffer make() {
        Buffer buffer;
        [[maybe_unused]] Signer signer{buffer.text, 0};
        (CodecOf<Ts>::sign(signer), ...);
        return buffer;
    }
    static constexpr Buffer buffer = make();
    static constexpr std::string_view text{buffer.text, length()};
};

SP_DETAIL_END
