// Variables of the environment, and standard error, on Windows.
#pragma once

#include <cstring>

#include "api.hpp"

SP_DETAIL_BEGIN

// The value when it was first asked for, as UTF-8; null if there is none. Called by the thread that makes the
// session, and by one that loads a library: never by two at a time.
SP_DETAIL_COLD const char* environment(const char* name) {
    struct Known {
        const char* name;
        const char* value;
    };
    static constinit Known known[16] = {};
    for (Known& one : known) {
        if (one.name != nullptr && std::strcmp(one.name, name) == 0) return one.value;
        if (one.name != nullptr) continue;
        wchar_t wide_name[64];
        if (to_wide(name, wide_name, 64) == 0) return nullptr;
        void* const heap = GetProcessHeap();
        const unsigned long units = GetEnvironmentVariableW(wide_name, nullptr, 0);
        auto* const wide =
            units == 0 ? nullptr : static_cast<wchar_t*>(HeapAlloc(heap, 0, units * sizeof(wchar_t)));
        char* value = nullptr;
        if (wide != nullptr && GetEnvironmentVariableW(wide_name, wide, units) == units - 1) {
            // Three bytes for a unit, at most. Both stay as long as the process.
            const std::size_t size = units * std::size_t{3};
            value = static_cast<char*>(HeapAlloc(heap, 0, size));
            if (value != nullptr && to_utf8(wide, value, size) == 0) *value = 0;
        }
        one.value = value;
        one.name = name;
        return value;
    }
    return nullptr;
}

// Windows has no programs with more rights than their caller's that keep the caller's environment.
inline bool is_privileged() { return false; }

inline void write_error_output(const char* text, std::size_t size) {
    constexpr unsigned long kErrorOutput = 0xFFFF'FFF4;
    unsigned long written = 0;
    WriteFile(GetStdHandle(kErrorOutput), text, static_cast<unsigned long>(size), &written, nullptr);
}

SP_DETAIL_END
