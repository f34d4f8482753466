// The flags: variables FLAGS_*. The environment sets them before main (GLOG_logtostderr=1). If gflags is
// linked, they are also options of the program: they register with gflags without being asked.
//
// Only the stored values count: they are plain variables, read at each message.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

// As with glog: including one includes the other, where it is installed.
#if __has_include(<gflags/gflags.h>) && !defined(SILVERPOINT_GLOG_NO_GFLAGS)
#    include <gflags/gflags.h>
#endif

namespace google {
#if !__has_include(<gflags/gflags.h>) || defined(SILVERPOINT_GLOG_NO_GFLAGS)
using int32 = std::int32_t;
using uint32 = std::uint32_t;
using int64 = std::int64_t;
using uint64 = std::uint64_t;
#endif
}  // namespace google

namespace google::glog_internal_namespace_ {

// The value of the environment, or another value. A flag's own name takes precedence over the older name
// shared by Google's programs.
inline const char* from_environment(const char* name, const char* older) {
    const char* value = std::getenv(name);
    return value == nullptr && older != nullptr ? std::getenv(older) : value;
}
inline bool flag(const char* name, bool otherwise, const char* older = nullptr) {
    const char* value = from_environment(name, older);
    return value == nullptr ? otherwise : *value == 0 || std::strchr("tTyY1", *value) != nullptr;
}
inline std::int32_t flag(const char* name, std::int32_t otherwise) {
    const char* value = std::getenv(name);
    return value == nullptr ? otherwise : static_cast<std::int32_t>(std::strtol(value, nullptr, 10));
}
inline std::uint32_t flag(const char* name, std::uint32_t otherwise) {
    const char* value = std::getenv(name);
    return value == nullptr ? otherwise : static_cast<std::uint32_t>(std::strtoul(value, nullptr, 10));
}
// Never destroyed: static destructors log, too.
inline std::string& flag_text(const char* name, const char* older = nullptr, const char* oldest = nullptr) {
    const char* value = from_environment(name, older);
    if (value == nullptr && oldest != nullptr) value = std::getenv(oldest);
    return *new std::string(value == nullptr ? "" : value);
}

}  // namespace google::glog_internal_namespace_

// All: name, what it is for in a few words, default, older names of the environment variable.
// clang-format off
#define SP_GLOG_FLAGS(boolean, number, natural, text) \
    boolean(alsologtostderr, "messages go to stderr, too", false, "GOOGLE_ALSOLOGTOSTDERR") \
    boolean(colorlogtostderr, "in colours on a terminal", false) \
    boolean(colorlogtostdout, "in colours on a terminal", false) \
    boolean(drop_log_memory, "let the system forget what was written to files", true) \
    boolean(log_prefix, "each line begins with severity, time, thread and place", true) \
    boolean(log_utc_time, "times in UTC", false) \
    boolean(log_year_in_prefix, "the prefix has the year", true) \
    boolean(logtostderr, "messages go to stderr instead of files", false, "GOOGLE_LOGTOSTDERR") \
    boolean(logtostdout, "messages go to stdout instead of files", false, "GOOGLE_LOGTOSTDOUT") \
    boolean(stop_logging_if_full_disk, "no more files once the disk is full", false) \
    boolean(symbolize_stacktrace, "names of functions in stack traces", true) \
    boolean(timestamp_in_logfile_name, "time and process at the end of files' names", true, "GOOGLE_TIMESTAMP_IN_LOGFILE_NAME") \
    number(logbuflevel, "messages above this severity are written to their file at once", 0) \
    number(logbufsecs, "others at most so many seconds later", 30) \
    number(logcleansecs, "seconds between two looks for old files", 300) \
    number(logemaillevel, "messages from this severity on are mailed (not here)", 999) \
    number(logfile_mode, "permissions of files", 0664) \
    number(minloglevel, "messages below this severity are not logged", 0) \
    number(stderrthreshold, "messages from this severity on go to stderr, too", 2) \
    number(v, "VLOG(m) is on for m up to this", 0) \
    natural(max_log_size, "megabytes after which a new file begins", 1800u) \
    text(alsologtoemail, "addresses (nothing is mailed here)") \
    text(log_backtrace_at, "file:line of a message that is followed by a stack trace") \
    text(log_dir, "directory of the files", , "GOOGLE_LOG_DIR", "TEST_TMPDIR") \
    text(log_link, "directory for further links to the files") \
    text(logmailer, "program that mails (not here)") \
    text(vmodule, "module=number,...: instead of v, for files by name")
// clang-format on

// In the namespaces in which gflags keeps them, so that DECLARE_bool and its like elsewhere find them.
#define SP_GLOG_DEFINE(space, type, name, ...)                                                     \
    namespace space {                                                                              \
    inline type FLAGS_##name = google::glog_internal_namespace_::flag("GLOG_" #name, __VA_ARGS__); \
    }                                                                                              \
    using space::FLAGS_##name;
#define SP_GLOG_BOOLEAN(name, help, ...) SP_GLOG_DEFINE(fLB, bool, name, __VA_ARGS__)
#define SP_GLOG_NUMBER(name, help, ...) SP_GLOG_DEFINE(fLI, std::int32_t, name, __VA_ARGS__)
#define SP_GLOG_NATURAL(name, help, ...) SP_GLOG_DEFINE(fLU, std::uint32_t, name, __VA_ARGS__)
#define SP_GLOG_TEXT(name, help, ...)                                           \
    namespace fLS {                                                             \
    inline std::string& FLAGS_##name =                                          \
        google::glog_internal_namespace_::flag_text("GLOG_" #name __VA_ARGS__); \
    }                                                                           \
    using fLS::FLAGS_##name;
SP_GLOG_FLAGS(SP_GLOG_BOOLEAN, SP_GLOG_NUMBER, SP_GLOG_NATURAL, SP_GLOG_TEXT)
#undef SP_GLOG_DEFINE
#undef SP_GLOG_BOOLEAN
#undef SP_GLOG_NUMBER
#undef SP_GLOG_NATURAL
#undef SP_GLOG_TEXT

// gflags' registration, if it is there: constructors of google::FlagRegisterer (Debian's namespace) and
// gflags::FlagRegisterer, by their C++ ABI names. The first argument is an object without members.
#define SP_GLOG_REGISTRATION(type, code, number)                                                          \
    extern "C" [[gnu::weak]] void sp_glog_register_##number(void*, const char*, const char*, const char*, \
                                                            type*, type*) __asm__(code);

SP_GLOG_REGISTRATION(bool, "_ZN6google14FlagRegistererC1IbEEPKcS3_S3_PT_S5_", b)
SP_GLOG_REGISTRATION(std::int32_t, "_ZN6google14FlagRegistererC1IiEEPKcS3_S3_PT_S5_", i)
SP_GLOG_REGISTRATION(std::uint32_t, "_ZN6google14FlagRegistererC1IjEEPKcS3_S3_PT_S5_", j)
SP_GLOG_REGISTRATION(
    std::string,
    "_ZN6google14FlagRegistererC1INSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEEEPKcS9_S9_PT_SB_", s)
SP_GLOG_REGISTRATION(bool, "_ZN6gflags14FlagRegistererC1IbEEPKcS3_S3_PT_S5_", gb)
SP_GLOG_REGISTRATION(std::int32_t, "_ZN6gflags14FlagRegistererC1IiEEPKcS3_S3_PT_S5_", gi)
SP_GLOG_REGISTRATION(std::uint32_t, "_ZN6gflags14FlagRegistererC1IjEEPKcS3_S3_PT_S5_", gj)
SP_GLOG_REGISTRATION(
    std::string,
    "_ZN6gflags14FlagRegistererC1INSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEEEPKcS9_S9_PT_SB_", gs)

namespace google::glog_internal_namespace_ {

template <class T>
void register_flag(const char* name, const char* help, T& value) {
    const auto call = [&](auto* one, auto* other) {
        char object = 0;
        // Kept by gflags as the place of the default.
        if (one != nullptr || other != nullptr)
            (one != nullptr ? one : other)(&object, name, help, "silverpoint/glog.hpp", &value, new T(value));
    };
    if constexpr (std::is_same_v<T, bool>) {
        call(&sp_glog_register_b, &sp_glog_register_gb);
    } else if constexpr (std::is_same_v<T, std::int32_t>) {
        call(&sp_glog_register_i, &sp_glog_register_gi);
    } else if constexpr (std::is_same_v<T, std::uint32_t>) {
        call(&sp_glog_register_j, &sp_glog_register_gj);
    } else {
        call(&sp_glog_register_s, &sp_glog_register_gs);
    }
}

// Once a process, no matter how many objects include this header.
inline const bool are_flags_registered = [] {
#define SP_GLOG_REGISTER(name, help, ...) register_flag(#name, help, FLAGS_##name);
    SP_GLOG_FLAGS(SP_GLOG_REGISTER, SP_GLOG_REGISTER, SP_GLOG_REGISTER, SP_GLOG_REGISTER)
#undef SP_GLOG_REGISTER
    return true;
}();

}  // namespace google::glog_internal_namespace_

#undef SP_GLOG_FLAGS
#undef SP_GLOG_REGISTRATION
