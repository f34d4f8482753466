//! Slices whose memory the collector has given back (spec/wire.md, section 3.4).

use std::sync::atomic::{AtomicU32, Ordering};

use super::at;
use super::session::Session;
use super::slabs::Slice;
use crate::ring::{Machine, look_at_memory};

impl Slice {
    fn returned(self) -> &'static AtomicU32 {
        // SAFETY: an offset within the header.
        unsafe { self.0.u32(at::ring::at::RETURNED) }
    }

    /// Whether the collector has left its memory alone.
    pub(super) fn is_there(self) -> bool {
        self.returned().load(Ordering::Relaxed) == at::ring::PRESENT
    }

    /// Makes sure that a slice that was just taken has its memory, which the collector may have given back.
    /// False: it is giving it back now, or there is none; then the slice is retired again.
    pub(super) fn has_memory(self, session: &Session) -> bool {
        let word = self.returned();
        let place = self.0.address().addr() - session.rings.mapping().address().addr();
        let slab_bytes = session.layout.slab_bytes as usize;
        let has = match look_at_memory::<Machine>(word) {
            at::ring::PRESENT => return true,
            at::ring::RETURNED => session.back_rings(place, slab_bytes - place % slab_bytes),
            _ => false,
        };
        if has {
            word.store(at::ring::PRESENT, Ordering::Relaxed);
        } else {
            self.set_state(session, at::ring::RETIRED);
        }
        has
    }
}
