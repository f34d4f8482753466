// Records as the events of a signal, for receivers in any loop: of programs while they run, and of files
// while they grow. Link silverpoint::logger (CMake) or -lsilverpoint.
//
//   silverpoint::record_signal live(silverpoint::reading::reader::live({"4711"}));
//   silverpoint::qt_inbox here;                                   // or any other inbox
//   live.connect_queued(here, [&](const silverpoint::record_batch& batch) {
//       for (const auto& record : *batch) list.add(record.message());
//   });
//   live.start();
//
// A thread of the signal reads. While a receiver is behind, it waits (or does what `queued_options` say);
// what is recorded meanwhile waits in files, or in rings. A batch goes to all receivers without a copy.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "silverpoint/platform/linux/joined_thread.hpp"
#include "silverpoint/reader.hpp"
#include "silverpoint/signal.hpp"

namespace silverpoint {

/// Records that came together, in order: some hundreds at most.
using record_batch = std::shared_ptr<const reading::records>;

/// See the head of this file. Its functions are for one thread; receivers may be in any.
/// Thread-safe: one thread at a time. Cost: a thread that reads; each batch allocates.
class record_signal {
  public:
    /// From `reader`, with its filter. `batch`: the most records of one event. `look`: how often it checks
    /// when nothing comes.
    explicit record_signal(reading::reader reader, std::size_t batch = 256,
                           std::chrono::milliseconds look = std::chrono::milliseconds(50))
        : reader_(std::move(reader)), batch_(batch > 0 ? batch : 1), look_(look) {}
    /// Ends the connections and the thread.
    ~record_signal() {
        {
            const std::lock_guard hold(lock_);
            stop_ = true;
        }
        wake_.notify_all();
        connections_.disconnect_all();  // a receiver that is behind does not hold the thread up
        thread_.join();
    }
    record_signal(const record_signal&) = delete;
    record_signal& operator=(const record_signal&) = delete;

    /// `function(const record_batch&)` runs in the thread that drains `to`, for every batch, in order. As in
    /// signal.hpp, but by default only some batches wait.
    template <class Function>
    connection connect_queued(inbox& to, Function&& function,
                              queued_options options = {16, overflow::block}) {
        const connection made = batches_.connect_queued(to, std::forward<Function>(function), options);
        connections_.add(made);
        return made;
    }
    /// The same until `owner` dies.
    template <class Function>
    connection connect_queued(receiver& owner, inbox& to, Function&& function,
                              queued_options options = {16, overflow::block}) {
        const connection made = connect_queued(to, std::forward<Function>(function), options);
        owner.add(made);
        return made;
    }
    /// `function(const std::string&)`: reports of missing or damaged data, and other notes for people.
    template <class Function>
    connection connect_messages(inbox& to, Function&& function) {
        const connection made = messages_.connect_queued(to, std::forward<Function>(function));
        connections_.add(made);
        return made;
    }
    /// `function(std::uint64_t records)`, after the last batch. The programs have ended, the files were
    /// closed, or cannot be read any more. A message reports the latter (reading is tried again for some 40
    /// seconds).
    template <class Function>
    connection connect_end(inbox& to, Function&& function) {
        const connection made = ends_.connect_queued(to, std::forward<Function>(function));
        connections_.add(made);
        return made;
    }

    /// Begins to read, once; receivers get what is there already, and what comes later. If a thread cannot be
    /// started, a message reports it and the end comes.
    void start() {
        if (thread_.joinable()) return;
        const int error = thread_.start([this] { read(); });
        if (error == 0) return;
        messages_("no thread can be started to read: " + std::system_category().message(error));
        ends_(0);
    }

  private:
    void read() {
        std::uint64_t next = 0;
        std::string error;
        reading::detail::tries tries;
        for (auto state = reading::state::more; !is_stopped();) {
            const auto grown = reader_.grow(std::chrono::milliseconds(10), error);
            for (; next < reader_.count() && !is_stopped();) {
                auto batch = std::make_shared<reading::records>();
                if (!reader_.read(next, batch_, *batch, error) || batch->empty()) {
                    messages_(error);
                    ends_(next);
                    return;
                }
                next += batch->size();
                batches_(record_batch(std::move(batch)));
            }
            for (const std::string& message : reader_.messages()) messages_(message);
            auto pause = look_;
            if (grown) {
                tries = {};
                state = *grown;
            } else {
                if (tries.is_new(error)) messages_(error);
                const auto again = tries.again();
                state = again ? reading::state::waiting : reading::state::finished;
                pause = again.value_or(look_);
            }
            if (state == reading::state::finished) {
                ends_(next);
                return;
            }
            if (state == reading::state::waiting) {
                std::unique_lock hold(lock_);
                wake_.wait_for(hold, pause, [this] { return stop_; });
            }
        }
    }
    bool is_stopped() {
        const std::lock_guard hold(lock_);
        return stop_;
    }

    signal<record_batch> batches_;
    signal<std::string> messages_;
    signal<std::uint64_t> ends_;
    receiver connections_;
    reading::reader reader_;
    const std::size_t batch_;
    const std::chrono::milliseconds look_;
    std::mutex lock_;
    std::condition_variable wake_;
    bool stop_ = false;
    threading::joined_thread thread_;
};

}  // namespace silverpoint
