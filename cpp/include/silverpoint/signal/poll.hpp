// An inbox for a loop of poll, epoll or io_uring: a descriptor that is readable while something waits.
//
//     silverpoint::poll_inbox inbox;
//     auto connection = sensor.connect_queued(inbox, [](double value) { … });
//     pollfd wait[] = {{inbox.fd(), POLLIN, 0}, …};
//     while (poll(wait, …) >= 0) { if (wait[0].revents) inbox.drain(); … }
//
// `poll_inbox::timed(16ms)` is readable at most that often: for drawing, no matter how fast events come.
#pragma once

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>

#include <cerrno>
#include <system_error>

#include "inbox.hpp"

namespace silverpoint {

namespace signaling {

// With an interval a timer's descriptor, without one an event's. All but `fd` with the inbox's lock held.
class wake_fd {
  public:
    explicit wake_fd(std::chrono::nanoseconds interval)
        : interval_(std::min<std::chrono::nanoseconds>(interval, std::chrono::hours(876'000))),
          fd_(timed() ? timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)
                      : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (fd_ >= 0) return;
#if defined(__cpp_exceptions)
        throw std::system_error(errno, std::generic_category(),
                                timed() ? "silverpoint: timerfd_create" : "silverpoint: eventfd");
#else
        abort();
#endif
    }
    ~wake_fd() { close(fd_); }
    wake_fd(const wake_fd&) = delete;
    wake_fd& operator=(const wake_fd&) = delete;

    int fd() const { return fd_; }
    /// Becomes readable: now, or when an interval has passed since the last `reset`.
    void ring() {
        if (timed()) return set(due_);
        const std::uint64_t one = 1;
        // Fails only when the counter is full, and then it is readable.
        [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof one);
    }
    /// Not readable any more, until it is rung.
    void reset() {
        if (timed()) {
            timespec now;
            clock_gettime(CLOCK_MONOTONIC, &now);
            due_ = std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec) + interval_;
            return set({});
        }
        std::uint64_t count;
        [[maybe_unused]] const ssize_t got = read(fd_, &count, sizeof count);
    }

  private:
    bool timed() const { return interval_.count() > 0; }
    // To a time of CLOCK_MONOTONIC, which may have passed; zero: disarms it.
    void set(std::chrono::nanoseconds time) const {
        itimerspec at{};
        at.it_value.tv_sec = static_cast<time_t>(time.count() / 1'000'000'000);
        at.it_value.tv_nsec = static_cast<long>(time.count() % 1'000'000'000);
        timerfd_settime(fd_, TFD_TIMER_ABSTIME, &at, nullptr);
    }

    const std::chrono::nanoseconds interval_;
    std::chrono::nanoseconds due_{1};
    const int fd_;
};

}  // namespace signaling

/// An inbox with a descriptor (an eventfd or a timerfd, closed on exec). Throws std::system_error if there is
/// none; without exceptions it ends the program.
/// Thread-safe: as an inbox. Cost: a descriptor; to wake its thread, and to drain, a system call.
class poll_inbox : private signaling::wake_fd, public inbox {
  public:
    poll_inbox() : poll_inbox(std::chrono::nanoseconds(0)) {}
    /// Readable no earlier than `interval` (at most 100 years; 0: as without) after the last drain, and only
    /// if something waits. After a longer rest an event is received at once, faster ones once an interval,
    /// and an idle thread is not woken. The first event behind a drain arms the timer (a system call), the
    /// others do not. What a drain leaves (`drain_for`) also waits for the next interval.
    static poll_inbox timed(std::chrono::nanoseconds interval) { return poll_inbox(interval); }

    /// Readable while something waits, and once more behind what queues have delivered. Only wait for it:
    /// `drain` resets it.
    using wake_fd::fd;

    /// Waits until something has come, at most for so many milliseconds (negative: for ever), and drains. For
    /// threads without a loop of their own. A signal handler ends the wait, unless it is for ever: 0.
    std::size_t wait_and_drain(int milliseconds = -1) {
        using clock = std::chrono::steady_clock;
        const clock::time_point end = clock::now() + std::chrono::milliseconds(std::max(milliseconds, 0));
        pollfd one{fd(), POLLIN, 0};
        for (int left = milliseconds;;) {
            const int ready = poll(&one, 1, left);
            if (ready == 0 || (ready < 0 && (errno != EINTR || milliseconds >= 0))) return 0;
            // The turn behind a batch finds nothing: the expected events are still to come.
            if (ready > 0)
                if (const std::size_t calls = drain(); calls > 0) return calls;
            if (milliseconds >= 0)
                left = static_cast<int>(std::max<std::int64_t>(
                    0, std::chrono::ceil<std::chrono::milliseconds>(end - clock::now()).count()));
        }
    }

  private:
    explicit poll_inbox(std::chrono::nanoseconds interval)
        : wake_fd(interval), inbox([this] { ring(); }, [this] { reset(); }) {}
};

}  // namespace silverpoint
