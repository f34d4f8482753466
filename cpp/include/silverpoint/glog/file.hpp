// A log file, made when there is something to write. Its name has the program, the machine, the user, the
// severity, the time and the process. A new file begins when it has grown too large.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

#include "directories.hpp"
#include "time.hpp"

namespace google {
namespace base {

// Receives the lines of one severity and of those above. A program may install its own (SetLogger).
// Thread-safe: called by one thread at a time, with the lock of the files held. Cost: the program's own.
class Logger {
  public:
    virtual ~Logger() = default;
    virtual void Write(bool force_flush, time_t timestamp, const char* message, size_t message_len) = 0;
    virtual void Flush() = 0;
    // Bytes, about.
    virtual uint32 LogSize() = 0;
};

}  // namespace base

namespace glog_internal_namespace_ {

inline const time_t process_start = std::time(nullptr);
inline std::string& fingerprint = *new std::string;

// "20261121-123456.4711"
inline std::string time_and_process(time_t timestamp) {
    const std::tm tm = LogMessageTime(timestamp, 0, FLAGS_log_utc_time).tm();
    char text[64];
    char* out = put_digits(text, static_cast<unsigned>(1900 + tm.tm_year), 4);
    out = put_digits(out, static_cast<unsigned>(1 + tm.tm_mon), 2);
    out = put_digits(out, static_cast<unsigned>(tm.tm_mday), 2);
    *out++ = '-';
    for (const int part : {tm.tm_hour, tm.tm_min, tm.tm_sec})
        out = put_digits(out, static_cast<unsigned>(part), 2);
    *out++ = '.';
    out = put_number(out, static_cast<unsigned>(getpid()), 1);
    return {text, out};
}

// Not for several threads at once: the holder of the files' lock uses it.
class LogFile final : public base::Logger {
  public:
    explicit LogFile(LogSeverity severity) : severity_(severity) {}
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;
    ~LogFile() override { close(); }

    // A path to which extension, time and process are appended; empty: no file.
    void set_base_name(const std::string& name) {
        has_base_name_ = true;
        if (base_name_ == name) return;
        close();
        base_name_ = name;
    }
    void set_extension(const std::string& extension) {
        if (extension_ == extension) return;
        close();
        extension_ = extension;
    }
    // The name of the link beside the file that leads to it; empty: none.
    void set_link(const std::string& name) {
        has_link_ = true;
        link_ = name;
    }

    void Write(bool force_flush, time_t timestamp, const char* message, size_t size) override {
        if (has_base_name_ && base_name_.empty()) return;
        const std::uint32_t most =
            FLAGS_max_log_size > 0 && FLAGS_max_log_size < 4096 ? FLAGS_max_log_size : 1;
        if (length_ >> 20 >= most || forks_ != fork_count) {
            close();
            length_ = 0;
            next_attempt_ = 0;
        }
        if (descriptor_ < 0) {
            // Not retried with every message if no file can be made.
            if (next_attempt_ > 0) {
                --next_attempt_;
                return;
            }
            next_attempt_ = kPause;
            if (!create(timestamp)) return;
        }
        if (is_stopped_) {
            if (timestamp < next_flush_) return;
            is_stopped_ = false;
        }
        waiting_.append(message, size);
        length_ += size;
        if (force_flush || waiting_.size() >= kRoom || timestamp >= next_flush_) {
            Flush();
            next_flush_ = timestamp + FLAGS_logbufsecs;
        }
    }

    void Flush() override {
        std::size_t done = 0;
        while (descriptor_ >= 0 && done < waiting_.size()) {
            const ssize_t written = ::write(descriptor_, waiting_.data() + done, waiting_.size() - done);
            if (written > 0) {
                done += static_cast<std::size_t>(written);
            } else if (written < 0 && errno != EINTR) {
                is_stopped_ = errno == ENOSPC && FLAGS_stop_logging_if_full_disk;
                // Retried with the next lines, as long as there are not too many.
                if (!is_stopped_ && waiting_.size() - done < kMost) break;
                done = waiting_.size();
            }
        }
        waiting_.erase(0, done);
    }

    uint32 LogSize() override { return static_cast<uint32>(length_); }

    // The file's directory and the beginning of its name, for removing old files.
    const std::string& path() const { return path_; }
    const std::string& base_name() const { return base_name_; }
    const std::string& extension() const { return extension_; }
    bool has_base_name() const { return has_base_name_; }

  private:
    // Messages between two attempts to make a file, and bytes that wait for the system.
    static constexpr unsigned kPause = 31;
    static constexpr std::size_t kRoom = 64u << 10, kMost = 1u << 20;

    void close() {
        Flush();
        waiting_.clear();
        if (descriptor_ >= 0) ::close(descriptor_);
        descriptor_ = -1;
        next_attempt_ = 0;
    }

    bool create(time_t timestamp) {
        const std::string end = time_and_process(timestamp);
        if (has_base_name_) {
            if (open(base_name_, end)) return begin(timestamp);
            std::perror("Could not create logging file");
            std::fprintf(stderr, "COULD NOT CREATE A LOGGINGFILE %s!", end.c_str());
            return false;
        }
        const std::string name = std::string(short_program_name()) + '.' + host_name() + '.' + user_name() +
                                 ".log." + LogSeverityNames[severity_] + '.';
        for (const std::string& directory : GetLoggingDirectories()) {
            if (open(directory + '/' + name, end)) {
                // From now on the file goes there, no matter what the directories are.
                has_base_name_ = true;
                base_name_ = directory + '/' + name;
                return begin(timestamp);
            }
        }
        std::perror("Could not create logging file");
        std::fprintf(
            stderr,
            FLAGS_log_dir.empty() ? "COULD NOT CREATE LOGFILE '%s'!\n" : "COULD NOT CREATE A LOGGINGFILE %s!",
            end.c_str());
        return false;
    }

    bool open(const std::string& base, const std::string& end) {
        std::string path = base;
        int flags = O_WRONLY | O_CREAT | O_CLOEXEC;
        // Otherwise the same name leads to the same file, which is continued.
        if (FLAGS_timestamp_in_logfile_name) {
            path += end;
            flags |= O_EXCL;
        }
        path += extension_;
        descriptor_ = ::open(path.c_str(), flags, static_cast<mode_t>(FLAGS_logfile_mode));
        if (descriptor_ < 0) return false;
        struct flock lock {};
        lock.l_type = F_WRLCK;
        lock.l_whence = SEEK_SET;
        // Another process writes it.
        if (!FLAGS_timestamp_in_logfile_name && fcntl(descriptor_, F_SETLK, &lock) != 0) {
            ::close(descriptor_);
            descriptor_ = -1;
            return false;
        }
        forks_ = fork_count;
        lseek(descriptor_, 0, SEEK_END);
        path_ = path;
        make_links();
        return true;
    }

    void make_links() const {
        const std::string link = has_link_ ? link_ : short_program_name();
        if (link.empty()) return;
        const std::string name = link + '.' + LogSeverityNames[severity_];
        const std::size_t slash = path_.rfind('/');
        const std::string directory = slash == std::string::npos ? "" : path_.substr(0, slash + 1);
        // In the same directory the link has only the file's name, so both may be moved; elsewhere it has the
        // whole path.
        replace_link(directory + name, slash == std::string::npos ? path_ : path_.substr(slash + 1));
        if (!FLAGS_log_link.empty()) replace_link(FLAGS_log_link + '/' + name, path_);
    }
    static void replace_link(const std::string& link, const std::string& to) {
        struct stat about {};
        // A user's own file with that name stays.
        if (::lstat(link.c_str(), &about) == 0 && S_ISLNK(about.st_mode)) ::unlink(link.c_str());
        // A missing link is no error: the log itself works.
        if (::symlink(to.c_str(), link.c_str()) != 0) errno = 0;
    }

    // What each file begins with.
    bool begin(time_t timestamp) {
        next_attempt_ = 0;
        const std::tm tm = LogMessageTime(timestamp, 0, FLAGS_log_utc_time).tm();
        char created[32], since[32];
        std::strftime(created, sizeof created, "%Y/%m/%d %H:%M:%S", &tm);
        const long run = static_cast<long>(timestamp - process_start);
        std::snprintf(since, sizeof since, "%ld:%02ld:%02ld", run / 3600, run / 60 % 60, run % 60);
        std::string head = "Log file created at: ";
        head.append(created).append("\nRunning on machine: ").append(host_name()).append("\n");
        if (!fingerprint.empty()) head.append("Application fingerprint: ").append(fingerprint).append("\n");
        head.append("Running duration (h:mm:ss): ").append(since);
        head.append("\nLog line format: [IWEF]")
            .append(FLAGS_log_year_in_prefix ? "yyyymmdd" : "mmdd")
            .append(" hh:mm:ss.uuuuuu threadid file:line] msg\n");
        waiting_ += head;
        length_ += head.size();
        return true;
    }

    const LogSeverity severity_;
    bool has_base_name_ = false, has_link_ = false, is_stopped_ = false;
    std::string base_name_, extension_, link_, path_, waiting_;
    int descriptor_ = -1;
    unsigned forks_ = fork_count;
    unsigned next_attempt_ = 0;  // messages until then
    std::uint64_t length_ = 0;
    time_t next_flush_ = 0;
};

}  // namespace glog_internal_namespace_

// Stands in the beginning of each file.
// Thread-safe: before other threads log. Cost: a copy of the text.
inline void SetApplicationFingerprint(const std::string& fingerprint) {
    glog_internal_namespace_::fingerprint = fingerprint;
}

}  // namespace google
