//! The headers of a closed file, from its *index* blocks (`spec/file.md`, section 2.1): one read for each of
//! them instead of one for each block.
//!
//! An index is a copy of information in the file. A contradictory or missing one costs only time.

use std::io;

use silverpoint_wire::block::{BlockHeader, BlockKind, Index, end};
use silverpoint_wire::bytes::u64_at;
use silverpoint_wire::layout::block::HEADER_SIZE;
use silverpoint_wire::scan::ReadAt;

use super::scan::read_payload;
use super::source::Source;

/// Bytes of an *end* block that names an index.
const END_SIZE: u64 = (HEADER_SIZE + end(0, 0).len()) as u64;

/// The indexes of a file, which agree with one another.
pub(super) struct Indexes {
    /// Of each: where the blocks begin that it describes, where it stands, and its header.
    chain: Vec<(u64, u64, BlockHeader)>,
}

/// The indexes of all blocks from the file's beginning to the *end* block. `None` without.
pub(super) fn read(source: &Source) -> io::Result<Option<Indexes>> {
    let Some(end_at) = source.size()?.checked_sub(END_SIZE) else { return Ok(None) };
    let mut payload = Vec::new();
    let Some(header) = block(source, end_at, BlockKind::END, &mut payload)? else { return Ok(None) };
    let Some(mut at) = u64_at(&payload, 8).filter(|at| *at > 0) else { return Ok(None) };
    if u64::from(header.header_size) + u64::from(header.stored_size) != END_SIZE {
        return Ok(None);
    }
    // From the last index to the first. Offsets fall with each: no chain is longer than the file.
    let mut chain = Vec::new();
    let mut before = end_at;
    loop {
        if at >= before {
            return Ok(None);
        }
        let Some(header) = block(source, at, BlockKind::INDEX, &mut payload)? else { return Ok(None) };
        chain.push((0, at, header));
        before = at;
        match Index::previous(&payload) {
            Some(0) => break,
            Some(previous) => at = previous,
            None => return Ok(None),
        }
    }
    chain.reverse();
    let (mut from, mut sequence) = (0, 0);
    let mut indexes = Indexes { chain };
    for part in 0..indexes.chain.len() {
        indexes.chain[part].0 = from;
        let Some((blocks, next)) = indexes.blocks(source, part, &mut payload)? else { return Ok(None) };
        for (_, header) in blocks {
            if header.sequence != sequence {
                return Ok(None);
            }
            sequence += 1;
        }
        from = next;
    }
    Ok((from == end_at).then_some(indexes))
}

/// Blocks with their offsets, and where the one after them begins.
type Indexed = (Vec<(u64, BlockHeader)>, u64);

impl Indexes {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.chain.len()
    }

    /// The blocks that the index of this number describes, from 0, and itself. Only these are held in memory: an index is at most 16 MiB. `None` when it
    /// contradicts itself.
    pub(super) fn blocks(
        &self,
        source: &Source,
        part: usize,
        payload: &mut Vec<u8>,
    ) -> io::Result<Option<Indexed>> {
        let (from, at, header) = self.chain[part];
        let Some(_) = block(source, at, BlockKind::INDEX, payload)? else { return Ok(None) };
        let Some(mut blocks) = Index::blocks(payload, from, at) else { return Ok(None) };
        blocks.push((at, header));
        Ok(Some((blocks, at + header.block_size())))
    }
}

/// The header of the block at this offset, and its payload, if it is a whole one of this kind.
fn block(
    source: &Source,
    at: u64,
    kind: BlockKind,
    payload: &mut Vec<u8>,
) -> io::Result<Option<BlockHeader>> {
    let mut bytes = [0; HEADER_SIZE];
    if source.read_at(at, &mut bytes)? < HEADER_SIZE {
        return Ok(None);
    }
    let Some(header) = BlockHeader::decode(&bytes).ok().filter(|header| header.kind == kind) else {
        return Ok(None);
    };
    Ok(read_payload(source, at, &header, payload)?.is_ok().then_some(header))
}
