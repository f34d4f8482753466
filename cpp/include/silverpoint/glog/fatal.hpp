// The end of a program after a fatal message or a failed CHECK: the stack, then SIGABRT.
#pragma once

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <string>

#include "state.hpp"

namespace google {

// Must not return.
typedef void (*logging_fail_func_t)() __attribute__((noreturn));

namespace glog_internal_namespace_ {

// "    @     0x5614523035c7  main", one line a frame; names of what is not exported are unknown.
inline void append_stack(std::string& out) {
    void* frames[64];
    const int count = backtrace(frames, 64);
    for (int i = 1; i < count; ++i) {
        char address[32];
        std::snprintf(address, sizeof address, "%18p", frames[i]);
        out.append("    @ ").append(address).append("  ");
        Dl_info found{};
        // A call may be the last instruction of its function.
        const void* within = static_cast<const char*>(frames[i]) - 1;
        if (FLAGS_symbolize_stacktrace && dladdr(within, &found) != 0 && found.dli_sname != nullptr) {
            int status = 0;
            char* name = abi::__cxa_demangle(found.dli_sname, nullptr, nullptr, &status);
            out += name != nullptr ? name : found.dli_sname;
            std::free(name);
        } else {
            out += "(unknown)";
        }
        out += '\n';
    }
}

// The stack is on stderr already: a handler of SIGABRT need not print it again.
inline std::atomic<bool> has_reported{false};

// Installed by InitGoogleLogging.
[[noreturn]] inline void dump_stack_and_abort() {
    std::string stack;
    append_stack(stack);
    std::fputs(stack.c_str(), stderr);
    has_reported = true;
    std::abort();
}

[[noreturn]] inline void fail() {
    if (void (*own)() = state.fail.load(std::memory_order_acquire); own != nullptr) own();
    std::abort();
}

// After a fatal message, with everything flushed.
[[noreturn]] inline void end_after_failure() {
    std::fputs("*** Check failure stack trace: ***\n", stderr);
    fail();
}

}  // namespace glog_internal_namespace_

// Called instead of abort() after a fatal message. (For some compilers [[noreturn]] is no part of a type.)
// Thread-safe: any thread. Cost: an atomic store.
inline void InstallFailureFunction(void (*function)()) {
    glog_internal_namespace_::state.fail.store(function, std::memory_order_release);
}

// Printed once more on stderr and in the files of errors and below, for a program that is about to end.
// Thread-safe: any thread. Cost: the lock of the files, and writes.
inline void ReprintFatalMessage() {
    using namespace glog_internal_namespace_;
    const StateLock lock;
    const std::string& line = state.fatal_message;
    if (line.empty()) return;
    if (!FLAGS_logtostderr) std::fwrite(line.data(), line.size(), 1, stderr);
    write_files(GLOG_ERROR, state.fatal_time, line.data(), line.size());
}

}  // namespace google
