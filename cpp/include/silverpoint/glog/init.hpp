// Beginning, end and destinations of logging.
#pragma once

#include "check.hpp"
#include "cleaner.hpp"

namespace google {

// Thread-safe: any thread. Cost: an atomic load.
inline bool IsGoogleLoggingInitialized() { return glog_internal_namespace_::is_initialized(); }

// From now on messages go to files, which the logger's thread writes.
// Thread-safe: one thread at a time. Cost: starts the logger and its thread.
inline void InitGoogleLogging(const char* argv0) {
    using namespace glog_internal_namespace_;
    if (is_initialized())
        LogMessageFatal(__FILE__, __LINE__).stream()
            << "Check failed: !IsGoogleLoggingInitialized() You called InitGoogleLogging() twice!";
    program_name.store(kept_program_name(base_name(argv0)), std::memory_order_release);
    state.fail.store(dump_stack_and_abort, std::memory_order_release);
    // A prefix of the program's own, and so the whole line, is made where a message is logged.
    if (!FLAGS_logtostderr && !FLAGS_logtostdout && state.custom_prefix == nullptr) start_logger();
    watch_end();
    change_how(~0u << kLookAt, look_now() << kLookAt);
    change_how(0, kInitialized);
}

#ifdef GLOG_CUSTOM_PREFIX_SUPPORT
// The callback writes what stands before each message, but for a space.
inline void InitGoogleLogging(const char* argv0, CustomPrefixCallback callback, void* data = nullptr) {
    using namespace glog_internal_namespace_;
    if (callback != nullptr) {
        state.custom_prefix_callback = reinterpret_cast<void*>(callback);
        state.custom_prefix_data = data;
        state.custom_prefix = [](std::ostream& out, LogSeverity severity, const char* file, int line,
                                 const LogMessageTime& time) {
            const int thread = thread_number();
            reinterpret_cast<CustomPrefixCallback>(state.custom_prefix_callback)(
                out, LogMessageInfo(LogSeverityNames[severity], file, line, thread, time),
                state.custom_prefix_data);
        };
        change_how(0, kHasCustomPrefix);
    }
    InitGoogleLogging(argv0);
}
#endif

// Everything is written and files are closed. Later messages go to stderr.
// Thread-safe: one thread at a time. Cost: waits until earlier messages are in their files, at most ten
// seconds, and closes these.
inline void ShutdownGoogleLogging() {
    using namespace glog_internal_namespace_;
    if (!is_initialized())
        LogMessageFatal(__FILE__, __LINE__).stream() << "Check failed: IsGoogleLoggingInitialized() You "
                                                        "called ShutdownGoogleLogging() without calling "
                                                        "InitGoogleLogging() first!";
    stop_logger();
    change_how(kInitialized, 0);
    const StateLock lock;
    for (auto& file : state.files) file.reset();
    // SetLogger gave them away.
    for (base::Logger*& logger : state.loggers) delete std::exchange(logger, nullptr);
    state.has_extension = false;
    state.extension.clear();
    program_name.store(nullptr, std::memory_order_release);
}

// Waits until all earlier messages of these severities are in their files.
// Thread-safe: any thread. Cost: waits until earlier messages are in their files, at most ten seconds.
inline void FlushLogFiles(LogSeverity min_severity) {
    using namespace glog_internal_namespace_;
    wait_for_files();
    const StateLock lock;
    flush_files(min_severity);
}
inline void FlushLogFilesUnsafe(LogSeverity min_severity) { FlushLogFiles(min_severity); }

// A path that the extension, the time and the process are appended to; empty: no file for this severity.
// Thread-safe: any thread. Cost: that of FlushLogFiles, and the lock of the files.
inline void SetLogDestination(LogSeverity severity, const char* base_filename) {
    using namespace glog_internal_namespace_;
    wait_for_files();
    const StateLock lock;
    state.file(severity).set_base_name(base_filename);
}

// The link beside the file: name.SEVERITY; empty: none.
// Thread-safe: any thread. Cost: that of FlushLogFiles, and the lock of the files.
inline void SetLogSymlink(LogSeverity severity, const char* symlink_basename) {
    using namespace glog_internal_namespace_;
    wait_for_files();
    const StateLock lock;
    state.file(severity).set_link(symlink_basename);
}

// Stands between a file's name and the time.
// Thread-safe: any thread. Cost: that of FlushLogFiles, and the lock of the files.
inline void SetLogFilenameExtension(const char* filename_extension) {
    using namespace glog_internal_namespace_;
    wait_for_files();
    const StateLock lock;
    state.extension = filename_extension;
    state.has_extension = true;
    for (LogSeverity severity = 0; severity < NUM_SEVERITIES; ++severity)
        state.file(severity).set_extension(state.extension);
}

// Messages of this severity and above go to stderr, too.
// Thread-safe: one thread at a time. Cost: a store.
inline void SetStderrLogging(LogSeverity min_severity) {
    FLAGS_stderrthreshold = min_severity < 0 ? 0 : min_severity;
}

// All messages go to stderr, and none to files.
// Thread-safe: one thread at a time. Cost: that of SetLogDestination for each severity.
inline void LogToStderr() {
    SetStderrLogging(0);
    for (LogSeverity severity = 0; severity < NUM_SEVERITIES; ++severity) SetLogDestination(severity, "");
}

// Thread-safe: any thread. Cost: a lock. While there is a sink, the thread that logs formats each message.
inline void AddLogSink(LogSink* destination) {
    using namespace glog_internal_namespace_;
    const Inside within;
    const std::unique_lock lock(sinks.lock);
    sinks.list.push_back(destination);
    change_how(0, kHasSinks);
}
inline void RemoveLogSink(LogSink* destination) {
    using namespace glog_internal_namespace_;
    const Inside within;
    const std::unique_lock lock(sinks.lock);
    const auto found = std::find(sinks.list.begin(), sinks.list.end(), destination);
    if (found != sinks.list.end()) sinks.list.erase(found);
    if (sinks.list.empty()) change_how(kHasSinks, 0);
}

// Nothing is mailed: these functions return that as their result, and do nothing else.
// Thread-safe: any thread. Cost: none.
inline void SetEmailLogging(LogSeverity, const char*) {}
inline bool SendEmail(const char*, const char*, const char*) { return false; }

namespace base {

// Receives the lines of a severity instead of a file. ShutdownGoogleLogging() deletes the one that is
// installed then. One that was replaced belongs to the caller.
// Thread-safe: any thread. Cost: the lock of the files; SetLogger also that of FlushLogFiles.
inline Logger* GetLogger(LogSeverity severity) {
    using namespace glog_internal_namespace_;
    const StateLock lock;
    return &state.logger(severity);
}
inline void SetLogger(LogSeverity severity, Logger* logger) {
    using namespace glog_internal_namespace_;
    wait_for_files();
    const StateLock lock;
    const bool is_own = logger == state.files[severity].get();
    state.loggers[severity] = is_own ? nullptr : logger;
}

}  // namespace base
}  // namespace google
