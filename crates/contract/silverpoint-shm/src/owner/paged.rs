//! Large slices whose memory comes a page at a time (spec/wire.md, section 3.4).
//!
//! Their word `returned` says that memory may be missing: it was given back, or never made. Their owner makes
//! it where the next record goes. An owner may leave its slice before all is there. Who adopts it makes pages in
//! the same way, and finds those that are there.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use super::at;
use super::session::Session;
use super::slabs::Slice;
use crate::ring::{Machine, Producer, look_at_memory};

/// Bytes that are made at a time.
pub(super) const PAGE: u32 = 4096;
/// log2 of the smallest slices that are made so. Smaller ones have four pages at most, or share one.
const SMALLEST: u32 = 16;

/// Whether the memory of new slices of this size comes a page at a time. While nobody collects, a thread has one
/// ring for long: then pages at once take less time altogether.
pub(super) fn is_paged(session: &Session, shift: u32) -> bool {
    shift >= SMALLEST && session.is_collected()
}

impl Slice {
    fn returned(self) -> &'static AtomicU32 {
        // SAFETY: an offset within the header.
        unsafe { self.0.u32(at::ring::at::RETURNED) }
    }

    /// Whether it has all of its memory.
    pub(super) fn is_there(self) -> bool {
        self.returned().load(Ordering::Relaxed) == at::ring::PRESENT
    }

    /// By its owner or claimer: memory may be missing, or all is there.
    pub(super) fn set_paged(self, is_paged: bool) {
        let word = if is_paged { at::ring::RETURNED } else { at::ring::PRESENT };
        self.returned().store(word, Ordering::Relaxed);
    }

    /// Offset in the ring file.
    fn place(self, session: &Session) -> usize {
        self.0.address().addr() - session.rings.mapping().address().addr()
    }

    /// Makes sure that a slice that was just taken has memory where its records begin. The collector may have
    /// given it back. False: it is giving it back now, or there is none; then the slice is retired again.
    pub(super) fn has_memory(self, session: &Session) -> bool {
        let has = match look_at_memory::<Machine>(self.returned()) {
            at::ring::PRESENT => return true,
            at::ring::RETURNED => {
                let at = self.place(session) + self.begin_of_records(session);
                session.back_rings(at, 1)
            }
            _ => false,
        };
        if !has {
            self.set_state(session, at::ring::RETIRED);
        }
        has
    }
}

/// Tells the producer of a lane that has just taken a slice where memory is missing. `there`: bytes of the slice that
/// have memory.
#[cold]
pub(super) fn attach(producer: &Producer<Machine>, session: &Session, slice: Slice, there: u32) {
    let header = session.layout.ring_header_size as usize;
    let begin = (slice.begin_of_records(session) + 1).next_multiple_of(PAGE as usize);
    producer.set_there(begin.max(there as usize) - header, at::ring::KEPT - header);
}

/// Makes memory for a record of `size` bytes. False: there is none, and the ring has become smaller.
#[inline(always)]
pub(super) fn make(producer: &Producer<Machine>, session: &Session, slice: Slice, size: usize) -> bool {
    producer.missing(size).is_none_or(|missing| make_more(producer, session, slice, size, missing))
}

#[cold]
#[inline(never)]
fn make_more(
    producer: &Producer<Machine>,
    session: &Session,
    slice: Slice,
    size: usize,
    missing: Range<usize>,
) -> bool {
    let header = session.layout.ring_header_size as usize;
    let mut next = Some(missing);
    while let Some(missing) = next {
        let from = header + missing.start;
        let to = (header + missing.end).next_multiple_of(PAGE as usize).min(header + producer.capacity());
        let most = header + producer.capacity() - from;
        let made = session.back_some_of_rings(slice.place(session) + from, to - from, most);
        if made == 0 {
            producer.refuse_memory();
            return false;
        }
        if producer.reaches_memory(missing.start + made) {
            slice.set_paged(false);
        }
        next = producer.missing(size);
    }
    true
}
