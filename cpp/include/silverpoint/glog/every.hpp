// Limits of one place: every n-th time, the first n times, at most once in so many seconds.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace google::glog_internal_namespace_ {

// Each passes() gives the number of times that the place was come by, or 0: nothing is logged.
struct EveryN {
    std::atomic<int> times{0}, within{0};
    int passes(int n) {
        const int count = ++times;
        if (++within > n) within -= n;
        return within == 1 ? count : 0;
    }
};

struct IfEveryN {
    std::atomic<int> times{0}, within{0};
    int passes(bool condition, int n) {
        const int count = ++times;
        if (!condition) return 0;
        within = (within + 1) % n;
        return within == 1 % n ? count : 0;
    }
};

struct FirstN {
    std::atomic<int> times{0};
    int passes(int n) {
        if (times <= n) ++times;
        const int count = times;
        return count <= n ? count : 0;
    }
};

struct EveryT {
    std::atomic<std::int64_t> last{0};
    int passes(double seconds) {
        using namespace std::chrono;
        const std::int64_t now = duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
        const auto least = duration_cast<nanoseconds>(duration<double>(seconds)).count();
        if (now - last.load(std::memory_order_relaxed) <= least) return 0;
        last.store(now, std::memory_order_relaxed);
        return 1;
    }
};

}  // namespace google::glog_internal_namespace_
