// Every concern on a system that has no platform of its own (macOS, WebAssembly, Windows of 32 bits): no
// session can be made. So every tracepoint is off, and evaluates no argument.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "../detail/probe_event.hpp"
#include "errno_guard.hpp"
#include "note.h"

#if defined(_WIN32)
#    include "windows/random.hpp"
#else
#    if __has_include(<unistd.h>)
#        include <unistd.h>
#    endif
#    if __has_include(<sys/random.h>)
#        include <sys/random.h>
#    endif
#endif

SP_DETAIL_BEGIN

inline constexpr bool kHasSessions = false;
inline constexpr bool kHasLogger = false;
inline constexpr const char* kNotOwnDirectory = "";

// --- Clocks: nothing that asks for the time runs.

inline std::uint64_t monotonic_now() { return 0; }
inline std::uint64_t monotonic_now_coarse() { return 0; }
inline std::uint64_t wall_now() { return 0; }
inline void sleep_ns(std::uint64_t) {}
template <class Counter>
std::uint64_t measured_rate(Counter&&) {
    return 0;
}

// --- Environment: nothing is asked for.

inline const char* environment(const char*) { return nullptr; }
inline bool is_privileged() { return false; }
inline void write_error_output(const char* text, std::size_t size) { std::fwrite(text, 1, size, stderr); }

// --- Threads.

using SystemGuard = ErrnoGuard;

inline std::uint32_t thread_id() { return 1; }
inline bool is_thread_dead(std::uint32_t) { return false; }
inline void name_of_thread(char (&)[16]) {}
inline bool is_on_handler_stack() { return true; }

// --- Waiting.

inline void wake_waiters(std::atomic<std::uint32_t>*) {}
inline void wait_for_change(std::atomic<std::uint32_t>*, std::uint32_t, std::uint64_t) {}

// --- Memory.

inline void* map_private(std::size_t) { return nullptr; }
inline void replace_by_private(char*, std::size_t) {}
inline void unmap(void*, std::size_t) {}
inline bool wipe_on_fork(void*, std::size_t) { return false; }
inline bool allow_access(char*, std::size_t) { return false; }
inline bool may_reserve_more_than(std::uint64_t) { return false; }
inline std::uint64_t memory_of_machine() { return 0; }

// --- Files and their locks.

class File {
  public:
    explicit operator bool() const { return false; }
    bool is_missing() const { return false; }
};
inline File create_file(const char*) { return {}; }
inline File open_file(const char*) { return {}; }
inline File open_to_read(const char*) { return {}; }
inline void close_file(File) {}
inline bool resize_file(File, std::uint64_t) { return false; }
inline bool read_at(File, void*, std::size_t, std::uint64_t) { return false; }
inline bool write_at(File, const char*, std::size_t, std::uint64_t) { return false; }
inline bool size_of_own_file(File, std::size_t&) { return false; }
inline std::uint64_t room_of_file(const char*) { return 0; }
enum class Access { kNone, kWrite };
inline char* map_shared(File, std::size_t, Access, void* = nullptr) { return nullptr; }
template <class PathOfFile>
bool populate(char*, std::size_t, std::size_t, PathOfFile&&) {
    return false;
}
template <class PathOfFile>
std::size_t populate_some(char*, std::size_t begin, std::size_t, std::size_t, PathOfFile&&) {
    return begin;
}
inline std::uint64_t file_size_limit() { return 0; }
inline bool room_at(const char*, std::uint64_t&) { return false; }
inline bool make_directory(const char*) { return false; }
inline void remove_directory(const char*) {}
inline void remove_file(const char*) {}
inline constexpr bool kOpenFilesPinDirectories = false, kRenamesPinnedDirectories = true;
enum class Renamed { kDone, kTaken, kFailed };
inline Renamed rename_directory(const char*, const char*) { return Renamed::kFailed; }
template <class Visit>
void each_name(const char*, Visit&&) {}
inline bool directory_changed(const char*, std::int64_t&) { return false; }
template <class Use>
bool use_a_root(Use&&) {
    return false;
}
inline bool is_own_directory(const char*) { return false; }
inline bool lock_alone(File) { return false; }
inline bool is_locked(File) { return false; }
inline char* lock_shared(File) { return nullptr; }
inline void release_shared_lock(char*) {}
inline void await_controllers_lock(File) {}

// --- Process.

inline std::uint32_t process_id() { return 0; }
inline std::uint32_t parent_process_id() { return 0; }
inline std::uint32_t user_id() { return 0; }
inline std::uint32_t process_namespace() { return 0; }
inline std::uint64_t start_time() { return 0; }
inline void boot_text(char (&)[40]) {}
// Ids of trace_context.hpp go to other programs, with a session and without.
#if !defined(_WIN32)
inline std::size_t system_random(void* to, std::size_t size, bool) {
#    if __has_include(<unistd.h>)
    // At most 256 bytes at a time.
    const std::size_t most = size < 256 ? size : 256;
    return getentropy(to, most) == 0 ? most : 0;
#    else
    static_cast<void>(to), static_cast<void>(size);
    return 0;
#    endif
}
#endif
inline std::size_t path_of_executable(char*, std::size_t) { return 0; }
inline std::size_t text_of_command_line(char*, std::size_t) { return 0; }
inline std::size_t working_directory(char*, std::size_t) { return 0; }
inline std::size_t group_memory_text(char*, std::size_t) { return 0; }
inline bool is_known_to_go_on() { return false; }
inline bool is_in_executable(const void*) { return false; }
inline bool is_read_only(const void*) { return false; }

// --- Libraries of system tracers.

inline void* load_function(const char*, const char*, const char*& why) {
    why = "there is none on this system";
    return nullptr;
}
inline bool may_start_thread() { return false; }
inline bool start_thread(void (*)()) { return false; }

inline constexpr std::array<ProbeLibrary, 0> kProbeLibraries = {};
using StartProbes = void (*)();
inline void give_session(StartProbes, char*, std::size_t, const char*) {}
inline void note_site_of_copy(std::uint32_t) {}
inline void tell_tracers_of_unload() {}

SP_DETAIL_END

#define SP_DETAIL_THREAD_MODEL
#define SP_DETAIL_AT_LOAD(load, unload)
#define SP_DETAIL_KEEP_ENTRIES() static_cast<void>(0)
