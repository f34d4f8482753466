// The system's clocks, on Linux.
#pragma once

#include <time.h>

#include "../../detail/config.hpp"

SP_DETAIL_BEGIN

// (Within its callers, which are cold: a call of its own would take as long as what it does.)
SP_DETAIL_INLINE std::uint64_t clock_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

// Nanoseconds of a clock that nobody sets.
inline std::uint64_t monotonic_now() { return clock_ns(CLOCK_MONOTONIC); }
// The same to some milliseconds, in less time.
inline std::uint64_t monotonic_now_coarse() { return clock_ns(CLOCK_MONOTONIC_COARSE); }
// Nanoseconds since 1970-01-01T00:00Z.
inline std::uint64_t wall_now() { return clock_ns(CLOCK_REALTIME); }

SP_DETAIL_COLD void sleep_ns(std::uint64_t ns) {
    timespec pause{};
    pause.tv_sec = static_cast<time_t>(ns / 1'000'000'000u);
    pause.tv_nsec = static_cast<long>(ns % 1'000'000'000u);
    nanosleep(&pause, nullptr);
}

// Ticks a second of a counter where the processor does not tell; 0: two anchors give it.
template <class Counter>
std::uint64_t measured_rate(Counter&&) {
    return 0;
}

SP_DETAIL_END
