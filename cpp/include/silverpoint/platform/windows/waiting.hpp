// Waiting for a word in shared memory to change, on Windows. Its own function for that (WaitOnAddress) knows
// no other process. So a thread that waits looks once a millisecond or so, and waking it is not necessary.
#pragma once

#include <atomic>

#include "clock.hpp"

SP_DETAIL_BEGIN

inline void wake_waiters(std::atomic<std::uint32_t>*) {}

// Returns when the word does not have this value, or after the time.
SP_DETAIL_COLD void wait_for_change(std::atomic<std::uint32_t>* word, std::uint32_t value, std::uint64_t ns) {
    const std::uint64_t begin = monotonic_now();
    while (word->load(std::memory_order_acquire) == value && monotonic_now() - begin < ns) Sleep(1);
}

SP_DETAIL_END
