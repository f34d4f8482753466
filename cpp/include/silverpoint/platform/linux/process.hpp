// What identifies this process and describes it, on Linux; and its objects in memory.
#pragma once

#include <link.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.hpp"

SP_DETAIL_BEGIN

inline constexpr bool kHasSessions = true;
inline constexpr bool kHasLogger = true;
// How a root that is refused differs from one that is not.
inline constexpr const char* kNotOwnDirectory = "no directory of mode 0700 of this user";

inline std::uint32_t process_id() { return static_cast<std::uint32_t>(getpid()); }
inline std::uint32_t parent_process_id() { return static_cast<std::uint32_t>(getppid()); }
inline std::uint32_t user_id() { return geteuid(); }

// The inode of the process's namespace of ids; 0 when unknown.
inline std::uint32_t process_namespace() {
    struct stat found {};
    return stat("/proc/self/ns/pid", &found) == 0 ? static_cast<std::uint32_t>(found.st_ino) : 0;
}

// Field 22 of /proc/self/stat; the process's name may hold spaces and parentheses.
SP_DETAIL_COLD std::uint64_t start_time() {
    char text[1024] = {};
    const std::size_t len = read_file("/proc/self/stat", text, sizeof text - 1);
    std::size_t at = len;
    while (at > 0 && text[at - 1] != ')') --at;
    for (int spaces = 0; at < len && spaces < 20; ++at) spaces += text[at] == ' ';
    std::uint64_t value = 0;
    while (at < len && text[at] >= '0' && text[at] <= '9')
        value = value * 10 + static_cast<unsigned>(text[at++] - '0');
    return value;
}

// What differs at each start of the machine, as hexadecimal digits and dashes; empty when unknown.
inline void boot_text(char (&text)[40]) { read_file("/proc/sys/kernel/random/boot_id", text, 36); }

// Random bytes from the system; returns how many. `may_wait`: until the system has some.
inline std::size_t system_random(void* to, std::size_t size, bool may_wait) {
    const auto got = getrandom(to, size, may_wait ? 0 : GRND_NONBLOCK);
    return got > 0 ? static_cast<std::size_t>(got) : 0;
}

// Each returns the bytes written, without a zero.
inline std::size_t path_of_executable(char* to, std::size_t size) {
    const ssize_t len = readlink("/proc/self/exe", to, size);
    return len > 0 ? static_cast<std::size_t>(len) : 0;
}
inline std::size_t text_of_command_line(char* to, std::size_t size) {
    std::size_t len = read_file("/proc/self/cmdline", to, size);
    if (len > 0 && to[len - 1] == 0) --len;
    for (std::size_t i = 0; i < len; ++i)
        if (to[i] == 0) to[i] = ' ';
    return len;
}
inline std::size_t working_directory(char* to, std::size_t size) {
    return getcwd(to, size) != nullptr ? std::strlen(to) : 0;
}

// The memory that the process's group may use, as text; returns its bytes.
inline std::size_t group_memory_text(char* to, std::size_t size) {
    return read_file("/sys/fs/cgroup/memory.max", to, size);
}

// Whether it is known that the process goes on when a shared object ends.
inline bool is_known_to_go_on() { return false; }

// Whether an address is in the executable itself, not in a shared object that may be unloaded.
SP_DETAIL_COLD bool is_in_executable(const void* address) {
    return dl_iterate_phdr(
               [](dl_phdr_info* info, std::size_t, void* data) {
                   const auto here = reinterpret_cast<std::uintptr_t>(data);
                   int found = 1;  // the executable is the first object; others are not checked
                   for (int i = 0; i < info->dlpi_phnum; ++i) {
                       const std::uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
                       if (info->dlpi_phdr[i].p_type == PT_LOAD && here >= begin &&
                           here < begin + info->dlpi_phdr[i].p_memsz)
                           found = 2;
                   }
                   return found;
               },
               const_cast<void*>(address)) == 2;
}

// Whether nobody can write to what lies there.
SP_DETAIL_COLD bool is_read_only(const void* address) {
    struct Search {
        std::uintptr_t address;
        bool found;
    } search{reinterpret_cast<std::uintptr_t>(address), false};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            auto& asked = *static_cast<Search*>(data);
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const auto& segment = info->dlpi_phdr[i];
                const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
                if (segment.p_type != PT_LOAD || asked.address < begin ||
                    asked.address >= begin + segment.p_memsz)
                    continue;
                asked.found = (segment.p_flags & PF_W) == 0;
                return 1;
            }
            return 0;
        },
        &search);
    return search.found;
}

SP_DETAIL_END

// Functions of the type AtLoad that run when the program or a plug-in is loaded, and when it ends.
// (Functions with the attribute `constructor` would be compiled wherever the header is included, with the
// whole making of the session. Inline variables would not work either: for such a section in a group g++
// writes a type that the assembler warns of.)
#define SP_DETAIL_AT_LOAD(load, unload)                                    \
    [[gnu::section(".init_array.00101")]] static AtLoad load_entry = load; \
    [[gnu::section(".fini_array.00101")]] static AtLoad unload_entry = unload;
// In a function: the object has both entries if anything refers to it.
#define SP_DETAIL_KEEP_ENTRIES() asm volatile("" : : "m"(load_entry), "m"(unload_entry))
