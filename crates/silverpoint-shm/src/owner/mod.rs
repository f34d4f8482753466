//! The producer's side of a session, for frontends.
//!
//! ```text
//!  start ─▶ local: the process's state, wiped by fork ─▶ session: make or join ─▶ fork: a child's copy · sweep: what others left
//!  register ─▶ sites · changes: when the directives are others
//!  reserve ─▶ thread: hot path ─▶ lane: policy ─▶ ring: protocol · slabs: slices · context: fields of all records
//! ```
//!
//! Everything here may be called from any thread, from signal handlers, before `main` and after it; nothing allocates from the heap or takes a lock.

mod again;
mod anchors;
mod at;
mod changes;
mod context;
mod control;
pub(crate) mod crash_ring;
mod fork;
mod giving;
mod identity;
mod ids;
mod lane;
mod local;
mod session;
mod settings;
mod sites;
mod slabs;
mod sweep;
mod thread;
mod tracers;

use std::sync::atomic::{AtomicU32, Ordering};

pub use again::{end_span, record_packed};
pub use changes::{Follower, generation, most_verbose, ticks_to_ns, wait_for_change, would_record};
pub use context::{CONTEXT_BYTES, context_room, enter_context, leave_context, with_context};
pub(crate) use giving::come_by;
pub use ids::{new_id, process_id, random_bytes};
pub use sites::{AGAIN, Description, Pieces, Registered};
pub use slabs::largest_record;
pub use thread::{
    ALWAYS_FITS, Owned, Reservation, lose, lose_other, lose_without_site, prepare, reserve, reserve_rest,
    reserve_slowly,
};
pub use tracers::{Event, Traced, feeds_tracer, now, traced};

pub use crate::sys::Pages;

use crate::sys::ErrnoGuard;

const MAX_LEVEL: u8 = 5;

/// Why a record was lost (spec/wire.md, section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Cause {
    /// The ring was full, and the policy says drop.
    Full = 0,
    /// The collector made no room for as long as a producer may wait.
    CollectorGone = 1,
    /// The collector is there, but cannot store.
    SinkFull = 2,
    /// No ring could be made.
    NoMemory = 3,
    /// More than three signal handlers deep.
    Nested = 4,
    /// No ring can have such a record, even cut.
    TooLarge = 5,
    /// The site table is full.
    NoSite = 6,
    /// Anything else.
    Other = 7,
}

impl Cause {
    fn from_number(number: u32) -> Self {
        match number {
            0 => Self::Full,
            1 => Self::CollectorGone,
            2 => Self::SinkFull,
            3 => Self::NoMemory,
            4 => Self::Nested,
            5 => Self::TooLarge,
            6 => Self::NoSite,
            _ => Self::Other,
        }
    }
}

/// Joins or makes the session now, rather than at the first record: a program that records nothing yet can then be switched on from outside. True when
/// there is one.
pub fn start() -> bool {
    let _errno = ErrnoGuard::new();
    local::session().is_some()
}

/// Why a process has no session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// The variable `SILVERPOINT_OFF` of the environment says so.
    Off,
    /// It runs with more privileges than its user has (setuid).
    Privileged,
    /// The system's error.
    Failed(i32),
}

/// Why [`start`] gave false; `None` when there is a session, or none was asked for.
pub fn absence() -> Option<Absence> {
    local::absence()
}

/// Registers a site, or finds it where it was registered before. In a process without a session it is off for ever.
pub fn register(description: &Description<'_>) -> Registered {
    register_within(description, sites::Share::Whole)
}

/// As [`register`], for a site that is only asked whether it is on: nothing is recorded of it. So no system
/// tracer has an event of it.
pub fn register_question(description: &Description<'_>) -> Registered {
    let _errno = ErrnoGuard::new();
    match local::session() {
        Some((session, local)) => sites::register_question(session, local, description),
        None => sites::UNAVAILABLE,
    }
}

/// As [`register`], for a site whose names or types are made while the program runs, in any number. Such
/// sites take no more than half of the table, so that there is room for those of the program's source. One
/// that finds no room has the id 0; then the variable part is an argument of a site that was registered by
/// [`register`].
pub fn register_variety(description: &Description<'_>) -> Registered {
    register_within(description, sites::Share::Variety)
}

fn register_within(description: &Description<'_>, share: sites::Share) -> Registered {
    let _errno = ErrnoGuard::new();
    match local::session() {
        Some((session, local)) => sites::register(session, local, description, share),
        None => sites::UNAVAILABLE,
    }
}

/// The session's directory and this copy's number in it, for tests and messages.
pub fn session_name() -> Option<(std::path::PathBuf, u16)> {
    use std::os::unix::ffi::OsStrExt;
    let session = local::existing()?;
    let name = std::ffi::OsStr::from_bytes(session.name.as_bytes());
    Some((session.root.as_path().join(name), session.copy))
}

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
