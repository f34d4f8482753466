/* Paired measurements: floor and candidate take turns in one process, in random order, so that what disturbs
 * the machine disturbs both. One pair of figures comes from one such turn. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "internal.h"

static void* must(void* memory) {
    if (!memory) {
        fprintf(stderr, "bench: out of memory\n");
        exit(1);
    }
    return memory;
}

/* ---- bursts: the mean of a batch ---- */

/* Ticks of `bursts` bursts of `size` calls, with a pause after each; a few more beforehand bring code and
 * ring back into the cache. */
static uint64_t batch(struct run* run, bool floor, uint64_t bursts, uint64_t size, uint64_t pause_us) {
    uint64_t ticks = 0;
    for (uint64_t i = 0; i < bursts + 5; ++i) {
        const uint64_t elapsed = floor ? run_floor_burst(run, size) : run_burst(run, size);
        if (i >= 5) ticks += elapsed;
        run_pause(run, pause_us);
    }
    return ticks;
}

static uint64_t batch_of(struct run* run, bool floor, uint64_t bursts, uint64_t size, uint64_t pause_us) {
    run_turn_begins(run, floor);
    const uint64_t ticks = batch(run, floor, bursts, size, pause_us);
    run_turn_ends(run, floor);
    return ticks;
}

int mode_burst(struct run* run) {
    const uint64_t pairs = option(&run->options, "pairs", 400), bursts = option(&run->options, "bursts", 50),
                   size = option(&run->options, "size", 20), pause_us = option(&run->options, "pause_us", 20);
    run_pin(run);
    uint64_t(*ticks)[2] = must(calloc(pairs, sizeof *ticks));
    /* Rings grow and pages are touched before the first pair. */
    for (int i = 0; i < 10; ++i) {
        batch_of(run, false, bursts, size, pause_us);
        batch_of(run, true, bursts, size, pause_us);
    }
    for (uint64_t pair = 0; pair < pairs; ++pair) {
        const bool floor_first = run_random(run) & 1;
        ticks[pair][floor_first] = batch_of(run, floor_first, bursts, size, pause_us);
        ticks[pair][!floor_first] = batch_of(run, !floor_first, bursts, size, pause_us);
    }
    clock_settle(run);
    const double scale = run->ns_per_tick / (double)(bursts * size);
    json_begin(run, "burst");
    json_count("size", size);
    json_count("bursts", bursts);
    json_count("pause_us", pause_us);
    json_array_begin("pairs"); /* candidate, floor */
    for (uint64_t pair = 0; pair < pairs; ++pair)
        json_array_pair((double)ticks[pair][0] * scale, (double)ticks[pair][1] * scale);
    json_array_end();
    json_end(run);
    free(ticks);
    return 0;
}

/* ---- single calls: the tail ---- */

/* Calls of one turn; turns of floor and candidate alternate within a group. */
enum { kTurnBursts = 50 };

int mode_single(struct run* run) {
    const uint64_t groups = option(&run->options, "groups", 10), turns = option(&run->options, "turns", 20),
                   size = option(&run->options, "size", 20), pause_us = option(&run->options, "pause_us", 20);
    static const struct {
        const char* name;
        double q;
    } quantiles[] = {{"p50", 0.50}, {"p99", 0.99}, {"p999", 0.999}, {"max", 1.0}};
    enum { kQuantiles = sizeof quantiles / sizeof quantiles[0] };
    run_pin(run);
    const uint64_t calls = turns * kTurnBursts * size;
    uint32_t* elapsed[2] = {must(calloc(calls, 4)), must(calloc(calls, 4))};
    uint32_t(*found)[kQuantiles][2] = must(calloc(groups, sizeof *found));
    for (int i = 0; i < 10; ++i) {
        batch_of(run, false, kTurnBursts, size, pause_us);
        batch_of(run, true, kTurnBursts, size, pause_us);
    }
    for (uint64_t group = 0; group < groups; ++group) {
        for (uint64_t turn = 0; turn < turns; ++turn) {
            const int first = (int)(run_random(run) & 1);
            for (int half = 0; half < 2; ++half) {
                const int which = first ^ half; /* 1: the floor */
                uint32_t* out = elapsed[which] + turn * kTurnBursts * size;
                run_turn_begins(run, which);
                for (int burst = 0; burst < kTurnBursts; ++burst, out += size) {
                    if (which)
                        run_floor_singles(run, size, out);
                    else
                        run_singles(run, size, out);
                    run_pause(run, pause_us);
                }
                run_turn_ends(run, which);
            }
        }
        for (int which = 0; which < 2; ++which) {
            sort_u32(elapsed[which], calls);
            for (int q = 0; q < kQuantiles; ++q)
                found[group][q][which] = quantile_u32(elapsed[which], calls, quantiles[q].q);
        }
    }
    clock_settle(run);
    json_begin(run, "single");
    json_count("calls_per_group", calls);
    for (int q = 0; q < kQuantiles; ++q) {
        json_array_begin(quantiles[q].name); /* candidate, floor; one pair a group */
        for (uint64_t group = 0; group < groups; ++group)
            json_array_pair(found[group][q][0] * run->ns_per_tick, found[group][q][1] * run->ns_per_tick);
        json_array_end();
    }
    json_end(run);
    free(elapsed[0]);
    free(elapsed[1]);
    free(found);
    return 0;
}

/* ---- switched off, over the empty loop ---- */

static uint64_t loop_ticks(void (*loop)(uint64_t, uint64_t), uint64_t n) {
    const uint64_t before = bench_ticks();
    loop(n, 1);
    return bench_ticks() - before;
}

int mode_disabled(struct run* run) {
    const uint64_t pairs = option(&run->options, "pairs", 400), n = option(&run->options, "calls", 20000);
    run_pin(run);
    uint64_t(*ticks)[2] = must(calloc(pairs, sizeof *ticks));
    for (int i = 0; i < 5; ++i) {
        run->facility->disabled(n, 1);
        run->facility->empty(n, 1);
    }
    for (uint64_t pair = 0; pair < pairs; ++pair) {
        const bool empty_first = run_random(run) & 1;
        for (int half = 0; half < 2; ++half) {
            const int which = half ^ empty_first; /* 1: the empty loop */
            ticks[pair][which] = loop_ticks(which ? run->facility->empty : run->facility->disabled, n);
        }
    }
    clock_settle(run);
    json_begin(run, "disabled");
    json_array_begin("pairs"); /* disabled, empty */
    for (uint64_t pair = 0; pair < pairs; ++pair)
        json_array_pair((double)ticks[pair][0] * run->ns_per_tick / (double)n,
                        (double)ticks[pair][1] * run->ns_per_tick / (double)n);
    json_array_end();
    json_end(run);
    free(ticks);
    return 0;
}
