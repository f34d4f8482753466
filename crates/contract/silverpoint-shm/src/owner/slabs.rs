//! Claiming slices of the ring file (spec/wire.md, section 3.4).
//!
//! ```text
//!  free ──┐                 ┌──▶ live ──(owner grows)──▶ retired ──┐
//!  unused ┴─(a claimer)─▶ claiming                                 ├─(drained, or the flight recorder's oldest)─▶ claiming
//!                                 live, owner dead ────────────────┘
//! ```
//!
//! Every transition to *claiming* is a compare-and-swap by the claimer; the others are stores by the owner.
//! The state word counts adoptions. Between the check that finds a slice adoptable and the swap, others may
//! have had it. They may have left it in the same state with uncollected records.

use std::sync::atomic::Ordering;

use silverpoint_wire::slice::left_to_others;

use super::at;
use super::control::{Layout, Shared};
use super::fresh;
use super::remembered::Remembered;
use super::session::Session;
use super::usable::{slabs, usable_slabs};
use crate::ring::{self, Machine};
use crate::{clock, sys};

/// After a search of everything that found nothing.
const PAUSE_NS: u64 = 10_000_000;

/// log2 of the sizes that slices have.
const SHIFTS: [u32; 4] = [11, 14, 17, 20];
/// Number of sizes.
pub(crate) const SIZES: usize = SHIFTS.len();

/// A record of so many bytes can be had by a ring of the smallest size.
pub const ALWAYS_FITS: usize = (2048 - 1024) / 4;

/// log2 of the bytes of slices of a size (0: the smallest), `None` when slabs are too small for it.
pub(super) fn shift_of(session: &Session, size: usize) -> Option<u32> {
    let largest = session.layout.slab_bytes.trailing_zeros();
    let shift = *SHIFTS.get(size)?;
    if shift <= largest {
        return Some(shift);
    }
    // The size of a slab takes the place of the first that would be larger.
    (size > 0 && SHIFTS[size - 1] < largest).then_some(largest)
}

/// Bytes of the largest record that a ring of such a session can have, a multiple of 8.
pub(super) fn largest_record_of(layout: &Layout) -> usize {
    let header = layout.ring_header_size as usize;
    let largest = layout.slab_bytes.trailing_zeros().min(SHIFTS[SIZES - 1]);
    ((1usize << largest).saturating_sub(header) / 4 / 8 * 8).min(at::record::SIZE_MAX)
}

/// Bytes that records have in a ring of that size.
pub(crate) fn capacity_of(session: &Session, size: usize) -> Option<usize> {
    Some((1usize << shift_of(session, size)?) - session.layout.ring_header_size as usize)
}

/// A ring's header.
#[derive(Clone, Copy)]
pub(crate) struct Slice(pub(crate) Shared);

/// Who claims, and why.
pub(crate) struct Claim {
    pub(crate) size: usize,
    pub(crate) lane: usize,
    pub(crate) tid: u32,
    /// Stream that the new one continues, or 0.
    pub(crate) previous: u32,
    /// Nobody collects or is expected: what is not drained may be forgotten.
    pub(crate) may_forget: bool,
    /// Else only what is at hand in the slabs in use is taken, without a long search.
    pub(crate) may_begin_slab: bool,
}

/// A claimed slice: live, empty, and the caller's own.
pub(crate) struct Claimed {
    pub(crate) slice: Slice,
    pub(crate) stream: u32,
    pub(crate) base: u64,
    pub(crate) capacity: usize,
    /// See [`Found::there`].
    pub(crate) there: u32,
}

/// A slice that nobody else has.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub(super) slice: Slice,
    /// Bytes from its start that have memory, unless all have ([`Slice::is_there`]).
    pub(super) there: u32,
}

/// Claims a slice. `None`: no memory.
pub(crate) fn claim(session: &Session, remembered: &Remembered, claim: &Claim) -> Option<Claimed> {
    let shift = shift_of(session, claim.size)?;
    let found = adopt(session, remembered, claim, shift, looks_of(session, shift))
        .or_else(|| fresh::take(session, remembered, claim.size, claim.may_begin_slab))
        .or_else(|| {
            let now = clock::monotonic_ns();
            if !claim.may_begin_slab || now < remembered.exhausted_until_ns.load(Ordering::Relaxed) {
                return None;
            }
            let found = adopt(session, remembered, claim, shift, usize::MAX)
                .or_else(|| claim.may_forget.then(|| forget(session, claim, shift)).flatten());
            if found.is_none() {
                remembered.exhausted_until_ns.store(now + PAUSE_NS, Ordering::Relaxed);
            }
            found
        })?;
    Some(begin(session, found, claim, shift))
}

/// Claims a slice in which nothing begins yet, preferably an unused one: readers see none.
pub(crate) fn reserve(session: &Session, remembered: &Remembered, claim: &Claim) -> Option<Slice> {
    let shift = shift_of(session, claim.size)?;
    if let Some(Found { slice, .. }) = fresh::take(session, remembered, claim.size, true) {
        // Without the magic it is nobody else's to take.
        slice.set_state(session, at::ring::FREE);
        return Some(slice);
    }
    adopt(session, remembered, claim, shift, looks_of(session, shift))
        .or_else(|| claim.may_forget.then(|| forget(session, claim, shift)).flatten())
        .map(|found| found.slice)
}

/// Begins a stream in a slice that was reserved by the same claim.
pub(crate) fn begin_in(session: &Session, slice: Slice, claim: &Claim) -> Option<Claimed> {
    slice.set_state(session, at::ring::CLAIMING);
    Some(begin(session, Found { slice, there: 0 }, claim, shift_of(session, claim.size)?))
}

/// Gives a reserved slice back.
pub(crate) fn give_back(session: &Session, slice: Slice) {
    slice.set_state(session, at::ring::FREE);
    // SAFETY: an offset within the header.
    unsafe { slice.0.u32(0) }.store(at::ring::MAGIC, Ordering::Release);
}

/// The slice of the directory's number `slab`, by its number in it.
pub(super) fn slice_at(session: &Session, slab: u32, number: u32, shift: u32) -> Slice {
    // SAFETY: callers have checked both numbers against the layout.
    Slice(unsafe {
        let slab_at = slab as usize * session.layout.slab_bytes as usize;
        session.rings.mapping().part(slab_at + ((number as usize) << shift))
    })
}

/// The entry of a slab.
pub(super) fn entry(session: &Session, slab: u32) -> Shared {
    // SAFETY: slab numbers are below slab_count; the directory is backed since the session was made.
    unsafe {
        session.control.part(session.layout.slabs_at as usize + slab as usize * at::control::SLAB_ENTRY)
    }
}

/// Whether enough slabs are unused for a thread to continue in a ring of a comfortable size. New threads, and
/// those with small rings, must still find room then.
pub(crate) fn is_plenty(session: &Session, size: usize) -> bool {
    let count = usable_slabs(session);
    shift_of(session, size).is_some_and(|shift| slabs(session) < count - left_to_others(count, 1 << shift))
}

/// Whether no ring holds a record that nobody has consumed, or a loss that nobody has stored. For a clean end: looks at every slice.
pub(crate) fn hold_nothing(session: &Session) -> bool {
    (0..slabs(session)).all(|slab| {
        // SAFETY: an offset within the entry.
        let shift = unsafe { entry(session, slab).u32(at::SLAB_SHIFT) }.load(Ordering::Acquire);
        // Zero: taken by a thread that has not come to its size yet.
        (SHIFTS[0]..=session.layout.slab_bytes.ilog2()).contains(&shift)
            && (0..used(session, slab, shift))
                .all(|number| slice_at(session, slab, number, shift).holds_nothing(session))
    })
}

/// Slices of a slab that were ever claimed and are backed.
fn used(session: &Session, slab: u32, shift: u32) -> u32 {
    // SAFETY: offsets within the entry.
    unsafe {
        let entry = entry(session, slab);
        if entry.u32(at::SLAB_SHIFT).load(Ordering::Acquire) != shift {
            return 0;
        }
        let backed =
            entry.u32(at::SLAB_BACKED).load(Ordering::Acquire).min(session.layout.slab_bytes) >> shift;
        entry.u32(at::SLAB_NEXT).load(Ordering::Acquire).min(session.layout.slab_bytes >> shift).min(backed)
    }
}

/// All slices of a size that were ever claimed and are backed.
fn slices_of(session: &Session, slabs: u32, shift: u32) -> impl Iterator<Item = Slice> {
    (0..slabs).flat_map(move |slab| {
        (0..used(session, slab, shift)).map(move |number| slice_at(session, slab, number, shift))
    })
}

/// Slices that a claim examines for adoption before it takes new room: a bound on the time of a thread's first
/// record. Those as large as a slab are few, and an emptied one is better than new memory.
fn looks_of(session: &Session, shift: u32) -> usize {
    if 1 << shift == session.layout.slab_bytes { 256 } else { 8 }
}

/// Whether a slice whose memory is there may be adopted by this claim. The caller may find that another thread was quicker.
pub(crate) fn is_one_adoptable(session: &Session, claim: &Claim) -> bool {
    shift_of(session, claim.size).is_some_and(|shift| {
        slices_of(session, slabs(session), shift)
            .take(looks_of(session, shift))
            .any(|slice| slice.is_there() && slice.adoptable(session, claim, false).is_some())
    })
}

/// Examines up to `look_at` slices of a size, from where the last search ended, and takes an unused one.
fn adopt(
    session: &Session,
    remembered: &Remembered,
    claim: &Claim,
    shift: u32,
    look_at: usize,
) -> Option<Found> {
    let slabs = slabs(session);
    let all: usize = (0..slabs).map(|slab| used(session, slab, shift) as usize).sum();
    if all == 0 {
        return None;
    }
    let cursor = &remembered.slices_cursor[claim.size];
    let start = cursor.load(Ordering::Relaxed) as usize % all;
    let look_at = look_at.min(all);
    let mut returned = None;
    // Twice around, since the search begins in the middle.
    let slices = (0..2).flat_map(|_| slices_of(session, slabs, shift));
    for (k, slice) in slices.skip(start).take(look_at).enumerate() {
        let Some(state) = slice.adoptable(session, claim, false) else { continue };
        // Memory that was given back is as expensive as new memory.
        if !slice.is_there() {
            returned = returned.or(Some((slice, state)));
        } else if slice.take(session, state) {
            cursor.store((start + k + 1) as u32, Ordering::Relaxed);
            return Some(Found { slice, there: 0 });
        }
    }
    cursor.store((start + look_at) as u32, Ordering::Relaxed);
    let (slice, state) = returned?;
    slice.take(session, state).then_some(Found { slice, there: 0 })
}

/// Takes the slice that was claimed first, of all of a size whose owners have left or died. What it holds is
/// forgotten.
fn forget(session: &Session, claim: &Claim, shift: u32) -> Option<Found> {
    let mut oldest: Option<(u64, Slice, u32)> = None;
    for slice in slices_of(session, slabs(session), shift) {
        // SAFETY: an offset within the header.
        let claimed = unsafe { slice.0.u64(at::ring::at::CLAIMED_TICKS) }.load(Ordering::Relaxed);
        if oldest.is_some_and(|(before, ..)| before <= claimed) {
            continue; // before the kernel is asked whether its owner is dead
        }
        if let Some(state) = slice.adoptable(session, claim, true) {
            oldest = Some((claimed, slice, state));
        }
    }
    let (_, slice, state) = oldest?;
    slice.take(session, state).then_some(Found { slice, there: 0 })
}

impl Slice {
    fn field32(self, session: &Session, index: usize) -> &'static std::sync::atomic::AtomicU32 {
        // SAFETY: fields lie within the header, which the layout guarantees; slices are backed before they are used.
        unsafe { self.0.u32(session.layout.ring_fields[index].into()) }
    }

    /// Offset of the first record of the stream that begins next in it.
    pub(super) fn begin_of_records(self, session: &Session) -> usize {
        let header = session.layout.ring_header_size as usize;
        let capacity = self.field32(session, 2).load(Ordering::Relaxed) as u64;
        let base = self.field64(session, 5).load(Ordering::Acquire);
        header + base.checked_rem(capacity).unwrap_or(0) as usize
    }

    fn field64(self, session: &Session, index: usize) -> &'static std::sync::atomic::AtomicU64 {
        // SAFETY: as in field32; these fields are multiples of 8.
        unsafe { self.0.u64(session.layout.ring_fields[index].into()) }
    }

    /// The state, and in the same word the number of adoptions.
    fn state_word(self, session: &Session) -> &'static std::sync::atomic::AtomicU32 {
        self.field32(session, 0)
    }

    fn state(self, session: &Session) -> u32 {
        self.state_word(session).load(Ordering::Acquire) & at::ring::STATE_MASK
    }

    /// Enters its first pages into the page tables: by a load, for which the kernel enters several at once.
    pub(super) fn enter(self) {
        // SAFETY: an offset within the header.
        std::hint::black_box(unsafe { self.0.u32(0) }.load(Ordering::Acquire));
    }

    /// By the slice's owner or claimer, who is the only one to change the word then.
    pub(crate) fn set_state(self, session: &Session, state: u32) {
        let word = self.state_word(session);
        word.store(word.load(Ordering::Relaxed) & !at::ring::STATE_MASK | state, Ordering::Release);
    }

    pub(crate) fn losses(self, session: &Session, cause: usize) -> &'static std::sync::atomic::AtomicU64 {
        // SAFETY: eight words from the field on lie within the header.
        unsafe { self.0.u64(usize::from(session.layout.ring_fields[10]) + 8 * cause) }
    }

    /// Publishes everything before a position.
    pub(crate) fn commit(self, session: &Session, position: u64) {
        self.field64(session, 5).store(position, Ordering::Release);
    }

    /// Counts one wait.
    pub(crate) fn stalled(self, duration_ns: u64) {
        // SAFETY: offsets within the header.
        unsafe {
            self.0.u64(at::ring::at::STALLS).fetch_add(1, Ordering::Relaxed);
            self.0.u64(at::ring::at::STALL_NS).fetch_add(duration_ns, Ordering::Relaxed);
        }
    }

    /// The words that the ring core uses.
    pub(crate) fn shared(self, session: &Session) -> ring::Shared<Machine> {
        ring::Shared {
            committed: self.field64(session, 5),
            oldest: self.field64(session, 6),
            consumed: self.field64(session, 8),
            waiting: self.field32(session, 7),
            wake: self.field32(session, 9),
        }
    }

    /// The state word it may be adopted from, if it may.
    fn adoptable(self, session: &Session, claim: &Claim, forget: bool) -> Option<u32> {
        // SAFETY: an offset within the header.
        if unsafe { self.0.u32(0) }.load(Ordering::Acquire) != at::ring::MAGIC {
            return None; // its first claimer is not yet there
        }
        let word = self.state_word(session).load(Ordering::Acquire);
        // A new stream begins with no losses: as long as there is a collector, not before it has stored those of the old one.
        let is_free_to_go =
            || forget || (self.is_drained(session) && (claim.may_forget || self.is_told(session)));
        let may = match word & at::ring::STATE_MASK {
            at::ring::FREE => true,
            at::ring::RETIRED => is_free_to_go(),
            // Looked at once more when the owner is known to be dead: it may have recorded until then, and nobody adopted.
            at::ring::LIVE => is_free_to_go() && self.owner_is_dead(session, claim) && is_free_to_go(),
            _ => false,
        };
        may.then_some(word)
    }

    fn is_drained(self, session: &Session) -> bool {
        let committed = self.field64(session, 5).load(Ordering::Acquire);
        self.field64(session, 8).load(Ordering::Acquire) == committed
    }

    /// Whether a collector has stored all of the losses.
    fn is_told(self, session: &Session) -> bool {
        let lost = (0..8)
            .fold(0u64, |sum, cause| sum.wrapping_add(self.losses(session, cause).load(Ordering::Relaxed)));
        // SAFETY: an offset within the header.
        unsafe { self.0.u64(at::ring::at::TOLD) }.load(Ordering::Relaxed) == lost
    }

    fn holds_nothing(self, session: &Session) -> bool {
        // SAFETY: an offset within the header.
        let is_begun = unsafe { self.0.u32(0) }.load(Ordering::Acquire) == at::ring::MAGIC;
        let is_being_claimed = self.state(session) == at::ring::CLAIMING;
        is_begun && !is_being_claimed && self.is_drained(session) && self.is_told(session)
    }

    fn owner_is_dead(self, session: &Session, claim: &Claim) -> bool {
        let owner = self.field32(session, 1).load(Ordering::Relaxed);
        // SAFETY: an offset within the header.
        let copy = unsafe { self.0.u16(at::ring::at::COPY) }.load(Ordering::Relaxed);
        // A slice of this copy under the caller's own id is one of the caller's lanes, or of a thread that
        // had the id before. At a first claim for lane 0, lane 0 must be the latter.
        if owner == claim.tid && copy == session.copy {
            // SAFETY: an offset within the header.
            let lane = unsafe { self.0.u16(at::ring::at::LANE) }.load(Ordering::Relaxed);
            return lane == 0 && claim.lane == 0 && claim.previous == 0;
        }
        owner != claim.tid && !sys::thread_exists(owner)
    }

    /// Takes it, if its state word is still what it was; so nobody has had it since.
    pub(super) fn take(self, session: &Session, from: u32) -> bool {
        // A free one held nothing; nor does it when it is free again.
        let is_adoption = from & at::ring::STATE_MASK != at::ring::FREE;
        let count =
            (from & !at::ring::STATE_MASK).wrapping_add(if is_adoption { at::ring::ADOPTION } else { 0 });
        self.state_word(session)
            .compare_exchange(from, count | at::ring::CLAIMING, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
            && (!is_adoption || self.has_memory(session))
    }
}

/// Begins a stream in a slice that is being claimed.
fn begin(session: &Session, found: Found, claim: &Claim, shift: u32) -> Claimed {
    let Found { slice, there } = found;
    let data_at = session.layout.ring_header_size;
    let capacity = (1u32 << shift) - data_at;
    let field32 = |index, value| slice.field32(session, index).store(value, Ordering::Relaxed);
    let field64 = |index, value| slice.field64(session, index).store(value, Ordering::Relaxed);
    // SAFETY: offsets within the header and the control header.
    unsafe {
        let stream = session.control.u32(at::header::STREAMS_NEXT).fetch_add(1, Ordering::AcqRel) + 1;
        // The magic is missing at the first claim: then everything is zero.
        let base = slice.field64(session, 5).load(Ordering::Acquire);
        field32(1, claim.tid);
        field32(2, capacity);
        field32(3, data_at);
        field32(4, stream);
        slice.0.u16(at::ring::at::LANE).store(claim.lane as u16, Ordering::Relaxed);
        slice.0.u16(at::ring::at::COPY).store(session.copy, Ordering::Relaxed);
        slice.0.u32(at::ring::at::PREVIOUS).store(claim.previous, Ordering::Relaxed);
        slice.0.u64(at::ring::at::CLAIMED_TICKS).store(session.source.now(), Ordering::Relaxed);
        slice.0.write(session.layout.ring_fields[11].into(), &sys::thread_name());
        slice.0.u64(at::ring::at::BASE).store(base, Ordering::Relaxed);
        field64(6, base);
        field32(7, 0);
        field64(8, base);
        slice.0.u64(at::ring::at::STALLS).store(0, Ordering::Relaxed);
        slice.0.u64(at::ring::at::STALL_NS).store(0, Ordering::Relaxed);
        for cause in 0..8 {
            slice.losses(session, cause).store(0, Ordering::Relaxed);
        }
        slice.0.u64(at::ring::at::TOLD).store(0, Ordering::Relaxed);
        slice.set_state(session, at::ring::LIVE);
        slice.0.u32(0).store(at::ring::MAGIC, Ordering::Release);
        Claimed { slice, stream, base, capacity: capacity as usize, there }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owner::{leave, local};

    /// One test, since they share the process's session.
    #[test]
    fn slices_are_claimed() {
        let (session, local) = local::session().expect("a session");
        whoever_looked_before_another_had_a_slice_does_not_get_it(session, &local.remembered);
        what_is_forgotten_is_the_oldest_of_all(session, &local.remembered);
        leave();
    }

    fn claim_of(size: usize, may_forget: bool) -> Claim {
        Claim { size, lane: 0, tid: sys::thread_id(), previous: 0, may_forget, may_begin_slab: true }
    }

    /// Records in a ring that another thread had adopted, filled and left since must not count as drained:
    /// they are a thread's first records.
    fn whoever_looked_before_another_had_a_slice_does_not_get_it(session: &Session, remembered: &Remembered) {
        let mine = claim_of(0, false);
        let first = claim(session, remembered, &mine).expect("memory");
        let slice = first.slice;
        slice.set_state(session, at::ring::RETIRED);
        let seen = slice.adoptable(session, &mine, false).expect("it is drained");
        // Meanwhile another has it.
        let second = claim(session, remembered, &mine).expect("it is there");
        assert_eq!(second.slice.0.address(), slice.0.address());
        assert_eq!(slice.state(session), at::ring::LIVE);
        slice.commit(session, second.base + 64);
        slice.set_state(session, at::ring::RETIRED);
        assert!(!slice.take(session, seen), "its records are not collected yet");
        assert_eq!(slice.state(session), at::ring::RETIRED);
        assert_eq!(slice.adoptable(session, &mine, false), None);
        slice.field64(session, 8).store(second.base + 64, Ordering::Release);
        let seen = slice.adoptable(session, &mine, false).expect("it is drained");
        assert!(slice.take(session, seen));
        assert_eq!(slice.state(session), at::ring::CLAIMING);
        give_back(session, slice);
    }

    /// The flight recorder forgets the oldest thread first, wherever its ring is.
    fn what_is_forgotten_is_the_oldest_of_all(session: &Session, remembered: &Remembered) {
        let mine = claim_of(1, true);
        let slices: Vec<Slice> = (0..100)
            .map(|_| {
                let claimed = claim(session, remembered, &mine).expect("memory");
                claimed.slice.commit(session, claimed.base + 64);
                claimed.slice
            })
            .collect();
        slices.iter().for_each(|slice| slice.set_state(session, at::ring::RETIRED));
        for oldest in [99, 70, 0] {
            // SAFETY: an offset within the header.
            unsafe { slices[oldest].0.u64(at::ring::at::CLAIMED_TICKS) }.store(1, Ordering::Relaxed);
            let found = forget(session, &mine, shift_of(session, 1).unwrap()).expect("one is forgotten");
            assert_eq!(found.slice.0.address(), slices[oldest].0.address());
        }
    }
}
