// What stands for sessions of ETW in tests: etw_fake.dll, which silverpoint_etw.dll calls instead of Windows.
#pragma once

// Without its macro SP_ERROR.
#define NOGDI
#include <windows.h>

#include <cstdio>
#include <cstdlib>
#include <etw/identity.hpp>

namespace fake {

template <class Function>
Function* function(const char* name) {
    static const HMODULE loaded = LoadLibraryA("etw_fake.dll");
    auto* const found = reinterpret_cast<Function*>(reinterpret_cast<void*>(GetProcAddress(loaded, name)));
    if (found == nullptr) std::abort();
    return found;
}

inline const ULONGLONG kAll = ~ULONGLONG{0};

inline void control(const char* provider, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all) {
    static auto* const call = function<void(const void*, ULONG, UCHAR, ULONGLONG, ULONGLONG)>("fake_control");
    const auto id = silverpoint::etw::provider_id(provider);
    call(id.data(), code, level, any, all);
}
inline void enable(const char* provider, UCHAR level = 5, ULONGLONG any = kAll, ULONGLONG all = 0) {
    control(provider, 1, level, any, all);
}
inline void disable(const char* provider) { control(provider, 0, 0, 0, 0); }
inline LONG writes() {
    static auto* const call = function<LONG()>("fake_writes");
    return call();
}
inline bool is_registered(const char* provider) {
    static auto* const call = function<int(const void*)>("fake_is_registered");
    const auto id = silverpoint::etw::provider_id(provider);
    return call(id.data()) != 0;
}
inline void hook(void (*within)()) { function<void(void (*)())>("fake_hook")(within); }
inline void want_all() { function<void()>("fake_want_all")(); }
inline void refuse(ULONG error) { function<void(ULONG)>("fake_refuse")(error); }
inline LONG refusals() { return function<LONG()>("fake_refusals")(); }
inline void mark(const char* text) { function<void(const char*)>("fake_mark")(text); }

// Ends the program if that takes a minute.
template <class Condition>
void await(const char* what, const Condition& condition) {
    const ULONGLONG end = GetTickCount64() + 60'000;
    while (!condition()) {
        if (GetTickCount64() > end) {
            std::fprintf(stderr, "timed out: %s\n", what);
            std::exit(9);
        }
        Sleep(1);
    }
}
// Until the tracepoints that `execute` executes make so many events. Their provider must be enabled.
template <class Execute>
void await_events(const char* what, LONG count, const Execute& execute) {
    await(what, [&] {
        const LONG before = writes();
        execute();
        return writes() == before + count;
    });
}

}  // namespace fake
