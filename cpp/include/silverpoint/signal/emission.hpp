// Which thread is inside which receiver right now. This lets a connection end, and its receiver die, while
// signals are emitted.
//
// Each thread that emits or delivers has a record, with a level for each call within a call. When it enters
// an emission it writes there which list of receivers it reads. Before each call it writes which receiver it
// is in, and after the call that it is in none. These are plain stores into memory of its own. (A signal with
// one receiver names it, and no list is read. A thread writes that it is in it, and then checks whether it is
// still the one that is named.)
//
// A thread that disconnects takes the receiver out of the lists, then (behind a heavy barrier) checks all
// levels:
//
// - One that is in the receiver is waited for.
// - One that reads such a list and is in no receiver may hold the address of this one, and may be about to
//   enter it. It is waited for too.
// - One that is in another receiver will not find this one any more, however long it stays.
//
// So `disconnect` promises that the receiver is not running and will not run. Its memory is free at once, and
// emitting stays cheap.
//
// Two threads are not waited for, since that would last for ever: the calling thread, and one that waits for
// it directly or through others. What is still in use then is kept until those calls have returned. A thread
// that waits for room in a queue waits for the one that drains it. If this closes a circle, it gives up its
// event instead.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "barrier.hpp"
#include "joining.hpp"

namespace silverpoint::signaling {

/// One level of emission of a thread; what a receiver emits uses another level.
struct level {
    std::atomic<const void*> list{nullptr};  ///< the list that is being read, `delivery`, or null
    std::atomic<const void*> slot{nullptr};  ///< the receiver that is being called
    std::atomic<bool> left_behind{false};    ///< something waits for the end of what is at this level

    /// A level that reads no list, since an inbox delivers to its receiver.
    static const void* delivery() {
        static constexpr char mark = 0;
        return &mark;
    }
    /// No signal has this receiver. It stands between two receivers, where what the first has left behind is
    /// released.
    static const void* cleaning() {
        static constexpr char mark = 0;
        return &mark;
    }
    /// For its own thread, at the level of the shortest way: nothing is in progress here.
    bool is_free() const { return slot.load(std::memory_order_relaxed) == nullptr; }
};

struct level_block {
    static constexpr unsigned size = 16;
    level levels[size];
    std::atomic<level_block*> next{nullptr};  // kept for the thread's next deep nesting
};

struct thread_record {
    level_block first;  // its first level is of the shortest way alone, at which no list is read
    // Levels in use besides the first. Written by the owner, before it writes anything at a new level. Read
    // by a thread that disconnects, which checks no level beyond it.
    std::atomic<unsigned> depth{0};
    std::uint64_t thread = 0;  // which thread it is, never the same again; written under the domain's lock
    pid_t kernel_id = 0;       // the same thread, as /proc names it
    std::atomic<bool> owned{true};
    // Under the domain's lock: which thread this one waits for, to leave which receiver at which level. A
    // thread that has left it is no longer waited for, although the waiting thread may not have noticed. Or
    // `room`: where this one sleeps until a queue is drained, by the thread that is to do so at the time of
    // asking.
    thread_record* waits_for = nullptr;
    const level* waits_at = nullptr;
    const void* waits_in = nullptr;
    std::atomic<std::uint32_t>* room = nullptr;
    const class drainer* room_of = nullptr;
    std::uint32_t room_before = 0;
    bool gives_up = false;
    thread_record* next = nullptr;  // never changes once it is in the list
};

/// Which thread drains an inbox. That may change while others wait for it, so they keep no copy.
class drainer {
  public:
    /// From now on the calling thread drains.
    void become(thread_record& me) {
        who_.store(&me, std::memory_order_relaxed);
        number_.store(me.thread, std::memory_order_relaxed);
    }
    bool is(const thread_record& me) const { return number_.load(std::memory_order_relaxed) == me.thread; }
    /// Null if it has ended, or if another thread is just taking its place. (That one does not wait for it,
    /// and checks for itself when it begins to wait.) Under the domain's lock.
    thread_record* now() const {
        thread_record* const one = who_.load(std::memory_order_relaxed);
        return one != nullptr && one->thread == number_.load(std::memory_order_relaxed) ? one : nullptr;
    }
    /// True when the thread has ended, and no other has drained since. Under the domain's lock.
    bool has_ended() const {
        const thread_record* const one = who_.load(std::memory_order_relaxed);
        return one != nullptr && (one->thread != number_.load(std::memory_order_relaxed) ||
                                  !one->owned.load(std::memory_order_relaxed));
    }

  private:
    // Records are used again: the number shows whether it is still that thread's.
    std::atomic<thread_record*> who_{nullptr};
    std::atomic<std::uint64_t> number_{0};
};

/// What is freed when it is no longer in use.
///
/// It holds a kind, and no function of the thread that left it here: that thread's shared object may be
/// unloaded by then. A thread that sweeps runs its own copy of `release`.
struct garbage {
    enum class kind : std::uint8_t {
        nothing,
        slot,  ///< a `slot_base`: its callable is destroyed, and the list's reference given back
        list,  ///< a `core::list`
    };
    kind of = kind::nothing;
    void* what = nullptr;
};
inline void release(garbage done);  // slot.hpp

/// Why a wait for room in a queue has ended.
enum class room_wait : std::uint8_t {
    over,      ///< there may be room
    circle,    ///< the receiving thread waits for this one
    ended,     ///< the receiving thread has ended
    joined,    ///< the receiving thread waits for this one to end (pthread_join)
    too_long,  ///< nothing has been drained for as long as the connection allows
};

/// All threads that emit, and what is kept for them. Never destroyed: destructors of statics may emit.
class domain {
  public:
    SP_SIGNAL_SHARED static domain& instance() {
        static domain& only = *new domain;
        return only;
    }

    thread_record* claim() {
        const std::lock_guard hold(lock_);
        for (thread_record* at = records_.load(); at != nullptr; at = at->next)
            if (!at->owned.load(std::memory_order_acquire)) {
                at->owned.store(true, std::memory_order_relaxed);
                at->thread = ++threads_;
                at->kernel_id = kernel_thread_id();
                return at;
            }
        auto* fresh = new thread_record;
        fresh->thread = ++threads_;
        fresh->kernel_id = kernel_thread_id();
        fresh->next = records_.load(std::memory_order_relaxed);
        records_.store(fresh, std::memory_order_release);
        return fresh;
    }

    /// Returns when no thread is in `slot`, and none that reads one of `lists` may be about to enter it. The
    /// caller itself and threads that wait for it do not count. The slot was marked and taken out of the
    /// lists, so no thread enters it any more. `done` is released then. False: it is released when those
    /// threads have left it too.
    bool leave_slot(const void* slot, const std::vector<const void*>& lists, garbage done,
                    thread_record* me) {
        heavy_barrier();
        std::vector<use> others, kept, passing;
        {
            const std::lock_guard hold(lock_);
            for_each_level([&](thread_record* who, level& at) {
                const void* const in = at.slot.load(std::memory_order_seq_cst);
                const void* const reads = at.list.load(std::memory_order_seq_cst);
                if (in == slot) (who == me ? kept : others).push_back({who, &at, reads});
                if (in == nullptr && std::find(lists.begin(), lists.end(), reads) != lists.end())
                    passing.push_back({who, &at, reads});
            });
        }
        for (const use& other : others)
            if (!wait(other, slot, me)) kept.push_back(other);
        // They wait for no thread; and they find nothing to call if it is this slot that they come to.
        for (const use& one : passing)
            for (backoff turn; one.at->list.load(std::memory_order_acquire) == one.list; turn.pause()) {
                const void* const in = one.at->slot.load(std::memory_order_acquire);
                if (in != nullptr && in != slot) break;
            }
        if (keep(done, kept, slot, &level::slot)) return false;
        release(done);
        return true;
    }

    /// Releases `done` when no emission in progress reads `list`, which has been replaced; does not wait.
    void leave_list(const void* list, garbage done) {
        heavy_barrier();
        std::vector<use> readers;
        {
            const std::lock_guard hold(lock_);
            for_each_level([&](thread_record* who, level& at) {
                if (at.list.load(std::memory_order_seq_cst) == list) readers.push_back({who, &at, list});
            });
        }
        if (!keep(done, readers, list, &level::list)) release(done);
    }

    /// Sleeps until `room` is no longer `before`, which the draining thread must change; at most for
    /// `longest`. It checks ten times a second whether that thread still can.
    room_wait wait_for_room(const drainer& drains, std::atomic<std::uint32_t>& room, std::uint32_t before,
                            std::chrono::milliseconds longest, thread_record* me) {
        {
            const std::lock_guard hold(lock_);
            for (const thread_record* at = drains.now(); at != nullptr; at = awaited(*at))
                if (at == me) return room_wait::circle;
            me->room = &room;
            me->room_of = &drains;
            me->room_before = before;
            me->gives_up = false;
        }
        room_wait why = room_wait::over;
        std::chrono::milliseconds waited{0};
        while (why == room_wait::over && room.load(std::memory_order_relaxed) == before) {
            constexpr std::chrono::milliseconds turn{100};
            machine::sleep_for(room, before, turn);
            waited += turn;
            if (room.load(std::memory_order_relaxed) == before) why = hopeless(drains, waited, longest);
        }
        const std::lock_guard hold(lock_);
        me->room = nullptr;
        return me->gives_up ? room_wait::circle : why;
    }

    /// Releases everything that is not in use any more.
    void sweep() {
        for (;;) {
            garbage free;
            {
                const std::lock_guard hold(lock_);
                std::size_t i = 0;
                while (i < limbo_.size() && !limbo_[i].over()) ++i;
                if (i == limbo_.size()) return;
                free = limbo_[i].done;
                if (i + 1 != limbo_.size()) limbo_[i] = std::move(limbo_.back());
                limbo_.pop_back();
            }
            // Without the lock: what is released may disconnect others, or take locks of its own. One by one:
            // a thread that waits for another of them finds it, and releases it itself.
            release(free);
        }
    }

    /// What is still kept for calls that have not returned (for tests).
    std::size_t kept() {
        const std::lock_guard hold(lock_);
        return limbo_.size();
    }

  private:
    /// Where a use is noted: at a level's `slot`, or at its `list`.
    using place = std::atomic<const void*> level::*;
    struct use {
        thread_record* who;
        level* at;
        const void* list;
    };
    struct pending {
        garbage done;
        std::vector<use> until;
        place where;
        const void* what;
        bool over() const {
            return std::none_of(until.begin(), until.end(),
                                [this](const use& one) { return lasts(one, where, what); });
        }
    };
    static bool lasts(const use& one, place where, const void* what) {
        return (one.at->*where).load(std::memory_order_seq_cst) == what;
    }

    domain() {
        settle_barriers();
        // A child has none of its parent's other threads: it must not wait for them.
        pthread_atfork([] { instance().lock_.lock(); }, [] { instance().lock_.unlock(); },
                       [] { instance().forget_others(); });
    }

    template <class Function>
    void for_each_level(Function&& function) {
        for (thread_record* who = records_.load(std::memory_order_acquire); who != nullptr; who = who->next) {
            // (A level beyond this is not in use, or its user will find what the caller has changed.)
            unsigned left = who->depth.load(std::memory_order_seq_cst) + 1;
            for (level_block* block = &who->first; block != nullptr && left > 0;
                 block = block->next.load(std::memory_order_acquire))
                for (unsigned i = 0; i < level_block::size && left > 0; ++i, --left)
                    function(who, block->levels[i]);
        }
    }

    room_wait hopeless(const drainer& drains, std::chrono::milliseconds waited,
                       std::chrono::milliseconds longest) {
        // Another thread may take over the inbox of a thread that has ended.
        constexpr std::chrono::milliseconds grace{500};
        pid_t drainer_id = 0;
        {
            const std::lock_guard hold(lock_);
            if (drains.has_ended() && waited >= std::min(grace, longest)) return room_wait::ended;
            if (const thread_record* const one = drains.now()) drainer_id = one->kernel_id;
        }
        if (drainer_id != 0 && joins_this_thread(drainer_id)) return room_wait::joined;
        return waited >= longest ? room_wait::too_long : room_wait::over;
    }

    static thread_record* awaited(const thread_record& by) {
        // (One that was woken goes on, although it may not have done so yet.)
        if (by.room != nullptr)
            return by.room->load(std::memory_order_relaxed) == by.room_before ? by.room_of->now() : nullptr;
        if (by.waits_for == nullptr) return nullptr;
        return by.waits_at->slot.load(std::memory_order_acquire) == by.waits_in ? by.waits_for : nullptr;
    }

    // True if `from` waits for `me` for ever. If a thread in between waits for room, that one gives up
    // instead, and the result is false. Under the lock.
    static bool deadlocked(thread_record* from, const thread_record* me) {
        thread_record* gives_up = nullptr;
        for (thread_record* at = from; at != me; at = awaited(*at)) {
            if (at == nullptr) return false;
            if (at->room != nullptr) gives_up = at;
        }
        if (gives_up == nullptr) return true;
        gives_up->gives_up = true;
        gives_up->room->fetch_add(1, std::memory_order_relaxed);
        machine::wake(*gives_up->room);
        return false;
    }

    // False if `other` waits for this thread.
    bool wait(const use& other, const void* slot, thread_record* me) {
        backoff turn;
        bool told = false;
        while (other.at->slot.load(std::memory_order_acquire) == slot) {
            if (!told) {
                const std::lock_guard hold(lock_);
                if (deadlocked(other.who, me)) return false;
                me->waits_for = other.who;
                me->waits_at = other.at;
                me->waits_in = slot;
                told = true;
            }
            turn.pause();
        }
        if (told) {
            const std::lock_guard hold(lock_);
            me->waits_for = nullptr;
        }
        return true;
    }

    // False if none of them lasts. Each level is notified before it is checked once more. So a level that
    // this check finds lasting will find the notification.
    bool keep(garbage done, std::vector<use>& uses, const void* what, place where) {
        if (uses.empty()) return false;
        const std::lock_guard hold(lock_);
        for (const use& one : uses) one.at->left_behind.store(true, std::memory_order_seq_cst);
        heavy_barrier();
        std::erase_if(uses, [&](const use& one) { return !lasts(one, where, what); });
        if (uses.empty()) return false;
        limbo_.push_back({done, std::move(uses), where, what});
        return true;
    }

    void forget_others();

    std::mutex lock_;
    std::atomic<thread_record*> records_{nullptr};
    std::uint64_t threads_ = 0;  // under the lock
    std::vector<pending> limbo_;
};

/// This thread's record; made at its first emission. (Initial-exec, here and below: otherwise an access would
/// be a call in a shared library.)
SP_SIGNAL_SHARED inline thread_local constinit thread_record* this_thread
    __attribute__((tls_model("initial-exec"))) = nullptr;
/// Stands for a level where there is no shortest way.
SP_SIGNAL_SHARED inline constinit level occupied{{nullptr}, {&occupied}, {false}};
/// The thread's first level, if the rare side places the barriers: when it is free, the thread's emissions
/// take the shortest way. Elsewhere, and before its first emission, a level that never is free.
SP_SIGNAL_SHARED inline thread_local constinit level* quick_level __attribute__((tls_model("initial-exec"))) =
    &occupied;

[[gnu::noinline, gnu::cold]] inline thread_record* join_domain() {
    // Gives the record back when the thread ends. An emission after that (in another destructor of the
    // thread) takes a record that stays taken.
    struct membership {
        ~membership() {
            thread_record* const mine = this_thread;
            // (First: another thread may own it as soon as it is not owned, and a handler may emit here.)
            quick_level = &occupied;
            this_thread = nullptr;
            std::atomic_signal_fence(std::memory_order_seq_cst);
            if (mine != nullptr) mine->owned.store(false, std::memory_order_release);
        }
    };
    static thread_local membership mine;
    static_cast<void>(mine);
    this_thread = domain::instance().claim();
    if (asymmetric.load(std::memory_order_relaxed)) quick_level = &this_thread->first.levels[0];
    return this_thread;
}

inline thread_record* here() {
    thread_record* const mine = this_thread;
    return mine != nullptr ? mine : join_domain();
}

inline void domain::forget_others() {
    for (thread_record* who = records_.load(); who != nullptr; who = who->next) {
        who->waits_for = nullptr;
        who->room = nullptr;
        if (who == this_thread) {
            who->kernel_id = kernel_thread_id();
            continue;
        }
        who->depth.store(0, std::memory_order_relaxed);
        who->owned.store(false, std::memory_order_relaxed);
        for (level_block* block = &who->first; block != nullptr; block = block->next.load())
            for (level& at : block->levels) {
                at.list.store(nullptr, std::memory_order_relaxed);
                at.slot.store(nullptr, std::memory_order_relaxed);
            }
    }
    lock_.unlock();
}

/// Writes at `place` that this thread is in `only`, then checks whether `named` still names it. Another
/// thread may take the name away, and then check `place` behind a heavy barrier. Either it finds this thread
/// there, or this thread finds no name. In the second case the result is false, with nothing written. (The
/// name may be that of another receiver at the same address. This does no harm: that one is called.)
template <class Store, class Place, class Named, class Slot>
[[gnu::always_inline]] inline bool enter_only(Place& place, const Named& named, Slot* only) {
    Store::store(place, static_cast<const void*>(only));
    if (named.load(std::memory_order_seq_cst) == only) [[likely]]
        return true;
    Store::store(place, static_cast<const void*>(nullptr));
    return false;
}

/// What an emission or a delivery writes at its level. `Store` is how: what the thread loads afterwards is
/// loaded after it, as seen by a thread that places a heavy barrier.
template <class Store>
class stay {
  public:
    [[gnu::always_inline]] explicit stay(level& at) : at_(at) {}
    // (What waited for the whole emission is checked once more, at its end.)
    [[gnu::always_inline]] ~stay() {
        if (swept_) [[unlikely]]
            at_.left_behind.store(true, std::memory_order_seq_cst);
    }
    stay(const stay&) = delete;
    stay& operator=(const stay&) = delete;

    /// The list that `from` names, which is kept until the end; null when it names none.
    template <class List>
    [[gnu::always_inline]] List* read(const std::atomic<List*>& from) const {
        List* list = from.load(std::memory_order_acquire);
        for (;;) {
            Store::store(at_.list, static_cast<const void*>(list));
            List* const now = from.load(std::memory_order_seq_cst);
            if (now == list) [[likely]]
                return list;
            list = now;  // what it named before may be gone already
        }
    }
    /// From here on this thread counts as being in `slot`. Load next what says whether it is connected.
    [[gnu::always_inline]] void enter(const void* slot) const { Store::store(at_.slot, slot); }
    /// From here on it does not any more. Load now which is the next. What waited for that only is released,
    /// such as a receiver that has disconnected itself.
    [[gnu::always_inline]] void leave() {
        Store::store(at_.slot, static_cast<const void*>(nullptr));
        if (at_.left_behind.load(std::memory_order_seq_cst)) [[unlikely]] {
            swept_ = true;
            clean_up(at_);
        }
    }

  private:
    // Counts as in a receiver of its own. So others do not wait for what is called here as for a thread that
    // is about to enter the next one.
    [[gnu::noinline, gnu::cold]] static void clean_up(level& at) {
        Store::store(at.slot, level::cleaning());
        at.left_behind.store(false, std::memory_order_seq_cst);
        domain::instance().sweep();
        Store::store(at.slot, static_cast<const void*>(nullptr));
    }

    level& at_;
    bool swept_ = false;
};

/// Its end. (A separate function, so that no function needs its address.) `with_list`: a list was read.
template <class Store, bool with_list>
class stay_end {
  public:
    [[gnu::always_inline]] explicit stay_end(level& at) : at_(at) {}
    [[gnu::always_inline]] ~stay_end() {
        Store::store(at_.slot, static_cast<const void*>(nullptr));
        if constexpr (with_list) Store::store(at_.list, static_cast<const void*>(nullptr));
        if (at_.left_behind.load(std::memory_order_seq_cst)) [[unlikely]]
            clean_up(at_);
    }
    stay_end(const stay_end&) = delete;
    stay_end& operator=(const stay_end&) = delete;

  private:
    [[gnu::noinline, gnu::cold]] static void clean_up(level& at) {
        at.left_behind.store(false, std::memory_order_seq_cst);
        domain::instance().sweep();
    }

    level& at_;
};

/// Where the kernel places barriers for this thread.
struct quick_store {
    [[gnu::always_inline]] static void store(std::atomic<const void*>& where, const void* value) {
        quick_machine::light_store(where, value);
    }
};
/// In all cases.
struct careful_store {
    static void store(std::atomic<const void*>& where, const void* value) { light_store(where, value); }
};

/// The thread whose first level this is, named as by `here`.
inline const void* thread_of(const level& first) {
    static_assert(std::is_standard_layout_v<thread_record> && offsetof(thread_record, first) == 0 &&
                  offsetof(level_block, levels) == 0);
    return &first;
}

/// A level of this thread for everything that does not go the shortest way.
class free_level {
  public:
    free_level() : mine_(here()), at_(take(*mine_)) {}
    ~free_level() {
        mine_->depth.store(mine_->depth.load(std::memory_order_relaxed) - 1, std::memory_order_release);
    }
    free_level(const free_level&) = delete;
    free_level& operator=(const free_level&) = delete;

    level& at() const { return at_; }

  private:
    static level& take(thread_record& mine) {
        // (Never the first. It counts as taken by its own content, so that the shortest way need not mark
        // it.)
        const unsigned depth = mine.depth.load(std::memory_order_relaxed) + 1;
        level_block* block = &mine.first;
        for (unsigned i = depth / level_block::size; i > 0; --i) {
            level_block* next = block->next.load(std::memory_order_relaxed);
            if (next == nullptr) {
                next = new level_block;
                block->next.store(next, std::memory_order_release);
            }
            block = next;
        }
        light_store(mine.depth, depth);
        return block->levels[depth % level_block::size];
    }

    thread_record* const mine_;
    level& at_;
};

/// A delivery of this thread to a receiver, from its beginning to its end.
class visit {
  public:
    explicit visit(const void* slot) : end_(level_.at()) {
        careful_store::store(level_.at().list, level::delivery());
        careful_store::store(level_.at().slot, slot);
    }

  private:
    free_level level_;
    stay_end<careful_store, true> end_;
};

}  // namespace silverpoint::signaling
