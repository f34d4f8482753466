//! Handles SIGHUP as long as there is a listener, and then restores the previous action.
//!
//! The handler counts, and calls the one that was there before. The last listener restores the previous
//! handler, unless another handler has been installed since: that one calls ours, which then only forwards.
//! (Libraries that keep a signal for good make it ineffective: then a program whose terminal goes away would
//! live on for ever.)

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::mem::{MaybeUninit, transmute, zeroed};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::sys::ErrnoGuard;

static HEARD: AtomicU64 = AtomicU64::new(0);
static BEFORE: Before =
    Before { is_known: AtomicBool::new(false), action: UnsafeCell::new(MaybeUninit::uninit()) };
static LISTENING: Mutex<Listening> = Mutex::new(Listening { process: 0, count: 0, is_installed: false });

/// The handler before ours.
struct Before {
    is_known: AtomicBool,
    action: UnsafeCell<MaybeUninit<libc::sigaction>>,
}
// SAFETY: written under the lock while our handler is not installed, before `is_known`; else only read.
unsafe impl Sync for Before {}

struct Listening {
    /// The process of the counted listeners: a forked child has its parent's handler, and none of its
    /// threads.
    process: u32,
    count: u32,
    /// It may be called: by the kernel, or by a handler that came after it.
    is_installed: bool,
}

/// While it lives, SIGHUP only calls the program's own handler, and is counted ([`heard`]).
#[derive(Debug)]
pub struct Listener(());

/// Signals that came since the first listener. Costs a load.
pub fn heard() -> u64 {
    HEARD.load(Ordering::Relaxed)
}

impl Listener {
    /// Listens, beside any others.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn new() -> std::io::Result<Self> {
        let mut listening = LISTENING.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        if listening.process != process {
            (listening.process, listening.count) = (process, 0);
        }
        if !listening.is_installed {
            install()?;
            listening.is_installed = true;
        }
        listening.count += 1;
        Ok(Self(()))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut listening = LISTENING.lock().unwrap_or_else(PoisonError::into_inner);
        if listening.process != std::process::id() {
            return;
        }
        listening.count -= 1;
        if listening.count == 0 && listening.is_installed && is_in_force() && put_back() {
            listening.is_installed = false;
        }
    }
}

/// With the lock.
fn install() -> std::io::Result<()> {
    BEFORE.is_known.store(false, Ordering::Release);
    // SAFETY: the old action is stored before our handler may be called, and only our handler reads it. All
    // zero is a valid action.
    unsafe {
        let kept = (*BEFORE.action.get()).as_mut_ptr();
        if libc::sigaction(libc::SIGHUP, std::ptr::null(), kept) != 0 {
            return Err(std::io::Error::last_os_error());
        }
        BEFORE.is_known.store(true, Ordering::Release);
        let mut ours: libc::sigaction = zeroed();
        ours.sa_sigaction = address();
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
        // Those of the handler that is called by ours.
        ours.sa_mask = (*kept).sa_mask;
        if libc::sigaction(libc::SIGHUP, &raw const ours, null_mut()) != 0 {
            return Err(std::io::Error::last_os_error());
        }
    }
    Ok(())
}

fn address() -> libc::sighandler_t {
    let ours: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_hangup;
    ours as *const () as libc::sighandler_t
}

/// No other handler has been installed since.
fn is_in_force() -> bool {
    // SAFETY: plain memory, written by the kernel before it is read.
    unsafe {
        let mut now: libc::sigaction = zeroed();
        libc::sigaction(libc::SIGHUP, std::ptr::null(), &raw mut now) == 0 && now.sa_sigaction == address()
    }
}

/// With the lock.
fn put_back() -> bool {
    // SAFETY: it is installed, so what was before is known, and is as the kernel gave it.
    unsafe { libc::sigaction(libc::SIGHUP, (*BEFORE.action.get()).as_ptr(), null_mut()) == 0 }
}

extern "C" fn on_hangup(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let _errno = ErrnoGuard::new();
    HEARD.fetch_add(1, Ordering::Relaxed);
    if !BEFORE.is_known.load(Ordering::Acquire) {
        return;
    }
    // SAFETY: it was written before `is_known`; what is called is what the program had installed for this signal, with the arguments that its flags promise.
    unsafe {
        let before = &*(*BEFORE.action.get()).as_ptr();
        if matches!(before.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN) {
            return;
        }
        if before.sa_flags & libc::SA_SIGINFO != 0 {
            let call = transmute::<libc::sighandler_t, extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void)>(
                before.sa_sigaction,
            );
            call(signal, info, context);
        } else {
            let call = transmute::<libc::sighandler_t, extern "C" fn(c_int)>(before.sa_sigaction);
            call(signal);
        }
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    static OWN: AtomicU64 = AtomicU64::new(0);
    static LATER: AtomicU64 = AtomicU64::new(0);

    extern "C" fn own(_: c_int) {
        OWN.fetch_add(1, Ordering::Relaxed);
    }

    /// Like handlers that are installed later: counts, and calls ours.
    extern "C" fn later(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        LATER.fetch_add(1, Ordering::Relaxed);
        on_hangup(signal, info, context);
    }

    fn install(handler: libc::sighandler_t, flags: c_int) {
        // SAFETY: a zeroed action with a handler of the type that its flags say.
        let failed = unsafe {
            let mut action: libc::sigaction = zeroed();
            (action.sa_sigaction, action.sa_flags) = (handler, flags);
            libc::sigaction(libc::SIGHUP, &raw const action, null_mut())
        };
        assert_eq!(failed, 0);
    }

    /// What each has counted, from 0.
    fn raised() -> [u64; 3] {
        let counts = || [heard(), OWN.load(Ordering::Relaxed), LATER.load(Ordering::Relaxed)];
        let before = counts();
        // SAFETY: a handler is installed whenever this is called.
        assert_eq!(unsafe { libc::raise(libc::SIGHUP) }, 0);
        let after = counts();
        [0, 1, 2].map(|of| after[of] - before[of])
    }

    #[test]
    fn handlers_before_and_behind_are_kept() {
        let own: extern "C" fn(c_int) = own;
        install(own as *const () as libc::sighandler_t, 0);
        assert_eq!(raised(), [0, 1, 0]);
        for _ in 0..2 {
            let (first, second) = (Listener::new().unwrap(), Listener::new().unwrap());
            assert_eq!(raised(), [1, 1, 0]);
            drop(first);
            assert_eq!(raised(), [1, 1, 0]);
            drop(second);
            assert_eq!(raised(), [0, 1, 0], "the program's is back");
        }
        let listener = Listener::new().unwrap();
        let later: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = later;
        install(later as *const () as libc::sighandler_t, libc::SA_SIGINFO);
        assert_eq!(raised(), [1, 1, 1]);
        drop(listener);
        assert_eq!(raised(), [1, 1, 1], "the one behind is left, and calls ours");
        let listener = Listener::new().unwrap();
        assert_eq!(raised(), [1, 1, 1], "once");
        drop(listener);
    }
}
