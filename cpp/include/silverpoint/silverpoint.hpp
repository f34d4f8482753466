// Silverpoint for C++20: tracepoints that cost what reading the clock costs, keep their arguments typed, and
// survive the death of their process.
//
// clang-format off
//     #include <silverpoint/silverpoint.hpp>
//
//     SP_INFO("order {} at {:.2f}", id, px);          text with placeholders, checked when compiled
//     SP_INFOF("order %d at %.2f", id, px);           as of printf, checked when compiled
//     SP_DEBUG << "pos" << x << y;                    pieces, as of qDebug: literals go to the site once
//     auto line = SP_STREAM(info);                    a stream to hold; a std::ostream: silverpoint/ostream.hpp
//     SP_EVENT("order.filled", id, px);               a name, and arguments named after their source
//     SP_SPAN("load", path);                          until the end of the scope
//     SP_SCOPE();                                     the same, named after the function
//     SP_COUNTER("queue.depth", queue.size());        SP_COUNTER("latency", ms, "ms"); with a unit
//     auto span = SP_ASYNC_SPAN("fetch", url);        until its owner ends, in any thread
//     SP_INFO_EVERY_N(100, "{} done", n);             limits: detail/limits.hpp lists them
//     SP_INSTANT("tick");
//     SP_HEX(id), SP_UNIT(size, "B"), SP_SECRET(key)  around any argument: 0x2a, 42 B, <secret>
//     SP_CONTEXT("request", id);                      a field of all records of this thread in this scope
//     SP_CATEGORY("net::tcp")                         category of what follows in this namespace or class
//     SP_STRUCT(ns::Point, x, y)                      own types, at global scope
//     SP_STRUCT_OF(ns::Person, (name, v.name()))      types of others, by expressions of a value v
//     SP_ENUM(ns::Side, Buy, Sell)                    names for an enumeration's values, at global scope
//     SP_FLAGS(ns::Mode, Read, Write)                 names for its bits
//     if (SP_ENABLED(debug)) …                        whether such a tracepoint here would record
//
// In headers of their own: chrono.hpp, filesystem.hpp, ostream.hpp, testing.hpp, polymorphic.hpp (objects by
// their dynamic type). Also text.hpp (types with operator<<, a formatter or to_string).
// clang-format on
//
// Run the program under `silverpoint run -- ./app` and read with `silverpoint cat`. Without a collector and
// without settings everything is off: a tracepoint is two loads and a branch, and its arguments are not
// evaluated. SILVERPOINT_FILTER=debug records into memory from the start; another process can switch every
// single site at any time.
//
// Events have level info. Spans, counters, instants, flows and links have level debug, in every language.
// SP_EVENT_AT(warn, …) and SP_SPAN_AT(info, …) choose another.
//
// A tracepoint allocates nothing, takes no lock and keeps errno. It may stand in a signal handler, a static
// constructor or destructor, and before a brace-less else. SP_MIN_LEVEL (0 trace … 5 fatal, 6 none), defined
// before this header, leaves lower levels out of the program. Nothing needs to be linked.
//
// `silverpoint sites ./app` lists the tracepoints of a program that need not have run (detail/listed.hpp).
#pragma once

#include "context.hpp"
#include "detail/dynamic.hpp"
#include "detail/front.hpp"
#include "detail/limits.hpp"
#include "detail/percent.hpp"
#include "detail/spans.hpp"
#include "detail/struct.hpp"
#include "detail/unit.hpp"
#include "detail/usdt_macros.hpp"

#ifndef SP_MIN_LEVEL
#    define SP_MIN_LEVEL 0
#endif

// Declares a name for the scope it stands in: of a namespace, a class or a function, with or without a
// semicolon behind it. A second one in the same scope is an error, as two files of a unity build may have it.
// The long name tells in the compiler's message what to do.
#define SP_CATEGORY(name)                                \
    using SP_DETAIL_CATEGORY_OF_SCOPE [[maybe_unused]] = \
        ::silverpoint::detail::Category<::silverpoint::detail::FixedText(name)>;

// The category of the nearest scope that has one. Where none has, the name is found through its argument.
#define SP_DETAIL_CATEGORY SP_DETAIL_CATEGORY_OF_SCOPE(::silverpoint::detail::Here{})

// The address of the site of a tracepoint (an object of type `place`, in it `member`) if it is on, else null.
// It comes without its type, which is hidden, and so cannot be that of a coroutine's variable. The site is a
// static object in constant-initialised memory, one for each place and template instantiation. The code that
// lists the site stands where the state byte is neither off nor on: the way there is cold.
#if SP_DETAIL_IS_GNU
#    define SP_DETAIL_FOUND(place, member, kind, level, category, list)                     \
        __extension__({                                                                     \
            SP_DETAIL_FIND(place, member, kind, level, category, list, SP_DETAIL_FUNCTION); \
            sp_found_;                                                                      \
        })
#else
#    define SP_DETAIL_FOUND(place, member, kind, level, category, list)               \
        [&]([[maybe_unused]] const char* sp_function_) -> void* {                     \
            SP_DETAIL_FIND(place, member, kind, level, category, list, sp_function_); \
            return sp_found_;                                                         \
        }(SP_DETAIL_FUNCTION)
#endif
#define SP_DETAIL_FIND(place, member, kind, level, category, list, function)                                 \
    void* sp_found_ = nullptr;                                                                               \
    if constexpr (::silverpoint::detail::is_compiled(::silverpoint::detail::level_names::level,              \
                                                     SP_MIN_LEVEL)) {                                        \
        void* const sp_place_ = []() -> void* {                                                              \
            static constinit ::silverpoint::detail::place sp_site(::silverpoint::detail::level_names::level, \
                                                                  __FILE__, __LINE__);                       \
            return &sp_site;                                                                                 \
        }();                                                                                                 \
        const auto sp_state_ =                                                                               \
            ::silverpoint::detail::place_at<::silverpoint::detail::place>(sp_place_).member.state_byte();    \
        if (sp_state_ == 0) [[likely]] {                                                                     \
        } else if (sp_state_ == 1) [[likely]] {                                                              \
            sp_found_ = sp_place_;                                                                           \
        } else if (::silverpoint::detail::place_at<::silverpoint::detail::place>(sp_place_).member.is_quiet( \
                       sp_state_, ::silverpoint::detail::Kind::kind)) {                                      \
            sp_found_ = sp_place_;                                                                           \
        } else {                                                                                             \
            list;                                                                                            \
            if (::silverpoint::detail::place_at<::silverpoint::detail::place>(sp_place_)                     \
                    .member.is_wanted_otherwise(sp_state_, function, category))                              \
                sp_found_ = sp_place_;                                                                       \
        }                                                                                                    \
        SP_DETAIL_MARK(sp_found_, sp_place_);                                                                \
    }

#define SP_DETAIL_LIST_AT(level, kind, names, text)                                               \
    SP_DETAIL_LIST(::silverpoint::detail::listed_head(::silverpoint::detail::Kind::kind,          \
                                                      ::silverpoint::detail::level_names::level), \
                   __LINE__, SP_DETAIL_CATEGORY, names, text)

#define SP_DETAIL_ON(level, kind, names, text)                         \
    SP_DETAIL_FOUND(StreamSite, site, kind, level, SP_DETAIL_CATEGORY, \
                    SP_DETAIL_LIST_AT(level, kind, names, text))

// Before a statement: line and level for SP_DETAIL_TEXT.
#define SP_DETAIL_HERE(level)                                                                     \
    switch ([[maybe_unused]] constexpr auto sp_here_ =                                            \
                ::silverpoint::detail::here(::silverpoint::detail::level_names::level, __LINE__); \
            0)                                                                                    \
    default:

// A loop that runs once or not at all takes exactly one statement, and leaves no else open.
#define SP_DETAIL_LINE(level)                                                                            \
    SP_DETAIL_HERE(level)                                                                                \
    for (void* sp_site_ = SP_DETAIL_ON(level, kStream, "", ""); sp_site_ != nullptr; sp_site_ = nullptr) \
    SP_DETAIL_SINK(sp_site_, SP_DETAIL_CATEGORY) & SP_DETAIL_START(sp_site_).SP_DETAIL_TEXT

// The text behind such a macro decides: a parenthesis invokes these, and the template is listed. Before `<<`
// they are the names of members of Start. (The site listed before is a stream whose pieces are unknown.)
#define SP_DETAIL_TEXT(...) SP_DETAIL_TEXT_IN(SP_DETAIL_CATEGORY, __VA_ARGS__)
#define SP_DETAIL_TEXT_TO(...) SP_DETAIL_TEXT_IN(sp_category_text_, __VA_ARGS__)
#if SP_DETAIL_LISTS_SITES
#    define SP_DETAIL_TEXT_IN(category, ...)                                                         \
        SP_DETAIL_AT(sp_site_, category, SP_DETAIL_FIRST(__VA_ARGS__, ""), __extension__({           \
                         if constexpr (::silverpoint::detail::is_compiled(                           \
                                           ::silverpoint::detail::level_of(sp_here_), SP_MIN_LEVEL)) \
                             SP_DETAIL_LIST(::silverpoint::detail::listed_head(                      \
                                                ::silverpoint::detail::Kind::kLog,                   \
                                                ::silverpoint::detail::level_of(sp_here_)),          \
                                            ::silverpoint::detail::line_of(sp_here_), category, "",  \
                                            SP_DETAIL_FIRST(__VA_ARGS__, ""));                       \
                         0;                                                                          \
                     }))                                                                             \
        (SP_DETAIL_TEXT_GIVEN(__VA_ARGS__))
#else
#    define SP_DETAIL_TEXT_IN(category, ...)                                  \
        SP_DETAIL_AT(sp_site_, category, SP_DETAIL_FIRST(__VA_ARGS__, ""), 0) \
        (SP_DETAIL_TEXT_GIVEN(__VA_ARGS__))
#endif
#define SP_DETAIL_FIRST(first, ...) first

// <windows.h> has a macro of this name, for printers of Windows 3. A program that includes it after this
// header defines NOGDI before.
#if defined(_WIN32)
#    undef SP_ERROR
#endif
#define SP_TRACE SP_DETAIL_LINE(trace)
#define SP_DEBUG SP_DETAIL_LINE(debug)
#define SP_INFO SP_DETAIL_LINE(info)
#define SP_WARN SP_DETAIL_LINE(warn)
#define SP_ERROR SP_DETAIL_LINE(error)
#define SP_FATAL SP_DETAIL_LINE(fatal)

// With a level (trace, debug, info, warn, error, fatal) and a category of its own. SP_LOG(warn, "net", "slow:
// {} ms", ms), and SP_TO(warn, "net") << "slow" << ms.
#define SP_TO(level, category)                                                                             \
    switch ([[maybe_unused]] constexpr const char* sp_category_text_ = SP_DETAIL_KNOWN(category); 0)       \
    default:                                                                                               \
        SP_DETAIL_HERE(level)                                                                              \
    for (void* sp_site_ = SP_DETAIL_FOUND(                                                                 \
             StreamSite, site, kStream, level, category,                                                   \
             SP_DETAIL_LIST(::silverpoint::detail::listed_head(::silverpoint::detail::Kind::kStream,       \
                                                               ::silverpoint::detail::level_names::level), \
                            __LINE__, sp_category_text_, "", ""));                                         \
         sp_site_ != nullptr; sp_site_ = nullptr)                                                          \
    SP_DETAIL_SINK(sp_site_, sp_category_text_) & SP_DETAIL_START_TO(sp_site_).SP_DETAIL_TEXT_TO
#define SP_LOG(level, category, ...) SP_TO(level, category)(__VA_ARGS__)

#define SP_DETAIL_NAMED(level, kind, name, ...)                                              \
    do {                                                                                     \
        if (void* const sp_site_ = SP_DETAIL_ON(level, kind, #__VA_ARGS__, name))            \
            SP_DETAIL_RECORD(sp_site_, kind, name, #__VA_ARGS__ __VA_OPT__(, ) __VA_ARGS__); \
    } while (false)

#define SP_EVENT(name, ...) SP_DETAIL_NAMED(info, kEvent, name __VA_OPT__(, ) __VA_ARGS__)
#define SP_EVENT_AT(level, name, ...) SP_DETAIL_NAMED(level, kEvent, name __VA_OPT__(, ) __VA_ARGS__)
#define SP_INSTANT(name, ...) SP_DETAIL_NAMED(debug, kInstant, name __VA_OPT__(, ) __VA_ARGS__)

// A number, and if there is a third argument its unit, a literal: SP_COUNTER("latency", ms, "ms").
#define SP_COUNTER(name, value, ...)                                                                      \
    do {                                                                                                  \
        if (void* const sp_site_ = SP_DETAIL_ON(debug, kCounter, #value, name))                           \
            SP_DETAIL_RECORD_NAMED(                                                                       \
                sp_site_, kCounter, name, #value,                                                         \
                ::silverpoint::detail::counted<::silverpoint::detail::FixedText("" __VA_ARGS__)>(value)); \
    } while (false)

#define SP_DETAIL_JOIN2(a, b) a##b
#define SP_DETAIL_JOIN(a, b) SP_DETAIL_JOIN2(a, b)

#define SP_SPAN(name, ...) SP_SPAN_AT(debug, name __VA_OPT__(, ) __VA_ARGS__)
#define SP_SPAN_AT(level, name, ...) \
    SP_DETAIL_SPAN(name, SP_DETAIL_ON(level, kSpan, #__VA_ARGS__, name) __VA_OPT__(, ) __VA_ARGS__)

// Whether a tracepoint of this level (trace, debug, info, warn, error, fatal) would record here.
#define SP_ENABLED(level) (SP_DETAIL_ON(level, kLog, "", "") != nullptr)
