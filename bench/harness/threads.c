/* What a thread's first record costs, and what a facility costs while nothing happens. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "internal.h"

struct newcomer {
    struct run* run;
    pthread_barrier_t* leave; /* NULL: the thread ends at once */
    uint64_t first_id;
    bool prepared;
    uint32_t elapsed[2]; /* ticks of the first and the second record */
    pthread_t thread;
};

static void* arrive(void* argument) {
    struct newcomer* me = argument;
    if (me->prepared) me->run->facility->prepare_thread();
    me->run->chosen->singles(2, me->first_id, me->elapsed);
    if (me->leave) pthread_barrier_wait(me->leave);
    return NULL;
}

/* Threads arrive one after the other. With alive=1 (default) all stay until the last has come, so that each
 * needs a ring of its own. With alive=0 each ends before the next begins, which may inherit its ring. */
int mode_first(struct run* run) {
    const uint64_t threads = option(&run->options, "threads", 100), alive = option(&run->options, "alive", 1),
                   prepared = option(&run->options, "prepared", 0);
    json_begin(run, "first");
    if (prepared && !run->facility->prepare_thread) {
        json_count("unsupported", 1);
        clock_settle(run);
        json_end(run);
        return 0;
    }
    struct newcomer* all = calloc(threads, sizeof *all);
    if (!all) return 1;
    uint32_t site_elapsed[2];
    run_singles(run, 1, site_elapsed); /* the first record of the process registers the site */
    run_drain(run, NULL, NULL);
    pthread_barrier_t leave;
    pthread_barrier_init(&leave, NULL, (unsigned)threads + 1);
    for (uint64_t i = 0; i < threads; ++i) {
        all[i] = (struct newcomer){.run = run, .leave = alive ? &leave : NULL, .prepared = prepared != 0};
        all[i].first_id = run_claim(run, 2);
        if (pthread_create(&all[i].thread, NULL, arrive, &all[i]) != 0) {
            perror("bench: thread");
            return 1;
        }
        if (alive)
            usleep(1000);
        else
            pthread_join(all[i].thread, NULL);
    }
    if (alive) {
        pthread_barrier_wait(&leave);
        for (uint64_t i = 0; i < threads; ++i) pthread_join(all[i].thread, NULL);
    }
    clock_settle(run);
    json_count("alive", alive);
    json_count("prepared", prepared);
    json_number("first_of_process", site_elapsed[0] * run->ns_per_tick);
    for (int which = 0; which < 2; ++which) {
        json_array_begin(which ? "second" : "first");
        for (uint64_t i = 0; i < threads; ++i) {
            const uint64_t elapsed = all[i].elapsed[which];
            json_array_item((double)(elapsed > run->overhead_ticks ? elapsed - run->overhead_ticks : 0) *
                            run->ns_per_tick);
        }
        json_array_end();
    }
    json_end(run);
    free(all);
    return 0;
}

/* A thousand records, two seconds for things to settle, then silence. */
int mode_idle(struct run* run) {
    const uint64_t seconds = option(&run->options, "seconds", 5);
    run_burst(run, 1000);
    run_drain(run, NULL, NULL);
    sleep(2);
    struct bench_observation before, after;
    const bool observed = run_observe(run, &before);
    const uint64_t own_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID), from_ns = monotonic_ns();
    sleep((unsigned)seconds);
    run_observe(run, &after);
    const double passed_ns = (double)(monotonic_ns() - from_ns);
    clock_settle(run);
    json_begin(run, "idle");
    json_number("own_cpu_percent", (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - own_ns) / passed_ns * 100);
    if (observed) {
        json_number("helper_cpu_percent",
                    (double)(after.helper_cpu_ns - before.helper_cpu_ns) / passed_ns * 100);
        json_count("helper_rss_bytes", after.helper_rss_bytes);
    }
    json_end(run);
    return 0;
}
