// All loggers of the process, and the one that writes for them (silverpoint/spdlog.hpp).
#pragma once

#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <utility>

#include "../logger.hpp"
#include "combined.hpp"
#include "custom.hpp"
#include "logger.hpp"

namespace spdlog {

// Never destroyed: destructors of statics log, too.
struct registry_ {
    std::recursive_mutex lock;
    std::set<std::string> names;  // for ever
    std::vector<logger*> all;     // in the order in which they were made
    std::map<std::string, std::shared_ptr<logger>> known;
    std::shared_ptr<logger> standard;
    std::atomic<logger*> standard_raw{nullptr};
    std::function<void(const std::string&)> on_error;
    std::shared_ptr<formatter> common_form;
    level::level_enum level = level::info, flush_level = level::off;
    std::size_t backtrace = 0;                        // of all loggers
    std::map<std::string, level::level_enum> levels;  // of the environment
    bool runs = false;

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
            auto made = std::make_shared<logger>("", std::make_shared<sinks::stdout_color_sink_mt>());
            prepare(*made);
            known.emplace("", made);
            standard = std::move(made);
            standard_raw = standard.get();
        }
        return *standard;
    }
    // What the logger inside the process is to do. Sinks that say the same are one, so that lines of several
    // loggers on one console keep their order.
    std::string configuration() {
        struct Kept {
            level::level_enum own = level::off, least = level::off;
            std::size_t count = 0;
        };
        // Of loggers, by what a sink says, each with the least level of what the sink gets from it.
        std::map<std::string, std::map<std::string, level::level_enum>> named;
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
                if (named[said].empty()) order.emplace_back(said, sink);
                const auto [name, is_new] = named[said].emplace(one->name(), own);
                if (!is_new) name->second = std::min(name->second, own);
            }
        std::string text;
        for (const auto& [said, sink] : order) {
            std::string categories;
            const Kept& found = kept[sink.get()];
            for (const auto& [name, own] : named[said]) {
                std::string entry, wanted = name;
                // A name with a `=` in it is followed by a level in any case, so that it is taken as it
                // stands.
                if (own > found.own || name.find('=') != std::string::npos)
                    (wanted += '=') += sinks::sink::toml_level(own);
                silverpoint::detail::append_toml(entry, "", wanted);
                // ` = "name"` and a line end: the text alone.
                categories += (categories.empty() ? "[" : ", ") + entry.substr(3, entry.size() - 4);
            }
            text += sink->toml(categories + "]", found.own, found.least, found.count);
        }
        return text.empty() ? text : "record = \"trace\"\n" + text;
    }
    void start() {
        // It would wait for its own thread.
        if (is_giving_) return;
        const std::lock_guard guard(lock);
        if (!stale_) return;
        const unsigned changes = changes_;
        start_now();
        stale_ = false;
        if (changes != changes_) stale_ = true;  // meanwhile
    }
    void start_now() {
        static const int once = pthread_atfork([] { the().lock.lock(); }, [] { the().lock.unlock(); },
                                               [] {
                                                   // Its parent's logger is not there.
                                                   the().runs = false;
                                                   changed_();
                                                   // A new one: its owner would be a thread of the parent.
                                                   new (&the().lock) std::recursive_mutex;
                                                   customs_::the().forget();
                                                   is_giving_ = false;
                                               });
        (void)once;
        customs_::Table customs;
        for (const logger* one : all)
            for (const auto& [sink, own] : leaves_(one->sinks()))
                // Also of two loggers of one name: a line has no more than that.
                if (sink->is_custom_()) add_leaf_(sink, own, customs[one->name()]);
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
    }
    void start_with(customs_::Table customs) {
        const bool has_customs = !customs.empty();
        if (const char* said = std::getenv("SILVERPOINT"); said != nullptr && *said != 0) {
            customs_::the().set(std::move(customs));
            silverpoint::start();
            return;
        }
        std::string text = configuration();
        if (runs) silverpoint::stop();
        // What was logged before was for those who were there.
        customs_::the().set(std::move(customs));
        if (text.empty() && has_customs) text = "record = \"trace\"\n";
        runs = !text.empty() && silverpoint::start(text);
    }
};

inline void start_() { registry_::the().start(); }

inline void note_(logger* of, bool is_there) {
    auto& all = registry_::the();
    const std::lock_guard guard(all.lock);
    if (is_there) {
        all.all.push_back(of);
        changed_();
    } else {
        // What it had to say is still to be written: its sinks stay until the next change.
        std::erase(all.all, of);
        if (all.standard_raw == of) all.standard_raw = nullptr;
    }
}

inline const char* forever_(const std::string& name) {
    auto& all = registry_::the();
    const std::lock_guard guard(all.lock);
    return all.names.insert(name).first->c_str();
}

}  // namespace spdlog
