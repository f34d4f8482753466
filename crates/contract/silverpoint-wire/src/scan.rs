//! Finds the blocks of a trace file, also behind damage (spec/file.md sections 1 and 4).

use std::fmt;

use crate::block::{BlockError, BlockHeader, BlockKind};
use crate::layout::block::{HEADER_SIZE, PAYLOAD_MAX, SYNC};

/// Something that can be read at any offset: a file, or bytes.
pub trait ReadAt {
    /// What reading fails with.
    type Error;
    /// Reads up to `buffer.len()` bytes at `offset`; fewer only at the end, 0 beyond it.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, Self::Error>;

    /// An offset, this or a later one, before which there is nothing but zeros from `offset` on. What knows of holes in a file passes over them.
    ///
    /// # Errors
    /// Those of asking.
    fn skip_hole(&self, offset: u64) -> Result<u64, Self::Error> {
        Ok(offset)
    }
}

impl ReadAt for [u8] {
    type Error = std::convert::Infallible;

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, Self::Error> {
        let rest = usize::try_from(offset).ok().and_then(|at| self.get(at..)).unwrap_or(&[]);
        let len = rest.len().min(buffer.len());
        buffer[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }
}

/// What stands at a place of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A block whose header is right, and whose payload is too if the scanner checks payloads.
    Block {
        /// Offset of the block.
        at: u64,
        /// Its header.
        header: BlockHeader,
    },
    /// Bytes that are no block.
    Damage(Damage),
}

/// Bytes of a file that are no whole block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Where they start.
    pub at: u64,
    /// How many.
    pub bytes: u64,
    /// Why the first of them are no block.
    pub why: BlockError,
    /// Whether they reach the end of the file and begin like a block that was being written: cut, not damaged.
    pub is_cut: bool,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_cut { "the file was cut: " } else { "" };
        write!(f, "offset {}, {} bytes: {what}{}", self.at, self.bytes, self.why)
    }
}

/// Goes through a file block by block. Memory is bounded: one chunk and one payload.
pub struct Scanner<'a, R: ReadAt + ?Sized> {
    source: &'a R,
    at: u64,
    check_payloads: bool,
    /// Of the last whole block: behind damage only a later one continues the file.
    last_sequence: Option<u64>,
    /// Bytes of payloads that were read in vain and may be read again, because what lies within them is searched.
    read_in_vain: u64,
    buffer: Vec<u8>,
}

/// Bytes that are searched at a time for a sync mark. They are few at first, because the next block is often
/// near, then twice as many each time.
const CHUNK_MIN: usize = 1 << 10;
/// See [`CHUNK_MIN`].
const CHUNK_MAX: usize = 64 << 10;
/// Bytes at most of a *file* block that is looked for behind damage.
const FILE_MAX: u32 = 64 << 10;
/// A file whose blocks are nested in broken ones is searched so far; then the sizes in their headers are believed.
const READ_IN_VAIN_MAX: u64 = 4 * PAYLOAD_MAX as u64;

impl<'a, R: ReadAt + ?Sized> Scanner<'a, R> {
    /// Starts at `at`, a multiple of 8. With `check_payloads` every payload is read and checked, so that a
    /// block with a broken payload counts as damage. Without it only headers are checked (a reader of a
    /// payload must check that then).
    pub fn new(source: &'a R, at: u64, check_payloads: bool) -> Scanner<'a, R> {
        Scanner { source, at, check_payloads, last_sequence: None, read_in_vain: 0, buffer: Vec::new() }
    }

    /// Goes on where another has stopped, whose last block was the one before `next_sequence`; 0: it has found none. An *index* block that is being written has headers of earlier blocks in
    /// what is there of its payload: they are not taken for blocks.
    pub fn resume(source: &'a R, at: u64, next_sequence: u64, check_payloads: bool) -> Scanner<'a, R> {
        Scanner { last_sequence: next_sequence.checked_sub(1), ..Scanner::new(source, at, check_payloads) }
    }

    /// What [`Scanner::resume`] is to be given.
    pub fn next_sequence(&self) -> u64 {
        self.last_sequence.map_or(0, |last| last.saturating_add(1))
    }

    /// Where the scan stands.
    pub fn position(&self) -> u64 {
        self.at
    }

    /// The payload of the block that was found last, when payloads are checked.
    pub fn payload(&self) -> &[u8] {
        &self.buffer
    }

    /// What comes next; `None` at the end of the file. Work is linear in the file's size, for any contents.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Found>, R::Error> {
        let at = self.at;
        let why = match self.header_at(at)? {
            Err(None) => return Ok(None),
            Err(Some(why)) => why,
            Ok(header) => match self.payload_error(at, &header)? {
                None => {
                    self.last_sequence = Some(header.sequence);
                    self.at = at + header.block_size();
                    return Ok(Some(Found::Block { at, header }));
                }
                // The header vouches for the size: what follows is found there, if anything is.
                Some(why @ BlockError::PayloadCrc)
                    if self.is_boundary(at + header.block_size())?
                        || self.read_in_vain > READ_IN_VAIN_MAX =>
                {
                    self.at = at + header.block_size();
                    return Ok(Some(Found::Damage(Damage {
                        at,
                        bytes: header.block_size(),
                        why,
                        is_cut: false,
                    })));
                }
                Some(why) => {
                    if why == BlockError::PayloadCrc {
                        self.read_in_vain += u64::from(header.stored_size);
                    }
                    why
                }
            },
        };
        let (end, reaches_end) = match self.search(at)? {
            Ok(next) => (next, false),
            Err(file_end) => (file_end, true),
        };
        self.at = end;
        let is_cut = reaches_end && why == BlockError::Truncated;
        Ok(Some(Found::Damage(Damage { at, bytes: end - at, why, is_cut })))
    }

    /// The header at this offset; `Err(None)` at the end of the file.
    fn header_at(&self, at: u64) -> Result<Result<BlockHeader, Option<BlockError>>, R::Error> {
        let mut bytes = [0; HEADER_SIZE];
        let len = read_full(self.source, at, &mut bytes)?;
        if len == 0 {
            return Ok(Err(None));
        }
        if len < HEADER_SIZE {
            let like_a_block = SYNC.iter().zip(&bytes[..len]).all(|(a, b)| a == b);
            return Ok(Err(Some(if like_a_block { BlockError::Truncated } else { BlockError::Sync })));
        }
        Ok(BlockHeader::decode(&bytes).map_err(Some))
    }

    /// What is wrong with the payload of the block at this offset; without checking payloads, only whether it is all there.
    fn payload_error(&mut self, at: u64, header: &BlockHeader) -> Result<Option<BlockError>, R::Error> {
        let start = at + u64::from(header.header_size);
        let missing = header.stored_size > 0
            && read_full(self.source, start + u64::from(header.stored_size) - 1, &mut [0])? == 0;
        if missing || !self.check_payloads {
            return Ok(missing.then_some(BlockError::Truncated));
        }
        self.buffer.resize(header.stored_size as usize, 0);
        let len = read_full(self.source, start, &mut self.buffer)?;
        Ok(header.check(&self.buffer[..len]).err())
    }

    /// Whether a header stands at this offset, or the file ends there.
    fn is_boundary(&self, at: u64) -> Result<bool, R::Error> {
        Ok(matches!(self.header_at(at)?, Ok(_) | Err(None)))
    }

    /// The offset of the next block after `at`, or the end of the file. The block continues the sequence, or
    /// begins another file that was joined to this one.
    fn search(&mut self, at: u64) -> Result<Result<u64, u64>, R::Error> {
        let mut from = at + 1;
        let mut chunk = vec![0; CHUNK_MIN];
        loop {
            let len = read_full(self.source, from, &mut chunk)?;
            let mut offset = 0;
            while let Some(next) = chunk[offset..len].iter().position(|byte| *byte == SYNC[0]) {
                offset += next;
                let candidate = from + offset as u64;
                if chunk[offset..len].starts_with(&SYNC) && self.goes_on(at, candidate)? {
                    return Ok(Ok(candidate));
                }
                offset += 1;
            }
            if len < chunk.len() {
                return Ok(Err((from + len as u64).max(at)));
            }
            // A mark may lie across two chunks.
            from += (len - (SYNC.len() - 1)) as u64;
            if let [0, .., 0] = chunk[..len] {
                // Zeros: the rest of a hole perhaps, which need not be read.
                from = from.max(self.source.skip_hole(from)?);
            }
            chunk.resize((2 * chunk.len()).min(CHUNK_MAX), 0);
        }
    }

    /// Whether a block that the search may end with lies at `candidate`.
    fn goes_on(&mut self, at: u64, candidate: u64) -> Result<bool, R::Error> {
        let Ok(header) = self.header_at(candidate)? else { return Ok(false) };
        Ok(self.continues(at, candidate, &header) || self.begins_a_file(candidate, &header)?)
    }

    /// Whether a block found after one at `at` may be a later one of the same file. Blocks of a file begin at
    /// multiples of 8 from its first byte.
    fn continues(&self, at: u64, candidate: u64, header: &BlockHeader) -> bool {
        (candidate - at) % 8 == 0 && self.last_sequence.is_none_or(|last| header.sequence > last)
    }

    /// Whether a file begins here that was joined to one before it, which may have been cut at any byte. The payload must agree: an *index* block has the same header in its own.
    fn begins_a_file(&mut self, candidate: u64, header: &BlockHeader) -> Result<bool, R::Error> {
        if header.kind != BlockKind::FILE
            || header.sequence != 0
            || header.stored_size > FILE_MAX
            || self.read_in_vain > READ_IN_VAIN_MAX
        {
            return Ok(false);
        }
        let mut payload = vec![0; header.stored_size as usize];
        let len = read_full(self.source, candidate + u64::from(header.header_size), &mut payload)?;
        let agrees = header.check(&payload[..len]).is_ok();
        self.read_in_vain += if agrees { 0 } else { len as u64 };
        Ok(agrees)
    }
}

fn read_full<R: ReadAt + ?Sized>(source: &R, at: u64, buffer: &mut [u8]) -> Result<usize, R::Error> {
    let mut len = 0;
    while len < buffer.len() {
        match source.read_at(at + len as u64, &mut buffer[len..])? {
            0 => break,
            more => len += more,
        }
    }
    Ok(len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::push_block;

    /// Every place, or some of them in an interpreter.
    const STEP: usize = if cfg!(miri) { 13 } else { 1 };

    fn file() -> Vec<u8> {
        let mut out = Vec::new();
        for sequence in 0..4 {
            let payload = vec![sequence as u8; 5 + 8 * sequence as usize];
            let header = BlockHeader { sequence, ..BlockHeader::new(BlockKind::NOTE, &payload) };
            push_block(&mut out, &header, &payload);
        }
        out
    }

    fn sequences(bytes: &[u8]) -> (Vec<u64>, Vec<Damage>) {
        let mut scanner = Scanner::new(bytes, 0, true);
        let (mut blocks, mut damages) = (Vec::new(), Vec::new());
        while let Ok(Some(found)) = scanner.next() {
            match found {
                Found::Block { header, .. } => blocks.push(header.sequence),
                Found::Damage(damage) => damages.push(damage),
            }
        }
        (blocks, damages)
    }

    #[test]
    fn a_file_cut_anywhere_gives_every_whole_block() {
        let whole = file();
        let ends: Vec<usize> = {
            let mut ends = Vec::new();
            let mut at = 0;
            while let Ok(header) = BlockHeader::decode(&whole[at..]) {
                // The zero bytes after the last payload may be missing.
                ends.push(at + HEADER_SIZE + header.stored_size as usize);
                at += header.block_size() as usize;
            }
            ends
        };
        for len in (0..whole.len()).step_by(STEP) {
            let (blocks, damages) = sequences(&whole[..len]);
            let expected = ends.iter().filter(|end| **end <= len).count();
            assert_eq!(blocks.len(), expected, "cut at {len}");
            assert!(damages.iter().all(|damage| damage.is_cut), "cut at {len}: {damages:?}");
        }
    }

    /// Blocks behind damage of any length, and a source that counts what is read of it.
    struct Counted(Vec<u8>, std::cell::Cell<u64>);

    impl ReadAt for Counted {
        type Error = std::convert::Infallible;

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, Self::Error> {
            self.1.set(self.1.get() + buffer.len() as u64);
            self.0.as_slice().read_at(offset, buffer)
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes in an interpreter")]
    fn blocks_are_found_behind_damage_of_any_length() {
        for garbage in [8, 1 << 10, (1 << 10) + 8, 3 << 10, 200_000] {
            let mut bytes = vec![0x5A; garbage];
            bytes.extend(file());
            let (blocks, damages) = sequences(&bytes);
            assert_eq!(blocks, [0, 1, 2, 3], "{garbage}");
            let why = BlockError::Sync;
            assert_eq!(damages, [Damage { at: 0, bytes: garbage as u64, why, is_cut: false }]);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes in an interpreter")]
    fn headers_that_lie_do_not_multiply_the_work() {
        // Thousands of headers, each right by its checksum, that claim a megabyte of what follows as their payload.
        let mut bytes = Vec::new();
        for sequence in 0..20_000 {
            let header =
                BlockHeader { sequence, stored_size: 1 << 20, ..BlockHeader::new(BlockKind::NOTE, b"") };
            bytes.extend_from_slice(&header.encode());
            bytes.extend_from_slice(&[0; 8]);
        }
        let size = bytes.len() as u64;
        let source = Counted(bytes, 0.into());
        let mut scanner = Scanner::new(&source, 0, true);
        let mut covered = 0;
        while let Ok(Some(found)) = scanner.next() {
            let Found::Damage(damage) = found else { panic!("{found:?}") };
            assert_eq!(damage.at, covered);
            covered += damage.bytes;
        }
        assert_eq!(covered, size);
        let read = source.1.get();
        assert!(read < 40 * size + READ_IN_VAIN_MAX, "{read} bytes read of {size}");
    }

    /// Bytes behind a hole of a petabyte.
    struct Holed(Vec<u8>);

    const HOLE: u64 = 1 << 50;

    impl ReadAt for Holed {
        type Error = std::convert::Infallible;

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, Self::Error> {
            let zeros = HOLE.saturating_sub(offset).min(buffer.len() as u64) as usize;
            buffer[..zeros].fill(0);
            let behind = (offset + zeros as u64).saturating_sub(HOLE);
            let Ok(more) = self.0.as_slice().read_at(behind, &mut buffer[zeros..]);
            Ok(zeros + more)
        }

        fn skip_hole(&self, offset: u64) -> Result<u64, Self::Error> {
            // One that does not fall on a multiple of 8.
            Ok(offset.max(HOLE + 3))
        }
    }

    #[test]
    fn holes_are_passed_over() {
        let source = Holed([vec![0; 16], file()].concat());
        let mut scanner = Scanner::new(&source, 0, true);
        let Ok(Some(Found::Damage(damage))) = scanner.next() else { panic!() };
        assert_eq!((damage.at, damage.bytes, damage.is_cut), (0, HOLE + 16, false));
        assert!(matches!(scanner.next(), Ok(Some(Found::Block { at, .. })) if at == HOLE + 16));
    }

    #[test]
    fn a_flipped_bit_costs_one_block() {
        let whole = file();
        for at in (0..whole.len()).step_by(STEP) {
            let mut flipped = whole.clone();
            flipped[at] ^= 0x10;
            let (blocks, damages) = sequences(&flipped);
            // A bit of the zero bytes after a payload concerns nobody.
            assert!(blocks.len() >= 3, "flip at {at}: {blocks:?} {damages:?}");
            assert_eq!(blocks.len() + damages.len(), 4, "flip at {at}");
        }
    }
}
