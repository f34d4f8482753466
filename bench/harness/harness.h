/* What every driver has in common: the order of things, the clock, the statistics of one process, and the
 * JSON line.
 *
 * A driver is one program for one facility. It describes the facility (struct bench_facility) and hands over
 * to bench_main. Its tracepoints stand in loops of its own (`burst`, `singles`), in its own language. So
 * the compiler sees them as in a user's program. Everything else is this one C library, linked into all
 * drivers, and the floor beside it. See bench/README.md for the command line and the output.
 */
#ifndef SILVERPOINT_BENCH_HARNESS_H
#define SILVERPOINT_BENCH_HARNESS_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One tracepoint. Record i carries the id first_id + i where the case has room for one. A sum of ids then
 * proves that each record arrived. */
struct bench_case {
    const char* name; /* "three", or "three.stream" for another form of the same */
    void (*burst)(uint64_t n, uint64_t first_id);
    /* The counter read before and after each call (bench_ticks or its like); elapsed_ticks has n entries. */
    void (*singles)(uint64_t n, uint64_t first_id, uint32_t* elapsed_ticks);
};

/* How a facility is doing, from outside its hot path. Totals since the start of the process. */
struct bench_observation {
    uint64_t pending_bytes; /* accepted and not yet stored */
    uint64_t lazy_bytes;    /* of these, so many may wait for the facility's own slow timer by design */
    uint64_t written_bytes; /* ever accepted */
    uint64_t lost;          /* records refused or overwritten */
    uint64_t stalls;        /* times a producer had to wait */
    uint64_t stall_ns;
    uint64_t helper_cpu_ns; /* of all processes that serve the facility, this one excepted */
    uint64_t helper_rss_bytes;
};

struct bench_facility {
    const char* name;
    const struct bench_case* cases;
    size_t case_count;
    /* The same loop twice: without anything, and with a tracepoint that is switched off. */
    void (*empty)(uint64_t n, uint64_t first_id);
    void (*disabled)(uint64_t n, uint64_t first_id);
    /* Makes the calling thread's first record cheap; NULL when the facility has no such call. */
    void (*prepare_thread)(void);
    /* Before and after each turn of the candidate; NULL when its helpers sleep of themselves. A helper that
     * spins would take a core from the floor's reader, and the other way round. */
    void (*turn_begins)(void);
    void (*turn_ends)(void);
    /* Returns when everything accepted has been delivered; NULL when `observe` tells. */
    void (*flush)(void);
    /* Returns 0, or -1 when there is nothing to observe; NULL when the facility has no such means. */
    int (*observe)(struct bench_observation* out);
    /* Both NULL when nobody can switch it from outside. A tracepoint that is off at first. is_on: whether it
     * would record now. switched: the tracepoint, with this id; returns whether its argument was evaluated.
     */
    int (*is_on)(void);
    int (*switched)(uint64_t id);
};

/* Runs the mode that the command line asks for; returns the exit status. */
int bench_main(int argc, char** argv, const struct bench_facility* facility);

/* `observe` for facilities that record into a Silverpoint session (session.c). */
int bench_observe_session(struct bench_observation* out);

/* The time stamp counter, as the floor reads it. */
static inline uint64_t bench_ticks(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}

#ifdef __cplusplus
}
#endif
#endif
