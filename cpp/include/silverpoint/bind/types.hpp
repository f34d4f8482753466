// Kinds of values, as writers and readers distinguish them, and what a program may state about its types
// besides SP_STRUCT.
#pragma once

#include <tuple>
#include <vector>

#include "../detail/struct.hpp"
#include "../detail/within.hpp"
#include "text.hpp"

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {

// For a type that no description can reach (getters and setters, a constructor that checks). It states what
// the type is written as, and how it is made from that.
//
//   template <> struct silverpoint::Bind<ns::Colour> {
//       using As = std::string;
//       static As to(const ns::Colour& colour);
//       static bool from(ns::Colour& colour, As&& text);   // false: refused
//   };
template <class T>
struct Bind;

// Specialised by SP_DEFAULTS.
template <class T>
struct Defaults;

// Specialised by SP_STRICT.
template <class T>
inline constexpr bool kRefusesUnknown = false;

// Any value of any format, kept as it came: an item of CBOR. As a member it reads and writes any value.
struct [[gnu::visibility("default")]] Raw {
    std::string cbor = "\xF6";  // null
    friend bool operator==(const Raw&, const Raw&) = default;
};

// As a member of a described type: keeps the members that the type does not have, and writes them again
// behind the others.
struct [[gnu::visibility("default")]] Rest {
    std::vector<std::pair<std::string, Raw>> members;
    friend bool operator==(const Rest&, const Rest&) = default;
};

}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint

SP_DETAIL_BEGIN

struct Secret;
struct BytesRef;

// In a tracepoint: an item of CBOR, a map of them, and what a type is written as.
template <>
struct Codec<Raw> {
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add('v'); }
    static constexpr bool kIsSteady = true;
    template <std::size_t kAfter, class Room>
    static char* walk(Room& room, char* out, const Raw& raw) {
        return Within<std::string>::template put<kAfter>(room, out, raw.cbor);
    }
};
template <>
struct Codec<Rest> {
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add("{sv"); }
    static constexpr bool kIsSteady = true;
    template <std::size_t kAfter, class Room>
    static char* walk(Room& room, char* out, const Rest& rest) {
        return walk_range<std::vector<std::pair<std::string, Raw>>, kVaries, kAfter>(
            room, out, rest.members, [&](char* to, const auto& member) {
                return walk_all<kAfter>(room, to, member.first, member.second);
            });
    }
};
template <class T>
    requires(std::is_class_v<T> && !Described<T> && !RangeLike<T> && !TextLike<T> && !TupleLike<T> &&
             !OptionalLike<T>) &&
            requires { typename Bind<T>::As; }
struct Codec<T> {
    using As = Codec<typename Bind<T>::As>;
    static constexpr bool kIsSteady = false;
    static constexpr std::size_t fixed = As::fixed;
    static constexpr void sign(Signer& out) { As::sign(out); }
    template <std::size_t kAfter, class Room>
    static char* walk(Room& room, char* out, const T& value) {
        const typename Bind<T>::As as = Bind<T>::to(value);
        return Within<typename Bind<T>::As>::template put<kAfter>(room, out, as);
    }
};

SP_DETAIL_END

SP_BIND_BEGIN

// The number of a member; kFields: no member has that name.
template <class Description>
constexpr std::size_t member_of(std::string_view name) {
    std::size_t index = 0;
    while (index < Description::kFields && Description::kNames[index] != name) ++index;
    return index;
}

template <class Description, std::size_t Length>
constexpr bool are_members(const std::string_view (&names)[Length]) {
    for (std::size_t i = 0; i + 1 < Length; ++i)
        if (member_of<Description>(names[i]) == Description::kFields) return false;
    return true;
}

SP_BIND_END

// Members of a described type that may be missing in what is read: they keep what the object has. (Optionals
// and pointers that own may always be missing, and are empty then.) At global scope, behind SP_STRUCT.
#define SP_DEFAULTS(type, ...)                                                                         \
    template <>                                                                                        \
    struct silverpoint::Defaults<type> {                                                               \
        static constexpr ::std::string_view kNames[] = {                                               \
            SP_DETAIL_EACH(SP_DETAIL_NAME, type, __VA_ARGS__) ""};                                     \
        static_assert(::silverpoint::binding::are_members<::silverpoint::Struct<type>>(kNames),        \
                      "silverpoint: SP_DEFAULTS names a member that the type's description does not"); \
    };

// A described type that refuses members that it does not have. At global scope, behind SP_STRUCT.
#define SP_STRICT(type) \
    template <>         \
    inline constexpr bool silverpoint::kRefusesUnknown<type> = true;

SP_BIND_BEGIN

using detail::ArrayLike;
using detail::Character;
using detail::Described;
using detail::Wide;

enum class Sort {
    kCustom,  // Bind<T>
    kStruct,  // described
    kBool,
    kCharacter,
    kInteger,
    kFloat,
    kByte,  // std::byte
    kEnum,
    kFlags,
    kText,       // strings and similar types
    kCharArray,  // C arrays of characters
    kCharPointer,
    kPath,
    kRaw,
    kOptional,
    kExpected,
    kVariant,
    kUnit,   // monostate and the like
    kOwner,  // unique_ptr, shared_ptr
    kAtomic,
    kReference,
    kComplex,
    kBitset,
    kDuration,
    kTime,
    kBytes,  // contiguous std::byte
    kMap,
    kArray,  // of fixed size
    kRange,
    kTuple,
    kTagged,  // SP_UNIT, SP_HEX
    kSecret,
    kNone
};

template <class T>
concept Customised = requires { typename Bind<T>::As; };

template <class T>
concept PathLike = requires(const T& path) {
    path.native();
    path.lexically_normal();
};

template <class T>
concept RunOfBytes = requires(const T& range) {
    { range.size() } -> std::convertible_to<std::size_t>;
    requires std::is_same_v<std::remove_cvref_t<decltype(*range.data())>, std::byte>;
};

template <class T>
concept TaggedLike = requires(const T& tagged) {
    tagged.value;
    detail::Codec<T>::kSaid;
};

template <class T>
consteval Sort sort_of() {
    if constexpr (Customised<T>) {
        return Sort::kCustom;
    } else if constexpr (Described<T>) {
        return Sort::kStruct;
    } else if constexpr (std::is_same_v<T, bool>) {
        return Sort::kBool;
    } else if constexpr (Character<T>) {
        return Sort::kCharacter;
    } else if constexpr (std::integral<T> || Wide<T>) {
        return Sort::kInteger;
    } else if constexpr (std::floating_point<T>) {
        return Sort::kFloat;
    } else if constexpr (std::is_same_v<T, std::byte>) {
        return Sort::kByte;
    } else if constexpr (std::is_enum_v<T>) {
        if constexpr (requires { Enum<T>::kFlags; }) return Sort::kFlags;
        return Sort::kEnum;
    } else if constexpr (std::is_same_v<T, Raw>) {
        return Sort::kRaw;
    } else if constexpr (detail::TextLike<T>) {
        return Sort::kText;
    } else if constexpr (std::is_array_v<T>) {
        return Character<std::remove_cv_t<std::remove_extent_t<T>>> ? Sort::kCharArray : Sort::kArray;
    } else if constexpr (std::is_pointer_v<T>) {
        return Character<std::remove_cv_t<std::remove_pointer_t<T>>> ? Sort::kCharPointer : Sort::kNone;
    } else if constexpr (std::is_same_v<T, detail::Secret>) {
        return Sort::kSecret;
    } else if constexpr (std::is_same_v<T, detail::BytesRef>) {
        return Sort::kBytes;
    } else if constexpr (TaggedLike<T>) {
        return Sort::kTagged;
    } else if constexpr (PathLike<T>) {
        return Sort::kPath;
    } else if constexpr (detail::OptionalLike<T>) {
        return Sort::kOptional;
    } else if constexpr (detail::ExpectedLike<T>) {
        return Sort::kExpected;
    } else if constexpr (detail::VariantLike<T>) {
        return Sort::kVariant;
    } else if constexpr (detail::BitsetLike<T>) {
        return Sort::kBitset;
    } else if constexpr (detail::DurationLike<T>) {
        return Sort::kDuration;
    } else if constexpr (detail::TimePointLike<T>) {
        return Sort::kTime;
    } else if constexpr (detail::ComplexLike<T>) {
        return Sort::kComplex;
    } else if constexpr (detail::OwnerLike<T>) {
        return Sort::kOwner;
    } else if constexpr (detail::AtomicLike<T>) {
        return Sort::kAtomic;
    } else if constexpr (detail::ReferenceLike<T>) {
        return Sort::kReference;
    } else if constexpr (RunOfBytes<T>) {
        return Sort::kBytes;
    } else if constexpr (detail::MapLike<T>) {
        return Sort::kMap;
    } else if constexpr (detail::ArrayLike<T>) {
        return Sort::kArray;
    } else if constexpr (detail::RangeLike<T>) {
        return Sort::kRange;
    } else if constexpr (detail::TupleLike<T>) {
        return Sort::kTuple;
    } else if constexpr (detail::UnitLike<T>) {
        return Sort::kUnit;
    } else {
        return Sort::kNone;
    }
}

template <class T>
inline constexpr Sort kSort = sort_of<std::remove_cv_t<T>>();

// A member that stands for the ones that the type does not have.
template <class T>
inline constexpr bool kIsRest = std::is_same_v<std::remove_cvref_t<T>, Rest>;

// A member that need not be there.
template <class T>
inline constexpr bool kMayMiss = kSort<T> == Sort::kOptional || kSort<T> == Sort::kOwner || kIsRest<T>;

// Keys that make a map an object.
template <class T>
inline constexpr bool kIsTextKey = kSort<T> == Sort::kText;

// Labels of an enumeration: SP_ENUM says them.
template <class T>
concept Labelled = requires { Enum<T>::kLabelNames; };

template <class T>
constexpr std::size_t longest_label() {
    std::size_t longest = 0;
    if constexpr (Labelled<T>)
        for (const std::string_view label : Enum<T>::kLabelNames)
            longest = label.size() > longest ? label.size() : longest;
    return longest;
}

// The name of a described type without its namespaces; else none.
template <class T>
constexpr std::string_view short_name() {
    if constexpr (sort_of<T>() == Sort::kStruct) {
        const std::string_view name = Struct<T>::kName;
        return name.substr(name.find_last_of(": ") + 1);
    } else {
        return {};
    }
}

// What a variant's alternatives are called: the names of described types, others by their position.
template <class Content>
struct AlternativeNames;
template <template <class...> class Content, class... Ts>
struct AlternativeNames<Content<Ts...>> {
    static constexpr std::size_t kCount = sizeof...(Ts);
    static_assert(kCount < 100);
    static constexpr std::string_view kOwn[] = {short_name<Ts>()..., ""};
    static constexpr bool kIsUnit[] = {sort_of<Ts>() == Sort::kUnit..., false};
    static constexpr auto kDigits = [] {
        struct {
            char text[2 * kCount + 2];
        } out{};
        for (std::size_t i = 0; i < kCount; ++i) {
            out.text[2 * i] = static_cast<char>('0' + (i < 10 ? i : i / 10));
            out.text[2 * i + 1] = static_cast<char>('0' + i % 10);
        }
        return out;
    }();
    static constexpr std::string_view name(std::size_t index) {
        const std::string_view own = kOwn[index];
        bool alone = !own.empty();
        for (std::size_t i = 0; i < kCount; ++i) alone = alone && (i == index || kOwn[i] != own);
        return alone ? own : std::string_view(kDigits.text + 2 * index, index < 10 ? 1 : 2);
    }
};

// The integer that a character is.
template <class Char>
constexpr std::uint32_t code_of(Char c) {
    return static_cast<std::make_unsigned_t<
        std::conditional_t<sizeof(Char) == 1, char, std::conditional_t<sizeof(Char) == 2, short, int>>>>(c);
}
// Whether a character alone is a text; others are written as numbers.
template <class Char>
constexpr bool is_text_alone(Char c) {
    return sizeof(Char) == 1 ? code_of(c) < 0x80 : is_character(code_of(c));
}

SP_BIND_END
