//! Buffers for the raw bytes of blocks, which are reused. Blocks that were given only in part stay open
//! between two polls of a growing trace. The next poll need not read and check them again.

use super::scan::BlockRef;

/// Buffers that are kept for later blocks.
const SPARE_MAX: usize = 16;
/// Bytes of blocks that stay open between two polls; those beyond are read again.
const OPEN_MAX: usize = 32 << 20;

/// Buffers that no cursor uses.
#[derive(Debug, Default)]
pub(super) struct Rooms {
    /// With arbitrary content: the reader makes one as long as its data.
    spare: Vec<Vec<u8>>,
    /// Blocks within which reading stopped, with their raw bytes, checked.
    open: Vec<(BlockRef, Vec<u8>)>,
    /// Bytes in `open`.
    bytes: usize,
}

impl Rooms {
    /// The raw bytes of a block that was left open.
    pub(super) fn reopen(&mut self, block: &BlockRef) -> Option<Vec<u8>> {
        let is_it = |(left, _): &(BlockRef, Vec<u8>)| {
            left.file == block.file && left.at == block.at && left.header == block.header
        };
        let (_, raw) = self.open.swap_remove(self.open.iter().position(is_it)?);
        self.bytes -= raw.len();
        Some(raw)
    }

    /// Room for a block, with arbitrary content.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Returns a buffer.
    pub(super) fn give(&mut self, raw: Vec<u8>) {
        if self.spare.len() < SPARE_MAX {
            self.spare.push(raw);
        }
    }

    /// Reading stops within this block.
    pub(super) fn leave_open(&mut self, block: &BlockRef, raw: Vec<u8>) {
        if self.bytes + raw.len() <= OPEN_MAX {
            self.bytes += raw.len();
            self.open.push((*block, raw));
        }
    }

    /// Everything was given: a waiting reader needs no buffers.
    pub(super) fn rest(&mut self) {
        *self = Self::default();
    }
}
