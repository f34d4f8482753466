//! What the collector has prepared of slabs (spec/wire.md, section 3.4).

use std::sync::atomic::Ordering;

use super::at;
use super::session::Session;
use super::slabs::{Slice, entry, shift_of};
use super::usable::slabs;

/// Whether the collector is preparing a slab for slices of this size, and is not yet as far as one of them. To
/// make the rest of its pages takes the caller long; the collector has it soon.
pub(crate) fn is_being_prepared(session: &Session, size: usize) -> bool {
    let Some(shift) = shift_of(session, size) else { return false };
    // SAFETY: offsets within the entry.
    let words = |slab| unsafe {
        let word = |at| entry(session, slab).u32(at).load(Ordering::Relaxed);
        (word(at::SLAB_SHIFT), word(at::SLAB_NEXT), word(at::SLAB_BACKED), word(at::SLAB_PREPARED))
    };
    let begun = slabs(session);
    let is_at_hand = |slab| {
        let (its_shift, next, backed, prepared) = words(slab);
        let count = session.layout.slab_bytes >> shift;
        its_shift == shift && next < count && (next + 1) << shift <= backed.max(prepared)
    };
    if begun == session.layout.slab_count || (0..begun).any(is_at_hand) {
        return false;
    }
    let (_, _, backed, prepared) = words(begun);
    prepared > 0 && backed.max(prepared) < 1 << shift
}

/// Whether a slice was backed by the collector, at least in part. A producer that backs one enters its pages
/// into the page tables, too.
pub(crate) fn is_prepared(session: &Session, slice: Slice) -> bool {
    let at = slice.0.address().addr() - session.rings.mapping().address().addr();
    let (slab, in_slab) = (at / session.layout.slab_bytes as usize, at % session.layout.slab_bytes as usize);
    // SAFETY: an offset within the entry; the slice is in a slab of the directory.
    let prepared = unsafe { entry(session, slab as u32).u32(at::SLAB_PREPARED) }.load(Ordering::Relaxed);
    prepared as usize > in_slab
}
