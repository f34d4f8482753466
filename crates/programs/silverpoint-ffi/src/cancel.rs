//! `pthread_cancel` of a thread that is in one of our functions.
//!
//! The C library ends a cancelled thread by unwinding its stack from within a system call. Frames of Rust
//! must not be unwound this way. The process would end by SIGABRT, and a collector that is being started
//! would stay half made. So a thread is not cancelled while it is here; it ends at its next point of
//! cancellation.

use std::ffi::c_int;
use std::marker::PhantomData;

const DISABLE: c_int = 1;

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
}

/// While one is there, its thread is not cancelled. Those of a thread end in the reverse order.
pub(crate) struct Held {
    before: c_int,
    /// It is the thread's that has made it.
    _thread: PhantomData<*const ()>,
}

impl Held {
    pub(crate) fn new() -> Self {
        let mut before = 0;
        // SAFETY: it writes the state that there was, and nothing else.
        unsafe { pthread_setcancelstate(DISABLE, &raw mut before) };
        Self { before, _thread: PhantomData }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: a state that the function itself has given; no place for the one that there was.
        unsafe { pthread_setcancelstate(self.before, std::ptr::null_mut()) };
    }
}
