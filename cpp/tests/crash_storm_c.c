/* crash_storm.cpp in C, for scripts/crash-test: `crash_storm_c FILE storm WAY THREADS`, `crash_storm_c FILE
 * resume`. */
#define _GNU_SOURCE
#include <pthread.h>
#include <silverpoint/silverpoint.h>
#include <silverpoint/start.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Most threads; most records of a thread: a machine that is slow to end the program has no more to read.
 * Rings of 1 MiB take fewer. */
enum { MOST = 16, RECORDS = 10000 };

static volatile uintptr_t low_address = 16;
static _Atomic uint64_t told[MOST];
static unsigned threads;
static bool has_pace, is_of_thread;
static const char* way;
static atomic_bool must_fail;

/* Ends long after the stack does. */
__attribute__((noinline)) static unsigned descend(unsigned depth) {
    volatile char room[256];
    room[0] = (char)depth;
    if (depth == 0xFFFFFFFF) return 0;
    return descend(depth + 1) + (unsigned)room[0];
}

static void fail(void) {
    if (strcmp(way, "segv") == 0) *(volatile int*)low_address = 1;
    if (strcmp(way, "abort") == 0) abort();
    if (strcmp(way, "stack") == 0) printf("%u\n", descend(0));
    if (strcmp(way, "check") == 0) SP_CHECK(low_address == 17, "it is %zu", (size_t)low_address);
}

static int start(const char* file) {
    char config[4200], error[500] = "";
    snprintf(config, sizeof config,
             "record = 'info'\ncrash-wait = '30s'\n[[sink]]\nto = 'file'\npath = '%s'\n"
             "[[sink]]\nto = 'file'\nformat = 'json'\npath = '%s.jsonl'\n",
             file, file);
    if (sp_start_logger(config, error, sizeof error) == SILVERPOINT_DONE) return 1;
    fprintf(stderr, "%s\n", error);
    return 0;
}

/* A thread reports only what is already recorded. The threads must never wait for the pipe. */
static void* log_on(void* given) {
    const unsigned thread = (unsigned)(uintptr_t)given;
    for (uint64_t number = 0; number < RECORDS; ++number) {
        SP_INFO("thread %u number %llu", thread, (unsigned long long)number);
        atomic_store_explicit(&told[thread], number + 1, memory_order_release);
        if (number % (has_pace ? 64 : 1024) == 0) {
            char line[MOST * 24];
            int length = 0;
            for (unsigned other = 0; other < threads; ++other)
                length +=
                    snprintf(line + length, sizeof line - (size_t)length, "%llu ",
                             (unsigned long long)atomic_load_explicit(&told[other], memory_order_acquire));
            line[length - 1] = '\n';
            if (write(1, line, (size_t)length) < 0) return NULL;
        }
        if (number % 64 == 63 && has_pace) usleep(1000);
        if (thread == 0 && atomic_load_explicit(&must_fail, memory_order_relaxed)) fail();
    }
    while (!atomic_load_explicit(&must_fail, memory_order_relaxed)) usleep(1000);
    if (thread == 0) fail();
    return NULL;
}

static void storm(void) {
    for (unsigned thread = 0; thread < threads; ++thread) {
        pthread_t made;
        if (pthread_create(&made, NULL, log_on, (void*)(uintptr_t)thread) != 0) exit(4);
    }
    /* The moment is the tester's, and the other threads are wherever they are. */
    char byte = 0;
    if (read(0, &byte, 1) < 0) return;
    if (!is_of_thread) fail();
    atomic_store(&must_fail, true);
    for (;;) pause();
}

/* Independent of the limits of the shell: a stack that ends before the memory does, and no core files. */
static void set_limits(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = limit.rlim_max < (8u << 20) ? limit.rlim_max : (8u << 20);
    setrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = limit.rlim_max = 0;
    setrlimit(RLIMIT_CORE, &limit);
}

int main(int count, char** words) {
    if (count < 3) return 2;
    set_limits();
    if (!start(words[1])) return 3;
    if (strcmp(words[2], "resume") == 0) return silverpoint_stop(60000) == SILVERPOINT_DONE ? 0 : 1;
    if (count != 5) return 2;
    has_pace = getenv("SILVERPOINT_CRASH_PACE") == NULL;
    is_of_thread = getenv("SILVERPOINT_CRASH_WHO") != NULL;
    way = words[3];
    threads = (unsigned)atoi(words[4]) % (MOST + 1);
    storm();
    return 0;
}
