// Messages as objects with a std::ostream. They are for severities known only at run time, fatal messages,
// system errors, and messages for a sink or a string. Each is text from the beginning.
#pragma once

#include <unordered_map>

#include "line.hpp"

namespace google {

struct CheckOpString;

namespace base_logging {

// Keeps what fits into a caller's memory, less two bytes; the rest is left out.
// Thread-safe: one thread at a time. Cost: bytes in the caller's memory.
class LogStreamBuf : public std::streambuf {
  public:
    LogStreamBuf(char* buffer, int size) { setp(buffer, buffer + size - 2); }
    int_type overflow(int_type c) override { return traits_type::not_eof(c); }
    std::size_t pcount() const { return static_cast<std::size_t>(pptr() - pbase()); }
    char* pbase() const { return std::streambuf::pbase(); }
};

}  // namespace base_logging

namespace glog_internal_namespace_ {

// The place of a file's name, a line and a severity: made once.
inline Place& place_of(const char* file, int line, LogSeverity severity) {
    static std::mutex& lock = *new std::mutex;
    static auto& known = *new std::unordered_map<std::uint64_t, Place*>;
    std::uint64_t key = 0xCBF29CE484222325u;
    const auto add = [&](unsigned char byte) { key = (key ^ byte) * 0x100000001B3u; };
    for (const char* c = file; *c != 0; ++c) add(static_cast<unsigned char>(*c));
    for (unsigned i = 0; i < 4; ++i) add(static_cast<unsigned char>(static_cast<unsigned>(line) >> 8 * i));
    add(static_cast<unsigned char>(severity));
    const std::lock_guard guard(lock);
    Place*& place = known[key];
    if (place == nullptr) {
        const std::string& name = *new std::string(file);
        place = new Place(level_of(severity), name.c_str(), static_cast<std::uint32_t>(line));
    }
    return *place;
}

}  // namespace glog_internal_namespace_

// Thread-safe: its own thread. Cost: an allocation of 30,000 bytes and a std::ostream; at its end that of
// LOG.
class LogMessage {
  public:
    // As the line number: the message has no prefix.
    enum { kNoLogPrefix = -1 };

    class LogStream : public std::ostream {
      public:
        LogStream(char* buffer, int size, int64 counter)
            : std::ostream(nullptr), buffer_(buffer, size), counter_(counter), self_(this) {
            rdbuf(&buffer_);
            pword(glog_internal_namespace_::counter_slot()) = &counter_;
        }
        LogStream(const LogStream&) = delete;
        LogStream& operator=(const LogStream&) = delete;

        int64 ctr() const { return counter_; }
        void set_ctr(int64 counter) { counter_ = counter; }
        LogStream* self() const { return self_; }
        std::size_t pcount() const { return buffer_.pcount(); }
        char* pbase() const { return buffer_.pbase(); }
        char* str() const { return pbase(); }

      private:
        base_logging::LogStreamBuf buffer_;
        int64 counter_;
        LogStream* self_;
    };

    using SendMethod = void (LogMessage::*)();

    LogMessage(const char* file, int line, LogSeverity severity, int64 counter, SendMethod method)
        : file_(file),
          line_(line),
          severity_(severity),
          method_(method),
          room_(is_within_ ? nullptr : static_cast<char*>(std::malloc(kRoom))),
          stream_(room_ ? room_.get() : few_, room_ ? kRoom : static_cast<int>(sizeof few_), counter) {}
    LogMessage(const char* file, int line) : LogMessage(file, line, GLOG_INFO, 0, &LogMessage::SendToLog) {}
    LogMessage(const char* file, int line, LogSeverity severity)
        : LogMessage(file, line, severity, 0, &LogMessage::SendToLog) {}
    LogMessage(const char* file, int line, LogSeverity severity, LogSink* sink, bool also_send_to_log)
        : LogMessage(file, line, severity) {
        extra_.sink = sink;
        extra_.to_log = also_send_to_log;
    }
    LogMessage(const char* file, int line, LogSeverity severity, std::vector<std::string>* list)
        : LogMessage(file, line, severity) {
        extra_.list = list;
        extra_.to_log = list == nullptr;
    }
    LogMessage(const char* file, int line, LogSeverity severity, std::string* text)
        : LogMessage(file, line, severity) {
        extra_.text = text;
    }
    LogMessage(const char* file, int line, const CheckOpString& result);
    LogMessage(const LogMessage&) = delete;
    LogMessage& operator=(const LogMessage&) = delete;
    ~LogMessage() noexcept(false) { Flush(); }

    // Delivers now. Otherwise the destructor does.
    void Flush() {
        if (std::exchange(is_flushed_, true)) return;
        (this->*method_)();
    }

    static const std::size_t kMaxLogMessageLen = 30000;

    void SendToLog() { send(); }
    void SendToSyslogAndLog() {
        extra_.to_syslog = true;
        send();
    }

    // Ends the program as a fatal message does.
    [[noreturn]] static void Fail() {
        glog_internal_namespace_::stop_logger();
        glog_internal_namespace_::fail();
    }

    std::ostream& stream() { return stream_; }
    // The time when the message began.
    int preserved_errno() const { return errno_; }
    const LogMessageTime& getLogMessageTime() const { return time_; }

    // Messages so far, those on their way included.
    static int64 num_messages(int severity) {
        glog_internal_namespace_::wait_for_files();
        return glog_internal_namespace_::state.messages[severity].load(std::memory_order_relaxed);
    }

  private:
    static constexpr int kRoom = 30000;

    void send() {
        using namespace glog_internal_namespace_;
        if (is_within_) return send_without_memory();
        if (severity_ == GLOG_FATAL) pending = {file_, line_, &time_, {stream_.pbase(), stream_.pcount()}};
        const Message message{severity_, file_, line_, {stream_.pbase(), stream_.pcount()}, time_, extra_};
        errno = errno_;
        deliver(message, [&](std::string_view text, For way) {
            Place& place = place_of(file_, line_, severity_);
            const bool done = way == For::kConsole ? record_text(place.console, kConsoleCategory, text, "")
                                                   : record_text(place.as_text, kCategory, text, "");
            return done ? Recorded::kYes : Recorded::kNo;
        });
        if (severity_ == GLOG_FATAL) pending = {};  // it was for a string or a sink alone
    }

    void send_without_memory() {
        using namespace glog_internal_namespace_;
        // For a place that allocates itself, the first message is the one that matters.
        if (severity_ == GLOG_FATAL && write_pending(file_, line_)) end_without_memory();
        FixedLine line;
        line.prefix(severity_, time_, file_, line_);
        std::string_view text(stream_.pbase(), stream_.pcount());
        if (text.ends_with('\n')) text.remove_suffix(1);
        line.add(text);
        line.write();
        if (severity_ == GLOG_FATAL) end_without_memory();
    }
    struct Free {
        void operator()(char* room) const { std::free(room); }
    };

    const int errno_ = errno;
    // Made while another message of this thread allocates (last_words.hpp).
    const bool is_within_ = glog_internal_namespace_::inside > 0;
    const LogMessageTime time_ = glog_internal_namespace_::time_now();
    const char* const file_;
    const int line_;
    const LogSeverity severity_;
    const SendMethod method_;
    glog_internal_namespace_::Extra extra_;
    bool is_flushed_ = false;
    // Not by operator new: the program's own may log.
    const std::unique_ptr<char, Free> room_;
    char few_[500];  // without room
    LogStream stream_;
};

// Thread-safe: its own thread. Cost: that of a LogMessage, and the end of the program.
class LogMessageFatal : public LogMessage {
  public:
    LogMessageFatal(const char* file, int line) : LogMessage(file, line, GLOG_FATAL) {}
    LogMessageFatal(const char* file, int line, const CheckOpString& result)
        : LogMessage(file, line, result) {}
    [[noreturn]] ~LogMessageFatal() noexcept(false) {
        Flush();
        glog_internal_namespace_::fail();
    }
};

// The system's words for a number of errno.
// Thread-safe: any thread. Cost: that of the C library's strerror_r; StrError also allocates.
inline int posix_strerror_r(int error, char* buffer, size_t size) {
    if (buffer == nullptr || size == 0) {
        errno = EINVAL;
        return -1;
    }
    // The GNU one: the text may be elsewhere.
    const char* text = ::strerror_r(error, buffer, size);
    if (text != buffer) std::snprintf(buffer, size, "%s", text);
    return 0;
}
inline std::string StrError(int error) {
    char text[128];
    posix_strerror_r(error, text, sizeof text);
    return text;
}

// Ends with the text for errno as it was at the beginning.
// Thread-safe: its own thread. Cost: that of a LogMessage.
class ErrnoLogMessage : public LogMessage {
  public:
    using LogMessage::LogMessage;
    ~ErrnoLogMessage() noexcept(false) {
        stream() << ": " << StrError(preserved_errno()) << " [" << preserved_errno() << "]";
    }
};

// Thread-safe: any thread. Cost: that of a LogMessage.
inline void LogAtLevel(const int severity, const std::string& text) {
    LogMessage(__FILE__, __LINE__, severity).stream() << text;
}

// Makes a stream void, so that both branches of ?: are void.
// Thread-safe: any thread. Cost: none.
class LogMessageVoidify {
  public:
    void operator&(std::ostream&) const {}
    void operator&(const glog_internal_namespace_::Line&) const {}
};

// What GOOGLE_STRIP_LOG makes of messages.
// Thread-safe: one thread at a time. Cost: a std::ostream; values are not formatted.
class NullStream : public LogMessage::LogStream {
  public:
    NullStream() : LogMessage::LogStream(room_, 2, 0) {}
    NullStream(const char*, int, const CheckOpString&) : NullStream() {}
    NullStream& stream() { return *this; }

  private:
    char room_[2];
};
template <class T>
NullStream& operator<<(NullStream& stream, const T&) {
    return stream;
}
// Thread-safe: one thread at a time. Cost: a std::ostream, and the end of the program.
class NullStreamFatal : public NullStream {
  public:
    using NullStream::NullStream;
    [[noreturn]] ~NullStreamFatal() { _exit(EXIT_FAILURE); }
};

// The number of executions of LOG_EVERY_N and similar macros.
inline std::ostream& operator<<(std::ostream& out, const PRIVATE_Counter&) {
    if (const void* counter = out.pword(glog_internal_namespace_::counter_slot()); counter != nullptr)
        return out << *static_cast<const std::int64_t*>(counter);
    LogMessageFatal(__FILE__, __LINE__).stream() << "COUNTER is for messages of LOG_EVERY_N and its like";
}

namespace glog_internal_namespace_ {

// The stream of a message of LOG_EVERY_N.
SP_DETAIL_HOT Line& counted(Line&& line, int count) { return line.counted(count); }
inline NullStream& counted(NullStream&& stream, int) { return stream; }

}  // namespace glog_internal_namespace_
}  // namespace google
