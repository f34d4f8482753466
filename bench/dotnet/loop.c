/* Three numbers by the C frontend in a loop: what a tracepoint of .NET is compared with, in its process. */
#define _GNU_SOURCE
#include <silverpoint/silverpoint.h>
#include <time.h>

SP_CATEGORY("bench");

__attribute__((visibility("default"))) double bench_loop(int calls);

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Nanoseconds a record. */
double bench_loop(int calls) {
    const double begun = now_ns();
    for (int i = 0; i < calls; ++i) SP_INFO("%d %lld %f", i, 7LL, 1.5);
    return (now_ns() - begun) / calls;
}
