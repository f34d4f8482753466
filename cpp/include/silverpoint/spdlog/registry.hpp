// All loggers of the process, and the one that writes for them (silverpoint/spdlog.hpp).
#pragma once

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <thread>
#include <utility>

#include "../logger.hpp"
#include "combined.hpp"
#include "custom.hpp"
#include "logger.hpp"
#include "shared.hpp"

namespace spdlog {

// Never destroyed: destructors of statics log, too.
struct registry_ {
    std::recursive_mutex lock;
    std::set<std::string> names;  // that are categories, for ever
    std::list<logger*> all;       // in the order in which they were made
    shared_categories_ shared;
    std::map<std::string, std::shared_ptr<logger>> known;
    std::shared_ptr<logger> standard;
    std::atomic<logger*> standard_raw{nullptr};
    std::function<void(const std::string&)> on_error;
    std::shared_ptr<formatter> common_form;
    level::level_enum level = level::info, flush_level = level::off;
    std::size_t backtrace = 0;                        // of all loggers
    std::map<std::string, level::level_enum> levels;  // of the environment
    bool runs = false, is_starting = false, is_registering = true, is_standard_made = false;
    std::string running;  // what it was started with
    // The thread of flush_every: another number ends it.
    std::mutex periodic_lock;
    std::condition_variable periodic_change;
    std::uint64_t periodic = 0;
    std::thread flushing;

    static registry_& the() {
        static registry_& one = *new registry_;
        return one;
    }
    void has(std::shared_ptr<logger> one) {
        if (!known.emplace(one->name(), one).second)
            SP_DETAIL_THROW(spdlog_ex("logger with name '" + one->name() + "' already exists"));
    }
    void prepare(logger& one) {
        const auto of_environment = levels.find(one.name());
        one.set_level(of_environment != levels.end() ? of_environment->second : level);
        one.flush_on(flush_level);
        if (backtrace > 0) one.enable_backtrace(backtrace);
        if (common_form == nullptr) return;
        for (const auto& sink : std::as_const(one).sinks())
            if (sink->takes_formatter_(*common_form)) sink->set_formatter(common_form->clone());
    }
    logger& standard_logger() {
        const std::lock_guard guard(lock);
        if (standard == nullptr) {
            is_standard_made = true;
            auto made = std::make_shared<logger>("", std::make_shared<sinks::stdout_color_sink_mt>());
            prepare(*made);
            known.emplace("", made);
            standard = std::move(made);
            standard_raw = standard.get();
        }
        return *standard;
    }
    // The configuration of the logger inside the process. Equal sinks are one sink, so that lines of several
    // loggers on one console keep their order.
    std::string configuration() {
        struct Kept {
            level::level_enum own = level::off, least = level::off;
            std::size_t count = 0;
        };
        // Categories of loggers by the configuration of their sinks, each with the lowest level that the sink
        // gets from it. Also the names by which the sink selects lines.
        struct Named {
            std::map<std::string, level::level_enum> categories;
            std::set<std::string> names;
        };
        std::map<std::string, Named> named;
        std::vector<std::pair<std::string, sink_ptr>> order;
        std::map<const sinks::sink*, Kept> kept;
        for (const logger* one : all)
            for (const auto& [sink, own] : leaves_(one->sinks())) {
                Kept& found = kept[sink.get()];
                found.own = std::min(found.own, own);
                found.least = std::min(found.least, one->level());
                found.count = std::max(found.count, one->backtrace_());
            }
        for (const logger* one : all)
            for (const auto& [sink, own] : leaves_(one->sinks())) {
                const Kept& found = kept[sink.get()];
                const std::string said = sink->toml("[]", found.own, found.least, found.count);
                if (said.empty() || own >= level::off) continue;
                Named& of = named[said];
                if (of.categories.empty()) order.emplace_back(said, sink);
                const auto add = [&](const std::string& category) {
                    const auto [name, is_new] = of.categories.emplace(category, own);
                    if (!is_new) name->second = std::min(name->second, own);
                };
                add(one->is_category_() ? one->category_text_() : one->shared_category_());
                if (!shared.is_by_name(*one)) continue;
                add(kByName_);
                of.names.insert(one->category_text_());
            }
        std::string text;
        for (const auto& [said, sink] : order) {
            std::string categories;
            const Kept& found = kept[sink.get()];
            const Named& of = named[said];
            for (const auto& [name, own] : of.categories) {
                std::string entry, wanted = name;
                // A name with a `=` in it is always followed by a level, so that it is used as it stands.
                if (own > found.own || name.find('=') != std::string::npos)
                    (wanted += '=') += sinks::sink::toml_level(own);
                silverpoint::detail::append_toml(entry, "", wanted);
                // ` = "name"` and a line end: the text alone.
                categories += (categories.empty() ? "[" : ", ") + entry.substr(3, entry.size() - 4);
            }
            text += sink->toml(categories + "]", found.own, found.least, found.count);
            if (!of.names.empty()) silverpoint::detail::append_toml(text, "where", selecting(of.names));
        }
        return text.empty() ? text : "record = \"trace\"\n" + text;
    }
    // An expression: lines without a name as an argument, and those with one of these. Its depth is bounded.
    static std::string selecting(const std::set<std::string>& names) {
        const std::string argument(sp_::kByNameArgument);
        std::vector<std::string> tests;
        for (const std::string& name : names) {
            std::string& test = tests.emplace_back(argument + "=\"");
            for (const char c : name) {
                if (c == '"' || c == '\\') test += '\\';
                test += c;
            }
            test += '"';
        }
        while (tests.size() > 1) {
            std::vector<std::string> pairs;
            for (std::size_t i = 0; i + 1 < tests.size(); i += 2)
                pairs.push_back('(' + tests[i] + " or " + tests[i + 1] + ')');
            if (tests.size() % 2 == 1) pairs.push_back(std::move(tests.back()));
            tests = std::move(pairs);
        }
        return "not " + argument + " or " + tests[0];
    }
    void start() {
        // It would wait for its own thread.
        if (is_giving_) return;
        const std::lock_guard guard(lock);
        // Not within itself: what this thread's operator new logs meanwhile is kept.
        if (!stale_ || is_starting) return;
        struct Starting {
            bool& is_starting;
            explicit Starting(bool& of) : is_starting(of) { is_starting = true; }
            ~Starting() { is_starting = false; }
        };
        const Starting starting(is_starting);
        const unsigned changes = changes_;
        start_now();
        stale_ = false;
        if (changes != changes_) stale_ = true;  // meanwhile
    }
    // A thread flushes the registered loggers' own sinks; 0: it stops.
    void flush_every(std::chrono::nanoseconds interval) {
        std::thread before;
        {
            const std::lock_guard guard(periodic_lock);
            ++periodic;
            before.swap(flushing);
        }
        periodic_change.notify_all();
        if (before.joinable() && before.get_id() != std::this_thread::get_id()) {
            before.join();
        } else if (before.joinable()) {
            before.detach();
        }
        if (interval.count() <= 0) return;
        const std::lock_guard guard(periodic_lock);
        flushing = std::thread([this, interval, number = periodic] {
            std::unique_lock waiting(periodic_lock);
            while (!periodic_change.wait_for(waiting, interval, [&] { return periodic != number; })) {
                waiting.unlock();
                if (stale_) start();
                std::vector<std::shared_ptr<logger>> loggers;
                {
                    const std::lock_guard registry_guard(lock);
                    for (const auto& [name, one] : known) loggers.push_back(one);
                }
                for (const auto& one : loggers) guarded_([&] { one->flush_customs_(); });
                waiting.lock();
            }
        });
    }
    void start_now() {
        static const int once = pthread_atfork([] { the().lock.lock(); }, [] { the().lock.unlock(); },
                                               [] {
                                                   // Its parent's logger is not there.
                                                   the().runs = false;
                                                   changed_();
                                                   // The thread of flush_every is not here.
                                                   new (&the().periodic_lock) std::mutex;
                                                   new (&the().periodic_change) std::condition_variable;
                                                   new (&the().flushing) std::thread;
                                                   // A new one: the owner of the old one would be a thread of
                                                   // the parent.
                                                   new (&the().lock) std::recursive_mutex;
                                                   customs_::the().forget();
                                                   for (logger* one : the().all) one->after_fork_();
                                                   is_giving_ = false;
                                               });
        // Sinks of the program's own are never destroyed: what they hold back comes out at the end.
        static const int at_end = std::atexit([] {
            the().flush_every(std::chrono::nanoseconds(0));
            const std::lock_guard guard(the().lock);
            for (logger* one : the().all) one->flush_customs_();
        });
        (void)once;
        (void)at_end;
        shared.renew(all);
        customs_::Table customs;
        for (logger* one : all) {
            customs_of_ found;
            for (const auto& [sink, own] : leaves_(std::as_const(*one).sinks())) {
                if (sink->is_custom_()) {
                    found.sinks.emplace_back(sink, own);
                } else {
                    found.has_others = true;
                }
            }
            if (one->is_async_())
                for (const auto& [sink, own] : found.sinks) {
                    const auto add = [&](customs_::Of& of) {
                        // Also of two loggers of one name: a line has no more than that.
                        of.errors = one->on_error_here_();
                        add_leaf_(sink, one->backtrace_() > 0 ? std::max(own, one->level()) : own, of.sinks);
                    };
                    add(customs.by_category[one->is_category_() ? one->category_text_()
                                                                : one->shared_category_()]);
                    if (shared.is_by_name(*one)) add(customs.by_name[one->category_text_()]);
                }
            one->set_customs_(std::move(found));
        }
#if defined(__cpp_exceptions)
        try {
            start_with(std::move(customs));
        } catch (const std::exception& error) {
            if (on_error) {
                on_error(error.what());
            } else {
                std::fprintf(stderr, "silverpoint: no logger could be started: %s\n", error.what());
            }
        }
#else
        start_with(std::move(customs));
#endif
        // (Also when nothing could be started: then the lines of no logger get anywhere.)
        shared.is_started();
    }
    void start_with(customs_::Table customs) {
        const bool has_customs = !customs.empty();
        if (const char* said = std::getenv("SILVERPOINT"); said != nullptr && *said != 0) {
            customs_::the().set(std::move(customs));
            silverpoint::start();
            return;
        }
        std::string text = configuration();
        if (text.empty() && has_customs) text = "record = \"trace\"\n";
        // Nothing that the logger inside the process does has changed.
        const bool is_same = runs && text == running && (!has_customs || customs_::the().is_known());
        if (!is_same && runs) silverpoint::stop();
        if (is_same && has_customs) silverpoint_flush(patience_());
        // What was logged before was for those who were there.
        customs_::the().set(std::move(customs));
        if (is_same) return;
        running = text;
        runs = !text.empty() && silverpoint::start(text);
    }
};

inline void start_() { registry_::the().start(); }

inline void note_(logger* of, bool is_there) {
    auto& all = registry_::the();
    const std::lock_guard guard(all.lock);
    if (is_there) {
        of->noted_ = all.all.insert(all.all.end(), of);
        // A logger that shares its category needs no restart when its set of sinks is known.
        const std::vector<sink_ptr>& sinks = std::as_const(*of).sinks();
        const char* const shared = of->is_category_() ? nullptr : all.shared.find(*of);
        if (shared == nullptr || has_customs_(sinks)) return changed_();
        of->set_shared_category_(shared);
        if (leaves_(sinks).empty()) of->set_customs_({});
    } else {
        // What it had to say is still to be written: its sinks stay until the next change.
        all.all.erase(of->noted_);
        if (all.standard_raw == of) all.standard_raw = nullptr;
    }
}

inline bool include_all_() {
    auto& all = registry_::the();
    if (all.shared.included_all()) return true;
    {
        const std::lock_guard guard(all.lock);
        all.shared.include_all();
    }
    changed_();
    all.start();
    return all.shared.included_all();
}

// So many loggers' names are categories; of further ones they are arguments.
inline constexpr std::size_t kLoggerCategories_ = 256;

inline const char* category_of_(const std::string& name) {
    auto& all = registry_::the();
    const std::lock_guard guard(all.lock);
    if (const auto found = all.names.find(name); found != all.names.end()) return found->c_str();
    // The standard logger's, which may come late, in any case.
    if (!name.empty() && (all.names.size() >= kLoggerCategories_ || sp_::is_shared(name.c_str()) ||
                          shared_categories_::is_taken(name)))
        return sp_::kShared;
    return all.names.insert(name).first->c_str();
}

}  // namespace spdlog
