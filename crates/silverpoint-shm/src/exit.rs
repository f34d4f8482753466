//! The process's orderly end: a return from `main`, or a call of `exit` by any thread.

/// Calls a function when the process ends in order, before functions that were registered earlier. In a shared object that is unloaded before, it is called then. False: there is no memory for it.
///
/// The function must not unwind; one that does aborts the process. A forked child calls it too.
pub fn at_exit(call: extern "C" fn()) -> bool {
    // SAFETY: a function without arguments, of the object that this is linked into: the C library calls it at the latest when that object is unloaded.
    unsafe { libc::atexit(call) == 0 }
}
