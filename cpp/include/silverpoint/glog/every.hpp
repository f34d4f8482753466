// Limits of one place: every n-th time, the first n times, at most once in so many seconds.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace google::glog_internal_namespace_ {

// Each passes() returns the number of executions of the place so far, or 0: nothing is logged. Threads that
// execute it at once are counted one by one. In glog each may take the other's turn, and nothing is logged.
struct EveryN {
    std::atomic<int> times{0}, within{0};
    int passes(int n) {
        const int count = ++times;
        int before = within.load(std::memory_order_relaxed), now;
        do {
            now = before >= n ? before - n + 1 : before + 1;
        } while (!within.compare_exchange_weak(before, now, std::memory_order_relaxed));
        return now == 1 ? count : 0;
    }
};

struct IfEveryN {
    std::atomic<int> times{0}, within{0};
    int passes(bool condition, int n) {
        const int count = ++times;
        if (!condition) return 0;
        int before = within.load(std::memory_order_relaxed), now;
        do {
            now = (before + 1) % n;
        } while (!within.compare_exchange_weak(before, now, std::memory_order_relaxed));
        return now == 1 % n ? count : 0;
    }
};

struct FirstN {
    std::atomic<int> times{0};
    int passes(int n) {
        // Counting stops: the number would overflow.
        if (times.load(std::memory_order_relaxed) > n) return 0;
        const int count = ++times;
        return count <= n ? count : 0;
    }
};

struct EveryT {
    std::atomic<std::int64_t> last{0};
    int passes(double seconds) {
        using namespace std::chrono;
        const std::int64_t now = duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
        const auto least = duration_cast<nanoseconds>(duration<double>(seconds)).count();
        std::int64_t before = last.load(std::memory_order_relaxed);
        if (now - before <= least) return 0;
        // Another thread logs within the same moment.
        return last.compare_exchange_strong(before, now, std::memory_order_relaxed) ? 1 : 0;
    }
};

}  // namespace google::glog_internal_namespace_
