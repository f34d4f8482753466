// The queued connection: every event, in order, in memory that has a bound.
//
// Emitters append to one buffer; the receiver takes the whole buffer and leaves an empty one in its place.
// The lock is held for an append or an exchange, never for a call of a receiver, and the receiver is told
// when the buffer was empty before: once for each batch. Constructors, assignments and functions that merge
// run with it held: they may not use the connection or its signal, and should be short.
#pragma once

#include <algorithm>
#include <optional>

#include "inbox.hpp"

namespace silverpoint {

/// What an emission does when the queue is full.
enum class overflow {
    block,  ///< waits until the receiver takes some; in the receiver's own thread, where nobody would, the
            ///< event is dropped
    drop_oldest,  ///< drops the one that has waited longest
    coalesce,     ///< merges it into the newest that waits (replaces it, where no function says how to merge)
};

struct queued_options {
    std::size_t capacity = 65536;  ///< events that wait, at most; as many again may be in delivery
    overflow when_full = overflow::block;
};

namespace signaling {

/// A ring that grows up to a bound.
template <class Event>
class event_ring {
  public:
    event_ring() = default;
    event_ring(const event_ring&) = delete;
    event_ring& operator=(const event_ring&) = delete;
    ~event_ring() {
        clear();
        std::allocator<Event>().deallocate(at_, room_);
    }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    /// Only below the bound.
    template <class... Parts>
    void push(std::size_t bound, Parts&&... parts) {
        if (size_ == room_) [[unlikely]]
            grow(bound);
        new (at_ + tail_) Event(std::forward<Parts>(parts)...);
        tail_ = tail_ + 1 == room_ ? 0 : tail_ + 1;
        ++size_;
    }
    Event& front() { return at_[head_]; }
    Event& back() { return at_[(tail_ == 0 ? room_ : tail_) - 1]; }
    void pop() {
        at_[head_].~Event();
        head_ = head_ + 1 == room_ ? 0 : head_ + 1;
        if (--size_ == 0) head_ = tail_ = 0;
    }
    void clear() {
        while (!empty()) pop();
    }
    void swap(event_ring& other) {
        std::swap(at_, other.at_);
        std::swap(room_, other.room_);
        std::swap(head_, other.head_);
        std::swap(tail_, other.tail_);
        std::swap(size_, other.size_);
    }

  private:
    [[gnu::noinline]] void grow(std::size_t bound) {
        const std::size_t room = std::min(std::max<std::size_t>(2 * room_, 16), bound);
        // All or nothing, where events can be copied or their moves do not throw.
        struct moved {
            Event* at;
            std::size_t room, made = 0;
            ~moved() {
                if (at == nullptr) return;
                while (made > 0) at[--made].~Event();
                std::allocator<Event>().deallocate(at, room);
            }
        } fresh{std::allocator<Event>().allocate(room), room};
        const std::size_t count = size_;
        for (; fresh.made < count; ++fresh.made)
            new (fresh.at + fresh.made) Event(std::move_if_noexcept(at_[(head_ + fresh.made) % room_]));
        clear();
        std::allocator<Event>().deallocate(at_, room_);
        at_ = std::exchange(fresh.at, nullptr);
        room_ = room;
        head_ = 0;
        tail_ = count == room ? 0 : count;
        size_ = count;
    }

    Event* at_ = nullptr;
    std::size_t room_ = 0, head_ = 0, tail_ = 0, size_ = 0;
};

template <class Event, class Machine = machine>
class batch_queue {
  public:
    explicit batch_queue(std::size_t capacity) : capacity_(capacity == 0 ? 1 : capacity) {}

    enum class result {
        queued,  ///< the receiver knows of events already
        first,   ///< it does not: it must be told
        full,
        closed,
    };

    /// Appends an event made of `parts`, which are moved from only when there is room.
    template <class... Parts>
    result push(Parts&&... parts) {
        const std::lock_guard hold(lock_);
        if (waiting_.size() >= capacity_) [[unlikely]]
            return closed_ ? result::closed : result::full;
        return append(std::forward<Parts>(parts)...);
    }
    /// The same in place of the oldest.
    template <class... Parts>
    result push_over_oldest(Parts&&... parts) {
        std::optional<Event> gone;  // destroyed without the lock: its destructor may ask for counts, or emit
        const std::lock_guard hold(lock_);
        if (closed_) return result::closed;
        if (waiting_.size() >= capacity_) {
            gone.emplace(std::move(waiting_.front()));
            waiting_.pop();
            ++counted_.dropped;
        }
        return append(std::forward<Parts>(parts)...);
    }
    /// The same merged into the newest, by `merge(newest, parts…)`.
    template <class Merge, class... Parts>
    result push_into_newest(Merge&& merge, Parts&&... parts) {
        const std::lock_guard hold(lock_);
        if (closed_) return result::closed;
        if (waiting_.size() < capacity_) return append(std::forward<Parts>(parts)...);
        merge(waiting_.back(), std::forward<Parts>(parts)...);
        ++counted_.coalesced;
        return result::queued;
    }
    /// Returns when there may be room, or the queue is closed.
    void wait() {
        std::uint32_t before;
        {
            const std::lock_guard hold(lock_);
            if (closed_ || waiting_.size() < capacity_) return;
            ++counted_.waited;
            sleepers_ = true;
            before = taken_.load(std::memory_order_relaxed);
        }
        Machine::sleep(taken_, before);
    }
    void count_drop() {
        const std::lock_guard hold(lock_);
        ++counted_.dropped;
    }

    /// Takes all that waits; `batch` is empty.
    void take(event_ring<Event>& batch) {
        bool wake;
        {
            const std::lock_guard hold(lock_);
            Machine::write(this, [&] { waiting_.swap(batch); });
            told_ = false;
            wake = let_go();
        }
        if (wake) Machine::wake(taken_);
    }
    void close() {
        bool wake;
        {
            const std::lock_guard hold(lock_);
            closed_ = true;
            wake = let_go();
        }
        if (wake) Machine::wake(taken_);
    }
    bool closed() const {
        const std::lock_guard hold(lock_);
        return closed_;
    }
    tally counted() const {
        const std::lock_guard hold(lock_);
        return counted_;
    }

  private:
    template <class... Parts>
    result append(Parts&&... parts) {
        Machine::write(this, [&] { waiting_.push(capacity_, std::forward<Parts>(parts)...); });
        return std::exchange(told_, true) ? result::queued : result::first;
    }
    bool let_go() {
        if (!sleepers_) return false;
        sleepers_ = false;
        taken_.store(taken_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        return true;
    }

    const std::size_t capacity_;
    mutable brief_lock<Machine> lock_;
    event_ring<Event> waiting_;
    bool told_ = false, closed_ = false, sleepers_ = false;
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
        event_ring<event> rest;
        queue_.take(rest);
        batch_.clear();
    }
    tally counted() const override {
        tally all = queue_.counted();
        all.delivered = delivered_.load(std::memory_order_relaxed);
        return all;
    }

    bool deliver(budget& budget) override {
        frame inside(0);
        inside.enter(this);
        if (this->connected() && batch_.empty()) queue_.take(batch_);
        while (this->connected() && !batch_.empty()) {
            if (budget.spent()) return true;
            event now = std::move(batch_.front());
            batch_.pop();
            delivered_.store(delivered_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
            budget.count();
            std::apply([&](auto&... parts) { receiver_->first(static_cast<passed<Args>>(parts)...); }, now);
        }
        return false;
    }

  private:
    using result = typename batch_queue<event>::result;

    static void run(slot<Args...>* self, passed<Args>... args) {
        auto* const mine = static_cast<queued_slot*>(self);
        const result got = mine->queue_.push(std::forward<passed<Args>>(args)...);
        if (got == result::queued) [[likely]]
            return;
        mine->finish(got, std::forward<passed<Args>>(args)...);
    }
    [[gnu::noinline]] void finish(result got, passed<Args>... args) {
        while (got == result::full) {
            switch (when_full_) {
                case overflow::block:
                    if (to_->is_mine()) return queue_.count_drop();
                    queue_.wait();
                    got = queue_.push(std::forward<passed<Args>>(args)...);
                    break;
                case overflow::drop_oldest:
                    got = queue_.push_over_oldest(std::forward<passed<Args>>(args)...);
                    break;
                case overflow::coalesce:
                    got = queue_.push_into_newest(
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
    batch_queue<event> queue_;
    std::optional<std::pair<Function, Merge>> receiver_;
    event_ring<event> batch_;  // of the receiving thread
    std::atomic<std::uint64_t> delivered_{0};
};

}  // namespace signaling
}  // namespace silverpoint
