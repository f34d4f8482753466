// The queued connection: every event, in order, in memory that has a bound.
//
// A ring of events. Those who emit append at its tail, one at a time; the receiver claims all that it finds
// there and delivers this batch without any lock.
//
// One at a time costs an atomic exchange, unless one thread emits alone, which is the rule: that thread has
// the pen, and only says in memory of its own that it is writing. Another that comes takes the pen away
// (behind a heavy barrier, barrier.hpp), after which everybody takes a lock, until one thread has been alone
// for a while again. In the same way a receiver that has found nothing says so, places the barrier, and looks
// once more before it sleeps: appending is a plain store and a look whether the receiver knows.
//
// Constructors, assignments and functions that merge run while nobody else can append: they may not use the
// connection or its signal, and should be short.
#pragma once

#include <algorithm>
#include <bit>
#include <new>
#include <optional>

#include "inbox.hpp"

namespace silverpoint {

/// What an emission does when the queue is full.
enum class overflow {
    block,  ///< waits until the receiver takes some; where nobody would, since the receiving thread is this
            ///< one or waits for it, the event is dropped
    drop_oldest,  ///< drops the one that has waited longest
    coalesce,     ///< merges it into the newest that waits (replaces it, where no function says how to merge)
};

struct queued_options {
    std::size_t capacity = 65536;  ///< events that wait, at most; as many again may be in delivery
    overflow when_full = overflow::block;
};

namespace signaling {

template <class Event, class Machine = machine>
class event_queue {
  public:
    explicit event_queue(std::size_t capacity)
        : capacity_(std::clamp<std::size_t>(capacity, 1, SIZE_MAX / 4 + 1)),
          most_room_(std::bit_ceil(capacity_)) {}
    event_queue(const event_queue&) = delete;
    event_queue& operator=(const event_queue&) = delete;
    ~event_queue() {
        if constexpr (!std::is_trivially_destructible_v<Event>) {
            for (; next_ != end_; ++next_) reading_[next_].~Event();
            for (const std::size_t tail = tail_.load(std::memory_order_acquire); claimed_ != tail; ++claimed_)
                ring_[claimed_].~Event();
        }
        for (const ring& one : {ring_, reading_.at == ring_.at ? ring() : reading_, spare_}) release(one);
        for (pen* at = first_.next; at != nullptr;) delete std::exchange(at, at->next);
    }

    enum class result {
        queued,  ///< the receiver knows of events already
        first,   ///< it does not: it must be told
        full,
        closed,
    };

    /// Appends an event made of `parts`, which are moved from only when there is room. `who`: one value for
    /// each thread. `By`: whose `light_store` it is, where the caller knows how one is to be done.
    template <class By = Machine, class... Parts>
    [[gnu::always_inline]] result push(const void* who, Parts&&... parts) {
        pen* const mine = pen_.load(std::memory_order_acquire);
        if (mine != nullptr && mine->of == who) [[likely]] {
            By::light_store(mine->writes, std::uint8_t{1});
            const put_down at_end{mine};
            if (pen_.load(std::memory_order_seq_cst) == mine) [[likely]]
                return append<By>(std::forward<Parts>(parts)...);
        }
        return push_in_turn(who, std::forward<Parts>(parts)...);
    }
    /// The same in place of the oldest.
    template <class... Parts>
    result push_over_oldest(const void* who, Parts&&... parts) {
        std::optional<Event> gone;  // destroyed without the locks: its destructor may ask for counts, or emit
        const turn mine(*this, who);
        {
            const std::lock_guard hold(claim_lock_);
            if (closed_) return result::closed;
            if (waiting() >= capacity_) {
                Event& oldest = ring_[claimed_];
                Machine::write(&oldest, [&] {
                    gone.emplace(std::move(oldest));
                    oldest.~Event();
                });
                ++claimed_;
                ++counted_.dropped;
            }
        }
        return append(std::forward<Parts>(parts)...);
    }
    /// The same merged into the newest, by `merge(newest, parts…)`.
    template <class Merge, class... Parts>
    result push_into_newest(const void* who, Merge&& merge, Parts&&... parts) {
        const turn mine(*this, who);
        {
            const std::lock_guard hold(claim_lock_);
            if (closed_) return result::closed;
            if (waiting() >= capacity_) {
                Event& newest = ring_[tail_.load(std::memory_order_relaxed) - 1];
                Machine::write(&newest, [&] { merge(newest, std::forward<Parts>(parts)...); });
                ++counted_.coalesced;
                return result::queued;
            }
        }
        return append(std::forward<Parts>(parts)...);
    }
    /// Before a wait for room: counts it, and says until when to sleep, at `taken`; nothing when there is
    /// room, or the queue is closed.
    std::optional<std::uint32_t> begin_wait() {
        const std::lock_guard hold(claim_lock_);
        if (closed_ || waiting() < capacity_) return std::nullopt;
        ++counted_.waited;
        sleepers_ = true;
        return taken_.load(std::memory_order_relaxed);
    }
    auto& taken() { return taken_; }
    void count_drop() {
        const std::lock_guard hold(claim_lock_);
        ++counted_.dropped;
    }

    /// Whether something of the last batch is left.
    bool has_batch() const { return next_ != end_; }
    /// The next batch: all that waits. False when nothing does.
    bool claim() {
        bool wake;
        {
            const std::lock_guard hold(claim_lock_);
            if (reading_.at != ring_.at) {
                // What was read before is empty, and serves again, unless it has become too small.
                release(std::exchange(spare_, reading_.room == ring_.room ? reading_ : ring()));
                if (reading_.at != spare_.at) release(reading_);
                reading_ = ring_;
            }
            next_ = claimed_;
            end_ = claimed_ = tail_.load(std::memory_order_acquire);
            done_.store(next_, std::memory_order_relaxed);
            wake = let_go();
        }
        if (wake) Machine::wake(taken_);
        return next_ != end_;
    }
    /// The first event of the batch.
    Event take() {
        Event& from = reading_[next_];
        Machine::write(&from, [] {});
        Event got(std::move(from));
        from.~Event();
        done_.store(++next_, std::memory_order_release);
        return got;
    }
    /// Whether something has come since the last claim.
    bool more() const { return tail_.load(std::memory_order_seq_cst) != end_; }
    /// The receiver is going to sleep. Behind a heavy barrier it asks:
    void rest() { told_.store(0, std::memory_order_seq_cst); }
    /// whether something came before that, of which nobody is going to tell it.
    bool missed() { return more() && told_.exchange(1, std::memory_order_seq_cst) == 0; }

    void close() {
        bool wake;
        {
            const std::lock_guard hold(claim_lock_);
            closed_ = true;
            wake = let_go();
        }
        if (wake) Machine::wake(taken_);
    }
    /// Destroys all events. Nobody else uses the queue.
    void clear() {
        do {
            while (has_batch()) static_cast<void>(take());
        } while (claim());
    }
    tally counted() const {
        const std::lock_guard hold(claim_lock_);
        return counted_;
    }

  private:
    struct ring {
        Event* at = nullptr;
        std::size_t room = 0;  // a power of two
        Event& operator[](std::size_t position) const { return at[position & (room - 1)]; }
    };
    struct pen {
        const void* of = nullptr;  // the same for ever
        typename Machine::template atomic<std::uint8_t> writes{0};
        pen* next = nullptr;  // under the lock
    };
    struct put_down {
        pen* mine;
        // (Not a function: nobody needs its address.)
        [[gnu::always_inline]] ~put_down() { mine->writes.store(0, std::memory_order_release); }
    };
    // The lock of those who emit, taken from a thread that does without.
    class turn {
      public:
        turn(event_queue& of, const void* who) : of_(of) {
            of.lock_.lock();
            // One's own may stay: whoever wants it waits for the lock.
            pen* const others = of.pen_.load(std::memory_order_relaxed);
            if (others != nullptr && others->of != who) {
                of.pen_.store(nullptr, std::memory_order_seq_cst);
                Machine::heavy_barrier();
                // (Where the barrier is each side's own, this must not be loaded before that is stored.)
                if (others->writes.load(std::memory_order_seq_cst) != 0) {
                    do Machine::while_equal(others->writes, std::uint8_t{1});
                    while (others->writes.load(std::memory_order_acquire) != 0);
                }
                of.patience_ = Machine::patience;
            }
            of.alone_ = of.last_ == who ? of.alone_ + 1 : 1;
            of.last_ = who;
        }
        ~turn() {
            if (of_.alone_ >= of_.patience_) of_.give_pen();
            of_.lock_.unlock();
        }
        turn(const turn&) = delete;
        turn& operator=(const turn&) = delete;

      private:
        event_queue& of_;
    };

    template <class... Parts>
    [[gnu::noinline]] result push_in_turn(const void* who, Parts&&... parts) {
        const turn mine(*this, who);
        return append(std::forward<Parts>(parts)...);
    }
    // To the one who has the lock.
    void give_pen() {
        if (const pen* const now = pen_.load(std::memory_order_relaxed); now != nullptr && now->of == last_)
            return;
        pen* mine = &first_;
        while (mine != nullptr && mine->of != last_ && mine->of != nullptr) mine = mine->next;
        if (mine == nullptr) {
            mine = new (std::nothrow) pen;
            if (mine == nullptr) return;
            mine->next = std::exchange(first_.next, mine);
        }
        if (mine->of == nullptr) mine->of = last_;
        pen_.store(mine, std::memory_order_release);
    }

    template <class By = Machine, class... Parts>
    [[gnu::always_inline]] result append(Parts&&... parts) {
        const std::size_t at = tail_.load(std::memory_order_relaxed);
        if (at == limit_) [[unlikely]]
            if (const result got = more_room(at); got != result::queued) return got;
        prefetch_for_write(&ring_[at + ahead]);
        Event* const to = &ring_[at];
        Machine::write(to, [&] { new (to) Event(std::forward<Parts>(parts)...); });
        By::light_store(tail_, at + 1);
        if (told_.load(std::memory_order_seq_cst) != 0) [[likely]]
            return result::queued;
        return told_.exchange(1, std::memory_order_seq_cst) == 0 ? result::first : result::queued;
    }
    // The receiver has read these lines of the cache last: they are fetched before they are written to.
    static constexpr std::size_t ahead = std::max<std::size_t>(1, 256 / sizeof(Event));
    // Up to where there is room, if there is: in this ring, or in another.
    [[gnu::noinline]] result more_room(std::size_t tail) {
        const std::lock_guard hold(claim_lock_);
        if (waiting() >= capacity_) return closed_ ? result::closed : result::full;
        const std::size_t done = done_.load(std::memory_order_acquire);
        const std::size_t kept_from = reading_.at == ring_.at && done != end_ ? done : claimed_;
        if (tail - kept_from < ring_.room) {
            limit_ = tail + std::min(capacity_ - (tail - claimed_), ring_.room - (tail - kept_from));
            return result::queued;
        }
        // All or nothing, where events can be copied or their moves do not throw.
        struct moved {
            ring to;
            std::size_t from, until;
            ~moved() {
                while (until != from) to[--until].~Event();
                release(to);
            }
        } fresh{another(), claimed_, claimed_};
        for (; fresh.until != tail; ++fresh.until)
            new (&fresh.to[fresh.until]) Event(std::move_if_noexcept(ring_[fresh.until]));
        for (std::size_t i = claimed_; i != tail; ++i) Machine::write(&ring_[i], [&] { ring_[i].~Event(); });
        // What is being delivered stays where it is, and the receiver sees to it.
        if (reading_.at != ring_.at) release(ring_);
        ring_ = std::exchange(fresh.to, ring());
        fresh.until = fresh.from;
        limit_ = claimed_ + std::min(capacity_, ring_.room);
        return result::queued;
    }
    ring another() {
        constexpr std::size_t first_room = std::bit_floor(std::max<std::size_t>(16, 2048 / sizeof(Event)));
        const std::size_t room = std::min(most_room_, ring_.room == 0 ? first_room : 2 * ring_.room);
        if (spare_.room == room) return std::exchange(spare_, ring());
        return {Machine::template allocate<Event>(room), room};
    }
    static void release(ring one) {
        if (one.at != nullptr) Machine::release(one.at, one.room);
    }
    // Under the lock of claims.
    std::size_t waiting() const { return tail_.load(std::memory_order_seq_cst) - claimed_; }
    bool let_go() {
        if (!sleepers_) return false;
        sleepers_ = false;
        taken_.fetch_add(1, std::memory_order_relaxed);
        return true;
    }

    // Of those who emit.
    const std::size_t capacity_, most_room_;
    typename Machine::template atomic<pen*> pen_{nullptr};
    typename Machine::template atomic<std::size_t> tail_{0};
    std::size_t limit_ = 0;
    ring ring_;  // changed under the lock of claims too
    typename Machine::template atomic<std::uint8_t> told_{0};
    pen first_;
    brief_lock<Machine> lock_;
    const void* last_ = nullptr;
    std::uint32_t alone_ = 0, patience_ = 1;
    // Of the receiver.
    alignas(64) typename Machine::template atomic<std::size_t> done_{0};  // before it all is delivered
    std::size_t next_ = 0;
    std::size_t end_ = 0;  // changed under the lock of claims
    ring reading_;         // the same
    // Of both, under the lock of claims.
    alignas(64) mutable brief_lock<Machine> claim_lock_;
    std::size_t claimed_ = 0;  // before it all is the receiver's, or dropped
    ring spare_;
    bool closed_ = false, sleepers_ = false;
    tally counted_;
    typename Machine::template atomic<std::uint32_t> taken_{0};
};

struct no_merge {};

template <class Function, class Merge, class... Args>
class queued_slot final : public slot<Args...>, public source {
  public:
    using event = std::tuple<std::decay_t<Args>...>;

    queued_slot(core* of, std::shared_ptr<inbox_core> to, queued_options options, Function function,
                Merge merge)
        : slot<Args...>(of, &run),
          to_(std::move(to)),
          when_full_(options.when_full),
          queue_(options.capacity),
          receiver_(std::in_place, std::move(function), std::move(merge)) {}

    slot_base& as_slot() override { return *this; }
    void close() override {
        slot<Args...>::close();
        queue_.close();
    }
    void empty() override {
        receiver_.reset();
        queue_.clear();
    }
    tally counted() const override {
        tally all = queue_.counted();
        all.delivered = delivered_.load(std::memory_order_relaxed);
        return all;
    }

    delivered deliver(budget& budget) override {
        const visit inside(this);
        // (Disconnected, the queue is emptied by whoever has done it.)
        const bool begun = this->connected() && queue_.has_batch();
        const std::size_t before = budget.calls();
        if (this->connected() && !begun) queue_.claim();
        while (this->connected() && queue_.has_batch()) {
            if (budget.spent()) return delivered::part;
            event now = queue_.take();
            delivered_.store(delivered_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
            budget.count();
            budget.ring();
            std::apply([&](auto&... parts) { receiver_->first(static_cast<passed<Args>>(parts)...); }, now);
        }
        if (!this->connected()) return delivered::all;
        if (begun) return delivered::leftover;
        return queue_.more() || budget.calls() != before ? delivered::batch : delivered::all;
    }
    void rest() override { queue_.rest(); }
    bool missed() override {
        const visit inside(this);
        return this->connected() && queue_.missed();
    }

  private:
    using result = typename event_queue<event>::result;

    static void run(slot<Args...>* self, level* left, passed<Args>... args) {
        auto* const mine = static_cast<queued_slot*>(self);
        call_end end(left);
        if (left == nullptr) [[unlikely]]
            return mine->run_carefully(std::forward<passed<Args>>(args)...);
        const result got =
            mine->queue_.template push<quick_machine>(thread_of(*left), std::forward<passed<Args>>(args)...);
        if (got != result::queued) [[unlikely]]
            mine->finish(got, end.pass_on(), std::forward<passed<Args>>(args)...);
    }
    [[gnu::noinline]] void run_carefully(passed<Args>... args) {
        const result got = queue_.push(here(), std::forward<passed<Args>>(args)...);
        if (got != result::queued) finish(got, nullptr, std::forward<passed<Args>>(args)...);
    }
    [[gnu::noinline]] void finish(result got, level* left, passed<Args>... args) {
        const call_end end(left);
        bool hopeless = false;
        while (got == result::full) {
            switch (when_full_) {
                case overflow::block:
                    if (hopeless || to_->is_mine()) return queue_.count_drop();
                    if (const auto before = queue_.begin_wait())
                        hopeless =
                            !domain::instance().wait_for_room(to_->drains(), queue_.taken(), *before, here());
                    got = queue_.push(here(), std::forward<passed<Args>>(args)...);
                    break;
                case overflow::drop_oldest:
                    got = queue_.push_over_oldest(here(), std::forward<passed<Args>>(args)...);
                    break;
                case overflow::coalesce:
                    got = queue_.push_into_newest(
                        here(),
                        [&](event& newest, auto&&... parts) {
                            if constexpr (std::is_same_v<Merge, no_merge>) {
                                newest = event(std::forward<decltype(parts)>(parts)...);
                            } else {
                                receiver_->second(newest, std::forward<decltype(parts)>(parts)...);
                            }
                        },
                        std::forward<passed<Args>>(args)...);
                    break;
            }
        }
        if (got == result::first) to_->announce(this);
    }

    const std::shared_ptr<inbox_core> to_;
    const overflow when_full_;
    event_queue<event> queue_;
    std::optional<std::pair<Function, Merge>> receiver_;
    std::atomic<std::uint64_t> delivered_{0};
};

}  // namespace signaling
}  // namespace silverpoint
