/* Many records back to back from one or several threads. Measures the caller's wall time, the CPU time of all
 * processes, the stored rate and the longest single call. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "internal.h"

struct worker {
    struct run* run;
    pthread_barrier_t* start;
    pthread_barrier_t* done;
    pthread_barrier_t* leave;
    uint64_t records, first_id;
    uint32_t* elapsed; /* one entry a record when single calls are timed, else NULL */
    uint64_t begin_ticks, end_ticks;
    uint64_t begin_ns, end_ns;
    pthread_t thread;
};

static void* work(void* argument) {
    struct worker* w = argument;
    const struct bench_case* chosen = w->run->chosen;
    pthread_barrier_wait(w->start);
    w->begin_ns = monotonic_ns();
    w->begin_ticks = bench_ticks();
    if (w->elapsed)
        chosen->singles(w->records, w->first_id, w->elapsed);
    else
        chosen->burst(w->records, w->first_id);
    w->end_ticks = bench_ticks();
    w->end_ns = monotonic_ns();
    pthread_barrier_wait(w->done);
    /* Stays until everything is stored: what a thread's end costs is not the tracepoint's affair. */
    pthread_barrier_wait(w->leave);
    return NULL;
}

/* CPU time of this process without the main thread (which only waits and looks), and of the facility's
 * helpers. */
static uint64_t cpu_of_all_ns(struct run* run) {
    struct bench_observation seen;
    run_observe(run, &seen);
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID) - clock_ns(CLOCK_THREAD_CPUTIME_ID) + seen.helper_cpu_ns;
}

struct floor_result {
    double mean_ns, max_ns;
};

static struct floor_result floor_sustained(struct run* run, uint64_t records, uint32_t* elapsed) {
    run_turn_begins(run, true);
    uint64_t ticks = 0;
    if (elapsed)
        run_floor_singles(run, records, elapsed);
    else
        ticks = run_floor_burst(run, records);
    run_turn_ends(run, true);
    clock_settle(run);
    struct floor_result result = {(double)ticks * run->ns_per_tick / (double)records, 0};
    if (elapsed) {
        sort_u32(elapsed, records);
        result.max_ns = elapsed[records - 1] * run->ns_per_tick;
    }
    return result;
}

/* Where single calls are timed, the buffers are touched beforehand. */
static uint32_t* timings(uint64_t n) {
    uint32_t* elapsed = malloc(n * sizeof *elapsed);
    if (!elapsed) {
        fprintf(stderr, "bench: out of memory\n");
        exit(1);
    }
    for (uint64_t i = 0; i < n; ++i) elapsed[i] = 1;
    return elapsed;
}

int mode_sustained(struct run* run) {
    const uint64_t threads = option(&run->options, "threads", 1),
                   records = option(&run->options, "records", 1000000);
    const bool timed = option(&run->options, "timed", 0) != 0, floor_first = run_random(run) & 1;
    uint32_t* floor_elapsed = timed ? timings(records) : NULL;
    struct floor_result floor = {0, 0};
    if (floor_first) floor = floor_sustained(run, records, floor_elapsed);

    run_burst(run, 1); /* the site is known; the workers' rings are not */
    if (!run_drain(run, NULL, NULL)) fprintf(stderr, "bench: not drained before the start\n");

    struct worker* workers = calloc(threads, sizeof *workers);
    if (!workers) return 1;
    pthread_barrier_t start, done, leave;
    pthread_barrier_init(&start, NULL, (unsigned)threads + 1);
    pthread_barrier_init(&done, NULL, (unsigned)threads + 1);
    pthread_barrier_init(&leave, NULL, (unsigned)threads + 1);
    for (uint64_t i = 0; i < threads; ++i) {
        workers[i] =
            (struct worker){.run = run, .start = &start, .done = &done, .leave = &leave, .records = records};
        workers[i].first_id = run_claim(run, records);
        if (timed) workers[i].elapsed = timings(records);
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            perror("bench: thread");
            return 1;
        }
    }
    struct bench_observation before;
    run_observe(run, &before);
    const uint64_t cpu_before_ns = cpu_of_all_ns(run);
    run_turn_begins(run, false);
    pthread_barrier_wait(&start);
    pthread_barrier_wait(&done); /* asleep until the last has ended: cores are few */
    uint64_t stored_when_ns = 0, left_bytes = 0;
    run_drain(run, &stored_when_ns, &left_bytes);
    const uint64_t cpu_ns = cpu_of_all_ns(run) - cpu_before_ns;
    struct bench_observation after;
    const bool observed = run_observe(run, &after);
    run_turn_ends(run, false);
    pthread_barrier_wait(&leave);
    uint64_t begin_ns = UINT64_MAX, end_ns = 0;
    for (uint64_t i = 0; i < threads; ++i) {
        pthread_join(workers[i].thread, NULL);
        if (workers[i].begin_ns < begin_ns) begin_ns = workers[i].begin_ns;
        if (workers[i].end_ns > end_ns) end_ns = workers[i].end_ns;
    }
    if (!floor_first) floor = floor_sustained(run, records, floor_elapsed);

    const double total = (double)(threads * records);
    json_begin(run, "sustained");
    json_count("threads", threads);
    json_count("records", records);
    json_count("timed", timed);
    json_array_begin("wall_per_call"); /* one a thread */
    for (uint64_t i = 0; i < threads; ++i)
        json_array_item((double)(workers[i].end_ticks - workers[i].begin_ticks) * run->ns_per_tick /
                        (double)records);
    json_array_end();
    json_number("cpu_per_record", (double)cpu_ns / total);
    json_number("caller_records_per_s", total / ((double)(end_ns - begin_ns) * 1e-9));
    if (observed) {
        const double bytes = (double)(after.written_bytes - before.written_bytes);
        const double stored = bytes > 0 ? total * (1.0 - (double)left_bytes / bytes) : 0;
        json_number("stored_records_per_s", stored / ((double)(stored_when_ns - begin_ns) * 1e-9));
        json_number("ring_bytes_per_record", bytes / total);
    }
    json_number("floor_per_call", timed ? 0.0 : floor.mean_ns);
    if (timed) {
        double longest = 0;
        for (uint64_t i = 0; i < threads; ++i) {
            sort_u32(workers[i].elapsed, records);
            const double here = workers[i].elapsed[records - 1] * run->ns_per_tick;
            if (here > longest) longest = here;
        }
        json_number("max_call", longest);
        json_number("p999_call", quantile_u32(workers[0].elapsed, records, 0.999) * run->ns_per_tick);
        json_number("floor_max_call", floor.max_ns);
    }
    json_end(run);
    return 0;
}
