//! Signals and a library: its threads take none, those are the program's; and its writes raise none.

/// Signals that a thread's own faults raise: blocked, they end the process without a word.
const FAULTS: [libc::c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGSYS];

/// Runs a function with all signals blocked in the calling thread except those of its own faults. Threads
/// that it starts have them blocked for good. So a signal to the process reaches one of the program's own
/// threads. Writing into a pipe without a reader fails instead of ending the process.
pub fn with_all_blocked<T>(run: impl FnOnce() -> T) -> T {
    // SAFETY: both sets are plain memory, filled before they are read.
    let (mut all, mut before) = unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    // SAFETY: as above; this changes the calling thread alone.
    let is_blocked = unsafe {
        libc::sigfillset(&raw mut all);
        for fault in FAULTS {
            libc::sigdelset(&raw mut all, fault);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) == 0
    };
    let result = run();
    if is_blocked {
        // SAFETY: the set that was in force before.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) };
    }
    result
}

/// Whether the calling thread blocks no signal. So it is in no signal handler, except one that blocks not
/// even its own.
pub(crate) fn is_empty() -> bool {
    // SAFETY: the set is plain memory, filled before it is read.
    unsafe {
        let mut blocked = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_SETMASK, std::ptr::null(), &raw mut blocked) == 0
            && (1..libc::SIGRTMAX()).all(|signal| libc::sigismember(&raw const blocked, signal) != 1)
    }
}

/// Runs a function that writes into what may be a pipe. Without a reader the write fails with `EPIPE`,
/// instead of ending the program by SIGPIPE. Costs three system calls.
pub fn without_sigpipe<T>(run: impl FnOnce() -> T) -> T {
    // SAFETY: the sets are plain memory, filled before they are read; this changes the calling thread alone.
    unsafe {
        let (mut pipe, mut before, mut pending) =
            (std::mem::zeroed(), std::mem::zeroed(), std::mem::zeroed());
        libc::sigemptyset(&raw mut pipe);
        libc::sigaddset(&raw mut pipe, libc::SIGPIPE);
        libc::sigpending(&raw mut pending);
        let was_pending = libc::sigismember(&raw const pending, libc::SIGPIPE) == 1;
        if libc::pthread_sigmask(libc::SIG_BLOCK, &raw const pipe, &raw mut before) != 0 {
            return run();
        }
        let result = run();
        // The signal of this write is taken back; one that waited already is the program's.
        if !was_pending {
            let at_once: libc::timespec = std::mem::zeroed();
            while libc::sigtimedwait(&raw const pipe, std::ptr::null_mut(), &raw const at_once) < 0
                && *libc::__errno_location() == libc::EINTR
            {}
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        result
    }
}
