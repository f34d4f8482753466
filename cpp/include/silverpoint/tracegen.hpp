// What headers made by `silverpoint tracegen` need (docs/guide/tracegen.md). No program includes it itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "silverpoint.hpp"

// The site of a tracepoint if it is on, else null. `names`: those of its arguments.
#define SP_TRACEGEN_SITE(level, names, name) SP_DETAIL_ON(level, kEvent, names, name)

// Records with the site that the overload of a tracepoint's function gives.
#define SP_TRACEGEN_RECORD(function, name, ...)                                                          \
    do {                                                                                                 \
        if (void* const sp_site_ = function(::silverpoint::tracegen::asked))                             \
            ::silverpoint::detail::record_given(::silverpoint::detail::stream_site(sp_site_).site,       \
                                                ::silverpoint::detail::Kind::kEvent, name, #__VA_ARGS__, \
                                                SP_DETAIL_GIVEN(__VA_ARGS__));                           \
    } while (false)

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {
namespace tracegen {

// A value of an enumeration: its 64 bits, and its name.
struct Label {
    long long value;
    std::string_view name;
};

// The argument of the overload that gives a tracepoint's site, or null if it is off. No value of a program
// converts to it.
struct Asked {};
inline constinit Asked asked{};

// Whether a value can be recorded: by its type, or by a description of it that comes before.
template <class T>
concept Recordable = detail::Recordable<std::remove_cvref_t<T>>;

// A value of T: an enumeration, QFlags of one, or an integer. It is recorded with the labels of a table.
// `Labels::all` is an array of Label, `name` that of the enumeration. `is_unsigned`: a value is beyond long
// long.
template <class T, class Labels>
struct Labelled {
    T value;
};

// `length` elements from a pointer on; none if there is no pointer, or if the length is negative.
template <class T, class Length>
constexpr auto items(const T* first, Length length) {
    const bool is_empty = first == nullptr || length <= 0;
    const std::size_t count = is_empty ? 0 : static_cast<std::size_t>(length);
    if constexpr (std::is_same_v<T, char>) {
        return std::string_view(first, count);
    } else {
        return std::span<const T>(first, count);
    }
}

}  // namespace tracegen
}  // namespace v1 SP_DETAIL_HIDDEN
}  // namespace silverpoint

SP_DETAIL_BEGIN

// What a labelled value is stored as.
template <class T>
struct LabelledAs {
    using type = T;
};
template <class T>
    requires std::is_enum_v<T>
struct LabelledAs<T> {
    using type = std::underlying_type_t<T>;
};
template <class T>
    requires requires { typename T::Int; }
struct LabelledAs<T> {
    using type = typename T::Int;
};

template <class Labels>
constexpr void sign_table(Signer& out) {
    for (const tracegen::Label& one : Labels::all) {
        if constexpr (Labels::is_unsigned)
            out.number(static_cast<std::size_t>(one.value));
        else
            out.integer(one.value);
        out.add('=');
        out.name(one.name);
        out.add(',');
    }
}
template <class Labels>
constexpr void sign_flags_table(Signer& out) {
    FlagsSigner flags{out};
    for (const tracegen::Label& one : Labels::all) {
        flags.next();
        flags.number(static_cast<std::size_t>(one.value));
        flags.add('=');
        flags.add(one.name);
    }
}

template <class T, class Labels>
struct Codec<tracegen::Labelled<T, Labels>> {
    using Of = tracegen::Labelled<T, Labels>;
    using Whole = typename LabelledAs<T>::type;
    using Stored = std::conditional_t<std::is_same_v<Whole, bool>, unsigned char, Whole>;
    using Bits = std::conditional_t<Labels::is_flags, std::make_unsigned_t<Stored>, Stored>;
    static constexpr std::size_t fixed = sizeof(Bits);
    static constexpr void sign(Signer& out) {
        if constexpr (Labels::is_flags) {
            out.add("@flags=");
            sign_flags_table<Labels>(out);
            out.add(';');
        }
        out.add('e');
        out.name(Labels::name);
        out.add('|');
        Codec<Bits>::sign(out);
        out.add('|');
        if constexpr (!Labels::is_flags) sign_table<Labels>(out);
        out.add(';');
    }
    static constexpr std::size_t size(const Of&) { return fixed; }
    SP_DETAIL_HOT static char* put(char* out, const Of& of) {
        return put_bytes(out, static_cast<Bits>(static_cast<Whole>(of.value)));
    }
};
template <class T, class Labels>
inline constexpr bool kIsKnown<tracegen::Labelled<T, Labels>> = true;

SP_DETAIL_END

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {
namespace tracegen {

// For silverpoint::Enum of an enumeration that tracegen defines.
template <class T, class Labels, bool kIsFlags = Labels::is_flags>
struct EnumOf {
    static constexpr bool kLabels = true;
    static constexpr std::string_view label(T value) {
        for (const Label& one : Labels::all)
            if (static_cast<T>(one.value) == value) return one.name;
        return {};
    }
    static constexpr void sign_labels(detail::Signer& out) { detail::sign_table<Labels>(out); }
};
template <class T, class Labels>
struct EnumOf<T, Labels, true> {
    static constexpr bool kFlags = true;
    using Bits = std::make_unsigned_t<std::underlying_type_t<T>>;
    static constexpr std::string_view label(T) { return {}; }
    static constexpr void sign_flags(detail::Signer& out) { detail::sign_flags_table<Labels>(out); }
    template <class Writer>
    static bool put_flags(Writer& out, T value) {
        detail::FlagsText text(static_cast<Bits>(value));
        for (const Label& one : Labels::all) text.flag(static_cast<Bits>(one.value), one.name);
        return text.put_to(out);
    }
};

}  // namespace tracegen
}  // namespace v1 SP_DETAIL_HIDDEN
}  // namespace silverpoint
