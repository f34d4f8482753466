// A program that logs with spdlog uses Silverpoint by one changed line: this header instead of spdlog's.
//
//     #include <silverpoint/spdlog.hpp>
//
//     spdlog::info("order {} at {:.2f}", id, px);
//     auto net = spdlog::rotating_logger_mt("net", "net.log", 1 << 20, 5);
//     net->set_level(spdlog::level::debug);
//     net->debug("{:>8} bytes", size);
//     SPDLOG_WARN("slow: {} ms", ms);
//
// Behind it is Silverpoint: each call is a site of its own, and arguments are recorded typed and unformatted.
// The logger inside the process (link silverpoint::logger) formats and writes, in its own thread. It starts
// with the first line that is logged. It starts again when loggers, sinks or patterns have changed since. If
// the variable SILVERPOINT of the environment is set, it takes precedence. A logger's name is the category of
// its records.
//
// If the sources must stay unchanged, use the directory silverpoint/instead. It has spdlog/spdlog.h and
// similar headers, for the compiler's search path (CMake: silverpoint::instead_of_spdlog).
//
// docs/guide/from-spdlog.md lists what is the same and what is not.
#pragma once

#include "platform/only_linux.h"

// Everything that is logged while the logger is restarted is kept.
#ifndef SP_LOGGER_KEEPS
#    define SP_LOGGER_KEEPS "trace"
#endif

#include "silverpoint.hpp"
#include "spdlog/async.hpp"
#include "spdlog/files.hpp"
#include "spdlog/hex.hpp"

namespace spdlog {

// --- The default logger.

// Thread-safe: any thread. Cost: the lock of the registry; default_logger_raw an atomic load, once there is
// one.
inline logger* default_logger_raw() {
    logger* found = registry_::the().standard_raw.load(std::memory_order_acquire);
    return found != nullptr ? found : &registry_::the().standard_logger();
}
// Null when it was dropped.
inline std::shared_ptr<logger> default_logger() {
    auto& all = registry_::the();
    const std::lock_guard guard(all.lock);
    if (!all.is_standard_made) all.standard_logger();
    return all.standard;
}
inline void set_default_logger(std::shared_ptr<logger> one) {
    auto& all = registry_::the();
    const std::lock_guard guard(all.lock);
    all.is_standard_made = true;
    if (all.standard != nullptr) all.known.erase(all.standard->name());
    all.standard_raw = one.get();
    all.standard = one;
    if (one != nullptr) all.known[one->name()] = std::move(one);
}

// Thread-safe: any thread. Cost: below the level, a few loads and a comparison; else a record in the ring.
// The first call, and one after a change of loggers or sinks, starts the logger: that takes milliseconds.
SP_SPDLOG_CALLS(trace, , default_logger_raw(), level::trace, )
SP_SPDLOG_CALLS(debug, , default_logger_raw(), level::debug, )
SP_SPDLOG_CALLS(info, , default_logger_raw(), level::info, )
SP_SPDLOG_CALLS(warn, , default_logger_raw(), level::warn, )
SP_SPDLOG_CALLS(error, , default_logger_raw(), level::err, )
SP_SPDLOG_CALLS(critical, , default_logger_raw(), level::critical, )
SP_SPDLOG_CALLS(log, , default_logger_raw(), which, , level::level_enum which)
SP_SPDLOG_CALLS(log, , default_logger_raw()->said_at_(where), which, , source_loc where,
                level::level_enum which)
#undef SP_SPDLOG_CALLS
#undef SP_SPDLOG_OF

// --- All loggers.

// Thread-safe: any thread. Cost: the lock of the registry, and a call for each logger that it concerns; of
// the default logger alone, a load.
inline std::shared_ptr<logger> get(const std::string& name) {
    auto& all = registry_::the();
    const std::lock_guard guard(all.lock);
    const auto found = all.known.find(name);
    return found == all.known.end() ? nullptr : found->second;
}
inline void register_logger(std::shared_ptr<logger> one) {
    const std::lock_guard guard(registry_::the().lock);
    registry_::the().has(std::move(one));
}
// Gives it the common level, pattern and level of flushing, and registers it.
inline void initialize_logger(std::shared_ptr<logger> one) {
    const std::lock_guard guard(registry_::the().lock);
    registry_::the().prepare(*one);
    if (registry_::the().is_registering) registry_::the().has(std::move(one));
}
// Whether loggers are registered when they are made.
inline void set_automatic_registration(bool is_wanted) {
    const std::lock_guard guard(registry_::the().lock);
    registry_::the().is_registering = is_wanted;
}
inline void apply_all(const std::function<void(std::shared_ptr<logger>)>& what) {
    default_logger();
    const std::lock_guard guard(registry_::the().lock);
    for (const auto& [name, one] : registry_::the().known) what(one);
}
inline void drop(const std::string& name) {
    auto& all = registry_::the();
    const std::lock_guard guard(all.lock);
    if (all.standard != nullptr && all.standard->name() == name) {
        all.standard_raw = nullptr;
        all.standard = nullptr;
    }
    all.known.erase(name);
}
inline void drop_all() {
    auto& all = registry_::the();
    const std::lock_guard guard(all.lock);
    all.is_standard_made = true;
    all.standard_raw = nullptr;
    all.standard = nullptr;
    all.known.clear();
}
inline void set_level(level::level_enum level) {
    const std::lock_guard guard(registry_::the().lock);
    registry_::the().level = level;
    apply_all([&](const auto& one) { one->set_level(level); });
}
inline level::level_enum get_level() { return default_logger_raw()->level(); }
inline bool should_log(level::level_enum level) { return default_logger_raw()->should_log(level); }
inline void set_pattern(const std::string& pattern) {
    const std::lock_guard guard(registry_::the().lock);
    registry_::the().common_form = std::make_shared<pattern_formatter>(pattern);
    apply_all([&](const auto& one) { one->set_pattern(pattern); });
}
inline void set_formatter(std::unique_ptr<formatter> one) {
    const std::lock_guard guard(registry_::the().lock);
    // All loggers use it, or none, including later ones.
    apply_all([&](const auto& each) {
        for (const auto& sink : std::as_const(*each).sinks())
            if (!sink->takes_formatter_(*one)) refuse_formatter_();
    });
    apply_all([&](const auto& each) { each->set_formatter(one->clone()); });
    registry_::the().common_form = std::move(one);
}
inline void flush_on(level::level_enum level) {
    const std::lock_guard guard(registry_::the().lock);
    registry_::the().flush_level = level;
    apply_all([&](const auto& one) { one->flush_on(level); });
}
// For all loggers, including later ones.
inline void enable_backtrace(std::size_t count) {
    const std::lock_guard guard(registry_::the().lock);
    registry_::the().backtrace = count;
    apply_all([&](const auto& one) { one->enable_backtrace(count); });
}
inline void disable_backtrace() { enable_backtrace(0); }
// Thread-safe: any thread. Cost: waits until the lines are written, at most five seconds.
inline bool dump_backtrace() { return default_logger_raw()->dump_backtrace(); }
// Flushes sinks of the program's own. The logger inside the process writes its lines within a tenth of a
// second in any case, and they outlive the program.
// Thread-safe: any thread. Cost: ends the thread of an earlier call, and starts one.
template <class Rep, class Period>
void flush_every(std::chrono::duration<Rep, Period> interval) {
    registry_::the().flush_every(std::chrono::duration_cast<std::chrono::nanoseconds>(interval));
}
// For all loggers, including later ones. Also receives what keeps the logger inside the process from
// starting.
// Thread-safe: any thread. Cost: the lock of the registry, and a copy of the function for each logger.
inline void set_error_handler(err_handler handler) {
    const std::lock_guard guard(registry_::the().lock);
    for (const auto& [name, one] : registry_::the().known) one->set_error_handler(handler);
    registry_::the().on_error = std::move(handler);
}
// Writes what is pending and releases all loggers.
// Thread-safe: any thread. Cost: waits until it is written, at most five seconds, and ends the logger's
// thread.
inline void shutdown() {
    {
        const std::lock_guard guard(registry_::the().lock);
        if (registry_::the().runs) silverpoint::stop();
        registry_::the().runs = false;
        changed_();
    }
    drop_all();
}

// --- Loggers with a sink.

template <class Logger, class Sink, class... Ts>
std::shared_ptr<logger> create_with_(std::string name, const Logger& make, Ts&&... args) {
    if (registry_::the().is_registering && get(name) != nullptr)
        SP_DETAIL_THROW(spdlog_ex("logger with name '" + name + "' already exists"));
    std::shared_ptr<logger> made = make(std::move(name), std::make_shared<Sink>(std::forward<Ts>(args)...));
    initialize_logger(made);
    return made;
}
// With sinks of the program's own, called by the thread that logs,
// Thread-safe: any thread. Cost: allocations, the lock of the registry, and what the sink opens.
struct synchronous_factory {
    template <class Sink, class... Ts>
    static std::shared_ptr<logger> create(std::string name, Ts&&... args) {
        const auto make = [](std::string of, sink_ptr sink) {
            return std::make_shared<logger>(std::move(of), std::move(sink));
        };
        return create_with_<decltype(make), Sink>(std::move(name), make, std::forward<Ts>(args)...);
    }
};
// and called by another thread.
// Thread-safe: any thread. Cost: that of synchronous_factory.
template <async_overflow_policy kPolicy = async_overflow_policy::block>
struct async_factory_impl {
    template <class Sink, class... Ts>
    static std::shared_ptr<logger> create(std::string name, Ts&&... args) {
        auto pool = thread_pool();
        if (pool == nullptr) {
            init_thread_pool(8192);
            pool = thread_pool();
        }
        const auto make = [&](std::string of, sink_ptr sink) {
            return std::make_shared<async_logger>(std::move(of), std::move(sink), pool, kPolicy);
        };
        return create_with_<decltype(make), Sink>(std::move(name), make, std::forward<Ts>(args)...);
    }
};
using async_factory = async_factory_impl<async_overflow_policy::block>;
using async_factory_nonblock = async_factory_impl<async_overflow_policy::overrun_oldest>;

// Thread-safe: any thread. Cost: that of synchronous_factory.
template <class Sink, class... Ts>
std::shared_ptr<logger> create(std::string name, Ts&&... args) {
    return synchronous_factory::create<Sink>(std::move(name), std::forward<Ts>(args)...);
}
template <class Sink, class... Ts>
std::shared_ptr<logger> create_async(std::string name, Ts&&... args) {
    return async_factory::create<Sink>(std::move(name), std::forward<Ts>(args)...);
}
template <class Sink, class... Ts>
std::shared_ptr<logger> create_async_nb(std::string name, Ts&&... args) {
    return async_factory_nonblock::create<Sink>(std::move(name), std::forward<Ts>(args)...);
}

#define SP_SPDLOG_CREATE(function, kind)                                        \
    template <class Factory = synchronous_factory, class... Ts>                 \
    std::shared_ptr<logger> function(const std::string& name, Ts... args) {     \
        return Factory::template create<sinks::kind>(name, std::move(args)...); \
    }
// Thread-safe: any thread. Cost: that of synchronous_factory.
SP_SPDLOG_CREATE(stdout_color_mt, stdout_color_sink_mt)
SP_SPDLOG_CREATE(stdout_color_st, stdout_color_sink_mt)
SP_SPDLOG_CREATE(stderr_color_mt, stderr_color_sink_mt)
SP_SPDLOG_CREATE(stderr_color_st, stderr_color_sink_mt)
SP_SPDLOG_CREATE(stdout_logger_mt, stdout_sink_mt)
SP_SPDLOG_CREATE(stdout_logger_st, stdout_sink_mt)
SP_SPDLOG_CREATE(stderr_logger_mt, stderr_sink_mt)
SP_SPDLOG_CREATE(stderr_logger_st, stderr_sink_mt)
SP_SPDLOG_CREATE(basic_logger_mt, basic_file_sink_mt)
SP_SPDLOG_CREATE(basic_logger_st, basic_file_sink_mt)
SP_SPDLOG_CREATE(rotating_logger_mt, rotating_file_sink_mt)
SP_SPDLOG_CREATE(rotating_logger_st, rotating_file_sink_mt)
SP_SPDLOG_CREATE(daily_logger_mt, daily_file_sink_mt)
SP_SPDLOG_CREATE(daily_logger_st, daily_file_sink_mt)
SP_SPDLOG_CREATE(hourly_logger_mt, hourly_file_sink_mt)
SP_SPDLOG_CREATE(hourly_logger_st, hourly_file_sink_mt)
SP_SPDLOG_CREATE(daily_logger_format_mt, daily_file_format_sink_mt)
SP_SPDLOG_CREATE(daily_logger_format_st, daily_file_format_sink_mt)
SP_SPDLOG_CREATE(callback_logger_mt, callback_sink_mt)
SP_SPDLOG_CREATE(callback_logger_st, callback_sink_mt)
SP_SPDLOG_CREATE(null_logger_mt, null_sink_mt)
SP_SPDLOG_CREATE(null_logger_st, null_sink_mt)
SP_SPDLOG_CREATE(syslog_logger_mt, syslog_sink_mt)
SP_SPDLOG_CREATE(syslog_logger_st, syslog_sink_mt)
SP_SPDLOG_CREATE(systemd_logger_mt, systemd_sink_mt)
SP_SPDLOG_CREATE(systemd_logger_st, systemd_sink_mt)
#undef SP_SPDLOG_CREATE

namespace cfg {
// info,net=debug: of all loggers, and of those with a name.
inline void load_levels_(std::string_view rest) {
    auto& all = registry_::the();
    const std::lock_guard guard(all.lock);
    // Replaces earlier levels.
    all.levels.clear();
    while (!rest.empty()) {
        const std::string_view piece = rest.substr(0, rest.find(','));
        rest.remove_prefix(piece.size() == rest.size() ? rest.size() : piece.size() + 1);
        const auto equals = piece.find('=');
        std::string_view name = equals == std::string_view::npos ? "" : piece.substr(0, equals);
        std::string_view word = equals == std::string_view::npos ? piece : piece.substr(equals + 1);
        for (auto* text : {&name, &word}) {
            while (!text->empty() && text->front() == ' ') text->remove_prefix(1);
            while (!text->empty() && text->back() == ' ') text->remove_suffix(1);
        }
        const auto level = level::from_str(word);
        // An invalid level is ignored.
        if (level == level::off && word != "off") continue;
        if (name.empty()) {
            set_level(level);
        } else {
            all.levels[std::string(name)] = level;
            if (const auto one = get(std::string(name))) one->set_level(level);
        }
    }
}
// Thread-safe: any thread, while none changes the environment. Cost: the lock of the registry, and a call for
// each logger that it concerns.
inline void load_env_levels() {
    if (const char* said = std::getenv("SPDLOG_LEVEL"); said != nullptr) load_levels_(said);
}
// The same from arguments: SPDLOG_LEVEL=info,net=debug
inline void load_argv_levels(int argc, const char** argv) {
    constexpr std::string_view kName = "SPDLOG_LEVEL=";
    for (int at = 1; at < argc; ++at)
        if (const std::string_view word = argv[at]; word.starts_with(kName))
            load_levels_(word.substr(kName.size()));
}
inline void load_argv_levels(int argc, char** argv) {
    load_argv_levels(argc, const_cast<const char**>(argv));
}
}  // namespace cfg

}  // namespace spdlog

// --- Macros. Levels below SPDLOG_ACTIVE_LEVEL are not in the program.

#define SPDLOG_VER_MAJOR 1
#define SPDLOG_VER_MINOR 14
#define SPDLOG_VER_PATCH 1
#define SPDLOG_TO_VERSION(major, minor, patch) (major * 10000 + minor * 100 + patch)
#define SPDLOG_VERSION SPDLOG_TO_VERSION(SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH)

#define SPDLOG_FUNCTION static_cast<const char*>(__FUNCTION__)
#define SPDLOG_EOL "\n"
#define SPDLOG_FILENAME_T(text) text
#define SPDLOG_FMT_RUNTIME(text) ::spdlog::fmt_lib::runtime(text)
#define SPDLOG_FMT_STRING(text) text
#define SPDLOG_BUF_TO_STRING(buffer) ::spdlog::fmt_lib::to_string(buffer)

#define SPDLOG_LEVEL_TRACE 0
#define SPDLOG_LEVEL_DEBUG 1
#define SPDLOG_LEVEL_INFO 2
#define SPDLOG_LEVEL_WARN 3
#define SPDLOG_LEVEL_ERROR 4
#define SPDLOG_LEVEL_CRITICAL 5
#define SPDLOG_LEVEL_OFF 6
#ifndef SPDLOG_ACTIVE_LEVEL
#    define SPDLOG_ACTIVE_LEVEL SPDLOG_LEVEL_INFO
#endif

#define SPDLOG_LOGGER_CALL(logger, level, ...) (logger)->log(level, __VA_ARGS__)
#if SPDLOG_ACTIVE_LEVEL <= 0
#    define SPDLOG_LOGGER_TRACE(logger, ...) (logger)->trace(__VA_ARGS__)
#    define SPDLOG_TRACE(...) ::spdlog::trace(__VA_ARGS__)
#else
#    define SPDLOG_LOGGER_TRACE(logger, ...) (void)0
#    define SPDLOG_TRACE(...) (void)0
#endif
#if SPDLOG_ACTIVE_LEVEL <= 1
#    define SPDLOG_LOGGER_DEBUG(logger, ...) (logger)->debug(__VA_ARGS__)
#    define SPDLOG_DEBUG(...) ::spdlog::debug(__VA_ARGS__)
#else
#    define SPDLOG_LOGGER_DEBUG(logger, ...) (void)0
#    define SPDLOG_DEBUG(...) (void)0
#endif
#if SPDLOG_ACTIVE_LEVEL <= 2
#    define SPDLOG_LOGGER_INFO(logger, ...) (logger)->info(__VA_ARGS__)
#    define SPDLOG_INFO(...) ::spdlog::info(__VA_ARGS__)
#else
#    define SPDLOG_LOGGER_INFO(logger, ...) (void)0
#    define SPDLOG_INFO(...) (void)0
#endif
#if SPDLOG_ACTIVE_LEVEL <= 3
#    define SPDLOG_LOGGER_WARN(logger, ...) (logger)->warn(__VA_ARGS__)
#    define SPDLOG_WARN(...) ::spdlog::warn(__VA_ARGS__)
#else
#    define SPDLOG_LOGGER_WARN(logger, ...) (void)0
#    define SPDLOG_WARN(...) (void)0
#endif
#if SPDLOG_ACTIVE_LEVEL <= 4
#    define SPDLOG_LOGGER_ERROR(logger, ...) (logger)->error(__VA_ARGS__)
#    define SPDLOG_ERROR(...) ::spdlog::error(__VA_ARGS__)
#else
#    define SPDLOG_LOGGER_ERROR(logger, ...) (void)0
#    define SPDLOG_ERROR(...) (void)0
#endif
#if SPDLOG_ACTIVE_LEVEL <= 5
#    define SPDLOG_LOGGER_CRITICAL(logger, ...) (logger)->critical(__VA_ARGS__)
#    define SPDLOG_CRITICAL(...) ::spdlog::critical(__VA_ARGS__)
#else
#    define SPDLOG_LOGGER_CRITICAL(logger, ...) (void)0
#    define SPDLOG_CRITICAL(...) (void)0
#endif
