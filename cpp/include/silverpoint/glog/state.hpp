// State of the whole process: how messages travel, and the files.
//
//   LOG ──▶ a record in the ring ──▶ the logger's thread ──▶ files        kAsync: once initialised, as a rule
//       └─▶ text, in the calling thread ──▶ stderr, stdout, sinks        where the flags or a sink want it
//                                     └──▶ files                         while no logger runs
#pragma once

#include <pthread.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "file.hpp"
#include "inside.hpp"
#include "sink.hpp"

namespace google::glog_internal_namespace_ {

// Bits of State::how.
inline constexpr unsigned kInitialized = 1;  // between InitGoogleLogging and ShutdownGoogleLogging
inline constexpr unsigned kAsync = 2;        // the logger's thread writes the files
inline constexpr unsigned kHasSinks = 4;
inline constexpr unsigned kHasCustomPrefix = 8;
inline constexpr unsigned kLookAt = 8;  // from this bit on: how the prefix looks

// Never destroyed: static destructors log, too.
struct State {
    // Everything that a message for the ring must know, in one word: kAsync, the look of the prefix, and
    // nothing else set.
    std::atomic<unsigned> how{look_now() << kLookAt};

    // Guards everything that follows.
    std::mutex lock;
    std::unique_ptr<LogFile> files[NUM_SEVERITIES];
    base::Logger* loggers[NUM_SEVERITIES] = {};
    std::string extension;
    bool has_extension = false;
    bool has_warned = false;
    bool owns_logger = false;
    bool is_ending = false;
    std::string fatal_message;
    time_t fatal_time = 0;

    // Called after each write to one of our files, if set.
    void (*after_write)(LogSeverity, const LogFile&, time_t now) = nullptr;

    // Messages by severity. Those that went to the ring are counted when they come out.
    std::atomic<std::int64_t> messages[NUM_SEVERITIES] = {};

    // A prefix of the program's own.
    void (*custom_prefix)(std::ostream&, LogSeverity, const char* file, int line,
                          const LogMessageTime&) = nullptr;
    void* custom_prefix_callback = nullptr;
    void* custom_prefix_data = nullptr;

    // What ends the program after a fatal message.
    std::atomic<void (*)()> fail{nullptr};

    LogFile& file(LogSeverity severity) {
        auto& known = files[severity];
        if (known == nullptr) {
            known = std::make_unique<LogFile>(severity);
            if (has_extension) known->set_extension(extension);
        }
        return *known;
    }
    base::Logger& logger(LogSeverity severity) {
        return loggers[severity] != nullptr ? *loggers[severity] : file(severity);
    }
};
inline State& state = *new State;

// Holds the files' lock.
class StateLock {
  public:
    StateLock() : lock_(state.lock) {}

  private:
    Inside within_;
    std::lock_guard<std::mutex> lock_;
};

inline bool is_initialized() { return (state.how.load(std::memory_order_acquire) & kInitialized) != 0; }

inline void change_how(unsigned clear, unsigned set) {
    unsigned how = state.how.load(std::memory_order_relaxed);
    while (!state.how.compare_exchange_weak(how, (how & ~clear) | set, std::memory_order_acq_rel)) {
    }
}

// One line to the files of its severity and of those below, the most severe first. With the lock held.
inline void write_files(LogSeverity severity, time_t timestamp, const char* line, std::size_t size) {
    for (LogSeverity file = severity; file >= 0; --file) {
        state.logger(file).Write(state.is_ending || file > FLAGS_logbuflevel, timestamp, line, size);
        if (state.after_write != nullptr && state.loggers[file] == nullptr)
            state.after_write(file, state.file(file), timestamp);
    }
}

// Flushes the files' own buffers. With the lock held.
inline void flush_files(LogSeverity least) {
    for (LogSeverity severity = least < 0 ? 0 : least; severity < NUM_SEVERITIES; ++severity) {
        if (state.loggers[severity] != nullptr) {
            state.loggers[severity]->Flush();
        } else if (state.files[severity] != nullptr) {
            state.files[severity]->Flush();
        }
    }
}

// A forked child has neither the logger nor its thread: its logging threads write its own files.
inline const bool are_forks_watched = [] {
    pthread_atfork(
        [] {
            state.lock.lock();
            flush_files(0);
        },
        [] { state.lock.unlock(); },
        [] {
            ++fork_count;
            change_how(kAsync, 0);
            state.owns_logger = false;
            state.lock.unlock();
        });
    return true;
}();

// --- Console.

inline bool supports_colour() {
    static const bool known = [] {
        const char* term = std::getenv("TERM");
        if (term == nullptr) return false;
        for (const char* name : {"xterm", "xterm-color", "xterm-256color", "screen-256color", "konsole",
                                 "konsole-16color", "konsole-256color", "screen", "linux", "cygwin"})
            if (std::strcmp(term, name) == 0) return true;
        return false;
    }();
    return known;
}

// As one write, through the stream that the program itself writes to.
inline void write_console(FILE* to, bool in_colour, LogSeverity severity, const char* line,
                          std::size_t size) {
    const char* colour = severity == GLOG_INFO      ? nullptr
                         : severity == GLOG_WARNING ? "\033[0;33m"
                                                    : "\033[0;31m";
    if (!in_colour || colour == nullptr || !supports_colour()) {
        std::fwrite(line, size, 1, to);
        return;
    }
    flockfile(to);
    std::fputs(colour, to);
    std::fwrite(line, size, 1, to);
    std::fputs("\033[m", to);
    funlockfile(to);
}
inline void write_stderr(LogSeverity severity, const char* line, std::size_t size) {
    write_console(stderr, FLAGS_colorlogtostderr, severity, line, size);
}
inline void write_stdout(LogSeverity severity, const char* line, std::size_t size) {
    // Output for stderr is visible there.
    const bool is_seen = severity >= FLAGS_stderrthreshold;
    write_console(is_seen ? stderr : stdout, is_seen ? FLAGS_colorlogtostderr : FLAGS_colorlogtostdout,
                  severity, line, size);
}

}  // namespace google::glog_internal_namespace_
