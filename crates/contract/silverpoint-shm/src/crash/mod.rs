//! Why the process ends, and where: one record (spec/crash.md), made by async-signal-safe means.
//!
//! ```text
//!  signal ──▶ enter ─▶ walk ─▶ modules ─▶ write ─▶ drain ─▶ forward: the handler before ours, or the default
//!  panic  ──▶   │        └───────┴──────────┴────────┴─ a fault within one of them goes on with the next
//!               └─ a thread that fails while another is at it waits
//! ```
//!
//! The record is written to a ring that is kept for it (`owner::crash_ring`), independent of the directives.
//! Then a collector inside the process gets time ([`set_drain`]). Then the signal takes its usual course.
//! This is the handler that was there before, or the signal's default action. (In a Rust program the standard
//! library has one, which reports stack overflows.) Core dump and exit status are as without all this.

mod abort_message;
mod alternate;
mod handler;
mod panic;
mod record;
mod stack;

use std::sync::atomic::{AtomicBool, Ordering};

pub use silverpoint_wire::crash::Options;

static IS_INSTALLED: AtomicBool = AtomicBool::new(false);

/// Installs the handlers. Once, in the program (not in libraries), before threads are started; another call
/// adds signals, and changes the wait. False: no memory, or no session.
///
/// After a stack overflow the handler needs another stack. The calling thread gets it here, other threads
/// with their first record or by [`prepare_thread`]. (The standard library gives its threads one too, which
/// is too small.) Without it, a thread whose stack overflows ends without a record.
pub fn install(options: &Options) -> bool {
    if !handler::install(options) {
        return false;
    }
    alternate::give();
    IS_INSTALLED.store(true, Ordering::Release);
    if options.panics {
        panic::install();
    }
    true
}

/// A stack for the handler in the calling thread. Threads get it with their first record, or by this.
pub fn prepare_thread() {
    alternate::give();
}

/// Sets the function that waits until everything that was recorded before the call is delivered, for at most
/// this many milliseconds. It is called in a signal handler, so it must be async-signal-safe.
pub fn set_drain(drain: fn(u64)) {
    handler::set_drain(drain);
}

/// Called at each thread's first record.
pub(crate) fn on_first_record() {
    if IS_INSTALLED.load(Ordering::Acquire) {
        alternate::give();
    }
}

/// The copy leaves the session: the kept ring is released.
pub(crate) fn leave() {
    handler::give_back();
}
