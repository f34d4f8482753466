// Limits on how often one place of the source records: every N-th time, once in a while, the first N times.
//
//     SP_INFO_EVERY_N(100, "{} done", n);            the 1st, 101st, 201st … time that it is on
//     SP_INFO_EVERY_N(100) << n << "done";           the same for a stream
//     SP_INFO_EVERY(500, …)  SP_INFO_EVERY(1s, …)    at most once in so many milliseconds, or that duration
//     SP_INFO_FIRST_N(3, …)  SP_INFO_ONCE(…)         no more than that
//     SP_INFO_IF(cond, …)                            when cond is true
//
// A limit counts for the whole process, over all threads, for one place and template instantiation. Only
// executions while the site is on count. While it is off nothing is evaluated, not even the limit. Arguments
// are evaluated only when a record is made. No lock: a limit may stand in a signal handler.
#pragma once

#include "front.hpp"

SP_DETAIL_BEGIN

// Each lies in constant-initialised memory of its place.
class EveryN {
  public:
    bool passes(std::uint64_t n) {
        return times_.fetch_add(1, std::memory_order_relaxed) % (n == 0 ? 1 : n) == 0;
    }

  private:
    std::atomic<std::uint64_t> times_{0};
};

class FirstN {
  public:
    // Once used up it is only read: threads then share the line.
    bool passes(std::uint64_t n) {
        return times_.load(std::memory_order_relaxed) < n &&
               times_.fetch_add(1, std::memory_order_relaxed) < n;
    }

  private:
    std::atomic<std::uint64_t> times_{0};
};

class EveryWhile {
  public:
    // Whole numbers are milliseconds. If several threads arrive when it is time, one passes.
    template <class T>
    bool passes(T least) {
        static_assert(std::integral<T> || DurationLike<T>,
                      "silverpoint: expected a duration, or a whole number of milliseconds");
        std::int64_t ns = 0;
        if constexpr (DurationLike<T>) {
            ns = nanoseconds_of(least);
        } else {
            constexpr std::int64_t kMost = 9'000'000'000'000;
            ns = (static_cast<std::int64_t>(least) > kMost ? kMost : static_cast<std::int64_t>(least)) *
                 1'000'000;
        }
        const auto now = static_cast<std::int64_t>(monotonic_now());
        std::int64_t last = last_.load(std::memory_order_relaxed);
        return (last == 0 || now - last >= ns) &&
               last_.compare_exchange_strong(last, now, std::memory_order_relaxed);
    }

  private:
    std::atomic<std::int64_t> last_{0};  // 0: never
};

class When {
  public:
    constexpr bool passes(bool condition) const { return condition; }
};

SP_DETAIL_END

// Whether the limit of this place lets this execution pass.
#define SP_DETAIL_PASSES(limit, value)                                        \
    ([]() -> ::silverpoint::detail::limit& {                                  \
        [[maybe_unused]] static constinit ::silverpoint::detail::limit place; \
        return place;                                                         \
    }()                                                                       \
                 .passes(value))

#define SP_DETAIL_LIMITED(level, limit, value, ...)                                 \
    SP_DETAIL_HERE(level)                                                           \
    for (void* sp_site_ = SP_DETAIL_ON(level, kStream, "", "");                     \
         sp_site_ != nullptr && SP_DETAIL_PASSES(limit, value); sp_site_ = nullptr) \
    SP_DETAIL_SINK(sp_site_, SP_DETAIL_CATEGORY) &                                  \
        SP_DETAIL_START(sp_site_).SP_DETAIL_TEXT __VA_OPT__((__VA_ARGS__))

#define SP_TRACE_EVERY_N(n, ...) SP_DETAIL_LIMITED(trace, EveryN, n __VA_OPT__(, ) __VA_ARGS__)
#define SP_DEBUG_EVERY_N(n, ...) SP_DETAIL_LIMITED(debug, EveryN, n __VA_OPT__(, ) __VA_ARGS__)
#define SP_INFO_EVERY_N(n, ...) SP_DETAIL_LIMITED(info, EveryN, n __VA_OPT__(, ) __VA_ARGS__)
#define SP_WARN_EVERY_N(n, ...) SP_DETAIL_LIMITED(warn, EveryN, n __VA_OPT__(, ) __VA_ARGS__)
#define SP_ERROR_EVERY_N(n, ...) SP_DETAIL_LIMITED(error, EveryN, n __VA_OPT__(, ) __VA_ARGS__)
#define SP_FATAL_EVERY_N(n, ...) SP_DETAIL_LIMITED(fatal, EveryN, n __VA_OPT__(, ) __VA_ARGS__)

#define SP_TRACE_EVERY(least, ...) SP_DETAIL_LIMITED(trace, EveryWhile, least __VA_OPT__(, ) __VA_ARGS__)
#define SP_DEBUG_EVERY(least, ...) SP_DETAIL_LIMITED(debug, EveryWhile, least __VA_OPT__(, ) __VA_ARGS__)
#define SP_INFO_EVERY(least, ...) SP_DETAIL_LIMITED(info, EveryWhile, least __VA_OPT__(, ) __VA_ARGS__)
#define SP_WARN_EVERY(least, ...) SP_DETAIL_LIMITED(warn, EveryWhile, least __VA_OPT__(, ) __VA_ARGS__)
#define SP_ERROR_EVERY(least, ...) SP_DETAIL_LIMITED(error, EveryWhile, least __VA_OPT__(, ) __VA_ARGS__)
#define SP_FATAL_EVERY(least, ...) SP_DETAIL_LIMITED(fatal, EveryWhile, least __VA_OPT__(, ) __VA_ARGS__)

#define SP_TRACE_FIRST_N(n, ...) SP_DETAIL_LIMITED(trace, FirstN, n __VA_OPT__(, ) __VA_ARGS__)
#define SP_DEBUG_FIRST_N(n, ...) SP_DETAIL_LIMITED(debug, FirstN, n __VA_OPT__(, ) __VA_ARGS__)
#define SP_INFO_FIRST_N(n, ...) SP_DETAIL_LIMITED(info, FirstN, n __VA_OPT__(, ) __VA_ARGS__)
#define SP_WARN_FIRST_N(n, ...) SP_DETAIL_LIMITED(warn, FirstN, n __VA_OPT__(, ) __VA_ARGS__)
#define SP_ERROR_FIRST_N(n, ...) SP_DETAIL_LIMITED(error, FirstN, n __VA_OPT__(, ) __VA_ARGS__)
#define SP_FATAL_FIRST_N(n, ...) SP_DETAIL_LIMITED(fatal, FirstN, n __VA_OPT__(, ) __VA_ARGS__)

#define SP_TRACE_ONCE(...) SP_TRACE_FIRST_N(1 __VA_OPT__(, ) __VA_ARGS__)
#define SP_DEBUG_ONCE(...) SP_DEBUG_FIRST_N(1 __VA_OPT__(, ) __VA_ARGS__)
#define SP_INFO_ONCE(...) SP_INFO_FIRST_N(1 __VA_OPT__(, ) __VA_ARGS__)
#define SP_WARN_ONCE(...) SP_WARN_FIRST_N(1 __VA_OPT__(, ) __VA_ARGS__)
#define SP_ERROR_ONCE(...) SP_ERROR_FIRST_N(1 __VA_OPT__(, ) __VA_ARGS__)
#define SP_FATAL_ONCE(...) SP_FATAL_FIRST_N(1 __VA_OPT__(, ) __VA_ARGS__)

#define SP_TRACE_IF(condition, ...) SP_DETAIL_LIMITED(trace, When, condition __VA_OPT__(, ) __VA_ARGS__)
#define SP_DEBUG_IF(condition, ...) SP_DETAIL_LIMITED(debug, When, condition __VA_OPT__(, ) __VA_ARGS__)
#define SP_INFO_IF(condition, ...) SP_DETAIL_LIMITED(info, When, condition __VA_OPT__(, ) __VA_ARGS__)
#define SP_WARN_IF(condition, ...) SP_DETAIL_LIMITED(warn, When, condition __VA_OPT__(, ) __VA_ARGS__)
#define SP_ERROR_IF(condition, ...) SP_DETAIL_LIMITED(error, When, condition __VA_OPT__(, ) __VA_ARGS__)
#define SP_FATAL_IF(condition, ...) SP_DETAIL_LIMITED(fatal, When, condition __VA_OPT__(, ) __VA_ARGS__)

#define SP_DETAIL_EVENT_LIMITED(limit, value, name, ...)                                       \
    do {                                                                                       \
        void* const sp_site_ = SP_DETAIL_ON(info, kEvent, #__VA_ARGS__, name);                 \
        if (sp_site_ != nullptr && SP_DETAIL_PASSES(limit, value))                             \
            SP_DETAIL_RECORD(sp_site_, kEvent, name, #__VA_ARGS__ __VA_OPT__(, ) __VA_ARGS__); \
    } while (false)

#define SP_EVENT_EVERY_N(n, name, ...) SP_DETAIL_EVENT_LIMITED(EveryN, n, name __VA_OPT__(, ) __VA_ARGS__)
#define SP_EVENT_EVERY(least, name, ...) \
    SP_DETAIL_EVENT_LIMITED(EveryWhile, least, name __VA_OPT__(, ) __VA_ARGS__)
#define SP_EVENT_FIRST_N(n, name, ...) SP_DETAIL_EVENT_LIMITED(FirstN, n, name __VA_OPT__(, ) __VA_ARGS__)
#define SP_EVENT_ONCE(name, ...) SP_EVENT_FIRST_N(1, name __VA_OPT__(, ) __VA_ARGS__)
#define SP_EVENT_IF(condition, name, ...) \
    SP_DETAIL_EVENT_LIMITED(When, condition, name __VA_OPT__(, ) __VA_ARGS__)
