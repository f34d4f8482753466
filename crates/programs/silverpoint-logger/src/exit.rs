//! A program that ends by `std::process::exit`, or returns from `main` while a static holds its logger, does
//! not run the logger's destructor. An exit hook ends its loggers.
//!
//! ```text
//!  Logger::start ──▶ a place here ──▶ exit of any thread ──▶ each logger of this process that still runs is ended, with a bounded wait
//! ```
//!
//! A forked child has a copy of its parent's places, and perhaps a lock that another thread of the parent
//! held. So the wait for such a lock is short, and the parent's loggers are left alone.

use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use crate::control::Control;
use crate::logger::Logger;

/// Loggers of one process that an exit ends.
const PLACES: usize = 16;
/// A place's lock is held only for an instant, except by a thread of a forked child's parent.
const ATTEMPTS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(1);

static ALL: [Mutex<Option<Entry>>; PLACES] = [const { Mutex::new(None) }; PLACES];

/// A logger that runs.
struct Entry {
    process: u32,
    control: Arc<Control>,
}

/// The logger is ended when the process exits, unless it is forgotten before.
pub(crate) fn remember(control: &Arc<Control>) {
    static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
    if !IS_REGISTERED.swap(true, Ordering::AcqRel) && !silverpoint_shm::exit::at_exit(end_all) {
        IS_REGISTERED.store(false, Ordering::Release);
    }
    let process = std::process::id();
    for place in &ALL {
        let Some(mut entry) = lock(place, 1) else { continue };
        if entry.as_ref().is_none_or(|entry| entry.process != process) {
            forget_of_parent(entry.replace(Entry { process, control: Arc::clone(control) }));
            return;
        }
    }
}

/// The logger has ended.
pub(crate) fn forget(control: &Arc<Control>) {
    for place in &ALL {
        let Some(mut entry) = lock(place, ATTEMPTS) else { continue };
        if entry.as_ref().is_some_and(|entry| Arc::ptr_eq(&entry.control, control)) {
            *entry = None;
        }
    }
}

/// Only the parent drops the parent's logger.
fn forget_of_parent(entry: Option<Entry>) {
    std::mem::forget(entry);
}

fn lock(place: &Mutex<Option<Entry>>, attempts: u32) -> Option<MutexGuard<'_, Option<Entry>>> {
    for attempt in 0..attempts {
        match place.try_lock() {
            Ok(entry) => return Some(entry),
            Err(TryLockError::Poisoned(error)) => return Some(error.into_inner()),
            Err(TryLockError::WouldBlock) if attempt + 1 < attempts => std::thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => {}
        }
    }
    None
}

extern "C" fn end_all() {
    // A panic has been reported by its hook. The process ends as it would have.
    let _ = catch_unwind(|| {
        let process = std::process::id();
        for place in &ALL {
            let Some(mut entry) = lock(place, ATTEMPTS) else { continue };
            let Some(found) = entry.take() else { continue };
            drop(entry);
            if found.process == process {
                Logger::end_at_exit(found.control);
            } else {
                forget_of_parent(Some(found));
            }
        }
    });
}
