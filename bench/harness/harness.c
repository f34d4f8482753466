/* The frame of a driver: command line, clock, account, JSON. */
#define _GNU_SOURCE
#include "harness.h"

#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

/* ---- options ---- */

uint64_t option(const struct options* options, const char* name, uint64_t otherwise) {
    const size_t length = strlen(name);
    for (int i = 0; i < options->count; ++i) {
        const char* pair = options->pairs[i];
        if (strncmp(pair, name, length) != 0 || pair[length] != '=') continue;
        char* end = NULL;
        const unsigned long long value = strtoull(pair + length + 1, &end, 10);
        if (end == pair + length + 1 || *end != '\0') {
            fprintf(stderr, "bench: %s: a whole number is expected\n", pair);
            exit(2);
        }
        return value;
    }
    return otherwise;
}

/* ---- clock ---- */

static void clock_start(struct run* run) {
    uint32_t gaps[1001];
    for (int i = 0; i < 1001; ++i) {
        const uint64_t before = bench_ticks();
        gaps[i] = (uint32_t)(bench_ticks() - before);
    }
    sort_u32(gaps, 1001);
    run->overhead_ticks = gaps[500];
    run->start_ns = monotonic_ns();
    run->start_ticks = bench_ticks();
}

void clock_settle(struct run* run) {
    uint64_t now_ns = monotonic_ns();
    while (now_ns - run->start_ns < 50000000u) {
        usleep(5000);
        now_ns = monotonic_ns();
    }
    run->ns_per_tick = (double)(now_ns - run->start_ns) / (double)(bench_ticks() - run->start_ticks);
}

/* ---- measuring, with the account ---- */

static uint64_t id_total(uint64_t n, uint64_t first) {
    /* n (n - 1) / 2 without overflow before the division */
    return n * first + (n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n);
}

uint64_t run_claim(struct run* run, uint64_t n) {
    const uint64_t first = run->next_id;
    run->next_id += n;
    run->counted += n;
    run->id_sum += id_total(n, first);
    return first;
}

static uint64_t above(uint64_t elapsed, uint64_t overhead) {
    return elapsed > overhead ? elapsed - overhead : 0;
}

static void take_off(struct run* run, uint32_t* elapsed, uint64_t n) {
    for (uint64_t i = 0; i < n; ++i) elapsed[i] = (uint32_t)above(elapsed[i], run->overhead_ticks);
}

uint64_t run_burst(struct run* run, uint64_t n) {
    const uint64_t first = run_claim(run, n);
    void (*const burst)(uint64_t, uint64_t) = run->chosen->burst;
    const uint64_t before = bench_ticks();
    burst(n, first);
    return above(bench_ticks() - before, run->overhead_ticks);
}

void run_singles(struct run* run, uint64_t n, uint32_t* elapsed) {
    run->chosen->singles(n, run_claim(run, n), elapsed);
    take_off(run, elapsed, n);
}

uint64_t run_floor_burst(struct run* run, uint64_t n) {
    const uint64_t first = run->next_id;
    run->next_id += n;
    run->floor_sum += id_total(n, first);
    struct floor* const f = run->floor;
    const uint64_t before = bench_ticks();
    floor_burst(f, n, first);
    return above(bench_ticks() - before, run->overhead_ticks);
}

void run_floor_singles(struct run* run, uint64_t n, uint32_t* elapsed) {
    const uint64_t first = run->next_id;
    run->next_id += n;
    run->floor_sum += id_total(n, first);
    floor_singles(run->floor, n, first, elapsed);
    take_off(run, elapsed, n);
}

void run_turn_begins(struct run* run, bool floor) {
    if (floor)
        floor_reader_on(run->floor);
    else if (run->facility->turn_begins)
        run->facility->turn_begins();
}

void run_turn_ends(struct run* run, bool floor) {
    if (floor)
        floor_reader_off(run->floor);
    else if (run->facility->turn_ends)
        run->facility->turn_ends();
}

uint64_t run_random(struct run* run) {
    uint64_t x = run->random; /* xorshift64* */
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    run->random = x;
    return (x * 0x2545F4914F6CDD1Du) >> 32;
}

void run_pause(struct run* run, uint64_t pause_us) {
    /* Before the clock has settled a tick counts as a third of a nanosecond: the pause need not be exact,
     * only equal for both. */
    const uint64_t until = bench_ticks() + pause_us * 3000;
    (void)run;
    while (bench_ticks() < until) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
}

void run_pin(struct run* run) {
    const uint64_t cpu = option(&run->options, "cpu", UINT64_MAX);
    if (cpu == UINT64_MAX) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) perror("bench: cannot pin, going on without");
}

bool run_observe(struct run* run, struct bench_observation* out) {
    memset(out, 0, sizeof *out);
    return run->facility->observe && run->facility->observe(out) == 0;
}

bool run_drain(struct run* run, uint64_t* stored_when_ns, uint64_t* left_bytes) {
    if (run->facility->flush) run->facility->flush();
    const uint64_t give_up_ns = monotonic_ns() + 20000000000u;
    struct bench_observation seen;
    bool stored = false;
    if (stored_when_ns) *stored_when_ns = monotonic_ns();
    if (left_bytes) *left_bytes = 0;
    while (run_observe(run, &seen)) {
        const uint64_t now_ns = monotonic_ns();
        if (!stored && seen.pending_bytes <= seen.lazy_bytes) {
            stored = true;
            if (stored_when_ns) *stored_when_ns = now_ns;
            if (left_bytes) *left_bytes = seen.pending_bytes;
        }
        if (seen.pending_bytes == 0) return true;
        if (now_ns > give_up_ns) return false;
        usleep(100);
    }
    return run->facility->observe == NULL;
}

/* ---- JSON ---- */

static bool json_first_item;

void json_begin(struct run* run, const char* mode) {
    printf("{\"schema\":1,\"facility\":\"%s\",\"case\":\"%s\",\"mode\":\"%s\",\"unit\":\"ns\"",
           run->facility->name, run->chosen ? run->chosen->name : "", mode);
}

void json_number(const char* name, double value) {
    if (isfinite(value))
        printf(",\"%s\":%.3f", name, value);
    else
        printf(",\"%s\":null", name);
}

void json_count(const char* name, uint64_t value) { printf(",\"%s\":%" PRIu64, name, value); }

void json_array_begin(const char* name) {
    printf(",\"%s\":[", name);
    json_first_item = true;
}

static void json_comma(void) {
    if (!json_first_item) putchar(',');
    json_first_item = false;
}

void json_array_item(double value) {
    json_comma();
    printf("%.3f", value);
}

void json_array_pair(double a, double b) {
    json_comma();
    printf("[%.3f,%.3f]", a, b);
}

void json_array_end(void) { putchar(']'); }

void json_end(struct run* run) {
    const bool drained = run_drain(run, NULL, NULL);
    struct bench_observation seen;
    const bool observed = run_observe(run, &seen);
    json_count("counted", run->counted);
    json_count("id_sum", run->id_sum);
    if (observed) {
        json_count("lost", seen.lost);
        json_count("stalls", seen.stalls);
        json_count("stall_ns", seen.stall_ns);
    }
    printf(",\"drained\":%s", drained ? "true" : "false");
    const struct floor_account account = floor_account(run->floor);
    const bool whole = account.read == account.written && account.read_sum == run->floor_sum;
    json_count("floor_counted", account.written);
    json_count("floor_stalls", account.stalls);
    printf(",\"floor_whole\":%s", whole ? "true" : "false");
    json_number("overhead_ns", (double)run->overhead_ticks * run->ns_per_tick);
    json_number("ticks_per_us", 1000.0 / run->ns_per_tick);
    puts("}");
    fflush(stdout);
}

/* ---- statistics ---- */

static int compare_u32(const void* a, const void* b) {
    const uint32_t x = *(const uint32_t*)a, y = *(const uint32_t*)b;
    return x < y ? -1 : x > y;
}

void sort_u32(uint32_t* values, uint64_t n) { qsort(values, n, sizeof *values, compare_u32); }

uint32_t quantile_u32(const uint32_t* sorted, uint64_t n, double q) {
    const double rank = ceil(q * (double)n);
    const uint64_t index = rank < 1 ? 0 : (uint64_t)rank - 1;
    return sorted[index < n ? index : n - 1];
}

/* ---- the command line ---- */

static int usage(const struct bench_facility* facility) {
    fprintf(stderr,
            "usage: %s-driver list\n"
            "       %s-driver burst|single|sustained|paced|first|idle|switch CASE [NAME=NUMBER ...]\n"
            "       %s-driver disabled [NAME=NUMBER ...]\n"
            "       %s-driver count CASE | count-disabled [NAME=NUMBER ...]\n",
            facility->name, facility->name, facility->name, facility->name);
    return 2;
}

int bench_main(int argc, char** argv, const struct bench_facility* facility) {
    static const struct {
        const char* name;
        bool wants_case;
        int (*go)(struct run*);
    } modes[] = {
        {"burst", true, mode_burst},   {"single", true, mode_single}, {"sustained", true, mode_sustained},
        {"first", true, mode_first},   {"idle", true, mode_idle},     {"disabled", false, mode_disabled},
        {"paced", true, mode_paced},   {"count", true, mode_count},   {"count-disabled", false, mode_count},
        {"switch", true, mode_switch},
    };
    if (argc < 2) return usage(facility);
    if (strcmp(argv[1], "list") == 0) {
        for (size_t i = 0; i < facility->case_count; ++i)
            printf("{\"schema\":1,\"facility\":\"%s\",\"case\":\"%s\"}\n", facility->name,
                   facility->cases[i].name);
        return 0;
    }
    struct run run = {.facility = facility, .next_id = 1};
    for (size_t m = 0; m < sizeof modes / sizeof modes[0]; ++m) {
        if (strcmp(argv[1], modes[m].name) != 0) continue;
        int at = 2;
        if (modes[m].wants_case) {
            if (argc < 3) return usage(facility);
            for (size_t i = 0; i < facility->case_count; ++i)
                if (strcmp(argv[2], facility->cases[i].name) == 0) run.chosen = &facility->cases[i];
            if (!run.chosen) {
                fprintf(stderr, "bench: %s has no case '%s' (see list)\n", facility->name, argv[2]);
                return 2;
            }
            at = 3;
        }
        run.options = (struct options){argc - at, argv + at};
        run.random = option(&run.options, "seed", 1) * 0x9E3779B97F4A7C15u | 1;
        run.floor = floor_open(); /* before any pinning, which its reader would inherit */
        clock_start(&run);
        return modes[m].go(&run);
    }
    return usage(facility);
}
