// Threads of this process, on Linux, and what a system call by us may not change in them.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../errno_guard.hpp"

SP_DETAIL_BEGIN

// While this exists, system calls do not affect the program. errno is restored afterwards, and a thread that
// was cancelled (pthread_cancel) ends at a later point, not with our work half done.
class SystemGuard {
  public:
    SystemGuard() : saved_(errno) {
#if !defined(__ANDROID__)  // which cancels no threads
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state_);
#endif
    }
    ~SystemGuard() {
#if !defined(__ANDROID__)
        pthread_setcancelstate(state_, nullptr);
#endif
        errno = saved_;
    }
    SystemGuard(const SystemGuard&) = delete;
    SystemGuard& operator=(const SystemGuard&) = delete;

  private:
    int saved_;
    [[maybe_unused]] int state_ = 0;
};

inline std::uint32_t thread_id() { return static_cast<std::uint32_t>(syscall(SYS_gettid)); }

// Whether a thread has ended. A reused id counts as living, in any process. Checking for this process alone
// needs the process's id, which is another system call each time.
SP_DETAIL_COLD bool is_thread_dead(std::uint32_t tid) {
    const ErrnoGuard guard;
    return syscall(SYS_tkill, tid, 0) != 0 && errno == ESRCH;
}

// The name of this thread, of up to 15 bytes, the rest zero.
inline void name_of_thread(char (&name)[16]) { syscall(SYS_prctl, PR_GET_NAME, name, 0, 0, 0); }

// Whether this code runs on a stack of a signal handler: its addresses say nothing about who called whom.
SP_DETAIL_COLD bool is_on_handler_stack() {
    stack_t own{};
    return sigaltstack(nullptr, &own) != 0 || (own.ss_flags & SS_ONSTACK) != 0;
}

SP_DETAIL_END

// Of a thread's own variables. Initial-exec: one load, also in a shared object (from the surplus of the
// static TLS).
#define SP_DETAIL_THREAD_MODEL __attribute__((tls_model("initial-exec")))
