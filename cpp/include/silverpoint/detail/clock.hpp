// Ticks: what the hot path reads.
#pragma once

#include "../platform/compiler.h"
#if defined(__x86_64__) && SP_DETAIL_IS_GNU
#    include <cpuid.h>
#endif

#include "sys.hpp"

SP_DETAIL_BEGIN

inline constexpr std::uint32_t kTsc = 1, kCntvct = 2, kMonotonic = 3;

// The hardware's counter.
SP_DETAIL_HOT std::uint64_t counter() {
#if defined(SILVERPOINT_TEST_TICKS)
    return SILVERPOINT_TEST_TICKS;
#elif SP_DETAIL_IS_X64
    return SP_DETAIL_RDTSC();
#elif defined(__aarch64__)
    std::uint64_t ticks;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return monotonic_now();
#endif
}

// The best source of this machine. Without an invariant TSC every record takes the cold path and reads the
// system's clock.
inline std::uint32_t clock_source() {
#if SP_DETAIL_IS_X64
    unsigned a = 0, b = 0, c = 0, d = 0;
    const bool invariant = SP_DETAIL_CPUID(0x80000007u, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
    return invariant ? kTsc : kMonotonic;
#elif defined(__aarch64__)
    return kCntvct;
#else
    return kMonotonic;
#endif
}

inline std::uint64_t ticks_per_second(std::uint32_t source) {
    if (source == kMonotonic) return 1'000'000'000u;
#if SP_DETAIL_IS_X64
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (SP_DETAIL_CPUID(0x15, &a, &b, &c, &d) != 0 && a != 0 && b != 0 && c != 0)
        return static_cast<std::uint64_t>(c) * b / a;
#elif defined(__aarch64__)
    std::uint64_t frequency;
    asm volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
    return frequency;
#endif
    return measured_rate([] { return counter(); });
}

// One reading of the three clocks.
struct Anchor {
    std::uint64_t ticks = 0, monotonic_ns = 0, wall_ns = 0;
};

// Reads them: the tightest of a few readings. The first finds its code and data in no cache, and each may be
// interrupted: such a reading is wrong by a microsecond or more. The other clocks are read around the
// monotonic one, so that their middle is its instant.
template <class Clocks>
SP_DETAIL_COLD Anchor read_anchor(Clocks& clocks) {
    Anchor best;
    std::uint64_t least = ~std::uint64_t{0};
    for (int reading = 0; reading < 4; ++reading) {
        const std::uint64_t wall = clocks.wall_ns(), ticks = clocks.ticks(),
                            monotonic = clocks.monotonic_ns();
        const std::uint64_t passed = clocks.ticks() - ticks, width = clocks.wall_ns() - wall;
        // (If the wall clock was set in the middle, the width is huge, or wraps around.)
        if (width >= least && reading != 0) continue;
        least = width;
        best = {ticks + passed / 2, monotonic, wall + (width < 1'000'000'000u ? width / 2 : 0)};
    }
    return best;
}

SP_DETAIL_END
