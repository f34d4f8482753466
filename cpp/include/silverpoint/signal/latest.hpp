// The latest connection: the newest value, whole, for a reader that comes when it likes.
//
// The publisher waits for nobody, the reader succeeds at every attempt, and neither uses a lock or an atomic
// exchange. It is Simpson's four-slot mechanism (1990): two pairs of cells. The reader names the pair that it
// reads, the publisher writes into the other one; when they happen to be in the same pair (the publisher had
// not seen the name yet), they are in different cells of it, since the reader takes the cell that was
// finished last and the publisher the other. What the proof asks for is that the reader's naming comes before
// its look for the finished cell, and the publisher's finishing before its next look for the name: the reader
// pays for both (barrier.hpp).
#pragma once

#include <optional>

#include "inbox.hpp"

namespace silverpoint {

namespace signaling {

/// One publisher, one reader, a value of any type that can be moved.
template <class Event, class Machine = machine>
class four_slot {
  public:
    /// `By`: whose `light_store` it is, where the caller knows how one is to be done.
    template <class By = Machine, class... Parts>
    [[gnu::always_inline]] void publish(std::uint64_t stamp, Parts&&... parts) {
        const unsigned pair = named_.load(std::memory_order_seq_cst) ^ 1u;
        const unsigned at = finished_[pair].load(std::memory_order_relaxed) ^ 1u;
        cell& to = cells_[2 * pair + at];
        Machine::write(&to, [&] {
            put(to.value, std::forward<Parts>(parts)...);
            to.stamp = stamp;
        });
        By::light_store(finished_[pair], static_cast<std::uint8_t>(at));
        newest_.store(static_cast<std::uint8_t>(pair), std::memory_order_release);
    }

    /// The first half of reading; a heavy barrier comes between the two.
    void name() {
        pair_ = newest_.load(std::memory_order_acquire);
        named_.store(pair_, std::memory_order_seq_cst);
    }
    /// The second half: takes the cell that was finished last; returns its stamp, 0 when nothing was ever
    /// published. Once for each `name`: a second look may find another cell.
    std::uint64_t choose() {
        const std::uint8_t at = finished_[pair_].load(std::memory_order_seq_cst);
        chosen_ = &cells_[2 * pair_ + at];
        std::uint64_t stamp;
        Machine::read(chosen_, [&] { stamp = chosen_->stamp; });
        return stamp;
    }
    /// Calls `function(value)`. The value may be moved from; the publisher does not touch it until the next
    /// `name`.
    template <class Function>
    void take(Function&& function) {
        Machine::read(chosen_, [&] { function(*chosen_->value); });
    }
    /// Destroys the values. Neither side may use them any more.
    void clear() {
        for (cell& one : cells_) one.value.reset();
    }

  private:
    struct cell {
        std::optional<Event> value;
        std::uint64_t stamp = 0;
    };

    // Assigned where that is possible: text and vectors keep their memory.
    template <class... Parts>
    static void put(std::optional<Event>& to, Parts&&... parts) {
        if constexpr (requires { assign(*to, std::forward<Parts>(parts)...); }) {
            if (to) return assign(*to, std::forward<Parts>(parts)...);
        }
        to.emplace(std::forward<Parts>(parts)...);
    }
    template <class Part>
    static auto assign(Event& to, Part&& part) -> decltype(static_cast<void>(to = std::forward<Part>(part))) {
        to = std::forward<Part>(part);
    }
    template <class... Items, class... Parts>
        requires(sizeof...(Items) == sizeof...(Parts) && (std::is_assignable_v<Items&, Parts> && ...))
    static void assign(std::tuple<Items...>& to, Parts&&... parts) {
        std::tuple<Parts&&...> from(std::forward<Parts>(parts)...);
        to = std::move(from);
    }

    cell cells_[4];                                                         // two pairs
    typename Machine::template atomic<std::uint8_t> finished_[2] = {0, 0};  // written by the publisher
    typename Machine::template atomic<std::uint8_t> newest_{0};
    alignas(64) typename Machine::template atomic<std::uint8_t> named_{0};  // written by the reader
    // Of the reader:
    std::uint8_t pair_ = 0;
    cell* chosen_ = nullptr;
};

/// Several publishers: a lane for each thread, which is made when it publishes first. The newest is the one
/// with the greatest stamp: a publisher takes one more than it finds in all lanes, so that what was published
/// after another, wherever, counts as newer.
template <class Event, class Machine = machine>
class latest_lanes {
  public:
    struct lane {
        explicit lane(const void* owner) : of(owner) {}
        typename Machine::template atomic<const void*> of;
        typename Machine::template atomic<std::uint64_t> published{0};
        typename Machine::template atomic<lane*> next{nullptr};
        bool named = false;  // of the reader
        four_slot<Event, Machine> cells;
    };

    latest_lanes() = default;
    latest_lanes(const latest_lanes&) = delete;
    latest_lanes& operator=(const latest_lanes&) = delete;
    ~latest_lanes() {
        for (lane* at = first_.next.load(std::memory_order_relaxed); at != nullptr;)
            delete std::exchange(at, at->next.load(std::memory_order_relaxed));
    }

    /// `who`: one value for each thread. Waits for nobody; a thread's first call allocates.
    template <class... Parts>
    void publish(const void* who, Parts&&... parts) {
        if (publish_alone(who, std::forward<Parts>(parts)...)) [[likely]]
            return;
        lane& mine = first_.of.load(std::memory_order_relaxed) == who ? first_ : find(who);
        std::uint64_t stamp = 0;
        for (lane* at = &first_; at != nullptr; at = at->next.load(std::memory_order_acquire))
            stamp = std::max(stamp, at->published.load(std::memory_order_acquire));
        ++stamp;
        mine.cells.publish(stamp, std::forward<Parts>(parts)...);
        Machine::light_store(mine.published, stamp);
    }
    /// The same for the only thread that has published so far, which is the rule; for another it does
    /// nothing, and takes nothing from `parts`: false.
    template <class By = Machine, class... Parts>
    [[gnu::always_inline]] bool publish_alone(const void* who, Parts&&... parts) {
        if (first_.of.load(std::memory_order_relaxed) != who ||
            first_.next.load(std::memory_order_acquire) != nullptr) [[unlikely]]
            return false;
        const std::uint64_t stamp = first_.published.load(std::memory_order_relaxed) + 1;
        first_.cells.template publish<By>(stamp, std::forward<Parts>(parts)...);
        By::light_store(first_.published, stamp);
        return true;
    }

    /// Whether something is newer than what was read last.
    bool fresh() const {
        for (const lane* at = &first_; at != nullptr; at = at->next.load(std::memory_order_acquire))
            if (at->published.load(std::memory_order_seq_cst) > seen_) return true;
        return false;
    }
    /// The reader's first half: names the pairs. A heavy barrier comes between the two.
    void name() {
        for (lane* at = &first_; at != nullptr; at = at->next.load(std::memory_order_acquire)) {
            at->named = true;
            at->cells.name();
        }
    }
    /// The second half: `function(value)` once, with the newest, or not at all when there is nothing new.
    template <class Function>
    void read(Function&& function) {
        lane* newest = nullptr;
        std::uint64_t stamp = seen_;
        for (lane* at = &first_; at != nullptr; at = at->next.load(std::memory_order_acquire)) {
            if (!at->named) continue;  // has come since
            const std::uint64_t its = at->cells.choose();
            if (its <= stamp) continue;
            stamp = its;
            newest = at;
        }
        if (newest == nullptr) return;
        seen_ = stamp;
        newest->cells.take(function);
    }
    /// Destroys the values. Nobody publishes or reads any more.
    void clear() {
        for (lane* at = &first_; at != nullptr; at = at->next.load(std::memory_order_acquire))
            at->cells.clear();
    }

  private:
    [[gnu::noinline, gnu::cold]] lane& find(const void* who) {
        const void* nobody = nullptr;
        if (first_.of.compare_exchange_strong(nobody, who, std::memory_order_relaxed)) return first_;
        for (lane* at = first_.next.load(std::memory_order_acquire); at != nullptr;
             at = at->next.load(std::memory_order_acquire))
            if (at->of.load(std::memory_order_relaxed) == who) return *at;
        auto* const fresh = new lane(who);
        lane* head = first_.next.load(std::memory_order_acquire);
        do {
            fresh->next.store(head, std::memory_order_relaxed);
        } while (!first_.next.compare_exchange_weak(head, fresh, std::memory_order_acq_rel));
        return *fresh;
    }

    lane first_{nullptr};
    std::uint64_t seen_ = 0;  // of the reader
};

template <class Function, class... Args>
class latest_slot final : public slot<Args...>, public source {
  public:
    using event = std::tuple<std::decay_t<Args>...>;

    latest_slot(core* of, std::shared_ptr<inbox_core> to, Function function)
        : slot<Args...>(of, &run), to_(std::move(to)), function_(std::move(function)) {}

    slot_base& as_slot() override { return *this; }
    void empty() override {
        function_.reset();
        values_.clear();
        to_->unwatch(this);
    }
    tally counted() const override {
        tally all;
        all.delivered = delivered_.load(std::memory_order_relaxed);
        return all;
    }

    bool prepare() override {
        const bool fresh = values_.fresh();
        values_.name();
        return fresh;
    }
    delivered deliver(budget& budget) override {
        const visit inside(this);
        if (!this->connected()) return delivered::all;
        std::optional<event> now;
        values_.read([&](event& value) { now.emplace(std::move(value)); });
        if (now) {
            delivered_.store(delivered_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
            budget.count();
            std::apply([&](auto&... parts) { (*function_)(static_cast<passed<Args>>(parts)...); }, *now);
        }
        // A value that came while this one was chosen: its publisher may have taken us for awake.
        return values_.fresh() ? delivered::batch : delivered::all;
    }

  private:
    static void run(slot<Args...>* self, level* left, passed<Args>... args) {
        auto* const mine = static_cast<latest_slot*>(self);
        call_end end(left);
        if (left == nullptr || !mine->values_.template publish_alone<quick_machine>(
                                   thread_of(*left), std::forward<passed<Args>>(args)...)) [[unlikely]]
            return mine->run_carefully(end.pass_on(), std::forward<passed<Args>>(args)...);
        if (mine->to_->asleep()) [[unlikely]]
            mine->wake(end.pass_on());
    }
    [[gnu::noinline]] void run_carefully(level* left, passed<Args>... args) {
        const call_end end(left);
        values_.publish(here(), std::forward<passed<Args>>(args)...);
        if (to_->asleep()) to_->wake();
    }
    [[gnu::noinline, gnu::cold]] void wake(level* left) {
        const call_end end(left);
        to_->wake();
    }

    const std::shared_ptr<inbox_core> to_;
    std::optional<Function> function_;
    latest_lanes<event> values_;
    std::atomic<std::uint64_t> delivered_{0};
};

}  // namespace signaling

/// The newest value of a thread for another, without a signal: a poller publishes, and a loop reads when it
/// draws. One publisher and one reader at a time. Four values are stored.
template <class T>
class latest {
  public:
    latest() { signaling::settle_barriers(); }

    /// Waits for nobody: some nanoseconds and the assignment of a value.
    template <class Value>
    void publish(Value&& value) {
        const std::uint64_t stamp = published_.load(std::memory_order_relaxed) + 1;
        cells_.publish(stamp, std::forward<Value>(value));
        published_.store(stamp, std::memory_order_release);
    }
    /// Moves the newest value into `to`; false when there is none since the last one. It never waits and
    /// never fails for a publisher that is quick; it costs a barrier when there is something new
    /// (signal/barrier.hpp), next to nothing when not.
    bool read(T& to) {
        if (published_.load(std::memory_order_acquire) <= seen_) return false;
        cells_.name();
        signaling::heavy_barrier();
        const std::uint64_t stamp = cells_.choose();
        if (stamp <= seen_) return false;
        seen_ = stamp;
        cells_.take([&](T& value) { to = std::move(value); });
        return true;
    }

  private:
    signaling::four_slot<T> cells_;
    std::atomic<std::uint64_t> published_{0};
    std::uint64_t seen_ = 0;
};

}  // namespace silverpoint
