// Which tags of ATrace are enabled, for which output; followed while the program runs.
//
//   properties: lines name=value of the file that SILVERPOINT_ATRACE_PROPERTIES names (read again when it
//   changes), and variables of the environment of the same names, which decide where both say something
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <string_view>

#include "config.hpp"

SP_DETAIL_BEGIN

inline constexpr unsigned kAtraceTags = 28;
inline constexpr std::uint64_t kAtraceValid = (std::uint64_t{1} << kAtraceTags) - 1;
inline constexpr std::uint64_t kAtraceApp = std::uint64_t{1} << 12;
// Outputs of tags, in one word, so that a call asks once: tags that properties leave to the directives, and
// from this bit on those that go to the kernel.
inline constexpr unsigned kAtraceMarker = 32;
// Bit 63: nobody has asked yet.
inline constexpr std::uint64_t kAtraceUnknown = std::uint64_t{1} << 63 | kAtraceValid;

// What a tag's gate says, so that a call asks one byte: 0 nothing is to be done, 1 into the ring alone, and
// anything else that the outputs decide.
using AtraceGate = std::atomic<std::uint8_t>;
inline constinit const AtraceGate kAtraceNothing{0};
// Nobody has asked for the state byte of the tag's site yet; and the kernel is to have it, too.
inline constinit const AtraceGate kAtraceUnasked{0x80}, kAtraceMarked{0x82};

class AtraceState {
  public:
    // Where nobody else has a say, this is the state byte of a tag's site: directives alone decide then.
    SP_DETAIL_HOT std::uint8_t gate(unsigned bit) const {
        return gates_[bit].at.load(std::memory_order_acquire)->load(std::memory_order_relaxed);
    }
    // The state byte of a tag's site is there.
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
    // Tags that properties enable, and that have somewhere to go in the kernel.
    std::uint64_t marker_tags() { return outputs() >> kAtraceMarker; }
    // What the kernel does not take is gone, as on Android. (While it does not trace it says so each time:
    // that is not the caller's error.)
    void write(std::string_view text) const {
        const int before = errno;
        [[maybe_unused]] const ssize_t written = ::write(descriptor_, text.data(), text.size());
        errno = before;
    }
    // Whether it is not the kernel's: each message ends with a newline.
    bool is_file() const { return is_file_; }

    // Reads properties again. As the first call of all it begins to follow them, too.
    void update() {
        read();
        if (!watching_.exchange(true, std::memory_order_acq_rel)) {
            watch();
            read();  // what came in between
        }
    }

  private:
    void read() {
        pthread_mutex_lock(&mutex_);
        std::uint64_t tags = 0;
        const bool given = read_tags(tags);
        const std::uint64_t marker = tags != 0 && !open_marker() ? 0 : tags;
        const std::uint64_t ring = given ? tags : kAtraceValid;
        // While it changes every call looks at the outputs.
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
    // A line that goes on beyond the bytes that are read is none: half a number would be another one.
    static constexpr std::size_t kMostBytes = 65536;
    struct Properties {
        char file[kMostBytes + 1];
        std::size_t size = 0;
    };

    SP_DETAIL_COLD std::uint64_t first_outputs() {
        update();
        return outputs_.load(std::memory_order_acquire);
    }
    static const char* environment(const char* name) {
        if (getauxval(AT_SECURE) != 0) return nullptr;
        const char* value = getenv(name);
        return value != nullptr && *value != 0 ? value : nullptr;
    }
    // The value of a property; the last line counts.
    static std::string_view value_of(const Properties& all, const char* name) {
        if (const char* value = environment(name)) return value;
        const std::string_view text(all.file, all.size), wanted = name;
        std::string_view found;
        for (std::size_t at = 0; at < text.size();) {
            std::size_t end = text.find('\n', at);
            if (end == text.npos) end = text.size();
            std::string_view line = text.substr(at, end - at);
            at = end + 1;
            line = line.substr(0, line.find('#'));
            const std::size_t equals = line.find('=');
            if (equals != line.npos && trim(line.substr(0, equals)) == wanted)
                found = trim(line.substr(equals + 1));
        }
        return found;
    }
    static std::string_view trim(std::string_view text) {
        const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
        while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
        while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
        return text;
    }
    // 0 for what is no number.
    static std::uint64_t number(std::string_view text) {
        unsigned base = 10;
        if (text.starts_with("0x") || text.starts_with("0X")) {
            base = 16;
            text.remove_prefix(2);
        }
        std::uint64_t sum = 0;
        for (const char c : text) {
            const char low = static_cast<char>(c | 0x20);
            const unsigned digit = c >= '0' && c <= '9'       ? static_cast<unsigned>(c - '0')
                                   : low >= 'a' && low <= 'f' ? static_cast<unsigned>(low - 'a') + 10
                                                              : 99;
            if (digit >= base || sum > (~std::uint64_t{0} - digit) / base) return 0;
            sum = sum * base + digit;
        }
        return sum;
    }
    // False: nobody has set anything.
    static bool read_tags(std::uint64_t& tags) {
        static Properties all;  // one at a time: update holds the mutex
        all.size = 0;
        const char* path = environment("SILVERPOINT_ATRACE_PROPERTIES");
        if (path != nullptr) {
            const int file = ::open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
            while (file >= 0 && all.size < sizeof all.file) {
                const ssize_t got = ::read(file, all.file + all.size, sizeof all.file - all.size);
                if (got <= 0) break;
                all.size += static_cast<std::size_t>(got);
            }
            if (file >= 0) ::close(file);
            if (all.size > kMostBytes) {
                const std::size_t end = std::string_view(all.file, all.size).rfind('\n');
                all.size = end == std::string_view::npos ? 0 : end;
            }
        }
        const std::string_view flags_text = value_of(all, "debug.atrace.tags.enableflags");
        const std::string_view count_text = value_of(all, "debug.atrace.app_number");
        const bool given = path != nullptr || !flags_text.empty() || !count_text.empty();
        const std::uint64_t flags = number(flags_text);
        std::uint64_t count = number(count_text);
        if (count > 64) count = 64;
        char command[4096];
        std::string_view base = command_of(command);
        const std::string_view whole = base;
        base = base.substr(base.rfind('/') + 1);
        bool is_app = false;
        for (std::uint64_t i = 0; i < count && !is_app; ++i) {
            char name[40] = "debug.atrace.app_";
            if (i >= 10) name[17] = static_cast<char>('0' + i / 10);
            name[i >= 10 ? 18 : 17] = static_cast<char>('0' + i % 10);
            const std::string_view app = value_of(all, name);
            is_app = !app.empty() && (app == "*" || app == whole || app == base);
        }
        tags = 0;
        if (flags != 0 || is_app) tags = (flags | (is_app ? kAtraceApp : 0) | 1) & kAtraceValid;
        return given;
    }
    // The program as it was called: its first argument.
    static std::string_view command_of(char (&buffer)[4096]) {
        const int file = ::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
        if (file < 0) return {};
        const ssize_t got = ::read(file, buffer, sizeof buffer - 1);
        ::close(file);
        buffer[got > 0 ? got : 0] = 0;
        return buffer;
    }
    // Opened when the first tag is enabled; kept.
    bool open_marker() {
        if (descriptor_ >= 0) return true;
        const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_APPEND | O_NONBLOCK;
        if (const char* path = environment("SILVERPOINT_ATRACE_MARKER")) {
            descriptor_ = ::open(path, flags);
            struct statfs system;
            is_file_ = descriptor_ >= 0 && fstatfs(descriptor_, &system) == 0 &&
                       static_cast<std::uint32_t>(system.f_type) != kTracefs;
            return descriptor_ >= 0;
        }
        for (const char* path :
             {"/sys/kernel/tracing/trace_marker", "/sys/kernel/debug/tracing/trace_marker"}) {
            descriptor_ = ::open(path, flags);
            if (descriptor_ >= 0) return true;
        }
        return false;
    }

    // Follows the file's directory, so that it may come later or be replaced: a thread that sleeps.
    void watch() {
        const char* path = environment("SILVERPOINT_ATRACE_PROPERTIES");
        if (path == nullptr) return;
        const std::string_view whole = path;
        const std::size_t slash = whole.rfind('/');
        char directory[4096] = ".";
        if (slash != whole.npos && slash + 1 < sizeof directory) {
            memcpy(directory, path, slash + 1);
            directory[slash + 1] = 0;
        }
        file_name_ = slash == whole.npos ? path : path + slash + 1;
        events_ = inotify_init1(IN_CLOEXEC);
        if (events_ < 0 || inotify_add_watch(events_, directory,
                                             IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM) < 0)
            return;
        // It takes no signals: those are the program's.
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        pthread_t thread;
        if (pthread_create(
                &thread, nullptr,
                [](void* state) -> void* {
                    static_cast<AtraceState*>(state)->follow();
                    return nullptr;
                },
                this) == 0)
            pthread_detach(thread);
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    void follow() {
        alignas(inotify_event) char buffer[4096];
        for (;;) {
            const ssize_t got = ::read(events_, buffer, sizeof buffer);
            if (got < 0 && errno == EINTR) continue;
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
    std::atomic<const AtraceGate*> states_[kAtraceTags] = {};  // of their sites, as far as somebody has asked
    std::atomic<std::uint64_t> outputs_{kAtraceUnknown};
    std::atomic<bool> watching_{false};
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    int descriptor_ = -1;
    bool is_file_ = false;
    int events_ = -1;
    const char* file_name_ = "";
};

inline constinit AtraceState atrace_state;

SP_DETAIL_END
