/* The floor: what the hardware makes any timestamped tracepoint pay.
 *
 *   producer                     ring, 1 MiB                        reader (one thread)
 *   rdtsc ─▶ {ticks, 3 words} ─▶ [32 B][32 B][32 B] … ─ committed ─▶ polls, adds up words, ─ consumed ─▶
 * producer's limit
 *
 * One record is one read of the time stamp counter, four plain 8-byte stores at position mod capacity, one
 * release store of the position. The producer compares its position with a cached limit and never overruns
 * the reader. There is no level, no site, no size, no wrap of a record: less than any tracing library can do.
 *
 * FROZEN: every budget of the project is a multiple of this code's time, so a change of it changes every
 * figure. `bench/run` compares the machine code of floor_burst and floor_singles with floor.x86_64.dis and
 * says so when they differ.
 */
#ifndef SILVERPOINT_BENCH_FLOOR_H
#define SILVERPOINT_BENCH_FLOOR_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a floor has seen since it was opened. Nothing was lost when read = written and read_sum is the sum of
 * the ids given. */
struct floor_account {
    uint64_t written;  /* records stored by the producer */
    uint64_t read;     /* records that the reader has seen */
    uint64_t read_sum; /* of their third words, modulo 2^64 */
    uint64_t stalls;   /* times the producer found the ring full and waited: the reader did not keep up */
};

struct floor;

/* Makes a floor with its reader thread, asleep. Exits with a message when there is no memory or no thread. */
struct floor* floor_open(void);

/* Wakes the reader and returns when it polls; puts it to sleep and returns when it does (and has read
 * everything). A reader that polls needs a core of its own, hence only while the floor is measured. */
void floor_reader_on(struct floor* f);
void floor_reader_off(struct floor* f);

/* Stores n records whose third words are first_id, first_id + 1, … One thread at a time. */
void floor_burst(struct floor* f, uint64_t n, uint64_t first_id);

/* The same, with the counter read before and after each record; elapsed_ticks[i] is the i-th record's time.
 */
void floor_singles(struct floor* f, uint64_t n, uint64_t first_id, uint32_t* elapsed_ticks);

/* What was written and read so far; exact after floor_reader_off. */
struct floor_account floor_account(const struct floor* f);

#ifdef __cplusplus
}
#endif
#endif
