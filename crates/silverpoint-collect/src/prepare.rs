//! Backing ring memory before producers ask for it, so that no record waits until pages are made.
//!
//! Only pages are made: the directory's `backed` is written by producers. They populate the same bytes later,
//! which then costs an entry in their page tables instead of a page. Unused pages are given back with the
//! session. Up to 128 KiB stay prepared for each slab in use. So do the slices that large rings have claimed,
//! and the beginnings of the next slabs. The latter are needed because a thread that begins to record much
//! goes through four sizes of rings at once. An eager collector also prepares the next large ring, before any
//! thread records.

use std::time::{Duration, Instant};

use silverpoint_shm::observer::{ObserveError, ObservedSession};
use silverpoint_wire::layout::control::{FLAG_DEMANDED, FLAG_EXPECTED};

/// Between two looks at the slabs.
const INTERVAL: Duration = Duration::from_millis(20);
/// Bytes of a slab that are ready beyond those claimed.
const AHEAD: u32 = 128 << 10;
/// Slabs that nobody has begun whose beginnings are ready: one for each size that a thread may grow to.
const NEXT_SLABS: u32 = 4;
/// The slab in which the first large ring will lie: the three sizes that come before it take one each.
const FIRST_LARGE: u32 = NEXT_SLABS - 1;
/// Bytes of each that are ready while little is recorded; with an eager collector [`AHEAD`].
const NEXT: u32 = 64 << 10;
/// A session that recorded so many bytes between two looks gets the whole next slab.
const BUSY: u64 = 256 << 10;
/// Bytes that are prepared at once: while records come, rings are to be emptied, too.
const PIECE_BUSY: u32 = 32 << 10;
/// As above, of a session that is quiet: somebody may begin meanwhile.
const PIECE_QUIET: u32 = 64 << 10;
/// Slabs that are looked at, the youngest: older ones are full.
const SLABS: u32 = 8;

/// How far each slab has been prepared.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    ends: Vec<u32>,
    looked: Option<Instant>,
    /// Slabs in use when it was looked last.
    slabs: u32,
    /// There was more to do than one look does.
    has_more: bool,
    bytes: u64,
    /// What `bytes` said when an interval had passed.
    is_busy: bool,
    /// The file system cannot, or has no room: not asked again.
    is_refused: bool,
    /// See [`crate::Config::is_eager`].
    pub(crate) is_eager: bool,
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
        let is_first = self.looked.is_none();
        let has_passed = self.looked.is_none_or(|at| at.elapsed() >= INTERVAL);
        let has_grown = slabs_next != self.slabs;
        if self.is_refused || !(has_passed || has_grown || self.has_more) {
            return Ok(());
        }
        self.is_busy = self.bytes >= BUSY || (self.is_busy && !has_passed);
        if has_passed {
            self.looked = Some(Instant::now());
            self.bytes = 0;
        }
        self.slabs = slabs_next;
        self.has_more = false;
        let header = session.header();
        if slabs_next == 0 && !self.is_eager && header.flags & (FLAG_DEMANDED | FLAG_EXPECTED) == 0 {
            return Ok(()); // it may never record
        }
        let mut left = match bytes {
            // When nobody records yet.
            0 if self.is_eager && is_first => u32::MAX,
            0 => PIECE_QUIET,
            _ => PIECE_BUSY,
        };
        let slabs = slabs_next.min(header.slab_count);
        // The youngest first: somebody is filling it.
        for slab in (slabs.saturating_sub(SLABS)..slabs).rev() {
            let Some((shift, next, backed)) = session.slab(slab)? else { continue };
            let used = 1u32.checked_shl(shift).map_or(0, |size| size.saturating_mul(next));
            let goal = used.saturating_add(AHEAD).min(header.slab_bytes);
            self.reach(session, slab, backed, goal, &mut left);
        }
        let next = if self.is_eager { AHEAD } else { NEXT };
        for slab in slabs..header.slab_count.min(slabs.saturating_add(NEXT_SLABS)) {
            let is_whole = slab == if self.is_eager { slabs.max(FIRST_LARGE) } else { slabs };
            let is_whole = is_whole && (self.is_busy || self.is_eager);
            let goal = if is_whole { header.slab_bytes } else { next.min(header.slab_bytes) };
            self.reach(session, slab, 0, goal, &mut left);
        }
        Ok(())
    }

    /// Prepares a slab up to `goal`, as far as what is left of this look allows.
    fn reach(&mut self, session: &ObservedSession, slab: u32, backed: u32, goal: u32, left: &mut u32) {
        let index = slab as usize;
        if self.ends.len() <= index {
            self.ends.resize(index + 1, 0);
        }
        let from = self.ends[index].max(backed);
        if from >= goal || self.is_refused {
            return;
        }
        let bytes = (goal - from).min(*left);
        self.has_more |= bytes < goal - from;
        if bytes == 0 {
            return;
        }
        *left -= bytes;
        let at = u64::from(slab) * u64::from(session.header().slab_bytes) + u64::from(from);
        self.is_refused = !session.prepare(at, u64::from(bytes));
        self.ends[index] = from + bytes;
    }
}
