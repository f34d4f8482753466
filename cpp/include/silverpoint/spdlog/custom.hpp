// Sinks of the program's own (silverpoint/spdlog.hpp): what they receive, and how they format it.
//
// The thread that logs calls them, before the logging function returns. For an async_logger the thread of the
// logger inside the process calls them, in the order of time. They get their own lines later: a sink that
// logs each line never ends.
#pragma once

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <ostream>
#include <set>

#include "logger.hpp"

namespace spdlog {

// A formatter that the library's own sinks cannot use is refused.
inline bool sinks::native_sink::takes_formatter_(const formatter& one) const {
    return one.pattern_() != nullptr;
}
inline void sinks::native_sink::set_formatter(std::unique_ptr<formatter> one) {
    if (one == nullptr || !takes_formatter_(*one)) refuse_formatter_();
    set_pattern(*one->pattern_());
}

// Exceptions of a sink do not leave it.
template <class Call>
void guarded_(const Call& call) {
#if !defined(__cpp_exceptions)
    call();
#else
    try {
        call();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "silverpoint: a sink of the program has failed: %s\n", error.what());
    }
    SP_DETAIL_CATCH_END_OF_THREAD
    catch (...) {
        std::fputs("silverpoint: a sink of the program has failed\n", stderr);
    }
#endif
}

namespace sinks {

// As in spdlog: write sink_it_ and flush_.
// Thread-safe: any thread, by its Mutex. Cost: the lock, and sink_it_ in the thread that logs, or the
// logger's.
template <class Mutex>
class base_sink : public sink {
  public:
    base_sink() : base_sink(std::make_unique<pattern_formatter>()) {}
    explicit base_sink(std::unique_ptr<spdlog::formatter> one) : formatter_(std::move(one)) {}

    void set_pattern(const std::string& pattern) final {
        const std::lock_guard guard(mutex_);
        set_pattern_(pattern);
    }
    void set_formatter(std::unique_ptr<spdlog::formatter> one) final {
        if (one != nullptr && !takes_formatter_(*one)) refuse_formatter_();
        const std::lock_guard guard(mutex_);
        set_formatter_(std::move(one));
    }
    [[nodiscard]] bool takes_formatter_(const spdlog::formatter&) const override { return true; }
    void log(const details::log_msg& msg) final {
        const std::lock_guard guard(mutex_);
        sink_it_(msg);
    }
    void flush() final {
        const std::lock_guard guard(mutex_);
        flush_();
    }
    [[nodiscard]] bool is_custom_() const final { return true; }

  protected:
    virtual void sink_it_(const details::log_msg& msg) = 0;
    virtual void flush_() = 0;
    virtual void set_pattern_(const std::string& pattern) {
        set_formatter_(std::make_unique<pattern_formatter>(pattern));
    }
    virtual void set_formatter_(std::unique_ptr<spdlog::formatter> one) { formatter_ = std::move(one); }

    std::unique_ptr<spdlog::formatter> formatter_;
    mutable Mutex mutex_;
};

// Thread-safe: any thread, by its Mutex. Cost: the lock, formats the line, and writes it.
template <class Mutex>
class ostream_sink : public base_sink<Mutex> {
  public:
    explicit ostream_sink(std::ostream& out, bool force_flush = false)
        : out_(out), is_flushed_(force_flush) {}

  protected:
    void sink_it_(const details::log_msg& msg) override {
        memory_buf_t line;
        this->formatter_->format(msg, line);
        out_.write(line.data(), static_cast<std::streamsize>(line.size()));
        if (is_flushed_) out_.flush();
    }
    void flush_() override { out_.flush(); }

  private:
    std::ostream& out_;
    bool is_flushed_;
};
using ostream_sink_mt = ostream_sink<std::mutex>;
using ostream_sink_st = ostream_sink_mt;

// Thread-safe: any thread, by its Mutex. Cost: the lock, and the call.
template <class Mutex>
class callback_sink : public base_sink<Mutex> {
  public:
    explicit callback_sink(std::function<void(const details::log_msg&)> call) : call_(std::move(call)) {}

  protected:
    void sink_it_(const details::log_msg& msg) override { call_(msg); }
    void flush_() override {}

  private:
    std::function<void(const details::log_msg&)> call_;
};
using callback_sink_mt = callback_sink<std::mutex>;
using callback_sink_st = callback_sink_mt;

}  // namespace sinks

// Which sinks get the lines of which logger.
class customs_ {
  public:
    struct Of {
        leaves_t_ sinks;
        std::shared_ptr<errors_> errors;
    };
    using ByText = std::map<std::string, Of, std::less<>>;
    // By the category of lines, and of those that are `spdlog-0` by the name of the logger.
    struct Table {
        ByText by_category, by_name;
        [[nodiscard]] bool empty() const { return by_category.empty() && by_name.empty(); }
    };

    static customs_& the() {
        static customs_& one = *new customs_;
        return one;
    }
    // Whether every logger that is started passes us its records: from the first table on.
    [[nodiscard]] bool is_known() const { return is_known_; }
    void set(Table table) {
        if (!table.empty() && !is_known_)
            is_known_ = silverpoint_add_handler("", "", &customs_::take, nullptr) == SILVERPOINT_DONE;
        auto made = std::make_shared<const Table>(std::move(table));
        const std::lock_guard guard(lock_);
        table_ = std::move(made);
    }
    // In a forked child: the parent's threads are missing, and one may have been at work. The next start
    // decides which sinks get lines.
    void forget() {
        new (&lock_) std::mutex;
        new (&table_) std::shared_ptr<const Table>(std::make_shared<const Table>());
    }

  private:
    static void take(const silverpoint_event* event, void*) {
        customs_& all = the();
        const Giving giving;
        if (event == nullptr) return;
        std::shared_ptr<const Table> table;
        {
            const std::lock_guard guard(all.lock_);
            table = all.table_;
        }
        const std::string_view category(event->category.data, event->category.size);
        const bool is_by_name = is_by_name_(category);
        const ByText& all_of = is_by_name ? table->by_name : table->by_category;
        const auto found = is_by_name ? find_last(all_of, *event) : all_of.find(category);
        if (found == all_of.end()) return;
        std::string text(256, 0);
        constexpr const char* kPattern = "{text}{fields}";
        std::size_t size = silverpoint_event_line(event, kPattern, text.data(), text.size());
        if (size == static_cast<std::size_t>(-1)) return;
        if (size > text.size()) {
            text.resize(size);
            size = silverpoint_event_line(event, kPattern, text.data(), size);
        }
        const std::string file(event->file.data, event->file.size);
        const std::string function(event->function.data, event->function.size);
        details::log_msg msg;
        msg.logger_name = found->first;
        msg.level = static_cast<level::level_enum>(event->level);
        msg.time = log_clock::time_point(
            std::chrono::duration_cast<log_clock::duration>(std::chrono::nanoseconds(event->wall_ns)));
        msg.thread_id = event->tid;
        msg.source = {file.c_str(), static_cast<int>(event->line), function.c_str()};
        msg.payload = string_view_t(text.data(), size);
        msg.event_ = event;
        for (const auto& [sink, least] : found->second.sinks) {
            if (msg.level < least || !sink->should_log(msg.level)) continue;
            // The caller cannot catch what a function for errors throws.
            guarded_([&] { found->second.errors->guard([&] { sink->log(msg); }); });
        }
    }
    // By the last argument: a length of four bytes, and a text. Zeros fill the record up.
    static ByText::const_iterator find_last(const ByText& all, const silverpoint_event& event) {
        const std::string_view args(reinterpret_cast<const char*>(event.args), event.args_size);
        return std::find_if(all.begin(), all.end(), [&](const auto& one) {
            const auto size = static_cast<std::uint32_t>(one.first.size());
            std::string wanted(reinterpret_cast<const char*>(&size), sizeof size);
            wanted += one.first;
            for (int zeros = 0; zeros < 8; ++zeros, wanted += '\0')
                if (args.ends_with(wanted)) return true;
            return false;
        });
    }
    struct Giving {
        Giving() { is_giving_ = true; }
        ~Giving() { is_giving_ = false; }
        Giving(const Giving&) = delete;
        Giving& operator=(const Giving&) = delete;
    };

    std::mutex lock_;
    std::shared_ptr<const Table> table_ = std::make_shared<const Table>();
    bool is_known_ = false;
};

}  // namespace spdlog
