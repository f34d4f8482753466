// Names of enumerations that Qt's meta-object system knows, and of QFlags of any enumeration. Known are
// Q_ENUM, Q_ENUM_NS, Q_FLAG and the enumerations of Qt itself.
//
// A signature is made at compile time, before there are meta-objects. So the names are those that the
// compiler prints. It is asked for the values -8 to 255 (to 63, if the names beyond take more than 4 KiB),
// and for each single bit. A value beyond has no label and is recorded as its number. This takes the compiler
// a tenth of a second a type. Use SP_ENUM and SP_FLAGS where that is not enough.
#pragma once

#include <QFlags>
#include <QMetaEnum>
#include <QMetaType>
#include <QObject>
#include <type_traits>

#include "../silverpoint.hpp"

SP_DETAIL_BEGIN

// A value that does not convert in a constant expression (beyond the range of an enumeration of no fixed
// type) has no name. Some versions of clang report it as an error that can be disabled.
#if defined(__clang__)
#    pragma clang diagnostic push
#    pragma clang diagnostic ignored "-Wunknown-warning-option"
#    pragma clang diagnostic ignored "-Wenum-constexpr-conversion"
#endif
template <auto Content>
constexpr std::string_view said_of_value() {
    return __PRETTY_FUNCTION__;
}
// The text before the value is the same for all values: it is searched once.
inline constexpr std::size_t kValueAt = said_of_value<0>().find("Content = ") + 10;

template <auto Content>
constexpr std::string_view written_value() {
    constexpr std::string_view kUnnamedSpace = "(anonymous namespace)::";  // clang's
    std::string_view text = said_of_value<Content>();
    const char first = text[kValueAt];
    // A value without a name is a cast.
    if ((first >= '0' && first <= '9') || first == '-' ||
        (first == '(' && text.compare(kValueAt, kUnnamedSpace.size(), kUnnamedSpace) != 0))
        return {};
    text = text.substr(kValueAt, text.find_first_of(";]", kValueAt) - kValueAt);
    text = text.substr(text.rfind(':') + 1);
    // (The compiler may print more for types that are local to a template.)
    return text.find_first_of("()[]{}<> ") == text.npos ? text : std::string_view();
}

template <class Enumeration, auto Content, class = void>
inline constexpr bool kIsConstant = false;
template <class Enumeration, auto Content>
inline constexpr bool
    kIsConstant<Enumeration, Content,
                std::void_t<std::integral_constant<Enumeration, static_cast<Enumeration>(Content)>>> = true;

template <class Enumeration, auto Content>
constexpr std::string_view value_name() {
    if constexpr (kIsConstant<Enumeration, Content>) {
        return written_value<static_cast<Enumeration>(Content)>();
    } else {
        return {};
    }
}

#if defined(__clang__)
#    pragma clang diagnostic pop
#endif

template <class Enumeration>
struct ValueNames {
    using Under = std::underlying_type_t<Enumeration>;
    static constexpr int kBits =
        std::is_same_v<Under, bool> ? 1
                                    : static_cast<int>(sizeof(Under) * 8) - (std::is_signed_v<Under> ? 1 : 0);
    // Values below this are tried one by one. (For bool and types of eight bits: no more than there are.)
    static constexpr int kMost = kBits < 8 && sizeof(Under) == 1 ? 1 << kBits : 256;
    static constexpr int kFew = kMost < 64 ? kMost : 64;

    // Calls visit(value, name) for each value that has one.
    template <class Visit>
    static constexpr void each(const Visit& visit) {
        if constexpr (std::is_signed_v<Under>) some<-8, 0>(visit);
        some<0, kFew>(visit);
        if constexpr (are_short()) {
            beyond_few(visit);
            single_bits<8>(visit);
        } else {
            single_bits<6>(visit);
        }
    }
    // Zero and the single bits, for flags.
    template <class Visit>
    static constexpr void bits(const Visit& visit) {
        one<Under{0}>(visit);
        single_bits<0>(visit);
    }

  private:
    // Whether the names beyond the first leave room in a signature for the rest of it.
    static constexpr bool are_short() {
        std::size_t size = 0;
        beyond_few([&](Under, std::string_view name) { size += name.size() + 5; });
        return size <= 4096;
    }
    template <class Visit>
    static constexpr void beyond_few(const Visit& visit) {
        if constexpr (kMost > 64) {
            some<64, 128>(visit);
            if constexpr (kMost > 128) {
                some<128, 192>(visit);
                some<192, 256>(visit);
            }
        }
    }
    template <int kFirst, int kEnd, class Visit>
    static constexpr void some(const Visit& visit) {
        [&]<std::size_t... Index>(std::index_sequence<Index...>) {
            (one<static_cast<Under>(kFirst + static_cast<int>(Index))>(visit), ...);
        }(std::make_index_sequence<kEnd - kFirst>{});
    }
    template <int kFirst, class Visit>
    static constexpr void single_bits(const Visit& visit) {
        if constexpr (kBits > kFirst) {
            [&]<std::size_t... Index>(std::index_sequence<Index...>) {
                (one<static_cast<Under>(Under{1} << (Index + kFirst))>(visit), ...);
            }(std::make_index_sequence<kBits - kFirst>{});
        }
    }
    template <Under Content, class Visit>
    static constexpr void one(const Visit& visit) {
        constexpr std::string_view name = value_name<Enumeration, Content>();
        if constexpr (!name.empty()) visit(Content, name);
    }
};

// Known to the meta-object system, and not described by SP_ENUM or SP_FLAGS.
template <class Enumeration>
concept QtEnum = EnumLike<Enumeration> && (QtPrivate::IsQEnumHelper<Enumeration>::Value != 0) &&
                 !requires { Enum<Enumeration>::kLabels; } && !requires { Enum<Enumeration>::kFlags; };

template <QtEnum Enumeration>
struct Codec<Enumeration> {
    using Under = std::underlying_type_t<Enumeration>;
    static constexpr std::size_t fixed = sizeof(Under);
    static constexpr void sign(Signer& out) {
        out.add('e');
        out.type_name(type_name<Enumeration>());
        out.add('|');
        Codec<Under>::sign(out);
        out.add('|');
        ValueNames<Enumeration>::each([&](Under value, std::string_view name) {
            out.integer(static_cast<long long>(value));
            out.add('=');
            out.name(name);
            out.add(',');
        });
        out.add(';');
    }
    static constexpr std::size_t size(const Enumeration&) { return fixed; }
    SP_DETAIL_HOT static char* put(char* out, const Enumeration& value) {
        return put_bytes(out, static_cast<Under>(value));
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const Enumeration& value) {
        const char* key = QMetaEnum::fromType<Enumeration>().valueToKey(static_cast<int>(value));
        return key != nullptr ? put_item(out, key) : put_item(out, static_cast<Under>(value));
    }
};

template <class Enumeration>
struct Codec<QFlags<Enumeration>> {
    static constexpr bool kIsFlat = true;
    using Flags = QFlags<Enumeration>;
    using Bits = std::make_unsigned_t<typename Flags::Int>;
    static constexpr std::size_t fixed = sizeof(Bits);
    static constexpr void sign(Signer& out) {
        out.add("@flags=");
        FlagsSigner flags{out};
        ValueNames<Enumeration>::bits([&](std::underlying_type_t<Enumeration> value, std::string_view name) {
            flags.next();
            flags.number(static_cast<Bits>(value));
            flags.add('=');
            flags.add(name);
        });
        out.add(";e");
        out.type_name(type_name<Enumeration>());
        out.add('|');
        Codec<Bits>::sign(out);
        out.add("|;");
    }
    static constexpr std::size_t size(const Flags&) { return fixed; }
    SP_DETAIL_HOT static char* put(char* out, const Flags& value) {
        return put_bytes(out, static_cast<Bits>(static_cast<typename Flags::Int>(value)));
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const Flags& value) {
        FlagsText text(static_cast<Bits>(static_cast<typename Flags::Int>(value)));
        ValueNames<Enumeration>::bits([&](std::underlying_type_t<Enumeration> bits, std::string_view name) {
            text.flag(static_cast<Bits>(bits), name);
        });
        return text.put_to(out);
    }
};

SP_DETAIL_END
