// The system's clocks, on Windows.
#pragma once

#include "api.hpp"

SP_DETAIL_BEGIN

// Nanoseconds of a clock that nobody sets.
SP_DETAIL_COLD std::uint64_t monotonic_now() {
    std::uint64_t frequency = 0, count = 0;
    QueryPerformanceFrequency(reinterpret_cast<union _LARGE_INTEGER*>(&frequency));
    QueryPerformanceCounter(reinterpret_cast<union _LARGE_INTEGER*>(&count));
    constexpr std::uint64_t kSecond = 1'000'000'000u;
    if (frequency == 0) return 0;
    return count / frequency * kSecond + count % frequency * kSecond / frequency;
}
// The same: the clocks of Windows that take less time begin elsewhere.
inline std::uint64_t monotonic_now_coarse() { return monotonic_now(); }
// Nanoseconds since 1970-01-01T00:00Z.
inline std::uint64_t wall_now() {
    std::uint64_t time = 0;
    GetSystemTimePreciseAsFileTime(reinterpret_cast<struct _FILETIME*>(&time));
    return ns_since_1970(time);
}

// To a millisecond or more.
SP_DETAIL_COLD void sleep_ns(std::uint64_t ns) {
    const std::uint64_t ms = (ns + 999'999u) / 1'000'000u;
    Sleep(ms < 0xFFFF'FFFEu ? static_cast<unsigned long>(ms) : 0xFFFF'FFFEu);
}

// A counter and the clock at one instant: the tightest of a few readings, since a thread may be interrupted
// in between.
struct CounterReading {
    std::uint64_t ns = 0, ticks = 0, width = ~std::uint64_t{0};
};
template <class Counter>
SP_DETAIL_COLD CounterReading read_counter(Counter&& counter) {
    CounterReading best;
    for (int reading = 0; reading < 8; ++reading) {
        const std::uint64_t before = counter(), ns = monotonic_now(), width = counter() - before;
        if (width < best.width) best = {ns, before + width / 2, width};
    }
    return best;
}

// Ticks a second of a counter, to a part in a thousand, where the processor does not tell. A collector adds
// anchors of its own while the program lives, if it runs on Windows, too. So without this the times of a
// program that was killed in its first second would be unknown.
template <class Counter>
SP_DETAIL_COLD std::uint64_t measured_rate(Counter&& counter) {
    constexpr std::uint64_t kLeast = 500'000, kMost = 20'000'000;
    const CounterReading first = read_counter(counter);
    for (;;) {
        const CounterReading last = read_counter(counter);
        const std::uint64_t ns = last.ns - first.ns, ticks = last.ticks - first.ticks;
        const bool is_exact = (first.width + last.width) * 1000 < ticks;
        if (ns < kLeast || (!is_exact && ns < kMost)) continue;
        // (In doubles: a thread that had to wait for minutes would overflow 64 bits.)
        return static_cast<std::uint64_t>(static_cast<double>(ticks) * 1e9 / static_cast<double>(ns));
    }
}

SP_DETAIL_END
