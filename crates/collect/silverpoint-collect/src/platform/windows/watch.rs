use std::time::{Duration, Instant};

use silverpoint_shm::root::Root;

/// Interval between two looks.
const LOOK: Duration = Duration::from_millis(20);

/// Has a directory looked through so often that a session is found soon.
#[derive(Debug)]
pub(crate) struct Watch {
    looked: Instant,
}

impl Watch {
    /// Of any root.
    pub(crate) fn new(_: &Root) -> Option<Self> {
        Some(Self { looked: Instant::now() })
    }

    /// It has nothing that could be closed.
    pub(crate) fn is_intact(&self) -> bool {
        true
    }

    /// Whether it is time to look.
    pub(crate) fn is_reported(&mut self) -> bool {
        let is_due = self.looked.elapsed() >= LOOK;
        if is_due {
            self.looked = Instant::now();
        }
        is_due
    }
}

/// Sleeps until it is time to look, at most so long.
pub(crate) fn wait<'a>(_: impl Iterator<Item = &'a Watch>, time: Duration) {
    std::thread::sleep(time.min(LOOK));
}
