// Qt's macros for tracepoints: Q_TRACE, Q_TRACE_SCOPE and their like over functions that `silverpoint
// tracegen` has made. Their headers include it (docs/guide/tracegen.md).
//
// In Qt's own sources the private header of Qt defines them; it is switched on here. If a source has included
// it before, switched off, those here take their place.
#pragma once

#if __has_include(<private/qtrace_p.h>)
#    ifndef Q_TRACEPOINT
#        define Q_TRACEPOINT
#    endif
#    include <private/qtrace_p.h>
#endif

#if !defined(Q_TRACE) || (defined(Q_HAS_TRACEPOINTS) && !Q_HAS_TRACEPOINTS)

#    undef Q_HAS_TRACEPOINTS
#    undef Q_TRACE
#    undef Q_UNCONDITIONAL_TRACE
#    undef Q_TRACE_ENABLED
#    undef Q_TRACE_EXIT
#    undef Q_TRACE_SCOPE
#    define Q_HAS_TRACEPOINTS 1

// Records, if the tracepoint is on. Arguments are evaluated in any case.
#    define Q_TRACE(name, ...) QtPrivate::trace_##name(__VA_ARGS__)
#    define Q_UNCONDITIONAL_TRACE(name, ...) QtPrivate::do_trace_##name(__VA_ARGS__)
#    define Q_TRACE_ENABLED(name) QtPrivate::trace_##name##_enabled()

// Records at the end of the scope.
#    define SP_DETAIL_QT_AT_END(name, counter, ...)                                       \
        const ::silverpoint::detail::AtScopeEnd SP_DETAIL_JOIN(sp_trace_exit_, counter) { \
            [&] { Q_TRACE(name __VA_OPT__(, ) __VA_ARGS__); }                             \
        }
#    define Q_TRACE_EXIT(name, ...) SP_DETAIL_QT_AT_END(name, __COUNTER__ __VA_OPT__(, ) __VA_ARGS__)
// NAME_entry with the arguments now, and NAME_exit at the end of the scope.
#    define Q_TRACE_SCOPE(name, ...)                      \
        Q_TRACE(name##_entry __VA_OPT__(, ) __VA_ARGS__); \
        Q_TRACE_EXIT(name##_exit)

#    include "../silverpoint.hpp"

SP_DETAIL_BEGIN

template <class Action>
struct AtScopeEnd {
    Action action;
    explicit AtScopeEnd(Action at_end) : action(static_cast<Action&&>(at_end)) {}
    AtScopeEnd(const AtScopeEnd&) = delete;
    AtScopeEnd& operator=(const AtScopeEnd&) = delete;
    ~AtScopeEnd() { action(); }
};

SP_DETAIL_END

#endif

// Definitions: tracegen reads them, the compiler sees nothing. (Older versions of Qt's header lack them.)
#ifndef Q_TRACE_INSTRUMENT
#    define Q_TRACE_INSTRUMENT(provider)
#endif
#ifndef Q_TRACE_PARAM_REPLACE
#    define Q_TRACE_PARAM_REPLACE(in, out)
#endif
#ifndef Q_TRACE_POINT
#    define Q_TRACE_POINT(provider, name, ...)
#endif
#ifndef Q_TRACE_PREFIX
#    define Q_TRACE_PREFIX(provider, prefix)
#endif
#ifndef Q_TRACE_METADATA
#    define Q_TRACE_METADATA(provider, metadata)
#endif
