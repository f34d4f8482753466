// Crashes on Linux: fatal signals.
//
//   signal ──▶ enter ─▶ work_crash ─▶ forward: the handler before ours, or the default
#pragma once

#include <signal.h>

#include "../../detail/crash_handler.hpp"
#include "abort_message.hpp"
#include "signals.hpp"

SP_DETAIL_BEGIN

inline constexpr int kSignals = 32;
struct CrashSignals {
    struct sigaction before[kSignals] = {};
    bool is_ours[kSignals] = {};
    // Of the signal that is handled.
    siginfo_t info = {};
};
inline constinit CrashSignals crash_signals;

// The stack's position when the previous handler was called; 0: none is called.
inline thread_local constinit std::uintptr_t tls_forwarded SP_DETAIL_THREAD_MODEL = 0;

// Describes a signal by its information.
SP_DETAIL_COLD void describe_signal(Crash& crash, int signal, const siginfo_t* info) {
    crash.begin("signal");
    crash.signal = signal;
    crash.name = signal_name(signal);
    crash.code = info->si_code;
    crash.code_name = code_name(signal, info->si_code);
    const bool is_fault = signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
                          signal == SIGTRAP || signal == SIGSYS;
    crash.has_address = is_fault && info->si_code > 0;
    if (crash.has_address) crash.address = reinterpret_cast<std::uint64_t>(info->si_addr);
    if (info->si_code <= 0) crash.sender = static_cast<std::uint32_t>(info->si_pid);
    crash.what.add(crash.name);
    // A signal that another process sends has no message.
    const bool is_own_abort = signal == SIGABRT && info->si_code <= 0 && info->si_pid == getpid();
    if (is_own_abort && add_abort_message(crash.what, ": ")) return;
    if (*crash.code_name != 0) crash.what.add(" (").add(crash.code_name).add(")");
    if (crash.has_address) {
        crash.what.add(signal == SIGSYS ? " at call " : " at address ");
        add_hex(crash.what, crash.address);
    } else if (crash.sender != 0) {
        crash.what.add(" sent by process ").number(crash.sender);
    }
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
    struct sigaction& before = crash_signals.before[signal];
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
    const struct sigaction& before = crash_signals.before[signal];
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
    int first = 0;
    const bool is_again = record_event(state, first, [&] {
        crash_signals.info = *info;
        state.from = interrupted_by(context);
        describe_signal(state.crash, signal, info);
    });
    if (is_again && first != 0) return end_by_default(first, &crash_signals.info, false);
    forward_crash(signal, info, context);
}

SP_DETAIL_COLD void take_signal(int signal) {
    if (crash_signals.is_ours[signal]) return;
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
    crash_signals.before[signal] = now;
    crash_signals.is_ours[signal] = true;
    if (sigaction(signal, &action, nullptr) != 0) crash_signals.is_ours[signal] = false;
}

// Has a handler called after ours, in place of the previous one: the signal may be ours already. Otherwise
// take_signal makes it so.
SP_DETAIL_COLD void take_signal_after_crash(int signal, const struct sigaction& action) {
    struct sigaction now {};
    if (sigaction(signal, nullptr, &now) != 0) return;
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == &on_crash_signal) {
        crash_signals.before[signal] = action;
    } else if (sigaction(signal, &action, nullptr) == 0) {
        crash_signals.is_ours[signal] = false;
    }
}

// --- Installing.

// Adds signals to those that make a record.
template <class Options>
void take_crashes(const Options& options) {
    find_abort_message();
    const struct {
        bool is_wanted;
        int signal;
    } all[] = {{options.segv, SIGSEGV}, {options.bus, SIGBUS},   {options.ill, SIGILL},
               {options.fpe, SIGFPE},   {options.abrt, SIGABRT}, {options.sys, SIGSYS},
               {options.trap, SIGTRAP}, {options.term, SIGTERM}};
    for (const auto& [is_wanted, signal] : all)
        if (is_wanted) take_signal(signal);
}

SP_DETAIL_END
