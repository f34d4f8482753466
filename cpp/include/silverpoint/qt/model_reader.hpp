// The thread that reads for a model: it numbers records while they come, and fetches those that are to be
// shown. The GUI's thread requests, and gets one posted event for any number of reports. It waits only where
// it wants to.
#pragma once

#include <QtCore/QCoreApplication>
#include <QtCore/QEvent>
#include <QtCore/QObject>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "silverpoint/platform/linux/joined_thread.hpp"
#include "silverpoint/reader.hpp"

namespace silverpoint::qt::detail {

// Records that were read together, from `first` on. None: that one cannot be read any more.
struct run {
    std::uint64_t first = 0;
    reading::records records;
    [[nodiscard]] std::uint64_t end() const noexcept { return first + records.size(); }
};

// The thread's reports.
struct news {
    std::uint64_t generation = 0;  // of the filter
    std::uint64_t count = 0;
    reading::state state = reading::state::more;
    std::vector<std::shared_ptr<const run>> runs;
    std::vector<std::string> messages;
};

class model_reader : public QObject {
  public:
    // Records that are fetched at a time.
    static constexpr std::size_t run_size = 256;

    // This object's event loop calls `tell`.
    model_reader(reading::reader reader, std::uint64_t generation, std::function<void()> tell)
        : reader_(std::move(reader)), tell_(std::move(tell)), generation_(generation) {
        news_.generation = generation;
        const int error = thread_.start([this] { work(); });
        if (error == 0) return;
        const std::lock_guard lock(mutex_);
        say("no thread can be started to read: " + std::system_category().message(error));
        news_.state = reading::state::finished;
        post();
    }
    ~model_reader() override { end(); }
    model_reader(const model_reader&) = delete;
    model_reader& operator=(const model_reader&) = delete;

    // From now on nothing is read or reported. Waits for the piece that is being read.
    void end() {
        if (!thread_.joinable()) return;
        {
            const std::lock_guard lock(mutex_);
            stop_ = true;
        }
        changed_.notify_all();
        thread_.join();
        QCoreApplication::removePostedEvents(this);
    }

    // From now on this filter selects; it must be valid. Earlier requests are dropped.
    void filter(std::string text, std::uint64_t generation) {
        const std::lock_guard lock(mutex_);
        filter_ = std::move(text);
        is_new_filter_ = true;
        // Damage is reported no matter what the filter is.
        std::vector<std::string> messages = std::move(news_.messages);
        news_ = {};
        news_.messages = std::move(messages);
        news_.generation = generation_ = generation;
        wanted_.clear();
        changed_.notify_all();
    }

    // Fetches the record of this number, and those after it. The latest request comes first.
    void want(std::uint64_t number) {
        const std::lock_guard lock(mutex_);
        if (is_busy_ && busy_with_ == number && busy_in_ == generation_) return;
        for (const std::uint64_t known : wanted_)
            if (known == number) return;
        wanted_.push_back(number);
        if (wanted_.size() > wanted_most) wanted_.pop_front();
        changed_.notify_all();
    }

    // Reports soon, even if nothing is new.
    void poke() {
        const std::lock_guard lock(mutex_);
        post();
    }

    // Reports news at once.
    news take() {
        const std::lock_guard lock(mutex_);
        return take_news();
    }
    // The same, after the record of this number has come, if it can be read.
    news wait_for(std::uint64_t number) {
        want(number);
        std::unique_lock lock(mutex_);
        if (!thread_.joinable()) return take_news();  // it would never be fetched
        fetched_.wait(lock, [&] {
            for (const std::uint64_t waits : wanted_)
                if (waits == number) return false;
            return !is_busy_ || busy_with_ != number;
        });
        return take_news();
    }

  protected:
    bool event(QEvent* got) override {
        if (got->type() != type()) return QObject::event(got);
        {
            const std::lock_guard lock(mutex_);
            is_posted_ = false;
        }
        tell_();
        return true;
    }

  private:
    // Pending requests; old ones are useless when the user scrolls past.
    static constexpr std::size_t wanted_most = 64;
    // A slice of numbering: others do not wait longer than this for the reader.
    static constexpr std::chrono::milliseconds slice{10};
    // Between two checks of what may grow.
    static constexpr std::chrono::milliseconds look{50};

    static QEvent::Type type() {
        static const auto mine = static_cast<QEvent::Type>(QEvent::registerEventType());
        return mine;
    }

    news take_news() {
        news taken = std::exchange(news_, {});
        news_.generation = taken.generation;
        news_.count = taken.count;
        news_.state = taken.state;
        return taken;
    }

    // With the lock.
    void post() {
        if (!std::exchange(is_posted_, true)) QCoreApplication::postEvent(this, new QEvent(type()));
    }

    // With the lock. The same text is not reported twice.
    void say(std::string message) {
        if (news_.messages.empty() || news_.messages.back() != message)
            news_.messages.push_back(std::move(message));
    }

    void work() {
        auto state = reading::state::more;
        reading::detail::tries tries;
        auto next_look = std::chrono::steady_clock::now();
        std::unique_lock lock(mutex_);
        while (!stop_) {
            if (is_new_filter_) {
                is_new_filter_ = false;
                const std::string text = filter_;
                lock.unlock();
                std::string error;
                reader_.filter(text, error);
                lock.lock();
                // Another request may have come meanwhile.
                state = reading::state::more;
                tries = {};
                continue;
            }
            if (!wanted_.empty()) {
                fetch(lock);
                continue;
            }
            if (state == reading::state::finished) {
                changed_.wait(lock, [this] { return has_work(); });
                continue;
            }
            if (state == reading::state::waiting &&
                changed_.wait_until(lock, next_look, [this] { return has_work(); }))
                continue;
            const std::uint64_t generation = generation_;
            lock.unlock();
            std::string error;
            const auto now = reader_.grow(slice, error);
            auto messages = reader_.messages();
            auto pause = look;
            if (now) {
                tries = {};
                state = *now;
            } else {
                if (tries.is_new(error)) messages.push_back(error);
                const auto again = tries.again();
                state = again ? reading::state::waiting : reading::state::finished;
                pause = again.value_or(look);
            }
            next_look = std::chrono::steady_clock::now() + pause;
            const std::uint64_t count = reader_.count();
            lock.lock();
            bool is_news = !messages.empty();
            for (auto& message : messages) say(std::move(message));
            if (generation == generation_) {
                is_news = is_news || count != news_.count || state != news_.state;
                news_.count = count;
                news_.state = state;
            }
            if (is_news) post();
        }
    }

    [[nodiscard]] bool has_work() const { return stop_ || is_new_filter_ || !wanted_.empty(); }

    void fetch(std::unique_lock<std::mutex>& lock) {
        const std::uint64_t number = busy_with_ = wanted_.back(), generation = busy_in_ = generation_;
        wanted_.pop_back();
        is_busy_ = true;
        lock.unlock();
        auto fetched = std::make_shared<run>();
        fetched->first = number;
        std::string error;
        const bool is_read = reader_.read(number, run_size, fetched->records, error);
        lock.lock();
        is_busy_ = false;
        if (!is_read) say(error);
        if (generation == generation_) news_.runs.push_back(std::move(fetched));
        if (generation == generation_ || !is_read) post();
        fetched_.notify_all();
    }

    reading::reader reader_;
    std::function<void()> tell_;
    std::uint64_t generation_;
    std::mutex mutex_;
    std::condition_variable changed_, fetched_;
    std::string filter_;
    bool is_new_filter_ = false, stop_ = false, is_posted_ = false, is_busy_ = false;
    std::uint64_t busy_with_ = 0, busy_in_ = 0;
    std::deque<std::uint64_t> wanted_;
    news news_;
    silverpoint::threading::joined_thread thread_;
};

}  // namespace silverpoint::qt::detail
