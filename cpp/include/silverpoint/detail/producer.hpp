// The producer's half of its protocol with the collector, and with threads that want its slice
// (spec/wire.md, section 4).
//
// The steps are a template over their atomics. Programs run them on those of the machine. The test
// producer_model_test runs the same code in every order that a weak memory allows.
//
//   producer                              collector
//   bytes, publish ─────────────────────▶ committed (acquire), copies, consumed (release)
//   lower ◀─────────────────────────────┘ then: fence, waiting? ─▶ wake + 1
//   publish, fence, sleeping? ─▶ doorbell  sleeping = 1, fence, committed? ─▶ sleeps on the doorbell
//   wait: waiting = 1, fence, room? ─▶ sleeps on wake
//   give_up: oldest, fence, overwrites    copies, fence, oldest again ─▶ discards what lies before it
//
// Each pair of fences is for one question: of the two sides, at least one sees the other's store.
#pragma once

#include "session.hpp"

SP_DETAIL_BEGIN

// What the steps run on in a program.
struct Host {
    template <class T>
    using atomic = std::atomic<T>;
    SP_DETAIL_HOT static void full_fence() { detail::full_fence(); }
};

template <class Machine>
struct RingSteps {
    using Word32 = typename Machine::template atomic<std::uint32_t>;
    using Word64 = typename Machine::template atomic<std::uint64_t>;

    // Every byte before `end` is written: release, so that who reads the position reads the bytes.
    SP_DETAIL_HOT static void publish(Word64& committed, std::uint64_t end) {
        committed.store(end, std::memory_order_release);
    }

    // Everything before this is stored, or given up, and its room may be written again. Acquire: the
    // collector has copied the bytes before it says so.
    static std::uint64_t lower(const Word64& consumed, const Word64& oldest) {
        const std::uint64_t stored = consumed.load(std::memory_order_acquire);
        const std::uint64_t given_up = oldest.load(std::memory_order_relaxed);
        return stored > given_up ? stored : given_up;
    }

    // Bytes before `position` are overwritten from here on. A reader that has copied such bytes sees it.
    static void give_up(Word64& oldest, std::uint64_t position) {
        oldest.store(position, std::memory_order_relaxed);
        Machine::full_fence();
    }

    // After a position was published: whether the collector may be asleep without having seen it.
    static bool is_asleep(const Word32& sleeping) {
        Machine::full_fence();
        return sleeping.load(std::memory_order_relaxed) != 0;
    }

    // Sleeps once, unless there is room. The value of `wake` is read first: a wake-up after that ends the
    // sleep, or prevents it.
    template <class HasRoom, class Sleep>
    static void wait(Word32& waiting, const Word32& wake, HasRoom&& has_room, Sleep&& sleep) {
        const std::uint32_t value = wake.load(std::memory_order_acquire);
        waiting.store(1, std::memory_order_relaxed);
        Machine::full_fence();
        if (!has_room()) sleep(value);
        waiting.store(0, std::memory_order_relaxed);
    }

    // The state word of a slice if it may be taken over, else kRingClaiming. The word is read before the
    // positions: if another thread has had the slice in between, the word's count of adoptions has changed.
    template <class IsAdoptable>
    static std::uint32_t adoptable_state(const Word32& state, IsAdoptable&& is_adoptable) {
        const std::uint32_t word = state.load(std::memory_order_acquire);
        return is_adoptable(word & kRingStateMask) ? word : kRingClaiming;
    }

    // Takes a slice over from the state word with which it was found adoptable. Others may have owned it in
    // between and left it in the same state, with uncollected records: the count shows that.
    static bool take_over(Word32& state, std::uint32_t word) {
        const bool is_adoption = (word & kRingStateMask) != kRingFree;
        const std::uint32_t count = (word & ~kRingStateMask) + (is_adoption ? kRingAdoption : 0);
        return state.compare_exchange_strong(word, count | kRingClaiming, std::memory_order_acq_rel);
    }

    // After take_over: whether the collector gives back the memory of the slice, or has (kReturned). The
    // fence pairs with the collector's: either this sees its word, or it sees that the slice was taken.
    static std::uint32_t look_at_memory(const Word32& returned) {
        Machine::full_fence();
        return returned.load(std::memory_order_acquire);
    }

    // By the owner or claimer of the slice: no other thread changes the word then.
    static void set_state(Word32& state, std::uint32_t to) {
        state.store((state.load(std::memory_order_relaxed) & ~kRingStateMask) | to,
                    std::memory_order_release);
    }
};

using Steps = RingSteps<Host>;

SP_DETAIL_END
