//! Blocks of a trace file as they will stand in it: the one place where they get their numbers, sizes, checksums and padding.
//!
//! ```
//! use silverpoint_wire::batch::Batch;
//! use silverpoint_wire::block::BlockKind;
//!
//! let mut batch = Batch::new();
//! batch.push(BlockKind::NOTE, 0, 0, b"hello");
//! assert_eq!((batch.len(), batch.next_sequence()), (104, 1));
//! ```

use crate::block::{BlockHeader, BlockKind};
use crate::layout::block::HEADER_SIZE;
use crate::repetition::Repetition;

/// Blocks one after the other, as they will stand in the file. Ring bytes are read straight into their place: [`Batch::reserve`], then [`Batch::finish`].
///
/// Invariant: `bytes[..len]` are whole blocks (and what [`Batch::pad`] has put between them), but for one that is reserved at the end.
#[derive(Debug, Default)]
pub struct Batch {
    /// Grows, never shrinks: what is beyond `len` is not cleared each time.
    bytes: Vec<u8>,
    len: usize,
    next_sequence: u64,
    records: u64,
    ring_bytes: u64,
    kinds: Repetition,
    scratch: Vec<u8>,
}

/// Room for one block at the end of a batch.
#[derive(Debug)]
pub struct Slot {
    /// Where its header will stand.
    at: usize,
    /// Bytes of its payload.
    len: usize,
}

impl Batch {
    /// An empty one; its first block has the number 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Empties it; the next block has this number.
    pub fn restart(&mut self, sequence: u64) {
        (self.len, self.next_sequence, self.records, self.ring_bytes) = (0, sequence, 0, 0);
        self.kinds.restart();
    }

    /// Empties it; numbers and what decides about descriptions go on.
    pub fn clear(&mut self) {
        (self.len, self.records, self.ring_bytes) = (0, 0, 0);
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of all blocks.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The blocks, one after the other.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Number of the block after the last.
    pub fn next_sequence(&self) -> u64 {
        self.next_sequence
    }

    /// Records in it, and the bytes they had in their rings.
    pub fn contents(&self) -> (u64, u64) {
        (self.records, self.ring_bytes)
    }

    /// The parts of it that decide when descriptions are due again.
    pub fn kinds(&self) -> Repetition {
        self.kinds
    }

    /// The same, for a writer that begins to describe everything again.
    pub fn kinds_mut(&mut self) -> &mut Repetition {
        &mut self.kinds
    }

    /// The blocks, when there will be no others.
    pub fn into_bytes(mut self) -> Vec<u8> {
        self.bytes.truncate(self.len);
        self.bytes
    }

    /// Appends so many zero bytes: what stands before may end anywhere.
    pub fn pad(&mut self, count: usize) {
        let end = self.len + count;
        self.bytes.resize(self.bytes.len().max(end), 0);
        self.bytes[self.len..end].fill(0);
        self.len = end;
    }

    /// Appends a block that concerns a session (0: none) and a stream (0: none).
    pub fn push(&mut self, kind: BlockKind, session: u32, stream: u32, payload: &[u8]) {
        self.push_block(BlockHeader { session, stream, ..BlockHeader::new(kind, &[]) }, payload);
    }

    /// Appends a block; its sizes, its checksum and its number are made here. What is compressed states its raw size.
    pub fn push_block(&mut self, header: BlockHeader, payload: &[u8]) {
        let slot = self.reserve(payload.len());
        self.payload_mut(&slot).copy_from_slice(payload);
        self.finish(slot, header, payload.len());
    }

    /// Makes room for a block with up to `len` bytes of payload.
    pub fn reserve(&mut self, len: usize) -> Slot {
        let slot = Slot { at: self.len, len };
        self.len += HEADER_SIZE + len;
        // The padding that finish may add is within reach too.
        if self.bytes.len() < self.len + 8 {
            self.bytes.resize((self.len + 8).next_multiple_of(64 << 10), 0);
        }
        slot
    }

    /// The reserved payload.
    #[inline]
    pub fn payload(&self, slot: &Slot) -> &[u8] {
        &self.bytes[slot.at + HEADER_SIZE..][..slot.len]
    }

    /// The same, to be filled.
    #[inline]
    pub fn payload_mut(&mut self, slot: &Slot) -> &mut [u8] {
        &mut self.bytes[slot.at + HEADER_SIZE..][..slot.len]
    }

    /// Takes the room back.
    pub fn cancel(&mut self, slot: Slot) {
        self.len = slot.at;
    }

    /// Removes bytes from the start of the payload.
    pub fn drop_front(&mut self, slot: &mut Slot, count: usize) {
        let count = count.min(slot.len);
        self.payload_mut(slot).copy_within(count.., 0);
        slot.len -= count;
        self.len -= count;
    }

    /// Lets other blocks be pushed before the reserved one, whose payload is kept. Rare: it copies the payload.
    pub fn insert_before(&mut self, slot: Slot, push: impl FnOnce(&mut Self)) -> Slot {
        let mut kept = std::mem::take(&mut self.scratch);
        kept.clear();
        kept.extend_from_slice(self.payload(&slot));
        self.len = slot.at;
        push(self);
        let slot = self.reserve(kept.len());
        self.payload_mut(&slot).copy_from_slice(&kept);
        self.scratch = kept;
        slot
    }

    /// Completes the reserved block with the first `stored` bytes of its payload: sizes, checksum, number, padding.
    pub fn finish(&mut self, slot: Slot, mut header: BlockHeader, stored: usize) {
        let stored = stored.min(slot.len);
        let start = slot.at + HEADER_SIZE;
        header.stored_size = stored as u32;
        if header.encoding == 0 {
            header.raw_size = header.stored_size;
        }
        header.sequence = self.next_sequence;
        header.payload_crc = crc32c::crc32c(&self.bytes[start..start + stored]);
        self.bytes[slot.at..start].copy_from_slice(&header.encode());
        self.len = start + stored.next_multiple_of(8);
        self.bytes[start + stored..self.len].fill(0);
        self.next_sequence += 1;
        self.kinds.add(header.kind, (self.len - slot.at) as u64);
        if header.kind == BlockKind::RECORDS {
            self.records += u64::from(header.records);
            self.ring_bytes += header.ring_end - header.ring_begin;
        }
    }

    /// Appends a records block that repeats what stands elsewhere: it does not count.
    pub fn push_repeated(&mut self, header: BlockHeader, payload: &[u8]) {
        let contents = self.contents();
        self.push_block(header, payload);
        (self.records, self.ring_bytes) = contents;
    }

    /// As [`Batch::finish`], with another payload (no longer than the reserved one, else the room grows).
    pub fn finish_with(&mut self, slot: Slot, header: BlockHeader, payload: &[u8]) {
        self.cancel(slot);
        self.push_block(header, payload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::{Found, Scanner};

    fn kinds(batch: &Batch) -> Vec<(u64, u8, u32)> {
        let mut scanner = Scanner::new(batch.bytes(), 0, true);
        let mut found = Vec::new();
        while let Ok(Some(next)) = scanner.next() {
            let Found::Block { header, .. } = next else { panic!("{next:?}") };
            found.push((header.sequence, header.kind.0, header.stored_size));
        }
        found
    }

    #[test]
    fn blocks_stand_one_after_the_other() {
        let mut batch = Batch::new();
        batch.restart(7);
        batch.push(BlockKind::NOTE, 1, 0, b"hello");
        let mut slot = batch.reserve(32);
        batch.payload_mut(&slot).copy_from_slice(&[1; 32]);
        batch.drop_front(&mut slot, 8);
        let slot = batch.insert_before(slot, |batch| batch.push(BlockKind::SITES, 1, 0, &[2; 16]));
        assert_eq!(batch.payload(&slot), [1; 24]);
        let header = BlockHeader {
            ring_begin: 8,
            ring_end: 24,
            records: 1,
            ..BlockHeader::new(BlockKind::RECORDS, &[])
        };
        batch.finish(slot, header, 16);
        let slot = batch.reserve(8);
        batch.cancel(slot);
        assert_eq!(kinds(&batch), [(7, 11, 5), (8, 3, 16), (9, 5, 16)]);
        assert_eq!(batch.contents(), (1, 16));
        batch.restart(0);
        assert!(batch.is_empty());
    }

    #[test]
    fn what_is_emptied_goes_on_with_its_numbers_behind_any_padding() {
        let mut batch = Batch::new();
        batch.push(BlockKind::NOTE, 1, 2, &[7; 100]);
        batch.clear();
        batch.pad(3);
        let header = BlockHeader { encoding: 1, raw_size: 99, ..BlockHeader::new(BlockKind::RECORDS, &[]) };
        batch.push_block(header, b"packed");
        assert_eq!(batch.bytes()[..3], [0; 3]);
        let header = BlockHeader::decode(&batch.bytes()[3..]).unwrap();
        assert_eq!((header.sequence, header.stored_size, header.raw_size), (1, 6, 99));
        assert_eq!(header.check(b"packed"), Ok(()));
        assert_eq!(batch.kinds(), {
            let mut kinds = Repetition::default();
            kinds.add(BlockKind::RECORDS, 104);
            kinds
        });
        assert_eq!(batch.into_bytes().len(), 3 + 104);
    }
}
