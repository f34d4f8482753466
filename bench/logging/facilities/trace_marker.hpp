// facility: trace_marker
// how: snprintf and one write to the kernel's trace_marker. The buffer is its own, has room for all, and is
// read at the end (trace_pipe)
// asks: tracefs
// off: the kernel has no levels
// in: s4 cases
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "facility.hpp"

static std::string the_instance, the_file;
static int the_marker = -1;

static void say(const std::string& file, const std::string& text) {
    const int to = open(file.c_str(), O_WRONLY | O_CLOEXEC);
    if (to < 0 || write(to, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        give_up(("trace_marker: " + file).c_str());
    close(to);
}

// Buffers of the kernel's outlive their process: the runner removes what an aborted run has left.
static void begin(const Run& run) {
    constexpr std::uint64_t kEntryBytes = 160, kLeastKib = 64 << 10;
    the_file = run.file;
    the_instance = "/sys/kernel/tracing/instances/silverpoint-bench-" + std::to_string(getpid());
    if (mkdir(the_instance.c_str(), 0700) != 0) give_up("trace_marker: mkdir");
    // Of each processor, since all threads may happen to run on one.
    say(the_instance + "/buffer_size_kb", std::to_string(kLeastKib + run.entries * kEntryBytes / 1024));
    the_marker = open((the_instance + "/trace_marker").c_str(), O_WRONLY | O_CLOEXEC);
    if (the_marker < 0) give_up("trace_marker: open");
}
static void flush() {}
static void end() {
    close(the_marker);
    const int from = open((the_instance + "/trace_pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const int to = open(the_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (from < 0 || to < 0) give_up("trace_marker: trace_pipe");
    static char buffer[1 << 16];
    for (ssize_t length; (length = read(from, buffer, sizeof buffer)) != 0;) {
        if (length < 0 && errno == EAGAIN) break;
        if (length < 0 || write(to, buffer, static_cast<std::size_t>(length)) != length)
            give_up("trace_marker: reading");
    }
    close(from);
    close(to);
    rmdir(the_instance.c_str());
}

template <class... Values>
static void mark(const char* form, Values... values) {
    char text[1024];
    const int length = std::snprintf(text, sizeof text, form, values...);
    if (write(the_marker, text, static_cast<std::size_t>(length)) < 0) give_up("trace_marker: write");
}
#define STATEMENT(title, count, pointer, string, real)                                                 \
    mark("%s iteration #%u %s%s and a float: %.6g", (title).c_str(), count, pointer, (string).c_str(), \
         static_cast<double>(real))
#define LITERAL() mark("bench %s", "literal")
#define THREE(id, index, fraction) \
    mark("bench three %llu %d %g", static_cast<unsigned long long>(id), index, fraction)
#define TEXT(id, fraction, path) \
    mark("bench text %llu %g %s", static_cast<unsigned long long>(id), fraction, (path).c_str())
