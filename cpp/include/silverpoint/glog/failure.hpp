// What a fatal signal leaves behind: glog's report on stderr. Before it comes Silverpoint's crash record
// (crash.hpp), and all messages are delivered. Then the signal's default action happens.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "../crash.hpp"
#include "../logger.h"
#include "message.hpp"

namespace google {
namespace glog_internal_namespace_ {

struct FailureSignal {
    int number;
    const char* name;
};
inline constexpr FailureSignal kFailureSignals[] = {{SIGSEGV, "SIGSEGV"}, {SIGILL, "SIGILL"},
                                                    {SIGFPE, "SIGFPE"},   {SIGABRT, "SIGABRT"},
                                                    {SIGBUS, "SIGBUS"},   {SIGTERM, "SIGTERM"}};

using FailureWriter = void (*)(const char* data, size_t size);

inline void write_failure(const char* data, size_t size) {
    while (size > 0) {
        const ssize_t written = ::write(STDERR_FILENO, data, size);
        if (written <= 0) return;
        data += written;
        size -= static_cast<size_t>(written);
    }
}
inline std::atomic<FailureWriter> failure_writer{write_failure};
inline std::atomic<bool> is_failure_handler_installed{false};

// A line that is put together without memory or locks.
class FailureLine {
  public:
    FailureLine& text(const char* from) {
        while (*from != 0 && at_ < sizeof line_) line_[at_++] = *from++;
        return *this;
    }
    FailureLine& number(std::uint64_t value, unsigned base = 10, unsigned width = 0) {
        char digits[32];
        unsigned count = 0;
        do {
            digits[count++] = "0123456789abcdef"[value % base];
            value /= base;
        } while (value > 0);
        if (base == 16) {
            digits[count++] = 'x';
            digits[count++] = '0';
        }
        for (; count < width; --width) text(" ");
        while (count > 0 && at_ < sizeof line_) line_[at_++] = digits[--count];
        return *this;
    }
    void write() {
        failure_writer.load(std::memory_order_relaxed)(line_, at_);
        at_ = 0;
    }

  private:
    char line_[512];
    std::size_t at_ = 0;
};

inline void handle_failure(int number, siginfo_t* info, void* context) {
    if (number == SIGABRT && has_reported.load(std::memory_order_relaxed)) {
        ::signal(number, SIG_DFL);
        ::raise(number);
        return;
    }
    // The first thread that fails reports; others wait for the end.
    static std::atomic<pid_t> reporter{0};
    const auto self = static_cast<pid_t>(syscall(SYS_gettid));
    pid_t nobody = 0;
    if (!reporter.compare_exchange_strong(nobody, self)) {
        if (nobody == self) {
            // Within the report: the end, at once.
            ::signal(number, SIG_DFL);
            ::raise(number);
        }
        while (true) ::sleep(1);
    }
    FailureLine line;
    const auto now = static_cast<std::uint64_t>(std::time(nullptr));
    line.text("*** Aborted at ").number(now).text(" (unix time) try \"date -d @").number(now);
    line.text("\" if you are using GNU date ***\n").write();
    void* frames[64];
    const int count = backtrace(frames, 64);
    void* pc = nullptr;
#if defined(__x86_64__)
    pc = reinterpret_cast<void*>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    pc = reinterpret_cast<void*>(static_cast<ucontext_t*>(context)->uc_mcontext.pc);
#else
    static_cast<void>(context);
#endif
    const auto frame = [&](const char* begin, void* address) {
        Dl_info found{};
        const bool is_known = dladdr(address, &found) != 0 && found.dli_sname != nullptr;
        line.text(begin).number(reinterpret_cast<std::uintptr_t>(address), 16, 18).text(" ");
        line.text(is_known ? found.dli_sname : "(unknown)").text("\n").write();
    };
    frame("PC: @ ", pc);
    const char* name = nullptr;
    for (const FailureSignal& known : kFailureSignals)
        if (known.number == number) name = known.name;
    line.text("*** ");
    if (name != nullptr) {
        line.text(name);
    } else {
        line.text("Signal ").number(static_cast<unsigned>(number));
    }
    line.text(" (@").number(reinterpret_cast<std::uintptr_t>(info->si_addr), 16);
    line.text(") received by PID ").number(static_cast<std::uint64_t>(getpid()));
    line.text(" (TID ").number(pthread_self(), 16).text(") from PID ");
    line.number(static_cast<std::uint32_t>(info->si_pid)).text("; stack trace: ***\n").write();
    for (int i = 0; i < count; ++i) frame("    @ ", frames[i]);
    struct sigaction otherwise {};
    otherwise.sa_handler = SIG_DFL;
    sigaction(number, &otherwise, nullptr);
    ::raise(number);
}

inline bool IsFailureSignalHandlerInstalled() { return is_failure_handler_installed; }

}  // namespace glog_internal_namespace_

// For SIGSEGV, SIGILL, SIGFPE, SIGABRT, SIGBUS and SIGTERM.
// Thread-safe: one thread at a time. Cost: system calls, once for the process.
inline void InstallFailureSignalHandler() {
    using namespace glog_internal_namespace_;
    // The first call loads what it needs: not in a handler.
    void* frame = nullptr;
    backtrace(&frame, 1);
    struct sigaction action {};
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    action.sa_sigaction = handle_failure;
    // Before the report: the crash record, and all messages go to their files.
    for (const FailureSignal& known : kFailureSignals)
        silverpoint::detail::take_signal_after_crash(known.number, action);
    is_failure_handler_installed = true;
    silverpoint::detail::crash_settings.drain.store(&silverpoint_drain_after_crash,
                                                    std::memory_order_release);
    silverpoint::crash_options options;
    options.term = true;
    options.terminate = false;
    if (const std::int64_t wait = silverpoint_crash_wait(); wait >= 0)
        options.wait_ms = static_cast<unsigned>(wait < 86'400'000 ? wait : 86'400'000);
    silverpoint::install_crash_handler(options);
}

// The function that writes the report, instead of stderr.
// Thread-safe: any thread. Cost: an atomic store.
inline void InstallFailureWriter(void (*writer)(const char* data, size_t size)) {
    glog_internal_namespace_::failure_writer = writer;
}

}  // namespace google
