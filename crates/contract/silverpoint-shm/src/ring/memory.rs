//! Whether a slice has its memory, which a collector may have given back (spec/wire.md, section 3.4).

use std::sync::atomic::Ordering;

use super::platform::{Platform, Word32};

/// The word `returned` of a slice that the caller has just taken. The fence pairs with the collector's: either
/// this sees that the collector has begun, or it sees that the slice was taken.
#[inline]
pub fn look_at_memory<P: Platform>(returned: &P::U32) -> u32 {
    P::full_fence();
    returned.load(Ordering::Acquire)
}
