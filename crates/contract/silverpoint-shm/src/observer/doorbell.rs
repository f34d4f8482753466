//! Words in a producer's files: waiting for the doorbell, waking producers that wait for room.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

use silverpoint_wire::layout::control::{HEADER_SIZE, at};

use super::files::Access;
use super::{ObserveError, ObservedSession};
use crate::platform::waiting::{Words, wait_for_any};

/// Where words cannot be waited for.
const POLL: Duration = Duration::from_millis(20);

/// Ends a collector's sleep on a session without ringing its doorbell. Outlives the session.
#[derive(Clone, Debug)]
pub struct Nudge(Arc<Words>);

impl Nudge {
    /// Wakes a thread that sleeps on the doorbell now. One that is about to sleep is not woken: repeat the
    /// call until the expected change has happened.
    pub fn wake(&self) {
        self.0.wake(at::DOORBELL as u64, u32::MAX >> 1);
    }
}

/// A session that the collector is about to sleep on.
#[derive(Clone, Copy, Debug)]
pub struct Sleep<'a> {
    session: &'a ObservedSession,
    doorbell: u32,
}

impl ObservedSession {
    fn control_map(&self) -> Option<&Arc<Words>> {
        let new = || Words::new(&self.control, HEADER_SIZE as u64, Access::Read).map(Arc::new);
        self.control_map.get_or_init(new).as_ref()
    }

    /// For waking the session's collector from another thread of its process.
    pub fn nudge(&self) -> Option<Nudge> {
        self.control_map().map(|map| Nudge(Arc::clone(map)))
    }

    pub(super) fn rings_map(&self) -> Option<&Words> {
        let new = || Words::new(&self.rings, self.header.rings_size, Access::Write);
        self.rings_map.get_or_init(new).as_ref()
    }

    /// Sets whether the collector sleeps: then producers ring. After setting it, the collector must check the
    /// rings once more before it sleeps.
    pub fn set_sleeping(&self, sleeping: bool) -> Result<(), ObserveError> {
        self.put(at::COLLECTOR_SLEEPING, &u32::from(sleeping).to_le_bytes())?;
        // Pairs with the producer's fence between `committed` and its look at `collector_sleeping`: one of the two sees the other.
        fence(Ordering::SeqCst);
        Ok(())
    }

    /// What [`sleep_until_rung`] waits for: that the doorbell is no longer `doorbell`, its value before the last look at the rings.
    pub fn sleep_on(&self, doorbell: u32) -> Sleep<'_> {
        Sleep { session: self, doorbell }
    }

    /// Sleeps while a word of the header is `expected`, at most `timeout`.
    pub(super) fn wait_for_word(&self, offset: u64, expected: u32, timeout: Duration) {
        match self.control_map() {
            Some(map) => map.wait(offset, expected, timeout),
            None => std::thread::sleep(timeout),
        }
    }

    /// Wakes everybody who waits for other directives.
    pub(super) fn wake_watchers(&self) {
        if let Some(map) = self.control_map() {
            map.wake(at::GENERATION as u64, u32::MAX >> 1);
            // A tracer's library may follow the directives.
            map.wake(at::PROBES_WAKE as u64, u32::MAX >> 1);
        }
    }
}

/// Sleeps until one of the sessions rings its doorbell, at most `timeout`. May return early.
pub fn sleep_until_rung(sleeps: &[Sleep<'_>], timeout: Duration) {
    let doorbell = at::DOORBELL as u64;
    match sleeps {
        [] => std::thread::sleep(timeout),
        [one] => match one.session.control_map() {
            Some(map) => map.wait(doorbell, one.doorbell, timeout),
            None => std::thread::sleep(timeout.min(POLL)),
        },
        several => {
            let words = several.iter().filter_map(|sleep| {
                let map = sleep.session.control_map()?;
                Some((map.as_ref(), doorbell, sleep.doorbell))
            });
            wait_for_any(&words.collect::<Vec<_>>(), timeout);
        }
    }
}
