// When a message was made, and the prefix of its line: "I20261121 12:34:56.123456  4711 file.cpp:88] ".
#pragma once

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <ostream>
#include <string>

#include "flags.hpp"
#include "severity.hpp"

namespace google {

using WallTime = double;

// The time of a message, taken apart: local, or in UTC with the flag log_utc_time.
// Thread-safe: any thread may read it. Cost: to make one, localtime_r or gmtime_r.
struct LogMessageTime {
    LogMessageTime() = default;
    explicit LogMessageTime(std::tm parts) : tm_(parts), timestamp_(std::mktime(&parts)) {
        find_offset(FLAGS_log_utc_time);
    }
    LogMessageTime(std::time_t timestamp, WallTime now) {
        set(timestamp, static_cast<std::int32_t>((now - static_cast<WallTime>(timestamp)) * 1e6),
            FLAGS_log_utc_time);
    }
    // Seconds since 1970 and microseconds within the second.
    LogMessageTime(std::time_t timestamp, std::int32_t usec, bool utc) { set(timestamp, usec, utc); }

    const time_t& timestamp() const { return timestamp_; }
    const int& sec() const { return tm_.tm_sec; }
    const std::int32_t& usec() const { return usec_; }
    const int&(min)() const { return tm_.tm_min; }
    const int& hour() const { return tm_.tm_hour; }
    const int& day() const { return tm_.tm_mday; }
    const int& month() const { return tm_.tm_mon; }
    const int& year() const { return tm_.tm_year; }
    const int& dayOfWeek() const { return tm_.tm_wday; }
    const int& dayInYear() const { return tm_.tm_yday; }
    const int& dst() const { return tm_.tm_isdst; }
    const long& gmtoff() const { return offset_; }
    const std::tm& tm() const { return tm_; }
    // Another time within the same second.
    void set_usec(std::int32_t usec) { usec_ = usec; }

  private:
    void set(std::time_t timestamp, std::int32_t usec, bool utc) {
        timestamp_ = timestamp;
        usec_ = usec;
        if (utc) {
            gmtime_r(&timestamp_, &tm_);
        } else {
            localtime_r(&timestamp_, &tm_);
        }
        find_offset(utc);
    }
    // Seconds east of Greenwich, without daylight saving time.
    void find_offset(bool utc) { offset_ = utc ? 0 : tm_.tm_gmtoff - (tm_.tm_isdst > 0 ? 3600 : 0); }

    std::tm tm_{};
    time_t timestamp_ = 0;
    std::int32_t usec_ = 0;
    long offset_ = 0;
};

#ifdef GLOG_CUSTOM_PREFIX_SUPPORT
// What a program's own prefix can be made of.
// Thread-safe: any thread may read it. Cost: it refers to what it is made of.
struct LogMessageInfo {
    explicit LogMessageInfo(const char* the_severity, const char* the_filename, const int& the_line_number,
                            const int& the_thread_id, const LogMessageTime& the_time)
        : severity(the_severity),
          filename(the_filename),
          line_number(the_line_number),
          thread_id(the_thread_id),
          time(the_time) {}

    const char* const severity;
    const char* const filename;
    const int& line_number;
    const int& thread_id;
    const LogMessageTime& time;
};

using CustomPrefixCallback = void (*)(std::ostream& out, const LogMessageInfo& info, void* data);
#endif

namespace glog_internal_namespace_ {

inline const char* base_name(const char* path) {
    const char* slash = std::strrchr(path, '/');
    return slash == nullptr ? path : slash + 1;
}

// How the prefix looks.
inline constexpr unsigned kHasPrefix = 1, kHasYear = 2, kIsUtc = 4;
inline unsigned look_now() {
    return (FLAGS_log_prefix ? kHasPrefix : 0) | (FLAGS_log_year_in_prefix ? kHasYear : 0) |
           (FLAGS_log_utc_time ? kIsUtc : 0);
}

inline LogMessageTime time_now() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return {now.tv_sec, static_cast<std::int32_t>(now.tv_nsec / 1000), FLAGS_log_utc_time};
}

// Grows in each forked child.
inline unsigned fork_count = 0;

// The kernel's number of this thread.
inline int thread_number() {
    struct Known {
        unsigned forks;
        int number;
    };
    static thread_local Known known{0, 0};
    if (known.number == 0 || known.forks != fork_count) [[unlikely]]
        known = {fork_count, static_cast<int>(syscall(SYS_gettid))};
    return known.number;
}

// Appends to a buffer that is long enough.
inline char* put_digits(char* out, unsigned value, unsigned digits) {
    for (unsigned i = digits; i-- > 0; value /= 10) out[i] = static_cast<char>('0' + value % 10);
    return out + digits;
}
inline char* put_number(char* out, unsigned value, unsigned width) {
    unsigned digits = 1;
    for (unsigned rest = value; rest >= 10; rest /= 10) ++digits;
    for (; width > digits; --width) *out++ = ' ';
    return put_digits(out, value, digits);
}

// Without the file's name at most so many bytes.
inline constexpr std::size_t kPrefixMost = 64;

// "I20261121 12:34:56.123456  4711 "; returns the end.
inline char* put_time_prefix(char* out, unsigned look, LogSeverity severity, const LogMessageTime& time,
                             int thread) {
    const std::tm& tm = time.tm();
    *out++ = LogSeverityNames[severity][0];
    if ((look & kHasYear) != 0) out = put_digits(out, static_cast<unsigned>(1900 + tm.tm_year), 4);
    out = put_digits(out, static_cast<unsigned>(1 + tm.tm_mon), 2);
    out = put_digits(out, static_cast<unsigned>(tm.tm_mday), 2);
    *out++ = ' ';
    out = put_digits(out, static_cast<unsigned>(tm.tm_hour), 2);
    *out++ = ':';
    out = put_digits(out, static_cast<unsigned>(tm.tm_min), 2);
    *out++ = ':';
    out = put_digits(out, static_cast<unsigned>(tm.tm_sec), 2);
    *out++ = '.';
    out = put_digits(out, static_cast<unsigned>(time.usec()), 6);
    *out++ = ' ';
    out = put_number(out, static_cast<unsigned>(thread), 5);
    *out++ = ' ';
    return out;
}

inline void append_number(std::string& out, unsigned value) {
    char digits[16];
    out.append(digits, static_cast<std::size_t>(put_number(digits, value, 1) - digits));
}

// The whole prefix. `file`: its name without directories.
inline void append_prefix(std::string& out, unsigned look, LogSeverity severity, const LogMessageTime& time,
                          int thread, const char* file, std::size_t file_size, int line) {
    char begin[kPrefixMost];
    out.append(begin, static_cast<std::size_t>(put_time_prefix(begin, look, severity, time, thread) - begin));
    out.append(file, file_size);
    out += ':';
    if (line < 0) {
        out += std::to_string(line);
    } else {
        append_number(out, static_cast<unsigned>(line));
    }
    out += "] ";
}

}  // namespace glog_internal_namespace_
}  // namespace google
