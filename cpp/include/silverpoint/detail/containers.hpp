// Values made of values: sequences, sets, maps, arrays, optionals, tuples, own types.
#pragma once

#include "codec.hpp"

SP_DETAIL_BEGIN

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
    // `length`: where the count stands, which is corrected when the range gives fewer.
    template <class Range>
    SP_DETAIL_HOT static char* put(char* out, const Range& range, std::size_t count, char* length = nullptr) {
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
                if (left == 0) break;
                --left;
                if constexpr (std::same_as<Element, bool>) {
                    out = put_bytes(out, static_cast<bool>(element));
                } else {
                    out = Inner::put(out, element);
                }
            }
            if (left != 0 && length != nullptr) [[unlikely]]
                put_length(length, count - left);
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

// What walking with such an iterator gives: not a stand-in for it (std::vector<bool>'s).
template <class Iterator>
struct WalkedBy {
    using type = std::remove_cvref_t<decltype(*std::declval<Iterator&>())>;
};
template <class Iterator>
    requires requires { typename std::iter_value_t<Iterator>; }
struct WalkedBy<Iterator> {
    using type = std::remove_cv_t<std::iter_value_t<Iterator>>;
};

template <class T>
struct ElementOf : WalkedBy<std::remove_cvref_t<decltype(std::declval<const T&>().begin())>> {};
// (A class that is called value_type, as the parts of std::views::lazy_split are, has itself for one.)
template <class T>
    requires requires { requires !std::same_as<typename T::value_type, T>; }
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
        out.deeper([&] { CodecOf<Element>::sign(out); });
    }
    SP_DETAIL_HOT static std::size_t size(const T& range) {
        return 4 + Elements<Element>::size(range, count_of(range));
    }
    SP_DETAIL_HOT static char* put(char* out, const T& range) {
        const std::size_t count = count_of(range);
        return Elements<Element>::put(put_length(out, count), range, count, out);
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
        const std::size_t count = count_of(map);
        std::size_t left = count;
        char* const length = out;
        out = put_length(out, left);
        // Never more than were counted, whatever the map gives: for so many there is room.
        for (auto at = map.begin(); left != 0 && at != map.end(); ++at, --left) {
            const auto& [key, value] = *at;
            out = Value::put(Key::put(out, key), value);
        }
        if (left != 0) [[unlikely]]
            put_length(length, count - left);
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

template <class T, std::size_t Length>
    requires(!Character<std::remove_cv_t<T>>)
struct Codec<T[Length]> {
    using Element = std::remove_cv_t<T>;
    static constexpr std::size_t fixed =
        CodecOf<Element>::fixed == kVaries ? kVaries : Length * CodecOf<Element>::fixed;
    static constexpr void sign(Signer& out) {
        out.add('#');
        out.number(Length);
        out.add(':');
        CodecOf<Element>::sign(out);
    }
    SP_DETAIL_HOT static std::size_t size(const T (&array)[Length]) {
        return Elements<Element>::size(ArrayRef<T>{array, Length}, Length);
    }
    SP_DETAIL_HOT static char* put(char* out, const T (&array)[Length]) {
        return Elements<Element>::put(out, ArrayRef<T>{array, Length}, Length);
    }
};

// Character arrays hold text up to a zero, or to their end.
template <class T, std::size_t Length>
    requires Character<std::remove_cv_t<T>>
struct Codec<T[Length]> : Codec<TextRef<std::remove_cv_t<T>>> {
    using Char = std::remove_cv_t<T>;
    static TextRef<Char> measure_array(const T (&array)[Length]) {
        std::size_t len = 0;
        while (len < Length && array[len] != 0) ++len;
        return {array, len};
    }
    SP_DETAIL_HOT static std::size_t size(const T (&array)[Length]) {
        return Codec<TextRef<Char>>::size(measure_array(array));
    }
    SP_DETAIL_HOT static char* put(char* out, const T (&array)[Length]) {
        return Codec<TextRef<Char>>::put(out, measure_array(array));
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

template <class T, std::size_t... Index>
SP_DETAIL_HOT decltype(auto) with_elements(const T& tuple, std::index_sequence<Index...>, auto&& visit) {
    using std::get;
    return visit(get<Index>(tuple)...);
}

template <class T>
    requires TupleLike<T> && (!Described<T>)
struct Codec<T> {
    using Indices = std::make_index_sequence<std::tuple_size<T>::value>;
    template <std::size_t Index>
    using At = CodecOf<typename std::tuple_element<Index, T>::type>;
    template <std::size_t... Index>
    static constexpr std::size_t fixed_of(std::index_sequence<Index...>) {
        std::size_t total = 0;
        ((total = add_fixed(total, At<Index>::fixed)), ...);
        return total;
    }
    template <std::size_t... Index>
    static constexpr void sign_all(Signer& out, std::index_sequence<Index...>) {
        (At<Index>::sign(out), ...);
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
        out.deeper([&] { Struct<T>::sign_fields(out); });
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

SP_DETAIL_END
