//! The end of a copy.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{anchors, at, local, slabs};
use crate::sys::ErrnoGuard;

/// The end of this copy: of the process, or of its shared object alone (spec/wire.md, section 3.1,
/// Unloading). While a process ends, other threads go on and record into their rings. When a shared object is
/// unloaded no thread does, and everything that it has mapped is unmapped. If the executable has no copy, it
/// is unknown which of both it is: rings are given back, and nothing is unmapped.
///
/// # Safety
/// Called by a destructor of the executable or the shared object that this copy is in, the last of it that
/// may record. The caller that unloads a shared object must ensure that none of its code runs any more, nor
/// will.
pub unsafe fn unload() {
    let _errno = ErrnoGuard::new();
    let Some(session) = local::existing() else { return };
    // SAFETY: the header is always backed.
    let executable = unsafe { session.control.u32(at::header::EXECUTABLE) };
    if crate::sys::is_in_executable() {
        executable.store(at::control::EXECUTABLE_ENDED, Ordering::SeqCst);
        return leave();
    }
    let state = executable.load(Ordering::SeqCst);
    if state != at::control::EXECUTABLE_ENDED {
        local::retire_all_rings(session);
    }
    leave();
    if state == at::control::EXECUTABLE_THERE {
        // SAFETY: the executable is there, so that it is the shared object that ends; then by the caller.
        unsafe { local::unmap_everything() };
    }
}

/// The copy leaves its session at a clean exit: a closing anchor; the last one removes a session that holds nothing and that nobody watches. Records made
/// afterwards (other threads, later destructors) still land in their rings. Once; further calls do nothing.
pub fn leave() {
    static LEFT: AtomicU32 = AtomicU32::new(0);
    let _errno = ErrnoGuard::new();
    let Some(session) = local::existing() else { return };
    let pid = rustix::process::getpid().as_raw_nonzero().get() as u32;
    if LEFT.swap(pid, Ordering::Relaxed) == pid {
        return;
    }
    anchors::add(session);
    crate::crash::leave();
    // SAFETY: the header is always backed.
    unsafe {
        let control = session.control;
        let last = control.u32(at::header::COPIES_JOINED).fetch_sub(1, Ordering::AcqRel) == 1;
        let unused = || {
            (0..8)
                .all(|cause| control.u64(at::header::SESSION_LOSSES + 8 * cause).load(Ordering::Relaxed) == 0)
                && slabs::hold_nothing(session)
        };
        let unwatched = control.u32(at::header::COLLECTOR_PID).load(Ordering::Acquire) == 0
            && control.u32(at::header::FLAGS).load(Ordering::Relaxed) == 0
            && control.u32(at::header::DIRECTIVES_LEN).load(Ordering::Acquire) == 0;
        if last && unwatched && unused() {
            session.remove();
        }
    }
}
