/* Limits on how often one place of the source records, as in C++ (silverpoint/detail/limits.hpp).
 *
 *   SP_INFO_EVERY_N(100, "%d done", n);      the 1st, 101st, 201st ... time that it is on
 *   SP_INFO_EVERY(500, "%d waiting", n);     at most once in so many milliseconds, a whole number
 *   SP_INFO_FIRST_N(3, ...)  SP_INFO_ONCE(...)   no more than that
 *   SP_INFO_IF(condition, ...)               when it is true
 *
 * For all levels, and as SP_EVENT_EVERY_N, SP_EVENT_EVERY, SP_EVENT_FIRST_N, SP_EVENT_ONCE, SP_EVENT_IF. A
 * limit counts for one place, for the whole process, over all threads. Only executions while the site is on
 * count. While it is off nothing is evaluated, not even the limit. Arguments are evaluated only when a record
 * is made. No lock: a limit may stand in a signal handler. */
#ifndef SILVERPOINT_C_LIMITS_H
#define SILVERPOINT_C_LIMITS_H

#include "record.h"

SP_C_HOT bool sp_c_passes_EVERY_N(uint64_t* times, uint64_t n) {
    return __atomic_fetch_add(times, 1, __ATOMIC_RELAXED) % (n == 0 ? 1 : n) == 0;
}
/* Once used up it is only read: threads then share the line. */
SP_C_HOT bool sp_c_passes_FIRST_N(uint64_t* times, uint64_t n) {
    return __atomic_load_n(times, __ATOMIC_RELAXED) < n && __atomic_fetch_add(times, 1, __ATOMIC_RELAXED) < n;
}
SP_C_HOT bool sp_c_passes_IF(uint64_t* none, bool condition) {
    (void)none;
    return condition;
}
/* If several threads arrive when it is time, one passes. In the library: the clock's header is not C's. */
bool sp_c_passes_EVERY(uint64_t* last, int64_t milliseconds) SP_C_OWN;

#define SP_C_VALUE_EVERY_N(n) ((uint64_t)(n))
#define SP_C_VALUE_FIRST_N(n) ((uint64_t)(n))
#define SP_C_VALUE_IF(condition) (!!(condition))
#define SP_C_VALUE_EVERY(milliseconds) ((int64_t)(milliseconds))
/* 0.5 for half a second is not a whole number of milliseconds. */
#define SP_C_IS_WHOLE(value) _Generic((value), float: 0, double: 0, long double: 0, default: 1)

/* `statement` when the limit of this place lets this execution pass. */
#define SP_C_WHEN(limit, value, statement)                                          \
    static uint64_t sp_limit_;                                                      \
    _Static_assert(SP_C_IS_WHOLE(value), "silverpoint: a limit is a whole number"); \
    if (sp_c_passes_##limit(&sp_limit_, SP_C_VALUE_##limit(value))) statement

#define SP_C_LIMITED(level, limit, value, ...)                                                              \
    do {                                                                                                    \
        if (0) sp_c_check(SP_C_FIRST(__VA_ARGS__) SP_C_EACH(SP_C_CHECK_ARGUMENT, __VA_ARGS__));             \
        SP_C_ON(                                                                                            \
            level, SP_C_KIND_PERCENT, 0, SP_C_CATEGORY.name, "", SP_C_FIRST(__VA_ARGS__),                   \
            SP_C_WHEN(limit, value, (void)SP_C_RECORD(SP_C_KIND_PERCENT, (const char*)0, "", __VA_ARGS__))) \
    } while (0)
#define SP_C_EVENT_LIMITED(limit, value, names, ...)                                                 \
    do {                                                                                             \
        SP_C_ON(2, SP_C_KIND_EVENT, SP_C_LISTED_FIRST_NAME, SP_C_CATEGORY.name, names,               \
                SP_C_FIRST(__VA_ARGS__),                                                             \
                SP_C_WHEN(limit, value, (void)SP_C_RECORD(SP_C_KIND_EVENT, names, "", __VA_ARGS__))) \
    } while (0)

#define SP_TRACE_EVERY_N(n, ...) SP_C_LIMITED(0, EVERY_N, n, __VA_ARGS__)
#define SP_DEBUG_EVERY_N(n, ...) SP_C_LIMITED(1, EVERY_N, n, __VA_ARGS__)
#define SP_INFO_EVERY_N(n, ...) SP_C_LIMITED(2, EVERY_N, n, __VA_ARGS__)
#define SP_WARN_EVERY_N(n, ...) SP_C_LIMITED(3, EVERY_N, n, __VA_ARGS__)
#define SP_ERROR_EVERY_N(n, ...) SP_C_LIMITED(4, EVERY_N, n, __VA_ARGS__)
#define SP_FATAL_EVERY_N(n, ...) SP_C_LIMITED(5, EVERY_N, n, __VA_ARGS__)
#define SP_EVENT_EVERY_N(n, ...) SP_C_EVENT_LIMITED(EVERY_N, n, #__VA_ARGS__, __VA_ARGS__)

#define SP_TRACE_EVERY(milliseconds, ...) SP_C_LIMITED(0, EVERY, milliseconds, __VA_ARGS__)
#define SP_DEBUG_EVERY(milliseconds, ...) SP_C_LIMITED(1, EVERY, milliseconds, __VA_ARGS__)
#define SP_INFO_EVERY(milliseconds, ...) SP_C_LIMITED(2, EVERY, milliseconds, __VA_ARGS__)
#define SP_WARN_EVERY(milliseconds, ...) SP_C_LIMITED(3, EVERY, milliseconds, __VA_ARGS__)
#define SP_ERROR_EVERY(milliseconds, ...) SP_C_LIMITED(4, EVERY, milliseconds, __VA_ARGS__)
#define SP_FATAL_EVERY(milliseconds, ...) SP_C_LIMITED(5, EVERY, milliseconds, __VA_ARGS__)
#define SP_EVENT_EVERY(milliseconds, ...) SP_C_EVENT_LIMITED(EVERY, milliseconds, #__VA_ARGS__, __VA_ARGS__)

#define SP_TRACE_FIRST_N(n, ...) SP_C_LIMITED(0, FIRST_N, n, __VA_ARGS__)
#define SP_DEBUG_FIRST_N(n, ...) SP_C_LIMITED(1, FIRST_N, n, __VA_ARGS__)
#define SP_INFO_FIRST_N(n, ...) SP_C_LIMITED(2, FIRST_N, n, __VA_ARGS__)
#define SP_WARN_FIRST_N(n, ...) SP_C_LIMITED(3, FIRST_N, n, __VA_ARGS__)
#define SP_ERROR_FIRST_N(n, ...) SP_C_LIMITED(4, FIRST_N, n, __VA_ARGS__)
#define SP_FATAL_FIRST_N(n, ...) SP_C_LIMITED(5, FIRST_N, n, __VA_ARGS__)
#define SP_EVENT_FIRST_N(n, ...) SP_C_EVENT_LIMITED(FIRST_N, n, #__VA_ARGS__, __VA_ARGS__)

#define SP_TRACE_ONCE(...) SP_TRACE_FIRST_N(1, __VA_ARGS__)
#define SP_DEBUG_ONCE(...) SP_DEBUG_FIRST_N(1, __VA_ARGS__)
#define SP_INFO_ONCE(...) SP_INFO_FIRST_N(1, __VA_ARGS__)
#define SP_WARN_ONCE(...) SP_WARN_FIRST_N(1, __VA_ARGS__)
#define SP_ERROR_ONCE(...) SP_ERROR_FIRST_N(1, __VA_ARGS__)
#define SP_FATAL_ONCE(...) SP_FATAL_FIRST_N(1, __VA_ARGS__)
#define SP_EVENT_ONCE(...) SP_EVENT_FIRST_N(1, __VA_ARGS__)

#define SP_TRACE_IF(condition, ...) SP_C_LIMITED(0, IF, condition, __VA_ARGS__)
#define SP_DEBUG_IF(condition, ...) SP_C_LIMITED(1, IF, condition, __VA_ARGS__)
#define SP_INFO_IF(condition, ...) SP_C_LIMITED(2, IF, condition, __VA_ARGS__)
#define SP_WARN_IF(condition, ...) SP_C_LIMITED(3, IF, condition, __VA_ARGS__)
#define SP_ERROR_IF(condition, ...) SP_C_LIMITED(4, IF, condition, __VA_ARGS__)
#define SP_FATAL_IF(condition, ...) SP_C_LIMITED(5, IF, condition, __VA_ARGS__)
#define SP_EVENT_IF(condition, ...) SP_C_EVENT_LIMITED(IF, condition, #__VA_ARGS__, __VA_ARGS__)

#endif
