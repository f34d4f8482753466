//! The blocks of one stream, one after the other: read, checked, expanded, duplicates left out.

use silverpoint_wire::block::GapInfo;
use silverpoint_wire::compact;
use silverpoint_wire::compression::Decompressor;
use silverpoint_wire::layout::block::{COMPACT, PAYLOAD_MAX, RAW};
use silverpoint_wire::record::Records;

use super::Trace;
use super::left_out::{LeftOut, holds_only_statements};
use super::scan::{BlockRef, bad_block, read_payload};
use super::session::{Session, Stream};
use super::verdict::{Matter, Note};

/// Reads blocks. Keeps the room for a stored payload that must be decompressed or expanded.
#[derive(Debug, Default)]
pub struct BlockReader {
    stored: Vec<u8>,
    unpacked: Vec<u8>,
    decompressor: Decompressor,
    /// About the last block, when it was read where its file's index does not say.
    misplaced: Option<Note>,
    /// Bytes that were read and made so far, also in vain.
    pub(super) bytes: u64,
    /// For [`BlockReader::walk`].
    pub(super) raw: Vec<u8>,
}

impl BlockReader {
    /// Replaces the contents of `raw` by the raw bytes of a block, and reports what is wrong with it, if
    /// anything is. A compact block that cannot be expanded to its end gives the records before that place;
    /// any other error leaves `raw` empty.
    pub(crate) fn read(
        &mut self,
        trace: &Trace,
        session: &Session,
        block: &BlockRef,
        raw: &mut Vec<u8>,
    ) -> Option<Note> {
        if trace.source(block.file).is_none() {
            raw.clear();
            return None;
        }
        match self.raw(trace, session, block, raw) {
            Ok(()) => self.take_misplaced(),
            Err(why) => self.note(trace, block, why),
        }
    }

    /// The note about the last block, when it was not where its file's index says.
    pub(super) fn take_misplaced(&mut self) -> Option<Note> {
        self.misplaced.take()
    }

    /// Reads the stored payload of a block into `payload`, from the place in the index, or else from where it
    /// really is.
    fn stored(&mut self, trace: &Trace, block: &BlockRef, payload: &mut Vec<u8>) -> Result<(), String> {
        self.misplaced = None;
        self.bytes += u64::from(block.header.stored_size);
        let Some(source) = trace.source(block.file) else { return Err("there is no such file".into()) };
        let mut read =
            |at| read_payload(source, at, &block.header, payload).map_err(|error| error.to_string());
        let Err(why) = read(block.at)? else { return Ok(()) };
        let Some(at) = trace.elsewhere(block) else { return Err(why) };
        read(at)?.map_err(|_| why)?;
        let matter = Matter::Misplaced { offset: at, sequence: block.header.sequence };
        self.misplaced = Some(Note { file: source.path.clone(), matter });
        Ok(())
    }

    /// The payload of a block, checked and decompressed; compact if the header says so. An error without a note: there is no such file.
    pub(super) fn payload(&mut self, trace: &Trace, block: &BlockRef) -> Result<&[u8], Option<Note>> {
        match self.unpack(trace, block) {
            Ok(()) => Ok(&self.stored),
            Err(why) => Err(self.note(trace, block, why)),
        }
    }

    /// Leaves the raw or compact payload of a block in `stored`.
    fn unpack(&mut self, trace: &Trace, block: &BlockRef) -> Result<(), String> {
        let header = &block.header;
        let mut stored = std::mem::take(&mut self.stored);
        let read = self.stored(trace, block, &mut stored);
        self.stored = stored;
        read?;
        if header.encoding & !COMPACT != RAW {
            let unpacked = self.decompressor.decompress(
                header.encoding,
                &self.stored,
                header.raw_size,
                &mut self.unpacked,
            );
            // How far it came before an error is unknown.
            self.bytes += if unpacked.is_ok() { self.unpacked.len() } else { PAYLOAD_MAX } as u64;
            unpacked.map_err(|error| error.to_string())?;
            std::mem::swap(&mut self.stored, &mut self.unpacked);
        }
        Ok(())
    }

    /// A note about a block.
    pub(super) fn note(&self, trace: &Trace, block: &BlockRef, why: String) -> Option<Note> {
        let source = trace.source(block.file)?;
        Some(Note { file: source.path.clone(), matter: bad_block(block.at, &block.header, why) })
    }

    /// The note about a block whose records contradict the rules.
    pub(crate) fn contradiction(&self, trace: &Trace, block: &BlockRef) -> Note {
        let file = trace.source(block.file).map_or_else(Default::default, |source| source.path.clone());
        Note { file, matter: bad_block(block.at, &block.header, "its records contradict each other".into()) }
    }

    fn raw(
        &mut self,
        trace: &Trace,
        session: &Session,
        block: &BlockRef,
        raw: &mut Vec<u8>,
    ) -> Result<(), String> {
        let header = &block.header;
        if header.encoding == RAW {
            if let Err(why) = self.stored(trace, block, raw) {
                raw.clear();
                return Err(why);
            }
        } else {
            raw.clear();
            self.unpack(trace, block)?;
            if header.encoding & COMPACT == 0 {
                std::mem::swap(raw, &mut self.stored);
            } else {
                let size = (header.raw_size as usize).min(PAYLOAD_MAX);
                self.bytes += size as u64;
                if let Err(error) = compact::expand(&self.stored, size, &session.signatures, raw) {
                    keep_whole_records(raw);
                    return Err(error.to_string());
                }
            }
        }
        if header.ring_end.checked_sub(header.ring_begin) == Some(raw.len() as u64) {
            return Ok(());
        }
        let why = format!("{} bytes for positions {} to {}", raw.len(), header.ring_begin, header.ring_end);
        raw.clear();
        Err(why)
    }
}

/// Cuts what an expansion that failed has left behind the last whole record.
fn keep_whole_records(raw: &mut Vec<u8>) {
    let mut records = Records::new(raw);
    let whole = records.by_ref().map_while(Result::ok).last();
    let end = whole.map_or(0, |record| record.offset + record.header.size as usize);
    raw.truncate(end);
}

/// Which of a stream's blocks comes next.
#[derive(Clone, Debug)]
pub struct BlockCursor<'t> {
    blocks: &'t [BlockRef],
    gaps: &'t [GapInfo],
    next: usize,
    /// Ring bytes before this position have been given out, or are known to be elsewhere or lost.
    covered: u64,
    left_out: LeftOut,
    /// The block given out last holds names of threads and contexts alone.
    after_statements: bool,
}

/// A block to be read.
#[derive(Clone, Copy, Debug)]
pub struct NextBlock<'t> {
    /// Where it lies, and its header.
    pub block: &'t BlockRef,
    /// Bytes at its start that another block has given out already.
    pub skip: usize,
    /// Ring bytes before it that no block holds; none where records were left out deliberately.
    pub missing: u64,
    /// Records of the stream have been lost before it: their statements are unknown.
    pub is_broken: bool,
}

impl<'t> BlockCursor<'t> {
    /// Begins with the first block that there is.
    pub fn new(stream: &'t Stream) -> Self {
        // What came before the first block was overwritten, or is in another file: it begins where it is found.
        Self::from(stream, stream.blocks.first().map_or(0, |block| block.header.ring_begin))
    }

    /// Goes on at a position of the ring.
    pub(crate) fn from(stream: &'t Stream, position: u64) -> Self {
        // What lies before the position says nothing. Reading goes on very often: it must not look at all of that again.
        let (next, gap) = match stream.is_in_line {
            true => (
                stream.blocks.partition_point(|block| block.header.ring_end <= position),
                stream.gaps.partition_point(|gap| gap.end <= position),
            ),
            false => (0, 0),
        };
        Self {
            blocks: &stream.blocks,
            gaps: &stream.gaps[gap..],
            next,
            covered: position,
            left_out: stream.left_out,
            after_statements: false,
        }
    }

    /// Everything before this position has been given out.
    pub(crate) fn position(&self) -> u64 {
        self.covered
    }

    /// The next block that holds something new. It counts as given out.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<NextBlock<'t>> {
        loop {
            let block = self.blocks.get(self.next)?;
            self.next += 1;
            let (begin, end) = (block.header.ring_begin, block.header.ring_end);
            if end <= self.covered && end > begin {
                continue;
            }
            let (missing, is_broken) = self.missing(begin);
            self.after_statements = holds_only_statements(&block.header);
            let skip = self.covered.saturating_sub(begin) as usize;
            self.covered = self.covered.max(end);
            return Some(NextBlock { block, skip, missing, is_broken });
        }
    }

    /// Ring bytes up to `begin` that are neither given out nor recorded as a gap; and whether there are any,
    /// or a gap.
    fn missing(&mut self, begin: u64) -> (u64, bool) {
        let mut missing =
            if self.left_out.covers(self.after_statements) { 0 } else { begin.saturating_sub(self.covered) };
        let mut told = self.covered;
        let mut is_broken = missing > 0;
        while let Some((gap, rest)) = self.gaps.split_first().filter(|(gap, _)| gap.begin < begin) {
            let end = gap.end.min(begin);
            // For forgotten records, the collector knows whether they stated anything.
            is_broken |= end > told && !gap.forgotten.is_some_and(|forgotten| forgotten.keeps_fields);
            missing = missing.saturating_sub(end.saturating_sub(gap.begin.max(told)));
            told = told.max(end);
            self.gaps = rest;
        }
        (missing, is_broken)
    }

    /// Takes a block back that could not be read: another one may hold the same bytes.
    pub fn not_read(&mut self, next: &NextBlock<'_>) {
        let before = next.block.header.ring_begin + next.skip as u64;
        let after = self.blocks.get(self.next).map(|block| block.header.ring_begin);
        // The note about the block has reported bytes that no other block holds.
        self.covered =
            if after.is_some_and(|after| after < next.block.header.ring_end) { before } else { self.covered };
    }
}

/// The note about ring bytes that no block holds.
pub(crate) fn missing_bytes(trace: &Trace, session: &Session, stream: &Stream, next: &NextBlock<'_>) -> Note {
    let file = trace.source(next.block.file).map_or_else(Default::default, |source| source.path.clone());
    Note { file, matter: Matter::MissingBytes { whose: session.stream_label(stream), bytes: next.missing } }
}

#[cfg(test)]
mod tests {
    use silverpoint_wire::block::{BlockHeader, BlockKind};

    use super::*;

    fn block((ring_begin, ring_end): (u64, u64)) -> BlockRef {
        let header = BlockHeader { ring_begin, ring_end, ..BlockHeader::new(BlockKind::RECORDS, &[]) };
        BlockRef { file: 0, at: ring_begin, header }
    }

    #[test]
    fn bisection_goes_on_where_a_search_from_the_first_block_does() {
        let mut session = Session::of_no_file(1, "p");
        let stream = &mut session.streams[0];
        stream.blocks = [(10, 20), (20, 30), (40, 50), (60, 70)].map(block).to_vec();
        stream.gaps = vec![GapInfo { begin: 30, end: 35, forgotten: None }];
        for position in 0..80 {
            let mut given = [true, false].map(|is_in_line| {
                stream.is_in_line = is_in_line;
                let mut cursor = BlockCursor::from(stream, position);
                let next = std::iter::from_fn(|| cursor.next());
                next.map(|next| (next.block.at, next.skip, next.missing, next.is_broken)).collect::<Vec<_>>()
            });
            assert_eq!(std::mem::take(&mut given[0]), given[1], "{position}");
        }
        stream.is_in_line = true;
        assert_eq!(BlockCursor::from(stream, 45).next, 2, "the blocks before are not looked at");
    }
}
