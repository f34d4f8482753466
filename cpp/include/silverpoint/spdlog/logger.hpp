// spdlog's logger: a name, which is the category of what it records, a level, and sinks
// (silverpoint/spdlog.hpp).
#pragma once

#include <deque>
#include <functional>
#include <initializer_list>
#include <list>
#include <utility>

#include "../detail/usdt_message.hpp"
#include "calls.hpp"

namespace spdlog {

// Starts the logger inside the process when it does not run, or not with all sinks (registry.hpp).
inline void start_();
// Registers a logger, so that its sinks get its lines (registry.hpp); removes it.
inline void note_(logger* of, bool is_there);
// The name as a category, which lives for ever; kShared: there are too many, it is an argument.
inline const char* category_of_(const std::string& name);
// The category of lines that their name is an argument of, and decides which sinks they are for.
inline constexpr char kByName_[] = "spdlog-0";
inline bool is_by_name_(std::string_view category) { return category == kByName_; }
// A name as records have it: an invalid byte is a question mark.
inline std::string in_utf8_(std::string_view name) {
    std::string text;
    while (!name.empty()) {
        const std::size_t good = sp_::utf8_prefix(name);
        text += name.substr(0, good);
        name.remove_prefix(good);
        if (name.empty()) break;
        text += '?';
        name.remove_prefix(1);
    }
    return text;
}
// Makes sinks select lines by names of all loggers (registry.hpp). False: not before the next line.
inline bool include_all_();

// How long is waited for what was recorded, in milliseconds; not at all by the logger's own thread.
inline std::uint64_t patience_() { return is_giving_ ? 0 : 5000; }

using err_handler = std::function<void(const std::string&)>;

// Sinks with the least level that they get, each once, no matter how many ways lead to it. Sinks that only
// pass lines on are not included.
using leaves_t_ = std::vector<std::pair<sink_ptr, level::level_enum>>;

// An exception of the program's own sink goes to the program's function, else to standard error.
class errors_ {
  public:
    void set(err_handler handler) {
        auto made = std::make_shared<const err_handler>(std::move(handler));
        const std::lock_guard guard(lock_);
        handler_ = std::move(made);
    }
    [[nodiscard]] std::shared_ptr<const err_handler> get() const {
        const std::lock_guard guard(lock_);
        return handler_;
    }
    void report(const std::string& what) const {
        const auto handler = get();
        if (handler != nullptr && *handler) return (*handler)(what);
        std::fprintf(stderr, "silverpoint: a sink of the program has failed: %s\n", what.c_str());
    }
    template <class Call>
    void guard(const Call& call) const {
#if defined(__cpp_exceptions)
        std::string what;
        try {
            return call();
        } catch (const std::exception& error) {
            what = error.what();
        } catch (...) {
            what = "an exception that is no std::exception";
        }
        report(what);
#else
        call();
#endif
    }

  private:
    mutable std::mutex lock_;
    std::shared_ptr<const err_handler> handler_;
};

// Of a logger, for the thread that logs: sinks of the program's own. Immutable.
struct customs_of_ {
    leaves_t_ sinks;
    bool has_others = false;  // that the logger inside the process writes
};

// Lines that a sink of the program logs itself, for sinks of the program: they come behind those that it gets
// now.
struct given_later_ {
    bool is_giving = false;
    std::deque<std::pair<sink_ptr, details::log_msg_buffer>> lines;
};
inline given_later_& given_later_here_() {
    static thread_local given_later_ here;
    return here;
}

// Thread-safe: any thread, but for sinks(). Cost: to make one, the lock of the registry. To log: below the
// level, two loads and a comparison; else a record in the ring, and what own sinks do here. To flush: a wait
// of at most five seconds.
class logger {
  public:
    explicit logger(std::string name) : logger(std::move(name), sinks_init_list{}) {}
    logger(std::string name, sink_ptr sink) : logger(std::move(name), sinks_init_list{std::move(sink)}) {}
    logger(std::string name, sinks_init_list sinks) : logger(std::move(name), sinks.begin(), sinks.end()) {}
    template <class Iterator>
    logger(std::string name, Iterator begin, Iterator end)
        : info{this},
          name_(std::move(name)),
          recorded_name_(in_utf8_(name_)),
          category_(category_of_(name_)),
          sinks_(begin, end) {
        note_(this, true);
    }
    virtual ~logger() {
        note_(this, false);
        delete customs_.load(std::memory_order_relaxed);
    }
    logger(const logger&) = delete;
    logger& operator=(const logger&) = delete;

    // One pointer for all.
    union {
        info_call_ info;
        trace_call_ trace;
        debug_call_ debug;
        warn_call_ warn;
        error_call_ error;
        critical_call_ critical;
        any_level_call_ log;
    };

    [[nodiscard]] const std::string& name() const { return name_; }
    void set_level(level::level_enum level) {
        if (level_.exchange(level, std::memory_order_relaxed) != level && backtrace_() > 0) changed_();
    }
    [[nodiscard]] level::level_enum level() const {
        return static_cast<level::level_enum>(level_.load(std::memory_order_relaxed));
    }
    [[nodiscard]] bool should_log(level::level_enum level) const { return level >= this->level(); }
    void set_pattern(const std::string& pattern, pattern_time_type time = pattern_time_type::local) {
        if (time == pattern_time_type::utc)
            return set_formatter(std::make_unique<pattern_formatter>(pattern, time));
        for (const auto& sink : sinks_) sink->set_pattern(pattern);
    }
    // Any of the program's own sinks; of others those with a pattern. All of them, or none.
    void set_formatter(std::unique_ptr<formatter> one) {
        for (const auto& sink : sinks_)
            if (!sink->takes_formatter_(*one)) refuse_formatter_();
        for (const auto& sink : sinks_) sink->set_formatter(one->clone());
    }
    // Whether everything recorded before was written, within five seconds. It waits for that, unless a sink
    // of the program calls while it gets a line. Sinks of the program's own are flushed.
    bool flush() {
        if (stale_.load(std::memory_order_relaxed)) start_();
        const customs_of_* const all = customs_.load(std::memory_order_acquire);
        const bool is_done = (all != nullptr && !all->has_others && !is_async_()) ||
                             silverpoint_flush(patience_()) == SILVERPOINT_DONE;
        flush_customs_();
        return is_done;
    }
    void flush_customs_() {
        if (const customs_of_* const all = customs_.load(std::memory_order_acquire); all != nullptr)
            for (const auto& [sink, least] : all->sinks) guarded_([&] { sink->flush(); });
    }
    // Records below its level are kept back until dump_backtrace(), the last `count` of them.
    void enable_backtrace(std::size_t count) {
        if (kept_.exchange(count, std::memory_order_relaxed) != count) changed_();
        const std::lock_guard guard(kept_lock_);
        while (kept_lines_.size() > count) kept_lines_.pop_front();
    }
    void disable_backtrace() { enable_backtrace(0); }
    [[nodiscard]] bool should_backtrace() const { return backtrace_() > 0; }
    // Writes what is kept back, and discards it then. Returns whether that was done within five seconds.
    bool dump_backtrace() {
        if (stale_.load(std::memory_order_relaxed)) start_();
        const customs_of_* const all = customs_.load(std::memory_order_acquire);
        const bool is_done = (all != nullptr && !all->has_others && !is_async_()) ||
                             silverpoint_dump_backtrace(patience_()) == SILVERPOINT_DONE;
        std::deque<details::log_msg_buffer> lines;
        {
            const std::lock_guard guard(kept_lock_);
            lines.swap(kept_lines_);
        }
        if (lines.empty() || all == nullptr) return is_done;
        const auto give = [&](const details::log_msg& msg) {
            for (const auto& [sink, least] : all->sinks) give_line_(sink, msg);
        };
        give({name_, level::info, "****************** Backtrace Start ******************"});
        for (const auto& line : lines) give(line);
        give({name_, level::info, "****************** Backtrace End ********************"});
        return is_done;
    }
    [[nodiscard]] std::size_t backtrace_() const { return kept_.load(std::memory_order_relaxed); }
    void flush_on(level::level_enum level) { flush_level_.store(level, std::memory_order_relaxed); }
    [[nodiscard]] level::level_enum flush_level() const {
        return static_cast<level::level_enum>(flush_level_.load(std::memory_order_relaxed));
    }
    // Receives exceptions of the program's own sinks, and templates that do not fit their arguments: then
    // that line is not written. The logging function propagates its exceptions.
    void set_error_handler(err_handler handler) { on_error_->set(std::move(handler)); }
    [[nodiscard]] const std::vector<sink_ptr>& sinks() const { return sinks_; }
    [[nodiscard]] std::vector<sink_ptr>& sinks() {
        changed_();  // for code that may change them
        return sinks_;
    }
    [[nodiscard]] virtual std::shared_ptr<logger> clone(std::string name) {
        auto made = std::make_shared<logger>(std::move(name), sinks_.begin(), sinks_.end());
        copy_to_(*made);
        return made;
    }

    // --- What the functions above come to. `Tag` is another type at each call.

    template <class Tag, class... Ts>
    SP_DETAIL_HOT void write_(level::level_enum which, const text_at_<Ts...>& text, const Ts&... args) {
        if (!begins_(which)) return;
        if (sp_::usdt_wants_statements()) [[unlikely]]
            trace_(which, text.at, [&] { return made_text_(text.text, text.parts, args...); });
        if (is_special_()) [[unlikely]] {
            if (gives_()) give_(which, text.at, [&] { return made_text_(text.text, text.parts, args...); });
            if (!is_recorded_()) return ends_(which);
        }
        record_<Tag>(which, text, args...);
        ends_(which);
    }
    template <class Tag>
    SP_DETAIL_HOT void write_(level::level_enum which, const sp_::PlainAt& text) {
        if (!begins_(which)) return;
        if (sp_::usdt_wants_statements()) [[unlikely]]
            trace_(which, text.at, [&] { return std::string(text.value()); });
        if (is_special_()) [[unlikely]] {
            if (gives_()) give_(which, text.at, [&] { return std::string(text.value()); });
            if (!is_recorded_()) return ends_(which);
        }
        sp_::CallSite& call = sp_::call_site<Tag>();
        if (!sp_::record_plain(call, category_, level_of_(which), text)) [[unlikely]]
            sp_::record_shared(call, shared_(), level_of_(which), "{}", text.at, text.value());
        ends_(which);
    }
    template <class Tag, class T>
        requires message_t_<T>
    SP_DETAIL_HOT void write_(level::level_enum which, const T& message, const std::source_location& at) {
        if (!begins_(which)) return;
        if (sp_::usdt_wants_statements()) [[unlikely]]
            trace_(which, at, [&] { return made_text_("{}", parts_t_<1>{}, message); });
        if (is_special_()) [[unlikely]] {
            if (gives_()) give_(which, at, [&] { return made_text_("{}", parts_t_<1>{}, message); });
            if (!is_recorded_()) return ends_(which);
        }
        record_here_<Tag>(which, "{}", at, argument_t_<T>::of(message, {}));
        ends_(which);
    }
    template <class Tag, class... Ts>
    void write_(level::level_enum which, const runtime_at_& text, const Ts&... args) {
        if (!begins_(which)) return;
        if constexpr (sizeof...(Ts) > 0) {
            if (!fits_(text.text, args...)) return;
        }
        if (sp_::usdt_wants_statements()) [[unlikely]]
            trace_(which, text.at, [&] { return made_runtime_(text.text, args...); });
        if (is_special_()) {
            if (gives_()) give_(which, text.at, [&] { return made_runtime_(text.text, args...); });
            if (!is_recorded_()) return ends_(which);
        }
        if constexpr ((foreign_t_<Ts> || ...)) {
            record_here_<Tag>(which, "{}", text.at, made_runtime_(text.text, args...));
        } else {
            sp_::RuntimeSites& sites = sp_::runtime_sites<Tag>();
            sp_::CallSite& call = sp_::call_site<Tag>();
            const sp_::RuntimeText here{text.text, text.at};
            if (!sp_::record_runtime(sites, call, category_, level_of_(which), here, args...))
                sp_::record_runtime_shared(sites, call, shared_(), level_of_(which), here, args...);
        }
        ends_(which);
    }
    // Without sinks, or with only the program's own sinks that are called here, the record of a logger would
    // have no receiver. Unless a process collects it would be kept, for sinks that the logger may get later.
    SP_DETAIL_COLD bool is_recorded_() const {
        if (must_record_.load(std::memory_order_relaxed)) return true;
        return sp_::ensure_session() && sp_::session.is_collected();
    }
    // For the one line whose target this is, in this thread; nothing of it applies to another line.
    class said_t_ {
      public:
        said_t_(logger* of, source_loc where, log_clock::time_point time) : of_(of) {
            said_here_() = {where, time};
        }
        ~said_t_() { said_here_() = {}; }
        said_t_(const said_t_&) = delete;
        said_t_& operator=(const said_t_&) = delete;
        logger* operator->() const { return of_; }

      private:
        logger* of_;
    };
    said_t_ said_at_(source_loc where, log_clock::time_point time = {}) { return {this, where, time}; }

    [[nodiscard]] virtual bool is_async_() const { return false; }
    [[nodiscard]] const std::shared_ptr<errors_>& on_error_here_() const { return on_error_; }
    // The registry, whose lock is held, searches them again. Threads that log may still have the previous
    // ones.
    void set_customs_(customs_of_ found) {
        const customs_of_* const known = customs_.load(std::memory_order_relaxed);
        gives_here_.store(!found.sinks.empty() && (!is_async_() || backtrace_() > 0),
                          std::memory_order_relaxed);
        must_record_.store(found.has_others || is_async_(), std::memory_order_relaxed);
        special_.store(gives_() || !found.has_others, std::memory_order_relaxed);
        if (known != nullptr && known->sinks == found.sinks && known->has_others == found.has_others) return;
        if (known != nullptr) replaced_.emplace_back(known);
        customs_.store(new customs_of_(std::move(found)), std::memory_order_release);
    }
    // Whether its name is a category; else the one that says which sinks its lines are for is it.
    [[nodiscard]] bool is_category_() const { return !sp_::is_shared(category_); }
    [[nodiscard]] const std::string& category_text_() const { return recorded_name_; }
    [[nodiscard]] const char* shared_category_() const {
        return shared_category_now_.load(std::memory_order_relaxed);
    }
    void set_shared_category_(const char* name) {
        shared_category_now_.store(name, std::memory_order_relaxed);
    }
    // Where the registry has it; with its lock held.
    std::list<logger*>::iterator noted_;
    // In a forked child: another thread of the parent may have held it.
    void after_fork_() { new (&kept_lock_) std::mutex; }

  protected:
    void copy_to_(logger& made) const {
        made.set_level(level());
        made.flush_on(flush_level());
        made.enable_backtrace(backtrace_());
        if (const auto handler = on_error_->get(); handler != nullptr) made.on_error_->set(*handler);
    }

  private:
    struct said_here_t_ {
        source_loc where;
        log_clock::time_point time;
    };
    static said_here_t_& said_here_() {
        static thread_local said_here_t_ here;
        return here;
    }
    template <class Call>
    void guarded_(const Call& call) const {
        on_error_->guard(call);
    }
    // Not all of its lines are for the logger inside the process alone.
    SP_DETAIL_HOT bool is_special_() const { return special_.load(std::memory_order_relaxed); }
    SP_DETAIL_HOT bool gives_() const { return gives_here_.load(std::memory_order_relaxed); }
    void give_line_(const sink_ptr& sink, const details::log_msg& msg) {
        given_later_& later = given_later_here_();
        if (later.is_giving) {
            later.lines.emplace_back(sink, details::log_msg_buffer(msg));
            return;
        }
        struct Giving {
            given_later_& later;
            explicit Giving(given_later_& of) : later(of) { later.is_giving = true; }
            ~Giving() { later.is_giving = false; }
        };
        guarded_([&] {
            const Giving giving(later);
            sink->log(msg);
        });
        while (!later.lines.empty()) {
            const auto next = std::move(later.lines.front());
            later.lines.pop_front();
            guarded_([&] {
                const Giving giving(later);
                next.first->log(next.second);
            });
        }
    }
    // The USDT probe of a message; only where usdt_wants_statements(). A value that cannot be formatted has
    // none.
    template <class Make>
    SP_DETAIL_COLD void trace_(level::level_enum which, const std::source_location& at,
                               const Make& make) const {
#ifdef __cpp_exceptions
        try {
            sp_::usdt_message(level_of_(which), recorded_name_, make(), at.file_name(), at.line());
        } catch (...) {
        }
#else
        sp_::usdt_message(level_of_(which), recorded_name_, make(), at.file_name(), at.line());
#endif
    }
    // To sinks of the program's own, before the logging function returns.
    template <class Make>
    SP_DETAIL_COLD void give_(level::level_enum which, const std::source_location& at, const Make& make) {
        const said_here_t_ said = std::exchange(said_here_(), {});
        const customs_of_* const all = customs_.load(std::memory_order_acquire);
        if (all == nullptr) return;
        std::string payload;
        bool is_made = false;
        guarded_([&] {
            payload = make();
            is_made = true;
        });
        if (!is_made) return;
        source_loc place = said.where;
        if (place.filename == nullptr)
            place = {at.file_name(), static_cast<int>(at.line()), at.function_name()};
        details::log_msg msg(said.time == log_clock::time_point{} ? log_clock::now() : said.time, place,
                             name_, which, payload);
        if (should_log(which) && !is_async_())
            for (const auto& [sink, least] : all->sinks)
                if (which >= least && sink->should_log(which)) give_line_(sink, msg);
        if (const std::size_t most = backtrace_(); most > 0) {
            const std::lock_guard guard(kept_lock_);
            while (kept_lines_.size() >= most) kept_lines_.pop_front();
            kept_lines_.emplace_back(msg);
        }
    }
    // As fmt writes it, where all values are fmt's.
    template <std::size_t kCount, class... Ts>
    static std::string made_text_(std::string_view text, const parts_t_<kCount>& parts, const Ts&... args) {
#if SP_SPDLOG_HAS_FMT
        if constexpr ((formatted_t_<Ts> && ...)) return made_runtime_(text, args...);
#endif
        return [&]<std::size_t... kAt>(std::index_sequence<kAt...>) {
            return message_of_(without_foreign_specs_<Ts...>(text),
                               argument_t_<Ts>::of(args, parts.specs[kAt])...);
        }(std::index_sequence_for<Ts...>());
    }
    template <class... Ts>
    static std::string made_runtime_(std::string_view text, const Ts&... args) {
        if constexpr (sizeof...(Ts) == 0) {
            return std::string(text);
        } else {
#if SP_SPDLOG_HAS_FMT
            if constexpr ((formatted_t_<Ts> && ...))
                return fmt::format(fmt::runtime(fmt::string_view(text.data(), text.size())), args...);
#endif
            return message_of_(text, argument_t_<Ts>::of(args, {})...);
        }
    }
    // A template that was made at run time. If there is a function for errors, it gets the error, and nothing
    // is written. Otherwise what does not fit is shown as it stands.
    template <class... Ts>
    bool fits_([[maybe_unused]] std::string_view text, [[maybe_unused]] const Ts&... args) {
#if SP_SPDLOG_HAS_FMT && defined(__cpp_exceptions)
        if constexpr ((formatted_t_<Ts> && ...)) {
            if (on_error_->get() == nullptr) return true;
            std::string what;
            try {
                made_runtime_(text, args...);
                return true;
            } catch (const std::exception& failure) {
                what = failure.what();
            }
            on_error_->report(what);
            return false;
        }
#endif
        return true;
    }
    template <class Tag, class... Ts>
    SP_DETAIL_HOT void record_(level::level_enum which, const text_at_<Ts...>& text, const Ts&... args) {
        sp_::CallSite& call = sp_::call_site<Tag>();
        if constexpr (SP_SPDLOG_HAS_FMT && (formatted_t_<Ts> && ...)) {
            if (text.parts.is_whole)
                return record_here_<Tag>(which, "{}", text.at, made_runtime_(text.text, args...));
        }
        if constexpr ((foreign_t_<Ts> || ...)) {
            sp_::Site* const site = sp_::site_of(call, category_, level_of_(which), text.at);
            if (site == nullptr) [[unlikely]]
                return record_foreign_shared_(call, which, text, args...);
            if (!site->is_wanted(text.at.function_name(), category_)) return;
            if (site->whole.load(std::memory_order_acquire) == 0) [[unlikely]]
                if (sp_::complete_site<typename argument_t_<Ts>::type...>(
                        *site, sp_::Kind::kLog, {}, without_foreign_specs_<Ts...>(text.text)) == 0)
                    return;
            [&]<std::size_t... kAt>(std::index_sequence<kAt...>) {
                sp_::record(*site, sp_::Kind::kLog, {}, {},
                            argument_t_<Ts>::of(args, text.parts.specs[kAt])...);
            }(std::index_sequence_for<Ts...>());
        } else {
            record_here_<Tag>(which, text.text, text.at, args...);
        }
    }
    template <class Tag, class... Ts>
    SP_DETAIL_HOT void record_here_(level::level_enum which, std::string_view text,
                                    const std::source_location& at, const Ts&... args) {
        sp_::CallSite& call = sp_::call_site<Tag>();
        if (!sp_::record_call(call, category_, level_of_(which), text, at, args...)) [[unlikely]]
            sp_::record_shared(call, shared_(), level_of_(which), text, at, args...);
    }
    template <class... Ts>
    [[gnu::noinline, gnu::cold]] void record_foreign_shared_(sp_::CallSite& call, level::level_enum which,
                                                             const text_at_<Ts...>& text, const Ts&... args) {
        [&]<std::size_t... kAt>(std::index_sequence<kAt...>) {
            sp_::record_shared(call, shared_(), level_of_(which), without_foreign_specs_<Ts...>(text.text),
                               text.at, argument_t_<Ts>::of(args, text.parts.specs[kAt])...);
        }(std::index_sequence_for<Ts...>());
    }
    SP_DETAIL_COLD sp_::SharedCategory shared_() const {
        if (!is_category_()) return {shared_category_(), recorded_name_, is_by_name_(shared_category_())};
        return {include_all_() ? kByName_ : nullptr, recorded_name_, true};
    }
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

    std::string name_, recorded_name_;
    const char* category_;
    std::atomic<const char*> shared_category_now_{kByName_};
    std::vector<sink_ptr> sinks_;
    std::atomic<int> level_{level::info};
    std::atomic<int> flush_level_{level::off};
    std::atomic<std::size_t> kept_{0};
    std::atomic<bool> gives_here_{false}, must_record_{true}, special_{false};
    std::atomic<const customs_of_*> customs_{nullptr};
    // With the registry's lock held.
    std::vector<std::unique_ptr<const customs_of_>> replaced_;
    mutable std::mutex kept_lock_;
    std::deque<details::log_msg_buffer> kept_lines_;
    const std::shared_ptr<errors_> on_error_ = std::make_shared<errors_>();
};

}  // namespace spdlog
