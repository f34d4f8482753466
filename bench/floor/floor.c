/* See floor.h. Compiled with `-O2 -std=c11` and nothing else that changes code; linked into every driver of
 * the project as this one object file. */
#define _GNU_SOURCE
#include "floor.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { kCapacity = 1 << 20, kRecordBytes = 32, kLine = 128 };

/* Between two polls. A reader that polls without a pause takes the position's line at every record. The floor
 * would be up to four times slower in long runs (measured: 38 ns instead of 9), and every candidate would
 * look better. 20 us is a fifteenth of the time in which the producer fills the ring. */
enum { kPollGap_ns = 20000 };

/* What the reader is asked for, and what it does. */
enum { kAsleep, kPolling };

/* Each side writes only lines of its own. If the reader polled anything beside the producer's position, each
 * poll would cost the next burst some 200 ns. Two cache lines, since processors fetch neighbours in pairs. */
struct floor {
    /* Producer's own. */
    _Alignas(kLine) uint64_t position; /* bytes ever stored; equal to committed outside floor_* */
    uint64_t limit;                    /* position at which the producer must look at consumed */
    unsigned char* data;               /* kCapacity bytes, touched beforehand */
    uint64_t stalls;

    _Alignas(kLine) uint64_t committed; /* atomic, release, by the producer: everything before it is whole */
    _Alignas(kLine) uint64_t consumed;  /* atomic, release, by the reader: everything before it was read */

    /* Reader's own. */
    _Alignas(kLine) const unsigned char* data_to_read; /* the same as data */
    uint64_t read_sum;
    pthread_t reader;

    _Alignas(kLine) pthread_mutex_t mutex;
    pthread_cond_t changed;
    int wanted; /* atomic, changed under mutex */
    int now;    /* under mutex */
};

static inline uint64_t read_ticks(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
#    error "the floor is defined for machines with a time stamp counter"
#endif
}

static inline void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Cold: the position has reached the cached limit. Takes the reader's word, and waits for room when there is
 * none. */
static __attribute__((noinline, cold)) void floor_refresh(struct floor* f) {
    for (int waited = 0;; waited = 1) {
        f->limit = __atomic_load_n(&f->consumed, __ATOMIC_ACQUIRE) + kCapacity;
        if (f->position != f->limit) return;
        if (!waited) ++f->stalls;
        relax();
    }
}

static inline __attribute__((always_inline)) void floor_record(struct floor* f, uint64_t a, uint64_t b,
                                                               uint64_t c) {
    const uint64_t position = f->position;
    if (__builtin_expect(position == f->limit, 0)) floor_refresh(f);
    uint64_t* record = (uint64_t*)(void*)(f->data + (position & (kCapacity - 1)));
    record[0] = read_ticks();
    record[1] = a;
    record[2] = b;
    record[3] = c;
    f->position = position + kRecordBytes;
    __atomic_store_n(&f->committed, position + kRecordBytes, __ATOMIC_RELEASE);
}

__attribute__((noinline)) void floor_burst(struct floor* f, uint64_t n, uint64_t first_id) {
    for (uint64_t i = 0; i < n; ++i) floor_record(f, i, n, first_id + i);
}

__attribute__((noinline)) void floor_singles(struct floor* f, uint64_t n, uint64_t first_id,
                                             uint32_t* elapsed_ticks) {
    for (uint64_t i = 0; i < n; ++i) {
        const uint64_t before = read_ticks();
        floor_record(f, i, n, first_id + i);
        elapsed_ticks[i] = (uint32_t)(read_ticks() - before);
    }
}

/* Reads what is there; returns whether there was anything. */
static int floor_read(struct floor* f) {
    uint64_t at = __atomic_load_n(&f->consumed, __ATOMIC_RELAXED);
    const uint64_t end = __atomic_load_n(&f->committed, __ATOMIC_ACQUIRE);
    if (at == end) return 0;
    uint64_t sum = 0;
    for (; at != end; at += kRecordBytes) {
        uint64_t words[4];
        memcpy(words, f->data_to_read + (at & (kCapacity - 1)), sizeof words);
        sum += words[3];
    }
    f->read_sum += sum;
    __atomic_store_n(&f->consumed, end, __ATOMIC_RELEASE);
    return 1;
}

static uint64_t monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void* floor_reader(void* argument) {
    struct floor* f = argument;
    pthread_mutex_lock(&f->mutex);
    for (;;) {
        f->now = kAsleep;
        pthread_cond_broadcast(&f->changed);
        while (__atomic_load_n(&f->wanted, __ATOMIC_RELAXED) == kAsleep)
            pthread_cond_wait(&f->changed, &f->mutex);
        f->now = kPolling;
        pthread_cond_broadcast(&f->changed);
        pthread_mutex_unlock(&f->mutex);
        while (__atomic_load_n(&f->wanted, __ATOMIC_ACQUIRE) == kPolling) {
            floor_read(f);
            const uint64_t next_ns = monotonic_ns() + kPollGap_ns;
            while (monotonic_ns() < next_ns) relax();
        }
        while (floor_read(f)) {
        }
        pthread_mutex_lock(&f->mutex);
    }
    return NULL;
}

static void floor_want(struct floor* f, int wanted) {
    pthread_mutex_lock(&f->mutex);
    __atomic_store_n(&f->wanted, wanted, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&f->changed);
    while (f->now != wanted) pthread_cond_wait(&f->changed, &f->mutex);
    pthread_mutex_unlock(&f->mutex);
}

void floor_reader_on(struct floor* f) { floor_want(f, kPolling); }
void floor_reader_off(struct floor* f) { floor_want(f, kAsleep); }

struct floor_account floor_account(const struct floor* f) {
    return (struct floor_account){
        .written = f->position / kRecordBytes,
        .read = __atomic_load_n(&f->consumed, __ATOMIC_ACQUIRE) / kRecordBytes,
        .read_sum = f->read_sum,
        .stalls = f->stalls,
    };
}

static void give_up(const char* what) {
    perror(what);
    exit(1);
}

struct floor* floor_open(void) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
    struct floor* f = mmap(NULL, sizeof *f, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (f == MAP_FAILED) give_up("floor: mmap");
    f->data = mmap(NULL, kCapacity, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (f->data == MAP_FAILED) give_up("floor: mmap");
    f->data_to_read = f->data;
    f->limit = kCapacity;
    pthread_mutex_init(&f->mutex, NULL);
    pthread_cond_init(&f->changed, NULL);
    f->wanted = kAsleep;
    f->now = kPolling; /* until the thread says that it is asleep */
    if (pthread_create(&f->reader, NULL, floor_reader, f) != 0) give_up("floor: thread");
    floor_want(f, kAsleep);
    return f;
}
