// Libraries that are loaded while the program runs, and threads for work of ours, on Windows.
#pragma once

#include "api.hpp"

SP_DETAIL_BEGIN

// A function of a library, which stays loaded; null, and why, if it cannot be had.
SP_DETAIL_COLD void* load_function(const char* library, const char* function, const char*& why) {
    wchar_t name[1024];
    struct HINSTANCE__* const loaded = to_wide(library, name, 1024) != 0 ? LoadLibraryW(name) : nullptr;
    void* const found =
        loaded != nullptr ? reinterpret_cast<void*>(GetProcAddress(loaded, function)) : nullptr;
    if (found == nullptr) why = loaded != nullptr ? "the library lacks its function" : "no such library";
    return found;
}

// The DLL that contains this address stays loaded.
inline void keep_loaded(const void* address) {
    constexpr unsigned long kForEver = 1, kOfAddress = 4;
    struct HINSTANCE__* found = nullptr;
    GetModuleHandleExW(kForEver | kOfAddress, static_cast<const wchar_t*>(address), &found);
}

// Whether `start_thread` can be called here.
inline bool may_start_thread() { return true; }

// Runs `body` in a thread of its own; false if there is no room for one.
SP_DETAIL_COLD bool start_thread(void (*body)()) {
    struct Run {
        static unsigned long __stdcall here(void* body) {
            reinterpret_cast<void (*)()>(body)();
            return 0;
        }
    };
    void* const thread = CreateThread(nullptr, 0, Run::here, reinterpret_cast<void*>(body), 0, nullptr);
    if (thread != nullptr) CloseHandle(thread);
    return thread != nullptr;
}

SP_DETAIL_END
