// user_events of the kernel (Linux 6.4 or later; linux/user_events.h).
#pragma once

#include <sys/ioctl.h>

#include <atomic>
#include <silverpoint/detail/sys.hpp>

#include "backend.hpp"

namespace silverpoint::user_events::kernel {

using namespace detail;

struct [[gnu::packed]] Registration {
    std::uint32_t size = sizeof(Registration);
    std::uint8_t enable_bit = 0, enable_size = sizeof(int);
    std::uint16_t flags = 0;
    std::uint64_t enable_address = 0, declaration = 0;
    std::uint32_t write_index = 0;
};
static_assert(sizeof(Registration) == 28);
inline constexpr unsigned long kRegister = _IOWR('*', 0, Registration*);  // DIAG_IOCSREG

inline constexpr const char* kPaths[] = {"/sys/kernel/tracing/user_events_data",
                                         "/sys/kernel/debug/tracing/user_events_data"};

struct [[gnu::packed]] Removal {
    std::uint32_t size = sizeof(Removal);
    std::uint8_t enable_bit = 0, reserved[3] = {};
    std::uint64_t enable_address = 0;
};
static_assert(sizeof(Removal) == 16);
inline constexpr unsigned long kUnregister = _IOW('*', 2, Removal*);  // DIAG_IOCSUNREG

// What was opened last, for the registrar; and what events are written to. The program may close it, and open
// a file of its own under the number.
inline int opened = -1;
inline std::atomic<int> descriptor{-1};
inline dev_t device;
inline ino_t inode;

inline bool is_ours(int of) {
    struct stat found;
    return of >= 0 && fstat(of, &found) == 0 && found.st_dev == device && found.st_ino == inode;
}
inline bool is_lost() { return !is_ours(descriptor.load(std::memory_order_acquire)); }

inline int open() {
    // Nothing is written until all tracepoints are known to the new file: it may have the old one's number.
    descriptor.store(-1, std::memory_order_release);
    int error = ENOENT;
    for (const char* path : kPaths) {
        const int at = ::open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
        struct stat found;
        if (at >= 0 && fstat(at, &found) == 0) {
            opened = at;
            device = found.st_dev;
            inode = found.st_ino;
            return 0;
        }
        // Of two reasons the one that says more.
        if (errno != ENOENT && error == ENOENT) error = errno;
    }
    return error;
}
inline void publish() { descriptor.store(opened, std::memory_order_release); }

inline int add(const char* declaration, int* enabled, std::uint32_t* index) {
    if (!is_ours(opened)) return EBADF;
    Registration registration;
    registration.enable_address = reinterpret_cast<std::uintptr_t>(enabled);
    registration.declaration = reinterpret_cast<std::uintptr_t>(declaration);
    int result = ioctl(opened, kRegister, &registration);
    if (result < 0 && errno == EADDRINUSE) {
        // A registration outlives its file: it is the process's.
        Removal removal;
        removal.enable_address = registration.enable_address;
        if (ioctl(opened, kUnregister, &removal) == 0) result = ioctl(opened, kRegister, &registration);
    }
    if (result < 0) return errno;
    __atomic_store_n(index, registration.write_index, __ATOMIC_RELAXED);
    return 0;
}

// The kernel answers EBADF when the tracepoint is off again: the event is not wanted.
inline bool write(std::uint32_t index, iovec* parts, int count) {
    const int to = descriptor.load(std::memory_order_acquire);
    if (!is_ours(to)) return false;
    parts[0] = {&index, sizeof index};
    [[maybe_unused]] const auto written = writev(to, parts, count);
    return true;
}

// perf takes 8 KiB with 8 bytes of its own, and the kernel warns of more.
inline constexpr std::size_t kMost = 8192 - 8;

inline constexpr Backend backend{open, publish, is_lost, add, write, kPaths[0], kMost};

}  // namespace silverpoint::user_events::kernel
