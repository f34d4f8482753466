// Which tags of ATrace are enabled, for which output; followed while the program runs.
//
//     properties: lines name=value of the file that SILVERPOINT_ATRACE_PROPERTIES names (read again when it
//     changes), and environment variables of the same names, which take precedence
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <string_view>

#include "../platform/linux/beyond_limit.hpp"
#include "../platform/linux/write_without_signal.hpp"
#include "atrace_properties.hpp"
#include "lane.hpp"

SP_DETAIL_BEGIN

// Outputs of tags, in one word, so that a call needs one check. Lower bits: tags that properties leave to the
// directives. From this bit on: tags that go to the kernel.
inline constexpr unsigned kAtraceMarker = 32;
// Bit 63: nothing was queried yet.
inline constexpr std::uint64_t kAtraceUnknown = std::uint64_t{1} << 63 | kAtraceValid;

// A tag's gate in one byte, so that a call needs one check. 0: nothing to do; 1: into the ring alone; any
// other value: the outputs decide.
using AtraceGate = std::atomic<std::uint8_t>;
inline constinit const AtraceGate kAtraceNothing{0};
// The state byte of the tag's site is not known yet; the kernel wants the call, too.
inline constinit const AtraceGate kAtraceUnasked{0x80}, kAtraceMarked{0x82};

inline void end_atrace_state();

class AtraceState {
  public:
    // If only directives decide, this is the state byte of a tag's site.
    SP_DETAIL_HOT std::uint8_t gate(unsigned bit) const {
        return gates_[bit].at.load(std::memory_order_acquire)->load(std::memory_order_relaxed);
    }
    // The state byte of a tag's site is known.
    void set_state(unsigned bit, const AtraceGate* state) {
        states_[bit].store(state, std::memory_order_release);
        const AtraceGate* unasked = &kAtraceUnasked;
        if (gates_[bit].at.load(std::memory_order_relaxed) == unasked)
            gates_[bit].at.compare_exchange_strong(unasked, state, std::memory_order_acq_rel);
    }
    SP_DETAIL_HOT std::uint64_t outputs() {
        const std::uint64_t all = outputs_.load(std::memory_order_acquire);
        return all != kAtraceUnknown ? all : first_outputs();
    }
    // Tags that properties enable, and that have a destination in the kernel.
    std::uint64_t marker_tags() { return outputs() >> kAtraceMarker; }
    // What the kernel does not accept is lost, as on Android. (While it does not trace it reports that each
    // time: this is not the caller's error.)
    void write(std::string_view text) {
        const int kept = descriptor_.load(std::memory_order_acquire);
        if (is_beyond_limit(kept) && !is_file_) [[likely]] {
            // (The bare system call: it is no cancellation point.)
            const int saved = errno;
            if (syscall(SYS_write, number_of(kept), text.data(), text.size()) >= 0) return;
            const bool is_open = errno != EBADF;
            errno = saved;
            if (is_open) return;
        }
        write_checked(kept, text);
    }
    // Whether it is another file than the kernel's: then each message ends with a newline.
    bool is_file() const { return is_file_; }

    // Reads properties again. The very first call also begins to follow them.
    void update() {
        read();
        if (!watching_.exchange(true, std::memory_order_acq_rel)) {
            watch();
            read();  // what came in between
        }
    }
    // Before the shared object with this copy is unloaded: nothing remains that would run its code, or is
    // open.
    SP_DETAIL_COLD void end() {
        if (is_in_executable()) return;
        const SystemGuard guard;
        // (A forked child has its parent's descriptors, but not its thread.)
        if (follower_process_ == getpid()) {
            const std::uint64_t one = 1;
            while (::write(stop_, &one, sizeof one) < 0 && errno == EINTR) {
            }
            pthread_join(follower_, nullptr);
        }
        follower_process_ = 0;
        // If the program has closed it, the number may be that of a file of its own.
        const int marker = descriptor_.exchange(-1, std::memory_order_acq_rel);
        if (stands_for_marker(marker)) ::close(number_of(marker));
        for (int* const descriptor : {&events_, &stop_}) {
            const int open = *descriptor;
            *descriptor = -1;
            if (open >= 0) ::close(open);
        }
    }

  private:
    void read() {
        pthread_mutex_lock(&mutex_);
        std::uint64_t tags = 0;
        const bool given = read_tags(tags);
        const std::uint64_t marker = tags != 0 && !open_marker() ? 0 : tags;
        const std::uint64_t ring = given ? tags : kAtraceValid;
        // While it changes every call checks the outputs.
        for (Gate& gate : gates_) gate.at.store(&kAtraceMarked, std::memory_order_relaxed);
        outputs_.store(ring | marker << kAtraceMarker, std::memory_order_release);
        for (unsigned bit = 0; bit < kAtraceTags; ++bit) {
            const AtraceGate* gate = states_[bit].load(std::memory_order_acquire);
            if (gate == nullptr) gate = &kAtraceUnasked;
            if ((ring >> bit & 1) == 0) gate = &kAtraceNothing;
            if ((marker >> bit & 1) != 0) gate = &kAtraceMarked;
            gates_[bit].at.store(gate, std::memory_order_release);
        }
        pthread_mutex_unlock(&mutex_);
    }
    // Type of the kernel's file system.
    static constexpr std::uint32_t kTracefs = 0x74726163;
    SP_DETAIL_COLD std::uint64_t first_outputs() {
        update();
        return outputs_.load(std::memory_order_acquire);
    }
    // False: nothing is set.
    static bool read_tags(std::uint64_t& tags) {
        static AtraceProperties all;  // one at a time: who reads holds the mutex
        all.read_file(atrace_environment("SILVERPOINT_ATRACE_PROPERTIES"));
        char command[4096];
        return all.tags_of(atrace_command(command), atrace_environment, tags);
    }
    // What is kept of a descriptor: its number, and whether no other file of the program can have that.
    static constexpr int kBeyondLimit = 1 << 30;
    static int number_of(int kept) { return kept & ~kBeyondLimit; }
    static bool is_beyond_limit(int kept) { return kept >= kBeyondLimit; }
    static int keep(int descriptor) {
        const int moved = beyond_limit(descriptor);
        if (moved < 0) return descriptor;
        ::close(descriptor);
        return moved | kBeyondLimit;
    }
    // Whether it still is the marker: the program may close it, and open a file of its own under the number.
    bool stands_for_marker(int kept) const {
        struct stat found;
        return kept >= 0 && fstat(number_of(kept), &found) == 0 && found.st_dev == device_ &&
               found.st_ino == inode_;
    }
    [[gnu::noinline]] void write_checked(int kept, std::string_view text) {
        const SystemGuard guard;
        if ((is_beyond_limit(kept) || stands_for_marker(kept)) && write_to(kept, text)) return;
        if (reopen()) write_to(descriptor_.load(std::memory_order_acquire), text);
    }
    // False: it is closed.
    bool write_to(int kept, std::string_view text) const {
        const int descriptor = number_of(kept);
        if (is_file_) [[unlikely]]
            return write_without_signal(descriptor, text);
        return ::write(descriptor, text.data(), text.size()) >= 0 || errno != EBADF;
    }
    // Opens the marker again. False: this message is not written.
    SP_DETAIL_COLD bool reopen() {
        // Another thread is doing this, or this one was interrupted in it.
        if (pthread_mutex_trylock(&mutex_) != 0) return false;
        bool is_open = stands_for_marker(descriptor_.load(std::memory_order_acquire));
        if (!is_open && path_ != nullptr) {
            const int descriptor = ::open(path_, kFlags);
            is_open = stands_for_marker(descriptor);
            if (is_open)
                descriptor_.store(keep(descriptor), std::memory_order_release);
            else if (descriptor >= 0)
                ::close(descriptor);
        }
        pthread_mutex_unlock(&mutex_);
        return is_open;
    }
    static constexpr int kFlags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_APPEND | O_NONBLOCK;
    bool open_at(const char* path) {
        const int descriptor = ::open(path, kFlags);
        struct stat found;
        if (descriptor < 0 || fstat(descriptor, &found) != 0) return false;
        device_ = found.st_dev;
        inode_ = found.st_ino;
        path_ = path;
        descriptor_.store(keep(descriptor), std::memory_order_release);
        return true;
    }

    // Opened when the first tag is enabled; kept.
    bool open_marker() {
        if (descriptor_.load(std::memory_order_relaxed) >= 0) return true;
        if (const char* path = atrace_environment("SILVERPOINT_ATRACE_MARKER")) {
            if (!open_at(path)) return false;
            struct statfs system;
            is_file_ = fstatfs(number_of(descriptor_.load(std::memory_order_relaxed)), &system) == 0 &&
                       static_cast<std::uint32_t>(system.f_type) != kTracefs;
            return true;
        }
        for (const char* path :
             {"/sys/kernel/tracing/trace_marker", "/sys/kernel/debug/tracing/trace_marker"}) {
            if (open_at(path)) return true;
        }
        return false;
    }

    // Follows the file's directory, so that the file may come later or be replaced: a thread that sleeps.
    void watch() {
        const char* path = atrace_environment("SILVERPOINT_ATRACE_PROPERTIES");
        if (path == nullptr) return;
        const std::string_view whole = path;
        const std::size_t slash = whole.rfind('/');
        char directory[4096] = ".";
        if (slash != whole.npos && slash + 1 < sizeof directory) {
            memcpy(directory, path, slash + 1);
            directory[slash + 1] = 0;
        }
        file_name_ = slash == whole.npos ? path : path + slash + 1;
        on_unload.store([] { end_atrace_state(); }, std::memory_order_release);
        events_ = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        stop_ = eventfd(0, EFD_CLOEXEC);
        if (events_ < 0 || stop_ < 0 ||
            inotify_add_watch(events_, directory, IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM) <
                0)
            return;
        // It takes no signals: those are the program's.
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        if (pthread_create(
                &follower_, nullptr,
                [](void* state) -> void* {
                    static_cast<AtraceState*>(state)->follow();
                    return nullptr;
                },
                this) == 0)
            follower_process_ = getpid();
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    void follow() {
        alignas(inotify_event) char buffer[4096];
        for (;;) {
            pollfd either[2] = {{events_, POLLIN, 0}, {stop_, POLLIN, 0}};
            if (poll(either, 2, -1) < 0 && errno != EINTR) return;
            if (either[1].revents != 0) return;
            const ssize_t got = ::read(events_, buffer, sizeof buffer);
            if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
            if (got <= 0) return;
            bool concerns = false;
            for (ssize_t at = 0; at < got;) {
                const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
                concerns = concerns || event->len == 0 || strcmp(event->name, file_name_) == 0;
                at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
            }
            if (concerns) read();
        }
    }

    struct Gate {
        std::atomic<const AtraceGate*> at{&kAtraceUnasked};
    };
    Gate gates_[kAtraceTags];
    std::atomic<const AtraceGate*> states_[kAtraceTags] = {};  // of their sites, as far as they were queried
    std::atomic<std::uint64_t> outputs_{kAtraceUnknown};
    std::atomic<bool> watching_{false};
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    std::atomic<int> descriptor_{-1};  // as keep returns it
    // Its device and inode, and its name, which lives as long as the program.
    dev_t device_ = 0;
    ino_t inode_ = 0;
    const char* path_ = nullptr;
    bool is_file_ = false;
    // For the thread that follows: what it waits for, and its owner.
    int events_ = -1, stop_ = -1;
    pthread_t follower_ = {};
    pid_t follower_process_ = 0;
    const char* file_name_ = "";
};

inline constinit AtraceState atrace_state;

inline void end_atrace_state() { atrace_state.end(); }

SP_DETAIL_END
