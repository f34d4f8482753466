// Who is inside which receiver right now: what lets a connection end, and its receiver die, while signals are
// emitted.
//
// Each thread that emits or delivers has a record. Going into an emission it writes there which signal's list
// it reads, and before each call which receiver it is in; these are plain stores into memory of its own.
// Whoever disconnects marks the receiver, then looks through all records (behind a heavy barrier) and waits
// for the threads that are in it. So `disconnect` promises that the receiver is not running and will not run,
// and emitting stays cheap.
//
// Two waits are left out, since they would last for ever: for the calling thread itself, and for one that
// waits, over however many others, for the calling thread. What is still in use then is kept until those
// calls have returned. (A thread may miss, as its call returns, that something is kept for it: that is then
// released at the next disconnection anywhere.)
#pragma once

#include <pthread.h>

#include <cstdint>
#include <mutex>
#include <vector>

#include "barrier.hpp"

namespace silverpoint::signaling {

/// One level of emission of a thread: a slot that emits is called at the level above.
struct level {
    std::atomic<std::uint64_t> list{0};      ///< the signal whose list is being read, and a count; 0: none
    std::atomic<const void*> slot{nullptr};  ///< the receiver that is being called
};

struct level_block {
    static constexpr unsigned size = 16;
    level levels[size];
    std::atomic<level_block*> next{nullptr};  // kept for the thread's next deep nesting
};

struct thread_record {
    level_block first;
    unsigned depth = 0;        // of the owner alone
    std::uint32_t count = 0;   // of the owner alone
    std::uint64_t thread = 0;  // of the owner alone: which thread it is, never the same again
    std::atomic<bool> owned{true};
    std::atomic<bool> left_behind{false};  ///< something waits for calls of this thread to return
    // Under the domain's lock: whom this thread waits for to leave which receiver, at which level. A thread
    // that has left it is not waited for any more, though the one that waits may not have seen it.
    thread_record* waits_for = nullptr;
    const level* waits_at = nullptr;
    const void* waits_in = nullptr;
    thread_record* next = nullptr;  // never changes once it is in the list
};

/// What is freed, or called, when nobody uses it any more.
struct garbage {
    void (*release)(void*) = nullptr;
    void* what = nullptr;
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
                return at;
            }
        auto* fresh = new thread_record;
        fresh->thread = ++threads_;
        fresh->next = records_.load(std::memory_order_relaxed);
        records_.store(fresh, std::memory_order_release);
        return fresh;
    }

    /// Returns when no thread is in `slot` but the caller itself and those that wait for it. The slot has
    /// been marked, so that nobody goes into it any more. `done` is released then, or when those have left it
    /// too: false.
    bool leave_slot(const void* slot, garbage done, thread_record* me) {
        heavy_barrier();
        std::vector<use> others, kept;
        {
            const std::lock_guard hold(lock_);
            for_each_level([&](thread_record* who, level& at) {
                if (at.slot.load(std::memory_order_seq_cst) == slot)
                    (who == me ? kept : others).push_back({who, &at});
            });
        }
        for (const use& other : others)
            if (!wait(other, slot, me)) kept.push_back(other);
        if (!kept.empty()) {
            keep(done, kept, slot);
            return false;
        }
        done.release(done.what);
        return true;
    }

    /// Releases `done` when no emission that is under way can still read the list of `signal`; waits for
    /// nobody.
    void leave_list(std::uint32_t signal, garbage done) {
        heavy_barrier();
        {
            const std::lock_guard hold(lock_);
            pending waiting{done, {}};
            for_each_level([&](thread_record* who, level& at) {
                const std::uint64_t seen = at.list.load(std::memory_order_seq_cst);
                if (seen >> 32 != signal) return;
                waiting.until.push_back({&at.list, seen, nullptr, nullptr});
                who->left_behind.store(true, std::memory_order_relaxed);
            });
            limbo_.push_back(std::move(waiting));
        }
        sweep();
    }

    /// Releases what nobody uses any more. False when something is kept still.
    bool sweep() {
        for (;;) {
            garbage free;
            {
                const std::lock_guard hold(lock_);
                std::size_t i = 0;
                while (i < limbo_.size() && !limbo_[i].over()) ++i;
                if (i == limbo_.size()) return limbo_.empty();
                free = limbo_[i].done;
                if (i + 1 != limbo_.size()) limbo_[i] = std::move(limbo_.back());
                limbo_.pop_back();
            }
            // Without the lock: what is released may disconnect others, or take locks of its own. One by one:
            // whoever waits for another of them finds it, and releases it himself.
            free.release(free.what);
        }
    }

    std::uint32_t new_signal() {
        std::uint32_t number = 0;
        while (number == 0) number = signals_.fetch_add(1, std::memory_order_relaxed) + 1;
        return number;
    }

    /// What is still kept for calls that have not returned (for tests).
    std::size_t kept() {
        const std::lock_guard hold(lock_);
        return limbo_.size();
    }

  private:
    struct use {
        thread_record* who;
        level* at;
    };
    struct condition {
        std::atomic<std::uint64_t>* list;
        std::uint64_t seen;
        std::atomic<const void*>* in;
        const void* slot;
        bool over() const {
            return list != nullptr ? list->load(std::memory_order_acquire) != seen
                                   : in->load(std::memory_order_acquire) != slot;
        }
    };
    struct pending {
        garbage done;
        std::vector<condition> until;
        bool over() const {
            for (const condition& one : until)
                if (!one.over()) return false;
            return true;
        }
    };

    domain() {
        settle_barriers();
        // A child has none of its parent's other threads: nobody may wait for them.
        pthread_atfork([] { instance().lock_.lock(); }, [] { instance().lock_.unlock(); },
                       [] { instance().forget_others(); });
    }

    template <class Function>
    void for_each_level(Function&& function) {
        for (thread_record* who = records_.load(std::memory_order_acquire); who != nullptr; who = who->next)
            for (level_block* block = &who->first; block != nullptr;
                 block = block->next.load(std::memory_order_acquire))
                for (level& at : block->levels) function(who, at);
    }

    static const thread_record* awaited(const thread_record& by) {
        if (by.waits_for == nullptr || by.waits_at->slot.load(std::memory_order_acquire) != by.waits_in)
            return nullptr;
        return by.waits_for;
    }

    // False when `other` waits for this thread.
    bool wait(const use& other, const void* slot, thread_record* me) {
        backoff turn;
        bool told = false;
        while (other.at->slot.load(std::memory_order_acquire) == slot) {
            if (!told) {
                const std::lock_guard hold(lock_);
                for (const thread_record* at = other.who; at != nullptr; at = awaited(*at))
                    if (at == me) return false;
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

    void keep(garbage done, const std::vector<use>& uses, const void* slot) {
        const std::lock_guard hold(lock_);
        pending waiting{done, {}};
        for (const use& one : uses) {
            waiting.until.push_back({nullptr, 0, &one.at->slot, slot});
            one.who->left_behind.store(true, std::memory_order_relaxed);
        }
        limbo_.push_back(std::move(waiting));
    }

    void forget_others();

    std::mutex lock_;
    std::atomic<thread_record*> records_{nullptr};
    std::uint64_t threads_ = 0;  // under the lock
    std::vector<pending> limbo_;
    std::atomic<std::uint32_t> signals_{0};
};

/// This thread's record; made at its first emission.
SP_SIGNAL_SHARED inline thread_local constinit thread_record* this_thread = nullptr;

[[gnu::noinline, gnu::cold]] inline thread_record* join_domain() {
    // Gives the record back when the thread ends. An emission after that (in another destructor of the
    // thread) takes a record that stays taken.
    struct membership {
        ~membership() {
            if (this_thread != nullptr) this_thread->owned.store(false, std::memory_order_release);
            this_thread = nullptr;
        }
    };
    static thread_local membership mine;
    static_cast<void>(mine);
    return this_thread = domain::instance().claim();
}

inline thread_record* here() {
    thread_record* const mine = this_thread;
    return mine != nullptr ? mine : join_domain();
}

inline void domain::forget_others() {
    for (thread_record* who = records_.load(); who != nullptr; who = who->next) {
        who->waits_for = nullptr;
        if (who == this_thread) continue;
        who->depth = 0;
        who->owned.store(false, std::memory_order_relaxed);
        for (level_block* block = &who->first; block != nullptr; block = block->next.load())
            for (level& at : block->levels) {
                at.list.store(0, std::memory_order_relaxed);
                at.slot.store(nullptr, std::memory_order_relaxed);
            }
    }
    lock_.unlock();
}

[[gnu::noinline, gnu::cold]] inline level& deep_level(thread_record& mine) {
    level_block* block = &mine.first;
    for (unsigned i = mine.depth / level_block::size; i > 0; --i) {
        level_block* next = block->next.load(std::memory_order_relaxed);
        if (next == nullptr) {
            next = new level_block;
            block->next.store(next, std::memory_order_release);
        }
        block = next;
    }
    return block->levels[mine.depth % level_block::size];
}

/// An emission or a delivery of this thread, from its beginning to its end.
class frame {
  public:
    /// `signal`: the number of the signal whose list is read, 0 for a delivery, which reads none.
    explicit frame(std::uint32_t signal)
        : mine_(here()),
          depth_(mine_->depth),
          at_(depth_ < level_block::size ? mine_->first.levels[depth_] : deep_level(*mine_)) {
        mine_->depth = depth_ + 1;
        if (signal != 0) light_store(at_.list, std::uint64_t{signal} << 32 | ++mine_->count);
    }
    ~frame() {
        at_.slot.store(nullptr, std::memory_order_release);
        at_.list.store(0, std::memory_order_release);
        // Not counted down: a load would wait for the store of the constructor.
        mine_->depth = depth_;
        if (mine_->left_behind.load(std::memory_order_relaxed)) [[unlikely]]
            clean_up(mine_);
    }
    frame(const frame&) = delete;
    frame& operator=(const frame&) = delete;

    /// From here on this thread counts as being in `slot`; what says whether it is connected is to be loaded
    /// next.
    void enter(const void* slot) { light_store(at_.slot, slot); }

  private:
    [[gnu::noinline, gnu::cold]] static void clean_up(thread_record* mine) {
        mine->left_behind.store(false, std::memory_order_relaxed);
        // What waits for the calls below this one is looked at again when they return.
        if (!domain::instance().sweep() && mine->depth > 0)
            mine->left_behind.store(true, std::memory_order_relaxed);
    }

    thread_record* const mine_;
    const unsigned depth_;
    level& at_;
};

}  // namespace silverpoint::signaling
