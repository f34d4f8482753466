//! The header of a record, and what became of one.

use silverpoint_wire::layout::record::HEADER_SIZE;

pub(crate) use silverpoint_wire::layout::record::TRUNCATED;

/// Bytes before the arguments.
pub(crate) const HEADER: usize = HEADER_SIZE;

/// What became of a record. (Two words, which are returned in registers; an option of them would be stored.)
#[derive(Clone, Copy)]
pub(crate) struct Made {
    /// Of its site.
    pub(crate) id: u32,
    /// When; 0 when the record was lost.
    pub(crate) ticks: u64,
}

impl Made {
    pub(crate) const LOST: Self = Self { id: 0, ticks: 0 };
}

/// # Safety
/// 16 bytes at `start` may be written.
#[inline(always)]
pub(crate) unsafe fn header(start: *mut u8, size: usize, flags: u32, id: u32, ticks: u64) {
    let head = u64::from(size as u32 | flags) | u64::from(id) << 32;
    // SAFETY: by the caller.
    unsafe {
        start.cast::<u64>().write_unaligned(head.to_le());
        start.add(8).cast::<u64>().write_unaligned(ticks.to_le());
    }
}
