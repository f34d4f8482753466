// Describes types, once each, at global scope, with up to 40 members or values:
//
//     SP_STRUCT(ns::Point, x, y)                                    by its members
//     SP_STRUCT_OF(ns::Person, (name, v.name()), (age, v.age()))    by expressions of `v`, a value of it
//     SP_ENUM(ns::Side, kBuy, kSell)                                the values' names
//     SP_FLAGS(ns::Mode, kRead, kWrite)                             the bits' names
//
// All must be accessible from there. A class opens itself by `friend struct silverpoint::Struct<Point>;`, and
// by `friend struct silverpoint::Enum<Side>;` for an enumeration within it. A mere declaration of the class
// or enumeration before it is enough for that.
#pragma once

#include "values.hpp"

// SP_DETAIL_EACH(what, type, a, b, …) is what(type, a) what(type, b) …: by rescanning, up to 85 elements.
#define SP_DETAIL_PARENS ()
#define SP_DETAIL_EXPAND(...) \
    SP_DETAIL_EXPAND3(SP_DETAIL_EXPAND3(SP_DETAIL_EXPAND3(SP_DETAIL_EXPAND3(__VA_ARGS__))))
#define SP_DETAIL_EXPAND3(...) \
    SP_DETAIL_EXPAND2(SP_DETAIL_EXPAND2(SP_DETAIL_EXPAND2(SP_DETAIL_EXPAND2(__VA_ARGS__))))
#define SP_DETAIL_EXPAND2(...) \
    SP_DETAIL_EXPAND1(SP_DETAIL_EXPAND1(SP_DETAIL_EXPAND1(SP_DETAIL_EXPAND1(__VA_ARGS__))))
#define SP_DETAIL_EXPAND1(...) __VA_ARGS__
#define SP_DETAIL_EACH(what, type, ...) \
    __VA_OPT__(SP_DETAIL_EXPAND(SP_DETAIL_EACH_NEXT(what, type, __VA_ARGS__)))
#define SP_DETAIL_EACH_NEXT(what, type, first, ...) \
    what(type, first) __VA_OPT__(SP_DETAIL_EACH_AGAIN SP_DETAIL_PARENS(what, type, __VA_ARGS__))
#define SP_DETAIL_EACH_AGAIN() SP_DETAIL_EACH_NEXT

SP_DETAIL_BEGIN

// The described type. In the description's body the type's name might be confused with one of ours.
template <class Description>
struct Subject;
template <template <class> class Description, class T>
struct Subject<Description<T>> {
    using Type = T;
};

SP_DETAIL_END

#define SP_DETAIL_SIGN(type, member)                                   \
    out.name(#member);                                                 \
    out.add(':');                                                      \
    ::silverpoint::detail::CodecOf<decltype(type::member)>::sign(out); \
    out.add(',');
#define SP_DETAIL_SIZE(type, member)                \
    total = ::silverpoint::detail::add_fixed(total, \
                                             ::silverpoint::detail::CodecOf<decltype(type::member)>::fixed);
#define SP_DETAIL_STEADY(type, member) &&::silverpoint::detail::is_steady<decltype(type::member), kDeep>()
#define SP_DETAIL_NAME(type, member) #member,
#define SP_DETAIL_COUNT(type, member) +1
#define SP_DETAIL_PASS(type, member) , value.member

#define SP_STRUCT(type, ...)                                                                              \
    template <>                                                                                           \
    struct silverpoint::Struct<type> {                                                                    \
        using SpType_ = ::silverpoint::detail::Subject<Struct>::Type;                                     \
        static constexpr int kFields = 0 SP_DETAIL_EACH(SP_DETAIL_COUNT, SpType_, __VA_ARGS__);           \
        [[maybe_unused]] static constexpr ::std::string_view kName = #type;                               \
        static constexpr ::std::string_view kNames[] = {                                                  \
            SP_DETAIL_EACH(SP_DETAIL_NAME, SpType_, __VA_ARGS__) ""};                                     \
        static constexpr void sign_fields([[maybe_unused]] ::silverpoint::detail::Signer& out) {          \
            SP_DETAIL_EACH(SP_DETAIL_SIGN, SpType_, __VA_ARGS__)                                          \
        }                                                                                                 \
        static constexpr ::std::size_t fixed_size() {                                                     \
            ::std::size_t total = 0;                                                                      \
            SP_DETAIL_EACH(SP_DETAIL_SIZE, SpType_, __VA_ARGS__)                                          \
            return total;                                                                                 \
        }                                                                                                 \
        template <unsigned kDeep>                                                                         \
        static constexpr bool are_steady() {                                                              \
            return true SP_DETAIL_EACH(SP_DETAIL_STEADY, SpType_, __VA_ARGS__);                           \
        }                                                                                                 \
        template <class Visit>                                                                            \
        SP_DETAIL_HOT static decltype(auto) visit([[maybe_unused]] const SpType_& value, Visit&& visit) { \
            return visit_all(visit SP_DETAIL_EACH(SP_DETAIL_PASS, SpType_, __VA_ARGS__));                 \
        }                                                                                                 \
        template <class Visit, class... Members>                                                          \
        SP_DETAIL_HOT static decltype(auto) visit_all(Visit& visit, const Members&... members) {          \
            return visit(members...);                                                                     \
        }                                                                                                 \
        /* the members themselves, for code that reads into them */                                       \
        template <class Access>                                                                           \
        SP_DETAIL_HOT static decltype(auto) access([[maybe_unused]] SpType_& value, Access&& access) {    \
            return access_all(access SP_DETAIL_EACH(SP_DETAIL_PASS, SpType_, __VA_ARGS__));               \
        }                                                                                                 \
        template <class Access, class... Members>                                                         \
        SP_DETAIL_HOT static decltype(auto) access_all(Access& access, Members&&... members) {            \
            return access(static_cast<Members&&>(members)...);                                            \
        }                                                                                                 \
    };

SP_DETAIL_BEGIN

// Types of what SP_STRUCT_OF's expressions give.
template <class... Ts>
struct FieldTypes {
    static constexpr std::size_t fixed_size() {
        std::size_t total = 0;
        ((total = add_fixed(total, CodecOf<Ts>::fixed)), ...);
        return total;
    }
    static constexpr void sign(Signer& out, const std::string_view* names) {
        ((out.name(*names++), out.add(':'), CodecOf<Ts>::sign(out), out.add(',')), ...);
    }
};
struct ListTypes {
    template <class... Ts>
    FieldTypes<Ts...> operator()(const Ts&...) const;
};

SP_DETAIL_END

#define SP_DETAIL_FIELD_NAME(type, field) SP_DETAIL_FIELD_NAME2 field
#define SP_DETAIL_FIELD_NAME2(name, ...) #name,
#define SP_DETAIL_FIELD_VALUE(type, field) SP_DETAIL_FIELD_VALUE2 field
#define SP_DETAIL_FIELD_VALUE2(name, ...) , (__VA_ARGS__)

// The expressions are evaluated once whenever a value is recorded, before its record is begun.
#define SP_STRUCT_OF(type, ...)                                                                              \
    template <>                                                                                              \
    struct silverpoint::Struct<type> {                                                                       \
        using SpType_ = ::silverpoint::detail::Subject<Struct>::Type;                                        \
        static constexpr int kFields = 0 SP_DETAIL_EACH(SP_DETAIL_COUNT, SpType_, __VA_ARGS__);              \
        [[maybe_unused]] static constexpr ::std::string_view kName = #type;                                  \
        static constexpr ::std::string_view kNames[] = {                                                     \
            SP_DETAIL_EACH(SP_DETAIL_FIELD_NAME, SpType_, __VA_ARGS__) ""};                                  \
        template <class Visit>                                                                               \
        SP_DETAIL_HOT static auto visit(const SpType_& v, Visit&& visit) {                                   \
            return visit_all(visit SP_DETAIL_EACH(SP_DETAIL_FIELD_VALUE, SpType_, __VA_ARGS__));             \
        }                                                                                                    \
        template <class Visit, class... Members>                                                             \
        SP_DETAIL_HOT static auto visit_all(Visit& visit, const Members&... members) {                       \
            return visit(members...);                                                                        \
        }                                                                                                    \
        template <class Access>                                                                              \
        SP_DETAIL_HOT static auto access(SpType_& v, Access&& access) {                                      \
            return access_all(access SP_DETAIL_EACH(SP_DETAIL_FIELD_VALUE, SpType_, __VA_ARGS__));           \
        }                                                                                                    \
        template <class Access, class... Members>                                                            \
        SP_DETAIL_HOT static auto access_all(Access& access, Members&&... members) {                         \
            return access(static_cast<Members&&>(members)...);                                               \
        }                                                                                                    \
        static constexpr auto types() {                                                                      \
            return decltype(visit(*static_cast<const SpType_*>(nullptr),                                     \
                                  ::silverpoint::detail::ListTypes{})){};                                    \
        }                                                                                                    \
        static constexpr void sign_fields(::silverpoint::detail::Signer& out) { types().sign(out, kNames); } \
        static constexpr ::std::size_t fixed_size() { return types().fixed_size(); }                         \
    };

#define SP_DETAIL_LABEL(type, label)                  \
    out.integer(static_cast<long long>(type::label)); \
    out.add('=');                                     \
    out.name(#label);                                 \
    out.add(',');

#define SP_DETAIL_LABEL_VALUE(type, label) type::label,

#define SP_DETAIL_LABEL_OF(type, label) \
    if (value == type::label) return #label;

#define SP_DETAIL_FLAG(type, label)                                                                         \
    flags.next(), flags.number(static_cast<::std::size_t>(static_cast<Bits>(type::label))), flags.add('='), \
        flags.add(#label);

#define SP_ENUM(type, ...)                                                          \
    template <>                                                                     \
    struct silverpoint::Enum<type> {                                                \
        using SpType_ = ::silverpoint::detail::Subject<Enum>::Type;                 \
        static constexpr bool kLabels = true;                                       \
        static constexpr ::std::string_view label(SpType_ value) {                  \
            SP_DETAIL_EACH(SP_DETAIL_LABEL_OF, SpType_, __VA_ARGS__)                \
            return {};                                                              \
        }                                                                           \
        static constexpr void sign_labels(::silverpoint::detail::Signer& out) {     \
            SP_DETAIL_EACH(SP_DETAIL_LABEL, SpType_, __VA_ARGS__)                   \
        }                                                                           \
        static constexpr ::std::string_view kLabelNames[] = {                       \
            SP_DETAIL_EACH(SP_DETAIL_NAME, SpType_, __VA_ARGS__) ""};               \
        static constexpr SpType_ kLabelValues[] = {                                 \
            SP_DETAIL_EACH(SP_DETAIL_LABEL_VALUE, SpType_, __VA_ARGS__) SpType_{}}; \
    };

SP_DETAIL_BEGIN

// The text of metadata `flags`: its own `=` and `,` are not those of the signature.
struct FlagsSigner {
    Signer& out;
    bool begun = false;

    constexpr void next() {
        if (begun) out.name(",");
        begun = true;
    }
    constexpr void add(char c) { out.name(std::string_view(&c, 1)); }
    constexpr void add(std::string_view text) { out.name(text); }
    constexpr void number(std::size_t value) { out.number(value); }
};

// The names of the bits that are set, as a reader writes them, into a buffer.
class FlagsText {
  public:
    explicit FlagsText(std::uint64_t value) : value_(value), rest_(value) {}
    void flag(std::uint64_t bits, std::string_view name) {
        if (bits == 0 ? value_ != 0 : (bits & value_) != bits || (bits & rest_) == 0) return;
        rest_ &= ~bits;
        put(name);
    }
    template <class Writer>
    bool put_to(Writer& out) {
        if (rest_ != 0) {
            char room[19] = "0x";
            std::size_t at = 2;
            for (int shift = 60; shift >= 0; shift -= 4)
                if ((rest_ >> shift) != 0) room[at++] = "0123456789abcdef"[rest_ >> shift & 15];
            put({room, at});
        } else if (len_ == 0) {
            put("0");
        }
        return out.text(text_, len_);
    }

  private:
    void put(std::string_view name) {
        if (len_ + 1 + name.size() > sizeof text_) return;
        if (len_ != 0) text_[len_++] = '|';
        for (const char c : name) text_[len_++] = c;
    }
    std::uint64_t value_, rest_;
    std::size_t len_ = 0;
    char text_[500];
};

SP_DETAIL_END

#define SP_DETAIL_FLAG_TEXT(type, label) text.flag(static_cast<Bits>(type::label), #label);

// An enumeration whose values are sets of bits: shown as `kRead|kWrite`.
#define SP_FLAGS(type, ...)                                                         \
    template <>                                                                     \
    struct silverpoint::Enum<type> {                                                \
        using SpType_ = ::silverpoint::detail::Subject<Enum>::Type;                 \
        static constexpr bool kFlags = true;                                        \
        using Bits = ::std::make_unsigned_t<::std::underlying_type_t<SpType_>>;     \
        static constexpr ::std::string_view label(SpType_) { return {}; }           \
        static constexpr void sign_flags(::silverpoint::detail::Signer& out) {      \
            ::silverpoint::detail::FlagsSigner flags{out};                          \
            SP_DETAIL_EACH(SP_DETAIL_FLAG, SpType_, __VA_ARGS__)                    \
        }                                                                           \
        template <class Writer>                                                     \
        static bool put_flags(Writer& out, SpType_ value) {                         \
            ::silverpoint::detail::FlagsText text(static_cast<Bits>(value));        \
            SP_DETAIL_EACH(SP_DETAIL_FLAG_TEXT, SpType_, __VA_ARGS__)               \
            return text.put_to(out);                                                \
        }                                                                           \
        static constexpr ::std::string_view kLabelNames[] = {                       \
            SP_DETAIL_EACH(SP_DETAIL_NAME, SpType_, __VA_ARGS__) ""};               \
        static constexpr SpType_ kLabelValues[] = {                                 \
            SP_DETAIL_EACH(SP_DETAIL_LABEL_VALUE, SpType_, __VA_ARGS__) SpType_{}}; \
    };
