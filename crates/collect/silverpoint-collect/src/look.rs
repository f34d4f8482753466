//! What a look at a session and its rings finds.

use silverpoint_wire::layout::block::LEVELS_CONTROL;
use silverpoint_wire::layout::site_entry::FIRST_ID;
use silverpoint_wire::slice::{RingError, RingHeader, Summary, summarize};

use crate::sites::SiteBook;

/// Bytes that are read from a ring at a time at most. More than the longest record.
pub(crate) const READ: usize = 512 << 10;
/// What a look at a session found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Looked {
    /// Bytes of rings that were stored or given up.
    pub(crate) bytes: u64,
    /// How full the fullest ring was, in 256ths.
    pub(crate) fullest: u32,
    /// Something was seen that must be looked at again soon.
    pub(crate) is_unsettled: bool,
    /// Rings of its threads are being prepared, a piece at each pass.
    pub(crate) is_preparing: bool,
    /// The session is dead, and a look at every one of its rings since then has found nothing: nothing can come any more.
    pub(crate) is_final: bool,
}

/// A ring with something to read.
pub(crate) struct Active {
    pub(crate) ring: usize,
    pub(crate) header: RingHeader,
    /// Through which it is stored.
    pub(crate) expected: u64,
    /// From which it can be read: later, when the producer has overwritten something.
    pub(crate) from: u64,
    pub(crate) to: u64,
}

/// A judged copy.
pub(crate) struct Judged {
    pub(crate) summary: Summary,
    pub(crate) error: Option<RingError>,
    pub(crate) levels: u32,
}

/// Checks copied bytes of a ring.
pub(crate) fn judge(sites: &SiteBook, payload: &[u8], position: u64, capacity: u32) -> Judged {
    let mut levels = 0u32;
    let (summary, error) = summarize(payload, position, capacity, |id| {
        let bit = sites.level_bit(id);
        levels |= u32::from(bit);
        bit != 0 || id < FIRST_ID
    });
    if summary.control {
        levels |= LEVELS_CONTROL;
    }
    Judged { summary, error, levels }
}
