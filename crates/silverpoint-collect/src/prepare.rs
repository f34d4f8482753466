//! Backing ring memory before producers ask for it, so that a thread's first record does not wait for pages.
//!
//! Only pages are made: the directory's `backed` is the producers' word. They populate the same bytes later, which then costs an entry in their page tables
//! instead of a page. What is prepared and never used is given back with the session; it stays below 128 KiB a slab in use and one slab ahead.

use std::time::{Duration, Instant};

use silverpoint_shm::observer::{ObserveError, ObservedSession};
use silverpoint_wire::layout::control::{FLAG_DEMANDED, FLAG_EXPECTED};

/// Between two looks at the slabs.
const INTERVAL: Duration = Duration::from_millis(20);
/// Bytes of a slab that are ready beyond those claimed.
const AHEAD: u32 = 128 << 10;
/// Bytes of the next slab that are ready while little is recorded.
const NEXT: u32 = 64 << 10;
/// A session that recorded so many bytes between two looks gets the whole next slab.
const BUSY: u64 = 256 << 10;
/// Slabs that are looked at, the youngest: older ones are full.
const SLABS: u32 = 8;

/// How far each slab has been prepared.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    ends: Vec<u32>,
    looked: Option<Instant>,
    bytes: u64,
    /// The file system cannot, or has no room: not asked again.
    is_refused: bool,
}

impl Prepared {
    /// `bytes`: what the session has recorded since the last call.
    pub(crate) fn ahead(
        &mut self,
        session: &ObservedSession,
        slabs_next: u32,
        bytes: u64,
    ) -> Result<(), ObserveError> {
        self.bytes += bytes;
        if self.is_refused || self.looked.is_some_and(|at| at.elapsed() < INTERVAL) {
            return Ok(());
        }
        self.looked = Some(Instant::now());
        let is_busy = std::mem::take(&mut self.bytes) >= BUSY;
        let header = session.header();
        if slabs_next == 0 && header.flags & (FLAG_DEMANDED | FLAG_EXPECTED) == 0 {
            return Ok(()); // it may never record
        }
        let slabs = slabs_next.min(header.slab_count);
        for slab in slabs.saturating_sub(SLABS)..slabs {
            let Some((shift, next, backed)) = session.slab(slab)? else { continue };
            let used = 1u32.checked_shl(shift).map_or(0, |size| size.saturating_mul(next));
            let goal = used.saturating_add(AHEAD).min(header.slab_bytes);
            self.reach(session, slab, backed, goal);
        }
        if slabs < header.slab_count {
            self.reach(session, slabs, 0, if is_busy { header.slab_bytes } else { NEXT });
        }
        Ok(())
    }

    fn reach(&mut self, session: &ObservedSession, slab: u32, backed: u32, goal: u32) {
        let index = slab as usize;
        if self.ends.len() <= index {
            self.ends.resize(index + 1, 0);
        }
        let from = self.ends[index].max(backed);
        if from < goal && !self.is_refused {
            let at = u64::from(slab) * u64::from(session.header().slab_bytes) + u64::from(from);
            self.is_refused = !session.prepare(at, u64::from(goal - from));
            self.ends[index] = goal;
        }
    }
}
