// One receiver's place in a signal, and the signal's list of them.
//
// The list is an array that emissions read without a lock: connecting appends to it, disconnecting clears the
// place; it is replaced by another when it is full or mostly holes. An old array is kept as long as an
// emission reads it (emission.hpp), at most one for each emission that is under way, and what is disconnected
// is taken out of it too.
#pragma once

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "emission.hpp"

namespace silverpoint::signaling {

/// How an argument is handed to receivers: small ones by value, those that can be copied as constants, and
/// those that can only be moved for the one receiver to take.
template <class T>
using passed = std::conditional_t<
    std::is_reference_v<T>, T,
    std::conditional_t<!std::is_copy_constructible_v<T>, T&&,
                       std::conditional_t<std::is_trivially_copyable_v<T> && sizeof(T) <= 16, T, const T&>>>;

template <class... Args>
inline constexpr bool copyable = (std::is_copy_constructible_v<std::decay_t<Args>> && ...);

/// What has become of the events of one connection.
struct tally {
    std::uint64_t delivered = 0;  ///< calls of the receiver (a direct connection counts none)
    std::uint64_t dropped = 0;  ///< left out since the queue was full (drop_oldest; block in its own thread)
    std::uint64_t coalesced = 0;  ///< merged into the one before since the queue was full
    std::uint64_t waited = 0;     ///< emissions that had to wait for room (block)
};

class core;

/// Counted by the signal's list, by handles and by the inbox that it waits in.
class slot_base {
  public:
    explicit slot_base(core* of);
    virtual ~slot_base();
    slot_base(const slot_base&) = delete;
    slot_base& operator=(const slot_base&) = delete;

    void hold() { users_.fetch_add(1, std::memory_order_relaxed); }
    void drop() {
        if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }

    bool connected() const { return connected_.load(std::memory_order_seq_cst); }
    core& of() const { return *core_; }

    /// Marks it: emissions and deliveries that begin now do nothing, and one that waits for room goes on.
    virtual void close() { connected_.store(false, std::memory_order_seq_cst); }
    /// Destroys the receiver's callable and what is queued for it. Nobody is in it, and nobody comes any
    /// more.
    virtual void empty() = 0;
    virtual tally counted() const { return {}; }

    /// True when the wait for its receiver is over and the callable is destroyed.
    bool left() const { return left_.load(std::memory_order_acquire); }
    void set_left() { left_.store(true, std::memory_order_release); }

  private:
    std::atomic<std::uint32_t> users_{1};
    std::atomic<bool> connected_{true}, left_{false};
    core* core_;
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
    /// What it returns from is said at `left`, unless that is null: then the caller does so (emission.hpp).
    using entry = void (*)(slot*, level* left, passed<Args>...);

    slot(core* of, entry begin) : slot_base(of), call_(begin) {}
    [[gnu::always_inline]] void call(level* left, passed<Args>... args) {
        call_.load(std::memory_order_seq_cst)(this, left, std::forward<passed<Args>>(args)...);
    }
    void close() override {
        call_.store([](slot*, level* left, passed<Args>...) { const call_end end(left); },
                    std::memory_order_seq_cst);
        slot_base::close();
    }

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
    };
    static_assert(alignof(list) <= alignof(std::atomic<slot_base*>) && sizeof(list) % alignof(void*) == 0);

    core() { domain::instance(); }  // asks for the barriers
    core(const core&) = delete;
    core& operator=(const core&) = delete;

    void hold() { users_.fetch_add(1, std::memory_order_relaxed); }
    void drop() {
        if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }

    /// The receiver, when there is one and no more: what most emissions read.
    const std::atomic<slot_base*>& only() const { return only_; }
    /// What the others read; null when nobody is connected.
    const std::atomic<list*>& lists() const { return slots_; }
    std::uint32_t connected() const { return live_.load(std::memory_order_relaxed); }

    /// False when the signal is gone already, or when it may have one receiver only, and has it.
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
            const std::uint32_t size = now->size.load(std::memory_order_relaxed);
            fresh->hold();
            now->at()[size].store(fresh, std::memory_order_release);
            now->size.store(size + 1, std::memory_order_release);
            live_.store(connected() + 1, std::memory_order_relaxed);
            slots_.store(now, std::memory_order_seq_cst);
            // Behind the list, where an emission goes that finds none here.
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
            // Another thread has begun; its wait, and the end of the callable, are waited for too. What it
            // has left to others' calls, and they have not seen, is done here.
            for (backoff turn; !one->left(); turn.pause()) {
                if (!domain::instance().leave_slot(one, {}, {[](void*) {}, nullptr}, here())) return;
                domain::instance().sweep();
            }
            return;
        }
        const auto emptied = [](void* what) {
            auto* const slot = static_cast<slot_base*>(what);
            {
                // Who disconnects it too waits for this as for a call.
                const visit inside(slot);
                slot->empty();
                slot->set_left();
            }
            slot->drop();
        };
        domain::instance().leave_slot(one, lists, {emptied, one}, here());
        retire(old);
    }

    /// The signal's end: takes out all of them.
    void close() {
        for (;;) {
            held<slot_base> one;
            {
                const std::lock_guard hold(lock_);
                closed_ = true;
                list* const now = slots_.load(std::memory_order_relaxed);
                if (now == nullptr) return;
                const std::uint32_t size = now->size.load(std::memory_order_relaxed);
                for (std::uint32_t i = size; i > 0 && one == nullptr; --i)
                    if (slot_base* const found = now->at()[i - 1].load(std::memory_order_relaxed)) {
                        found->hold();
                        one.reset(found);
                    }
            }
            if (one != nullptr) remove(one.get());
        }
    }

  private:
    ~core() = default;

    // The list that is to be retired, if it has been replaced. `lists`: all those that it was in.
    list* take_out(slot_base* one, std::vector<const void*>& lists) {
        one->close();
        list* const now = slots_.load(std::memory_order_relaxed);
        const std::uint32_t size = now->size.load(std::memory_order_relaxed);
        const auto clear = [&](list* in) {
            lists.push_back(in);
            for (std::uint32_t i = 0; i < in->size.load(std::memory_order_relaxed); ++i)
                if (in->at()[i].load(std::memory_order_relaxed) == one)
                    in->at()[i].store(nullptr, std::memory_order_seq_cst);
        };
        clear(now);
        for (list* const old : replaced_) clear(old);
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
        void* const memory = ::operator new(sizeof(list) + room * sizeof(std::atomic<slot_base*>));
        list* const made = new (memory) list{this, room, 0};
        for (std::uint32_t i = 0; i < room; ++i) new (made->at() + i) std::atomic<slot_base*>(nullptr);
        if (from == nullptr) return made;
        std::uint32_t count = 0;
        for (std::uint32_t i = 0; i < from->size.load(std::memory_order_relaxed); ++i)
            if (slot_base* const one = from->at()[i].load(std::memory_order_relaxed))
                made->at()[count++].store(one, std::memory_order_relaxed);
        made->size.store(count, std::memory_order_relaxed);
        return made;
    }
    void retire(list* old) {
        if (old == nullptr) return;
        hold();
        domain::instance().leave_list(old, {[](void* what) {
                                                list* const unread = static_cast<list*>(what);
                                                core* const of = unread->of;
                                                {
                                                    const std::lock_guard hold(of->lock_);
                                                    std::erase(of->replaced_, unread);
                                                }
                                                ::operator delete(what);
                                                of->drop();
                                            },
                                            old});
    }

    std::atomic<slot_base*> only_{nullptr};
    std::atomic<list*> slots_{nullptr};
    std::atomic<std::uint32_t> live_{0};  // written under the lock
    std::atomic<std::uint32_t> users_{1};
    std::mutex lock_;
    std::vector<list*> replaced_;  // lists that are read still, or have not been retired yet
    bool closed_ = false;
};

inline slot_base::slot_base(core* of) : core_(of) { of->hold(); }
inline slot_base::~slot_base() { core_->drop(); }

/// Calls the receiver in the emitting thread.
template <class Function, class... Args>
class direct_slot final : public slot<Args...> {
  public:
    direct_slot(core* of, Function&& function) : slot<Args...>(of, &run), function_(std::move(function)) {}
    direct_slot(core* of, const Function& function) : slot<Args...>(of, &run), function_(function) {}
    ~direct_slot() override { empty(); }
    void empty() override {
        if (!std::exchange(emptied_, true)) function_.~Function();
    }

  private:
    static void run(slot<Args...>* self, level* left, passed<Args>... args) {
        const call_end end(left);
        static_cast<direct_slot*>(self)->function_(std::forward<passed<Args>>(args)...);
    }
    union {
        Function function_;
    };
    bool emptied_ = false;
};

}  // namespace silverpoint::signaling
