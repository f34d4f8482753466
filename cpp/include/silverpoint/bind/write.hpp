// How values of all kinds are written, in any format. The format is the writer W, which has
//
//     kInteger<T>, kFloat<T>, kBool, kNull, kHead, kCharacter   the most bytes that each takes
//     integer, real, boolean, null, head_array, end_array, …    which write them, room being there
//
// For a struct it also has the members' names, made at compile time. A value of bounded size is written after
// one check of the room, no matter how many parts it has. Other values ask for their own room and for that of
// the bounded ones behind them (`after`).
#pragma once

#include <limits>

#include "encoded.hpp"
#include "output.hpp"
#include "types.hpp"

SP_BIND_BEGIN

inline constexpr std::size_t kUnbounded = static_cast<std::size_t>(-1);
// A longer value asks for room where it stands.
inline constexpr std::size_t kLongest = 16 << 10;

constexpr std::size_t bound_sum(std::size_t a, std::size_t b) {
    return a == kUnbounded || b == kUnbounded || a + b > kLongest ? kUnbounded : a + b;
}
constexpr std::size_t bound_times(std::size_t a, std::size_t n) {
    return a == kUnbounded || (a != 0 && n > kLongest / a) ? kUnbounded : a * n;
}
constexpr std::size_t bounded_part(std::size_t bound) { return bound == kUnbounded ? 0 : bound; }

template <class T>
struct ArrayOf {
    using Element = typename T::value_type;
    static constexpr std::size_t kCount = std::tuple_size<T>::value;
};
template <class T, std::size_t Length>
struct ArrayOf<T[Length]> {
    using Element = std::remove_cv_t<T>;
    static constexpr std::size_t kCount = Length;
};

// What stands before a member, made by the compiler.
template <std::size_t kSize>
struct KeyText {
    char text[kSize];
};

// Members' types, as their description gives them.
struct ListMembers {
    template <class... Ms>
    std::tuple<std::remove_cvref_t<Ms>*...> operator()(const Ms&...) const {
        return {};
    }
};
template <class T>
using MembersOf = decltype(Struct<T>::visit(std::declval<const T&>(), std::declval<ListMembers>()));
template <class T, std::size_t Index>
using MemberOf = std::remove_pointer_t<std::tuple_element_t<Index, MembersOf<T>>>;

template <class Target, class T>
consteval std::size_t bound_of();

template <class Target, class Tuple, std::size_t... Index>
consteval std::size_t bound_of_tuple(std::index_sequence<Index...>) {
    std::size_t total = Target::kHead;
    ((total = bound_sum(total,
                        bound_sum(bound_of<Target, std::tuple_element_t<Index, Tuple>>(), Target::kComma))),
     ...);
    return total;
}
template <class Target, class T, std::size_t... Index>
consteval std::size_t bound_of_members(std::index_sequence<Index...>) {
    std::size_t total = Target::kHead + Target::kTail;
    ((total = bound_sum(
          total, bound_sum(Target::template Names<T>::size(Index), bound_of<Target, MemberOf<T, Index>>()))),
     ...);
    return total;
}
// The room for the members from `from` on, without those that have no bound: names and the end included.
template <class Target, class T, std::size_t... Index>
consteval std::size_t bounded_rest(std::size_t from, std::index_sequence<Index...>) {
    std::size_t total = from == 0 ? Target::kHead + Target::kTail : Target::kTail;
    ((total += Index < from ? 0
                            : Target::template Names<T>::size(Index) +
                                  bounded_part(bound_of<Target, MemberOf<T, Index>>())),
     ...);
    return total;
}

template <class Target, class T>
consteval std::size_t bound_of() {
    constexpr Sort sort = kSort<T>;
    if constexpr (sort == Sort::kCustom) {
        return bound_of<Target, typename Bind<T>::As>();
    } else if constexpr (sort == Sort::kBool) {
        return Target::kBool;
    } else if constexpr (sort == Sort::kCharacter) {
        return Target::kCharacter;
    } else if constexpr (sort == Sort::kInteger || sort == Sort::kByte) {
        return Target::template kInteger<T>;
    } else if constexpr (sort == Sort::kFloat) {
        return Target::template kFloat<T>;
    } else if constexpr (sort == Sort::kEnum) {
        const std::size_t label = Target::kTextAround + longest_label<T>();
        const std::size_t number = Target::template kInteger<std::underlying_type_t<T>>;
        return label > number ? label : number;
    } else if constexpr (sort == Sort::kDuration) {
        return Target::template kInteger<std::int64_t>;
    } else if constexpr (sort == Sort::kTime) {
        return Target::kDateTime;
    } else if constexpr (sort == Sort::kUnit || sort == Sort::kSecret) {
        return Target::kTextAround + 8;
    } else if constexpr (sort == Sort::kAtomic) {
        return bound_of<Target, typename T::value_type>();
    } else if constexpr (sort == Sort::kComplex) {
        return bound_sum(Target::kHead + Target::kComma,
                         bound_times(bound_of<Target, typename T::value_type>(), 2));
    } else if constexpr (sort == Sort::kOptional) {
        return bound_sum(Target::kHead + Target::kNull, bound_of<Target, typename T::value_type>());
    } else if constexpr (sort == Sort::kTagged) {
        return bound_of<Target, std::remove_cvref_t<decltype(T::value)>>();
    } else if constexpr (sort == Sort::kArray) {
        using Of = ArrayOf<T>;
        return bound_sum(
            Target::kHead,
            bound_times(bound_sum(bound_of<Target, typename Of::Element>(), Target::kComma), Of::kCount));
    } else if constexpr (sort == Sort::kTuple) {
        return bound_of_tuple<Target, T>(std::make_index_sequence<std::tuple_size<T>::value>{});
    } else if constexpr (sort == Sort::kStruct) {
        return bound_of_members<Target, T>(std::make_index_sequence<Struct<T>::kFields>{});
    } else {
        return kUnbounded;
    }
}

template <class Target, class T>
inline constexpr std::size_t kBound = bound_of<Target, std::remove_cv_t<T>>();

// Writes a value. There is room for its bound, if it has one, and for `after`; afterwards there is room for
// `after`.
template <class Target, class T>
char* put_value(Target& out, char* p, const T& value, std::size_t after);

// Calls with the alternative that a variant holds, and its number.
template <class Content, class Visit, std::size_t... Index>
void visit_variant(const Content& value, const Visit& visit, std::index_sequence<Index...>) {
    const std::size_t index = value.index();
    (void)((index == Index && (visit(*get_if<Index>(&value), Index), true)) || ...);
}
template <class Content>
inline constexpr std::size_t kAlternatives = 0;
template <template <class...> class Content, class... Ts>
inline constexpr std::size_t kAlternatives<Content<Ts...>> = sizeof...(Ts);

// Whether a member is left out where the empty ones are.
template <class T>
bool is_empty_member(const T& value) {
    if constexpr (kSort<T> == Sort::kOptional) return !value.has_value();
    if constexpr (kSort<T> == Sort::kOwner) return value == nullptr;
    return false;
}

// Structs of which something is left out, or whose remaining members stand in a Rest.
template <class Target, class T, class... Ms, std::size_t... Index>
char* put_members_by_choice(Target& out, char* p, std::size_t after, std::index_sequence<Index...>,
                            const Ms&... members) {
    const bool skips = out.skips_empty();
    std::size_t count = 0;
    const auto add = [&](const auto& member) {
        if constexpr (kIsRest<decltype(member)>) {
            count += member.members.size();
        } else {
            count += skips && is_empty_member(member) ? 0 : 1;
        }
    };
    (add(members), ...);
    p = out.room(p, Target::kHead + Target::kTail + after);
    if (p == nullptr) return nullptr;
    p = out.head_map(p, count);
    const auto put = [&]<std::size_t kIndex>(std::integral_constant<std::size_t, kIndex>,
                                             const auto& member) {
        using Thing = std::remove_cvref_t<decltype(member)>;
        if constexpr (kIsRest<Thing>) {
            for (const auto& [name, raw] : member.members) {
                p = out.text(p, name.data(), name.size(), Target::kComma);
                if (p != nullptr) p = out.raw(out.behind_key(p), raw, Target::kComma + Target::kTail + after);
                if (p == nullptr) return out.within(std::string_view(name)), false;
                p = out.behind_element(p);
            }
        } else {
            if (skips && is_empty_member(member)) return true;
            constexpr std::string_view token = Target::template Names<T>::template key<kIndex>();
            p = out.room(p, token.size() + bounded_part(kBound<Target, Thing>) + Target::kComma +
                                Target::kTail + after);
            if (p == nullptr) return false;
            __builtin_memcpy(p, token.data(), token.size());
            p = put_value(out, p + token.size(), member, Target::kComma + Target::kTail + after);
            if (p == nullptr) return out.within(Struct<T>::kNames[kIndex]), false;
            p = out.behind_element(p);
        }
        return true;
    };
    if (!(put(std::integral_constant<std::size_t, Index>{}, members) && ...)) return nullptr;
    return out.end_map(p, count != 0);
}

template <class Target, class T, class... Ms, std::size_t... Index>
[[gnu::always_inline]] inline char* put_members(Target& out, char* p, std::size_t after,
                                                std::index_sequence<Index...> all, const Ms&... members) {
    using Names [[maybe_unused]] = typename Target::template Names<T>;
    if constexpr ((kIsRest<Ms> || ...)) {
        return put_members_by_choice<Target, T>(out, p, after, all, members...);
    } else if constexpr (sizeof...(Index) == 0) {
        return out.end_map(out.head_map(p, 0), false);
    } else {
        if constexpr ((kMayMiss<Ms> || ...))
            if (out.skips_empty()) return put_members_by_choice<Target, T>(out, p, after, all, members...);
        if constexpr (kBound<Target, T> == kUnbounded) {
            p = out.room(p, bounded_rest<Target, T>(0, all) + after);
            if (p == nullptr) return nullptr;
        }
        const auto put = [&]<std::size_t kIndex>(std::integral_constant<std::size_t, kIndex>,
                                                 const auto& member) {
            constexpr std::string_view token = Names::template token<kIndex>();
            constexpr std::size_t rest = bounded_rest<Target, T>(kIndex + 1, decltype(all){});
            __builtin_memcpy(p, token.data(), token.size());
            p = put_value(out, p + token.size(), member, rest + after);
            if (p != nullptr) [[likely]]
                return true;
            out.within(Struct<T>::kNames[kIndex]);
            return false;
        };
        if (!(put(std::integral_constant<std::size_t, Index>{}, members) && ...)) return nullptr;
        return out.end_members(p);
    }
}

// Elements of a range of `count`, one after the other.
template <class Target, class Range>
char* put_elements(Target& out, char* p, const Range& range, std::size_t count, std::size_t after) {
    using Element = typename detail::ElementOf<Range>::type;
    constexpr std::size_t bound = kBound<Target, Element>;
    constexpr std::size_t step = bounded_part(bound) + Target::kComma;
    constexpr std::size_t kBlock = step > 256 ? 1 : 4096 / (step + 1);
    p = out.room(p, Target::kHead + Target::kTail + after);
    if (p == nullptr) return nullptr;
    p = out.head_array(p, count);
    std::size_t index = 0;
    for (auto&& element : range) {
        if (index == count) break;
        if constexpr (bound != kUnbounded) {
            if (index % kBlock == 0) {
                const std::size_t left = count - index;
                p = out.room(p, (left < kBlock ? left : kBlock) * step + Target::kTail + after);
                if (p == nullptr) return nullptr;
            }
        }
        p = put_value(out, p, static_cast<const Element&>(element), Target::kComma + Target::kTail + after);
        if (p == nullptr) [[unlikely]]
            return out.within(index);
        p = out.behind_element(p);
        ++index;
    }
    return out.end_array(p, count != 0);
}

template <class Target, class Map>
char* put_map(Target& out, char* p, const Map& map, std::size_t after) {
    using Key = std::remove_cv_t<typename Map::key_type>;
    using Value = std::remove_cv_t<typename Map::mapped_type>;
    const std::size_t count = detail::count_of(map);
    constexpr bool is_object = kIsTextKey<Key>;
    constexpr std::size_t around = 2 * Target::kComma + 2 * Target::kTail + Target::kHead;
    constexpr std::size_t value_room = bounded_part(kBound<Target, Value>) + around;
    p = out.room(p, Target::kHead + Target::kTail + after);
    if (p == nullptr) return nullptr;
    p = is_object ? out.head_map(p, count) : out.head_array(p, count);
    std::size_t index = 0;
    for (const auto& [key, value] : map) {
        p = out.room(p, bounded_part(kBound<Target, Key>) + value_room + after);
        if (p == nullptr) return nullptr;
        if constexpr (!is_object) p = out.head_array(p, 2);
        p = put_value(out, p, key, value_room + after);
        if (p == nullptr) [[unlikely]]
            return out.within(index);
        p = is_object ? out.behind_key(p) : out.behind_element(p);
        p = put_value(out, p, value, around + after);
        if (p == nullptr) [[unlikely]] {
            if constexpr (kIsTextKey<Key>) {
                std::string name;
                if constexpr (sizeof(key.data()[0]) == 1)
                    name.assign(reinterpret_cast<const char*>(key.data()), key.size());
                return out.within(std::string_view(name));
            } else {
                return out.within(index);
            }
        }
        p = out.behind_element(p);
        if constexpr (!is_object) p = out.behind_element(out.end_array(p, true));
        ++index;
    }
    return is_object ? out.end_map(p, count != 0) : out.end_array(p, count != 0);
}

template <class Target, class Tuple>
char* put_tuple(Target& out, char* p, const Tuple& tuple, std::size_t after) {
    constexpr std::size_t kCount = std::tuple_size<Tuple>::value;
    p = out.head_array(p, kCount);
    std::size_t index = 0;
    const auto put = [&](const auto& element) {
        using Enumeration = std::remove_cvref_t<decltype(element)>;
        if constexpr (kBound<Target, Tuple> == kUnbounded) {
            p = out.room(p,
                         bounded_part(kBound<Target, Enumeration>) + Target::kComma + Target::kTail + after);
            if (p == nullptr) return false;
        }
        p = put_value(out, p, element, after + Target::kComma + Target::kTail);
        if (p == nullptr) [[unlikely]]
            return out.within(index), false;
        p = out.behind_element(p);
        ++index;
        return true;
    };
    const bool all = detail::with_elements(tuple, std::make_index_sequence<kCount>{},
                                           [&](const auto&... elements) { return (put(elements) && ...); });
    return all ? out.end_array(p, kCount != 0) : nullptr;
}

// A value that may be missing: null, or the value.
template <class Target, class T>
char* put_optional(Target& out, char* p, const T* value, std::size_t after) {
    // A pointer's value is not in its bound: types may contain pointers to themselves.
    p = out.room(p, Target::kNull + bounded_part(kBound<Target, T>) + after);
    if (p == nullptr) return nullptr;
    return value == nullptr ? out.null(p) : put_value(out, p, *value, after);
}

// `{"Name": value}`.
template <class Target, class T>
char* put_alternative(Target& out, char* p, std::string_view name, const T& value, std::size_t after) {
    p = out.room(p, Target::kHead + Target::kTextAround + name.size() + 2 * Target::kComma +
                        bounded_part(kBound<Target, T>) + Target::kTail + after);
    if (p == nullptr) return nullptr;
    p = out.behind_key(out.label(out.head_map(p, 1), name));
    p = put_value(out, p, value, Target::kComma + Target::kTail + after);
    if (p == nullptr) return out.within(name);
    return out.end_map(out.behind_element(p), true);
}

// Durations are whole nanoseconds of 64 bits. (A value between two becomes the one nearer to zero.)
template <class T>
bool whole_nanoseconds(const T& value, std::int64_t& ns) {
    static_assert(!detail::FineDuration<T>,
                  "silverpoint: a duration finer than a nanosecond cannot be written; write its count");
    ns = detail::nanoseconds_of(value);
    return ns != (std::numeric_limits<std::int64_t>::min)() &&
           ns != (std::numeric_limits<std::int64_t>::max)();
}

// Points in time of the system's clock are dates, of others durations since their beginning.
template <class T>
inline constexpr bool kIsDate = detail::Codec<T>::kIsDate && !detail::Codec<T>::kConverts;

template <class Target, class T>
char* put_duration(Target& out, char* p, const T& value) {
    std::int64_t ns = 0;
    if (whole_nanoseconds(value, ns)) return out.integer(p, ns);
    return out.fail(p, BindError::Kind::kRange, "a duration of more than 292 years",
                    "nanoseconds of 64 bits");
}

template <class Target, class T>
char* put_time(Target& out, char* p, const T& value) {
    const auto since = value.time_since_epoch();
    if constexpr (!kIsDate<T>) {
        return put_duration(out, p, since);
    } else {
        using Duration = std::remove_cvref_t<decltype(since)>;
        using Rep = std::conditional_t<std::is_floating_point_v<typename Duration::rep>, long double, Int128>;
        // Seconds rounded down, and what is left.
        const Rep ticks = static_cast<Rep>(since.count()) * static_cast<Rep>(Duration::period::num);
        auto seconds = static_cast<Int128>(ticks / static_cast<Rep>(Duration::period::den));
        Rep rest = ticks - static_cast<Rep>(seconds) * static_cast<Rep>(Duration::period::den);
        if (rest < 0) rest += static_cast<Rep>(Duration::period::den), --seconds;
        const auto ns =
            static_cast<std::int64_t>(rest * static_cast<Rep>(kNs) / static_cast<Rep>(Duration::period::den));
        char text[kDateTime];
        constexpr std::int64_t kFar = std::int64_t{1} << 40;
        if (seconds < kFar && seconds > -kFar && put_date_time(text, static_cast<std::int64_t>(seconds), ns))
            return out.date_time(p, text);
        return out.fail(p, BindError::Kind::kRange, "a time beyond", "a time of the years 0 to 9999");
    }
}

template <class Target, class T>
char* put_value(Target& out, char* p, const T& value, std::size_t after) {
    constexpr Sort sort = kSort<T>;
    if constexpr (sort == Sort::kBool) {
        return out.boolean(p, value);
    } else if constexpr (sort == Sort::kInteger) {
        return out.integer(p, value);
    } else if constexpr (sort == Sort::kFloat) {
        return out.real(p, value);
    } else if constexpr (sort == Sort::kCharacter) {
        return is_text_alone(value) ? out.character(p, code_of(value)) : out.integer(p, code_of(value));
    } else if constexpr (sort == Sort::kByte) {
        return out.integer(p, static_cast<std::uint8_t>(value));
    } else if constexpr (sort == Sort::kEnum) {
        if constexpr (Labelled<T>) {
            const std::string_view label = Enum<T>::label(value);
            if (!label.empty()) return out.label(p, label);
        }
        return out.integer(p, static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (sort == Sort::kFlags) {
        struct {
            Target& out;
            char* p;
            std::size_t after;
            bool text(const char* data, std::size_t size) {
                return (p = out.text(p, data, size, after)) != nullptr;
            }
        } flags{out, p, after};
        Enum<T>::put_flags(flags, value);
        return flags.p;
    } else if constexpr (sort == Sort::kText) {
        return out.text(p, value.data(), value.size(), after);
    } else if constexpr (sort == Sort::kCharArray) {
        const auto text = detail::Codec<T>::measure_array(value);
        return out.text(p, text.data, text.size, after);
    } else if constexpr (sort == Sort::kCharPointer) {
        if (value == nullptr)
            return (p = out.room(p, Target::kNull + after)) == nullptr ? nullptr : out.null(p);
        const auto text = detail::measure<std::remove_cv_t<std::remove_pointer_t<T>>>(value);
        return out.text(p, text.data, text.size, after);
    } else if constexpr (sort == Sort::kPath) {
        return out.text(p, value.native().data(), value.native().size(), after);
    } else if constexpr (sort == Sort::kStruct) {
        return Struct<T>::visit(value, [&](const auto&... members) {
            return put_members<Target, T>(out, p, after, std::make_index_sequence<Struct<T>::kFields>{},
                                          members...);
        });
    } else if constexpr (sort == Sort::kCustom) {
        return put_value<Target, typename Bind<T>::As>(out, p, Bind<T>::to(value), after);
    } else if constexpr (sort == Sort::kRaw) {
        return out.raw(p, value, after);
    } else if constexpr (sort == Sort::kOptional) {
        using Inner = typename T::value_type;
        return put_optional<Target, Inner>(out, p, value.has_value() ? &*value : nullptr, after);
    } else if constexpr (sort == Sort::kOwner) {
        using Inner = std::remove_cv_t<typename T::element_type>;
        return put_optional<Target, Inner>(out, p, value.get(), after);
    } else if constexpr (sort == Sort::kVariant) {
        char* end = nullptr;
        bool held = false;
        visit_variant(
            value,
            [&](const auto& alternative, std::size_t number) {
                if (AlternativeNames<T>::kIsUnit[number]) return;
                held = true;
                end = put_alternative(out, p, AlternativeNames<T>::name(number), alternative, after);
            },
            std::make_index_sequence<kAlternatives<T>>{});
        if (held) return end;
        p = out.room(p, Target::kNull + after);
        return p == nullptr ? nullptr : out.null(p);
    } else if constexpr (sort == Sort::kExpected) {
        if (!value.has_value()) return put_alternative(out, p, "1", value.error(), after);
        if constexpr (std::is_void_v<typename T::value_type>) {
            return put_alternative(out, p, "0", std::tuple<>(), after);
        } else {
            return put_alternative(out, p, "0", *value, after);
        }
    } else if constexpr (sort == Sort::kUnit) {
        return out.null(p);
    } else if constexpr (sort == Sort::kAtomic) {
        return put_value<Target, typename T::value_type>(out, p, value.load(), after);
    } else if constexpr (sort == Sort::kReference) {
        using Inner = std::remove_cv_t<typename T::type>;
        p = out.room(p, bounded_part(kBound<Target, Inner>) + after);
        return p == nullptr ? nullptr : put_value<Target, Inner>(out, p, value.get(), after);
    } else if constexpr (sort == Sort::kComplex) {
        using Part = typename T::value_type;
        p = put_value<Target, Part>(out, out.head_array(p, 2), value.real(), after);
        if (p != nullptr) p = put_value<Target, Part>(out, out.behind_element(p), value.imag(), after);
        return p == nullptr ? nullptr : out.end_array(out.behind_element(p), true);
    } else if constexpr (sort == Sort::kBitset) {
        char digits[detail::Codec<T>::fixed];
        const char* end = detail::Codec<T>::put(digits, value);
        return out.text(p, digits + 4, static_cast<std::size_t>(end - digits - 4), after);
    } else if constexpr (sort == Sort::kDuration) {
        return put_duration(out, p, value);
    } else if constexpr (sort == Sort::kTime) {
        return put_time(out, p, value);
    } else if constexpr (sort == Sort::kBytes) {
        if constexpr (requires { value.data(); }) {
            return out.bytes(p, reinterpret_cast<const char*>(value.data()), value.size(), after);
        } else {
            return out.bytes(p, value.data, value.size, after);
        }
    } else if constexpr (sort == Sort::kMap) {
        return put_map(out, p, value, after);
    } else if constexpr (sort == Sort::kArray && std::is_array_v<T>) {
        using Of = ArrayOf<T>;
        return put_elements(out, p, detail::ArrayRef<typename Of::Element>{value, Of::kCount}, Of::kCount,
                            after);
    } else if constexpr (sort == Sort::kArray || sort == Sort::kRange) {
        return put_elements(out, p, value, detail::count_of(value), after);
    } else if constexpr (sort == Sort::kTuple) {
        if constexpr (kBound<Target, T> == kUnbounded) {
            p = out.room(p, Target::kHead + Target::kTail + after);
            if (p == nullptr) return nullptr;
        }
        return put_tuple(out, p, value, after);
    } else if constexpr (sort == Sort::kTagged) {
        return put_value<Target, std::remove_cvref_t<decltype(value.value)>>(out, p, value.value, after);
    } else if constexpr (sort == Sort::kSecret) {
        return out.label(p, "<secret>");
    } else {
        static_assert(sizeof(T) == 0,
                      "silverpoint: values of this type cannot be written; describe it with SP_STRUCT(Type, "
                      "member, ...), or say by silverpoint::Bind<Type> what it is written as");
    }
}

SP_BIND_END
