// Functions of the program that receive each message when it is logged.
#pragma once

#include <algorithm>
#include <shared_mutex>
#include <string>
#include <vector>

#include "time.hpp"

namespace google {

// Called in the thread that logs, before LOG returns. May not log itself.
// Thread-safe: send may run in several threads at once, with a shared lock of the sinks held. Cost: the
// program's own; the thread that logs waits for it.
class LogSink {
  public:
    virtual ~LogSink() = default;

    // `message` has no terminating zero byte, no prefix and no line end.
    virtual void send(LogSeverity severity, const char* full_filename, const char* base_filename, int line,
                      const LogMessageTime& time, const char* message, size_t message_len) {
        _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wdeprecated-declarations\"")
            send(severity, full_filename, base_filename, line, &time.tm(), message, message_len);
        _Pragma("GCC diagnostic pop")
    }
    // The older form of sinks.
    [[deprecated]] virtual void send(LogSeverity, const char*, const char*, int, const std::tm*, const char*,
                                     size_t) {}
    // Called after each message, outside of all locks: a sink that works in another thread may wait for it.
    virtual void WaitTillSent() {}

    // The line as it would stand in a file, without its end.
    static std::string ToString(LogSeverity severity, const char* file, int line, const LogMessageTime& time,
                                const char* message, size_t message_len) {
        using namespace glog_internal_namespace_;
        std::string text;
        append_prefix(text, kHasPrefix | kHasYear, severity, time, thread_number(), file, std::strlen(file),
                      line);
        return text.append(message, message_len);
    }
};

namespace glog_internal_namespace_ {

// Sinks that receive everything. Never destroyed.
struct Sinks {
    std::shared_mutex lock;
    std::vector<LogSink*> list;
};
inline Sinks& sinks = *new Sinks;

}  // namespace glog_internal_namespace_
}  // namespace google
