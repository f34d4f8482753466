//! How many slabs of the ring file are in use, and how many may be.

use std::sync::atomic::Ordering;

use super::at;
use super::session::Session;

/// Slabs in use, as far as this process has access to them.
pub(crate) fn slabs(session: &Session) -> u32 {
    // SAFETY: the header is always backed.
    let begun = unsafe { session.control.u32(at::header::SLABS_NEXT) }
        .load(Ordering::Acquire)
        .min(session.layout.slab_count);
    accessible(session, begun)
}

/// As many of the first `slabs` as this process has access to: all, unless the system refuses.
pub(crate) fn accessible(session: &Session, slabs: u32) -> u32 {
    let bytes = u64::from(session.layout.slab_bytes);
    slabs.min((session.rings.opened_to(u64::from(slabs) * bytes) / bytes) as u32)
}

/// Slabs that may be used now.
pub(crate) fn usable_slabs(session: &Session) -> u32 {
    if session.is_collected() { session.layout.slab_count } else { session.uncollected_slabs }
}
