// Whether another thread of this process is waiting for the calling thread to end.
//
// A sender may wait for room in a queue while the thread that drains it is in pthread_join for the sender. It
// would wait for ever. The kernel shows this. The other thread is in futex(2), and the word that it waits for
// lies in the C library's description of the calling thread. (glibc and musl. Elsewhere the answer is "no",
// and the connection's longest wait ends it.)
#pragma once

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace silverpoint::signaling {

inline pid_t kernel_thread_id() { return static_cast<pid_t>(syscall(SYS_gettid)); }

/// Costs three system calls.
[[gnu::noinline, gnu::cold]] inline bool joins_this_thread(pid_t thread) {
    char path[48];
    std::snprintf(path, sizeof path, "/proc/self/task/%d/syscall", static_cast<int>(thread));
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    char text[128];
    const ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    if (size <= 0) return false;
    text[size] = 0;
    // "202 0x7f…": the number of the system call and its first argument; "running" of a thread that runs.
    char* rest = nullptr;
    const long number = std::strtol(text, &rest, 10);
    if (rest == text || number != SYS_futex) return false;
    const std::uintptr_t word = static_cast<std::uintptr_t>(std::strtoull(rest, nullptr, 16));
    // The size of the description is internal to the C library; glibc's has some 2,300 bytes, musl's 200.
    constexpr std::uintptr_t most = 4096;
    const std::uintptr_t mine = static_cast<std::uintptr_t>(pthread_self());
    return word - mine < most;
}

}  // namespace silverpoint::signaling
