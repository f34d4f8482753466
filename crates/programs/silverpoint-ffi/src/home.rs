//! Where the process's logger lives, and whose it is.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use silverpoint_logger::{Config, Logger};

/// Of the process that made the last one: this, or one that it was forked from.
static LAST: AtomicPtr<Home> = AtomicPtr::new(null_mut());

/// One for each process that starts a logger; never freed, as other threads may use it until the process is gone.
pub(crate) struct Home {
    process: u32,
    /// A thread that waits for it takes a share out of the lock: no other thread has to wait for that.
    logger: Mutex<Option<Arc<Logger>>>,
    /// What the last logger was asked to do, without the program's functions.
    config: Mutex<Option<Config>>,
    /// That of the process that this one was forked from. Its lock may be held for ever, and its logger's threads are elsewhere: it is kept, not used.
    _of_parent: Option<&'static Home>,
}

impl Home {
    /// That of this process; `None` when no logger was ever started in it. Never waits.
    pub(crate) fn own() -> Option<&'static Self> {
        last().filter(|home| home.process == std::process::id())
    }

    /// As [`Home::own`]; the first call in a process makes one.
    pub(crate) fn own_or_new() -> &'static Self {
        loop {
            let last = last();
            if let Some(own) = last.filter(|home| home.process == std::process::id()) {
                return own;
            }
            let new = Box::new(Self {
                process: std::process::id(),
                logger: Mutex::new(None),
                config: Mutex::new(None),
                _of_parent: last,
            });
            let (expected, new) =
                (last.map_or(null_mut(), |last| std::ptr::from_ref(last).cast_mut()), Box::into_raw(new));
            if LAST.compare_exchange(expected, new, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                crate::at_exit();
            } else {
                // Another thread was faster.
                // SAFETY: `new` comes from `into_raw` above and nobody else has seen it.
                drop(unsafe { Box::from_raw(new) });
            }
        }
    }

    /// Notes what a logger is asked to do.
    pub(crate) fn remember(&self, config: Config) {
        *self.config.lock().unwrap_or_else(PoisonError::into_inner) = Some(config);
    }

    /// What the last one was asked to do.
    pub(crate) fn remembered(&self) -> Option<Config> {
        self.config.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Only briefly, or while a logger starts.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Option<Arc<Logger>>> {
        self.logger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn last() -> Option<&'static Home> {
    // SAFETY: null, or a box that was given up for good before it was put here.
    unsafe { LAST.load(Ordering::Acquire).as_ref() }
}
