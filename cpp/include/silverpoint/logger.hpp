// The logger inside the process, for C++. Call silverpoint::start() in main, and records come out on the
// console and in files. Link silverpoint::logger (CMake) or -lsilverpoint. See docs/guide/logger-cpp.md.
//
// Functions may be called from any thread, not from signal handlers (except reopen). A forked child has no
// logger until it starts one. start throws std::invalid_argument for a mistake in the configuration. That is
// the given one, the variable SILVERPOINT of the environment, or the file that it names. It throws
// std::runtime_error for what the system refuses. Without exceptions (-fno-exceptions) the error is printed
// on standard error, and start returns false. flush and stop do not throw.
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crash.hpp"
#include "detail/failing.hpp"
#include "detail/hand_over.hpp"
#include "detail/process.hpp"
#include "platform/only_linux.h"
#include "silverpoint/logger.h"

// What the program records before its logger starts, and after it has stopped: directives
// (spec/directives.md); "" for nothing. The newest records are kept in shared memory, and the next start
// delivers them. The end of the program delivers them too if a logger was ever started in it; otherwise they
// are discarded. Use the same value in all files of a program. The variable SILVERPOINT_FILTER of the
// environment takes precedence.
#ifndef SP_LOGGER_KEEPS
#    define SP_LOGGER_KEEPS "info"
#endif
extern "C" [[gnu::visibility("hidden"), gnu::used]] inline const char* silverpoint_kept_for_logger() {
    return SP_LOGGER_KEEPS;
}

namespace silverpoint {
// Each shared object has its own, like everything in these headers; the logger behind it belongs to the
// process.
inline namespace v1 SP_DETAIL_HIDDEN {

// Where records come out, which ones, and in which form.
// Thread-safe: one thread at a time. Cost: texts; nothing is opened.
class SP_DETAIL_VISIBLE sink {
  public:
    [[nodiscard]] SP_DETAIL_OWN static sink standard_error() { return sink("stderr"); }
    [[nodiscard]] SP_DETAIL_OWN static sink standard_output() { return sink("stdout"); }
    // Appended to.
    [[nodiscard]] SP_DETAIL_OWN static sink file(std::string_view path) {
        return std::move(sink("file").with("path", path));
    }

    // A trace file, appended to: what silverpoint cat and all other tools read.
    [[nodiscard]] SP_DETAIL_OWN static sink trace_file(std::string_view path) {
        return std::move(sink("trace-file").with("path", path));
    }

    // The journal of systemd, with each named argument as a field of its own.
    [[nodiscard]] SP_DETAIL_OWN static sink journald() { return sink("journald"); }
    // A syslog receiver: /dev/log, or at "/path/of/a/socket", "udp://host:port", "tcp://host:port".
    [[nodiscard]] SP_DETAIL_OWN static sink syslog() { return sink("syslog"); }
    [[nodiscard]] SP_DETAIL_OWN static sink syslog(std::string_view address) {
        return std::move(sink("syslog").with("address", address));
    }

    // The program's name for journal and syslog, instead of its file's name.
    SP_DETAIL_OWN sink& identity(std::string_view name) & { return with("identity", name); }
    SP_DETAIL_OWN sink&& identity(std::string_view name) && { return std::move(with("identity", name)); }
    // Of syslog: "user" (else), "daemon", "local0" …
    SP_DETAIL_OWN sink& facility(std::string_view name) & { return with("facility", name); }
    SP_DETAIL_OWN sink&& facility(std::string_view name) && { return std::move(with("facility", name)); }
    // Of syslog: "rfc5424", with fields, or "rfc3164".
    SP_DETAIL_OWN sink& protocol(std::string_view name) & { return with("protocol", name); }
    SP_DETAIL_OWN sink&& protocol(std::string_view name) && { return std::move(with("protocol", name)); }
    // Only this level and above: "trace", "debug", "info", "warn", "error", "fatal".
    SP_DETAIL_OWN sink& level(std::string_view name) & { return with("level", name); }
    SP_DETAIL_OWN sink&& level(std::string_view name) && { return std::move(with("level", name)); }
    // The form of lines: "text", "json", "qdebug", "qt" (by Qt's default message pattern), "summary".
    SP_DETAIL_OWN sink& format(std::string_view name) & { return with("format", name); }
    SP_DETAIL_OWN sink&& format(std::string_view name) && { return std::move(with("format", name)); }
    // Lines of this form: "{time:.3} {level} {message}", or a pattern of Qt's.
    SP_DETAIL_OWN sink& pattern(std::string_view pattern) & { return with("pattern", pattern); }
    SP_DETAIL_OWN sink&& pattern(std::string_view pattern) && { return std::move(with("pattern", pattern)); }
    // A key of docs/guide/configuration.md that has no function here, with a text as its value:
    // set("sync", "error"), set("flush.every", "200ms").
    SP_DETAIL_OWN sink& set(std::string_view key, std::string_view value) & { return with(key, value); }
    SP_DETAIL_OWN sink&& set(std::string_view key, std::string_view value) && {
        return std::move(with(key, value));
    }
    // One JSON object a line instead of text.
    SP_DETAIL_OWN sink& json() & { return with("format", "json"); }
    SP_DETAIL_OWN sink&& json() && { return std::move(with("format", "json")); }
    // Only these categories: a name, or a pattern with * and ?.
    SP_DETAIL_OWN sink& category(std::string_view pattern) & { return with("category", pattern); }
    SP_DETAIL_OWN sink&& category(std::string_view pattern) && {
        return std::move(with("category", pattern));
    }
    // Only records whose arguments satisfy an expression: "bytes > 1000 and user == 'ada'".
    SP_DETAIL_OWN sink& where(std::string_view expression) & { return with("where", expression); }
    SP_DETAIL_OWN sink&& where(std::string_view expression) && {
        return std::move(with("where", expression));
    }
    // Records below the sink's level (info, if none is set) are kept in memory: the last `records` of them,
    // at most 4 MiB. They come out, marked, before a record of this level or above, or by dump_backtrace().
    // They must be recorded for that: logger_config("debug").
    SP_DETAIL_OWN sink& backtrace(unsigned records, std::string_view trigger = "warn") &;
    SP_DETAIL_OWN sink&& backtrace(unsigned records, std::string_view trigger = "warn") && {
        return std::move(backtrace(records, trigger));
    }
    // A file that has grown to a size ("64M") becomes app.1.log, that one app.2.log, and so on; `keep` old
    // files stay.
    SP_DETAIL_OWN sink& rotate(std::string_view size, unsigned keep) & {
        return with("rotate-size", size).number("keep", keep);
    }
    SP_DETAIL_OWN sink&& rotate(std::string_view size, unsigned keep) && {
        return std::move(rotate(size, keep));
    }

  private:
    friend class logger_config;

    explicit sink(std::string_view to) { with("to", to); }

    sink& with(std::string_view key, std::string_view value);
    SP_DETAIL_OWN sink& number(std::string_view key, unsigned value) {
        toml_.append(key).append(" = ").append(std::to_string(value)).append("\n");
        return *this;
    }

    std::string toml_ = "[[sink]]\n";
};

// What a logger does. The same as text: a configuration file in TOML.
// Thread-safe: one thread at a time. Cost: texts; nothing is opened.
class SP_DETAIL_VISIBLE logger_config {
  public:
    // What is recorded, for all sinks: directives such as "info,net=debug".
    SP_DETAIL_OWN explicit logger_config(std::string_view record = "info");

    logger_config& to(const sink& sink) & {
        sinks_ += sink.toml_;
        return *this;
    }
    SP_DETAIL_OWN logger_config&& to(const sink& sink) && { return std::move(to(sink)); }
    // The directory in which records wait for their sinks; default: beside the first file.
    SP_DETAIL_OWN logger_config& spool(std::string_view directory) &;
    SP_DETAIL_OWN logger_config&& spool(std::string_view directory) && { return std::move(spool(directory)); }
    // What a thread does that finds its ring full: "block", "block=forever", "drop" or "overwrite". Per level
    // if needed: "block,debug=drop".
    SP_DETAIL_OWN logger_config& policy(std::string_view text) &;
    SP_DETAIL_OWN logger_config&& policy(std::string_view text) && { return std::move(policy(text)); }

    // Whether crashes are recorded; default: yes.
    SP_DETAIL_OWN logger_config& crash(bool wanted) & {
        head_ += wanted ? "crash = true\n" : "crash = false\n";
        return *this;
    }
    SP_DETAIL_OWN logger_config&& crash(bool wanted) && { return std::move(crash(wanted)); }

    [[nodiscard]] std::string toml() const { return head_ + sinks_; }

  private:
    std::string head_, sinks_;
};

namespace detail {

// By the configuration (crash, crash-wait); by default they are recorded.
inline void record_crashes() {
    const std::int64_t wait_ms = silverpoint_crash_wait();
    if (wait_ms < 0) return;
    crash_settings.drain.store(&silverpoint_drain_after_crash, std::memory_order_release);
    crash_options options;
    options.wait_ms = static_cast<unsigned>(wait_ms < 86'400'000 ? wait_ms : 86'400'000);
    install_crash_handler(options);
}

// Whether nothing is recorded here, although this was not requested.
inline bool is_mute() {
    const int why = session.absence.load(std::memory_order_relaxed);
    return why != 0 && why != Session::kOffAsked && !session.is_ready();
}

// The error of a call that did nothing: an exception. Without exceptions it is printed on standard error, and
// the call returns false.
inline bool refuse([[maybe_unused]] int result, const char* error) {
#if defined(__cpp_exceptions)
    if (result == SILVERPOINT_INVALID) throw std::invalid_argument(error);
    throw std::runtime_error(error);
#else
    say_failure(error);
    return false;
#endif
}

}  // namespace detail

// Starts the process's logger; false if one runs already. It also throws if this shared object or program can
// have no session: its records would never come out. From then on crashes are recorded, and delivered before
// the process ends (crash.hpp), unless the configuration says crash = false.
// Thread-safe: any thread. Cost: that of `call`; see start_with.
inline bool start_by(int (*call)(const char*, char*, std::size_t), const char* config) {
    // A forked child has no session before its first record, and records nothing before a collector finds it.
    detail::Text<500> why;
    if (!detail::has_session(why)) return detail::refuse(SILVERPOINT_FAILED, why.c_str());
    if (detail::session.is_ready())
        detail::session.logger_process.store(detail::process_id(), std::memory_order_relaxed);
    char error[1024] = "";
    const int result = call(config, error, sizeof error);
    switch (result) {
        case SILVERPOINT_DONE:
            detail::record_crashes();
            return true;
        case SILVERPOINT_RUNNING:
            return false;
        default:
            return detail::refuse(result, error);
    }
}
// Thread-safe: any thread. Cost: opens the sinks, and starts a thread for the collector and one for each
// sink. Installs the handler of crashes.
inline bool start_with(const char* config) { return start_by(silverpoint_start, config); }
// By a configuration file; the environment takes precedence (see start_with_environment). A change of the
// file takes effect while the program runs.
// Thread-safe: any thread. Cost: opens the sinks, and starts a thread for the collector and one for each
// sink. Installs the handler of crashes.
inline bool start_file(const std::string& path) { return start_by(silverpoint_start_file, path.c_str()); }
// Level info and above on standard error; the environment takes precedence.
// Thread-safe: any thread. Cost: opens the sinks, and starts a thread for the collector and one for each
// sink. Installs the handler of crashes.
inline bool start() { return start_with(nullptr); }
inline bool start(const logger_config& config) { return start_with(config.toml().c_str()); }
// A configuration as text (TOML).
// Thread-safe: any thread. Cost: opens the sinks, and starts a thread for the collector and one for each
// sink. Installs the handler of crashes.
inline bool start(const std::string& toml) { return start_with(toml.c_str()); }
// The same, but the environment takes precedence. SILVERPOINT names a file instead of all of it, or states
// what is recorded. SILVERPOINT_POLICY and SILVERPOINT_BLOCK_MAX are used too.
// Thread-safe: any thread. Cost: opens the sinks, and starts a thread for the collector and one for each
// sink. Installs the handler of crashes.
inline bool start_with_environment(const std::string& toml) {
    return start_by(silverpoint_start_with_environment, toml.c_str());
}
inline bool start_with_environment(const logger_config& config) {
    return start_with_environment(config.toml());
}

// Reads the configuration file again and applies it at once; false if no logger runs. Throws as start does,
// also if the logger was not started by a file; then everything is as before.
// Thread-safe: any thread. Cost: reads the file, and changes what differs.
inline bool reload() {
    char error[1024] = "";
    const int result = silverpoint_reload(error, sizeof error);
    switch (result) {
        case SILVERPOINT_DONE:
            return true;
        case SILVERPOINT_NOT_RUNNING:
            return false;
        default:
            return detail::refuse(result, error);
    }
}
// Log files that were moved away are made and opened again, at once. For a handler of SIGHUP, which may call
// it.
// Thread-safe: any thread, signal handlers too. Cost: an atomic addition.
inline void reopen() noexcept { silverpoint_reopen(); }

// True if everything that was recorded before the call was delivered within the time. False also if nothing
// can be recorded.
// Thread-safe: any thread. Cost: the wait.
inline bool flush(std::chrono::milliseconds timeout = std::chrono::seconds(5)) {
    return !detail::is_mute() &&
           silverpoint_flush(timeout.count() > 0 ? static_cast<std::uint64_t>(timeout.count()) : 0) ==
               SILVERPOINT_DONE;
}
// As flush; sinks with a backtrace also write what they keep back.
// Thread-safe: any thread. Cost: the wait.
inline bool dump_backtrace(std::chrono::milliseconds timeout = std::chrono::seconds(5)) {
    return silverpoint_dump_backtrace(timeout.count() > 0 ? static_cast<std::uint64_t>(timeout.count())
                                                          : 0) == SILVERPOINT_DONE;
}
// As flush, and ends the logger.
// Thread-safe: any thread. Cost: the wait.
inline bool stop(std::chrono::milliseconds timeout = std::chrono::seconds(5)) {
    return silverpoint_stop(timeout.count() > 0 ? static_cast<std::uint64_t>(timeout.count()) : 0) ==
           SILVERPOINT_DONE;
}

// The synchronous handlers of others, present or future, receive what this shared object (or program)
// records. For plug-ins; a synchronous_handler does this itself.
// Thread-safe: any thread. Cost: a look at each thread that has recorded.
inline void hand_records_over() {
    detail::join_handing(&silverpoint_hand_over, silverpoint_synchronous_handlers());
}

// A function that receives records in the thread that makes them, before the tracepoint returns
// (silverpoint/logger.h, silverpoint_add_synchronous_handler). It is installed as long as this object lives,
// or until remove(). It receives records of this shared object (or program), and of others that have a
// handler, or have called hand_records_over(). Throws std::invalid_argument for an invalid level behind the
// category's `=`.
// Thread-safe: one thread at a time; the handler itself runs in any, several at once. Cost: some allocations;
// while it exists, each record takes the slow path.
class SP_DETAIL_VISIBLE synchronous_handler {
  public:
    SP_DETAIL_OWN synchronous_handler(const char* category, const char* record, silverpoint_handler handler,
                                      void* data)
        : added_(silverpoint_add_synchronous_handler(category, record, handler, data)) {
        if (added_ == nullptr)
            SP_DETAIL_THROW(
                std::invalid_argument("silverpoint::synchronous_handler: a null pointer, text that is not "
                                      "UTF-8, or no level behind the category's ="));
        hand_records_over();
    }
    SP_DETAIL_OWN synchronous_handler(synchronous_handler&& from) noexcept
        : added_(std::exchange(from.added_, nullptr)) {}
    SP_DETAIL_OWN synchronous_handler& operator=(synchronous_handler&& from) noexcept {
        std::swap(added_, from.added_);
        return *this;
    }
    SP_DETAIL_OWN ~synchronous_handler() { remove(); }

    // When this returns, no thread is in the function or will be.
    SP_DETAIL_OWN void remove() { silverpoint_remove_synchronous_handler(std::exchange(added_, nullptr)); }

  private:
    silverpoint_synchronous* added_;
};

namespace detail {

// A basic string of TOML.
inline void append_toml(std::string& out, std::string_view key, std::string_view value) {
    constexpr char digits[] = "0123456789ABCDEF";
    out.append(key).append(" = \"");
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte == 0x7F) {
            out.append("\\u00").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
        } else {
            out += c;
        }
    }
    out += "\"\n";
}

}  // namespace detail

inline sink& sink::with(std::string_view key, std::string_view value) {
    detail::append_toml(toml_, key, value);
    return *this;
}

inline sink& sink::backtrace(unsigned records, std::string_view trigger) & {
    return number("backtrace.records", records).with("backtrace.trigger", trigger);
}

inline logger_config::logger_config(std::string_view record) { detail::append_toml(head_, "record", record); }

inline logger_config& logger_config::spool(std::string_view directory) & {
    detail::append_toml(head_, "spool", directory);
    return *this;
}

inline logger_config& logger_config::policy(std::string_view text) & {
    detail::append_toml(head_, "policy", text);
    return *this;
}

}  // namespace v1
}  // namespace silverpoint
