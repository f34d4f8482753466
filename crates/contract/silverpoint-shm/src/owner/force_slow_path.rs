//! Bringing all threads to the cold path.

use std::sync::atomic::{Ordering, fence};

use super::lane::LANES;
use super::local::{self, SLOTS_USED};

/// Brings the next record of every lane of all threads to the cold path.
pub(crate) fn force_slow_path() {
    // Before it: that there is a function. Each thread does the opposite in `giving::ready`, so that one of the two sees the other.
    fence(Ordering::SeqCst);
    let Some(local) = local::mapped() else { return };
    let used = (SLOTS_USED.load(Ordering::SeqCst) as usize).min(local::MAX_THREADS);
    for slot in 0..used {
        for number in 0..LANES {
            local.lane(slot, number).producer.force_slow_path_soon();
        }
    }
}
