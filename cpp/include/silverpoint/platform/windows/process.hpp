// What identifies this process and describes it, on Windows; and its objects in memory.
#pragma once

#include <cstdlib>

#include "files.hpp"
#include "memory.hpp"
#include "random.hpp"

SP_DETAIL_BEGIN

inline constexpr bool kHasSessions = true;
// logger.hpp needs Linux.
inline constexpr bool kHasLogger = false;
// How a root that is refused differs from one that is not.
inline constexpr const char* kNotOwnDirectory = "no directory of this user";

inline std::uint32_t process_id() { return static_cast<std::uint32_t>(GetCurrentProcessId()); }
SP_DETAIL_COLD std::uint32_t parent_process_id() {
    using Ask = long(__stdcall*)(void*, int, void*, unsigned long, unsigned long*);
    const auto ask = system_function<Ask>(L"ntdll.dll", "NtQueryInformationProcess");
    std::uintptr_t basic[6] = {};
    return ask != nullptr && ask(GetCurrentProcess(), 0, basic, sizeof basic, nullptr) >= 0
               ? static_cast<std::uint32_t>(basic[5])
               : 0;
}
// Users have no numbers, processes no namespaces, starts of the machine no names.
inline std::uint32_t user_id() { return 0; }
inline std::uint32_t process_namespace() { return 0; }
inline void boot_text(char (&)[40]) {}

// When the process was made, in 100 ns since 1601.
SP_DETAIL_COLD std::uint64_t start_time() {
    std::uint64_t times[4] = {};
    const auto at = [&](int number) { return reinterpret_cast<struct _FILETIME*>(&times[number]); };
    return GetProcessTimes(GetCurrentProcess(), at(0), at(1), at(2), at(3)) != 0 ? times[0] : 0;
}

// Each returns the bytes written, without a zero; none if there is no room for all.
SP_DETAIL_COLD std::size_t path_of_executable(char* to, std::size_t size) {
    wchar_t path[1200];
    const unsigned long len = GetModuleFileNameW(nullptr, path, 1200);
    return len > 0 && len < 1200 ? to_utf8(path, to, size) : 0;
}
inline std::size_t text_of_command_line(char* to, std::size_t size) {
    return to_utf8(GetCommandLineW(), to, size);
}
SP_DETAIL_COLD std::size_t working_directory(char* to, std::size_t size) {
    wchar_t path[1200];
    const unsigned long len = GetCurrentDirectoryW(1200, path);
    return len > 0 && len < 1200 ? to_utf8(path, to, size) : 0;
}

// Limits of groups of processes are not known as text.
inline std::size_t group_memory_text(char*, std::size_t) { return 0; }

// Whether an address is in the executable itself, not in a DLL that may be unloaded.
SP_DETAIL_COLD bool is_in_executable(const void* address) {
    return region_of(address).allocation == static_cast<void*>(GetModuleHandleW(nullptr));
}

// Whether the process has ended all other threads already: a DLL learns of its end then.
SP_DETAIL_COLD bool has_lost_threads() {
    const auto ask = system_function<unsigned char(__stdcall*)()>(L"ntdll.dll", "RtlDllShutdownInProgress");
    return ask == nullptr || ask() != 0;
}
// Whether it is known that the process goes on when a DLL ends.
inline bool is_known_to_go_on() { return !has_lost_threads(); }

// Whether nobody can write to what lies there.
SP_DETAIL_COLD bool is_read_only(const void* address) {
    constexpr unsigned long kRead = 2, kExecuteRead = 0x20, kImage = 0x0100'0000;
    const MemoryRegion region = region_of(address);
    return region.type == kImage && (region.protect == kRead || region.protect == kExecuteRead);
}

SP_DETAIL_END

// Functions of the type AtLoad. The C library calls the first before constructors of the program or the DLL.
// The second is registered then, so it runs after their destructors.
#if defined(_MSC_VER)
#    pragma section(".CRT$XCT", read)
#    define SP_DETAIL_LOAD_SECTION __declspec(allocate(".CRT$XCT"))
#else
#    define SP_DETAIL_LOAD_SECTION [[gnu::section(".CRT$XCT")]]
#endif
#define SP_DETAIL_AT_LOAD(load, unload) \
    inline void load_and_register() {   \
        load();                         \
        std::atexit(unload);            \
    }                                   \
    SP_DETAIL_LOAD_SECTION static const AtLoad load_entry = load_and_register;
// In a function: the object has the entry if anything refers to it.
#define SP_DETAIL_KEEP_ENTRIES() static_cast<void>(*const_cast<const AtLoad volatile*>(&load_entry))
