// Writes to what may be a pipe without a reader.
#pragma once

#include <signal.h>

#include <string_view>

#include "../../detail/sys.hpp"

SP_DETAIL_BEGIN

// One write(2). Into a pipe without a reader it fails, instead of ending the program by SIGPIPE. False: the
// descriptor is closed.
SP_DETAIL_COLD bool write_without_signal(int descriptor, std::string_view text) {
    sigset_t pipe, before, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    if (pthread_sigmask(SIG_BLOCK, &pipe, &before) != 0) return true;
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    const bool is_open = written >= 0 || errno != EBADF;
    // The signal of this write is removed; one that was pending before belongs to the program.
    if (written < 0 && errno == EPIPE && !was_pending) {
        const timespec at_once{};
        while (sigtimedwait(&pipe, nullptr, &at_once) < 0 && errno == EINTR) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return is_open;
}

SP_DETAIL_END
