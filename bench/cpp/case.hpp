// What drivers time: a case of a tracepoint, as two loops, with and without the counter read around each
// call; and a loop alone.
#ifndef SILVERPOINT_BENCH_CASE_HPP
#define SILVERPOINT_BENCH_CASE_HPP
#include <cstdint>

#include "../harness/harness.h"

// `index` (i32), `fraction` (f64) and `id` (u64) are in scope of the tracepoint.
#define CASE(function, ...)                                                                     \
    [[gnu::noinline]] static void function##_burst(std::uint64_t n, std::uint64_t first_id) {   \
        double fraction = 0.125;                                                                \
        std::int32_t index = 0;                                                                 \
        for (std::uint64_t id = first_id; id != first_id + n; ++id, ++index, fraction += 1.0) { \
            __VA_ARGS__;                                                                        \
        }                                                                                       \
        (void)index, (void)fraction;                                                            \
    }                                                                                           \
    [[gnu::noinline]] static void function##_singles(std::uint64_t n, std::uint64_t first_id,   \
                                                     std::uint32_t* elapsed_ticks) {            \
        double fraction = 0.125;                                                                \
        std::int32_t index = 0;                                                                 \
        for (std::uint64_t id = first_id; id != first_id + n; ++id, ++index, fraction += 1.0) { \
            const std::uint64_t before = bench_ticks();                                         \
            __VA_ARGS__;                                                                        \
            *elapsed_ticks++ = static_cast<std::uint32_t>(bench_ticks() - before);              \
        }                                                                                       \
        (void)index, (void)fraction;                                                            \
    }

// A loop that is timed as a whole. The clobber keeps the compiler from dropping one with nothing in it, and
// stands in all.
#define LOOP(function, ...)                                                           \
    [[gnu::noinline]] static void function(std::uint64_t n, std::uint64_t first_id) { \
        for (std::uint64_t id = first_id; id != first_id + n; ++id) {                 \
            __asm__ volatile("" : : "r"(id) : "memory");                              \
            __VA_ARGS__;                                                              \
        }                                                                             \
    }

#endif
