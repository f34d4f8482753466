// RAW_LOG: to stderr and nowhere else, by write(2) alone: it allocates nothing, takes no lock, and may stand
// in a signal handler.
#pragma once

#include <unistd.h>

#include <cstdarg>

#include "message.hpp"

namespace google {

inline void RawLogStub__(int, ...) {}

// Thread-safe: any thread, signal handlers too. Cost: formats on the stack, and a system call.
[[gnu::format(printf, 4, 5)]] inline void RawLog__(LogSeverity severity, const char* file, int line,
                                                   const char* format, ...) {
    using namespace glog_internal_namespace_;
    if (!FLAGS_logtostdout && !FLAGS_logtostderr && severity < FLAGS_stderrthreshold &&
        !FLAGS_alsologtostderr && is_initialized())
        return;
    char text[3000];
    constexpr std::size_t kRoom = sizeof text - 1;  // and the line's end
    const auto keep = [&](std::size_t size, int more) {
        return more < 0 ? size : std::min(kRoom, size + static_cast<std::size_t>(more));
    };
    std::size_t size =
        keep(0, std::snprintf(text, kRoom,
                              "%c00000000 00:00:00.000000 %5u %s:%d] RAW: ", LogSeverityNames[severity][0],
                              static_cast<unsigned>(thread_number()), base_name(file), line));
    va_list arguments;
    va_start(arguments, format);
    const int more = std::vsnprintf(text + size, kRoom - size, format, arguments);
    va_end(arguments);
    if (more >= 0 && size + static_cast<std::size_t>(more) < kRoom) {
        size += static_cast<std::size_t>(more);
        text[size++] = '\n';
    } else {
        constexpr std::string_view kNote = "RAW_LOG ERROR: The Message was too long!\n";
        size = std::min(size, kRoom - kNote.size());
        std::memcpy(text + size, kNote.data(), kNote.size());
        size += kNote.size();
    }
    for (std::size_t done = 0; done < size;) {
        const ssize_t written = ::write(STDERR_FILENO, text + done, size - done);
        if (written > 0) {
            done += static_cast<std::size_t>(written);
        } else if (errno != EINTR) {
            break;
        }
    }
    if (severity == GLOG_FATAL) LogMessage::Fail();
}

}  // namespace google
