// Values made of values: sequences, sets, maps, arrays, optionals, tuples, own types.
#pragma once

#include "codec.hpp"

SP_DETAIL_BEGIN

template <class T>
inline constexpr bool kIsPlain = (std::integral<T> || std::same_as<T, float> || std::same_as<T, double> ||
                                  Wide<T>)&&!std::same_as<T, bool>;

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

// The type of an element of such an iterator: not a proxy for it (std::vector<bool>'s).
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

// Numbers that lie one after the other, where and how many there are.
template <class T>
concept ArrayOfNumbers =
    RangeLike<T> && !MapLike<T> && !SetLike<T> && !ArrayLike<T> && !Described<T> && requires(const T& range) {
        requires kIsPlain<typename ElementOf<T>::type>;
        { range.data() } -> std::convertible_to<const typename ElementOf<T>::type*>;
    } && !requires { Codec<T>::kIsWhole; };

// A C array as a range; what is taken of an ArrayOfNumbers.
template <class T>
struct ArrayRef {
    const T* first;
    std::size_t count;
    const T* begin() const { return first; }
    const T* end() const { return first + count; }
    const T* data() const { return first; }
    std::size_t size() const { return count; }
};

// Readers take no more elements without any bytes.
inline constexpr std::size_t kMostEmpty = 65536;

// `count` numbers.
template <class T>
SP_DETAIL_HOT char* put_numbers(char* out, const T* numbers, std::size_t count) {
    if (count == 0) return out;
    std::size_t size = count * sizeof(T);
    // With a size that the compiler knows it writes `rep movs`, whose start takes longer than the library's
    // whole copy.
    if (size > 128) SP_DETAIL_FORGET(size);
    SP_DETAIL_MEMCPY(out, numbers, size);
    return out + size;
}

// The elements of a range with their count before them, each put by `put(out, element)`. Steady ranges know
// how many there are; others are counted by walking them once.
template <class Range, std::size_t kFixed, std::size_t kAfter, class Room, class Put>
SP_DETAIL_HOT char* walk_range(Room& room, char* out, auto& range, const Put& put) {
    constexpr bool kIsCounted = kIsSteady<Range> && requires { range.size(); };
    if constexpr (kIsCounted) {
        const auto count = static_cast<std::size_t>(range.size());
        std::size_t left = count;
        if constexpr (kFixed != kVaries) {
            out = room.fit(out, 4 + count * kFixed + kAfter);
        } else {
            out = room.fit(out, 4 + kAfter);
        }
        if (out == nullptr) return nullptr;
        const auto length = room.mark(out);
        out = put_length(out, left);
        if (left == 0) return out;
        // Counted, so that a map is not asked for what follows its last element: that way is the longest in
        // its tree.
        for (auto at = range.begin();;) {
            if (!(at != range.end())) [[unlikely]] {
                // Fewer than it had announced.
                put_length(room.at(length), count - left);
                break;
            }
            out = put(out, *at);
            if (out == nullptr) return nullptr;
            if (--left == 0) break;
            ++at;
        }
        return out;
    } else {
        out = room.fit(out, 4 + kAfter);
        if (out == nullptr) return nullptr;
        const auto length = room.mark(out);
        std::size_t count = 0;
        out += 4;
        for (auto&& element : range) {
            const auto before = room.mark(out);
            out = put(out, element);
            if (out == nullptr) return nullptr;
            if (++count > kMostEmpty && room.mark(out) == before) return room.refuse();
        }
        put_length(room.at(length), count);
        return out;
    }
}

template <class T>
    requires RangeLike<T> && (!MapLike<T>) && (!ArrayLike<T>) && (!Described<T>)
struct Codec<T> {
    using Element = typename ElementOf<T>::type;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) {
        out.add(SetLike<T> ? '$' : '[');
        out.deeper([&] { CodecOf<Element>::sign(out); });
    }
    template <std::size_t kAfter, class Room>
    SP_DETAIL_HOT static char* walk(Room& room, char* out, const T& range) {
        constexpr bool kIsFixed = kIsSteady<T> && CodecOf<Element>::fixed != kVaries;
        return walk_range < T, kIsFixed ? CodecOf<Element>::fixed : kVaries,
               kAfter > (room, out, range, [&](char* to, const Element& element) SP_DETAIL_HOT_LAMBDA {
                   if constexpr (kIsFixed && requires { range.size(); }) {
                       return Within<Element>::put_fixed(to, element);
                   } else {
                       return Within<Element>::template put<kAfter>(room, to, element);
                   }
               });
    }
};

// Numbers, by where they lie.
template <class T>
struct Codec<ArrayRef<T>> {
    static constexpr bool kIsFlat = kIsPlain<T>;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) {
        out.add('[');
        CodecOf<T>::sign(out);
    }
    SP_DETAIL_HOT static std::size_t size(const ArrayRef<T>& range) { return 4 + range.count * sizeof(T); }
    SP_DETAIL_HOT static char* put(char* out, const ArrayRef<T>& range) {
        return put_numbers(put_length(out, range.count), range.first, range.count);
    }
};

template <class T>
    requires MapLike<T> && (!Described<T>)
struct Codec<T> {
    using Key = typename T::key_type;
    using Mapped = typename T::mapped_type;
    static constexpr std::size_t kKey = CodecOf<Key>::fixed, kMapped = CodecOf<Mapped>::fixed;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) {
        out.add('{');
        CodecOf<Key>::sign(out);
        CodecOf<Mapped>::sign(out);
    }
    template <std::size_t kAfter, class Room>
    SP_DETAIL_HOT static char* walk(Room& room, char* out, const T& map) {
        constexpr bool kIsFixed = kIsSteady<T> && kKey != kVaries && kMapped != kVaries;
        // A value of fixed size behind a key needs no check of its own.
        constexpr bool kIsMappedFixed = kIsSteady<T> && kMapped != kVaries;
        return walk_range < T, kIsFixed ? kKey + kMapped : kVaries,
               kAfter > (room, out, map, [&](char* to, const auto& element) SP_DETAIL_HOT_LAMBDA {
                   const auto& [key, mapped] = element;
                   if constexpr (kIsFixed && requires { map.size(); }) {
                       return Within<Mapped>::put_fixed(Within<Key>::put_fixed(to, key), mapped);
                   } else {
                       to = Within<Key>::template put<kAfter + (kIsMappedFixed ? kMapped : 0)>(room, to, key);
                       if (to == nullptr) return to;
                       if constexpr (kIsMappedFixed) {
                           return Within<Mapped>::put_fixed(to, mapped);
                       } else {
                           return Within<Mapped>::template put<kAfter>(room, to, mapped);
                       }
                   }
               });
    }
};

// The elements of an array, of which there are `kCount`.
template <class Element, std::size_t kCount, std::size_t kAfter, class Room, class Array>
SP_DETAIL_HOT char* walk_array(Room& room, char* out, const Array& array) {
    if constexpr (kIsSteady<Array> && kIsPlain<Element> && requires { array.data(); }) {
        out = room.fit(out, kCount * sizeof(Element) + kAfter);
        return out == nullptr ? nullptr : put_numbers(out, array.data(), kCount);
    } else {
        std::size_t left = kCount;
        for (auto&& element : array) {
            if (left == 0) break;
            --left;
            out = Within<Element>::template put<kAfter>(room, out, element);
            if (out == nullptr) return nullptr;
        }
        return left == 0 ? out : room.refuse();
    }
}

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
    template <std::size_t kAfter, class Room>
    SP_DETAIL_HOT static char* walk(Room& room, char* out, const T& array) {
        return walk_array<Element, kCount, kAfter>(room, out, array);
    }
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
    template <std::size_t kAfter, class Room>
    SP_DETAIL_HOT static char* walk(Room& room, char* out, const T (&array)[Length]) {
        if constexpr (kIsPlain<Element>) {
            out = room.fit(out, Length * sizeof(Element) + kAfter);
            return out == nullptr ? nullptr : put_numbers(out, array, Length);
        } else {
            for (const T& element : array) {
                out = Within<Element>::template put<kAfter>(room, out, element);
                if (out == nullptr) return nullptr;
            }
            return out;
        }
    }
};

// Character arrays hold text up to a zero, or to their end. (By their Capture.)
template <class T, std::size_t Length>
    requires Character<std::remove_cv_t<T>>
struct Codec<T[Length]> {
    using Char = std::remove_cv_t<T>;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add(kTextCode<Char>); }
    static TextRef<Char> measure_array(const T (&array)[Length]) {
        std::size_t len = 0;
        while (len < Length && array[len] != 0) ++len;
        return {array, len};
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
    template <std::size_t kAfter, class Room>
    SP_DETAIL_HOT static char* walk(Room& room, char* out, const T& value) {
        const bool is_there = value.has_value();
        out = room.fit(out, 1 + kAfter);
        if (out == nullptr) return nullptr;
        out = put_bytes(out, is_there);
        return is_there ? Within<typename T::value_type>::template put<kAfter>(room, out, *value) : out;
    }
};

constexpr std::size_t add_fixed(std::size_t a, std::size_t b) {
    return a == kVaries || b == kVaries ? kVaries : a + b;
}

// Flat fields one after the other.
template <class... Ts>
struct Fields {
    static constexpr std::size_t fixed_size() {
        std::size_t total = 0;
        ((total = add_fixed(total, CodecOf<Ts>::fixed)), ...);
        return total;
    }
    template <class T>
    SP_DETAIL_HOT static std::size_t size_of(const T& field) {
        if constexpr (CodecOf<T>::fixed != kVaries) {
            return CodecOf<T>::fixed;
        } else {
            return CodecOf<T>::size(field);
        }
    }
    SP_DETAIL_HOT static std::size_t size(const Ts&... fields) {
        return (std::size_t{0} + ... + size_of<Ts>(fields));
    }
    template <class T>
    SP_DETAIL_HOT static char* put_one(char* out, const T& field) {
        if constexpr (CodecOf<T>::fixed != kVaries) {
            return Within<T>::put_fixed(out, field);
        } else {
            return CodecOf<T>::put(out, field);
        }
    }
    SP_DETAIL_HOT static char* put(char* out, const Ts&... fields) {
        ((out = put_one<Ts>(out, fields)), ...);
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
    template <std::size_t kAfter, class Room>
    SP_DETAIL_HOT static char* walk(Room& room, char* out, const T& tuple) {
        return with_elements(tuple, Indices{},
                             [&room, out](const auto&... e) { return walk_all<kAfter>(room, out, e...); });
    }
};

// Own types, as SP_STRUCT describes them.
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
    template <std::size_t kAfter, class Room>
    SP_DETAIL_HOT static char* walk(Room& room, char* out, const T& value) {
        return Struct<T>::visit(value,
                                [&room, out](const auto&... f) { return walk_all<kAfter>(room, out, f...); });
    }
};

template <Described T>
struct Codec<T> : StructCodec<T> {};

SP_DETAIL_END
