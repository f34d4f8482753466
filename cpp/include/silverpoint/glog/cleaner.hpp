// Old files: removing those of earlier runs, and cutting files that have grown too long.
#pragma once

#include <dirent.h>
#include <sys/stat.h>

#include "raw.hpp"

namespace google {
namespace glog_internal_namespace_ {

// Days after which a file is removed; 0: files stay.
inline std::atomic<unsigned> overdue_days{0};

// Whether `name` is that of one of our files: a beginning, "20261121-123456.4711" and the extension.
inline bool is_log_name(std::string_view name, std::string_view begin, std::string_view extension) {
    if (!name.starts_with(begin)) return false;
    name.remove_prefix(begin.size());
    if (!name.ends_with(extension)) return false;
    name.remove_suffix(extension.size());
    if (name.size() < 17 || name[8] != '-' || name[15] != '.') return false;
    for (std::size_t i = 0; i < name.size(); ++i)
        if (i != 8 && i != 15 && (name[i] < '0' || name[i] > '9')) return false;
    return true;
}

// Removes overdue files of a directory whose names begin with this.
inline void clean(const std::string& directory, std::string_view begin, std::string_view extension) {
    const unsigned days = overdue_days.load(std::memory_order_relaxed);
    DIR* found = opendir(directory.c_str());
    if (found == nullptr) return;
    const time_t now = std::time(nullptr);
    while (const dirent* entry = readdir(found)) {
        if (!is_log_name(entry->d_name, begin, extension)) continue;
        const std::string path = directory + '/' + entry->d_name;
        struct stat about {};
        // A link is not a log file, no matter where it leads.
        if (lstat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
            now - about.st_mtime >= static_cast<time_t>(days) * 86400)
            ::unlink(path.c_str());
    }
    closedir(found);
}

// Searched when a file of this severity was written to, at most every logcleansecs seconds. With the lock
// held.
inline void clean_beside(LogSeverity severity, const LogFile& file, time_t now) {
    static time_t next[NUM_SEVERITIES];
    if (overdue_days.load(std::memory_order_relaxed) == 0 || now < next[severity]) return;
    next[severity] = now + FLAGS_logcleansecs;
    if (file.has_base_name()) {
        const std::string& base = file.base_name();
        const std::size_t slash = base.rfind('/');
        clean(slash == std::string::npos ? "." : base.substr(0, slash),
              slash == std::string::npos ? base : base.substr(slash + 1), file.extension());
        return;
    }
    const std::string begin = std::string(short_program_name()) + '.' + host_name() + '.' + user_name() +
                              ".log." + LogSeverityNames[severity] + '.';
    for (const std::string& directory : GetLoggingDirectories()) clean(directory, begin, file.extension());
}

}  // namespace glog_internal_namespace_

// From now on files of earlier runs that were not written to for so many days are removed.
// Thread-safe: any thread. Cost: the lock of the files. From then on the thread that writes a file lists its
// directory from time to time.
inline void EnableLogCleaner(unsigned overdue_days) {
    glog_internal_namespace_::overdue_days = overdue_days;
    const glog_internal_namespace_::StateLock lock;
    glog_internal_namespace_::state.after_write =
        overdue_days == 0 ? nullptr : glog_internal_namespace_::clean_beside;
}
inline void DisableLogCleaner() { EnableLogCleaner(0); }

// Keeps the last `keep` bytes of a file of more than `limit` bytes. A link is not followed: if others may
// create it, it could lead to any file. (The links in /proc/self/fd are the process's own.)
// Thread-safe: any thread. Cost: reads and writes the bytes that are kept.
inline void TruncateLogFile(const char* path, uint64 limit, uint64 keep) {
    const bool is_own = std::string_view(path).starts_with("/proc/self/fd/");
    const int file = ::open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (is_own ? 0 : O_NOFOLLOW));
    if (file < 0) {
        if (errno != EFBIG)
            ErrnoLogMessage(__FILE__, __LINE__, GLOG_ERROR, 0, &LogMessage::SendToLog).stream()
                << "Unable to open " << path;
        return;
    }
    struct stat about {};
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && static_cast<uint64>(about.st_size) > limit &&
        static_cast<uint64>(about.st_size) > keep) {
        LogMessage(__FILE__, __LINE__).stream() << "Truncating " << path << " to " << keep << " bytes";
        std::string kept(keep, '\0');
        const ssize_t size = pread(file, kept.data(), kept.size(), about.st_size - static_cast<off_t>(keep));
        // Cut only when the kept part is at its place: a full disk or an error loses nothing.
        ssize_t done = 0;
        while (done < size) {
            const ssize_t written =
                pwrite(file, kept.data() + done, static_cast<std::size_t>(size - done), done);
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) break;
            done += written;
        }
        if (size >= 0 && done == size && ftruncate(file, size) != 0)
            ErrnoLogMessage(__FILE__, __LINE__, GLOG_ERROR, 0, &LogMessage::SendToLog).stream()
                << "Unable to truncate " << path;
    }
    ::close(file);
}
// Of stdout and stderr, when they are files.
// Thread-safe: any thread. Cost: that of TruncateLogFile, twice.
inline void TruncateStdoutStderr() {
    const uint64 limit = uint64{FLAGS_max_log_size} << 20;
    TruncateLogFile("/proc/self/fd/1", limit, 1u << 20);
    TruncateLogFile("/proc/self/fd/2", limit, 1u << 20);
}

}  // namespace google
