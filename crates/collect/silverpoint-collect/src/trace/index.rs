//! Headers of the blocks that were written since the last *index* block, for the next one.

use silverpoint_wire::block::{BlockHeader, INDEX_HEADERS_MAX, Index};
use silverpoint_wire::layout::block::HEADER_SIZE;

use super::Batch;

/// What the next *index* block will hold. Bounded: one is written when there are many blocks.
#[derive(Debug, Default)]
pub(crate) struct Pending(Index);

/// A block of so many headers has a quarter of a megabyte.
const MANY: usize = if INDEX_HEADERS_MAX < 2730 { INDEX_HEADERS_MAX } else { 2730 };

impl Pending {
    /// The blocks of a batch have been written.
    pub(crate) fn add(&mut self, batch: &Batch) {
        let mut rest = batch.bytes();
        while let Ok(header) = BlockHeader::decode(rest) {
            self.0.headers.extend_from_slice(&rest[..HEADER_SIZE]);
            let size = header.block_size() as usize;
            rest = rest.get(size..).unwrap_or_default();
        }
    }

    /// Whether an *index* block is due before the end of the segment.
    pub(crate) fn is_long(&self) -> bool {
        self.0.headers.len() >= MANY * HEADER_SIZE
    }

    /// Whether it has no entries.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.headers.is_empty()
    }

    /// The payload of an *index* block.
    pub(crate) fn payload(&self) -> Vec<u8> {
        let mut payload = Vec::new();
        self.0.encode(&mut payload);
        payload
    }

    /// That block stands here now.
    pub(crate) fn written(&mut self, at: u64) {
        self.0.previous = at;
        self.0.headers.clear();
    }

    /// Where the last *index* block stands; 0: there is none.
    pub(crate) fn last(&self) -> u64 {
        self.0.previous
    }
}
