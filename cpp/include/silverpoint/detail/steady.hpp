// Which values are steady: reading one runs no code of the program. So it can neither throw nor record nor
// give a different result the second time. Steady values are packed straight into the ring. Others (getters,
// views, iterators of the program) are evaluated before anything of the record is begun (scratch.hpp).
//
// Types of the standard library are known by their names, so that none of their headers is needed here. They
// are steady if their contents are. An unknown type is not steady: this only costs one more copy.
#pragma once

#include "holders.hpp"
#include "times.hpp"

SP_DETAIL_BEGIN

// Types of other libraries of which the same is true.
template <class T>
inline constexpr bool kIsKnown = false;

// The name of a class of the standard library, without the parts that only distinguish versions.
template <class T>
constexpr std::string_view std_name() {
    constexpr auto skip = [](std::string_view& text, std::string_view start) {
        const bool is_there = text.substr(0, start.size()) == start;
        if (is_there) text.remove_prefix(start.size());
        return is_there;
    };
#if SP_DETAIL_IS_GNU
    std::string_view text = __PRETTY_FUNCTION__;
    text.remove_prefix(text.find("T = ") + 4);
#else
    std::string_view text = type_in_signature(__FUNCSIG__, "std_name<");
#endif
    if (!skip(text, "std::")) return {};
    for (const std::string_view inner : {"__cxx11::", "__1::", "__ndk1::", "__debug::", "__cxx1998::"})
        skip(text, inner);
    return text.substr(0, text.find_first_of("<;]"));
}

template <class T>
constexpr bool is_of_library() {
    if constexpr (kIsKnown<T>) return true;
    constexpr std::string_view name = std_name<T>();
    if (name.empty()) return false;
    for (const std::string_view known : {"basic_string",
                                         "basic_string_view",
                                         "vector",
                                         "array",
                                         "deque",
                                         "list",
                                         "forward_list",
                                         "map",
                                         "multimap",
                                         "set",
                                         "multiset",
                                         "unordered_map",
                                         "unordered_multimap",
                                         "unordered_set",
                                         "unordered_multiset",
                                         "span",
                                         "initializer_list",
                                         "optional",
                                         "variant",
                                         "tuple",
                                         "pair",
                                         "expected",
                                         "unique_ptr",
                                         "shared_ptr",
                                         "weak_ptr",
                                         "reference_wrapper",
                                         "atomic",
                                         "complex",
                                         "bitset",
                                         "chrono::duration",
                                         "chrono::time_point",
                                         "monostate",
                                         "nullopt_t",
                                         "byte",
                                         "thread::id",
                                         "error_code",
                                         "error_condition",
                                         "type_info",
                                         "source_location"})
        if (name == known) return true;
    return false;
}

// An allocator's or a deleter's pointers may be classes of the program.
template <class T>
constexpr bool has_plain_pointers() {
    if constexpr (requires { typename T::pointer; }) {
        return std::is_pointer_v<typename T::pointer>;
    } else {
        return true;
    }
}

// The arguments or the elements of a class template.
template <unsigned kDeep, class T>
struct SteadyParts {
    static constexpr bool kAre = false;
};
template <unsigned kDeep, template <class...> class Content, class... Ts>
struct SteadyParts<kDeep, Content<Ts...>> {
    static constexpr bool kAre = (is_steady<Ts, kDeep>() && ...);
};

template <class T, unsigned kDeep>
constexpr bool is_steady() {
    if constexpr (kDeep == 0) {
        return false;
    } else if constexpr (std::is_void_v<T>) {
        return true;
    } else if constexpr (std::is_reference_v<T> || std::is_const_v<T> || std::is_volatile_v<T>) {
        return is_steady<std::remove_cvref_t<T>, kDeep>();
    } else if constexpr (requires { Codec<T>::kIsSteady; }) {
        return Codec<T>::kIsSteady;
    } else if constexpr (requires { Codec<T>::kIsFlat; }) {
        return Codec<T>::kIsFlat;
    } else if constexpr (std::is_scalar_v<T> || Wide<T>) {
        // (Pointers to objects that are read have other sizes.)
        return Codec<T>::fixed != kVaries ||
               (std::is_pointer_v<T> && Character<std::remove_cv_t<std::remove_pointer_t<T>>>);
    } else if constexpr (std::is_array_v<T>) {
        return is_steady<std::remove_extent_t<T>, kDeep - 1>();
    } else if constexpr (Described<T>) {
        if constexpr (kIsKnown<T>) {
            return true;
        } else if constexpr (requires { Struct<T>::template are_steady<kDeep - 1>(); }) {
            return Struct<T>::template are_steady<kDeep - 1>();
        } else {
            return false;
        }
    } else if constexpr (!is_of_library<T>() || !has_plain_pointers<T>()) {
        return false;
    } else if constexpr (TextLike<T> || requires { typename Codec<T>::Taken; }) {
        return !ErrorCodeLike<T>;
    } else if constexpr (MapLike<T>) {
        return is_steady<typename T::key_type, kDeep - 1>() &&
               is_steady<typename T::mapped_type, kDeep - 1>();
    } else if constexpr (RangeLike<T>) {
        return is_steady<typename ElementOf<T>::type, kDeep - 1>();
    } else if constexpr (TupleLike<T> || VariantLike<T>) {
        return SteadyParts<kDeep - 1, T>::kAre;
    } else if constexpr (ExpectedLike<T>) {
        return SteadyParts<kDeep - 1, T>::kAre;
    } else if constexpr (OptionalLike<T> || AtomicLike<T> || ComplexLike<T>) {
        return is_steady<typename T::value_type, kDeep - 1>();
    } else if constexpr (OwnerLike<T>) {
        if constexpr (OwnsValue<T>) {
            return is_steady<typename T::element_type, kDeep - 1>();
        } else {
            return true;
        }
    } else if constexpr (ReferenceLike<T>) {
        return is_steady<typename T::type, kDeep - 1>();
    } else if constexpr (DurationLike<T>) {
        return std::is_arithmetic_v<typename T::rep>;
    } else if constexpr (TimePointLike<T>) {
        return std::is_arithmetic_v<typename T::rep> && !std_name<typename T::clock>().empty();
    } else {
        return !ErrorCodeLike<T>;
    }
}

template <class T>
constexpr bool is_flat() {
    if constexpr (requires { CodecOf<T>::kIsFlat; }) {
        return CodecOf<T>::kIsFlat;
    } else {
        return CodecOf<T>::fixed != kVaries && kIsSteady<T>;
    }
}
SP_DETAIL_END
