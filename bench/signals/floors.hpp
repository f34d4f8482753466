// What the machine itself takes for the steps that signals are made of: nothing that goes to another thread
// can be quicker than these.
#pragma once

#include <linux/membarrier.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace floors {

using Clock = std::chrono::steady_clock;

inline double since(Clock::time_point begin) {
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

inline double middle(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

/// A ring between one writer and one reader, and nothing else. Each has a copy of the other's position, and
/// reads the real one only when the copy says full, or empty. Neither ever sleeps.
class Ring {
  public:
    static constexpr std::size_t size = 65536;

    void push(unsigned value) {
        const std::size_t at = tail_.load(std::memory_order_relaxed);
        while (at - known_head_ == size) known_head_ = head_.load(std::memory_order_acquire);
        events_[at % size] = value;
        tail_.store(at + 1, std::memory_order_release);
    }
    unsigned take() {
        const std::size_t at = head_.load(std::memory_order_relaxed);
        while (at == known_tail_) known_tail_ = tail_.load(std::memory_order_acquire);
        const unsigned value = events_[at % size];
        head_.store(at + 1, std::memory_order_release);
        return value;
    }

  private:
    alignas(64) std::atomic<std::size_t> tail_{0};
    std::size_t known_head_ = 0;
    alignas(64) std::atomic<std::size_t> head_{0};
    std::size_t known_tail_ = 0;
    alignas(64) const std::unique_ptr<unsigned[]> events_{new unsigned[size]()};
};

/// A line of memory from the cache of one core into that of another: half of a journey there and back.
inline double line_transfer(unsigned count) {
    alignas(64) std::atomic<unsigned> ball{0};
    std::thread other([&] {
        for (unsigned i = 0; i < count; ++i) {
            while (ball.load(std::memory_order_acquire) != 2 * i + 1) {
            }
            ball.store(2 * i + 2, std::memory_order_release);
        }
    });
    std::vector<double> times;
    constexpr unsigned batch = 1000;
    for (unsigned i = 0; i < count;) {
        const auto begin = Clock::now();
        const unsigned end = std::min(count, i + batch), first = i;
        for (; i < end; ++i) {
            ball.store(2 * i + 1, std::memory_order_release);
            while (ball.load(std::memory_order_acquire) != 2 * i + 2) {
            }
        }
        times.push_back(since(begin) / (2.0 * (end - first)));
    }
    other.join();
    return middle(times);
}

/// The barrier that another thread's emissions are spared, while that thread runs; negative: refused.
inline double barrier(unsigned count) {
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0) return -1;
    std::atomic<bool> over{false};
    std::thread other([&] {
        while (!over.load(std::memory_order_relaxed)) {
        }
    });
    std::vector<double> times;
    for (unsigned i = 0; i < count; ++i) {
        const auto begin = Clock::now();
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
        times.push_back(since(begin));
    }
    over.store(true);
    other.join();
    return middle(times);
}

/// Waking a thread that sleeps at an eventfd: what it costs the one that wakes, and until the other one runs.
struct WakeUp {
    double call, until_it_runs;
};
inline WakeUp wake_up(unsigned count) {
    const int bell = eventfd(0, EFD_CLOEXEC);
    std::atomic<std::int64_t> woke{0};
    std::thread other([&] {
        for (unsigned i = 0; i < count; ++i) {
            pollfd one{bell, POLLIN, 0};
            poll(&one, 1, -1);
            woke.store(Clock::now().time_since_epoch().count(), std::memory_order_release);
            std::uint64_t rung;
            [[maybe_unused]] const ssize_t got = read(bell, &rung, sizeof rung);
        }
    });
    std::vector<double> calls, runs;
    for (unsigned i = 0; i < count; ++i) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));  // by now it sleeps
        woke.store(0);
        const std::uint64_t one = 1;
        const auto begin = Clock::now();
        [[maybe_unused]] const ssize_t written = write(bell, &one, sizeof one);
        calls.push_back(since(begin));
        std::int64_t at;
        while ((at = woke.load(std::memory_order_acquire)) == 0) {
        }
        runs.push_back(static_cast<double>(at - begin.time_since_epoch().count()));
    }
    other.join();
    close(bell);
    return {middle(calls), middle(runs)};
}

}  // namespace floors
