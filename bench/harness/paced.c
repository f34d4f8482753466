/* Records at a rate: what one costs in all when they do not come back to back. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>

#include "internal.h"

enum { kTurnsPerSecond = 1000 };

static void sleep_until(uint64_t ns) {
    const struct timespec when = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR) {
    }
}

/* CPU time of everybody but this thread, which looks on. */
static uint64_t cpu_of_others_ns(struct run* run) {
    struct bench_observation seen;
    run_observe(run, &seen);
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID) - clock_ns(CLOCK_THREAD_CPUTIME_ID) + seen.helper_cpu_ns;
}

/* A thousand times a second, from one thread, a thousandth of what a second shall have; who comes late goes
 * on at once. `milliseconds` of records are made, and none after twice that time: who cannot keep the rate
 * shows by `reached`, records per second. */
int mode_paced(struct run* run) {
    const uint64_t rate = option(&run->options, "rate", 1000),
                   milliseconds = option(&run->options, "milliseconds", 1000);
    if (rate < kTurnsPerSecond || rate % kTurnsPerSecond != 0) {
        fprintf(stderr, "bench: rate=%lu: a multiple of %d a second is expected\n", (unsigned long)rate,
                kTurnsPerSecond);
        return 2;
    }
    const uint64_t a_turn = rate / kTurnsPerSecond, turn_ns = 1000000000u / kTurnsPerSecond;
    run_burst(run, 1); /* the site is known, the ring is there */
    if (!run_drain(run, NULL, NULL)) fprintf(stderr, "bench: not drained before the start\n");
    clock_settle(run);

    const uint64_t others_before_ns = cpu_of_others_ns(run),
                   caller_before_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), begin_ns = monotonic_ns();
    uint64_t made = 0, now_ns = begin_ns;
    for (uint64_t turn = 0; turn < milliseconds && now_ns - begin_ns < 2 * milliseconds * turn_ns; ++turn) {
        sleep_until(begin_ns + turn * turn_ns);
        run_burst(run, a_turn);
        made += a_turn;
        now_ns = monotonic_ns();
    }
    /* The last turn has its time, too: a rate is not reached by being cut short. */
    if (now_ns < begin_ns + milliseconds * turn_ns) sleep_until(begin_ns + milliseconds * turn_ns);
    now_ns = monotonic_ns();
    const uint64_t caller_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - caller_before_ns;
    run_drain(run, NULL, NULL);
    const uint64_t others_ns = cpu_of_others_ns(run) - others_before_ns;

    json_begin(run, "paced");
    json_count("rate", rate);
    json_number("reached", (double)made / ((double)(now_ns - begin_ns) * 1e-9));
    json_number("caller_per_record", (double)caller_ns / (double)made);
    json_number("cpu_per_record", (double)(caller_ns + others_ns) / (double)made);
    json_end(run);
    return 0;
}
