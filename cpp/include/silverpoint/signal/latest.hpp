// The latest connection: the newest value, whole, for a reader that reads at any time.
//
// The publisher never waits, the reader succeeds at every attempt, and neither uses a lock or an atomic
// exchange. It is Simpson's four-slot mechanism (1990): two pairs of cells. The reader names the pair that it
// reads, and the publisher writes into the other one. They may be in the same pair if the publisher had not
// seen the name yet. Then they are in different cells of it: the reader takes the cell that was finished
// last, the publisher the other.
//
//            pair 0              pair 1
//        cell 0   cell 1     cell 0   cell 1        stamp | other | pair | cell   one word: the state
//                    ▲                   ▲
//        named: 0 ───┘ finished last     └─── the publisher writes into this pair
//
//   state    by the publisher alone: one store finishes a value
//   named    by the reader alone, before it reads the state again
//   a cell   by the publisher until the state has it, by the reader from there to its next name
//
// Three cells would need an atomic exchange on both sides at each value; the fourth costs memory only.
//
// The proof needs two orders. The reader names before it checks for the finished cell, and the publisher
// finishes before it next checks for the name. The reader pays for both (barrier.hpp). One word holds which
// cell of each pair was finished last, which of the two is the newest, and its stamp. So a publisher finishes
// by one store.
#pragma once

#include <memory>
#include <optional>

#include "inbox.hpp"

namespace silverpoint {

namespace signaling {

/// One publisher, one reader, a value of any type that can be moved.
template <class Event, class Machine = machine>
class four_slot {
  public:
    /// `stamp`: greater than the last one. `By`: whose `light_store` it is, if the caller knows how one is to
    /// be done.
    template <class By = Machine, class... Parts>
    [[gnu::always_inline]] void publish(std::uint64_t stamp, Parts&&... parts) {
        write<By>(stamp << state_bits | (state_.load(std::memory_order_relaxed) & ~(~0ull << state_bits)),
                  std::forward<Parts>(parts)...);
    }
    /// With a stamp that is greater than the last one by one.
    template <class By = Machine, class... Parts>
    [[gnu::always_inline]] void publish_next(Parts&&... parts) {
        write<By>(state_.load(std::memory_order_relaxed) + (1u << state_bits), std::forward<Parts>(parts)...);
    }
    /// The stamp of what was published last; 0: nothing was.
    std::uint64_t stamp() const { return state_.load(std::memory_order_seq_cst) >> state_bits; }

    /// The first half of reading; a heavy barrier comes between the two.
    void name() {
        pair_ = static_cast<std::uint8_t>(state_.load(std::memory_order_acquire) & pair_bit);
        named_.store(pair_, std::memory_order_seq_cst);
    }
    /// The second half: takes the cell that was finished last; returns its stamp, 0 if nothing was ever
    /// published. Once for each `name`: a second check may find another cell.
    std::uint64_t choose() {
        const std::uint64_t state = state_.load(std::memory_order_seq_cst);
        const bool newest = (state & pair_bit) == pair_;
        chosen_ = &cells_[pair_ | (newest ? state & cell_bit : (state & other_bit) / other_bit)];
        std::uint64_t stamp;
        Machine::read(chosen_, [&] { stamp = chosen_->stamp; });
        return stamp >> state_bits;
    }
    /// Calls `function(value)`. The value may be moved from; the publisher does not touch it until the next
    /// `name`.
    template <class Function>
    void take(Function&& function) {
        Machine::read(chosen_, [&] {
            if constexpr (always_there)
                function(chosen_->value);
            else
                function(*chosen_->value);
        });
    }
    /// Destroys the values. Neither side may use them any more.
    void clear() {
        if constexpr (!always_there)
            for (cell& one : cells_) one.value.reset();
    }

  private:
    // The state: the newest cell and its pair (together its index), and the cell of the other pair that was
    // finished last. Above them stands the stamp.
    static constexpr unsigned cell_bit = 1, pair_bit = 2, other_bit = 4, state_bits = 3;

    // A value with nothing to destroy stands in its cell from the beginning, so no check is needed.
    static constexpr bool always_there =
        std::is_trivially_destructible_v<Event> && std::is_nothrow_default_constructible_v<Event>;
    struct cell {
        std::conditional_t<always_there, Event, std::optional<Event>> value{};
        std::uint64_t stamp = 0;  // with a state below it, which says nothing
    };

    // `state`: the last one, with the stamp of this one.
    template <class By, class... Parts>
    [[gnu::always_inline]] void write(std::uint64_t state, Parts&&... parts) {
        if (((state ^ named_.load(std::memory_order_seq_cst)) & pair_bit) == 0) [[unlikely]] {
            // Into the other pair: the newest cell there was the other one, and the other way round.
            const std::uint64_t was = state & cell_bit, other = (state & other_bit) / other_bit;
            state = ((state ^ pair_bit) & ~std::uint64_t{cell_bit | other_bit}) | other | was * other_bit;
        }
        state ^= cell_bit;
        cell& to = cells_[state & (pair_bit | cell_bit)];
        Machine::write(&to, [&] {
            put(to.value, std::forward<Parts>(parts)...);
            to.stamp = state;
        });
        By::light_store(state_, state);
    }

    // Assigned where that is possible: text and vectors keep their memory.
    template <class... Parts>
    static void put(std::optional<Event>& to, Parts&&... parts) {
        if constexpr (requires { assign(*to, std::forward<Parts>(parts)...); }) {
            if (to) return assign(*to, std::forward<Parts>(parts)...);
        }
        to.emplace(std::forward<Parts>(parts)...);
    }
    template <class... Parts>
    static void put(Event& to, Parts&&... parts) {
        if constexpr (requires { assign(to, std::forward<Parts>(parts)...); })
            assign(to, std::forward<Parts>(parts)...);
        else
            std::construct_at(&to, std::forward<Parts>(parts)...);
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
    typename Machine::template atomic<std::uint64_t> state_{0};             // written by the publisher
    alignas(64) typename Machine::template atomic<std::uint8_t> named_{0};  // a pair; written by the reader
    // Of the reader:
    std::uint8_t pair_ = 0;
    cell* chosen_ = nullptr;
};

/// Several publishers: a lane for each thread, which is made when it publishes first. The newest value has
/// the greatest stamp: a publisher takes one more than it finds in all lanes. So a value that was published
/// after another counts as newer, in any lane.
template <class Event, class Machine = machine>
class latest_lanes {
  public:
    struct lane {
        explicit lane(const void* owner) : of(owner) {}
        typename Machine::template atomic<const void*> of;
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

    /// `who`: one value for each thread. Never waits; a thread's first call allocates.
    template <class... Parts>
    void publish(const void* who, Parts&&... parts) {
        if (publish_alone(who, std::forward<Parts>(parts)...)) [[likely]]
            return;
        lane& mine = first_.of.load(std::memory_order_relaxed) == who ? first_ : find(who);
        std::uint64_t stamp = 0;
        for (lane* at = &first_; at != nullptr; at = at->next.load(std::memory_order_acquire))
            stamp = std::max(stamp, at->cells.stamp());
        mine.cells.publish(stamp + 1, std::forward<Parts>(parts)...);
    }
    /// The same for the only thread that has published so far, which is the common case. For another thread
    /// it does nothing, takes nothing from `parts`, and returns false.
    template <class By = Machine, class... Parts>
    [[gnu::always_inline]] bool publish_alone(const void* who, Parts&&... parts) {
        if (alone_.load(std::memory_order_acquire) != who) [[unlikely]]
            return false;
        first_.cells.template publish_next<By>(std::forward<Parts>(parts)...);
        return true;
    }

    /// Whether something is newer than what was read last.
    bool fresh() const {
        for (const lane* at = &first_; at != nullptr; at = at->next.load(std::memory_order_acquire))
            if (at->cells.stamp() > seen_) return true;
        return false;
    }
    /// The reader's first half: names the pairs. A heavy barrier comes between the two.
    void name() {
        for (lane* at = &first_; at != nullptr; at = at->next.load(std::memory_order_acquire)) {
            at->named = true;
            at->cells.name();
        }
    }
    /// The second half: `function(value)` once, with the newest, or not at all if there is nothing new.
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
    /// Destroys the values. No publisher or reader may use them any more.
    void clear() {
        for (lane* at = &first_; at != nullptr; at = at->next.load(std::memory_order_acquire))
            at->cells.clear();
    }

  private:
    [[gnu::noinline, gnu::cold]] lane& find(const void* who) {
        const void* nobody = nullptr;
        if (alone_.compare_exchange_strong(nobody, who, std::memory_order_relaxed)) {
            first_.of.store(who, std::memory_order_relaxed);
            return first_;
        }
        for (lane* at = first_.next.load(std::memory_order_acquire); at != nullptr;
             at = at->next.load(std::memory_order_acquire))
            if (at->of.load(std::memory_order_relaxed) == who) return *at;
        auto* const fresh = new lane(who);
        lane* head = first_.next.load(std::memory_order_acquire);
        do {
            fresh->next.store(head, std::memory_order_relaxed);
        } while (!first_.next.compare_exchange_weak(head, fresh, std::memory_order_acq_rel));
        // Before this one's first value: a thread that publishes after that checks both lanes.
        alone_.store(this, std::memory_order_release);
        return *fresh;
    }

    // The only publisher; null: nothing was published; this: there are several.
    typename Machine::template atomic<const void*> alone_{nullptr};
    lane first_{nullptr};
    std::uint64_t seen_ = 0;  // of the reader
};

template <class Function, class... Args>
class latest_slot final : public slot<Args...>, public source {
  public:
    using event = std::tuple<std::decay_t<Args>...>;

    latest_slot(core* of, const std::shared_ptr<inbox_core>& to, Function function)
        : slot<Args...>(of, alignof(latest_slot), &run), all_(to, std::move(function)) {}

    bool prepare() override {
        const bool fresh = all_.values.fresh();
        all_.values.name();
        return fresh;
    }
    delivered deliver(budget& budget) override {
        std::optional<event> now;
        all_.values.read([&](event& value) { now.emplace(std::move(value)); });
        if (now) {
            all_.delivered.store(all_.delivered.load(std::memory_order_relaxed) + 1,
                                 std::memory_order_relaxed);
            budget.count();
            std::apply([&](auto&... parts) { all_.function(static_cast<passed<Args>>(parts)...); }, *now);
        }
        // A value that came while this one was chosen: its publisher may have believed us awake.
        return all_.values.fresh() ? delivered::batch : delivered::all;
    }

  protected:
    ~latest_slot() {}
    void empty() override {
        all_.to->unwatch(this);  // first: the inbox asks under its lock whether there is something new
        all_.~members();
    }
    tally count() const override {
        tally so_far;
        so_far.delivered = all_.delivered.load(std::memory_order_relaxed);
        return so_far;
    }

  private:
    // What `empty` destroys.
    struct members {
        members(const std::shared_ptr<inbox_core>& inbox, Function&& receives)
            : to(inbox), function(std::move(receives)) {}
        ~members() { values.clear(); }

        const std::shared_ptr<inbox_core> to;
        Function function;
        latest_lanes<event> values;
        std::atomic<std::uint64_t> delivered{0};
    };

    static void run(slot<Args...>* self, const level* quick, passed<Args>... args) {
        auto* const mine = static_cast<latest_slot*>(self);
        if (quick == nullptr || !mine->all_.values.template publish_alone<quick_machine>(
                                    thread_of(*quick), std::forward<passed<Args>>(args)...)) [[unlikely]]
            return mine->run_carefully(std::forward<passed<Args>>(args)...);
        if (mine->all_.to->asleep()) [[unlikely]]
            mine->wake();
    }
    [[gnu::noinline]] void run_carefully(passed<Args>... args) {
        all_.values.publish(here(), std::forward<passed<Args>>(args)...);
        if (all_.to->asleep()) all_.to->wake();
    }
    [[gnu::noinline, gnu::cold]] void wake() { all_.to->wake(); }

    union {
        members all_;
    };
};

}  // namespace signaling

/// The newest value of a thread for another, without a signal: a poller publishes, and a loop reads when it
/// draws. One publisher and one reader at a time. Four values are stored.
/// Thread-safe: one thread publishes, and one reads. Cost: to publish, the assignment of a value; to read a
/// new one, a barrier.
template <class T>
class latest {
  public:
    latest() { signaling::settle_barriers(); }

    /// Never waits: some nanoseconds and the assignment of a value.
    template <class Value>
    void publish(Value&& value) {
        cells_.publish_next(std::forward<Value>(value));
    }
    /// Moves the newest value into `to`; false if there is none since the last one. It never waits and never
    /// fails because a publisher is quick. It costs a barrier if there is something new (signal/barrier.hpp),
    /// almost nothing if not.
    bool read(T& to) {
        if (cells_.stamp() <= seen_) return false;
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
    std::uint64_t seen_ = 0;
};

}  // namespace silverpoint
