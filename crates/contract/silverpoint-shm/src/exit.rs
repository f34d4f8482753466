//! The process's orderly end: a return from `main`, or a call of `exit` by any thread.

/// The shared object that this is linked into is not unloaded any more. Nothing in an executable.
pub fn stay_loaded() {
    #[cfg(not(target_feature = "crt-static"))]
    // SAFETY: an address within this object; the name is the loader's, and names an object that is loaded.
    unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        let here = (stay_loaded as fn() as *const ()).cast();
        if libc::dladdr(here, &raw mut found) != 0 && !found.dli_fname.is_null() {
            libc::dlopen(found.dli_fname, libc::RTLD_NOW | libc::RTLD_NOLOAD | libc::RTLD_NODELETE);
        }
    }
}

/// Calls a function when the process ends in order, before functions that were registered earlier. In a shared object that is unloaded before, it is called then. False: there is no memory for it.
///
/// The function must not unwind; one that does aborts the process. A forked child calls it too.
pub fn at_exit(call: extern "C" fn()) -> bool {
    // SAFETY: a function without arguments, of the object that this is linked into. The C library calls it at
    // the latest when that object is unloaded.
    unsafe { libc::atexit(call) == 0 }
}
