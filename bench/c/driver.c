/* The driver of the C frontend: the same tracepoints as of the C++ driver, as far as C has their arguments.
 */
#include <silverpoint/silverpoint.h>
#include <stdint.h>

#include "../harness/harness.h"
#include "case.h"

SP_CATEGORY("bench");

CASE(literal, SP_INFO("bench literal"))
CASE(three, SP_INFO("bench three %d %g %lu", index, fraction, id))
CASE(text, SP_INFO("bench text %lu %g %s", id, fraction, path))

/* The same loop with nothing in it and with a tracepoint that is off (the runner's filter leaves trace out).
 * The clobber keeps the compiler from dropping the loop, and stands in both. */
#define LOOP(function, ...)                                                         \
    __attribute__((noinline)) static void function(uint64_t n, uint64_t first_id) { \
        for (uint64_t id = first_id; id != first_id + n; ++id) {                    \
            __asm__ volatile("" : : "r"(id) : "memory");                            \
            __VA_ARGS__;                                                            \
        }                                                                           \
    }
LOOP(empty, (void)0)
LOOP(disabled, SP_TRACE("bench disabled %lu %s", id, file_path))

/* Of the mode `switch`. */
__attribute__((noinline)) static int is_on(void) { return SP_ENABLED(trace); }
__attribute__((noinline)) static int switched(uint64_t id) {
    int evaluated = 0;
    SP_TRACE("bench switched %lu", (evaluated = 1, id));
    return evaluated;
}

int main(int argc, char** argv) {
    static const struct bench_case cases[] = {
        {"literal", literal_burst, literal_singles},
        {"three", three_burst, three_singles},
        {"text", text_burst, text_singles},
    };
    const struct bench_facility facility = {.name = "silverpoint-c",
                                            .cases = cases,
                                            .case_count = sizeof cases / sizeof cases[0],
                                            .empty = empty,
                                            .disabled = disabled,
                                            .prepare_thread = sp_prepare_thread,
                                            .observe = bench_observe_session,
                                            .is_on = is_on,
                                            .switched = switched};
    return bench_main(argc, argv, &facility);
}
