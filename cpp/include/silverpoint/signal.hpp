// Typed signals, and three ways to receive them.
//
//   silverpoint::signal<double> measured;
//
//   // direct: called by the emission, in its thread
//   measured.connect([](double value) { … });
//
//   // queued: every event, in order, in the inbox's thread
//   measured.connect_queued(inbox, [](double value) { … });
//
//   // latest: the newest value, in the inbox's thread
//   measured.connect_latest(inbox, [](double value) { … });
//
//   measured(21.5);
//
// The way of receiving is chosen where the connection is made, and nowhere else: no thread's identity
// decides. Any thread may emit, connect and disconnect at any time, also from within a receiver. Independent
// of Qt and of the tracing headers; links nothing but the threads of the C library.
#pragma once

#include "platform/only_linux.h"
#include "signal/connection.hpp"
#include "signal/inbox.hpp"
#include "signal/latest.hpp"
#include "signal/poll.hpp"
#include "signal/queue.hpp"

namespace silverpoint {

/// A signal with arguments of these types. When it dies, its connections end.
///
/// Arguments that are queued or kept are copied. If values can only be moved, the signal has one receiver,
/// which takes them. References (`const Shape&`, `std::ostream&`) go to any number of direct receivers.
template <class... Args>
class signal {
    static_assert((!(std::is_rvalue_reference_v<Args> &&
                     std::is_copy_constructible_v<std::decay_t<Args>>)&&...),
                  "signal<T&&>: the first receiver would take the value from the others; write signal<T>");

  public:
    using event = std::tuple<std::decay_t<Args>...>;

    signal() : core_(new signaling::core) {}
    ~signal() {
        core_->close();
        core_->drop();
    }
    signal(const signal&) = delete;
    signal& operator=(const signal&) = delete;

    /// Calls all receivers that are connected now, in the order of their connections. A receiver that one of
    /// them connects is not called, and one that it disconnects is not called any more. An exception of a
    /// direct receiver propagates, and the receivers behind it are not called.
    /// Thread-safe: any thread. Cost: some twenty instructions around the call of one receiver, and no lock.
    [[gnu::always_inline]] void operator()(signaling::passed<Args>... args) const {
        // One receiver is the common case: some twenty instructions around the call. The end of the call is
        // noted here and not by the receiver's side, whose code may be unloaded from then on.
        const std::atomic<signaling::slot_base*>& named = core_->only();
        signaling::slot_base* const only = named.load(std::memory_order_acquire);
        if (only != nullptr) [[likely]] {
            signaling::level& at = *signaling::quick_level;
            if (at.is_free() && signaling::enter_only<signaling::quick_store>(at.slot, named, only))
                [[likely]] {
                const signaling::stay_end<signaling::quick_store, false> end(at);
                return static_cast<signaling::slot<Args...>*>(only)->call(
                    &at, std::forward<signaling::passed<Args>>(args)...);
            }
        }
        call_carefully(std::forward<signaling::passed<Args>>(args)...);
    }

    /// Direct: `function` runs within each emission, in the emitting thread; in several threads at once, if
    /// several emit.
    /// Thread-safe: any thread. Cost: an allocation, and a lock.
    template <class Function>
        requires std::is_invocable_v<std::decay_t<Function>&, signaling::passed<Args>...>
    connection connect(Function&& function) {
        return add(new signaling::direct_slot<std::decay_t<Function>, Args...>(
            core_, std::forward<Function>(function)));
    }
    /// The same until `owner` dies.
    template <class Function>
        requires std::is_invocable_v<std::decay_t<Function>&, signaling::passed<Args>...>
    connection connect(receiver& owner, Function&& function) {
        return owned(owner, connect(std::forward<Function>(function)));
    }
    /// The same for a member function of a receiver.
    template <class Object, class Member>
        requires std::is_base_of_v<receiver, Object> && std::is_member_function_pointer_v<Member> &&
                 std::is_invocable_v<Member, Object&, signaling::passed<Args>...>
    connection connect(Object& object, Member member) {
        return connect(object, [&object, member](signaling::passed<Args>... args) {
            std::invoke(member, object, std::forward<signaling::passed<Args>>(args)...);
        });
    }

    /// Queued: `function` runs in the thread that drains `to`, for every event, in the order of the
    /// emissions. If `options.capacity` of them wait, `options.when_full` decides what happens to the next.
    /// Thread-safe: any thread. Cost: an allocation, and a lock.
    template <class Function>
        requires std::is_invocable_v<std::decay_t<Function>&, signaling::passed<Args>...>
    connection connect_queued(inbox& to, Function&& function, queued_options options = {}) {
        return connect_merging(to, std::forward<Function>(function), signaling::no_merge(), options);
    }
    /// Queued; if the queue is full, `merge(event& newest, args…)` merges an event into the newest that
    /// waits. For sums, and for changes of which the last counts. It is called with the queue's lock held: be
    /// short.
    template <class Function, class Merge>
        requires std::is_invocable_v<std::decay_t<Function>&, signaling::passed<Args>...> &&
                 std::is_invocable_v<std::decay_t<Merge>&, std::tuple<std::decay_t<Args>...>&,
                                     signaling::passed<Args>...>
    connection connect_queued(inbox& to, Function&& function, Merge&& merge, std::size_t capacity) {
        return connect_merging(to, std::forward<Function>(function), std::forward<Merge>(merge),
                               {capacity, overflow::coalesce});
    }
    /// Until `owner` dies, or the inbox.
    template <class Function>
    connection connect_queued(receiver& owner, inbox& to, Function&& function, queued_options options = {}) {
        return owned(owner, connect_queued(to, std::forward<Function>(function), options));
    }

    /// Latest: `function` runs in the thread that drains `to`, with the newest value, once for any number of
    /// emissions since the last drain. An emission never waits; it wakes the inbox's loop, if that sleeps.
    /// Thread-safe: any thread. Cost: an allocation, and a lock.
    template <class Function>
        requires std::is_invocable_v<std::decay_t<Function>&, signaling::passed<Args>...>
    connection connect_latest(inbox& to, Function&& function) {
        expect_copies();
        using made = signaling::latest_slot<std::decay_t<Function>, Args...>;
        auto* const fresh = new made(core_, to.core(), std::forward<Function>(function));
        fresh->hold();
        const signaling::held<made> kept(fresh);
        // Before any thread can publish, so that no value waits unseen.
        to.core()->watch(fresh, fresh);
        const connection result = add(fresh);
        if (!result.connected()) to.core()->unwatch(fresh);
        return owned(to.connections(), result);
    }
    /// Until `owner` dies, or the inbox.
    template <class Function>
    connection connect_latest(receiver& owner, inbox& to, Function&& function) {
        return owned(owner, connect_latest(to, std::forward<Function>(function)));
    }

    /// How many receivers are connected.
    /// Thread-safe: any thread. Cost: a load.
    std::size_t connected() const { return core_->connected(); }

  private:
    template <class Store>
    void call_all(signaling::level& at, signaling::passed<Args>... args) const {
        const signaling::stay_end<Store, true> end(at);
        signaling::stay<Store> inside(at);
        signaling::core::list* const list = inside.read(core_->lists());
        if (list == nullptr) return;
        const std::uint32_t count = list->size.load(std::memory_order_acquire);
        for (std::uint32_t i = 0; i < count; ++i) {
            // (Where the barrier is each side's own, this must not be loaded before it has left the last
            // one.)
            signaling::slot_base* const to = list->at()[i].load(std::memory_order_seq_cst);
            if (to == nullptr) continue;
            inside.enter(to);
            static_cast<signaling::slot<Args...>*>(to)->call(nullptr,
                                                             std::forward<signaling::passed<Args>>(args)...);
            inside.leave();
        }
    }
    // To several receivers, within a receiver that was called the shortest way, at a thread's first emission,
    // and where both sides pay for barriers.
    [[gnu::noinline]] void call_carefully(signaling::passed<Args>... args) const {
        if (core_->lists().load(std::memory_order_relaxed) == nullptr) return;
        const signaling::free_level level;
        // (Another thread may remove a receiver in between: then the list decides who is left.)
        signaling::slot_base* const only = core_->only().load(std::memory_order_acquire);
        if (only != nullptr &&
            signaling::enter_only<signaling::careful_store>(level.at().slot, core_->only(), only)) {
            const signaling::stay_end<signaling::careful_store, false> end(level.at());
            return static_cast<signaling::slot<Args...>*>(only)->call(
                nullptr, std::forward<signaling::passed<Args>>(args)...);
        }
        if (signaling::asymmetric.load(std::memory_order_relaxed))
            call_all<signaling::quick_store>(level.at(), std::forward<signaling::passed<Args>>(args)...);
        else
            call_all<signaling::careful_store>(level.at(), std::forward<signaling::passed<Args>>(args)...);
    }

    template <class Function, class Merge>
    connection connect_merging(inbox& to, Function&& function, Merge&& merge, queued_options options) {
        expect_copies();
        using made = signaling::queued_slot<std::decay_t<Function>, std::decay_t<Merge>, Args...>;
        return owned(to.connections(),
                     add(new made(core_, to.core(), options, std::forward<Function>(function),
                                  std::forward<Merge>(merge))));
    }
    static constexpr void expect_copies() {
        static_assert(signaling::copyable<Args...> || !signaling::shareable<Args...>,
                      "silverpoint: this signal passes a reference to a type that cannot be copied. Queued "
                      "and latest connections keep a copy of each argument: use connect(), or a signal "
                      "of a type that can be copied");
    }
    // An empty connection when the signal may not have it.
    connection add(signaling::slot_base* fresh) {
        signaling::held<signaling::slot_base> kept(fresh);
        if (!core_->add(fresh, !signaling::shareable<Args...>)) return {};
        return connection(std::move(kept));
    }
    static connection owned(receiver& owner, connection made) {
        owner.add(made);
        return made;
    }

    signaling::core* const core_;
};

}  // namespace silverpoint
