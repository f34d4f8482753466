//! Room for the raw bytes of blocks: used again, and between two looks at a growing trace the blocks that were left half given stay as they are, so that the next look need not
//! read and check them anew.

use super::scan::BlockRef;

/// Rooms that are kept for blocks to come.
const SPARE_MAX: usize = 16;
/// Bytes of blocks that stay open between two looks; those beyond are read again.
const OPEN_MAX: usize = 32 << 20;

/// What is not in use by a cursor.
#[derive(Debug, Default)]
pub(super) struct Rooms {
    /// Of arbitrary content: whoever reads into one makes it as long as what is read.
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

    /// Nobody needs these bytes any more.
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

    /// Everything there was has been given: who waits needs no room.
    pub(super) fn rest(&mut self) {
        *self = Self::default();
    }
}
