// spdlog's logger: a name, which is the category of what it records, a level, and sinks
// (silverpoint/spdlog.hpp).
#pragma once

#include <initializer_list>
#include <utility>

#include "../detail/call_site.hpp"
#include "../logger.h"
#include "sinks.hpp"

namespace spdlog {

// A template that is made when the program runs. Each text is a site of its own, up to 64 for one call; those
// beyond are recorded as a value.
namespace fmt_lib {
inline silverpoint::detail::RuntimeText runtime(std::string_view text,
                                                std::source_location at = std::source_location::current()) {
    return {text, at};
}
}  // namespace fmt_lib
}  // namespace spdlog

// spdlog brings fmt along; where the program has its own, that one's texts are not taken.
#ifndef FMT_VERSION
namespace fmt {
using spdlog::fmt_lib::runtime;
}
#endif

namespace spdlog {

class logger;

// Starts the logger inside the process when it does not run, or not with all sinks (registry.hpp).
inline void start_();
// Notes a logger, so that its sinks get its lines (registry.hpp); takes it out.
inline void note_(logger* of, bool is_there);
// The name as it lives for ever.
inline const char* forever_(const std::string& name);

// How long is waited for what was recorded, in milliseconds; not at all by the logger's own thread.
inline std::uint64_t patience_() { return is_giving_ ? 0 : 5000; }

// What log(place, level, …) is given; the place of a record is that of the call.
struct source_loc {
    const char* filename = nullptr;
    int line = 0;
    const char* funcname = nullptr;
};

// A template with arguments; a literal alone, which is text; a message that was made elsewhere.
#define SP_SPDLOG_LEVEL(name, which)                                                            \
    template <class... Ts, class Tag = SP_DETAIL_THIS_CALL>                                     \
        requires(sizeof...(Ts) > 0)                                                             \
    SP_DETAIL_HOT void name(::silverpoint::detail::TextAt<std::type_identity_t<Ts>...> text,    \
                            const Ts&... args) {                                                \
        SP_SPDLOG_TARGET template write_<Tag>(which, text, args...);                            \
    }                                                                                           \
    template <class Tag = SP_DETAIL_THIS_CALL>                                                  \
    SP_DETAIL_HOT void name(::silverpoint::detail::PlainAt text) {                              \
        SP_SPDLOG_TARGET template write_<Tag>(which, text);                                     \
    }                                                                                           \
    template <class T, class Tag = SP_DETAIL_THIS_CALL>                                         \
        requires ::silverpoint::detail::kIsMessage<T>                                           \
    SP_DETAIL_HOT void name(const T& message,                                                   \
                            const std::source_location& at = std::source_location::current()) { \
        SP_SPDLOG_TARGET template write_<Tag>(which, message, at);                              \
    }                                                                                           \
    template <class... Ts, class Tag = SP_DETAIL_THIS_CALL>                                     \
    void name(const ::silverpoint::detail::RuntimeText& text, const Ts&... args) {              \
        SP_SPDLOG_TARGET template write_<Tag>(which, text, args...);                            \
    }
#define SP_SPDLOG_LEVELS                 \
    SP_SPDLOG_LEVEL(trace, level::trace) \
    SP_SPDLOG_LEVEL(debug, level::debug) \
    SP_SPDLOG_LEVEL(info, level::info)   \
    SP_SPDLOG_LEVEL(warn, level::warn)   \
    SP_SPDLOG_LEVEL(error, level::err)   \
    SP_SPDLOG_LEVEL(critical, level::critical)
// log(level, …), log(place, level, …): the place is the call's own in any case.
#define SP_SPDLOG_LOG                                                                                      \
    template <class... Ts, class Tag = SP_DETAIL_THIS_CALL>                                                \
        requires(sizeof...(Ts) > 0)                                                                        \
    SP_DETAIL_HOT void log(level::level_enum which,                                                        \
                           ::silverpoint::detail::TextAt<std::type_identity_t<Ts>...> text,                \
                           const Ts&... args) {                                                            \
        SP_SPDLOG_TARGET template write_<Tag>(which, text, args...);                                       \
    }                                                                                                      \
    template <class Tag = SP_DETAIL_THIS_CALL>                                                             \
    SP_DETAIL_HOT void log(level::level_enum which, ::silverpoint::detail::PlainAt text) {                 \
        SP_SPDLOG_TARGET template write_<Tag>(which, text);                                                \
    }                                                                                                      \
    template <class T, class Tag = SP_DETAIL_THIS_CALL>                                                    \
        requires ::silverpoint::detail::kIsMessage<T>                                                      \
    SP_DETAIL_HOT void log(level::level_enum which, const T& message,                                      \
                           const std::source_location& at = std::source_location::current()) {             \
        SP_SPDLOG_TARGET template write_<Tag>(which, message, at);                                         \
    }                                                                                                      \
    template <class... Ts, class Tag = SP_DETAIL_THIS_CALL>                                                \
    void log(level::level_enum which, const ::silverpoint::detail::RuntimeText& text, const Ts&... args) { \
        SP_SPDLOG_TARGET template write_<Tag>(which, text, args...);                                       \
    }                                                                                                      \
    template <class... Ts, class Tag = SP_DETAIL_THIS_CALL>                                                \
        requires(sizeof...(Ts) > 0)                                                                        \
    SP_DETAIL_HOT void log(source_loc, level::level_enum which,                                            \
                           ::silverpoint::detail::TextAt<std::type_identity_t<Ts>...> text,                \
                           const Ts&... args) {                                                            \
        SP_SPDLOG_TARGET template write_<Tag>(which, text, args...);                                       \
    }                                                                                                      \
    template <class Tag = SP_DETAIL_THIS_CALL>                                                             \
    SP_DETAIL_HOT void log(source_loc, level::level_enum which, ::silverpoint::detail::PlainAt text) {     \
        SP_SPDLOG_TARGET template write_<Tag>(which, text);                                                \
    }

class logger {
  public:
    explicit logger(std::string name) : logger(std::move(name), sinks_init_list{}) {}
    logger(std::string name, sink_ptr sink) : logger(std::move(name), sinks_init_list{std::move(sink)}) {}
    logger(std::string name, sinks_init_list sinks) : logger(std::move(name), sinks.begin(), sinks.end()) {}
    template <class Iterator>
    logger(std::string name, Iterator begin, Iterator end)
        : name_(std::move(name)), category_(forever_(name_)), sinks_(begin, end) {
        note_(this, true);
    }
    virtual ~logger() { note_(this, false); }
    logger(const logger&) = delete;
    logger& operator=(const logger&) = delete;

#define SP_SPDLOG_TARGET this->
    SP_SPDLOG_LEVELS
    SP_SPDLOG_LOG
#undef SP_SPDLOG_TARGET

    [[nodiscard]] const std::string& name() const { return name_; }
    void set_level(level::level_enum level) {
        if (level_.exchange(level, std::memory_order_relaxed) != level && backtrace_() > 0) changed_();
    }
    [[nodiscard]] level::level_enum level() const {
        return static_cast<level::level_enum>(level_.load(std::memory_order_relaxed));
    }
    [[nodiscard]] bool should_log(level::level_enum level) const { return level >= this->level(); }
    void set_pattern(const std::string& pattern) {
        for (const auto& sink : sinks_) sink->set_pattern(pattern);
    }
    // Of sinks of the program's own any; of others what has a pattern.
    void set_formatter(std::unique_ptr<formatter> one);
    // Whether everything recorded before has been written, within five seconds: waited for, but by a sink of
    // the program's that is given a line just now.
    bool flush() { return silverpoint_flush(patience_()) == SILVERPOINT_DONE; }
    // Of what is below its level, the last `count` are kept back until dump_backtrace().
    void enable_backtrace(std::size_t count) {
        if (kept_.exchange(count, std::memory_order_relaxed) != count) changed_();
    }
    void disable_backtrace() { enable_backtrace(0); }
    [[nodiscard]] bool should_backtrace() const { return backtrace_() > 0; }
    // What is kept back is written, and forgotten. Whether that was done within five seconds.
    bool dump_backtrace() {
        if (stale_.load(std::memory_order_relaxed)) start_();
        return silverpoint_dump_backtrace(patience_()) == SILVERPOINT_DONE;
    }
    [[nodiscard]] std::size_t backtrace_() const { return kept_.load(std::memory_order_relaxed); }
    void flush_on(level::level_enum level) { flush_level_.store(level, std::memory_order_relaxed); }
    [[nodiscard]] level::level_enum flush_level() const {
        return static_cast<level::level_enum>(flush_level_.load(std::memory_order_relaxed));
    }
    [[nodiscard]] const std::vector<sink_ptr>& sinks() const { return sinks_; }
    [[nodiscard]] std::vector<sink_ptr>& sinks() {
        changed_();  // for whoever may change them
        return sinks_;
    }
    [[nodiscard]] std::shared_ptr<logger> clone(std::string name) const {
        auto made = std::make_shared<logger>(std::move(name), sinks_.begin(), sinks_.end());
        made->set_level(level());
        made->flush_on(flush_level());
        made->enable_backtrace(backtrace_());
        return made;
    }

    // What the functions above come to. `Tag` is another type at each call.
    template <class Tag, class... Ts>
    SP_DETAIL_HOT void write_(level::level_enum which, const silverpoint::detail::TextAt<Ts...>& text,
                              const Ts&... args) {
        if (!begins_(which)) return;
        silverpoint::detail::record_call(silverpoint::detail::call_site<Tag>(), category_, level_of_(which),
                                         text.text, text.at, args...);
        ends_(which);
    }
    template <class Tag>
    SP_DETAIL_HOT void write_(level::level_enum which, const silverpoint::detail::PlainAt& text) {
        if (!begins_(which)) return;
        silverpoint::detail::record_plain(silverpoint::detail::call_site<Tag>(), category_, level_of_(which),
                                          text);
        ends_(which);
    }
    template <class Tag, class... Ts>
    void write_(level::level_enum which, const silverpoint::detail::RuntimeText& text, const Ts&... args) {
        if (!begins_(which)) return;
        silverpoint::detail::record_runtime(silverpoint::detail::runtime_sites<Tag>(),
                                            silverpoint::detail::call_site<Tag>(), category_,
                                            level_of_(which), text, args...);
        ends_(which);
    }
    template <class Tag, class T>
    SP_DETAIL_HOT void write_(level::level_enum which, const T& message, const std::source_location& at) {
        if (!begins_(which)) return;
        silverpoint::detail::record_call(silverpoint::detail::call_site<Tag>(), category_, level_of_(which),
                                         "{}", at, message);
        ends_(which);
    }

  private:
    SP_DETAIL_HOT bool begins_(level::level_enum which) const {
        if (which < level_.load(std::memory_order_relaxed) && (which < level::trace || backtrace_() == 0))
            return false;
        if (which >= level::off) return false;
        if (stale_.load(std::memory_order_relaxed)) [[unlikely]]
            start_();
        return true;
    }
    SP_DETAIL_HOT void ends_(level::level_enum which) {
        if (which >= flush_level_.load(std::memory_order_relaxed)) [[unlikely]]
            flush();
    }
    SP_DETAIL_HOT static silverpoint::Level level_of_(level::level_enum which) {
        return static_cast<silverpoint::Level>(which < 0 ? 0 : which);
    }

    std::string name_;
    const char* category_;
    std::vector<sink_ptr> sinks_;
    std::atomic<int> level_{level::info};
    std::atomic<int> flush_level_{level::off};
    std::atomic<std::size_t> kept_{0};
};

inline bool sinks::sink::flush() { return silverpoint_flush(patience_()) == SILVERPOINT_DONE; }

}  // namespace spdlog
