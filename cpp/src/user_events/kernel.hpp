// user_events of the kernel (Linux 6.4 or later; linux/user_events.h).
#pragma once

#include <sys/ioctl.h>

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

inline int descriptor = -1;
// The program may close the descriptor, and open a file of its own under the number.
inline dev_t device;
inline ino_t inode;

inline bool is_ours() {
    struct stat found;
    return fstat(descriptor, &found) == 0 && found.st_dev == device && found.st_ino == inode;
}

inline int open() {
    int error = ENOENT;
    for (const char* path : kPaths) {
        const int opened = ::open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
        struct stat found;
        if (opened >= 0 && fstat(opened, &found) == 0) {
            descriptor = opened;
            device = found.st_dev;
            inode = found.st_ino;
            return 0;
        }
        // Of two reasons the one that says more.
        if (errno != ENOENT && error == ENOENT) error = errno;
    }
    return error;
}

inline int add(const char* declaration, int* enabled, std::uint32_t* index) {
    if (!is_ours()) return EBADF;
    Registration registration;
    registration.enable_address = reinterpret_cast<std::uintptr_t>(enabled);
    registration.declaration = reinterpret_cast<std::uintptr_t>(declaration);
    if (ioctl(descriptor, kRegister, &registration) < 0) return errno;
    *index = registration.write_index;
    return 0;
}

// The kernel answers EBADF when the tracepoint is off again: the event is not wanted.
inline void write(std::uint32_t index, iovec* parts, int count) {
    if (!is_ours()) return;
    parts[0] = {&index, sizeof index};
    [[maybe_unused]] const auto written = writev(descriptor, parts, count);
}

// perf takes 8 KiB with 8 bytes of its own, and the kernel warns of more.
inline constexpr std::size_t kMost = 8192 - 8;

inline constexpr Backend backend{open, add, write, kPaths[0], kMost};

}  // namespace silverpoint::user_events::kernel
