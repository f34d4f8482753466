// Crash records: why the program ended, and where.
//
//   int main() {
//       silverpoint::install_crash_handler();
//       …
//   }
//   SP_CHECK(index < size);
//   SP_CHECK(index < size, "index {} of {}", index, size);
//
// On a fatal signal, an uncaught exception or a failed check one record of level fatal is made. Its category
// is silverpoint.crash. It has the cause, the signal's details and the failing thread. Its stack is program
// counters with the build ids of the modules (spec/crash.md). Readers turn these into names.
//
// Then the logger inside the process, if there is one (logger.hpp, which installs this by itself), gets time
// to deliver everything. Without a logger the record waits in the session, like all others. Then the previous
// handler is called, or the signal's default action happens: core dump and exit status are unchanged.
//
// The record is made no matter what the directives say. It is written by async-signal-safe means alone, on a
// stack of its own and into a ring that is reserved for it. So it is also made in forked children, and when
// the fault is within a tracepoint. A used-up stack leaves a record in the thread that installs, and in
// threads that have made their first record since. It also does in threads that have called
// prepare_thread_for_crash. Any other thread whose stack is used up ends without a record.
//
// On Windows an exception that nobody handles is such a signal, and a failed assert of the executable is a
// check. No dialog opens. sys stands for exceptions that are nothing else here, and term for nothing.
//
// Install it once, in the executable, before threads are started. Call it from any thread, not from signal
// handlers.
#pragma once

#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <typeinfo>

#include "platform/crash_events.hpp"
#include "silverpoint.hpp"

// Elsewhere the error says it, once.
#if defined(__linux__) || defined(_WIN64)

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {

struct SP_DETAIL_VISIBLE crash_options {
    // Which signals make a record. A program that uses one of them for another purpose leaves it out.
    bool segv = true, bus = true, ill = true, fpe = true, abrt = true, sys = true;
    bool trap = false, term = false;
    // Uncaught exceptions, and everything else that ends in std::terminate.
    bool terminate = true;
    // How long the logger inside the process may take to deliver what is pending, in milliseconds.
    unsigned wait_ms = 3000;
};

// Another call adds signals, and changes the wait. False: no memory, or no session.
// Thread-safe: one thread at a time. Cost: system calls, once for the process.
bool install_crash_handler(const crash_options& options = {});

// A stack for the handler in the calling thread. Threads get one with their first record, or by this call.
// Thread-safe: any thread. Cost: maps a stack, once for the thread.
inline void prepare_thread_for_crash() { detail::give_crash_stack(); }

}  // namespace v1
}  // namespace silverpoint

// Ends the program if a condition is false: records the text beside it, then makes a crash record, then
// aborts.
// Thread-safe: any thread. Cost: while the condition holds, its evaluation and a branch.
#    define SP_CHECK(condition, ...)                                               \
        do {                                                                       \
            if (!(condition)) [[unlikely]] {                                       \
                __VA_OPT__(SP_FATAL(__VA_ARGS__);)                                 \
                ::silverpoint::detail::fail_check(#condition, __FILE__, __LINE__); \
            }                                                                      \
        } while (false)

SP_DETAIL_BEGIN

[[noreturn]] SP_DETAIL_COLD void fail_check(const char* condition, const char* file, unsigned line) {
    fail_check(reinterpret_cast<std::uint64_t>(SP_DETAIL_RETURN_ADDRESS()), condition, file, line);
}

// The exception that is being handled: its type and its text.
SP_DETAIL_COLD void describe_exception(Crash& crash) {
    const std::type_info* type = abi::__cxa_current_exception_type();
    if (type == nullptr) {
        crash.begin("terminate");
        crash.what.add("std::terminate was called");
        return;
    }
    crash.begin("exception");
    int status = 0;
    char* name = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
    crash.what.add("uncaught ").add(name != nullptr ? name : type->name());
    std::free(name);
#    ifdef __cpp_exceptions
    try {
        throw;
    } catch (const std::exception& error) {
        if (const char* text = error.what(); text != nullptr) crash.what.add(": ").add(text);
    } catch (...) {
    }
#    endif
}

inline constinit std::terminate_handler terminate_before = nullptr;

[[noreturn]] SP_DETAIL_COLD void on_terminate() {
    record_crash(reinterpret_cast<std::uint64_t>(SP_DETAIL_RETURN_ADDRESS()), &describe_exception);
    if (terminate_before != nullptr) terminate_before();
    std::abort();
}

SP_DETAIL_END

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {

inline bool install_crash_handler(const crash_options& options) {
    using namespace detail;
    if (!prepare_for_crashes(options.wait_ms)) return false;
    take_crashes(options);
    if (options.terminate && terminate_before == nullptr) {
        terminate_before = std::set_terminate(&on_terminate);
    }
    return true;
}

}  // namespace v1
}  // namespace silverpoint

#endif
