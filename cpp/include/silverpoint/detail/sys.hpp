// The few functions of the operating system that the frontend needs, without allocation or locks, so that
// they may run in a signal handler.
#pragma once

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "config.hpp"

#ifndef MADV_POPULATE_WRITE
#    define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_WIPEONFORK
#    define MADV_WIPEONFORK 18
#endif

SP_DETAIL_BEGIN

// Leaves errno as it was.
class ErrnoGuard {
  public:
    ErrnoGuard() : saved_(errno) {}
    ~ErrnoGuard() { errno = saved_; }
    ErrnoGuard(const ErrnoGuard&) = delete;
    ErrnoGuard& operator=(const ErrnoGuard&) = delete;

  private:
    int saved_;
};

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

// Text of bounded length; the rest is left out.
template <std::size_t Length>
class Text {
  public:
    [[gnu::noinline, gnu::cold]] Text& add(const char* text, std::size_t len) {
        if (len > Length - len_) len = Length - len_;
        std::memcpy(text_ + len_, text, len);
        len_ += len;
        text_[len_] = 0;
        return *this;
    }
    [[gnu::noinline, gnu::cold]] Text& add(const char* text) { return add(text, std::strlen(text)); }
    [[gnu::noinline, gnu::cold]] Text& number(std::uint64_t value) {
        char digits[20];
        unsigned at = sizeof digits;
        do digits[--at] = static_cast<char>('0' + value % 10);
        while ((value /= 10) != 0);
        return add(digits + at, sizeof digits - at);
    }
    void cut(std::size_t len) { text_[len_ = len] = 0; }
    const char* c_str() const { return text_; }
    std::size_t size() const { return len_; }

  private:
    std::size_t len_ = 0;
    char text_[Length + 1] = {};
};

using Path = Text<1100>;

inline std::uint32_t thread_id() { return static_cast<std::uint32_t>(syscall(SYS_gettid)); }

// Whether a thread has ended. A reused id counts as living, in any process. Checking for this process alone
// needs the process's id, which is another system call each time.
SP_DETAIL_COLD bool is_thread_dead(std::uint32_t tid) {
    const ErrnoGuard guard;
    return syscall(SYS_tkill, tid, 0) != 0 && errno == ESRCH;
}

SP_DETAIL_COLD std::uint64_t clock_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

inline const char* environment(const char* name) { return secure_getenv(name); }

SP_DETAIL_COLD void warn(const char* text) {
    const SystemGuard guard;
    Text<640> line;
    line.add("silverpoint: ").add(text).add("\n");
    [[maybe_unused]] const auto written = write(2, line.c_str(), line.size());
}

// Reads a small file whole; returns the number of bytes.
SP_DETAIL_COLD std::size_t read_file(const char* path, char* buffer, std::size_t size) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    std::size_t len = 0;
    while (len < size) {
        const ssize_t more = read(fd, buffer + len, size - len);
        if (more <= 0) break;
        len += static_cast<std::size_t>(more);
    }
    close(fd);
    return len;
}

inline void futex_wake(std::atomic<std::uint32_t>* word) {
    syscall(SYS_futex, word, FUTEX_WAKE, 1 << 30, nullptr, nullptr, 0);
}

SP_DETAIL_COLD void futex_wait(std::atomic<std::uint32_t>* word, std::uint32_t value, std::uint64_t ns) {
    timespec timeout{};
    timeout.tv_sec = static_cast<time_t>(ns / 1'000'000'000u);
    timeout.tv_nsec = static_cast<long>(ns % 1'000'000'000u);
    syscall(SYS_futex, word, FUTEX_WAIT, value, &timeout, nullptr, 0);
}

// Open-file-description lock on one byte. `type` is F_RDLCK or F_WRLCK.
SP_DETAIL_COLD bool lock_byte(int fd, short type) {
    struct flock request = {};
    request.l_type = type;
    request.l_whence = SEEK_SET;
    request.l_len = 1;
    return fcntl(fd, F_OFD_SETLK, &request) == 0;
}

SP_DETAIL_COLD bool is_locked(int fd) {
    struct flock request = {};
    request.l_type = F_WRLCK;
    request.l_whence = SEEK_SET;
    request.l_len = 1;
    return fcntl(fd, F_OFD_GETLK, &request) == 0 && request.l_type != F_UNLCK;
}

// FNV-1a, 64 bits; for several pieces it continues from the previous result.
SP_DETAIL_COLD std::uint64_t fnv1a(const char* bytes, std::size_t size,
                                   std::uint64_t hash = 0xcbf29ce484222325u) {
    for (std::size_t i = 0; i < size; ++i)
        hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3u;
    return hash;
}

SP_DETAIL_END
