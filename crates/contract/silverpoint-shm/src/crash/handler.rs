//! The handler of signals, and what comes after it.

use std::cell::{Cell, UnsafeCell};
use std::ffi::{c_int, c_void};
use std::mem::{MaybeUninit, size_of, transmute, zeroed};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering, compiler_fence};
use std::time::Duration;

use super::Options;
use super::record::Crash;
use super::stack::{self, Interrupted, Stack};
use super::{abort_message, alternate};
use crate::owner::crash_ring::{self, Kept, RECORD_MAX};
use crate::sys::{self, ErrnoGuard};

const SIGNALS: usize = 32;
/// A program that survives this many has other plans with its signals.
const RECORDS_MAX: u32 = 16;
const ERROR: u8 = 4;
const FATAL: u8 = 5;

// Stages, in this order.
const WALK: u32 = 1;
const MODULES: u32 = 2;
const WRITE: u32 = 3;
const DRAIN: u32 = 4;
const FORWARD: u32 = 5;

/// In pages that the kernel wipes in a forked child: the parent's work does not concern it.
struct State {
    /// The thread that is working.
    owner: AtomicU32,
    stage: AtomicU32,
    has_kept: AtomicBool,
    records: AtomicU32,
    /// Written by the thread that has `owner`, before `has_kept`.
    kept: UnsafeCell<MaybeUninit<Kept>>,
    /// Used by the thread that has `owner`.
    work: UnsafeCell<Work>,
}

/// All zero is nothing.
struct Work {
    crash: Crash,
    level: u8,
    must_drain: bool,
    stack: Stack,
    from: Interrupted,
    info: MaybeUninit<libc::siginfo_t>,
    buffer: [u8; RECORD_MAX],
}

static STATE: AtomicPtr<State> = AtomicPtr::new(null_mut());
static WAIT_MS: AtomicU32 = AtomicU32::new(3000);
/// A `fn(u64)`.
static DRAIN_CALL: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// The handlers that were there before ours.
static BEFORE: [Before; SIGNALS] = [const { Before::new() }; SIGNALS];

struct Before {
    is_ours: AtomicBool,
    action: UnsafeCell<MaybeUninit<libc::sigaction>>,
}
// SAFETY: written once, before `is_ours` and our handler. Later it is only read, except for a handler that
// asks to be reset: the first caller resets it.
unsafe impl Sync for Before {}

impl Before {
    const fn new() -> Self {
        Self { is_ours: AtomicBool::new(false), action: UnsafeCell::new(MaybeUninit::uninit()) }
    }
}

thread_local! {
    /// Where the stack was when the handler before ours was called; 0: none is.
    static FORWARDED: Cell<u64> = const { Cell::new(0) };
    /// This thread has recorded why it ends: the abort that follows is not another crash.
    static IS_TOLD: Cell<bool> = const { Cell::new(false) };
}

/// What a panic may end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    /// The process, for certain.
    Last,
    /// The process, unless the panic is caught.
    Serious,
    /// A thread.
    Survivable,
}

pub(crate) fn set_drain(drain: fn(u64)) {
    DRAIN_CALL.store(drain as *mut c_void, Ordering::Release);
}

fn drain() {
    let call = DRAIN_CALL.load(Ordering::Acquire);
    if !call.is_null() {
        // SAFETY: only `set_drain` stores here, functions of this type.
        let call = unsafe { transmute::<*mut c_void, fn(u64)>(call) };
        call(WAIT_MS.load(Ordering::Relaxed).into());
    }
}

fn existing() -> Option<&'static State> {
    // SAFETY: null, or a mapping that stays and of which zero is a valid state.
    unsafe { STATE.load(Ordering::Acquire).as_ref() }
}

fn state() -> Option<&'static State> {
    if let Some(state) = existing() {
        return Some(state);
    }
    let size = size_of::<State>().next_multiple_of(sys::page_size());
    // SAFETY: a new mapping, used by nobody else before it is published, and given back when another was faster.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let made = libc::mmap(null_mut(), size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        if made == libc::MAP_FAILED {
            return None;
        }
        libc::madvise(made, size, libc::MADV_WIPEONFORK);
        if STATE.compare_exchange(null_mut(), made.cast(), Ordering::AcqRel, Ordering::Acquire).is_err() {
            libc::munmap(made, size);
        }
    }
    existing()
}

enum Entered {
    First,
    /// The calling thread is already working, and has failed within.
    Again,
    /// Another thread does not finish.
    Never,
}

impl State {
    fn enter(&self, tid: u32) -> Entered {
        for _ in 0..WAIT_MS.load(Ordering::Relaxed).saturating_add(2000) {
            match self.owner.compare_exchange(0, tid, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Entered::First,
                Err(owner) if owner == tid => return Entered::Again,
                Err(_) => sleep_1ms(),
            }
        }
        Entered::Never
    }

    fn leave(&self) {
        self.stage.store(0, Ordering::Relaxed);
        self.owner.store(0, Ordering::Release);
    }

    fn begins(&self, stage: u32, next: u32) -> bool {
        if stage > next {
            return false;
        }
        self.stage.store(next, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        true
    }

    /// From a stage on.
    ///
    /// # Safety
    /// The calling thread has `owner`, and uses no other reference to the work.
    unsafe fn go_on(&self, stage: u32) {
        // SAFETY: by the caller. A fault within returns as another call, which begins after the failed stage;
        // the failed call never continues.
        let work = unsafe { &mut *self.work.get() };
        if self.begins(stage, WALK) {
            if work.crash.signal == 0 {
                work.stack.walk(None);
            } else {
                work.stack.walk_interrupted(&work.from);
            }
        }
        if self.begins(stage, MODULES) {
            // A walk that has failed on its way still knows where it was.
            if !work.stack.has_begun && work.from.pc != 0 {
                work.stack.guess(&work.from);
            }
            work.stack.find_modules();
        }
        if self.begins(stage, WRITE) && self.records.fetch_add(1, Ordering::Relaxed) < RECORDS_MAX {
            let (crash, stack) = (&work.crash, &work.stack);
            crash_ring::write(self.take_kept(), work.level, &mut work.buffer, |room| crash.put(stack, room));
        }
        if self.begins(stage, DRAIN) && work.must_drain {
            drain();
        }
        self.begins(stage, FORWARD);
    }

    fn take_kept(&self) -> Option<Kept> {
        // SAFETY: it was written before, by the thread that had `owner`, and is taken once.
        self.has_kept.swap(false, Ordering::AcqRel).then(|| unsafe { (*self.kept.get()).assume_init() })
    }

    /// Keeps a ring for the next record. Only for the thread that has `owner`.
    fn keep(&self) {
        if !self.has_kept.load(Ordering::Acquire) {
            if let Some(kept) = crash_ring::reserve() {
                // SAFETY: it is not read before `has_kept`.
                unsafe { (*self.kept.get()).write(kept) };
                self.has_kept.store(true, Ordering::Release);
            }
        }
    }
}

pub(crate) fn give_back() {
    if let Some(kept) = existing().and_then(State::take_kept) {
        crash_ring::give_back(kept);
    }
}

fn sleep_1ms() {
    let pause = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
    // SAFETY: both pointers may be what they are.
    unsafe { libc::nanosleep(&pause, null_mut()) };
}

pub(crate) fn install(options: &Options) -> bool {
    let Some(state) = state() else { return false };
    if crash_ring::site(FATAL) == 0 || crash_ring::site(ERROR) == 0 {
        return false;
    }
    WAIT_MS.store(
        options.wait.min(Duration::from_secs(86_400)).as_millis().try_into().unwrap_or(u32::MAX),
        Ordering::Relaxed,
    );
    // Room, and everything that is loaded when it is first used.
    if let Entered::First = state.enter(sys::thread_id()) {
        // SAFETY: this thread has `owner`.
        stack::prepare(unsafe { &mut (*state.work.get()).stack });
        abort_message::find();
        state.keep();
        state.leave();
    }
    for (is_wanted, signal) in [
        (options.segv, libc::SIGSEGV),
        (options.segv, libc::SIGBUS),
        (options.ill, libc::SIGILL),
        (options.fpe, libc::SIGFPE),
        (options.abrt, libc::SIGABRT),
        (options.sys, libc::SIGSYS),
        (options.trap, libc::SIGTRAP),
        (options.term, libc::SIGTERM),
    ] {
        if is_wanted {
            take(signal);
        }
    }
    true
}

fn take(signal: c_int) {
    let before = &BEFORE[signal as usize];
    if before.is_ours.load(Ordering::Acquire) {
        return;
    }
    // SAFETY: plain structures of the C library, valid when zero; the handler has the type that SA_SIGINFO asks for.
    unsafe {
        let mut now: libc::sigaction = zeroed();
        if libc::sigaction(signal, std::ptr::null(), &mut now) != 0
            // A program that ignores it wants to live.
            || signal == libc::SIGTERM && now.sa_sigaction == libc::SIG_IGN
        {
            return;
        }
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        // A fault of the handler's own comes back to it; other signals wait until it is done.
        libc::sigfillset(&mut action.sa_mask);
        for fatal in [
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGILL,
            libc::SIGFPE,
            libc::SIGABRT,
            libc::SIGSYS,
            libc::SIGTRAP,
        ] {
            libc::sigdelset(&mut action.sa_mask, fatal);
        }
        (*before.action.get()).write(now);
        before.is_ours.store(true, Ordering::Release);
        if libc::sigaction(signal, &action, null_mut()) != 0 {
            before.is_ours.store(false, Ordering::Release);
        }
    }
}

/// A fault of the instruction that was interrupted: executed again, it faults again.
fn is_fault(signal: c_int, info: &libc::siginfo_t) -> bool {
    /// Memory that is broken somewhere else.
    const BUS_MCEERR_AO: c_int = 5;
    info.si_code > 0
        && (matches!(signal, libc::SIGSEGV | libc::SIGILL | libc::SIGFPE)
            || signal == libc::SIGBUS && info.si_code != BUS_MCEERR_AO)
}

extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let _errno = ErrnoGuard::new();
    // SAFETY: what the kernel gives to a handler; the action was written before this handler was installed.
    let (interrupted, before, known) =
        unsafe { (Interrupted::of(context), (*BEFORE[signal as usize].action.get()).assume_init(), &*info) };
    let is_ignored = before.sa_sigaction == libc::SIG_IGN
        && !is_fault(signal, known)
        // SAFETY: a signal that was sent, for it is no fault. An abort cannot be ignored.
        && (signal != libc::SIGABRT || unsafe { known.si_pid() } as u32 != std::process::id());
    if is_ignored {
        return;
    }
    // Consequences of a crash that is recorded already: the abort of a panic or of the handler before ours,
    // and that handler's own faults.
    let ends_panic =
        signal == libc::SIGABRT && IS_TOLD.get() && (cfg!(panic = "abort") || std::thread::panicking());
    if ends_panic {
        // As long as the program could survive it, nothing has waited.
        drain();
    }
    let is_told = ends_panic || is_within_forwarded(&interrupted);
    if let Some(state) = existing().filter(|_| !is_told) {
        match state.enter(sys::thread_id()) {
            Entered::First => {
                // SAFETY: this thread has `owner`; the reference ends before `go_on`.
                unsafe {
                    let work = &mut *state.work.get();
                    work.info.write(*known);
                    work.from = interrupted;
                    work.level = FATAL;
                    work.must_drain = true;
                    work.crash.describe(signal, known);
                    state.go_on(WALK);
                }
                state.leave();
            }
            Entered::Again => {
                // A fault of our own: continue with the rest, for the original reason.
                // SAFETY: this thread has `owner`, and its earlier work is not continued.
                let (first, mut info) = unsafe {
                    state.go_on(state.stage.load(Ordering::Relaxed) + 1);
                    ((*state.work.get()).crash.signal, (*state.work.get()).info)
                };
                state.leave();
                if first != 0 {
                    return end_by_default(first, info.as_mut_ptr(), false);
                }
            }
            Entered::Never => {}
        }
    }
    forward(signal, info, context, &interrupted);
}

/// Whether the handler before ours was interrupted. (One that has left by a jump is no longer there.)
fn is_within_forwarded(interrupted: &Interrupted) -> bool {
    let forwarded = FORWARDED.get();
    forwarded != 0
        && interrupted.stack < forwarded
        && forwarded - interrupted.stack < 4 * alternate::BYTES as u64
}

/// The handler before ours, else the default.
fn forward(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void, interrupted: &Interrupted) {
    let cell = BEFORE[signal as usize].action.get();
    // SAFETY: as in `on_signal`.
    let (before, is_fault) = unsafe { ((*cell).assume_init(), is_fault(signal, &*info)) };
    let is_within = is_within_forwarded(interrupted);
    if before.sa_sigaction == libc::SIG_IGN && !is_fault {
        return;
    }
    if is_within || matches!(before.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN) {
        return end_by_default(signal, info, is_fault && !is_within);
    }
    // SAFETY: the handler has the type that its flags say; masks are plain structures; the mark is an address of this frame.
    unsafe {
        if before.sa_flags & libc::SA_RESETHAND != 0 {
            (*cell).write(zeroed());
        }
        let mut block = before.sa_mask;
        if before.sa_flags & libc::SA_NODEFER == 0 {
            libc::sigaddset(&mut block, signal);
        }
        let mut restored: libc::sigset_t = zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, &block, &mut restored);
        FORWARDED.set(std::ptr::from_ref(&restored) as u64);
        if before.sa_flags & libc::SA_SIGINFO != 0 {
            type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
            transmute::<usize, Handler>(before.sa_sigaction)(signal, info, context);
        } else {
            transmute::<usize, extern "C" fn(c_int)>(before.sa_sigaction)(signal);
        }
        FORWARDED.set(0);
        libc::pthread_sigmask(libc::SIG_SETMASK, &restored, null_mut());
    }
}

/// Ends the process as the signal does by default: at once, or when the faulting instruction is executed
/// again (`again`). The core dump has its own registers then.
fn end_by_default(signal: c_int, info: *mut libc::siginfo_t, again: bool) {
    // SAFETY: plain structures; the signal is sent to this very thread, with the information that came with it.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = libc::SIG_DFL;
        libc::sigaction(signal, &action, null_mut());
        if again {
            return;
        }
        let mut set: libc::sigset_t = zeroed();
        libc::sigaddset(&mut set, signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, null_mut());
        let (process, thread) = (libc::getpid(), sys::thread_id() as c_int);
        if libc::syscall(libc::SYS_rt_tgsigqueueinfo, process, thread, signal, info) != 0 {
            libc::syscall(libc::SYS_tgkill, process, thread, signal);
        }
    }
}

/// A panic. `describe` says what it is.
pub(crate) fn record_panic(severity: Severity, describe: impl FnOnce(&mut Crash)) {
    let _errno = ErrnoGuard::new();
    let Some(state) = existing() else { return };
    let Entered::First = state.enter(sys::thread_id()) else { return };
    // SAFETY: this thread has `owner`; the reference ends before `go_on`.
    unsafe {
        let work = &mut *state.work.get();
        work.from = Interrupted::default();
        work.level = if severity == Severity::Last { FATAL } else { ERROR };
        work.must_drain = severity != Severity::Survivable;
        work.crash.clear();
        work.crash.is_panic = true;
        describe(&mut work.crash);
        state.go_on(WALK);
    }
    state.keep();
    state.leave();
    // An abort while it unwinds, or instead, is the same crash; `IS_TOLD` counts only as long as the panic
    // lasts.
    IS_TOLD.set(true);
}
