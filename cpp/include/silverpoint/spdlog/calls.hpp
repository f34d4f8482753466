// The functions of levels, of loggers and of spdlog itself: info("x {}", x), log(level, …).
//
// Each call is a site of its own, since the type of a lambda in a default template argument differs at each
// call. g++ 12 does not find a member function with such an argument when a template calls it with an object
// of known type. It finds the call operator of a member. So a logger's functions are objects, which know
// their logger.
#pragma once

#include "message.hpp"
#include "text.hpp"

namespace spdlog {

class logger;

// Known only when a function is instantiated: these objects are members of a class that is incomplete here.
template <class Tag>
struct logger_of_ {
    using type = logger;
};

// A template with arguments; a literal alone, which is text; a message that was made elsewhere; a template
// that is made at run time.
#define SP_SPDLOG_CALLS(name, constness, target, which, first, ...)                                         \
    template <class... Ts, class Tag = SP_DETAIL_THIS_CALL>                                                 \
        requires(sizeof...(Ts) > 0)                                                                         \
    SP_DETAIL_HOT void name(__VA_ARGS__ __VA_OPT__(, )::spdlog::text_at_<std::type_identity_t<Ts>...> text, \
                            const Ts&... args) constness {                                                  \
        (target)->template write_<Tag>(which, text, args...);                                               \
    }                                                                                                       \
    template <class Tag = SP_DETAIL_THIS_CALL>                                                              \
    SP_DETAIL_HOT void name(__VA_ARGS__ __VA_OPT__(, )::silverpoint::detail::PlainAt text) constness {      \
        (target)->template write_<Tag>(which, text);                                                        \
    }                                                                                                       \
    template <class T, class Tag = SP_DETAIL_THIS_CALL>                                                     \
        requires ::spdlog::message_t_<T>                                                                    \
    SP_DETAIL_HOT void name(__VA_ARGS__ __VA_OPT__(, ) const T& message,                                    \
                            const std::source_location& at = std::source_location::current()) constness {   \
        (target)->template write_<Tag>(which, message, at);                                                 \
    }                                                                                                       \
    template <class... Ts, class Tag = SP_DETAIL_THIS_CALL>                                                 \
    void name(__VA_ARGS__ __VA_OPT__(, ) const ::spdlog::runtime_at_& text, const Ts&... args) constness {  \
        (target)->template write_<Tag>(which, text, args...);                                               \
    }

#define SP_SPDLOG_OF static_cast<typename logger_of_<Tag>::type*>(of_)

// (Nor are they templates, for the same reason.)
#define SP_SPDLOG_LEVEL(name, which)                              \
    struct name {                                                 \
        logger* of_;                                              \
        SP_SPDLOG_CALLS(operator(), const, SP_SPDLOG_OF, which, ) \
    };
SP_SPDLOG_LEVEL(trace_call_, level::trace)
SP_SPDLOG_LEVEL(debug_call_, level::debug)
SP_SPDLOG_LEVEL(info_call_, level::info)
SP_SPDLOG_LEVEL(warn_call_, level::warn)
SP_SPDLOG_LEVEL(error_call_, level::err)
SP_SPDLOG_LEVEL(critical_call_, level::critical)
#undef SP_SPDLOG_LEVEL

struct any_level_call_ {
    logger* of_;
    SP_SPDLOG_CALLS(operator(), const, SP_SPDLOG_OF, which, , level::level_enum which)
    // The place of the call is recorded; only the program's own sinks get this one.
    SP_SPDLOG_CALLS(operator(), const, SP_SPDLOG_OF->said_at_(where), which, , source_loc where,
                    level::level_enum which)
    template <class Tag = SP_DETAIL_THIS_CALL>
    void operator()(log_clock::time_point time, source_loc where, level::level_enum which,
                    string_view_t message,
                    const std::source_location& at = std::source_location::current()) const {
        SP_SPDLOG_OF->said_at_(where, time)->template write_<Tag>(which, message, at);
    }
};

}  // namespace spdlog
