/* As ours.cpp, in C, which has no arrays of numbers. */
#define _GNU_SOURCE /* usleep */
#include <silverpoint/silverpoint.h>
#include <stdint.h>
#include <stdlib.h>

#include "../harness/harness.h"
#include "gate.h"

SP_CATEGORY("bench");

static const char* volatile path_of_run = "/var/lib/silverpoint/data/frame.000"; /* 35 bytes */

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

CASE(literal, SP_EVENT("literal"))
CASE(three_fields, SP_EVENT("three", index, fraction, id))
CASE(text_fields, SP_EVENT("text", id, fraction, path))

static void nothing(uint64_t n, uint64_t first_id) { (void)n, (void)first_id; }

int main(int argc, char** argv) {
    static const struct bench_case cases[] = {
        {"literal", literal_burst, literal_singles},
        {"three.fields", three_fields_burst, three_fields_singles},
        {"text.fields", text_fields_burst, text_fields_singles},
    };
    bench_wait_for_session(cases, sizeof cases / sizeof cases[0], argc, argv);
    struct bench_facility facility = {.name = "silverpoint-c and LTTng-UST",
                                      .cases = cases,
                                      .case_count = sizeof cases / sizeof cases[0],
                                      .empty = nothing,
                                      .disabled = nothing};
    /* Without a ring there is nothing to observe: babeltrace2 counts what has arrived. */
    if (getenv("BENCH_RING") != NULL) facility.observe = bench_observe_session;
    return bench_main(argc, argv, &facility);
}
