// What happens when the program fails: one record, time for the collector, and then what would have happened
// without the handler.
//
//   event ──▶ enter ─▶ walk ─▶ modules ─▶ write ─▶ drain ─▶ forward: the handler before ours, or the default
//                        └───────┴──────────┴────────┴─ a fault within one of them goes on with the next
//
// Only by means that work in a signal handler. A thread that fails while another one is handled waits. Which
// events there are, each system says (platform/crash_events.hpp).
#pragma once

#include <stdlib.h>

#include "crash_record.hpp"

SP_DETAIL_BEGIN

// --- State.

enum CrashStage : std::uint32_t { kWalking = 1, kModules, kWriting, kDraining, kForwarding };

// In pages that the kernel wipes in a forked child: a parent's crash does not concern it.
struct CrashState {
    Word owner;  // thread that is being handled
    Word stage;
    Word has_kept;
    Word records;
    CrashRing kept;
    Crash crash;
    StackTrace stack;
    Interrupted from;
    char buffer[kCrashMost];
};

// A program that lives on after so many crashes has other plans with its signals.
inline constexpr std::uint32_t kCrashRecordsMost = 16;

struct CrashSettings {
    std::atomic<CrashState*> state{nullptr};
    std::atomic<std::uint32_t> wait_ms{3000};
    // Waits until the logger has delivered what was recorded; null without one.
    std::atomic<int (*)(std::uint64_t)> drain{nullptr};
};
inline constinit CrashSettings crash_settings;

// This thread has recorded why it ends: the abort that follows is no other crash.
inline thread_local constinit bool tls_crash_told SP_DETAIL_THREAD_MODEL = false;

SP_DETAIL_COLD CrashState* crash_state() {
    CrashState* known = crash_settings.state.load(std::memory_order_acquire);
    if (known != nullptr) return known;
    constexpr std::size_t size = (sizeof(CrashState) + 4095) & ~std::size_t{4095};
    void* const made = map_private(size);
    if (made == nullptr) return nullptr;
    wipe_on_fork(made, size);
    if (crash_settings.state.compare_exchange_strong(known, static_cast<CrashState*>(made),
                                                     std::memory_order_acq_rel))
        return static_cast<CrashState*>(made);
    unmap(made, size);
    return known;
}

enum class Entered { kFirst, kAgain, kNever };

// Makes the calling thread the one that is handled. kAgain: it is already, and has failed within; kNever:
// another one does not come to an end.
SP_DETAIL_COLD Entered enter_crash(CrashState& state, std::uint32_t tid) {
    const std::uint32_t patience = crash_settings.wait_ms.load(std::memory_order_relaxed) + 2000;
    for (std::uint32_t waited = 0; waited < patience; ++waited) {
        std::uint32_t owner = 0;
        if (state.owner.compare_exchange_strong(owner, tid, std::memory_order_acq_rel))
            return Entered::kFirst;
        if (owner == tid) return Entered::kAgain;
        sleep_ns(1'000'000);
    }
    return Entered::kNever;
}

SP_DETAIL_COLD void leave_crash(CrashState& state) {
    state.stage.store(0, std::memory_order_relaxed);
    state.owner.store(0, std::memory_order_release);
}

// Reserves a ring for the next record.
SP_DETAIL_COLD void keep_crash_ring(CrashState& state) {
    if (state.has_kept.load(std::memory_order_acquire) != 0) return;
    state.kept = reserve_crash_ring();
    if (state.kept.ring) state.has_kept.store(1, std::memory_order_release);
}

// --- The work.

SP_DETAIL_COLD void write_crash(CrashState& state) {
    if (state.records.fetch_add(1, std::memory_order_relaxed) >= kCrashRecordsMost) return;
    if (!ensure_session() || !register_crash_site()) return;
    const CrashRing kept =
        state.has_kept.exchange(0, std::memory_order_acq_rel) != 0 ? state.kept : reserve_crash_ring();
    if (kept.ring) {
        write_crash(kept, state.crash, state.stack, state.buffer);
    } else {
        count_session_loss(Cause::kNoMemory);
    }
}

// From a stage on. `walk` makes the stack.
template <class WalkStack>
SP_DETAIL_COLD void work_crash(CrashState& state, std::uint32_t stage, WalkStack walk) {
    const auto begin = [&state, stage](CrashStage next) {
        if (stage > next) return false;
        state.stage.store(next, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        return true;
    };
    if (begin(kWalking)) walk();
    if (begin(kModules)) {
        // A walk that failed halfway still knows how far it got.
        if (!state.stack.has_begun && state.from.pc != 0) guess_stack(state.stack, state.from);
        find_modules(state.stack);
    }
    if (begin(kWriting)) write_crash(state);
    if (begin(kDraining)) {
        if (auto* const drain = crash_settings.drain.load(std::memory_order_acquire))
            drain(crash_settings.wait_ms.load(std::memory_order_relaxed));
    }
    begin(kForwarding);
}

// --- Callers.

// An event that has interrupted the calling thread: `describe` fills `state.from` and `state.crash`. True:
// our own code has failed within. Then the rest was done for the original reason, whose number is `first`.
template <class Describe>
SP_DETAIL_COLD bool record_event(CrashState& state, int& first, const Describe& describe) {
    const Entered entered = enter_crash(state, thread_id());
    if (entered == Entered::kNever) return false;
    const bool is_again = entered == Entered::kAgain;
    if (!is_again) describe();
    first = state.crash.signal;
    const std::uint32_t stage = is_again ? state.stage.load(std::memory_order_relaxed) + 1 : kWalking;
    work_crash(state, stage, [&state] { walk_interrupted(state.stack, state.from); });
    leave_crash(state);
    return is_again;
}

// A crash that is no event: `describe` fills `state.crash`. The stack begins at the frame with this return
// address.
template <class Describe>
SP_DETAIL_COLD void record_crash(std::uint64_t from, Describe describe) {
    const SystemGuard guard;
    CrashState* const known = crash_state();
    if (known == nullptr || enter_crash(*known, thread_id()) != Entered::kFirst) return;
    CrashState& state = *known;
    state.from = {};
    describe(state.crash);
    work_crash(state, kWalking, [&] { walk_stack(state.stack, from); });
    tls_crash_told = true;
    leave_crash(state);
}

// --- Installing.

// Prepares room, and everything that is loaded at its first use. False: no memory, or no session.
SP_DETAIL_COLD bool prepare_for_crashes(std::uint32_t wait_ms) {
    CrashState* const state = crash_state();
    if (state == nullptr || !ensure_session() || !register_crash_site()) return false;
    crash_settings.wait_ms.store(wait_ms, std::memory_order_relaxed);
    if (enter_crash(*state, thread_id()) == Entered::kFirst) {
        prepare_stack(state->stack);
        keep_crash_ring(*state);
        leave_crash(*state);
    }
    give_crash_stack();
    on_first_record.store(&give_crash_stack, std::memory_order_release);
    return true;
}

// The stack begins at the frame with the return address `from`.
[[noreturn]] SP_DETAIL_COLD void fail_check(std::uint64_t from, std::string_view condition, const char* file,
                                            unsigned line) {
    record_crash(from, [&](Crash& crash) {
        crash.begin("check");
        crash.what.add("check failed: ").add(condition.data(), condition.size());
        crash.where.add(file).add(":").number(line);
    });
    if (crash_settings.drain.load(std::memory_order_acquire) == nullptr) {
        // The record is not shown anywhere now.
        Text<390> text;
        text.add(file).add(":").number(line).add(": check failed: ").add(condition.data(), condition.size());
        warn(text.c_str());
    }
    abort();
}

SP_DETAIL_END
