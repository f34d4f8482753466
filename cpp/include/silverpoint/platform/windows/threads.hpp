// Threads of this process, on Windows.
#pragma once

#include <cstring>
#include <cwchar>

#include "../errno_guard.hpp"
#include "api.hpp"

SP_DETAIL_BEGIN

// No thread is cancelled on Windows.
using SystemGuard = ErrnoGuard;

inline std::uint32_t thread_id() { return static_cast<std::uint32_t>(GetCurrentThreadId()); }

// Whether a thread has ended. A reused id counts as living, in any process.
SP_DETAIL_COLD bool is_thread_dead(std::uint32_t tid) {
    constexpr unsigned long kSynchronize = 0x0010'0000, kNoSuchThread = 87;
    const ErrnoGuard guard;
    void* const thread = OpenThread(kSynchronize, 0, tid);
    if (thread == nullptr) return GetLastError() == kNoSuchThread;
    const bool has_ended = WaitForSingleObject(thread, 0) == 0;
    CloseHandle(thread);
    return has_ended;
}

// For names of threads; null before Windows 10. It is looked up once: when something fails, the loader
// may be locked.
using DescribeThread = long(__stdcall*)(void*, wchar_t**);
SP_DETAIL_COLD DescribeThread describe_thread() {
    static constinit std::atomic<DescribeThread> known{nullptr};
    static constinit std::atomic<bool> is_looked_up{false};
    if (!is_looked_up.load(std::memory_order_acquire)) {
        known.store(system_function<DescribeThread>(L"kernelbase.dll", "GetThreadDescription"),
                    std::memory_order_relaxed);
        is_looked_up.store(true, std::memory_order_release);
    }
    return known.load(std::memory_order_relaxed);
}

// The name of this thread, of up to 15 bytes, the rest zero.
SP_DETAIL_COLD void name_of_thread(char (&name)[16]) {
    const DescribeThread describe = describe_thread();
    wchar_t* wide = nullptr;
    if (describe == nullptr || describe(GetCurrentThread(), &wide) < 0 || wide == nullptr) return;
    char text[48] = {};  // three bytes for a unit, at most
    wide[wcsnlen(wide, 15)] = 0;
    to_utf8(wide, text, sizeof text);
    std::memcpy(name, text, 15);
    LocalFree(wide);
}

// Handlers of exceptions run on the stack of the thread that they interrupt.
inline bool is_on_handler_stack() { return false; }

SP_DETAIL_END

// Of a thread's own variables: compilers for Windows have one model.
#define SP_DETAIL_THREAD_MODEL
