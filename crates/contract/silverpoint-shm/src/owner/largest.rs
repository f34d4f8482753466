//! How large a record can be.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::local;
use super::slabs::{ALWAYS_FITS, largest_record_of};

/// Bytes of the largest record that a ring of this process's sessions can have, a multiple of 8. (A forked child's session has its parent's layout.)
#[inline(always)]
pub fn largest_record() -> usize {
    static LARGEST: AtomicUsize = AtomicUsize::new(0);
    #[cold]
    #[inline(never)]
    fn ask() -> usize {
        let Some(session) = local::existing() else { return ALWAYS_FITS };
        let largest = largest_record_of(&session.layout);
        LARGEST.store(largest, Ordering::Relaxed);
        largest
    }
    match LARGEST.load(Ordering::Relaxed) {
        0 => ask(),
        largest => largest,
    }
}
