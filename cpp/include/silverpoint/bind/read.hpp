// How values of all kinds are read, in any format. The format is the reader R: it returns numbers, texts and
// bytes, and walks through arrays and maps. False: something failed, and the reader has the error.
#pragma once

#include <optional>

#include "read_members.hpp"

SP_BIND_BEGIN

// The most memory that is reserved ahead for elements; an input's own claim is not trusted beyond it.
inline constexpr std::size_t kAhead = 64 << 10;

// A text into a string of characters of any width.
template <class String>
void assign_text(String& value, std::string_view text) {
    using Char = std::remove_cvref_t<decltype(value[0])>;
    if constexpr (sizeof(Char) == 1) {
        value.assign(reinterpret_cast<const Char*>(text.data()), text.size());
    } else {
        value.clear();
        for (std::size_t at = 0; at < text.size();) append_character(value, next_utf8(text, at));
    }
}

template <class Source, class T>
bool get_characters(Source& in, T* room, std::size_t count) {
    const char* const from = in.start();
    std::string_view text;
    if (!in.text(text)) return false;
    std::size_t used = 0;
    const auto too_long = [&] {
        return in.fail(BindError::Kind::kRange, from, "a text that is longer",
                       "a text of at most " + std::to_string(count) + " units");
    };
    if constexpr (sizeof(T) == 1) {
        if (text.size() > count) return too_long();
        __builtin_memcpy(room, text.data(), used = text.size());
    } else {
        std::basic_string<T> wide;
        assign_text(wide, text);
        if (wide.size() > count) return too_long();
        for (const T c : wide) room[used++] = c;
    }
    while (used < count) room[used++] = T{};
    return true;
}

template <class Source, class T>
[[gnu::noinline, gnu::cold]] bool refuse_enum(Source& in, BindError::Kind kind, const char* from) {
    return in.fail(kind, from, "one of " + listed(Enum<T>::kLabelNames, std::size(Enum<T>::kLabelNames) - 1));
}

template <class Source, class T>
bool get_enum(Source& in, T& value) {
    const char* const from = in.start();
    if constexpr (Labelled<T>) {
        if (in.is_text()) {
            std::string_view label;
            if (!in.text(label)) return false;
            for (std::size_t i = 0; i + 1 < std::size(Enum<T>::kLabelNames); ++i)
                if (Enum<T>::kLabelNames[i] == label) return value = Enum<T>::kLabelValues[i], true;
            return refuse_enum<Source, T>(in, BindError::Kind::kRange, from);
        }
        if (!in.is_number()) return refuse_enum<Source, T>(in, BindError::Kind::kType, from);
    }
    std::underlying_type_t<T> number{};
    if constexpr (std::is_same_v<decltype(number), bool>) {
        if (!in.boolean(number)) return false;
    } else {
        if (!in.integer(number)) return false;
    }
    value = static_cast<T>(number);
    // What has a name is called by it.
    if constexpr (Labelled<T>)
        return Enum<T>::label(value).empty() || refuse_enum<Source, T>(in, BindError::Kind::kType, from);
    return true;
}

// `kRead|kWrite|0x80`, or a number.
template <class Source, class T>
bool get_flags(Source& in, T& value) {
    using Bits = std::make_unsigned_t<std::underlying_type_t<T>>;
    const char* const from = in.start();
    Bits bits = 0;
    if (!in.is_text()) {
        if (!in.integer(bits)) return false;
        return value = static_cast<T>(bits), true;
    }
    std::string_view text;
    if (!in.text(text)) return false;
    while (true) {
        const std::size_t bar = text.find('|');
        const std::string_view name = text.substr(0, bar);
        bool known = name == "0";
        for (std::size_t i = 0; i + 1 < std::size(Enum<T>::kLabelNames) && !known; ++i) {
            known = Enum<T>::kLabelNames[i] == name;
            if (known) bits = static_cast<Bits>(bits | static_cast<Bits>(Enum<T>::kLabelValues[i]));
        }
        if (!known && name.substr(0, 2) == "0x") {
            Bits more = 0;
            const auto parsed = std::from_chars(name.data() + 2, name.data() + name.size(), more, 16);
            known = parsed.ec == std::errc() && parsed.ptr == name.data() + name.size();
            bits = static_cast<Bits>(bits | more);
        }
        if (!known)
            return in.fail(BindError::Kind::kRange, from, "the text " + quoted(name),
                           "names of bits, '|' between");
        if (bar == std::string_view::npos) break;
        text.remove_prefix(bar + 1);
    }
    return value = static_cast<T>(bits), true;
}

template <class Source, class T>
bool get_character(Source& in, T& value) {
    const char* const from = in.start();
    if (!in.is_text()) {
        std::make_unsigned_t<
            std::conditional_t<sizeof(T) == 1, char, std::conditional_t<sizeof(T) == 2, short, int>>>
            number{};
        if (!in.integer(number)) return false;
        return value = static_cast<T>(number), true;
    }
    std::string_view text;
    if (!in.text(text)) return false;
    std::size_t at = 0;
    const std::uint32_t point = text.empty() ? 0 : next_utf8(text, at);
    if (text.empty() || at != text.size() ||
        point > (sizeof(T) == 1   ? 0x7Fu
                 : sizeof(T) == 2 ? 0xFFFFu
                                  : 0x10FFFFu))
        return in.fail(BindError::Kind::kRange, from, "the text " + quoted(text), "one character");
    return value = static_cast<T>(point), true;
}

template <class Source, class T>
bool get_bytes(Source& in, T& value) {
    const char* const from = in.start();
    std::string_view bytes;
    if (!in.bytes(bytes)) return false;
    if constexpr (requires { value.resize(bytes.size()); }) {
        value.resize(bytes.size());
    } else if (value.size() != bytes.size()) {
        return in.fail(BindError::Kind::kRange, from, std::to_string(bytes.size()) + " bytes",
                       std::to_string(value.size()) + " bytes");
    }
    if (!bytes.empty()) __builtin_memcpy(value.data(), bytes.data(), bytes.size());
    return true;
}

// A sequence, set or list of any length.
template <class Source, class T>
bool get_range(Source& in, T& value) {
    using Element = typename detail::ElementOf<T>::type;
    static_assert(
        requires { value.clear(); }, "silverpoint: a view cannot be read into; read a container");
    value.clear();
    if constexpr (std::integral<Element> && sizeof(Element) == 1 && !std::is_same_v<Element, bool> &&
                  requires { value.resize(1), value.data(); }) {
        if (in.is_bytes()) return get_bytes(in, value);
    }
    typename Source::State state;
    if (!in.enter_array(state)) return false;
    if constexpr (requires { value.reserve(1); }) {
        const std::size_t most = kAhead / sizeof(Element) + 1;
        std::size_t count =
            state.count() < in.left() ? state.count() : in.left();  // each takes a byte at least
        if (count > most) count = most;
        if (count != 0) value.reserve(count);
    }
    std::size_t index = 0;
    [[maybe_unused]] auto end = [&] {
        if constexpr (requires { value.before_begin(); }) {
            return value.before_begin();
        } else {
            return 0;
        }
    }();
    for (; in.next_element(state); ++index) {
        if constexpr (requires { value.emplace_back(); } && !std::is_same_v<Element, bool>) {
            if (!get_value(in, value.emplace_back())) return in.within(index);
        } else {
            Element element{};
            if (!get_value(in, element)) return in.within(index);
            if constexpr (requires { value.push_back(element); }) {
                value.push_back(element);
            } else if constexpr (requires { value.before_begin(); }) {
                end = value.insert_after(end, std::move(element));
            } else {
                value.insert(value.end(), std::move(element));
            }
        }
    }
    return !in.failed();
}

// Exactly so many, wherever they lie.
template <class Source, class Read>
bool get_fixed(Source& in, std::size_t count, const Read& read) {
    const char* const from = in.start();
    typename Source::State state;
    if (!in.is_array()) return in.fail(BindError::Kind::kType, from, "an array of " + std::to_string(count));
    if (!in.enter_array(state)) return false;
    std::size_t index = 0;
    for (; in.next_element(state); ++index) {
        if (index == count)
            return in.fail(BindError::Kind::kRange, from, "an array of more than " + std::to_string(count),
                           "an array of " + std::to_string(count));
        if (!read(index)) return in.within(index);
    }
    if (in.failed()) return false;
    return index == count || in.fail(BindError::Kind::kRange, from, "an array of " + std::to_string(index),
                                     "an array of " + std::to_string(count));
}

// std::multimap and its like.
template <class T>
inline constexpr bool kHoldsDuplicates =
    !requires(T& map, typename T::value_type value) { map.emplace(value).second; };

template <class Source, class T>
bool get_map(Source& in, T& value) {
    using Key = std::remove_cv_t<typename T::key_type>;
    using Mapped = std::remove_cv_t<typename T::mapped_type>;
    value.clear();
    typename Source::State state;
    const auto add = [&](const char* at, Key&& key, Mapped&& mapped) {
        if constexpr (kHoldsDuplicates<T>) {
            value.emplace(std::move(key), std::move(mapped));
        } else if (!value.emplace(std::move(key), std::move(mapped)).second) {
            return in.fail(BindError::Kind::kDuplicate, at, "a key again", "each key once");
        }
        return true;
    };
    if constexpr (kIsTextKey<Key>) {
        if (!in.enter_map(state)) return false;
        for (std::size_t index = 0; in.next_member(state); ++index) {
            const char* const at = in.start();
            Key key{};
            Mapped mapped{};
            std::string_view text;
            if (!in.key(text)) return false;
            assign_text(key, text);
            if (!get_value(in, mapped)) {
                if constexpr (sizeof(key.data()[0]) == 1)
                    return in.within(std::string_view(reinterpret_cast<const char*>(key.data()), key.size()));
                return in.within(index);
            }
            if (!add(at, std::move(key), std::move(mapped))) return false;
        }
    } else {
        if (!in.enter_array(state)) return false;
        for (std::size_t index = 0; in.next_element(state); ++index) {
            const char* const at = in.start();
            Key key{};
            Mapped mapped{};
            const auto part = [&](std::size_t number) {
                return number == 0 ? get_value(in, key) : get_value(in, mapped);
            };
            if (!get_fixed(in, 2, part) || !add(at, std::move(key), std::move(mapped)))
                return in.within(index);
        }
    }
    return !in.failed();
}

template <class Source, class Content, class... Ts>
struct Alternatives;
template <class Source, template <class...> class Content, class... Ts>
struct Alternatives<Source, Content<Ts...>> {
    template <std::size_t... Index>
    static bool get(Source& in, Content<Ts...>& value, std::size_t number, std::index_sequence<Index...>) {
        bool good = false;
        (void)((number == Index && ((good = get_value(in, value.template emplace<Index>())), true)) || ...);
        return good;
    }
    // Null: the alternative that has one value.
    template <std::size_t... Index>
    static bool set_unit(Source& in, Content<Ts...>& value, std::index_sequence<Index...>) {
        const bool found =
            ((AlternativeNames<Content<Ts...>>::kIsUnit[Index] && (value.template emplace<Index>(), true)) ||
             ...);
        return found || in.fail(BindError::Kind::kType, in.start(), "null", "an object");
    }
};

// `{"Name": value}`; the value is read by `read`, which is given the number of the name.
template <class Source, class Name, class Read>
bool get_alternative(Source& in, std::size_t count, const Name& name, const Read& read) {
    const char* const from = in.start();
    typename Source::State state;
    if (!in.enter_map(state)) return false;
    std::size_t members = 0;
    const auto one_alone = [&] {
        return in.fail(BindError::Kind::kRange, from,
                       members == 0 ? "an object of none" : "an object of more than one member",
                       "an object of one member");
    };
    for (; in.next_member(state); ++members) {
        if (members == 1) return ++members, one_alone();
        const char* const at = in.start();
        std::string_view key;
        if (!in.key(key)) return false;
        std::size_t number = 0;
        while (number < count && name(number) != key) ++number;
        if (number == count) {
            std::string names;
            for (std::size_t i = 0; i < count; ++i) names += (i == 0 ? "" : ", ") + in_ticks(name(i));
            return in.fail(BindError::Kind::kRange, at, "the member " + in_ticks(key), "one of " + names);
        }
        if (!read(number)) return in.within(name(number));
    }
    if (in.failed()) return false;
    return members == 1 || one_alone();
}

template <class Source, class T, std::size_t... Index>
bool get_tuple(Source& in, T& value, std::index_sequence<Index...>) {
    using std::get;
    return get_fixed(in, sizeof...(Index), [&]([[maybe_unused]] std::size_t index) {
        bool good = true;
        (void)((index == Index && ((good = get_value(in, get<Index>(value))), true)) || ...);
        return good;
    });
}

// Nanoseconds, as far as the type holds them.
template <class Source, class T>
bool from_nanoseconds(Source& in, const char* from, Int128 ns, T& value) {
    using Rep = typename T::rep;
    constexpr auto num = static_cast<Int128>(T::period::num), den = static_cast<Int128>(T::period::den);
    if constexpr (std::is_floating_point_v<Rep>) {
        value = T(static_cast<Rep>(static_cast<long double>(ns) * den / num / kNs));
        return true;
    } else {
        const Int128 ticks = ns * den / (num * kNs);
        if (ticks * num * kNs == ns * den && static_cast<Int128>(static_cast<Rep>(ticks)) == ticks)
            return value = T(static_cast<Rep>(ticks)), true;
        char room[64], unit[64];
        const std::string_view found(room, static_cast<std::size_t>(put_integer(room, ns) - room));
        const std::string_view step(unit,
                                    static_cast<std::size_t>(put_integer(unit, num * kNs / den) - unit));
        return in.fail(
            BindError::Kind::kRange, from, "the number " + std::string(found),
            "a multiple of " + std::string(step) + " that " + std::to_string(8 * sizeof(Rep)) + " bits hold");
    }
}

template <class Source, class T>
bool get_duration(Source& in, T& value) {
    const char* const from = in.start();
    std::int64_t ns = 0;
    return in.integer(ns) && from_nanoseconds(in, from, ns, value);
}

template <class Source, class T>
bool get_time(Source& in, T& value) {
    typename T::duration since{};
    if constexpr (!kIsDate<T>) {
        if (!get_duration(in, since)) return false;
    } else {
        const char* const from = in.start();
        std::string_view text;
        std::int64_t seconds = 0, ns = 0;
        if (!in.text(text)) return false;
        if (!get_date_time(text, seconds, ns))
            return in.fail(BindError::Kind::kRange, from, "the text " + quoted(text),
                           "a date-time of RFC 3339");
        if (!from_nanoseconds(in, from, Int128{seconds} * kNs + ns, since)) return false;
    }
    return value = T(since), true;
}

template <class Source, class T>
bool get_value(Source& in, T& value) {
    constexpr Sort sort = kSort<T>;
    static_assert(!std::is_const_v<T>, "silverpoint: a constant cannot be read into");
    if constexpr (sort == Sort::kBool) {
        return in.boolean(value);
    } else if constexpr (sort == Sort::kInteger) {
        return in.integer(value);
    } else if constexpr (sort == Sort::kFloat) {
        return in.real(value);
    } else if constexpr (sort == Sort::kCharacter) {
        return get_character(in, value);
    } else if constexpr (sort == Sort::kByte) {
        std::uint8_t byte = 0;
        if (!in.integer(byte)) return false;
        return value = static_cast<T>(byte), true;
    } else if constexpr (sort == Sort::kEnum) {
        return get_enum(in, value);
    } else if constexpr (sort == Sort::kFlags) {
        return get_flags(in, value);
    } else if constexpr (sort == Sort::kText) {
        static_assert(
            requires { value.clear(); },
            "silverpoint: a text that is held elsewhere (std::string_view) cannot be read into; read a "
            "std::string");
        std::string_view text;
        if (!in.text(text)) return false;
        return assign_text(value, text), true;
    } else if constexpr (sort == Sort::kCharArray) {
        return get_characters(in, value, std::size(value));
    } else if constexpr (sort == Sort::kPath) {
        std::string_view text;
        if (!in.text(text)) return false;
        return value = T(std::string(text)), true;
    } else if constexpr (sort == Sort::kStruct) {
        return Struct<T>::access(value, [&]<class... Ms>(Ms&&... members) {
            return get_members<Source, T>(in, std::make_index_sequence<Struct<T>::kFields>{},
                                          static_cast<Ms&&>(members)...);
        });
    } else if constexpr (sort == Sort::kCustom) {
        const char* const from = in.start();
        typename Bind<T>::As as{};
        if (!get_value(in, as)) return false;
        return Bind<T>::from(value, std::move(as)) ||
               in.fail(BindError::Kind::kRefused, from, "a value that the program refuses",
                       "one that it takes");
    } else if constexpr (sort == Sort::kRaw) {
        return in.raw(value);
    } else if constexpr (sort == Sort::kOptional) {
        if (in.null()) return value.reset(), true;
        return get_value(in, value.emplace());
    } else if constexpr (sort == Sort::kOwner) {
        if (in.null()) return value = nullptr, true;
        auto* const object = new std::remove_const_t<typename T::element_type>();
        value = T(object);
        return get_value(in, *object);
    } else if constexpr (sort == Sort::kVariant) {
        using Names = AlternativeNames<T>;
        constexpr auto all = std::make_index_sequence<kAlternatives<T>>{};
        if (in.null()) return Alternatives<Source, T>::set_unit(in, value, all);
        return get_alternative(in, kAlternatives<T>, Names::name, [&](std::size_t number) {
            return Alternatives<Source, T>::get(in, value, number, all);
        });
    } else if constexpr (sort == Sort::kExpected) {
        constexpr auto name = [](std::size_t number) { return std::string_view("01").substr(number, 1); };
        return get_alternative(in, 2, name, [&](std::size_t number) {
            if (number == 1) {
                typename T::error_type error{};
                if (!get_value(in, error)) return false;
                value = T(typename T::unexpected_type(std::move(error)));
                return true;
            }
            if constexpr (std::is_void_v<typename T::value_type>) {
                std::tuple<> nothing;
                value = T();
                return get_value(in, nothing);
            } else {
                typename T::value_type inner{};
                if (!get_value(in, inner)) return false;
                value = T(std::move(inner));
                return true;
            }
        });
    } else if constexpr (sort == Sort::kUnit) {
        return in.null() || in.fail(BindError::Kind::kType, in.here(), "null");
    } else if constexpr (sort == Sort::kAtomic) {
        typename T::value_type loaded{};
        if (!get_value(in, loaded)) return false;
        return value.store(loaded), true;
    } else if constexpr (sort == Sort::kReference) {
        return get_value(in, value.get());
    } else if constexpr (sort == Sort::kComplex) {
        typename T::value_type parts[2] = {};
        if (!get_fixed(in, 2, [&](std::size_t part) { return get_value(in, parts[part]); })) return false;
        return value = T(parts[0], parts[1]), true;
    } else if constexpr (sort == Sort::kBitset) {
        const char* const from = in.start();
        std::string_view text;
        if (!in.text(text)) return false;
        value.reset();
        if (text.size() != value.size() || text.find_first_not_of("01") != std::string_view::npos)
            return in.fail(BindError::Kind::kRange, from, "the text " + quoted(text),
                           std::to_string(value.size()) + " digits, 0 or 1");
        for (std::size_t i = 0; i < text.size(); ++i) value[text.size() - 1 - i] = text[i] == '1';
        return true;
    } else if constexpr (sort == Sort::kDuration) {
        return get_duration(in, value);
    } else if constexpr (sort == Sort::kTime) {
        return get_time(in, value);
    } else if constexpr (sort == Sort::kBytes) {
        return get_bytes(in, value);
    } else if constexpr (sort == Sort::kMap) {
        return get_map(in, value);
    } else if constexpr (sort == Sort::kArray) {
        return get_fixed(in, std::size(value),
                         [&](std::size_t index) { return get_value(in, value[index]); });
    } else if constexpr (sort == Sort::kRange) {
        return get_range(in, value);
    } else if constexpr (sort == Sort::kTuple) {
        return get_tuple(in, value, std::make_index_sequence<std::tuple_size<T>::value>{});
    } else {
        static_assert(sizeof(T) == 0,
                      "silverpoint: values of this type cannot be read; describe it with SP_STRUCT(Type, "
                      "member, ...), or say by silverpoint::Bind<Type> how it is made");
    }
}

SP_BIND_END
