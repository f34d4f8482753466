/* Shared by the files of the harness; drivers include harness.h alone. */
#ifndef SILVERPOINT_BENCH_INTERNAL_H
#define SILVERPOINT_BENCH_INTERNAL_H
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "../floor/floor.h"
#include "harness.h"

/* `name=value` pairs of the command line; every mode states its defaults. */
struct options {
    int count;
    char** pairs;
};
uint64_t option(const struct options* options, const char* name, uint64_t otherwise);

/* One run of one mode: the case, the floor, and what must have arrived in the end. */
struct run {
    const struct bench_facility* facility;
    const struct bench_case* chosen; /* NULL in modes without a case */
    struct options options;
    struct floor* floor;
    uint64_t next_id;        /* ids are given out once */
    uint64_t counted;        /* calls of the chosen case's tracepoint */
    uint64_t id_sum;         /* of the ids given to them, modulo 2^64 */
    uint64_t floor_sum;      /* of the ids given to the floor */
    uint64_t random;         /* state of the generator, never 0 */
    uint64_t overhead_ticks; /* of two reads of the counter with nothing between */
    double ns_per_tick;      /* known after clock_settle */
    uint64_t start_ticks, start_ns;
};

/* Measure the candidate, and account for it. */
uint64_t run_burst(struct run* run, uint64_t n);                  /* elapsed ticks, overhead taken off */
void run_singles(struct run* run, uint64_t n, uint32_t* elapsed); /* overhead taken off each */
uint64_t run_floor_burst(struct run* run, uint64_t n);
void run_floor_singles(struct run* run, uint64_t n, uint32_t* elapsed);
/* Around the measurements of one side: wakes the thread that polls for it, and lets it rest. */
void run_turn_begins(struct run* run, bool floor);
void run_turn_ends(struct run* run, bool floor);
/* Ids for n calls made elsewhere (other threads); returns the first. */
uint64_t run_claim(struct run* run, uint64_t n);

uint64_t run_random(struct run* run);
void run_pause(struct run* run, uint64_t pause_us);
/* Pins the calling thread when the option cpu=N (plus 1) is given. */
void run_pin(struct run* run);
/* Everything accepted is stored, or 20 seconds have passed; false then. `stored_when` (may be NULL) gets the
 * time at which all but the lazy part was stored, and `left` what was pending then. */
bool run_drain(struct run* run, uint64_t* stored_when_ns, uint64_t* left_bytes);
bool run_observe(struct run* run,
                 struct bench_observation* out); /* false and zeros when there is no observer */

uint64_t monotonic_ns(void);
uint64_t clock_ns(clockid_t clock);
/* Fixes ns_per_tick from the time since the start; sleeps until at least 50 ms have passed. */
void clock_settle(struct run* run);

/* JSON, one object a line: begin, members, end (which checks the floor and adds the account). */
void json_begin(struct run* run, const char* mode);
void json_number(const char* name, double value);
void json_count(const char* name, uint64_t value);
void json_array_begin(const char* name);
void json_array_item(double value);
void json_array_pair(double a, double b);
void json_array_end(void);
void json_end(struct run* run);

/* Sorts and gives the q-quantile (0 to 1, nearest rank) of n >= 1 values. */
void sort_u32(uint32_t* values, uint64_t n);
uint32_t quantile_u32(const uint32_t* sorted, uint64_t n, double q);

int mode_burst(struct run* run);     /* pairs.c: paired batches of bursts */
int mode_single(struct run* run);    /* pairs.c: single calls within bursts */
int mode_disabled(struct run* run);  /* pairs.c: switched off, over the empty loop */
int mode_sustained(struct run* run); /* sustained.c */
int mode_paced(struct run* run);     /* paced.c: records at a rate */
int mode_first(struct run* run);     /* threads.c: first record of a thread */
int mode_idle(struct run* run);      /* threads.c: what the facility costs while nothing happens */
int mode_switch(struct run* run);    /* switch.c: switched on and off by another process */
int mode_count(struct run* run);     /* counted.c: for a tool that counts instructions */
#endif
