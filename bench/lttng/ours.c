/* As ours.cpp, in C, which has no arrays of numbers. */
#define _GNU_SOURCE /* usleep */
#include <silverpoint/silverpoint.h>
#include <stdint.h>
#include <stdlib.h>

#include "../c/case.h"
#include "../harness/harness.h"
#include "gate.h"

SP_CATEGORY("bench");

CASE(literal, SP_EVENT("literal"))
CASE(three_fields, SP_EVENT("three", index, fraction, id))
CASE(text_fields, SP_EVENT("text", id, fraction, path))
CASE(span, SP_SPAN("span", id))
CASE(async_begin, SP_ASYNC_BEGIN("async", id))

static void nothing(uint64_t n, uint64_t first_id) { (void)n, (void)first_id; }

int main(int argc, char** argv) {
    static const struct bench_case cases[] = {
        {"literal", literal_burst, literal_singles},
        {"three.fields", three_fields_burst, three_fields_singles},
        {"text.fields", text_fields_burst, text_fields_singles},
        {"span", span_burst, span_singles},
        {"async.begin", async_begin_burst, async_begin_singles},
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
