/* The hot path in C: the state byte of a site, and one record. It does what the C++ frontend does
 * (silverpoint/detail/record.hpp), over the same memory. A thread has one position in one ring for all
 * languages. Code that may take longer is in the library (cpp/src/silverpoint_c.cpp).
 *
 *   head of the site ─┬─ above 0 ─▶ sp_c_begin ─┬─ room ─▶ sp_c_head ─▶ sp_c_put … ─▶ sp_c_commit
 *                     │                         └─ null ─▶ sp_c_record_slowly
 *                     ├─ 0 ─▶ sp_c_record_first: the site becomes complete
 *                     └─ below 0 ─▶ sp_c_record_traced: a system tracer wants the event
 *
 * A whole tracepoint takes 41 instructions with a literal, 50 with three numbers (C++: 40 and 48). With a
 * text of 35 bytes it takes 107 (C++: 69): here the end of the text must be found first (docs/budgets.md).
 *
 * Between sp_c_begin and sp_c_commit the lane is busy: the thread, and nobody else, writes the record. So
 * arguments are evaluated before, since they may run any code. silverpoint/detail/lane.hpp says who may do
 * what. */
#ifndef SILVERPOINT_C_RECORD_H
#define SILVERPOINT_C_RECORD_H

#include <errno.h>

#include "arguments.h"
#include "wish.h"

#define SP_C_LIKELY(x) __builtin_expect(!!(x), 1)
/* Of this program or shared library alone, as the C++ frontend's. On Windows everything is that is not
 * exported. */
#ifdef _WIN32
#    define SP_C_OWN
#else
#    define SP_C_OWN __attribute__((visibility("hidden")))
#endif

/* A site: what the C++ frontend calls so, member by member. */
struct sp_c_site {
    const unsigned char* state;
    uint64_t head;
    uint32_t line;
    unsigned char level, language, bounded, probed;
    uint32_t entry;
    const char *file, *function, *category;
    uint64_t whole;
    const void* quiet_of;
};

/* The rest of a site's description, needed at its first recording. */
struct sp_c_body {
    const char* names; /* source of all macro arguments, the site's name first; null: no names */
    const char* text;  /* template or name */
    const char* codes; /* one for each argument */
    const char* unit;  /* of the first argument; may be empty */
    uint32_t size;     /* of a record, 0 when it varies */
    unsigned char kind;
};

/* The part of a thread's position that is needed here. */
struct sp_c_lane {
    uint32_t ready;
    char *cur, *limit;
    uint64_t delta;
    uint64_t* committed;
    char* reach;
};

/* An open span; ticks are 0 when it was off. */
typedef struct sp_span {
    struct sp_c_site* site;
    uint64_t ticks;
} sp_span;

/* Instead of its site, of a span whose USDT probe is hit at its end (silverpoint/detail/usdt_held.hpp). */
struct sp_c_usdt_end {
    struct sp_c_site site;
    void (*hit)(uint64_t);
    struct sp_c_site* recorded;
};

/* In the library. */
extern const unsigned char sp_c_unregistered SP_C_OWN;
#ifdef __linux__
extern __thread struct sp_c_lane* sp_c_thread_lane __asm__("_ZN11silverpoint2v16detail8tls_laneE")
    __attribute__((tls_model("initial-exec"))) SP_C_OWN;
#elif defined(_WIN64)
/* Compilers for Windows disagree on how a thread's own variable is found: the library finds it. */
struct sp_c_lane** sp_c_lane_of_thread(void);
#    define sp_c_thread_lane (*sp_c_lane_of_thread())
#else
/* Every site is off: nobody comes here. */
#    include "../platform/note.h"
static struct sp_c_lane sp_c_empty_lane __attribute__((unused));
#    define sp_c_thread_lane (&sp_c_empty_lane)
#endif
bool sp_c_is_on_otherwise(struct sp_c_site* site, unsigned char state, const char* function,
                          const char* category, const char* text) SP_C_OWN;
/* Of a site with a traced_head (silverpoint/detail/site.hpp), which is negative. Writes the event of a
 * tracer, and the record if the ring wants it. 0: it is one no more. */
uint64_t sp_c_record_traced(struct sp_c_site* site, uint64_t head, bool is_span,
                            const struct sp_c_argument* arguments, unsigned count) SP_C_OWN;
/* The same with packed arguments, of 256 bytes at most. */
uint64_t sp_c_record_traced_numbers(struct sp_c_site* site, uint64_t head, bool is_span, const char* bytes,
                                    size_t size) SP_C_OWN;
/* The same without arguments; no span's. */
uint64_t sp_c_record_traced_alone(struct sp_c_site* site, uint64_t head) SP_C_OWN;
/* Of a site without a head. 0: there is no more to do, and *ticks are the record's. */
uint64_t sp_c_record_first(struct sp_c_site* site, const struct sp_c_body* body,
                           const struct sp_c_argument* arguments, unsigned count, uint64_t* ticks) SP_C_OWN;
uint64_t sp_c_record_slowly(struct sp_c_lane* entered, uint64_t head, const struct sp_c_site* site,
                            const struct sp_c_argument* arguments, unsigned count) SP_C_OWN;
/* Ends a span that a system tracer may want. */
void sp_c_end_probed_span(struct sp_c_site* site, uint64_t ticks, uint64_t head) SP_C_OWN;
/* The end of a span hits a probe: `ends` are those of its place, of spans that are not recorded and others.
 */
void sp_c_usdt_until_end(sp_span* span, struct sp_c_usdt_end* ends, void (*hit)(uint64_t)) SP_C_OWN;
/* A record of a site whose text is not recorded as it stands (SP_C_REWRITTEN): `codes` as of sp_c_body. */
uint64_t sp_c_record_rewritten(struct sp_c_site* site, const char* text, const char* codes,
                               const struct sp_c_argument* arguments, unsigned count, int error) SP_C_OWN;
/* Measures texts whose conversions say how much of them is read at most (`%.4s`, `%.*s`). */
void sp_c_measure_bounded(const char* text, struct sp_c_argument* arguments, unsigned count) SP_C_OWN;

#define SP_C_KIND_LOG 0
#define SP_C_KIND_EVENT 2
#define SP_C_KIND_SPAN 3
#define SP_C_KIND_COUNTER 4
#define SP_C_KIND_INSTANT 5
#define SP_C_KIND_ASYNC_BEGIN 6
#define SP_C_KIND_ASYNC_END 7
#define SP_C_KIND_ASYNC_INSTANT 8
#define SP_C_KIND_FLOW_BEGIN 9
#define SP_C_KIND_FLOW_STEP 10
#define SP_C_KIND_FLOW_END 11
#define SP_C_KIND_LINK 12
#define SP_C_KIND_PERCENT 255

SP_C_HOT uint64_t sp_c_counter(void) {
#if defined(SILVERPOINT_TEST_TICKS)
    return SILVERPOINT_TEST_TICKS;
#elif defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#elif defined(__linux__) || defined(_WIN64)
#    error "silverpoint: C tracepoints know x86-64 and AArch64"
#else
    return 0;
#endif
}

SP_C_HOT unsigned char sp_c_state(const struct sp_c_site* site) {
    return __atomic_load_n(__atomic_load_n(&site->state, __ATOMIC_ACQUIRE), __ATOMIC_RELAXED);
}

SP_C_HOT bool sp_c_is_quiet(const struct sp_c_site* site, unsigned char state, bool is_span) {
    return sp_c_is_site_quiet(&site->probed, &site->quiet_of, state, is_span);
}

SP_C_HOT struct sp_c_argument sp_c_measured(struct sp_c_argument of) {
    if (of.fixed == SP_C_TEXT) {
        of.bits = __builtin_strlen(of.block);
        of.fixed = SP_C_MEASURED;
    }
    return of;
}

/* A text's length as sp_c_measure_bounded found it. Only the length: the compiler takes a value that came
 * back from memory for a variable, on the usual way too. Copies of numbers would then be of unknown size. */
SP_C_HOT struct sp_c_argument sp_c_taken(struct sp_c_argument of, const struct sp_c_argument* measured) {
    if (of.fixed == SP_C_TEXT) {
        of.bits = measured->bits;
        of.fixed = SP_C_MEASURED;
    }
    return of;
}

SP_C_HOT size_t sp_c_size(struct sp_c_argument of) {
    return of.fixed < SP_C_MEASURED ? of.fixed : 4 + (size_t)of.bits;
}

/* Short copies without a call, by pieces that overlap: most texts are short. */
SP_C_HOT void sp_c_put_ends(char* out, const char* from, size_t size, size_t piece) {
    char first[16], last[16];
    __builtin_memcpy(first, from, piece);
    __builtin_memcpy(last, from + size - piece, piece);
    __builtin_memcpy(out, first, piece);
    __builtin_memcpy(out + size - piece, last, piece);
}
SP_C_HOT char* sp_c_put_block(char* out, const char* from, size_t size) {
    /* Hides from the compiler what it points to: it would warn of the pieces that a shorter text has not. */
    __asm__("" : "+r"(from));
    if (size > 64) {
        __builtin_memcpy(out, from, size);
    } else if (size > 32) {
        char second[16], third[16];
        __builtin_memcpy(second, from + 16, 16);
        __builtin_memcpy(third, from + size - 32, 16);
        sp_c_put_ends(out, from, size, 16);
        __builtin_memcpy(out + 16, second, 16);
        __builtin_memcpy(out + size - 32, third, 16);
    } else if (size >= 16) {
        sp_c_put_ends(out, from, size, 16);
    } else if (size >= 8) {
        sp_c_put_ends(out, from, size, 8);
    } else if (size >= 4) {
        sp_c_put_ends(out, from, size, 4);
    } else if (size >= 2) {
        sp_c_put_ends(out, from, size, 2);
    } else if (size == 1) {
        *out = *from;
    }
    return out + size;
}

SP_C_HOT char* sp_c_put(char* out, struct sp_c_argument of) {
    if (of.fixed >= SP_C_MEASURED) {
        const uint32_t size = (uint32_t)of.bits;
        __builtin_memcpy(out, &size, 4);
        return sp_c_put_block(out + 4, of.block, (size_t)of.bits);
    }
    if (of.fixed == 16) {
        __builtin_memcpy(out, &of.bits, 8);
        __builtin_memcpy(out + 8, &of.high, 8);
    } else {
        __builtin_memcpy(out, &of.bits, of.fixed);
    }
    return out + of.fixed;
}

/* The same for what is needed of a site once: the compiler would keep it in registers around a loop. */
SP_C_HOT const char* sp_c_hidden(const char* from) {
    __asm__ __volatile__("" : "+r"(from));
    return from;
}

/* Asks for the lines that records of this size will fill in a while. */
SP_C_HOT void sp_c_take_line(char* at) {
#if defined(__x86_64__)
    __asm__ __volatile__("prefetchw %0" : : "m"(*at));
#else
    __builtin_prefetch(at, 1, 3);
#endif
}
SP_C_HOT void sp_c_take_ahead(const struct sp_c_lane* lane, char* at, size_t size) {
    char* ahead = at + 4096;
    if (ahead + size > lane->reach) return;
    sp_c_take_line(ahead);
    if (size <= 64) return;
    sp_c_take_line(ahead + 64);
    for (size_t line = 128; line < size; line += 64) sp_c_take_line(ahead + line);
}

/* Whether a record fits. Another thread may make the limit null at any time. So it is read whole, and once:
 * on x86-64 by the comparison itself, which compilers do not make of an atomic load. */
SP_C_HOT bool sp_c_fits(const struct sp_c_lane* lane, const char* at, size_t size) {
    const uintptr_t end = (uintptr_t)at + size;
#if defined(__x86_64__)
    bool is_within;
    __asm__("cmpq %[limit], %[end]" : "=@ccbe"(is_within) : [end] "r"(end), [limit] "m"(lane->limit));
    return is_within;
#else
    return end <= (uintptr_t)__atomic_load_n(&lane->limit, __ATOMIC_RELAXED);
#endif
}

/* Begins a record of `size` bytes. Returns its address; the lane is busy until the record is committed.
 * Null: it does not fit before the limit, and the lane is busy; or the lane is not the record's, and *entered
 * is null. */
SP_C_HOT char* sp_c_begin(struct sp_c_lane** entered, size_t size) {
    struct sp_c_lane* lane = sp_c_thread_lane;
    *entered = (struct sp_c_lane*)0;
    if (!SP_C_LIKELY(__atomic_load_n(&lane->ready, __ATOMIC_RELAXED) == 1)) return (char*)0;
#if defined(__x86_64__)
    __asm__ __volatile__("movl %%esp, %0" : "=m"(lane->ready));
#else
    __atomic_store_n(&lane->ready, (uint32_t)(uintptr_t)__builtin_frame_address(0) & ~7u, __ATOMIC_RELAXED);
#endif
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    *entered = lane;
    char* at = lane->cur;
    if (!SP_C_LIKELY(sp_c_fits(lane, at, size))) return (char*)0;
    /* Where the position is null, so is the limit: the caller's check of the result costs nothing. */
    if (at == (char*)0) __builtin_unreachable();
    return at;
}

/* Head and ticks; the tail is written first, so that arguments may lie over it. Gives the ticks. */
SP_C_HOT uint64_t sp_c_head(const struct sp_c_lane* lane, char* at, size_t size, size_t exact,
                            uint64_t head) {
    const uint64_t ticks = sp_c_counter(), zero = 0;
    sp_c_take_ahead(lane, at, size);
    if (size != exact) __builtin_memcpy(at + size - 8, &zero, 8);
    __builtin_memcpy(at, &head, 8);
    __builtin_memcpy(at + 8, &ticks, 8);
    return ticks;
}

/* From here on the record exists, and the lane is ready for the next. */
SP_C_HOT void sp_c_commit(struct sp_c_lane* lane, char* end) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    lane->cur = end;
    __atomic_store_n(lane->committed, (uint64_t)(uintptr_t)end + lane->delta, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&lane->ready, 1, __ATOMIC_RELAXED);
}

/* Rewrites what printf allows and a record's text does not. `%m`, the text of errno, becomes `%s`. Arguments
 * that conversions number (`%1$d`) are put into that order. */
#define SP_C_BOUNDED 1
#define SP_C_REWRITTEN 2

/* Whether a text may be such a one: a constant of the optimising compiler, so that no other text pays. */
#if defined(__OPTIMIZE__)
#    define SP_C_HAS(text, piece) (__builtin_strstr(text, piece) != (char*)0)
/* clang-format off */
#    define SP_C_HAS_REWRITTEN(text)                                                                        \
        (SP_C_HAS(text, "$") || SP_C_HAS(text, "%m") || SP_C_HAS(text, "% m") || SP_C_HAS(text, "-m") ||    \
         SP_C_HAS(text, "+m") || SP_C_HAS(text, "#m") || SP_C_HAS(text, "'m") || SP_C_HAS(text, ".m") ||    \
         SP_C_HAS(text, "*m") || SP_C_HAS(text, "0m") || SP_C_HAS(text, "1m") || SP_C_HAS(text, "2m") ||    \
         SP_C_HAS(text, "3m") || SP_C_HAS(text, "4m") || SP_C_HAS(text, "5m") || SP_C_HAS(text, "6m") ||    \
         SP_C_HAS(text, "7m") || SP_C_HAS(text, "8m") || SP_C_HAS(text, "9m"))
/* clang-format on */
#    define SP_C_MAY_BE_REWRITTEN(text) \
        (!__builtin_constant_p(SP_C_HAS_REWRITTEN(text)) || SP_C_HAS_REWRITTEN(text))
#else
#    define SP_C_MAY_BE_REWRITTEN(text) true
#endif

/* One record of a site that is on, as an expression: its ticks, 0 when it was lost. Its site is *sp_site_,
 * its arguments those behind the first, which is its text. */
/* clang-format off */
#define SP_C_RECORD(kind, names, unit, ...)                                                                 \
    __extension__({                                                                                         \
        uint64_t sp_ticks_ = 0;                                                                             \
        const bool sp_is_rewritten_ = (kind) == SP_C_KIND_PERCENT &&                                        \
                                      SP_C_MAY_BE_REWRITTEN(SP_C_FIRST(__VA_ARGS__)) &&                     \
                                      (sp_site_->bounded & SP_C_REWRITTEN) != 0;                            \
        /* Before the arguments, which may change it. */                                                    \
        const int sp_error_ = sp_is_rewritten_ ? errno : 0;                                                 \
        SP_C_EACH(SP_C_DECLARE, __VA_ARGS__)                                                                \
        SP_C_USDT_PROBE(kind, __VA_ARGS__)                                                                  \
        if (sp_is_rewritten_) {                                                                             \
            const struct sp_c_argument sp_all_[] = {SP_C_EACH(SP_C_LIST, __VA_ARGS__){0, 0, 0, 0}};         \
            const char sp_codes_[] = {SP_C_EACH(SP_C_ADD_CODE, __VA_ARGS__) 0};                             \
            sp_ticks_ = sp_c_record_rewritten(sp_site_, SP_C_FIRST(__VA_ARGS__), sp_codes_, sp_all_,        \
                                              sizeof sp_all_ / sizeof sp_all_[0] - 1, sp_error_);           \
        } else {                                                                                            \
            SP_C_MEASURE(kind, __VA_ARGS__)                                                                 \
            const bool sp_varies_ = false SP_C_EACH(SP_C_VARIES, __VA_ARGS__);                              \
            const size_t sp_exact_ = (size_t)16 SP_C_EACH(SP_C_ADD_SIZE, __VA_ARGS__);                      \
            const size_t sp_size_ = (sp_exact_ + 7) & ~(size_t)7;                                           \
            uint64_t sp_head_ = __atomic_load_n(&sp_site_->head, __ATOMIC_RELAXED);                         \
            if (!SP_C_LIKELY((int64_t)sp_head_ > 0)) {                                                      \
                if (SP_C_LIKELY(sp_head_ != 0)) SP_C_RECORD_TRACED(kind, __VA_ARGS__)                       \
                sp_head_ = 0;                                                                               \
                if (!SP_C_LIKELY(sp_ticks_ != 0)) {                                                         \
                    const char sp_codes_[] = {SP_C_EACH(SP_C_ADD_CODE, __VA_ARGS__) 0};                     \
                    const struct sp_c_body sp_body_ = {                                                     \
                        sp_c_hidden(names), SP_C_FIRST(__VA_ARGS__), sp_c_hidden(sp_codes_), unit,          \
                        sp_varies_ ? 0 : (uint32_t)sp_size_, (kind)};                                       \
                    const struct sp_c_argument sp_all_[] = {SP_C_EACH(SP_C_LIST, __VA_ARGS__){0, 0, 0, 0}}; \
                    uint64_t sp_given_ = 0;                                                                 \
                    sp_head_ = sp_c_record_first(sp_site_, &sp_body_, sp_all_,                              \
                                                 sizeof sp_all_ / sizeof sp_all_[0] - 1, &sp_given_);       \
                    sp_ticks_ = sp_given_;                                                                  \
                }                                                                                           \
            }                                                                                               \
            if (SP_C_LIKELY(sp_head_ != 0)) {                                                               \
                struct sp_c_lane* sp_lane_;                                                                 \
                char* sp_at_ = sp_c_begin(&sp_lane_, sp_size_);                                             \
                if (SP_C_LIKELY(sp_at_ != (char*)0)) {                                                      \
                    sp_ticks_ = sp_c_head(sp_lane_, sp_at_, sp_size_, sp_varies_ ? 0 : sp_exact_,           \
                                          sp_varies_ ? sp_head_ | sp_size_ : sp_head_);                     \
                    char* sp_out_ = sp_at_ + 16;                                                            \
                    SP_C_EACH(SP_C_PUT, __VA_ARGS__)                                                        \
                    (void)sp_out_;                                                                          \
                    sp_c_commit(sp_lane_, sp_at_ + sp_size_);                                               \
                } else {                                                                                    \
                    const struct sp_c_argument sp_all_[] = {SP_C_EACH(SP_C_LIST, __VA_ARGS__){0, 0, 0, 0}}; \
                    sp_ticks_ = sp_c_record_slowly(sp_lane_, sp_head_, sp_site_, sp_all_,                   \
                                                   sizeof sp_all_ / sizeof sp_all_[0] - 1);                 \
                }                                                                                           \
            }                                                                                               \
        }                                                                                                   \
        sp_ticks_;                                                                                          \
    })
/* The same of a site whose event a tracer wants. Numbers are packed here: that takes less than to list them. */
#define SP_C_RECORD_TRACED(kind, ...)                                                                       \
    {                                                                                                       \
        if (sp_varies_) {                                                                                   \
            const struct sp_c_argument sp_all_[] = {SP_C_EACH(SP_C_LIST, __VA_ARGS__){0, 0, 0, 0}};         \
            sp_ticks_ = sp_c_record_traced(sp_site_, sp_head_, (kind) == SP_C_KIND_SPAN, sp_all_,           \
                                           sizeof sp_all_ / sizeof sp_all_[0] - 1);                         \
        } else if (sp_exact_ == 16 && (kind) != SP_C_KIND_SPAN) {                                           \
            sp_ticks_ = sp_c_record_traced_alone(sp_site_, sp_head_);                                       \
        } else {                                                                                            \
            char sp_packed_[1 SP_C_EACH(SP_C_ADD_MOST, __VA_ARGS__)];                                       \
            char* sp_out_ = sp_packed_;                                                                     \
            __asm__("" : "+r"(sp_out_)); /* else gcc warns of the pieces of a text */                       \
            SP_C_EACH(SP_C_PUT, __VA_ARGS__)                                                                \
            (void)sp_out_;                                                                                  \
            sp_ticks_ = sp_c_record_traced_numbers(sp_site_, sp_head_, (kind) == SP_C_KIND_SPAN,            \
                                                   sp_packed_, sp_exact_ - 16);                             \
        }                                                                                                   \
    }
/* clang-format on */

#define SP_C_ADD_MOST(n, argument) +16
#define SP_C_DECLARE(n, argument) struct sp_c_argument sp_argument_##n = SP_C_CAPTURE(argument);
#define SP_C_VARIES(n, argument) || sp_argument_##n.fixed >= SP_C_MEASURED
#define SP_C_ADD_SIZE(n, argument) +sp_c_size(sp_argument_##n)
#define SP_C_ADD_CODE(n, argument) SP_C_CODE(argument),
#define SP_C_PUT(n, argument) sp_out_ = sp_c_put(sp_out_, sp_argument_##n);
#define SP_C_LIST(n, argument) sp_argument_##n,
#define SP_C_IS_TEXT(n, argument) || sp_argument_##n.fixed == SP_C_TEXT
#define SP_C_MEASURE_ONE(n, argument) sp_argument_##n = sp_c_measured(sp_argument_##n);
#define SP_C_TAKE(n, argument) sp_argument_##n = sp_c_taken(sp_argument_##n, sp_next_++);

#define SP_C_MEASURE(kind, ...)                                                                             \
    if ((kind) == SP_C_KIND_PERCENT && (false SP_C_EACH(SP_C_IS_TEXT, __VA_ARGS__)) && sp_site_->bounded) { \
        struct sp_c_argument sp_all_[] = {SP_C_EACH(SP_C_LIST, __VA_ARGS__){0, 0, 0, 0}};                   \
        const struct sp_c_argument* sp_next_ = sp_all_;                                                     \
        sp_c_measure_bounded(SP_C_FIRST(__VA_ARGS__), sp_all_, sizeof sp_all_ / sizeof sp_all_[0] - 1);     \
        SP_C_EACH(SP_C_TAKE, __VA_ARGS__)                                                                   \
        (void)sp_next_;                                                                                     \
    } else {                                                                                                \
        SP_C_EACH(SP_C_MEASURE_ONE, __VA_ARGS__)                                                            \
    }

/* Ends a span: a control record with its site and when it began. */
SP_C_HOT void sp_c_span_end(const sp_span* span) {
    const uint64_t head = (uint64_t)3 << 32 | 32;
    if ((int64_t)span->ticks <= 0) {
        if (span->ticks != 0) sp_c_end_probed_span(span->site, span->ticks, head);
        return;
    }
    const struct sp_c_argument arguments[] = {
        sp_c_of_uint((unsigned)(__atomic_load_n(&span->site->whole, __ATOMIC_RELAXED) >> 32)),
        sp_c_of_ullong(span->ticks)};
    struct sp_c_lane* lane;
    char* at = sp_c_begin(&lane, 32);
    if (SP_C_LIKELY(at != (char*)0)) {
        sp_c_head(lane, at, 32, 28, head);
        sp_c_put(sp_c_put(at + 16, arguments[0]), arguments[1]);
        sp_c_commit(lane, at + 32);
    } else {
        sp_c_record_slowly(lane, head, span->site, arguments, 2);
    }
}

#endif
