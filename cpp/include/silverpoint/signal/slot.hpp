// One receiver's place in a signal, and the signal's list of them.
//
// The list is an array that emissions read without a lock. Connecting appends to it, disconnecting clears the
// place. Another array replaces it when it is full or mostly holes. An old array is kept as long as an
// emission reads it (emission.hpp). There is at most one for each emission in progress, and disconnected
// receivers are taken out of it too.
#pragma once

#include <algorithm>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "emission.hpp"

namespace silverpoint::signaling {

/// How an argument is passed to receivers. Small ones are passed by value, those that can be copied as
/// constants, those that can only be moved for the one receiver to take.
template <class T>
using passed = std::conditional_t<
    std::is_reference_v<T>, T,
    std::conditional_t<!std::is_copy_constructible_v<T>, T&&,
                       std::conditional_t<std::is_trivially_copyable_v<T> && sizeof(T) <= 16, T, const T&>>>;

template <class... Args>
inline constexpr bool copyable = (std::is_copy_constructible_v<std::decay_t<Args>> && ...);
/// Whether several receivers may be called with the same arguments: a moved argument has only one receiver.
template <class... Args>
inline constexpr bool shareable =
    ((std::is_lvalue_reference_v<Args> || std::is_copy_constructible_v<std::decay_t<Args>>)&&...);

/// The counts of the events of one connection.
struct tally {
    std::uint64_t delivered = 0;  ///< calls of the receiver (a direct connection counts none)
    /// dropped since the queue was full: by drop_oldest, and by block if no thread would make room
    std::uint64_t dropped = 0;
    std::uint64_t coalesced = 0;  ///< merged into the one before since the queue was full
    std::uint64_t waited = 0;     ///< emissions that had to wait for room (block)
};

class core;

/// Counted by the signal's list, by handles and by the inbox that it waits in.
///
/// The code of a receiver may be unloaded (dlclose) when its connection has ended, while handles and inboxes
/// still hold the rest of it. So the functions of the derived class are called only while it is connected, or
/// to end it. Then all its members are destroyed, and the rest is freed as a slot_base.
class slot_base {
  public:
    /// `alignment`: of the class derived from it, which begins with it.
    slot_base(core* of, std::size_t alignment);
    slot_base(const slot_base&) = delete;
    slot_base& operator=(const slot_base&) = delete;

    void hold() { users_.fetch_add(1, std::memory_order_relaxed); }
    void drop() {
        if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
    }

    bool connected() const { return connected_.load(std::memory_order_seq_cst); }
    core& of() const { return *core_; }
    /// Its rank in its signal: grows with each connection. Set before it is in a list.
    std::uint64_t order = 0;

    /// Marks it: emissions and deliveries that begin now do nothing, and one that waits for room goes on.
    virtual void close() {
        closing_ = count();
        connected_.store(false, std::memory_order_seq_cst);
    }
    /// The end, when no thread is in it and none comes any more: destroys everything of the derived class.
    void end() {
        last_ = count();
        empty();
        left_.store(true, std::memory_order_release);
    }
    /// For any thread.
    tally counted();

    /// True when the wait for its receiver is over and the callable is destroyed.
    bool left() const { return left_.load(std::memory_order_acquire); }

  protected:
    ~slot_base();
    /// Destroys all members of the derived class, whose destructor is never called.
    virtual void empty() = 0;
    virtual tally count() const { return {}; }

  private:
    void destroy();

    std::atomic<std::uint32_t> users_{1};
    std::atomic<bool> connected_{true}, left_{false};
    const std::uint32_t alignment_;
    core* core_;
    tally closing_;  // as it was when the connection ended; constant since
    tally last_;     // and when the last call had returned; constant since `left`
};

struct drops {
    void operator()(slot_base* one) const { one->drop(); }
};
template <class Slot>
using held = std::unique_ptr<Slot, drops>;

/// The part that emissions of arguments of these types call.
template <class... Args>
class slot : public slot_base {
  public:
    /// `quick`: the thread's own level, if the emission has come the shortest way; otherwise null. The
    /// emission notes that the call has returned: the receiver's code may be unloaded from then on.
    using entry = void (*)(slot*, const level* quick, passed<Args>...);

    slot(core* of, std::size_t alignment, entry begin) : slot_base(of, alignment), call_(begin) {}
    [[gnu::always_inline]] void call(const level* quick, passed<Args>... args) {
        call_.load(std::memory_order_seq_cst)(this, quick, std::forward<passed<Args>>(args)...);
    }
    void close() override {
        call_.store([](slot*, const level*, passed<Args>...) {}, std::memory_order_seq_cst);
        slot_base::close();
    }

  protected:
    ~slot() = default;

  private:
    std::atomic<entry> call_;
};

/// What a signal and its connections share; lives as long as any of them.
class core {
  public:
    struct list {
        core* of;
        std::uint32_t room;
        std::atomic<std::uint32_t> size;
        std::atomic<slot_base*>* at() { return reinterpret_cast<std::atomic<slot_base*>*>(this + 1); }
        /// `slot_base::order` of each, ascending, of those too that have been taken out. Under the lock.
        std::uint64_t* orders() { return reinterpret_cast<std::uint64_t*>(at() + room); }
        void append(slot_base* one, std::memory_order how) {
            const std::uint32_t end = size.load(std::memory_order_relaxed);
            orders()[end] = one->order;
            at()[end].store(one, how);
            size.store(end + 1, how);
        }
        void take_out(const slot_base* one) {
            std::uint64_t* const end = orders() + size.load(std::memory_order_relaxed);
            std::uint64_t* const found = std::lower_bound(orders(), end, one->order);
            if (found != end && *found == one->order)
                at()[found - orders()].store(nullptr, std::memory_order_seq_cst);
        }
    };
    static_assert(sizeof(std::atomic<slot_base*>) % alignof(std::uint64_t) == 0);
    static_assert(alignof(list) <= alignof(std::atomic<slot_base*>) && sizeof(list) % alignof(void*) == 0);

    core() { domain::instance(); }  // requests the barriers
    core(const core&) = delete;
    core& operator=(const core&) = delete;

    void hold() { users_.fetch_add(1, std::memory_order_relaxed); }
    void drop() {
        if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }

    /// The receiver, if there is exactly one: what most emissions read.
    const std::atomic<slot_base*>& only() const { return only_; }
    /// For all other emissions; null if nothing is connected.
    const std::atomic<list*>& lists() const { return slots_; }
    std::uint32_t connected() const { return live_.load(std::memory_order_relaxed); }

    /// False if the signal is gone already, or may have one receiver only, and has it.
    bool add(slot_base* fresh, bool only_one) {
        list* old = nullptr;
        {
            const std::lock_guard hold(lock_);
            if (closed_ || (only_one && connected() != 0)) return false;
            list* now = slots_.load(std::memory_order_relaxed);
            if (now == nullptr || now->size.load(std::memory_order_relaxed) == now->room) {
                old = now;
                now = packed(old, 2 * connected() + 2);
                if (old != nullptr) replaced_.push_back(old);
            }
            fresh->hold();
            fresh->order = ++orders_;
            now->append(fresh, std::memory_order_release);
            live_.store(connected() + 1, std::memory_order_relaxed);
            slots_.store(now, std::memory_order_seq_cst);
            // Behind the list, which an emission reads if it finds no receiver here.
            only_.store(connected() == 1 ? fresh : nullptr, std::memory_order_seq_cst);
        }
        retire(old);
        return true;
    }

    /// Takes the slot out, and returns when its receiver is not running, with the exceptions that
    /// emission.hpp names.
    void remove(slot_base* one) {
        list* old = nullptr;
        std::vector<const void*> lists;
        bool first;
        {
            const std::lock_guard hold(lock_);
            first = one->connected();
            if (first) old = take_out(one, lists);
        }
        if (!first) {
            // Another thread has begun to disconnect: its wait, and the end of the callable, are waited for
            // too. What it has left to others' calls, and they have not noticed, is done here.
            for (backoff turn; !one->left(); turn.pause()) {
                if (!domain::instance().leave_slot(one, {}, {}, here())) return;
                domain::instance().sweep();
            }
            return;
        }
        domain::instance().leave_slot(one, lists, {garbage::kind::slot, one}, here());
        retire(old);
    }

    /// The signal's end: removes all receivers, the last first.
    void close() {
        const list* looked_at = nullptr;
        std::uint32_t left = 0;  // no thread is in the list any more beyond them
        for (;;) {
            held<slot_base> one;
            {
                const std::lock_guard hold(lock_);
                closed_ = true;
                list* const now = slots_.load(std::memory_order_relaxed);
                if (now == nullptr) return;
                if (now != looked_at || left == 0) left = now->size.load(std::memory_order_relaxed);
                looked_at = now;
                while (left > 0 && one == nullptr)
                    if (slot_base* const found = now->at()[--left].load(std::memory_order_relaxed)) {
                        found->hold();
                        one.reset(found);
                    }
            }
            if (one != nullptr) remove(one.get());
        }
    }

    /// A list that is not read any more.
    static void free(list* unread) {
        core* const of = unread->of;
        {
            const std::lock_guard hold(of->lock_);
            std::erase(of->replaced_, unread);
        }
        ::operator delete(unread);
        of->drop();
    }

  private:
    ~core() = default;

    // The list that is to be retired, if it has been replaced. `lists`: all those that it was in.
    list* take_out(slot_base* one, std::vector<const void*>& lists) {
        one->close();
        list* const now = slots_.load(std::memory_order_relaxed);
        const std::uint32_t size = now->size.load(std::memory_order_relaxed);
        const auto take_from = [&](list* in) {
            lists.push_back(in);
            in->take_out(one);
        };
        take_from(now);
        for (list* const old : replaced_) take_from(old);
        live_.store(connected() - 1, std::memory_order_relaxed);
        only_.store(connected() == 1 ? find_only(*now) : nullptr, std::memory_order_seq_cst);
        if (connected() == 0) {
            slots_.store(nullptr, std::memory_order_seq_cst);
        } else if (size > 16 && connected() < size / 4) {
            slots_.store(packed(now, 2 * connected()), std::memory_order_seq_cst);
        } else {
            return nullptr;
        }
        replaced_.push_back(now);
        return now;
    }

    static slot_base* find_only(list& in) {
        for (std::uint32_t i = 0;; ++i)
            if (slot_base* const one = in.at()[i].load(std::memory_order_relaxed)) return one;
    }
    list* packed(list* from, std::uint32_t room) {
        void* const memory =
            ::operator new(sizeof(list) + room * (sizeof(std::atomic<slot_base*>) + sizeof(std::uint64_t)));
        list* const made = new (memory) list{this, room, 0};
        for (std::uint32_t i = 0; i < room; ++i) {
            new (made->at() + i) std::atomic<slot_base*>(nullptr);
            new (made->orders() + i) std::uint64_t(0);
        }
        if (from == nullptr) return made;
        for (std::uint32_t i = 0; i < from->size.load(std::memory_order_relaxed); ++i)
            if (slot_base* const one = from->at()[i].load(std::memory_order_relaxed))
                made->append(one, std::memory_order_relaxed);
        return made;
    }
    void retire(list* old) {
        if (old == nullptr) return;
        hold();
        domain::instance().leave_list(old, {garbage::kind::list, old});
    }

    std::atomic<slot_base*> only_{nullptr};
    std::atomic<list*> slots_{nullptr};
    std::atomic<std::uint32_t> live_{0};  // written under the lock
    std::atomic<std::uint32_t> users_{1};
    std::mutex lock_;
    std::uint64_t orders_ = 0;     // the last that was given
    std::vector<list*> replaced_;  // lists that are read still, or have not been retired yet
    bool closed_ = false;
};

inline slot_base::slot_base(core* of, std::size_t alignment)
    : alignment_(static_cast<std::uint32_t>(alignment)), core_(of) {
    of->hold();
}
inline slot_base::~slot_base() { core_->drop(); }

inline void slot_base::destroy() {
    if (!left()) end();  // it was never connected
    const std::size_t alignment = alignment_;
    void* const memory = this;
    this->slot_base::~slot_base();
    if (alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__)
        ::operator delete(memory, std::align_val_t(alignment));
    else
        ::operator delete(memory);
}

inline tally slot_base::counted() {
    const visit inside(this);
    // A thread that ends the connection from here on waits for this visit before it destroys anything.
    if (connected()) return count();
    return left() ? last_ : closing_;
}

inline void release(garbage done) {
    switch (done.of) {
        case garbage::kind::nothing:
            break;
        case garbage::kind::slot: {
            auto* const one = static_cast<slot_base*>(done.what);
            {
                // A thread that disconnects it also waits for this as for a call.
                const visit inside(one);
                one->end();
            }
            one->drop();
            break;
        }
        case garbage::kind::list:
            core::free(static_cast<core::list*>(done.what));
            break;
    }
}

/// Calls the receiver in the emitting thread.
template <class Function, class... Args>
class direct_slot final : public slot<Args...> {
  public:
    template <class From>
    direct_slot(core* of, From&& function)
        : slot<Args...>(of, alignof(direct_slot), &run), function_(std::forward<From>(function)) {}

  protected:
    ~direct_slot() {}
    void empty() override { function_.~Function(); }

  private:
    static void run(slot<Args...>* self, const level*, passed<Args>... args) {
        static_cast<direct_slot*>(self)->function_(std::forward<passed<Args>>(args)...);
    }
    union {
        Function function_;
    };
};

}  // namespace silverpoint::signaling
