//! Threads of a library that take no signals: those are the program's.

/// Signals that a thread's own faults raise: blocked, they end the process without a word.
const FAULTS: [libc::c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGSYS];

/// Runs a function with all signals blocked in the calling thread but those of its own faults. Threads that it starts have them blocked for good: a signal that is sent to the process reaches one of the
/// program's own threads, and writing into a pipe that nobody reads fails instead of ending the process.
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
