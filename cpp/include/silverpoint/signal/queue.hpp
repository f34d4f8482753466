// The queued connection: every event, in order, in bounded memory.
//
// A ring of events. Emitting threads append at its tail, one at a time. The receiver claims everything that
// it finds there, and delivers this batch without any lock.
//
//   done ────────▶ claimed ────────▶ tail ────────▶ limit
//      in delivery        waiting          room
//
//   position   moves forward by
//   done       the receiver, after each event: what lies before it is destroyed
//   claimed    the receiver (all that waits), or drop_oldest (one event), under the lock of claims
//   tail       the emitter that has the pen or the emitters' lock
//   limit      the same emitter, under the lock of claims too
//
//   pen        null ──(a thread that has emitted alone, under the lock)──▶ of that thread
//              of a thread ──(another one, under the lock)──▶ null, heavy barrier, waits for writes == 0
//   told       0 ──(the emitter that appends next)──▶ 1, notifies
//              1 ──(the receiver, before it sleeps)──▶ 0, heavy barrier, checks the tail again
//
// Memory: at most two rings of bit_ceil(capacity) events, one in delivery and one that is filled. Alone means
// for one emission at first, and for 1,024 once a pen was taken away. So of threads that alternate, each
// 1,024 emissions pay for one heavy barrier at most.
//
// One at a time costs an atomic exchange, unless one thread emits alone, which is the common case. That
// thread has the pen, and only notes in memory of its own that it is writing. Another thread takes the pen
// away (behind a heavy barrier, barrier.hpp). Then every thread takes a lock, until one has been alone for a
// while again. In the same way a receiver that has found nothing announces this, places the barrier, and
// checks once more before it sleeps. So appending is a plain store and a check whether the receiver knows.
//
// Constructors, assignments and functions that merge run while no other thread can append. They must not use
// the connection or its signal, and should be short.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdio>
#include <new>
#include <optional>

#include "inbox.hpp"

namespace silverpoint {

/// What an emission does when the queue is full.
enum class overflow {
    block,  ///< waits until the receiver takes some. If it would not, the event is dropped and counted:
            ///< the receiving thread is this one, waits for it, has ended, or drains nothing for
            ///< `queued_options::longest_wait`. In the last two cases all that follow are dropped until it
            ///< drains again
    drop_oldest,  ///< drops the one that has waited longest
    coalesce,     ///< merges it into the newest that waits (replaces it, where no function says how to merge)
};

struct queued_options {
    std::size_t capacity = 65536;  ///< events that wait, at most; as many again may be in delivery
    overflow when_full = overflow::block;
    /// `block`: how long one emission waits for a receiver that drains nothing. `max()`: for ever.
    std::chrono::milliseconds longest_wait = std::chrono::seconds(5);
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
        first,   ///< it does not: it must be notified
        full,
        closed,
    };

    /// Appends an event made of `parts`, which are moved from only if there is room. `who`: one value for
    /// each thread. `By`: whose `light_store` it is, if the caller knows how one is to be done.
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
    /// Before a wait for room: returns until when to sleep, at `taken`; nothing if there is room, or the
    /// queue is closed. `first`: the first wait of this emission, which is counted as one that waited.
    std::optional<std::uint32_t> begin_wait(bool first) {
        const std::lock_guard hold(claim_lock_);
        if (closed_ || waiting() < capacity_) return std::nullopt;
        if (first) ++counted_.waited;
        sleepers_ = true;
        return taken_.load(std::memory_order_relaxed);
    }
    auto& taken() { return taken_; }
    void count_drop() {
        const std::lock_guard hold(claim_lock_);
        ++counted_.dropped;
    }

    /// From now on no emission waits for room, until something is claimed. True the first time.
    bool abandon() {
        const std::lock_guard hold(claim_lock_);
        abandoned_ = true;
        return !std::exchange(was_abandoned_, true);
    }
    bool abandoned() const {
        const std::lock_guard hold(claim_lock_);
        return abandoned_;
    }

    /// Whether something of the last batch is left.
    bool has_batch() const { return next_ != end_; }
    /// The next batch: everything that waits. False if nothing does.
    bool claim() {
        bool wake;
        {
            const std::lock_guard hold(claim_lock_);
            if (reading_.at != ring_.at) {
                // The ring that was read before is empty, and is used again, unless it has become too small.
                release(std::exchange(spare_, reading_.room == ring_.room ? reading_ : ring()));
                if (reading_.at != spare_.at) release(reading_);
                reading_ = ring_;
            }
            abandoned_ = false;
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
    /// The receiver is going to sleep. Behind a heavy barrier it checks:
    void rest() { told_.store(0, std::memory_order_seq_cst); }
    /// whether something came before that, without a notification.
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
    /// Destroys all events. No other thread uses the queue.
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
        // (Not a function, since its address is not needed.)
        [[gnu::always_inline]] ~put_down() { mine->writes.store(0, std::memory_order_release); }
    };
    // The emitters' lock, taken from a thread that works without it.
    class turn {
      public:
        turn(event_queue& of, const void* who) : of_(of) {
            of.lock_.lock();
            // A thread's own pen may stay: another one that wants it waits for the lock.
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
    // For the thread that has the lock.
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
    // The receiver was the last to read these cache lines: they are fetched before they are written to.
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
        // What is being delivered stays where it is, and the receiver destroys it.
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
    bool closed_ = false, sleepers_ = false, abandoned_ = false, was_abandoned_ = false;
    tally counted_;
    typename Machine::template atomic<std::uint32_t> taken_{0};
};

struct no_merge {};

/// One line on stderr, the first time that waiting for a queue is given up.
[[gnu::noinline, gnu::cold]] inline void say_abandoned(room_wait why) {
    std::fprintf(
        stderr,
        "silverpoint: the queue of a signal's connection is full, and its receiving thread %s: events "
        "are dropped, and counted in connection::counted().dropped, until a thread drains the inbox\n",
        why == room_wait::ended    ? "has ended"
        : why == room_wait::joined ? "waits for the emitting thread to end"
                                   : "has drained nothing for queued_options::longest_wait");
}

template <class Function, class Merge, class... Args>
class queued_slot final : public slot<Args...>, public source {
  public:
    using event = std::tuple<std::decay_t<Args>...>;

    queued_slot(core* of, const std::shared_ptr<inbox_core>& to, queued_options options, Function function,
                Merge merge)
        : slot<Args...>(of, alignof(queued_slot), &run),
          options_(options),
          all_(to, options.capacity, std::move(function), std::move(merge)) {}

    void close() override {
        slot<Args...>::close();
        all_.queue.close();
    }

    delivered deliver(budget& budget) override {
        event_queue<event>& queue = all_.queue;
        // (After a disconnection, the disconnecting thread empties the queue.)
        const bool begun = queue.has_batch();
        const std::size_t before = budget.calls();
        if (!begun) queue.claim();
        while (this->connected() && queue.has_batch()) {
            if (budget.spent()) return delivered::part;
            event now = queue.take();
            all_.delivered.store(all_.delivered.load(std::memory_order_relaxed) + 1,
                                 std::memory_order_relaxed);
            budget.count();
            budget.ring();
            std::apply([&](auto&... parts) { all_.function(static_cast<passed<Args>>(parts)...); }, now);
        }
        if (!this->connected()) return delivered::all;
        if (begun) return delivered::leftover;
        return queue.more() || budget.calls() != before ? delivered::batch : delivered::all;
    }
    void rest() override { all_.queue.rest(); }
    bool missed() override { return all_.queue.missed(); }

  protected:
    ~queued_slot() {}
    void empty() override { all_.~members(); }
    tally count() const override {
        tally so_far = all_.queue.counted();
        so_far.delivered = all_.delivered.load(std::memory_order_relaxed);
        return so_far;
    }

  private:
    using result = typename event_queue<event>::result;

    // What `empty` destroys.
    struct members {
        members(const std::shared_ptr<inbox_core>& inbox, std::size_t capacity, Function&& receives,
                Merge&& merges)
            : to(inbox), queue(capacity), function(std::move(receives)), merge(std::move(merges)) {}
        ~members() { queue.clear(); }

        const std::shared_ptr<inbox_core> to;
        event_queue<event> queue;
        Function function;
        [[no_unique_address]] Merge merge;
        std::atomic<std::uint64_t> delivered{0};
    };

    static void run(slot<Args...>* self, const level* quick, passed<Args>... args) {
        auto* const mine = static_cast<queued_slot*>(self);
        if (quick == nullptr) [[unlikely]]
            return mine->run_carefully(std::forward<passed<Args>>(args)...);
        const result got = mine->all_.queue.template push<quick_machine>(thread_of(*quick),
                                                                         std::forward<passed<Args>>(args)...);
        if (got != result::queued) [[unlikely]]
            mine->finish(got, std::forward<passed<Args>>(args)...);
    }
    [[gnu::noinline]] void run_carefully(passed<Args>... args) {
        const result got = all_.queue.push(here(), std::forward<passed<Args>>(args)...);
        if (got != result::queued) finish(got, std::forward<passed<Args>>(args)...);
    }
    [[gnu::noinline]] void finish(result got, passed<Args>... args) {
        event_queue<event>& queue = all_.queue;
        bool waited = false;
        while (got == result::full) {
            switch (options_.when_full) {
                case overflow::block:
                    if (all_.to->is_mine() || queue.abandoned()) return queue.count_drop();
                    if (const auto before = queue.begin_wait(!std::exchange(waited, true)))
                        if (!wait_for_room(*before)) return queue.count_drop();
                    got = queue.push(here(), std::forward<passed<Args>>(args)...);
                    break;
                case overflow::drop_oldest:
                    got = queue.push_over_oldest(here(), std::forward<passed<Args>>(args)...);
                    break;
                case overflow::coalesce:
                    got = queue.push_into_newest(
                        here(),
                        [&](event& newest, auto&&... parts) {
                            if constexpr (std::is_same_v<Merge, no_merge>) {
                                newest = event(std::forward<decltype(parts)>(parts)...);
                            } else {
                                all_.merge(newest, std::forward<decltype(parts)>(parts)...);
                            }
                        },
                        std::forward<passed<Args>>(args)...);
                    break;
            }
        }
        if (got == result::first) all_.to->announce(this, this);
    }
    // False if no thread will make room.
    bool wait_for_room(std::uint32_t before) {
        const room_wait why = domain::instance().wait_for_room(all_.to->drains(), all_.queue.taken(), before,
                                                               options_.longest_wait, here());
        if (why == room_wait::over) return true;
        if (why != room_wait::circle && all_.queue.abandon()) say_abandoned(why);
        return false;
    }

    const queued_options options_;
    union {
        members all_;
    };
};

}  // namespace signaling
}  // namespace silverpoint
