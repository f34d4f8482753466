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

// The name of this thread, of up to 15 bytes, the rest zero. Windows before 10 has none.
SP_DETAIL_COLD void name_of_thread(char (&name)[16]) {
    using Describe = long(__stdcall*)(void*, wchar_t**);
    const auto describe = system_function<Describe>(L"kernelbase.dll", "GetThreadDescription");
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
