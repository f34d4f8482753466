//! Slices that nobody has had yet (spec/wire.md, section 3.4).
//!
//! A small one is backed as a whole. While somebody collects, a large one is taken when its first page is backed,
//! unless the collector has prepared it. Its owner makes the rest as records come there ([`super::paged`]). A
//! page takes a call a few microseconds, a megabyte nearly a millisecond.

use std::sync::atomic::Ordering;

use super::at;
use super::paged::{PAGE, is_paged};
use super::remembered::Remembered;
use super::session::Session;
use super::slabs::{Found, entry, shift_of, slice_at};
use super::usable::{accessible, slabs, usable_slabs};
use crate::clock;

/// After the kernel had no memory for a slice.
const NO_MEMORY_PAUSE_NS: u64 = 1_000_000;

/// A slice that was never used, from a slab of that size or, where that may begin one, from a new slab.
pub(super) fn take(
    session: &Session,
    remembered: &Remembered,
    size: usize,
    may_begin_slab: bool,
) -> Option<Found> {
    let shift = shift_of(session, size)?;
    // A thread without a ring comes here at each of its records. If there was no memory just now, it does not
    // ask the kernel again.
    let no_memory_until = &remembered.no_memory_until_ns[size];
    let until = no_memory_until.load(Ordering::Relaxed);
    if until != 0 && clock::monotonic_ns() < until {
        return None;
    }
    match take_now(session, shift, may_begin_slab) {
        Taken::Slice(found) => Some(found),
        Taken::ByOthers => None,
        Taken::NoMemory => {
            no_memory_until.store(clock::monotonic_ns() + NO_MEMORY_PAUSE_NS, Ordering::Relaxed);
            None
        }
    }
}

fn take_now(session: &Session, shift: u32, may_begin_slab: bool) -> Taken {
    // SAFETY: the header is always backed.
    let slabs_next = unsafe { session.control.u32(at::header::SLABS_NEXT) };
    loop {
        let begun = slabs(session);
        let mut result = Taken::ByOthers;
        for slab in 0..begun {
            // SAFETY: an offset within the entry.
            let its_shift = unsafe { entry(session, slab).u32(at::SLAB_SHIFT) };
            if its_shift.load(Ordering::Acquire) == shift {
                match take_from(session, slab, shift) {
                    Taken::ByOthers => {}
                    Taken::NoMemory => result = Taken::NoMemory,
                    slice @ Taken::Slice(_) => return slice,
                }
            }
        }
        if !may_begin_slab || begun >= usable_slabs(session) {
            return result;
        }
        if accessible(session, begun + 1) <= begun {
            return Taken::NoMemory;
        }
        // As with a slice: a slab is begun when its first slice is backed. The thread that sets its size has
        // it, as have all others; every thread that comes here marks it as in use. So late threads take from
        // it, or begin the next one if it has another size.
        if !back(session, begun, end_of_first(session, 0, shift)) {
            return Taken::NoMemory;
        }
        // SAFETY: an offset within the entry.
        let its_shift = unsafe { entry(session, begun).u32(at::SLAB_SHIFT) };
        let _ = its_shift.compare_exchange(0, shift, Ordering::AcqRel, Ordering::Relaxed);
        let _ = slabs_next.compare_exchange(begun, begun + 1, Ordering::AcqRel, Ordering::Relaxed);
    }
}

/// What became of the wish for a slice of a slab.
enum Taken {
    Slice(Found),
    ByOthers,
    NoMemory,
}

/// Bytes of a slab up to which its slice `number` must be backed before it is taken.
fn end_of_first(session: &Session, number: u32, shift: u32) -> u32 {
    (number << shift) + if is_paged(session, shift) { PAGE } else { 1 << shift }
}

/// The next slice of a slab of that size. A number is taken when its slice is backed, or its first page. Before
/// that the number of a failed attempt would be lost for ever. So `next` passes a slice only by
/// compare-and-swap from that slice's number, after its backing.
fn take_from(session: &Session, slab: u32, shift: u32) -> Taken {
    let count = session.layout.slab_bytes >> shift;
    // SAFETY: an offset within the entry.
    let next = unsafe { entry(session, slab).u32(at::SLAB_NEXT) };
    let mut number = next.load(Ordering::Acquire);
    while number < count {
        let (end, first) = ((number + 1) << shift, end_of_first(session, number, shift));
        if !back(session, slab, first) {
            return Taken::NoMemory;
        }
        match next.compare_exchange(number, number + 1, Ordering::AcqRel, Ordering::Acquire) {
            Err(other) => number = other,
            Ok(_) => {
                let slice = slice_at(session, slab, number, shift);
                slice.enter();
                let missing = if first == end { 0 } else { end - count_as_backed(session, slab, end) };
                if slice.take(session, at::ring::FREE) {
                    if missing > 0 {
                        slice.set_paged(true);
                    }
                    return Taken::Slice(Found { slice, there: (1 << shift) - missing });
                }
                number += 1;
            }
        }
    }
    Taken::ByOthers
}

/// Up to the end of a slice that was just taken, a slab counts as backed: its owner sees to the rest. Returns
/// how far it is, up to there.
fn count_as_backed(session: &Session, slab: u32, end: u32) -> u32 {
    // SAFETY: offsets within the entry.
    let (backed, prepared) = unsafe {
        let entry = entry(session, slab);
        (entry.u32(at::SLAB_BACKED), entry.u32(at::SLAB_PREPARED))
    };
    // Threads that took later slices have backed this one, when they have counted further.
    let before = backed.load(Ordering::Acquire).max(prepared.load(Ordering::Acquire)).min(end);
    backed.fetch_max(end, Ordering::AcqRel);
    before
}

/// Makes sure that a slab is backed up to `need`, from where its backed part ends. What the collector has
/// prepared is backed already: its pages come into the page tables later, piece by piece ([`ring::Producer`]).
fn back(session: &Session, slab: u32, need: u32) -> bool {
    let slab_bytes = session.layout.slab_bytes;
    // SAFETY: offsets within the entry.
    let (backed, prepared) = unsafe {
        let entry = entry(session, slab);
        (entry.u32(at::SLAB_BACKED), entry.u32(at::SLAB_PREPARED))
    };
    let before = backed.load(Ordering::Acquire);
    if need <= before {
        return true;
    }
    // Whole pages: two of the smallest slices have one together.
    let wanted = need.next_multiple_of(PAGE).min(slab_bytes);
    let prepared = prepared.load(Ordering::Acquire).min(slab_bytes);
    if need <= prepared {
        backed.fetch_max(wanted.min(prepared), Ordering::AcqRel);
        return true;
    }
    let start = slab as usize * slab_bytes as usize;
    let from = before.max(prepared);
    let is_backed = session.back_rings(start + from as usize, (wanted - from) as usize);
    if is_backed {
        backed.fetch_max(wanted, Ordering::AcqRel);
    }
    is_backed
}
