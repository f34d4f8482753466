// What happens when the program fails: one record, time for the collector, and then what would have happened
// without the handler.
//
//   signal ──▶ enter ─▶ walk ─▶ modules ─▶ write ─▶ drain ─▶ forward: the handler before ours, or the default
//                         └───────┴──────────┴────────┴─ a fault within one of them goes on with the next
//
// Only async-signal-safe means, on a stack of its own. A thread that fails while another one is handled
// waits.
#pragma once

#include <stdlib.h>

#include "crash_record.hpp"

SP_DETAIL_BEGIN

// --- Stacks for handlers, so that one can run when a thread's own stack is used up.

struct AlternateStack {
    Long owner{0};  // process << 32 | thread; 0: unused
    std::atomic<char*> memory{nullptr};
};
inline constexpr unsigned kAlternateStacks = 4096;
inline constexpr std::size_t kAlternateBytes = 64u << 10;
inline constinit AlternateStack alternate_stacks[kAlternateStacks];
inline constinit Word alternate_stacks_used{0};

// An entry of a thread that is gone, or a new one; null when there are too many threads.
SP_DETAIL_COLD AlternateStack* claim_alternate_stack() {
    static constinit Word cursor{0};
    const std::uint64_t process = static_cast<std::uint32_t>(getpid());
    const std::uint64_t self = process << 32 | thread_id();
    std::uint32_t count = alternate_stacks_used.load(std::memory_order_acquire);
    if (count > kAlternateStacks) count = kAlternateStacks;
    for (unsigned looked = 0; looked < 8 && looked < count; ++looked) {
        AlternateStack& entry = alternate_stacks[cursor.fetch_add(1, std::memory_order_relaxed) % count];
        std::uint64_t owner = entry.owner.load(std::memory_order_acquire);
        // An entry of a parent's thread may be in use here: by the thread that forked.
        if (owner >> 32 != process || entry.memory.load(std::memory_order_acquire) == nullptr) continue;
        if (owner != self && !is_thread_dead(static_cast<std::uint32_t>(owner))) continue;
        if (entry.owner.compare_exchange_strong(owner, self, std::memory_order_acq_rel)) return &entry;
    }
    const std::uint32_t number = alternate_stacks_used.fetch_add(1, std::memory_order_acq_rel);
    if (number >= kAlternateStacks) {
        alternate_stacks_used.store(kAlternateStacks, std::memory_order_relaxed);
        return nullptr;
    }
    AlternateStack& entry = alternate_stacks[number];
    entry.owner.store(self, std::memory_order_release);
    return &entry;
}

// Gives the calling thread a stack for handlers, unless it has one that is large enough.
SP_DETAIL_COLD void give_alternate_stack() {
    const SystemGuard guard;
    stack_t now{};
    if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_ONSTACK) != 0 ||
        ((now.ss_flags & SS_DISABLE) == 0 && now.ss_size >= kAlternateBytes / 2))
        return;
    AlternateStack* entry = claim_alternate_stack();
    if (entry == nullptr) return;
    // What the kernel puts there grows with the processor's registers.
    const std::size_t size = kAlternateBytes + ((getauxval(AT_MINSIGSTKSZ) + 4095) & ~std::size_t{4095});
    char* memory = entry->memory.load(std::memory_order_acquire);
    if (memory == nullptr) {
        void* made = mmap(nullptr, size + 4096, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (made == MAP_FAILED) return;
        mprotect(made, 4096, PROT_NONE);
        memory = static_cast<char*>(made) + 4096;
        entry->memory.store(memory, std::memory_order_release);
    }
    stack_t given{};
    given.ss_sp = memory;
    given.ss_size = size;
    sigaltstack(&given, nullptr);
}

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
    siginfo_t info;
    char buffer[kCrashMost];
};

inline constexpr int kSignals = 32;
// A program that lives on after so many crashes has other plans with its signals.
inline constexpr std::uint32_t kCrashRecordsMost = 16;

struct CrashSettings {
    std::atomic<CrashState*> state{nullptr};
    std::atomic<std::uint32_t> wait_ms{3000};
    // Waits until the logger has delivered what was recorded; null without one.
    std::atomic<int (*)(std::uint64_t)> drain{nullptr};
    struct sigaction before[kSignals] = {};
    bool is_ours[kSignals] = {};
};
inline constinit CrashSettings crash_settings;

// This thread has recorded why it ends: the abort that follows is no other crash.
inline thread_local constinit bool tls_crash_told SP_DETAIL_THREAD_MODEL = false;
// The stack's position when the previous handler was called; 0: none is called.
inline thread_local constinit std::uintptr_t tls_forwarded SP_DETAIL_THREAD_MODEL = 0;

SP_DETAIL_COLD CrashState* crash_state() {
    CrashState* known = crash_settings.state.load(std::memory_order_acquire);
    if (known != nullptr) return known;
    constexpr std::size_t size = (sizeof(CrashState) + 4095) & ~std::size_t{4095};
    void* made = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) return nullptr;
    madvise(made, size, MADV_WIPEONFORK);
    if (crash_settings.state.compare_exchange_strong(known, static_cast<CrashState*>(made),
                                                     std::memory_order_acq_rel))
        return static_cast<CrashState*>(made);
    munmap(made, size);
    return known;
}

SP_DETAIL_COLD void sleep_1ms() {
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
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
        sleep_1ms();
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

// --- What would have happened without the handler.

// Ends the process as the signal does by default: at once, or with `again` when the faulting instruction is
// executed again. Then its own registers are in the core dump.
SP_DETAIL_COLD void end_by_default(int signal, siginfo_t* info, bool again) {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
    if (again) return;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), thread_id(), signal, info) != 0)
        syscall(SYS_tgkill, getpid(), thread_id(), signal);
}

SP_DETAIL_COLD bool is_fault(int signal, const siginfo_t* info) {
    return info->si_code > 0 &&
           (signal == SIGSEGV || signal == SIGILL || signal == SIGFPE ||
            (signal == SIGBUS && info->si_code != 5 /* BUS_MCEERR_AO: somewhere else */));
}

// Whether the previous handler was interrupted. (One that has left by a jump no longer counts.)
SP_DETAIL_COLD bool is_within_forwarded(const void* context) {
    const std::uintptr_t stack = interrupted_by(context).stack;
    return tls_forwarded != 0 && stack < tls_forwarded && tls_forwarded - stack < kAlternateBytes * 4;
}

// The previous handler, else the default.
SP_DETAIL_COLD void forward_crash(int signal, siginfo_t* info, void* context) {
    struct sigaction& before = crash_settings.before[signal];
    const bool has_info = (before.sa_flags & SA_SIGINFO) != 0;
    // A handler that has failed itself is not called again.
    const bool is_within = is_within_forwarded(context);
    if (!has_info && before.sa_handler == SIG_IGN && !is_fault(signal, info)) return;
    if (is_within || (!has_info && (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN)))
        return end_by_default(signal, info, is_fault(signal, info) && !is_within);
    const struct sigaction action = before;
    if ((action.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) before = {};
    sigset_t block = action.sa_mask, restored;
    if ((action.sa_flags & SA_NODEFER) == 0) sigaddset(&block, signal);
    sigprocmask(SIG_BLOCK, &block, &restored);
    tls_forwarded = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    if (has_info) {
        action.sa_sigaction(signal, info, context);
    } else {
        action.sa_handler(signal);
    }
    tls_forwarded = 0;
    sigprocmask(SIG_SETMASK, &restored, nullptr);
}

// --- Callers.

SP_DETAIL_COLD void on_crash_signal(int signal, siginfo_t* info, void* context) {
    const SystemGuard guard;
    CrashState* const known = crash_settings.state.load(std::memory_order_acquire);
    const struct sigaction& before = crash_settings.before[signal];
    const bool is_ignored = (before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_IGN &&
                            !is_fault(signal, info) &&
                            // An abort cannot be ignored.
                            (signal != SIGABRT || info->si_pid != getpid());
    if (is_ignored) return;
    // What follows a crash that is recorded already: the abort of a check or of the previous handler, and
    // that handler's own faults.
    const bool is_told = tls_crash_told || is_within_forwarded(context);
    if (known == nullptr || is_told) return forward_crash(signal, info, context);
    CrashState& state = *known;
    const auto walk = [&state] { walk_interrupted(state.stack, state.from); };
    switch (enter_crash(state, thread_id())) {
        case Entered::kFirst:
            state.info = *info;
            state.from = interrupted_by(context);
            state.crash.where.cut(0);
            describe_signal(state.crash, signal, info);
            work_crash(state, kWalking, walk);
            leave_crash(state);
            break;
        case Entered::kAgain: {
            // A fault of our own code: continue with the rest, for the original reason.
            const int first = state.crash.signal;
            work_crash(state, state.stage.load(std::memory_order_relaxed) + 1, walk);
            leave_crash(state);
            if (first != 0) return end_by_default(first, &state.info, false);
            break;
        }
        case Entered::kNever:
            break;
    }
    forward_crash(signal, info, context);
}

// A crash that is no signal: `describe` fills `state.crash`. The stack begins at the frame with this return
// address.
template <class Describe>
SP_DETAIL_COLD void record_crash(std::uint64_t from, Describe describe) {
    const SystemGuard guard;
    CrashState* const known = crash_state();
    if (known == nullptr || enter_crash(*known, thread_id()) != Entered::kFirst) return;
    CrashState& state = *known;
    state.from = {};
    state.crash.signal = state.crash.code = 0;
    state.crash.has_address = false;
    state.crash.sender = 0;
    state.crash.what.cut(0);
    state.crash.where.cut(0);
    describe(state.crash);
    work_crash(state, kWalking, [&] { walk_stack(state.stack, from); });
    tls_crash_told = true;
    leave_crash(state);
}

SP_DETAIL_COLD void take_signal(int signal) {
    if (crash_settings.is_ours[signal]) return;
    struct sigaction now {};
    if (sigaction(signal, nullptr, &now) != 0) return;
    // A program that ignores it wants to live.
    const bool is_ignored = (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_IGN;
    if (signal == SIGTERM && is_ignored) return;
    struct sigaction action {};
    action.sa_sigaction = &on_crash_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    // A fault of the handler's own comes back to it; other signals wait until it is done.
    sigfillset(&action.sa_mask);
    for (const int fatal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP})
        sigdelset(&action.sa_mask, fatal);
    crash_settings.before[signal] = now;
    crash_settings.is_ours[signal] = true;
    if (sigaction(signal, &action, nullptr) != 0) crash_settings.is_ours[signal] = false;
}

// Has a handler called after ours, in place of the previous one: the signal may be ours already. Otherwise
// take_signal makes it so.
SP_DETAIL_COLD void take_signal_after_crash(int signal, const struct sigaction& action) {
    struct sigaction now {};
    if (sigaction(signal, nullptr, &now) != 0) return;
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == &on_crash_signal) {
        crash_settings.before[signal] = action;
    } else if (sigaction(signal, &action, nullptr) == 0) {
        crash_settings.is_ours[signal] = false;
    }
}

// --- Installing.

// Prepares room, and everything that is loaded at its first use. False: no memory, or no session.
SP_DETAIL_COLD bool prepare_for_crashes(std::uint32_t wait_ms) {
    CrashState* const state = crash_state();
    if (state == nullptr || !ensure_session() || !register_crash_site()) return false;
    crash_settings.wait_ms.store(wait_ms, std::memory_order_relaxed);
    if (enter_crash(*state, thread_id()) == Entered::kFirst) {
        prepare_stack(state->stack);
        find_abort_message();
        keep_crash_ring(*state);
        leave_crash(*state);
    }
    give_alternate_stack();
    on_first_record.store(&give_alternate_stack, std::memory_order_release);
    return true;
}

struct CrashSignal {
    bool is_wanted;
    int signal;
};
template <std::size_t Length>
void take_crash_signals(const CrashSignal (&all)[Length]) {
    for (const auto& [is_wanted, signal] : all)
        if (is_wanted) take_signal(signal);
}

// The stack begins at the frame with the return address `from`.
[[noreturn]] SP_DETAIL_COLD void fail_check(std::uint64_t from, std::string_view condition, const char* file,
                                            unsigned line) {
    record_crash(from, [&](Crash& crash) {
        crash.cause = "check";
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
