// Messages that begin while another one of the same thread allocates: from a program whose operator new logs.
// They allocate nothing: a fixed buffer and write(2), on stderr. A fatal one ends the program.
#pragma once

#include <cstdlib>

#include "fatal.hpp"
#include "place.hpp"

namespace google::glog_internal_namespace_ {

// A fixed line.
class FixedLine {
  public:
    void add(std::string_view text) {
        const std::size_t size = std::min(text.size(), sizeof text_ - 1 - size_);
        std::memcpy(text_ + size_, text.data(), size);
        size_ += size;
    }
    void prefix(LogSeverity severity, const LogMessageTime& time, const char* file, int line) {
        if (line == -1) return;
        char head[200];
        const std::tm& tm = time.tm();
        char year[8] = "";
        if (FLAGS_log_year_in_prefix) std::snprintf(year, sizeof year, "%04d", 1900 + tm.tm_year % 8100);
        const int size = std::snprintf(head, sizeof head, "%c%s%02d%02d %02d:%02d:%02d.%06ld %5u %s:%d] ",
                                       LogSeverityNames[severity][0], year, 1 + tm.tm_mon, tm.tm_mday,
                                       tm.tm_hour, tm.tm_min, tm.tm_sec, static_cast<long>(time.usec()),
                                       static_cast<unsigned>(thread_number()), base_name(file), line);
        if (size > 0) add({head, std::min(static_cast<std::size_t>(size), sizeof head - 1)});
    }
    // Literals, texts and whole numbers; other values as three dots.
    void pieces(const Pieces& all, std::size_t count) {
        std::size_t at = 0, literal = 0;
        for (std::size_t i = 0; i < count && i < all.count; ++i) {
            const char code = all.codes[i];
            if (code == kLiteral) {
                add(all.literals[literal++]);
            } else if (code == 's') {
                std::uint32_t size = 0;
                std::memcpy(&size, all.packed + at, 4);
                add({all.packed + at + 4, size});
                at += 4 + std::size_t{size};
            } else if (is_value(code)) {
                at += number(code, all.packed + at);
            }
        }
    }
    void write() {
        text_[size_++] = '\n';
        for (std::size_t done = 0; done < size_;) {
            const ssize_t written = ::write(STDERR_FILENO, text_ + done, size_ - done);
            if (written < 0 && errno != EINTR) break;
            if (written > 0) done += static_cast<std::size_t>(written);
        }
        size_ = 0;
    }

  private:
    template <class T>
    static T loaded(const char* at) {
        T value;
        std::memcpy(&value, at, sizeof value);
        return value;
    }
    // Its bytes.
    std::size_t number(char code, const char* at) {
        char text[32];
        int size = 0;
        std::size_t bytes = 8;
        switch (code) {
            case 'b':
            case 'c':
                bytes = 1;
                size = code == 'c' ? std::snprintf(text, sizeof text, "%c", *at)
                                   : std::snprintf(text, sizeof text, "%d", *at);
                break;
            case 'h':
            case 'H':
                bytes = 2;
                size = code == 'h' ? std::snprintf(text, sizeof text, "%d", loaded<std::int16_t>(at))
                                   : std::snprintf(text, sizeof text, "%u", loaded<std::uint16_t>(at));
                break;
            case 'i':
                bytes = 4;
                size = std::snprintf(text, sizeof text, "%d", loaded<std::int32_t>(at));
                break;
            case 'I':
                bytes = 4;
                size = std::snprintf(text, sizeof text, "%u", loaded<std::uint32_t>(at));
                break;
            case 'l':
                size = std::snprintf(text, sizeof text, "%lld", loaded<long long>(at));
                break;
            case 'L':
                size = std::snprintf(text, sizeof text, "%llu", loaded<unsigned long long>(at));
                break;
            case 'p':
                size = std::snprintf(text, sizeof text, "%#llx", loaded<unsigned long long>(at));
                break;
            default:
                bytes = code == 'f' ? 4 : 8;
                size = std::snprintf(text, sizeof text, "...");
        }
        add({text, static_cast<std::size_t>(size)});
        return bytes;
    }

    char text_[2000];
    std::size_t size_ = 0;
};

// The fatal message that this thread is delivering.
struct Pending {
    const char* file = nullptr;
    int line = 0;
    const LogMessageTime* time = nullptr;
    std::string_view text;
};
inline thread_local Pending pending;

// The message that this thread was about to write when another came in between; returns whether it is of the
// same place.
inline bool write_pending(const char* file, int line) {
    if (pending.file == nullptr) return false;
    FixedLine outer;
    outer.prefix(GLOG_FATAL, *pending.time, pending.file, pending.line);
    outer.add(pending.text);
    outer.write();
    return pending.file == file && pending.line == line;
}

// With the message on stderr.
[[noreturn]] inline void end_without_memory() {
    // Again within what follows: nothing more can be written.
    static thread_local bool has_begun = false;
    if (std::exchange(has_begun, true)) std::abort();
    // Another thread writes the earlier messages; it needs the files' lock.
    if (state.lock.try_lock()) {
        state.lock.unlock();
        if ((state.how.load(std::memory_order_acquire) & kAsync) != 0) silverpoint_flush(kPatienceMs);
    }
    FixedLine note;
    note.add("*** Check failure stack trace: ***");
    note.write();
    void* frames[64];
    backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
    has_reported = true;
    if (void (*own)() = state.fail.load(std::memory_order_acquire);
        own != nullptr && own != dump_stack_and_abort)
        own();
    std::abort();
}

}  // namespace google::glog_internal_namespace_
