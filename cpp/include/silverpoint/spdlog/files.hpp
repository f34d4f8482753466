// Files that a sink writes itself, in the thread that logs: one for each day or hour, with the date in the
// name. Each line is one write to the system, so it outlives the program.
#pragma once

#include <deque>
#include <tuple>

#include "custom.hpp"
#include "os.hpp"

namespace spdlog {

// Called around the opening and closing of a file.
struct file_event_handlers {
    std::function<void(const filename_t& filename)> before_open;
    std::function<void(const filename_t& filename, std::FILE* file_stream)> after_open;
    std::function<void(const filename_t& filename, std::FILE* file_stream)> before_close;
    std::function<void(const filename_t& filename)> after_close;
};

namespace details {

class file_helper {
  public:
    file_helper() = default;
    explicit file_helper(file_event_handlers handlers) : handlers_(std::move(handlers)) {}
    file_helper(const file_helper&) = delete;
    file_helper& operator=(const file_helper&) = delete;
    ~file_helper() { close(); }

    // Appended to; only `truncate` removes earlier content.
    void open(const filename_t& path, bool truncate = false) {
        close();
        path_ = path;
        if (handlers_.before_open) handlers_.before_open(path_);
        const filename_t directory = os::dir_name(path_);
        if (!directory.empty()) os::create_dir(directory);
        const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (truncate ? O_TRUNC : 0);
        const int fd = ::open(path_.c_str(), flags, 0666);
        file_ = fd < 0 ? nullptr : ::fdopen(fd, "ab");
        if (file_ == nullptr) {
            const int why = errno;
            if (fd >= 0) ::close(fd);
            SP_DETAIL_THROW(
                spdlog_ex("Failed opening file " + path_ + " for writing: " + std::strerror(why)));
        }
        std::setvbuf(file_, nullptr, _IONBF, 0);
        if (handlers_.after_open) handlers_.after_open(path_, file_);
    }
    void reopen(bool truncate) {
        if (path_.empty()) SP_DETAIL_THROW(spdlog_ex("Failed re opening file - was not opened before"));
        open(filename_t(path_), truncate);
    }
    void flush() {
        if (file_ != nullptr && std::fflush(file_) != 0) refuse("Failed flush to file ");
    }
    void sync() {
        if (file_ != nullptr && ::fsync(::fileno(file_)) != 0) refuse("Failed to fsync file ");
    }
    void close() {
        if (file_ == nullptr) return;
        if (handlers_.before_close) handlers_.before_close(path_, file_);
        std::fclose(std::exchange(file_, nullptr));
        if (handlers_.after_close) handlers_.after_close(path_);
    }
    void write(const memory_buf_t& text) {
        if (file_ == nullptr) return;
        if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) refuse("Failed writing to file ");
    }
    [[nodiscard]] std::size_t size() const {
        if (file_ == nullptr) SP_DETAIL_THROW(spdlog_ex("Cannot use size() on closed file " + path_));
        return os::filesize(file_);
    }
    [[nodiscard]] const filename_t& filename() const { return path_; }

    // mylog.txt: mylog and .txt.
    static std::tuple<filename_t, filename_t> split_by_extension(const filename_t& path) {
        const std::size_t end = extension_at_(path);
        return {path.substr(0, end), path.substr(end)};
    }

  private:
    [[noreturn]] void refuse(const char* what) const {
        SP_DETAIL_THROW(spdlog_ex(what + path_ + ": " + std::strerror(errno)));
    }
    file_event_handlers handlers_;
    std::FILE* file_ = nullptr;
    filename_t path_;
};

}  // namespace details

namespace sinks {

namespace detail {

// The date stands before the extension.
inline filename_t dated_name(const filename_t& path, const char* format, const std::tm& now) {
    const std::size_t end = details::extension_at_(path);
    char date[64];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    std::strftime(date, sizeof date, format, &now);
#pragma GCC diagnostic pop
    return path.substr(0, end) + date + path.substr(end);
}

}  // namespace detail

// log_%Y-%m-%d.txt, as strftime has it.
// Thread-safe: any thread. Cost: makes a name, which allocates.
struct daily_filename_format_calculator {
    static filename_t calc_filename(const filename_t& path, const std::tm& now) {
        // A byte behind it, to distinguish an empty result from one that does not fit.
        const filename_t format = path + '.';
        filename_t made(path.size() + 64, '\0');
        std::size_t size = 0;
        while ((size = std::strftime(made.data(), made.size(), format.c_str(), &now)) == 0)
            made.resize(made.size() * 2);
        made.resize(size - 1);
        return made;
    }
};
// log.txt: log_2026-11-26.txt
struct daily_filename_calculator {
    static filename_t calc_filename(const filename_t& path, const std::tm& now) {
        return detail::dated_name(path, "_%Y-%m-%d", now);
    }
};
// log.txt: log_2026-11-26_07.txt
struct hourly_filename_calculator {
    static filename_t calc_filename(const filename_t& path, const std::tm& now) {
        return detail::dated_name(path, "_%Y-%m-%d_%H", now);
    }
};

namespace detail {

// A file for each period from one hour and minute to the next. Of earlier files, max_files - 1 stay. 0: all.
template <class Mutex, class FileNameCalc>
class dated_file : public base_sink<Mutex> {
  public:
    filename_t filename() {
        const std::lock_guard guard(this->mutex_);
        return file_.filename();
    }

  protected:
    // Minute -1: each hour. The arguments are valid.
    dated_file(filename_t path, int hour, int minute, bool truncate, std::uint16_t max_files,
               file_event_handlers handlers)
        : path_(std::move(path)),
          hour_(hour),
          minute_(minute),
          max_files_(max_files),
          truncates_(truncate),
          file_(std::move(handlers)) {
        const auto now = log_clock::now();
        find_old(now);
        open(now);
        remove_surplus();
    }
    void sink_it_(const details::log_msg& msg) override {
        if (msg.time >= next_) {
            open(msg.time);
            remove_surplus();
        }
        memory_buf_t line;
        this->formatter_->format(msg, line);
        file_.write(line);
    }
    void flush_() override { file_.flush(); }

  private:
    filename_t name_at(log_clock::time_point at) const {
        return FileNameCalc::calc_filename(path_, details::os::localtime(log_clock::to_time_t(at)));
    }
    void open(log_clock::time_point now) {
        file_.open(name_at(now), truncates_);
        if (names_.empty() || names_.back() != file_.filename()) names_.push_back(file_.filename());
        next_ = next_after(now);
    }
    [[nodiscard]] log_clock::time_point next_after(log_clock::time_point now) const {
        std::tm at = details::os::localtime(log_clock::to_time_t(now));
        at.tm_sec = 0;
        if (minute_ < 0) {
            at.tm_min = 0;
        } else {
            at.tm_hour = hour_;
            at.tm_min = minute_;
        }
        at.tm_isdst = -1;
        auto next = log_clock::from_time_t(std::mktime(&at));
        while (next <= now) {
            if (minute_ < 0) {
                next += std::chrono::hours(1);
                continue;
            }
            // The next day, which may have 23 or 25 hours.
            ++at.tm_mday;
            at.tm_hour = hour_;
            at.tm_min = minute_;
            at.tm_isdst = -1;
            next = log_clock::from_time_t(std::mktime(&at));
        }
        return next;
    }
    // Those of earlier runs, from now backwards without a gap.
    void find_old(log_clock::time_point now) {
        if (max_files_ == 0) return;
        const auto step = minute_ < 0 ? std::chrono::hours(1) : std::chrono::hours(24);
        for (auto at = now - step; names_.size() + 1 < max_files_; at -= step) {
            filename_t name = name_at(at);
            if (!details::os::path_exists(name)) break;
            if (names_.empty() || names_.front() != name) names_.push_front(std::move(name));
        }
    }
    void remove_surplus() {
        while (max_files_ > 0 && names_.size() > max_files_) {
            const filename_t old = std::move(names_.front());
            names_.pop_front();
            if (details::os::remove_if_exists(old) != 0)
                SP_DETAIL_THROW(spdlog_ex("Failed removing old file " + old + ": " + std::strerror(errno)));
        }
    }

    const filename_t path_;
    const int hour_, minute_;
    const std::uint16_t max_files_;
    const bool truncates_;
    details::file_helper file_;
    log_clock::time_point next_;
    std::deque<filename_t> names_;
};

}  // namespace detail

// Thread-safe: any thread, by its Mutex. Cost: the lock, formats the line, and a system call; once a day, a
// new file.
template <class Mutex, class FileNameCalc = daily_filename_calculator>
class daily_file_sink : public detail::dated_file<Mutex, FileNameCalc> {
  public:
    explicit daily_file_sink(filename_t path, int hour = 0, int minute = 0, bool truncate = false,
                             std::uint16_t max_files = 0, const file_event_handlers& handlers = {})
        : detail::dated_file<Mutex, FileNameCalc>((check(hour, minute), std::move(path)), hour, minute,
                                                  truncate, max_files, handlers) {}

  private:
    static void check(int hour, int minute) {
        if (hour < 0 || hour > 23 || minute < 0 || minute > 59)
            SP_DETAIL_THROW(spdlog_ex("daily_file_sink: Invalid rotation time in ctor"));
    }
};
using daily_file_sink_mt = daily_file_sink<std::mutex>;
using daily_file_sink_st = daily_file_sink<details::null_mutex>;
using daily_file_format_sink_mt = daily_file_sink<std::mutex, daily_filename_format_calculator>;
using daily_file_format_sink_st = daily_file_sink<details::null_mutex, daily_filename_format_calculator>;

// Thread-safe: any thread, by its Mutex. Cost: the lock, formats the line, and a system call; once an hour,
// a new file.
template <class Mutex, class FileNameCalc = hourly_filename_calculator>
class hourly_file_sink : public detail::dated_file<Mutex, FileNameCalc> {
  public:
    explicit hourly_file_sink(filename_t path, bool truncate = false, std::uint16_t max_files = 0,
                              const file_event_handlers& handlers = {})
        : detail::dated_file<Mutex, FileNameCalc>(std::move(path), 0, -1, truncate, max_files, handlers) {}
};
using hourly_file_sink_mt = hourly_file_sink<std::mutex>;
using hourly_file_sink_st = hourly_file_sink<details::null_mutex>;

}  // namespace sinks
}  // namespace spdlog
