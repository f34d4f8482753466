//! Buffers for the raw bytes of blocks, which are reused. Blocks that were given only in part stay open
//! between two polls of a growing trace. The next poll need not read and check them again.

use std::collections::HashMap;

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
    /// Blocks within which reading stopped, by file and place, with their raw bytes, checked.
    open: HashMap<(u32, u64), (BlockRef, Vec<u8>)>,
    /// Bytes in `open`.
    bytes: usize,
}

impl Rooms {
    /// The raw bytes of a block that was left open.
    pub(super) fn reopen(&mut self, block: &BlockRef) -> Option<Vec<u8>> {
        let (left, raw) = self.open.remove(&(block.file, block.at))?;
        self.bytes -= raw.len();
        (left.header == block.header).then_some(raw)
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
            if let Some((_, before)) = self.open.insert((block.file, block.at), (*block, raw)) {
                self.bytes -= before.len();
            }
        }
    }

    /// Everything was given: a waiting reader needs no buffers.
    pub(super) fn rest(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use silverpoint_wire::block::{BlockHeader, BlockKind};

    use super::*;

    #[test]
    fn what_was_left_open_is_found_once_and_counted_once() {
        let block = |at| BlockRef { file: 1, at, header: BlockHeader::new(BlockKind::RECORDS, &[]) };
        let mut rooms = Rooms::default();
        for length in 1..=3 {
            rooms.leave_open(&block(7), vec![0; length]);
            rooms.leave_open(&block(8), vec![0; 10]);
        }
        assert_eq!(rooms.bytes, 13);
        let mut other = block(8);
        other.header.sequence = 5;
        assert_eq!(rooms.reopen(&other), None);
        assert_eq!(rooms.reopen(&block(7)), Some(vec![0; 3]));
        assert_eq!((rooms.reopen(&block(7)), rooms.bytes), (None, 0));
    }
}
