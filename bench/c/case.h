/* A tracepoint of a driver in C as two loops: with and without the counter read around each call. */
#pragma once

#include <stdint.h>

#include "../harness/harness.h"

static const char file_path[] = "/var/lib/silverpoint/data/frame.000"; /* 35 bytes */
static const char* volatile path_of_run = file_path;

/* `index` (i32), `fraction` (f64), `id` (u64) and `path` are in scope of the tracepoint. */
#define CASE(function, ...)                                                                 \
    __attribute__((noinline)) static void function##_burst(uint64_t n, uint64_t first_id) { \
        const char* path = path_of_run;                                                     \
        double fraction = 0.125;                                                            \
        int32_t index = 0;                                                                  \
        for (uint64_t id = first_id; id != first_id + n; ++id, ++index, fraction += 1.0) {  \
            __VA_ARGS__;                                                                    \
        }                                                                                   \
        (void)index, (void)fraction, (void)path;                                            \
    }                                                                                       \
    __attribute__((noinline)) static void function##_singles(uint64_t n, uint64_t first_id, \
                                                             uint32_t* elapsed_ticks) {     \
        const char* path = path_of_run;                                                     \
        double fraction = 0.125;                                                            \
        int32_t index = 0;                                                                  \
        for (uint64_t id = first_id; id != first_id + n; ++id, ++index, fraction += 1.0) {  \
            const uint64_t before = bench_ticks();                                          \
            __VA_ARGS__;                                                                    \
            *elapsed_ticks++ = (uint32_t)(bench_ticks() - before);                          \
        }                                                                                   \
        (void)index, (void)fraction, (void)path;                                            \
    }
