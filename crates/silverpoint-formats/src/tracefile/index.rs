//! The headers of a file that was closed, from its *index* blocks (`spec/file.md`, section 2.1): one read for each of them instead of one for each block.
//!
//! An index is a copy of what stands in the file. One that contradicts itself, or is not there, costs nothing but time.

use std::io;

use silverpoint_wire::block::{BlockHeader, BlockKind, Index, end};
use silverpoint_wire::bytes::u64_at;
use silverpoint_wire::layout::block::HEADER_SIZE;
use silverpoint_wire::scan::ReadAt;

use super::scan::read_payload;
use super::source::Source;

/// Bytes of an *end* block that names an index.
const END_SIZE: u64 = (HEADER_SIZE + end(0, 0).len()) as u64;

/// Blocks with their offsets, and where the one after them begins.
type Indexed = (Vec<(u64, BlockHeader)>, u64);

/// The blocks of a file from its beginning to the *end* block, which is left out, with their offsets; and the offset of that block. `None` without an index
/// of all of them.
pub(super) fn read(source: &Source) -> io::Result<Option<Indexed>> {
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
        chain.push((at, header));
        before = at;
        match Index::previous(&payload) {
            Some(0) => break,
            Some(previous) => at = previous,
            None => return Ok(None),
        }
    }
    let mut blocks = Vec::new();
    let mut from = 0;
    for (at, header) in chain.into_iter().rev() {
        let Some(_) = block(source, at, BlockKind::INDEX, &mut payload)? else { return Ok(None) };
        let Some(described) = Index::blocks(&payload, from, at) else { return Ok(None) };
        blocks.extend(described);
        blocks.push((at, header));
        from = at + header.block_size();
    }
    let ascending = blocks.iter().zip(0..).all(|((_, header), sequence)| header.sequence == sequence);
    Ok((from == end_at && ascending).then_some((blocks, end_at)))
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
