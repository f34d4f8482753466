// Waiting for a word in shared memory to change, and waking who waits, on Linux: futexes.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "../../detail/config.hpp"

SP_DETAIL_BEGIN

inline void wake_waiters(std::atomic<std::uint32_t>* word) {
    syscall(SYS_futex, word, FUTEX_WAKE, 1 << 30, nullptr, nullptr, 0);
}

// Returns when the word does not have this value, at a wake-up, or after the time; also without a reason.
SP_DETAIL_COLD void wait_for_change(std::atomic<std::uint32_t>* word, std::uint32_t value, std::uint64_t ns) {
    timespec timeout{};
    timeout.tv_sec = static_cast<time_t>(ns / 1'000'000'000u);
    timeout.tv_nsec = static_cast<long>(ns % 1'000'000'000u);
    syscall(SYS_futex, word, FUTEX_WAIT, value, &timeout, nullptr, 0);
}

SP_DETAIL_END
