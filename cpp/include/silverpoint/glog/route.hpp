// The way of messages through the logger inside the process. InitGoogleLogging starts it, and its output goes
// to the files.
#pragma once

#include "../logger.h"
#include "../silverpoint.hpp"
#include "scratch.hpp"
#include "state.hpp"

namespace google::glog_internal_namespace_ {

// This line number says that the line has no prefix.
inline constexpr std::uint32_t kNoLine = 0xFFFFFFFF;

// The category of all messages' sites.
inline constexpr const char* kCategory = "glog";
// The category of messages that no file gets. Directives and filters for the other name select it, too.
inline constexpr const char* kConsoleCategory = "glog.console";

inline LogSeverity severity_of(int level) {
    return level >= 5 ? GLOG_FATAL : level == 4 ? GLOG_ERROR : level == 3 ? GLOG_WARNING : GLOG_INFO;
}

// What the logger's thread keeps from one message to the next.
struct Taken {
    std::string line;
    LogMessageTime time;
    time_t second = -1;
    unsigned look = 0;
};

// A record, in the logger's thread; null when no more wait.
inline void take_event(const silverpoint_event* event, void*) {
    static Taken& taken = *new Taken;
    const unsigned how = state.how.load(std::memory_order_acquire);
    // From a time in which the logging threads wrote the files.
    if ((how & kAsync) == 0) return;
    if (event != nullptr && std::string_view(event->category.data, event->category.size) != kCategory) return;
    if (event == nullptr) {
        const StateLock lock;
        flush_files(0);
        return;
    }
    const unsigned look = how >> kLookAt;
    const LogSeverity severity = severity_of(event->level);
    constexpr std::int64_t kSecond = 1'000'000'000;
    const time_t second = static_cast<time_t>(event->wall_ns / kSecond);
    const auto usec = static_cast<std::int32_t>(event->wall_ns % kSecond / 1000);
    std::string& line = taken.line;
    line.clear();
    if ((look & kHasPrefix) != 0 && event->line != kNoLine) {
        // The calendar is asked once a second.
        if (second != taken.second || look != taken.look) {
            taken.second = second;
            taken.look = look;
            taken.time = LogMessageTime(second, usec, (look & kIsUtc) != 0);
        }
        taken.time.set_usec(usec);
        const std::string_view path(event->file.data, event->file.size);
        const std::size_t slash = path.rfind('/');
        const std::string_view file = slash == std::string_view::npos ? path : path.substr(slash + 1);
        append_prefix(line, look, severity, taken.time, static_cast<int>(event->tid), file.data(),
                      file.size(), static_cast<int>(event->line));
    }
    render(line, {event->text.data, event->text.size}, {event->signature.data, event->signature.size},
           event->args, event->args_size);
    if (line.size() > kLineMost) line.resize(kLineMost);
    const std::string_view text(event->text.data, event->text.size);
    if (ends_with_literal(text) || line.empty() || line.back() != '\n') line += '\n';
    state.messages[severity].fetch_add(1, std::memory_order_relaxed);
    const StateLock lock;
    write_files(severity, second, line.data(), line.size());
}

// Every logger that this process starts passes our records to us.
inline const bool is_taking =
    silverpoint_add_handler(kCategory, "glog=debug", take_event, nullptr) == SILVERPOINT_DONE;

// How long the end of the program, and a flush, wait for files.
inline constexpr std::uint64_t kPatienceMs = 10'000;

// Whether it is this process that collects from itself.
inline bool collects_itself() {
    using namespace silverpoint::detail;
    if (!session.is_ready()) return false;
    return session.header().collector_pid.load(std::memory_order_acquire) == process_id();
}

// Waits until all earlier messages are in the files' buffers.
inline void wait_for_files() {
    const silverpoint::detail::SystemGuard errno_stays;
    if ((state.how.load(std::memory_order_acquire) & kAsync) != 0) silverpoint_flush(kPatienceMs);
}

// From now on the logging threads write the files.
inline void write_synchronously() {
    wait_for_files();
    change_how(kAsync, 0);
}

inline void stop_logger() {
    const silverpoint::detail::SystemGuard errno_stays;
    wait_for_files();
    if (state.owns_logger) {
        state.owns_logger = false;
        silverpoint_stop(kPatienceMs);
    }
    change_how(kAsync, 0);
    const StateLock lock;
    flush_files(0);
}

// The logger writes the files if there can be one. A program from which `silverpoint run` or `attach`
// collects cannot have one, and writes its files itself.
inline void start_logger() {
    using namespace silverpoint::detail;
    const SystemGuard errno_stays;
    if (!is_taking || !ensure_session()) return;
    const std::uint32_t collector = session.header().collector_pid.load(std::memory_order_acquire);
    // Also a collector that is still to come: `silverpoint run` attaches after the program has begun.
    if (collector != process_id() && session.is_collected()) return;
    const int started = silverpoint_start("record = \"off\"\n", nullptr, 0);
    if (started != SILVERPOINT_DONE && started != SILVERPOINT_RUNNING) return;
    if (!collects_itself()) {
        if (started == SILVERPOINT_DONE) silverpoint_stop(0);
        return;
    }
    // Earlier messages were written where they were logged.
    silverpoint_flush(kPatienceMs);
    state.owns_logger = started == SILVERPOINT_DONE;
    change_how(0, kAsync);
}

// At the end of the program pending messages are written. Messages of static destructors then go to the files
// at once.
inline void watch_end() {
    // Before the logger's own end, which was registered before.
    static const bool is_registered = std::atexit([] {
                                          stop_logger();
                                          const StateLock lock;
                                          state.is_ending = true;
                                      }) == 0;
    static_cast<void>(is_registered);
}

// The flags now ask for another prefix: lines that are on their way keep the old one.
inline void take_look(unsigned look) {
    wait_for_files();
    change_how(~0u << kLookAt, look << kLookAt);
}

}  // namespace google::glog_internal_namespace_
