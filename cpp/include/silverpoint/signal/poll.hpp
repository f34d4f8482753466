// An inbox for a loop of poll, epoll or io_uring: a descriptor that is readable while something waits.
//
//   silverpoint::poll_inbox inbox;
//   auto connection = sensor.connect_queued(inbox, [](double value) { … });
//   pollfd wait[] = {{inbox.fd(), POLLIN, 0}, …};
//   while (poll(wait, …) >= 0) { if (wait[0].revents) inbox.drain(); … }
#pragma once

#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <system_error>

#include "inbox.hpp"

namespace silverpoint {

namespace signaling {

class event_fd {
  public:
    event_fd() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (fd_ >= 0) return;
#if defined(__cpp_exceptions)
        throw std::system_error(errno, std::generic_category(), "silverpoint: eventfd");
#else
        abort();
#endif
    }
    ~event_fd() { close(fd_); }
    event_fd(const event_fd&) = delete;
    event_fd& operator=(const event_fd&) = delete;

    int fd() const { return fd_; }
    void ring() const {
        const std::uint64_t one = 1;
        // Fails only when the counter is full, and then it is readable.
        [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof one);
    }
    void reset() const {
        std::uint64_t count;
        [[maybe_unused]] const ssize_t got = read(fd_, &count, sizeof count);
    }

  private:
    int fd_;
};

}  // namespace signaling

/// An inbox with a descriptor (an eventfd, closed on exec). Throws std::system_error when there is none to be
/// had; without exceptions it ends the program.
class poll_inbox : private signaling::event_fd, public inbox {
  public:
    poll_inbox() : inbox([this] { ring(); }, [this] { reset(); }) {}

    /// Readable while something waits, and once more behind what queues have delivered; to be waited for
    /// only: `drain` resets it.
    using event_fd::fd;

    /// Waits until something has come, at most for so many milliseconds (negative: for ever), and drains; for
    /// threads that have no loop of their own. A signal handler ends the wait, unless it is for ever: 0.
    std::size_t wait_and_drain(int milliseconds = -1) {
        using clock = std::chrono::steady_clock;
        const clock::time_point end = clock::now() + std::chrono::milliseconds(std::max(milliseconds, 0));
        pollfd one{fd(), POLLIN, 0};
        for (int left = milliseconds;;) {
            const int ready = poll(&one, 1, left);
            if (ready == 0 || (ready < 0 && (errno != EINTR || milliseconds >= 0))) return 0;
            // The turn behind a batch finds nothing: what one waits for is yet to come.
            if (ready > 0)
                if (const std::size_t calls = drain(); calls > 0) return calls;
            if (milliseconds >= 0)
                left = static_cast<int>(std::max<std::int64_t>(
                    0, std::chrono::ceil<std::chrono::milliseconds>(end - clock::now()).count()));
        }
    }
};

}  // namespace silverpoint
