// SP_STRUCT(Type, member, …): describes a type, once, at global scope. Up to 40 members; they must be
// accessible from there.
#pragma once

#include "codec.hpp"

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

#define SP_DETAIL_SIGN(type, member)                                   \
    out.name(#member);                                                 \
    out.add(':');                                                      \
    ::silverpoint::detail::CodecOf<decltype(type::member)>::sign(out); \
    out.add(',');
#define SP_DETAIL_SIZE(type, member)                \
    total = ::silverpoint::detail::add_fixed(total, \
                                             ::silverpoint::detail::CodecOf<decltype(type::member)>::fixed);
#define SP_DETAIL_NAME(type, member) #member,
#define SP_DETAIL_COUNT(type, member) +1
#define SP_DETAIL_PASS(type, member) , value.member

#define SP_STRUCT(type, ...)                                                                     \
    template <>                                                                                  \
    struct silverpoint::Struct<type> {                                                           \
        static constexpr int kFields = 0 SP_DETAIL_EACH(SP_DETAIL_COUNT, type, __VA_ARGS__);     \
        static constexpr ::std::string_view kName = #type;                                       \
        static constexpr ::std::string_view kNames[] = {                                         \
            SP_DETAIL_EACH(SP_DETAIL_NAME, type, __VA_ARGS__) ""};                               \
        static constexpr void sign_fields(::silverpoint::detail::Signer& out) {                  \
            SP_DETAIL_EACH(SP_DETAIL_SIGN, type, __VA_ARGS__)                                    \
        }                                                                                        \
        static constexpr ::std::size_t fixed_size() {                                            \
            ::std::size_t total = 0;                                                             \
            SP_DETAIL_EACH(SP_DETAIL_SIZE, type, __VA_ARGS__)                                    \
            return total;                                                                        \
        }                                                                                        \
        template <class Visit>                                                                   \
        SP_DETAIL_HOT static decltype(auto) visit(const type& value, Visit&& visit) {            \
            return visit_all(visit SP_DETAIL_EACH(SP_DETAIL_PASS, type, __VA_ARGS__));           \
        }                                                                                        \
        template <class Visit, class... Members>                                                 \
        SP_DETAIL_HOT static decltype(auto) visit_all(Visit& visit, const Members&... members) { \
            return visit(members...);                                                            \
        }                                                                                        \
    };

#define SP_DETAIL_LABEL(type, label)                  \
    out.integer(static_cast<long long>(type::label)); \
    out.add('=');                                     \
    out.name(#label);                                 \
    out.add(',');

#define SP_DETAIL_LABEL_OF(type, label) \
    if (value == type::label) return #label;

// SP_ENUM(Type, value, …): gives the values of an enumeration their names, once, at global scope. Up to 40 of
// them.
#define SP_ENUM(type, ...)                                                      \
    template <>                                                                 \
    struct silverpoint::Enum<type> {                                            \
        static constexpr bool kLabels = true;                                   \
        static constexpr ::std::string_view label(type value) {                 \
            SP_DETAIL_EACH(SP_DETAIL_LABEL_OF, type, __VA_ARGS__)               \
            return {};                                                          \
        }                                                                       \
        static constexpr void sign_labels(::silverpoint::detail::Signer& out) { \
            SP_DETAIL_EACH(SP_DETAIL_LABEL, type, __VA_ARGS__)                  \
        }                                                                       \
    };
