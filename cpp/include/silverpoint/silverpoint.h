/* Silverpoint for C11 (gcc, clang): tracepoints that cost what reading the clock costs, keep their arguments
 * typed, and survive the death of their process.
 *
 *   #include <silverpoint/silverpoint.h>
 *
 *   SP_INFO("order %d at %.2f", id, px);            as for printf; the compiler checks it like printf's
 *   SP_INFOF("order %d at %.2f", id, px);           the same, in C++ too
 *   SP_EVENT("order.filled", id, px);               a name, and arguments named after their source
 *   SP_SPAN("load", path);                          until the end of the scope
 *   sp_span span = SP_SPAN_BEGIN("load", path);     until SP_SPAN_END(span)
 *   SP_SCOPE();                                     until the end of the scope, named after the function
 *   SP_COUNTER("queue.depth", n);                   SP_COUNTER("latency", ms, "ms"); with a unit
 *   SP_INSTANT("tick");
 *   SP_ASYNC_BEGIN("fetch", id, url);               SP_ASYNC_INSTANT, SP_ASYNC_END; ids from sp_new_id()
 *   SP_FLOW_BEGIN("order", id);                     SP_FLOW_STEP, SP_FLOW_END
 *   SP_LINK(from, to);                              ids: what has `to` came from what has `from`
 *   SP_LOG(warn, "net", "slow: %d ms", ms);         a level and a category of its own
 *   SP_CONTEXT("request", id, "user", name);        until the end of the scope all records have these fields
 *   SP_CATEGORY("net::tcp");                        category of this file, or of a block from here on
 *   if (SP_ENABLED(debug)) ...                      whether such a tracepoint here would record
 *   SP_INFO_EVERY_N(100, "%d done", n);             limits: c/limits.h lists them
 *   SP_TEXT_N(p, n), SP_BYTES(p, n), SP_SECRET(x)     arguments: text of n bytes (%s), bytes, <secret>
 *
 * Levels: SP_TRACE, SP_DEBUG, SP_INFO, SP_WARN, SP_ERROR, SP_FATAL. SP_MIN_LEVEL (0 trace ... 5 fatal, 6
 * none), defined before this header, leaves lower levels out of the program. Events have level info. Spans,
 * counters, instants, flows and links have level debug, in every language. SP_EVENT_AT(warn, ...) and
 * SP_SPAN_AT(info, ...) choose another.
 *
 * Up to 16 arguments:
 * - integers of all widths, bool, char, float, double (long double is kept as double);
 * - char*: text up to its zero byte; a null pointer is "(null)";
 * - any other pointer as an address.
 * The compiler refuses structures; bit-fields need a cast. A character constant is an int, as in C.
 *
 * While a tracepoint is off it is two loads and a branch, and its arguments are not evaluated. While it is on
 * each is evaluated once. It formats nothing, allocates nothing, takes no lock, keeps errno, and may stand in
 * a signal handler.
 *
 * Link libsilverpoint_c (-lsilverpoint_c; CMake: silverpoint::c). It has the code that runs once for a place,
 * a thread or a process. C, C++ and Rust in one process share its session.
 *
 * In C++ this header is <silverpoint/silverpoint.hpp>, where SP_INFO takes {} instead of %. */
#ifndef SILVERPOINT_SILVERPOINT_H
#define SILVERPOINT_SILVERPOINT_H

#ifdef __cplusplus
#    include "silverpoint.hpp"
#else

#    include "c/listed.h"
#    include "c/lists.h"
#    include "c/record.h"

#    ifndef SP_MIN_LEVEL
#        define SP_MIN_LEVEL 0
#    endif

#    define SP_C_LEVEL_trace 0
#    define SP_C_LEVEL_debug 1
#    define SP_C_LEVEL_info 2
#    define SP_C_LEVEL_warn 3
#    define SP_C_LEVEL_error 4
#    define SP_C_LEVEL_fatal 5

/* A category has at most 63 bytes. This, without a name, is a tentative definition: a file may say what it
 * is, once, and a block has one of its own. The long name tells in the compiler's message what to do. */
struct sp_c_category {
    char name[64];
};
#    define SP_C_CATEGORY only_one_SP_CATEGORY_in_a_file_others_in_a_block_
static const struct sp_c_category SP_C_CATEGORY __attribute__((unused));
#    define SP_CATEGORY(name) static const struct sp_c_category SP_C_CATEGORY __attribute__((unused)) = {name}

/* Prepares the calling thread: its first record then costs as much as any other.
 * Thread-safe: any thread. Cost: that of a first record. */
void sp_prepare_thread(void) SP_C_OWN;
/* A number that no other call in this session gives, for async spans and flows; never 0.
 * Thread-safe: any thread, signal handlers too. Cost: mostly a thread-local exchange. */
uint64_t sp_new_id(void) SP_C_OWN;

/* Never called: the compiler checks its arguments. */
__attribute__((format(printf, 1, 2), unused)) static inline void sp_c_check(const char* text, ...) {
    (void)text;
}

#    define SP_TEXT_N(data, size) ((struct sp_text){(data), (size)})
#    define SP_BYTES(data, size) ((struct sp_bytes){(data), (size)})
#    define SP_SECRET(value) ((void)(value), (struct sp_secret){0})

/* A text is part of the site: a literal, or a constant array; it cannot be chosen at run time. */
#    define SP_C_ASSERT_TEXT(text)                                                                    \
        _Static_assert(__builtin_constant_p(text) ||                                                  \
                           !__builtin_types_compatible_p(__typeof__(text), __typeof__(&(text)[0])),   \
                       "silverpoint: the text of a tracepoint is a string literal; instead of "       \
                       "SP_INFO(c ? \"a %d\" : \"b %d\", x) write if (c) SP_INFO(\"a %d\", x); else " \
                       "SP_INFO(\"b %d\", x); or give the text as an argument: SP_INFO(\"%s %d\", text, x)")

/* The head of a block that is entered if a site is on; or if a tracer is attached to its USDT probe. */
#    if defined(SILVERPOINT_USDT) && defined(__OPTIMIZE__)
#        include "c/usdt.h"
#        define SP_C_IF_ON(category, on)    \
            SP_C_USDT_DECLARE(category, on) \
            if (sp_recorded_ || sp_attached_)
#    else
#        define SP_C_IF_ON(category, on) if (on)
#        define SP_C_USDT_PROBE(kind, ...)
#        define SP_C_USDT_UNTIL_END(span, ...)
#    endif

/* `statement` for the site *sp_site_ when it is on. */
#    define SP_C_ON(level, kind, flags, category, names, text, statement)                                   \
        if ((level) >= SP_MIN_LEVEL) {                                                                      \
            static struct sp_c_site sp_place_ = {&sp_c_unregistered, 0,        __LINE__, (level), 3, 0, 0,  \
                                                 0xFFFFFFFF,         __FILE__, 0,        0,       0, 0};    \
            struct sp_c_site* sp_site_ = &sp_place_;                                                        \
            const unsigned char sp_state_ = sp_c_state(sp_site_);                                           \
            SP_C_LIST_SITE(SP_C_LISTED_HEAD(kind, level, flags), category, names, text);                    \
            SP_C_IF_ON(category,                                                                            \
                       !SP_C_LIKELY(sp_state_ == 0) &&                                                      \
                           (SP_C_LIKELY(sp_state_ == 1) ||                                                  \
                            sp_c_is_quiet(sp_site_, sp_state_, (kind) == SP_C_KIND_SPAN) ||                 \
                            sp_c_is_on_otherwise(sp_site_, sp_state_, __func__, category,                   \
                                                 (kind) == SP_C_KIND_PERCENT ? (text) : (const char*)0))) { \
                statement;                                                                                  \
            }                                                                                               \
        }

#    define SP_C_CHECK_ARGUMENT(n, argument) , SP_C_CHECKED(argument)
#    define SP_C_PRINTF(level, category, ...)                                                       \
        do {                                                                                        \
            SP_C_ASSERT_TEXT(SP_C_FIRST(__VA_ARGS__));                                              \
            if (0) sp_c_check(SP_C_FIRST(__VA_ARGS__) SP_C_EACH(SP_C_CHECK_ARGUMENT, __VA_ARGS__)); \
            SP_C_ON(level, SP_C_KIND_PERCENT, 0, category, "", SP_C_FIRST(__VA_ARGS__),             \
                    (void)SP_C_RECORD(SP_C_KIND_PERCENT, (const char*)0, "", __VA_ARGS__))          \
        } while (0)

/* <windows.h> has a macro of this name, for printers of Windows 3. A program that includes it after this
 * header defines NOGDI before. */
#    if defined(_WIN32)
#        undef SP_ERROR
#    endif
#    define SP_TRACE(...) SP_C_PRINTF(0, SP_C_CATEGORY.name, __VA_ARGS__)
#    define SP_DEBUG(...) SP_C_PRINTF(1, SP_C_CATEGORY.name, __VA_ARGS__)
#    define SP_INFO(...) SP_C_PRINTF(2, SP_C_CATEGORY.name, __VA_ARGS__)
#    define SP_WARN(...) SP_C_PRINTF(3, SP_C_CATEGORY.name, __VA_ARGS__)
#    define SP_ERROR(...) SP_C_PRINTF(4, SP_C_CATEGORY.name, __VA_ARGS__)
#    define SP_FATAL(...) SP_C_PRINTF(5, SP_C_CATEGORY.name, __VA_ARGS__)
#    define SP_TRACEF(...) SP_TRACE(__VA_ARGS__)
#    define SP_DEBUGF(...) SP_DEBUG(__VA_ARGS__)
#    define SP_INFOF(...) SP_INFO(__VA_ARGS__)
#    define SP_WARNF(...) SP_WARN(__VA_ARGS__)
#    define SP_ERRORF(...) SP_ERROR(__VA_ARGS__)
#    define SP_FATALF(...) SP_FATAL(__VA_ARGS__)
#    define SP_LOG(level, category, ...) SP_C_PRINTF(SP_C_LEVEL_##level, category, __VA_ARGS__)

/* A name and arguments. `names` is their source. */
#    define SP_C_NAMED(level, kind, names, ...)                                                              \
        do {                                                                                                 \
            SP_C_ASSERT_TEXT(SP_C_FIRST(__VA_ARGS__));                                                       \
            SP_C_ON(level, kind, SP_C_LISTED_FIRST_NAME, SP_C_CATEGORY.name, names, SP_C_FIRST(__VA_ARGS__), \
                    (void)SP_C_RECORD(kind, names, "", __VA_ARGS__))                                         \
        } while (0)

#    define SP_EVENT(...) SP_C_NAMED(2, SP_C_KIND_EVENT, #__VA_ARGS__, __VA_ARGS__)
#    define SP_EVENT_AT(level, ...) SP_C_NAMED(SP_C_LEVEL_##level, SP_C_KIND_EVENT, #__VA_ARGS__, __VA_ARGS__)
#    define SP_INSTANT(...) SP_C_NAMED(1, SP_C_KIND_INSTANT, #__VA_ARGS__, __VA_ARGS__)

/* A number, and if there is a third argument its unit, a literal. */
#    define SP_COUNTER(...) SP_C_COUNTER(#__VA_ARGS__, __VA_ARGS__, "", 0)
#    define SP_C_COUNTER(names, text, value, unit, ...)                                            \
        do {                                                                                       \
            SP_C_ON(1, SP_C_KIND_COUNTER, SP_C_LISTED_FIRST_NAME, SP_C_CATEGORY.name, names, text, \
                    (void)SP_C_RECORD(SP_C_KIND_COUNTER, names, "" unit, text, value))             \
        } while (0)

/* An expression: a span that is open until SP_SPAN_END. */
#    define SP_SPAN_BEGIN(...) SP_C_SPAN(1, #__VA_ARGS__, __VA_ARGS__)
#    define SP_SPAN_BEGIN_AT(level, ...) SP_C_SPAN(SP_C_LEVEL_##level, #__VA_ARGS__, __VA_ARGS__)
#    define SP_SPAN_END(span) sp_c_span_end(&(span))
#    define SP_C_SPAN(level, names, ...)                                                      \
        __extension__({                                                                       \
            sp_span sp_begun_ = {(struct sp_c_site*)0, 0};                                    \
            SP_C_ON(level, SP_C_KIND_SPAN, SP_C_LISTED_FIRST_NAME, SP_C_CATEGORY.name, names, \
                    SP_C_FIRST(__VA_ARGS__), sp_begun_.site = sp_site_;                       \
                    sp_begun_.ticks = SP_C_RECORD(SP_C_KIND_SPAN, names, "", __VA_ARGS__);    \
                    SP_C_USDT_UNTIL_END(sp_begun_, __VA_ARGS__))                              \
            sp_begun_;                                                                        \
        })

#    define SP_C_UNTIL_SCOPE_ENDS \
        __attribute__((cleanup(sp_c_span_end), unused)) const sp_span SP_C_JOIN(sp_span_, __COUNTER__)
#    define SP_SPAN(...) SP_C_UNTIL_SCOPE_ENDS = SP_C_SPAN(1, #__VA_ARGS__, __VA_ARGS__)
#    define SP_SPAN_AT(level, ...) \
        SP_C_UNTIL_SCOPE_ENDS = SP_C_SPAN(SP_C_LEVEL_##level, #__VA_ARGS__, __VA_ARGS__)
#    define SP_SCOPE() SP_SCOPE_AT(debug)
#    define SP_SCOPE_AT(level_name)                                                                        \
        SP_C_UNTIL_SCOPE_ENDS = __extension__({                                                            \
            sp_span sp_begun_ = {(struct sp_c_site*)0, 0};                                                 \
            SP_C_ON(SP_C_LEVEL_##level_name, SP_C_KIND_SPAN, SP_C_LISTED_FUNCTION, SP_C_CATEGORY.name, "", \
                    "", sp_begun_.site = sp_site_;                                                         \
                    sp_begun_.ticks = SP_C_RECORD(SP_C_KIND_SPAN, (const char*)0, "", __func__);           \
                    SP_C_USDT_UNTIL_END(sp_begun_, __func__))                                              \
            sp_begun_;                                                                                     \
        })

/* Across threads: one name and one id connect the records. The id is an integer (a pointer needs a cast to
 * uintptr_t). */
#    define SP_C_WITH_ID(level, kind, names, text, ...) \
        SP_C_NAMED(level, kind, names, text, SP_C_ID(__VA_ARGS__))
#    define SP_ASYNC_BEGIN(...) SP_C_WITH_ID(1, SP_C_KIND_ASYNC_BEGIN, #__VA_ARGS__, __VA_ARGS__)
#    define SP_ASYNC_END(...) SP_C_WITH_ID(1, SP_C_KIND_ASYNC_END, #__VA_ARGS__, __VA_ARGS__)
#    define SP_ASYNC_INSTANT(...) SP_C_WITH_ID(1, SP_C_KIND_ASYNC_INSTANT, #__VA_ARGS__, __VA_ARGS__)
#    define SP_FLOW_BEGIN(name, id) SP_C_WITH_ID(1, SP_C_KIND_FLOW_BEGIN, "\"\", id", name, (id))
#    define SP_FLOW_STEP(name, id) SP_C_WITH_ID(1, SP_C_KIND_FLOW_STEP, "\"\", id", name, (id))
#    define SP_FLOW_END(name, id) SP_C_WITH_ID(1, SP_C_KIND_FLOW_END, "\"\", id", name, (id))

/* The thing with the id `to` came from the thing with the id `from`. */
#    define SP_LINK(from, to) \
        SP_C_NAMED(1, SP_C_KIND_LINK, "\"\", from, to", "link", ((uint64_t)(from)), ((uint64_t)(to)))

/* An expression. */
#    define SP_ENABLED(level)                                                                           \
        __extension__({                                                                                 \
            bool sp_is_on_ = false;                                                                     \
            SP_C_ON(SP_C_LEVEL_##level, SP_C_KIND_LOG, 0, SP_C_CATEGORY.name, "", "", sp_is_on_ = true) \
            sp_is_on_;                                                                                  \
        })

#    include "c/context.h"
#    include "c/limits.h"

#endif
#endif
