// One message as text, in the thread that logs it: for the console, for sinks, and for the files.
#pragma once

#include <syslog.h>

#include "../detail/usdt_message.hpp"
#include "last_words.hpp"

namespace google::glog_internal_namespace_ {

inline silverpoint::Level level_of(LogSeverity severity) {
    constexpr silverpoint::Level kLevels[] = {silverpoint::Level::kInfo, silverpoint::Level::kWarn,
                                              silverpoint::Level::kError, silverpoint::Level::kFatal};
    return kLevels[severity];
}

// Other receivers of a message.
struct Extra {
    LogSink* sink = nullptr;
    std::vector<std::string>* list = nullptr;
    std::string* text = nullptr;
    bool to_log = true;
    bool to_syslog = false;
};

struct Message {
    LogSeverity severity;
    const char* file;
    int line;
    std::string_view text;  // with at most one line end behind it
    LogMessageTime time;
    Extra extra;
};

inline void send_to_sinks(const Message& message, std::string_view text, LogSink* only) {
    const Outside guard;
    const auto send = [&](LogSink* sink) {
        sink->send(message.severity, message.file, base_name(message.file), message.line, message.time,
                   text.data(), text.size());
    };
    if (only != nullptr) return send(only);
    const std::shared_lock lock(sinks.lock);
    for (auto sink = sinks.list.rbegin(); sink != sinks.list.rend(); ++sink) send(*sink);
}

inline void wait_for_sinks(LogSink* also) {
    const Outside guard;
    {
        const std::shared_lock lock(sinks.lock);
        for (auto sink = sinks.list.rbegin(); sink != sinks.list.rend(); ++sink) (*sink)->WaitTillSent();
    }
    if (also != nullptr) also->WaitTillSent();
}

// The stack of a message at the place that log_backtrace_at names. As in glog, it becomes the beginning of
// the message's text for all outputs. Returns whether there is one.
inline bool append_backtrace(std::string& out, const Message& message) {
    if (message.line == -1 || FLAGS_log_backtrace_at.empty()) return false;
    std::string here = base_name(message.file);
    here.append(":").append(std::to_string(message.line));
    if (here != FLAGS_log_backtrace_at) return false;
    out += " (stacktrace:\n";
    append_stack(out);
    out += ") ";
    return true;
}

// What stands before a message's text.
inline void append_head(Scratch& out, const Message& message) {
    if (message.line == -1) return;
    if (const unsigned look = look_now(); (look & kHasPrefix) != 0) {
        const char* file = base_name(message.file);
        if (state.custom_prefix != nullptr) {
            const Outside guard;
            // As in glog: a field with a width is padded with zeros.
            out.fill('0');
            state.custom_prefix(out, message.severity, file, message.line, message.time);
            out << ' ';
        } else {
            append_prefix(out.text(), look, message.severity, message.time, thread_number(), file,
                          std::strlen(file), message.line);
        }
    }
}

// Whether a record was made.
enum class Recorded { kNo, kYes };

// What a record is made of: the typed message; its text, if a stack precedes it; or the text for the console
// only.
enum class For { kFiles, kFilesAsText, kConsole };

inline bool is_logger_alive() { return silverpoint_flush(0) != SILVERPOINT_NOT_RUNNING; }

// `record` makes the message's record, which goes to the files when the logger writes them.
template <class Record>
void deliver(Message message, const Record& record) {
    if (message.severity < FLAGS_minloglevel) return;
    const sp::SystemGuard errno_stays;
    const Inside within;
    const Extra& extra = message.extra;
    const ScratchHolder scratch;
    std::string& line = scratch->text();
    append_head(*scratch, message);
    const std::size_t prefix = line.size();
    const For files = append_backtrace(line, message) ? For::kFilesAsText : For::kFiles;
    line += message.text;
    if (line.size() > kLineMost) line.resize(kLineMost);
    if (line.empty() || line.back() != '\n' || line.size() == prefix) line += '\n';
    const std::string_view text = std::string_view(line).substr(prefix, line.size() - prefix - 1);

    if (extra.to_log && sp::usdt_wants_messages()) [[unlikely]]
        sp::usdt_message(level_of(message.severity), kCategory, text, message.file,
                         message.line < 0 ? 0 : static_cast<std::uint32_t>(message.line));
    bool is_counted_later = false;
    if (extra.list != nullptr) {
        extra.list->emplace_back(text);
    }
    if (extra.text != nullptr) extra.text->assign(text);
    if (extra.sink != nullptr) send_to_sinks(message, text, extra.sink);
    if (extra.to_log) {
        unsigned how = state.how.load(std::memory_order_acquire);
        const bool is_initialized = (how & kInitialized) != 0;
        if (!is_initialized) {
            const StateLock lock;
            if (!std::exchange(state.has_warned, true))
                std::fputs("WARNING: Logging before InitGoogleLogging() is written to STDERR\n", stderr);
        }
        const bool to_console = FLAGS_logtostderr || FLAGS_logtostdout || !is_initialized;
        if (!to_console && (how & kAsync) != 0) {
            if (how >> kLookAt != look_now()) take_look(look_now());
            // Written by this thread if no record can be made. A site that was switched off stays off.
            is_counted_later = record(text, files) == Recorded::kYes;
            if (!is_counted_later && !is_logger_alive()) {
                change_how(kAsync, 0);
                how &= ~kAsync;
            }
        } else {
            record(text, (how & kAsync) != 0 ? For::kConsole : files);
        }
        if (!to_console && (how & kAsync) == 0) {
            const StateLock lock;
            write_files(message.severity, message.time.timestamp(), line.data(), line.size());
        }
        if (FLAGS_logtostdout) {
            write_stdout(message.severity, line.data(), line.size());
        } else if (to_console || message.severity >= FLAGS_stderrthreshold || FLAGS_alsologtostderr) {
            write_stderr(message.severity, line.data(), line.size());
        }
        send_to_sinks(message, text, nullptr);
        if (extra.to_syslog) {
            constexpr int kPriorities[] = {LOG_INFO, LOG_WARNING, LOG_ERR, LOG_EMERG};
            openlog(short_program_name(), LOG_CONS | LOG_NDELAY | LOG_PID, LOG_USER);
            ::syslog(kPriorities[message.severity], "%.*s", static_cast<int>(text.size()), text.data());
            closelog();
        }
        if (message.severity == GLOG_FATAL) {
            {
                const StateLock lock;
                if (state.fatal_message.empty()) {
                    state.fatal_message = line;
                    state.fatal_time = message.time.timestamp();
                }
            }
            stop_logger();
            wait_for_sinks(nullptr);
            const Outside guard;
            end_after_failure();
        }
    }
    if (!is_counted_later) state.messages[message.severity].fetch_add(1, std::memory_order_relaxed);
    wait_for_sinks(extra.sink);
}

}  // namespace google::glog_internal_namespace_
