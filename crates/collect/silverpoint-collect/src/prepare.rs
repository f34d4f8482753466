//! Backing ring memory before producers ask for it, so that no record waits until pages are made.
//!
//! The directory's `prepared` tells producers how far they need not ask for memory. What is left to them are
//! entries in their page tables, a few at a time. Unused pages are given back with the session. Up to 128 KiB
//! stay prepared for each slab in use. So do the slices that large rings have claimed, and the beginnings of
//! the next slabs. The latter are needed because a thread that begins to record much goes through four sizes
//! of rings at once. The whole next slab is prepared when a thread may need its largest ring. That is once one
//! has a ring of 128 KiB, or the session records much. For an eager collector that is before any thread records.

use std::time::{Duration, Instant};

use silverpoint_shm::observer::{ObserveError, ObservedSession, Slab};
use silverpoint_wire::layout::control::{FLAG_DEMANDED, FLAG_EXPECTED};

/// Between two looks at the slabs.
const INTERVAL: Duration = Duration::from_millis(20);
/// Bytes of a slab that are ready beyond those claimed, and of each that nobody has begun.
const AHEAD: u32 = 128 << 10;
/// Slabs that nobody has begun whose beginnings are ready: one for each size that a thread may grow to.
const NEXT_SLABS: u32 = 4;
/// The slab in which the first large ring will lie: the three sizes that come before it take one each.
const FIRST_LARGE: u32 = NEXT_SLABS - 1;
/// log2 of the rings that grow to the largest size next.
const LARGE: u32 = 17;
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
    /// `bytes`: what the session has recorded since the last call. True: there is more to do soon.
    pub(crate) fn ahead(
        &mut self,
        session: &ObservedSession,
        slabs_next: u32,
        bytes: u64,
    ) -> Result<bool, ObserveError> {
        self.bytes += bytes;
        let is_first = self.looked.is_none();
        let has_passed = self.looked.is_none_or(|at| at.elapsed() >= INTERVAL);
        let has_grown = slabs_next != self.slabs;
        if self.is_refused || !(has_passed || has_grown || self.has_more) {
            return Ok(false);
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
            return Ok(false); // it may never record
        }
        let mut left = match bytes {
            // When nobody records yet.
            0 if self.is_eager && is_first => u32::MAX,
            0 => PIECE_QUIET,
            _ => PIECE_BUSY,
        };
        let slabs = slabs_next.min(header.slab_count);
        let mut may_grow = false;
        // The youngest first: somebody is filling it.
        for slab in (slabs.saturating_sub(SLABS)..slabs).rev() {
            let Some(Slab { shift, next, backed, prepared }) = session.slab(slab)? else { continue };
            let used = 1u32.checked_shl(shift).map_or(0, |size| size.saturating_mul(next));
            let goal = used.saturating_add(AHEAD).min(header.slab_bytes);
            may_grow |= shift >= LARGE;
            self.reach(session, slab, backed.max(prepared), goal, &mut left)?;
        }
        for slab in slabs..header.slab_count.min(slabs.saturating_add(NEXT_SLABS)) {
            let is_whole = slab == if self.is_eager { slabs.max(FIRST_LARGE) } else { slabs };
            let is_whole = is_whole && (self.is_busy || self.is_eager || may_grow);
            let goal = if is_whole { header.slab_bytes } else { AHEAD.min(header.slab_bytes) };
            // What another collector has prepared is asked for once.
            let is_new = self.ends.get(slab as usize).is_none_or(|end| *end == 0);
            let before = if is_new { session.slab(slab)?.unwrap_or_default() } else { Slab::default() };
            self.reach(session, slab, before.backed.max(before.prepared), goal, &mut left)?;
        }
        Ok(self.has_more && !self.is_refused)
    }

    /// Prepares a slab up to `goal`, as far as what is left of this look allows, and tells its producers.
    /// `before`: so far it was ready when it was looked at.
    fn reach(
        &mut self,
        session: &ObservedSession,
        slab: u32,
        before: u32,
        goal: u32,
        left: &mut u32,
    ) -> Result<(), ObserveError> {
        let index = slab as usize;
        if self.ends.len() <= index {
            self.ends.resize(index + 1, 0);
        }
        let from = self.ends[index].max(before);
        if from >= goal || self.is_refused {
            return Ok(());
        }
        let bytes = (goal - from).min(*left);
        self.has_more |= bytes < goal - from;
        if bytes == 0 {
            return Ok(());
        }
        *left -= bytes;
        let at = u64::from(slab) * u64::from(session.header().slab_bytes) + u64::from(from);
        self.is_refused = !session.prepare(at, u64::from(bytes));
        if self.is_refused {
            return Ok(());
        }
        self.ends[index] = from + bytes;
        session.set_prepared(slab, from + bytes)
    }
}
