/* The driver of the C frontend: the same tracepoints as of the C++ driver, as far as C has their arguments.
 */
#include <silverpoint/silverpoint.h>
#include <stdint.h>

#include "../harness/harness.h"

SP_CATEGORY("bench");

static const char path[] = "/var/lib/silverpoint/data/frame.000"; /* 35 bytes */
static const char* volatile path_of_run = path;

/* `index` (i32), `fraction` (f64) and `id` (u64) are in scope of the tracepoint. */
#define CASE(function, ...)                                                                 \
    __attribute__((noinline)) static void function##_burst(uint64_t n, uint64_t first_id) { \
        const char* text = path_of_run;                                                     \
        double fraction = 0.125;                                                            \
        int32_t index = 0;                                                                  \
        for (uint64_t id = first_id; id != first_id + n; ++id, ++index, fraction += 1.0) {  \
            __VA_ARGS__;                                                                    \
        }                                                                                   \
        (void)index, (void)fraction, (void)text;                                            \
    }                                                                                       \
    __attribute__((noinline)) static void function##_singles(uint64_t n, uint64_t first_id, \
                                                             uint32_t* elapsed_ticks) {     \
        const char* text = path_of_run;                                                     \
        double fraction = 0.125;                                                            \
        int32_t index = 0;                                                                  \
        for (uint64_t id = first_id; id != first_id + n; ++id, ++index, fraction += 1.0) {  \
            const uint64_t before = bench_ticks();                                          \
            __VA_ARGS__;                                                                    \
            *elapsed_ticks++ = (uint32_t)(bench_ticks() - before);                          \
        }                                                                                   \
        (void)index, (void)fraction, (void)text;                                            \
    }

CASE(literal, SP_INFO("bench literal"))
CASE(three, SP_INFO("bench three %d %g %lu", index, fraction, id))
CASE(text, SP_INFO("bench text %lu %g %s", id, fraction, text))

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
LOOP(disabled, SP_TRACE("bench disabled %lu %s", id, path))

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
