// Where queued and latest events of other threads wait for the thread that receives them.
//
// An inbox belongs to one loop, or to the thread that drains it by hand. A queue that was empty and no longer
// is announces itself here. The first announcement since the last drain wakes the loop: one wake-up for a
// batch of any size.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <iterator>

#include "connection.hpp"

namespace silverpoint {

namespace signaling {

/// What a delivery has done.
enum class delivered {
    all,       ///< there was no more
    batch,     ///< more has come since
    leftover,  ///< only what an earlier drain had begun
    part,      ///< the budget is spent
};

/// The side of a queued or latest connection that the inbox calls. It does so only while it is connected:
/// afterwards the code of its functions may be unloaded.
class source {
  public:
    /// Latest values: notes which cell is going to be read; false if there is nothing new.
    virtual bool prepare() { return false; }
    /// Calls the receiver with what has come, at most until `budget` is used up.
    virtual delivered deliver(class budget& budget) = 0;
    /// Queues. The first: from here on an emission announces the source, if it sees this. The second, behind
    /// a heavy barrier: whether an emission has not.
    virtual void rest() {}
    virtual bool missed() { return false; }

  protected:
    ~source() = default;
};

/// A source that the inbox has, with the slot that it is part of.
class held_source {
  public:
    /// Holds the slot.
    held_source(slot_base* slot, source* what) : slot_(slot), what_(what) { slot->hold(); }
    held_source another() const { return {slot_.get(), what_}; }
    bool is(const source* one) const { return what_ == one; }

    /// Under the inbox's lock, for a source that it watches; the source is removed before it ends.
    bool prepare() const { return what_->prepare(); }
    delivered deliver(class budget& budget) const {
        return while_connected([&] { return what_->deliver(budget); }, delivered::all);
    }
    void rest() const {
        while_connected([&] { return what_->rest(), true; }, true);
    }
    bool missed() const {
        return while_connected([&] { return what_->missed(); }, false);
    }

  private:
    template <class Function, class Result>
    Result while_connected(Function&& function, Result otherwise) const {
        const visit inside(slot_.get());
        return slot_->connected() ? function() : otherwise;
    }

    held<slot_base> slot_;
    source* what_;
};

class inbox_core;

/// How much one drain may do.
class budget {
  public:
    using clock = std::chrono::steady_clock;
    budget(std::size_t most, clock::time_point until) : most_(most), until_(until), spent_(most == 0) {}

    bool spent() const { return spent_; }
    std::size_t calls() const { return calls_; }
    /// Before each call of a receiver of a queue: its loop is woken for another turn. A receiver may contain
    /// a loop, which goes on with what is there. New events are not announced until a turn has found nothing.
    /// (Going to sleep takes a barrier that the senders feel too. So a queue does it in a turn of its own,
    /// and not behind each batch.)
    void ring() const;
    /// After each call of a receiver. The clock is read after every sixteenth.
    void count() {
        ++calls_;
        if (calls_ >= most_ ||
            (calls_ % 16 == 0 && until_ != clock::time_point::max() && clock::now() >= until_))
            spent_ = true;
    }

  private:
    friend class inbox_core;
    inbox_core* of_ = nullptr;
    std::size_t most_, calls_ = 0;
    clock::time_point until_;
    bool spent_;
};

/// What an inbox and the connections to it share; lives as long as any of them.
class inbox_core {
  public:
    /// `wake` is called in the emitting thread, at most once between two drains; empty: nothing is woken.
    /// `reset` is called at the beginning of each drain.
    explicit inbox_core(std::function<void()> wake, std::function<void()> reset)
        : wake_(std::move(wake)), reset_(std::move(reset)), signalled_(wake_ == nullptr) {
        own();
    }

    /// A source has become ready. Called with no lock of the source's.
    void announce(slot_base* slot, source* one) {
        held_source kept(slot, one);
        {
            const std::lock_guard hold(lock_);
            if (closed_) return;
            ready_.push_back(std::move(kept));
        }
        wake();
    }

    /// For latest values, after publishing: whether the loop must be woken.
    bool asleep() const { return !signalled_.load(std::memory_order_seq_cst); }
    /// If several threads come at the same time, one wakes it. Another thread, or a drain that begins, may be
    /// using the loop's descriptor just then. This one waits for that system call, and for nothing else of a
    /// drain.
    void wake() {
        if (signalled_.exchange(true, std::memory_order_seq_cst)) return;
        const std::lock_guard hold(wake_lock_);
        if (!closed_) wake_();
    }

    void watch(slot_base* slot, source* one) {
        const std::lock_guard hold(lock_);
        watched_.emplace_back(slot, one);
    }
    void unwatch(const source* one) {
        std::vector<held_source> gone;  // dropped without the lock
        const std::lock_guard hold(lock_);
        // (Most often they go in the order in which they came, or the other way round.)
        const auto is_it = [&](const held_source& at) { return at.is(one); };
        auto found = watched_.end();
        if (!watched_.empty() && is_it(watched_.back()))
            found = watched_.end() - 1;
        else
            found = std::find_if(watched_.begin(), watched_.end(), is_it);
        if (found == watched_.end()) return;
        gone.push_back(std::move(*found));
        watched_.erase(found);
    }

    void drain(budget& budget) {
        own();
        budget.of_ = this;
        std::vector<held_source> latest;
        {
            const std::lock_guard hold(lock_);
            // Before it counts as asleep: no thread wakes it in between.
            if (const std::lock_guard alone(wake_lock_); !closed_) {
                if (reset_ != nullptr) reset_();
                if (wake_ != nullptr) signalled_.store(false, std::memory_order_seq_cst);
            }
            // Begins with the one for which the last drain had no calls left.
            const std::size_t count = watched_.size(), from = count == 0 ? 0 : turn_ % count;
            for (std::size_t i = 0; i < count; ++i) {
                const held_source& one = watched_[(from + i) % count];
                // A source without news may have some on the other side of the barrier. Its publisher did not
                // wake us, since it had not seen yet that we are going to sleep.
                if (!one.prepare() && wake_ == nullptr) continue;
                latest.push_back(one.another());
            }
            // Behind what a drain further up the stack has not finished.
            for (held_source& one : ready_) current_.push_back({std::move(one), ++serial_});
            ready_.clear();
        }
        if (!latest.empty()) heavy_barrier();
        // What is left also waits for a drain, whether this one ends normally or by an exception of a
        // receiver.
        struct leftover {
            inbox_core* of;
            bool again = false;
            ~leftover() { of->leave(again); }
        } rest{this};
        bool again = false;
        for (const held_source& one : latest) {
            if (budget.spent()) {
                rest.again = true;
                break;
            }
            rest.again = true;  // should it throw
            const bool more = one.deliver(budget) != delivered::all;
            ++turn_;
            again = again || more;
            rest.again = again;
        }
        while (!current_.empty() && !budget.spent()) {
            // It stays in the list while it is being delivered: a drain within its receiver goes on with it.
            const std::uint64_t serial = current_.front().serial;
            held_source kept = current_.front().what.another();
            const delivered done = kept.deliver(budget);
            if (done == delivered::part || current_.empty() || current_.front().serial != serial) continue;
            current_.pop_front();
            if (done == delivered::leftover)
                current_.push_back({std::move(kept), ++serial_});
            else
                (done == delivered::batch ? later_ : resting_).push_back(std::move(kept));
        }
    }

    /// The calling thread is the one that drains.
    void own() { drains_.become(*here()); }
    /// The thread that drained last, before the first drain the one that made the inbox.
    const drainer& drains() const { return drains_; }
    /// True in that thread: it cannot wait for itself.
    bool is_mine() const { return drains_.is(*here()); }
    void close() {
        // Dropped without the lock. The functions are destroyed now: their code may be unloaded before this
        // object is.
        std::vector<held_source> gone[2];
        std::function<void()> functions[2];
        const std::lock_guard hold(lock_), alone(wake_lock_);
        closed_ = true;
        signalled_.store(true, std::memory_order_seq_cst);
        gone[0].swap(ready_);
        gone[1].swap(watched_);
        functions[0].swap(wake_);
        functions[1].swap(reset_);
    }
    /// By the thread that drains, or after it.
    void forget() {
        current_.clear();
        later_.clear();
        resting_.clear();
    }

  private:
    // The end of a drain.
    void leave(bool again) {
        // (What is dropped here may have destructors that drain.)
        std::vector<held_source> more(std::exchange(later_, {})), rests(std::exchange(resting_, {}));
        for (const held_source& one : rests) one.rest();
        if (!rests.empty()) heavy_barrier();
        for (held_source& one : rests)
            if (one.missed()) more.push_back(std::move(one));
        if (!more.empty()) {
            const std::lock_guard hold(lock_);
            if (!closed_) std::move(more.begin(), more.end(), std::back_inserter(ready_));
            again = true;
        }
        if (again || !current_.empty()) wake();  // comes in the loop's next turn
    }

    struct duty {
        held_source what;
        std::uint64_t serial;
    };

    std::mutex lock_;
    std::mutex wake_lock_;                // taken last: of calls of these two
    std::function<void()> wake_, reset_;  // changed by `close` alone, under both locks
    std::atomic<bool> signalled_;         // a wake-up is in progress (or there is nothing to wake)
    bool closed_ = false;                 // changed under both locks
    std::vector<held_source> ready_, watched_;
    // Of the draining thread:
    std::deque<duty> current_;
    std::vector<held_source> later_, resting_;  // what has more, and what has none, for now
    std::uint64_t serial_ = 0;
    std::size_t turn_ = 0;
    drainer drains_;
};

inline void budget::ring() const {
    if (of_->asleep()) [[unlikely]]
        of_->wake();
}

}  // namespace signaling

/// Where queued and latest events wait until the receiving thread takes them. This one wakes nothing, or
/// calls a function of yours: for a loop that drains on a timer, or that is woken in another way. For poll
/// and epoll see signal/poll.hpp, for Qt signal/qt.hpp.
///
/// Connections to an inbox end when it dies.
/// Thread-safe: any thread emits to it, one at a time drains. Cost: to make one, allocations; a drain, two
/// locks and the calls of the receivers.
class inbox {
  public:
    inbox() : inbox(std::function<void()>()) {}
    /// `wake` is called by emitting threads, once for everything that comes between two drains, with a lock
    /// of the inbox held. It must make the receiving thread call `drain`, and must not drain itself. (A call
    /// that has begun before a drain may be made after it.) `reset`, if given, is called at the beginning of
    /// each drain, with the same lock held.
    explicit inbox(std::function<void()> wake, std::function<void()> reset = {})
        : core_(std::make_shared<signaling::inbox_core>(std::move(wake), std::move(reset))) {}
    ~inbox() {
        connections_.disconnect_all();
        core_->close();
        core_->forget();
    }
    inbox(const inbox&) = delete;
    inbox& operator=(const inbox&) = delete;

    /// Calls the receivers with what has come before this call, at most `most` of them; returns how many
    /// calls it made. What is left comes first in the next drain, and a loop that is woken is notified of it.
    /// One thread at a time. A receiver may drain too (a loop within a loop), and goes on where this one
    /// stands.
    std::size_t drain(std::size_t most = SIZE_MAX) {
        return drain_until(most, signaling::budget::clock::time_point::max());
    }
    /// The same until this time has passed (checked after every sixteenth call): a loop stays responsive no
    /// matter how much is sent. Any duration works: `max()` has no limit.
    std::size_t drain_for(std::chrono::nanoseconds time) {
        using clock = signaling::budget::clock;
        const clock::time_point now = clock::now();
        return drain_until(SIZE_MAX,
                           time < clock::time_point::max() - now ? now + time : clock::time_point::max());
    }

    /// States that the calling thread is the one that will drain. If another thread made the inbox, call this
    /// before this thread and others emit. Until this or a first drain the thread that made the inbox counts
    /// as the receiver. An emission of the receiver that would wait for room (overflow::block) drops the
    /// event instead, since it would wait for itself.
    void own() { core_->own(); }

    const std::shared_ptr<signaling::inbox_core>& core() const { return core_; }
    receiver& connections() { return connections_; }

  private:
    std::size_t drain_until(std::size_t most, signaling::budget::clock::time_point until) {
        signaling::budget granted(most, until);
        // A receiver may destroy this inbox.
        const std::shared_ptr<signaling::inbox_core> kept = core_;
        kept->drain(granted);
        return granted.calls();
    }

    std::shared_ptr<signaling::inbox_core> core_;
    receiver connections_;
};

}  // namespace silverpoint
