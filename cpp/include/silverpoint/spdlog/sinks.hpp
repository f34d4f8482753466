// spdlog's levels and sinks: how a sink configures the logger inside the process (silverpoint/spdlog.hpp).
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../detail/failing.hpp"
#include "../logger.h"

namespace spdlog {

using string_view_t = std::string_view;
using filename_t = std::string;

// A file that cannot be made, or a name that is taken.
// Thread-safe: any thread may read it. Cost: to make one, a copy of the text.
class spdlog_ex : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

namespace level {
enum level_enum : int { trace, debug, info, warn, err, critical, off, n_levels };

// Thread-safe: any thread. Cost: a load; from_str compares the text with each name.
inline std::string_view to_string_view(level_enum level) noexcept {
    constexpr std::string_view names[] = {"trace", "debug", "info", "warning", "error", "critical", "off"};
    return level >= trace && level <= off ? names[level] : "off";
}
inline const char* to_short_c_str(level_enum level) noexcept {
    constexpr const char* names[] = {"T", "D", "I", "W", "E", "C", "O"};
    return level >= trace && level <= off ? names[level] : "O";
}
// `off` for an invalid level, as in spdlog.
inline level_enum from_str(std::string_view name) noexcept {
    for (int level = trace; level <= off; ++level)
        if (to_string_view(static_cast<level_enum>(level)) == name) return static_cast<level_enum>(level);
    return name == "warn" ? warn : name == "err" ? err : off;
}
}  // namespace level

// Loggers and sinks notify the registry that the logger inside the process must be restarted. Meanwhile
// threads that log wait, so that nothing is recorded without a collector.
inline std::atomic<bool> stale_{true};
inline std::atomic<unsigned> changes_{0};
inline void changed_() {
    ++changes_;
    stale_ = true;
}

// Set in the logger's thread while it passes a line to the program's sinks. A request from there cannot be
// waited for, and the logger cannot be restarted then.
inline thread_local bool is_giving_ = false;

namespace details {
struct log_msg;
// Where the extension of a file's name begins, or it ends. A name that only begins with a dot has none.
inline std::size_t extension_at_(const filename_t& path) {
    const std::size_t dot = path.rfind('.'), name = path.rfind('/') + 1;
    return dot == filename_t::npos || dot <= name || dot + 1 == path.size() ? path.size() : dot;
}
}  // namespace details
class formatter;
namespace sinks {
class sink;
}
using sink_ptr = std::shared_ptr<sinks::sink>;
using sinks_init_list = std::initializer_list<sink_ptr>;

namespace sinks {

// Where lines go. Shared by loggers as in spdlog. A class of the program derives from it, or from base_sink
// (custom.hpp), and gets lines. The logger inside the process writes what derives from native_sink.
// Thread-safe: any thread; log of an own class may run in several at once. Cost: a virtual call; a change of
// level makes the next line start the logger again.
class sink {
  public:
    virtual ~sink() = default;
    sink(const sink&) = delete;
    sink& operator=(const sink&) = delete;

    virtual void log(const details::log_msg& msg) = 0;
    virtual void flush() = 0;
    // spdlog's flags (docs/guide/from-spdlog.md).
    virtual void set_pattern(const std::string& pattern) = 0;
    virtual void set_formatter(std::unique_ptr<formatter> one) = 0;
    void set_level(level::level_enum level) {
        if (level_.exchange(level, std::memory_order_relaxed) != level) changed_();
    }
    [[nodiscard]] level::level_enum level() const {
        return static_cast<level::level_enum>(level_.load(std::memory_order_relaxed));
    }
    [[nodiscard]] bool should_log(level::level_enum level) const { return level >= this->level(); }

    // --- How it is treated.

    [[nodiscard]] virtual bool takes_formatter_(const formatter&) const { return true; }
    // Of the program's own, and those that such a one passes lines to (combined.hpp).
    [[nodiscard]] virtual bool is_custom_() const { return true; }
    // Whether any code can pass a line to it; otherwise the logger inside the process writes it.
    [[nodiscard]] virtual bool takes_lines_() const { return is_custom_(); }
    // The sinks that it passes lines to.
    virtual void behind_(std::vector<sink_ptr>&) const {}
    // It stands behind a sink that passes lines to it: from here on it accepts only sinks that can be given
    // lines.
    virtual void be_given_lines_() {}
    // Whether it only passes lines on; if so its sinks are appended.
    virtual bool passes_on_(std::vector<sink_ptr>&) { return false; }
    // Its table in the configuration, if the logger inside the process writes it.
    [[nodiscard]] virtual std::string toml(const std::string&, level::level_enum, level::level_enum,
                                           std::size_t) const {
        return {};
    }
    static const char* toml_level(level::level_enum level) {
        constexpr const char* levels[] = {"trace", "debug", "info", "warn", "error", "fatal"};
        return levels[level];
    }

  protected:
    sink() = default;

    std::atomic<int> level_{level::trace};
};

// Thread-safe: any thread. Cost: none where a line is logged, for the logger's thread writes it (behind a
// filter, a system call); flush waits at most five seconds.
class native_sink : public sink {
  public:
    void set_pattern(const std::string& pattern) override {
        {
            const std::lock_guard guard(pattern_lock_);
            if (pattern_ == pattern) return;
            pattern_ = pattern;
        }
        changed_();
    }
    void set_formatter(std::unique_ptr<formatter> one) override;
    [[nodiscard]] bool takes_formatter_(const formatter& one) const override;
    [[nodiscard]] bool is_custom_() const override { return false; }
    void log(const details::log_msg&) override {
        SP_DETAIL_THROW(
            spdlog_ex("silverpoint: such a sink is written by the logger inside the process alone"));
    }
    // Waits for earlier records, at most five seconds.
    void flush() override { silverpoint_flush(is_giving_ ? 0 : 5000); }

    // A table of the logger's configuration, for the lines of these loggers (a list in TOML); empty: none.
    // Records below `least` are kept back, the last `kept` of them; 0: none.
    [[nodiscard]] std::string toml(const std::string& categories, level::level_enum own,
                                   level::level_enum least, std::size_t kept) const override {
        level::level_enum level = own;
        if (kept > 0 && level < least) level = least;
        if (settings_.empty() || level >= level::off) return {};
        std::string text = "[[sink]]\n" + settings_ + "category = " + categories + "\nlevel = \"" +
                           toml_level(level) + "\"\n";
        if (kept > 0)
            text += "backtrace.records = " + std::to_string(kept < 1'000'000 ? kept : 1'000'000) +
                    "\nbacktrace.trigger = \"never\"\n";
        add(text, "pattern", "spdlog:" + pattern_now());
        return text;
    }

  protected:
    native_sink() = default;
    // Appends a line to a descriptor, by the sink's pattern (combined.hpp).
    void write_to_(int fd, const details::log_msg& msg) const;
    static void add(std::string& out, std::string_view key, std::string_view value) {
        constexpr char digits[] = "0123456789ABCDEF";
        out.append(key).append(" = \"");
        for (const char c : value) {
            const auto byte = static_cast<unsigned char>(c);
            if (c == '"' || c == '\\') {
                (out += '\\') += c;
            } else if (byte < 0x20 || byte == 0x7F) {
                out.append("\\u00").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
            } else {
                out += c;
            }
        }
        out += "\"\n";
    }
    std::string settings_;

  private:
    // Another thread formats lines than the one that sets it.
    [[nodiscard]] std::string pattern_now() const {
        const std::lock_guard guard(pattern_lock_);
        return pattern_;
    }
    mutable std::mutex pattern_lock_;
    std::string pattern_ = "%+";
};

}  // namespace sinks

namespace sinks {

namespace detail {

class console : public native_sink {
  public:
    console(const char* to, bool is_colour) {
        add(settings_, "to", to);
        if (!is_colour) settings_ += "colour = false\n";
        fd_ = std::string_view(to) == "stderr" ? STDERR_FILENO : STDOUT_FILENO;
    }
    [[nodiscard]] bool takes_lines_() const override { return true; }
    void log(const details::log_msg& msg) override { write_to_(fd_, msg); }

  private:
    int fd_;
};

// A file that exists from here on, its directories made, as spdlog does it.
class file : public native_sink {
  public:
    file(const std::string& path, bool truncate) {
        for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
            mkdir(path.substr(0, at).c_str(), 0777);
        const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (truncate ? O_TRUNC : 0), 0666);
        if (fd < 0)
            SP_DETAIL_THROW(
                spdlog_ex("Failed opening file " + path + " for writing: " + std::strerror(errno)));
        close(fd);
        path_ = path;
        add(settings_, "to", "file");
        add(settings_, "path", path);
    }
    [[nodiscard]] const filename_t& filename() const { return path_; }

  private:
    filename_t path_;
};

}  // namespace detail

// Thread-safe: any thread. Cost: that of a native_sink; one with a file makes it at once.
class stdout_color_sink_mt : public detail::console {
  public:
    stdout_color_sink_mt() : console("stdout", true) {}
};
class stderr_color_sink_mt : public detail::console {
  public:
    stderr_color_sink_mt() : console("stderr", true) {}
};
class stdout_sink_mt : public detail::console {
  public:
    stdout_sink_mt() : console("stdout", false) {}
};
class stderr_sink_mt : public detail::console {
  public:
    stderr_sink_mt() : console("stderr", false) {}
};
class basic_file_sink_mt : public detail::file {
  public:
    explicit basic_file_sink_mt(const filename_t& path, bool truncate = false) : file(path, truncate) {}
    [[nodiscard]] bool takes_lines_() const override { return true; }
    void log(const details::log_msg& msg) override {
        const int fd = open(filename().c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0)
            SP_DETAIL_THROW(spdlog_ex("Failed opening file " + filename() + ": " + std::strerror(errno)));
        const Closing closing{fd};
        write_to_(fd, msg);
    }

  private:
    struct Closing {
        int fd;
        ~Closing() { close(fd); }
    };
};
// log.txt, log.1.txt, log.2.txt …, as spdlog names them.
class rotating_file_sink_mt : public detail::file {
  public:
    rotating_file_sink_mt(const filename_t& path, std::size_t max_size, std::size_t max_files,
                          bool rotate_on_open = false)
        : file((check(max_size), rotate_on_open ? rotated(path, max_files) : path), false) {
        settings_ +=
            "rotate-size = \"" + std::to_string(max_size) + "\"\nkeep = " + std::to_string(max_files) + "\n";
    }
    // log.3.txt of log.txt.
    static filename_t calc_filename(const filename_t& path, std::size_t index) {
        if (index == 0) return path;
        const std::size_t end = details::extension_at_(path);
        return path.substr(0, end) + '.' + std::to_string(index) + path.substr(end);
    }

  private:
    static void check(std::size_t max_size) {
        if (max_size == 0)
            SP_DETAIL_THROW(spdlog_ex("rotating sink constructor: max_size arg cannot be zero"));
    }
    // What is in the file becomes the newest old one; the oldest goes when there are too many.
    static const filename_t& rotated(const filename_t& path, std::size_t max_files) {
        // Lines that a logger of this process has yet to write belong into the old file.
        silverpoint_flush(is_giving_ ? 0 : 5000);
        struct stat about {};
        if (stat(path.c_str(), &about) != 0 || about.st_size == 0) return path;
        if (max_files == 0) {
            if (unlink(path.c_str()) != 0) refuse(path, "removing");
            return path;
        }
        // From the first name that is free on nothing need move.
        std::size_t last = 1;
        while (last < max_files && lstat(calc_filename(path, last).c_str(), &about) == 0) ++last;
        for (; last > 0; --last)
            if (rename(calc_filename(path, last - 1).c_str(), calc_filename(path, last).c_str()) != 0)
                refuse(calc_filename(path, last - 1), "renaming");
        return path;
    }
    [[noreturn]] static void refuse(const filename_t& path, const char* what) {
        SP_DETAIL_THROW(spdlog_ex(std::string("rotating_file_sink: failed ") + what + ' ' + path + ": " +
                                  std::strerror(errno)));
    }
};
class null_sink_mt : public native_sink {
  public:
    [[nodiscard]] bool takes_lines_() const override { return true; }
    void log(const details::log_msg&) override {}
};
// spdlog's numbers of facilities are those of <syslog.h>; options have no meaning here.
class syslog_sink_mt : public native_sink {
  public:
    explicit syslog_sink_mt(const std::string& identity = "", int = 0, int facility = 1 << 3,
                            bool enable_formatting = false) {
        constexpr const char* names[] = {"kern", "user", "mail", "daemon", "auth",     "syslog",
                                         "lpr",  "news", "uucp", "cron",   "authpriv", "ftp"};
        const int number = facility >> 3;
        add(settings_, "to", "syslog");
        if (!identity.empty()) add(settings_, "identity", identity);
        if (number >= 0 && number < 12) add(settings_, "facility", names[number]);
        if (number >= 16 && number < 24) add(settings_, "facility", "local" + std::to_string(number - 16));
        if (!enable_formatting) set_pattern("%v");
    }
};
class systemd_sink_mt : public native_sink {
  public:
    explicit systemd_sink_mt(const std::string& identity = "", bool enable_formatting = false) {
        add(settings_, "to", "journald");
        if (!identity.empty()) add(settings_, "identity", identity);
        if (!enable_formatting) set_pattern("%v");
    }
};

// Threads need no locks here: both kinds are the same.
using ansicolor_stdout_sink_mt = stdout_color_sink_mt;
using ansicolor_stderr_sink_mt = stderr_color_sink_mt;
using ansicolor_stdout_sink_st = stdout_color_sink_mt;
using ansicolor_stderr_sink_st = stderr_color_sink_mt;
using stdout_color_sink_st = stdout_color_sink_mt;
using stderr_color_sink_st = stderr_color_sink_mt;
using stdout_sink_st = stdout_sink_mt;
using stderr_sink_st = stderr_sink_mt;
using basic_file_sink_st = basic_file_sink_mt;
using rotating_file_sink_st = rotating_file_sink_mt;
using null_sink_st = null_sink_mt;
using syslog_sink_st = syslog_sink_mt;
using systemd_sink_st = systemd_sink_mt;
// By the type of a mutex, which they do not need.
template <class>
using basic_file_sink = basic_file_sink_mt;
template <class>
using rotating_file_sink = rotating_file_sink_mt;
template <class>
using null_sink = null_sink_mt;
template <class>
using syslog_sink = syslog_sink_mt;
template <class>
using systemd_sink = systemd_sink_mt;
template <class>
using stdout_color_sink = stdout_color_sink_mt;

}  // namespace sinks
}  // namespace spdlog
