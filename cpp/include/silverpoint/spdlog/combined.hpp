// Sinks that stand before others, and one that keeps the last lines (silverpoint/spdlog.hpp).
//
// If a dist_sink only passes lines on, its sinks replace it. The logger inside the process then writes files
// and consoles as if the logger had them itself. A filter is called with each line. It passes lines to its
// sinks at once, in the logger's thread: files and consoles then get lines by one write each.
#pragma once

#include <algorithm>
#include <deque>
#include <set>
#include <typeinfo>

#include "custom.hpp"

namespace spdlog {

inline void add_leaf_(const sink_ptr& one, level::level_enum least, leaves_t_& out) {
    const auto there =
        std::find_if(out.begin(), out.end(), [&](const auto& leaf) { return leaf.first == one; });
    if (there == out.end()) {
        out.emplace_back(one, least);
    } else {
        there->second = std::min(there->second, least);
    }
}
inline void add_leaves_(const std::vector<sink_ptr>& sinks, level::level_enum least, int depth,
                        leaves_t_& out) {
    // A sink that contains itself would recurse without end.
    constexpr int kDeepest = 16;
    for (const auto& one : sinks) {
        if (one == nullptr || depth > kDeepest) continue;
        const auto own = std::max(least, one->level());
        std::vector<sink_ptr> inner;
        if (one->passes_on_(inner)) {
            add_leaves_(inner, own, depth + 1, out);
        } else {
            add_leaf_(one, own, out);
        }
    }
}
inline leaves_t_ leaves_(const std::vector<sink_ptr>& sinks) {
    leaves_t_ found;
    add_leaves_(sinks, level::trace, 0, found);
    return found;
}

namespace sinks {

inline void native_sink::write_to_(int fd, const details::log_msg& msg) const {
    memory_buf_t line;
    pattern_formatter(pattern_now()).format(msg, line);
    for (std::size_t at = 0; at < line.size();) {
        const ssize_t written = write(fd, line.data() + at, line.size() - at);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0)
            SP_DETAIL_THROW(spdlog_ex(std::string("a line could not be written: ") + std::strerror(errno)));
        at += static_cast<std::size_t>(written);
    }
}

// Thread-safe: any thread, but for sinks(). Cost: a lock; after a change of its sinks the next line starts
// the logger again.
template <class Mutex>
class dist_sink : public base_sink<Mutex> {
  public:
    dist_sink() = default;
    explicit dist_sink(std::vector<sink_ptr> sinks) { set_sinks(std::move(sinks)); }

    void add_sink(sink_ptr one) {
        check(one);
        const std::lock_guard guard(this->mutex_);
        sinks_.push_back(std::move(one));
        changed_();
    }
    void remove_sink(const sink_ptr& one) {
        const std::lock_guard guard(this->mutex_);
        std::erase(sinks_, one);
        changed_();
    }
    void set_sinks(std::vector<sink_ptr> sinks) {
        for (const auto& one : sinks) check(one);
        const std::lock_guard guard(this->mutex_);
        sinks_ = std::move(sinks);
        changed_();
    }
    [[nodiscard]] std::vector<sink_ptr>& sinks() {
        changed_();  // for code that may change them
        return sinks_;
    }
    bool passes_on_(std::vector<sink_ptr>& inner) override {
        if (!only_passes_on()) return false;
        behind_(inner);
        return true;
    }
    void behind_(std::vector<sink_ptr>& inner) const override {
        const std::lock_guard guard(this->mutex_);
        inner.insert(inner.end(), sinks_.begin(), sinks_.end());
    }
    void be_given_lines_() override {
        if (is_given_lines_.exchange(true)) return;  // also one within itself
        std::vector<sink_ptr> inner;
        behind_(inner);
        for (const auto& one : inner)
            if (one != nullptr) one->be_given_lines_();
    }
    [[nodiscard]] bool takes_formatter_(const spdlog::formatter& form) const override {
        std::set<const sink*> seen{this};
        return all_behind(*this, seen, [&](const sink& one) {
            std::vector<sink_ptr> inner;
            one.behind_(inner);
            return !inner.empty() || one.takes_formatter_(form);
        });
    }

  protected:
    void sink_it_(const details::log_msg& msg) override {
        for (const auto& one : sinks_)
            if (one != nullptr && one->should_log(msg.level)) guarded_([&] { one->log(msg); });
    }
    void flush_() override {
        for (const auto& one : sinks_)
            if (one != nullptr)
                guarded_([&] {
                    if (one->is_custom_()) one->flush();
                });
    }
    void set_formatter_(std::unique_ptr<spdlog::formatter> one) override {
        for (const auto& inner : sinks_)
            if (inner != nullptr) inner->set_formatter(one->clone());
        this->formatter_ = std::move(one);
    }
    std::vector<sink_ptr> sinks_;

  private:
    // A derived class may do something else with a line; without RTTI any class may.
    [[nodiscard]] bool only_passes_on() const {
#if defined(__GXX_RTTI)
        return typeid(*this) == typeid(dist_sink);
#else
        return false;
#endif
    }
    // For a sink that passes lines to its sinks itself, instead of the logger inside the process.
    void check(const sink_ptr& one) {
        if (one == nullptr || (only_passes_on() && !is_given_lines_)) return;
        std::set<const sink*> seen;
        const auto takes = [](const sink& each) { return each.takes_lines_(); };
        if (!takes(*one) || !all_behind(*one, seen, takes))
            SP_DETAIL_THROW(spdlog_ex(
                "silverpoint: a sink that rotates or is of the system's is written by the logger inside the "
                "process alone, not behind a filter or a dist_sink of one's own"));
        one->be_given_lines_();
    }
    template <class Test>
    static bool all_behind(const sink& one, std::set<const sink*>& seen, const Test& test) {
        std::vector<sink_ptr> inner;
        one.behind_(inner);
        return std::all_of(inner.begin(), inner.end(), [&](const sink_ptr& each) {
            return each == nullptr || !seen.insert(each.get()).second ||
                   (test(*each) && all_behind(*each, seen, test));
        });
    }
    std::atomic<bool> is_given_lines_{false};
};
using dist_sink_mt = dist_sink<std::mutex>;
using dist_sink_st = dist_sink_mt;

// Leaves out a line that equals the last one, for so long after it.
// Thread-safe: any thread. Cost: a lock, and a comparison with the last line; a line that passes is formatted
// and written here.
template <class Mutex>
class dup_filter_sink : public dist_sink<Mutex> {
  public:
    template <class Rep, class Period>
    explicit dup_filter_sink(std::chrono::duration<Rep, Period> max_skip_duration)
        : most_(std::chrono::duration_cast<std::chrono::microseconds>(max_skip_duration)) {}

  protected:
    void sink_it_(const details::log_msg& msg) override {
        if (msg.time - last_time_ <= most_ && msg.payload == last_text_) {
            ++skipped_;
            return;
        }
        if (skipped_ > 0) {
            const std::string text = "Skipped " + std::to_string(skipped_) + " duplicate messages..";
            details::log_msg said(msg.time, source_loc{}, msg.logger_name, level::info, text);
            said.thread_id = msg.thread_id;
            dist_sink<Mutex>::sink_it_(said);
        }
        dist_sink<Mutex>::sink_it_(msg);
        last_time_ = msg.time;
        last_text_ = msg.payload;
        skipped_ = 0;
    }

  private:
    std::chrono::microseconds most_;
    log_clock::time_point last_time_;
    std::string last_text_;
    std::size_t skipped_ = 0;
};
using dup_filter_sink_mt = dup_filter_sink<std::mutex>;
using dup_filter_sink_st = dup_filter_sink_mt;

// Keeps the last lines, for the program. A call returns with everything that was logged before it. There are
// two exceptions: the logger is held up for five seconds, or a sink calls. Then it has what was given until
// now.
// Thread-safe: any thread. Cost: a lock, and a copy of the line; to read them, a wait of at most five
// seconds.
template <class Mutex>
class ringbuffer_sink final : public base_sink<Mutex> {
  public:
    explicit ringbuffer_sink(std::size_t n_items) : most_(n_items) {}

    // The last `lim`, the oldest first; 0: all.
    std::vector<details::log_msg_buffer> last_raw(std::size_t lim = 0) {
        silverpoint_flush(patience_());  // of an async_logger
        const std::lock_guard guard(this->mutex_);
        return {kept_.end() - count(lim), kept_.end()};
    }
    std::vector<std::string> last_formatted(std::size_t lim = 0) {
        std::vector<std::string> lines;
        for (const auto& msg : last_raw(lim)) {
            const std::lock_guard guard(this->mutex_);
            memory_buf_t line;
            this->formatter_->format(msg, line);
            lines.emplace_back(std::move(line));
        }
        return lines;
    }

  protected:
    void sink_it_(const details::log_msg& msg) override {
        if (most_ == 0) return;
        if (kept_.size() == most_) kept_.pop_front();
        kept_.emplace_back(msg);
    }
    void flush_() override {}

  private:
    [[nodiscard]] std::ptrdiff_t count(std::size_t lim) const {
        return static_cast<std::ptrdiff_t>(lim == 0 ? kept_.size() : std::min(lim, kept_.size()));
    }
    std::size_t most_;
    std::deque<details::log_msg_buffer> kept_;
};
using ringbuffer_sink_mt = ringbuffer_sink<std::mutex>;
using ringbuffer_sink_st = ringbuffer_sink_mt;

}  // namespace sinks
}  // namespace spdlog
