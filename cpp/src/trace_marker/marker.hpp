// The kernel's trace_marker, or what SILVERPOINT_ATRACE_MARKER names instead, as for ATrace.
#pragma once

#include <sys/vfs.h>

#include <atomic>
#include <silverpoint/detail/sys.hpp>
#include <silverpoint/platform/linux/write_without_signal.hpp>
#include <string_view>

namespace silverpoint::trace_marker {

using namespace detail;

inline constexpr const char* kPaths[] = {"/sys/kernel/tracing/trace_marker",
                                         "/sys/kernel/debug/tracing/trace_marker"};
// Type of the kernel's file system.
inline constexpr std::uint32_t kTracefs = 0x74726163;

// The program may close the descriptor, and open a file of its own under the number.
inline std::atomic<int> descriptor{-1};
inline dev_t device;
inline ino_t inode;
inline const char* path = kPaths[0];
// It is a file or a pipe: each message ends with a newline.
inline bool is_file = false;

inline bool is_ours(int of) {
    struct stat found;
    return of >= 0 && fstat(of, &found) == 0 && found.st_dev == device && found.st_ino == inode;
}
inline bool is_lost() { return !is_ours(descriptor.load(std::memory_order_acquire)); }

inline bool open_at(const char* at) {
    const int opened = ::open(at, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_APPEND | O_NONBLOCK);
    struct stat found;
    if (opened < 0) return false;
    if (fstat(opened, &found) != 0) {
        close(opened);
        return false;
    }
    struct statfs system;
    is_file = fstatfs(opened, &system) == 0 && static_cast<std::uint32_t>(system.f_type) != kTracefs;
    path = at;
    device = found.st_dev;
    inode = found.st_ino;
    descriptor.store(opened, std::memory_order_release);
    return true;
}
// 0, or the error of the system.
inline int open() {
    const char* const named = environment("SILVERPOINT_ATRACE_MARKER");
    if (named != nullptr && *named != 0) {
        path = named;
        return open_at(named) ? 0 : errno;
    }
    int error = ENOENT;
    for (const char* at : kPaths) {
        if (open_at(at)) return 0;
        // Of two reasons the one that says more.
        if (errno != ENOENT && error == ENOENT) error = errno;
    }
    return error;
}

// One write(2). What the kernel does not take is gone: while it does not trace, it refuses all. False: the
// program has closed the file.
inline bool write(std::string_view text) {
    const int to = descriptor.load(std::memory_order_acquire);
    if (!is_ours(to)) return false;
    if (is_file)
        write_without_signal(to, text);
    else [[maybe_unused]]
        const ssize_t written = ::write(to, text.data(), text.size());
    return true;
}

}  // namespace silverpoint::trace_marker
