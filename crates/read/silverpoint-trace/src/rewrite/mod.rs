//! Trace files made of trace files (`spec/file.md`, section 5): mended, several as one, or a part of one.
//!
//! A [`Trace`] has already joined sessions and put the blocks of each stream in order. The result is a file
//! that stands alone. It has its own *file* block and numbers, the dictionaries, every block of records with
//! its ring range, and an index. Duplicates are left out.
//!
//! ```text
//! rewrite: whole blocks, as they lie ─────────────────────────┐
//! trim: the records of a selection, the rest cut off or pads ─┼▶ Rewriter ▶ Output
//! split: one stretch of time after the other ─────────────────┘  each file
//! ```
//!
//! Memory is that of the trace's index, and of one block; [`trim()`] and [`split()`] need what reading in order of time needs too.

mod dictionaries;
mod output;
mod split;
mod summary;
mod trim;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use silverpoint_wire::about::COMPRESSION;
use silverpoint_wire::block::{BlockHeader, BlockKind};
use silverpoint_wire::compact::compact;
use silverpoint_wire::compression::{Compression, Compressor};
use silverpoint_wire::layout::block::{COMPACT, LZ4, RAW, SEGMENT};
use silverpoint_wire::process;

use super::blocks::BlockReader;
use super::scan::BlockRef;
use super::session::{Session, Stream};
use super::verdict::Note;
use super::{Trace, TraceFile};
use dictionaries::Scope;
use output::Output;
pub use split::{Limit, PARTS_MAX, Parts, split};
use summary::{mend, summarize};
pub use trim::trim;

/// How a file is written.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How blocks are compressed; each keeps its kind when absent, zstd at the level that its file states, else at level 1.
    pub compression: Option<Compression>,
    /// What the file says of its origin, as a note.
    pub remark: String,
    /// Blocks are checked record by record: summaries are recomputed, and records that cannot be decoded are
    /// overwritten with pads.
    pub mend: bool,
    /// The selection as text, where records are left out deliberately ([`trim()`]); `a selection` when it is empty.
    pub trimmed: String,
    /// What a trace is split by, as text ([`split()`]).
    pub split: String,
}

/// What was written.
#[derive(Clone, Debug, Default)]
pub struct Rewritten {
    /// Blocks of records.
    pub blocks: u64,
    /// Records in them, control records included; without [`Options::mend`] as their summaries state.
    pub records: u64,
    /// Blocks whose ring range had been written already.
    pub duplicates: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Records that cannot be decoded, overwritten ([`Options::mend`]).
    pub undecodable: u64,
    /// Blocks that could not be read, or not to their end.
    pub notes: Vec<Note>,
}

/// Most notes that are kept.
const NOTES_MAX: usize = 10_000;
/// A block in its place.
struct Placed<'t> {
    session: usize,
    block: &'t BlockRef,
}

/// Writes the whole trace as one file.
///
/// # Errors
/// Those of writing. Unreadable parts are left out and reported.
pub fn rewrite(trace: &Trace, options: &Options, out: impl Write) -> io::Result<Rewritten> {
    let mut rewriter = Rewriter::new(trace, options, Scope::all(trace), out);
    rewriter.begin()?;
    for placed in placed(trace) {
        rewriter.records(&placed)?;
    }
    Ok(rewriter.finish()?.0)
}

struct Rewriter<'t, W> {
    trace: &'t Trace,
    options: &'t Options,
    /// What of the trace is described.
    scope: Scope,
    /// Number of the file in its trace.
    part: u32,
    out: Output<W>,
    done: Rewritten,
    /// Of each session and stream: up to where its ring has been written.
    covered: HashMap<(usize, u32), u64>,
    /// Wall nanoseconds: when the file was made; of all parts of a trace the same.
    now: u128,
    /// Beyond so many bytes an index is due, and the dictionaries are repeated.
    segment_end: u64,
    /// That of the *file* block.
    text: Option<String>,
    /// They are repeated before that too, and at the end.
    repeats: bool,
    reader: BlockReader,
    compressor: Compressor,
    raw: Vec<u8>,
    small: Vec<u8>,
    packed: Vec<u8>,
}

impl<'t, W: Write> Rewriter<'t, W> {
    fn new(trace: &'t Trace, options: &'t Options, scope: Scope, out: W) -> Self {
        Self {
            trace,
            options,
            scope,
            part: 1,
            out: Output::new(out),
            done: Rewritten::default(),
            covered: HashMap::new(),
            now: now(),
            segment_end: SEGMENT,
            text: None,
            repeats: true,
            reader: BlockReader::default(),
            compressor: Compressor::new(Compression::None),
            raw: Vec::new(),
            small: Vec::new(),
            packed: Vec::new(),
        }
    }

    /// Everything that stands before the records.
    fn begin(&mut self) -> io::Result<()> {
        self.dictionaries_again()?;
        self.told()
    }

    /// The file and everything in it are described, once more if need be.
    fn dictionaries_again(&mut self) -> io::Result<()> {
        self.out.repetition().restart();
        let text = self.text.take().unwrap_or_else(|| self.about());
        self.out.push(BlockKind::FILE, 0, 0, text.as_bytes())?;
        self.text = Some(text);
        self.dictionaries()
    }

    /// What stands behind the records. Gives what was written, and where.
    fn finish(mut self) -> io::Result<(Rewritten, W)> {
        if self.repeats && self.out.repetition().is_due_at_end() {
            self.dictionaries_again()?;
        }
        for (number, session) in self.scope.sessions(self.trace) {
            if session.watermark == u64::MAX {
                self.out.push(BlockKind::WATERMARK, number, 0, &u64::MAX.to_le_bytes())?;
            }
        }
        if !self.options.remark.is_empty() {
            self.out.push(BlockKind::NOTE, 0, 0, self.options.remark.as_bytes())?;
        }
        let (bytes, out) = self.out.finish()?;
        Ok((Rewritten { bytes, ..self.done }, out))
    }

    /// One block of records, unless what it holds has been written.
    fn records(&mut self, placed: &Placed<'_>) -> io::Result<()> {
        let header = &placed.block.header;
        let key = (placed.session, header.stream);
        let covered = self.covered.get(&key).copied();
        if header.ring_end > header.ring_begin && covered.is_some_and(|covered| header.ring_end <= covered) {
            self.done.duplicates += 1;
            return Ok(());
        }
        let session = &self.trace.sessions[placed.session];
        let mut raw = std::mem::take(&mut self.raw);
        let note = self.reader.read(self.trace, session, placed.block, &mut raw);
        let is_readable = note.is_none() || !raw.is_empty();
        note.into_iter().for_each(|note| self.note(note));
        let mut written = Ok(());
        if is_readable {
            // Of a block that cannot be expanded to its end the range is that of the records that are there.
            let ring_end = header.ring_begin.saturating_add(raw.len() as u64);
            let mut new = BlockHeader {
                session: placed.session as u32 + 1,
                ring_end,
                raw_size: raw.len() as u32,
                ..*header
            };
            if self.options.mend {
                self.done.undecodable += mend(self.trace, session, &mut raw, &mut new);
            }
            self.covered.insert(key, ring_end.max(covered.unwrap_or(0)));
            written = self.encode(session, placed.block.file, new, &raw);
        }
        self.raw = raw;
        written
    }

    fn note(&mut self, note: Note) {
        if self.done.notes.len() < NOTES_MAX {
            self.done.notes.push(note);
        }
    }

    /// Writes a stretch of a block that begins and ends at a record as a block of its own. `pads`: bytes of it that were overwritten.
    fn stretch(
        &mut self,
        session: usize,
        block: &BlockRef,
        begin: usize,
        raw: &[u8],
        pads: usize,
    ) -> io::Result<()> {
        let number = session as u32 + 1;
        let session = &self.trace.sessions[session];
        let ring_begin = block.header.ring_begin.saturating_add(begin as u64);
        let mut header = BlockHeader {
            session: number,
            ring_begin,
            ring_end: ring_begin.saturating_add(raw.len() as u64),
            raw_size: raw.len() as u32,
            ..block.header
        };
        if header.encoding & !COMPACT == RAW && pads > raw.len() / 4 {
            header.encoding |= LZ4;
        }
        summarize(self.trace, session, raw, &mut header);
        self.encode(session, block.file, header, raw)
    }

    /// Writes raw bytes of records that this file held, compact if they were so, compressed as asked.
    fn encode(&mut self, session: &Session, file: u32, header: BlockHeader, raw: &[u8]) -> io::Result<()> {
        if self.out.written() >= self.segment_end {
            self.out.index()?;
            self.dictionaries_again()?;
            self.segment_end = (self.out.written() / SEGMENT + 1) * SEGMENT;
        } else if self.repeats && self.out.repetition().is_due() {
            self.dictionaries_again()?;
        }
        self.done.blocks += 1;
        self.done.records += u64::from(header.records);
        let kept = || match header.encoding & !COMPACT {
            RAW => Compression::None,
            LZ4 => Compression::Lz4,
            // A block does not say its level.
            _ => match stated(&self.trace.files[file as usize]) {
                Some(Compression::Zstd(level)) => Compression::Zstd(level),
                _ => Compression::Zstd(1),
            },
        };
        let wanted = self.options.compression.unwrap_or_else(kept);
        if self.compressor.compression() != wanted {
            self.compressor = Compressor::new(wanted);
        }
        self.small.clear();
        let is_compact =
            header.encoding & COMPACT != 0 && compact(raw, &session.signatures, &mut self.small).is_ok();
        let payload = if is_compact { &self.small } else { raw };
        self.packed.clear();
        let bits = self.compressor.compress(payload, &mut self.packed);
        let payload = if bits == 0 { payload } else { &self.packed };
        let encoding = bits | if is_compact { COMPACT } else { RAW };
        self.out.push_block(BlockHeader { encoding, ..header }, payload)
    }
}

/// Wall nanoseconds.
fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos())
}

/// How the writer of a file says that it compresses.
fn stated(file: &TraceFile) -> Option<Compression> {
    process::value(&file.about, COMPRESSION)?.parse().ok()
}

/// All blocks: of a stream in ring order, of different ones by time, so that blocks of the same time lie
/// together.
fn placed(trace: &Trace) -> impl Iterator<Item = Placed<'_>> {
    let streams: Vec<(usize, &Stream)> = trace
        .sessions
        .iter()
        .enumerate()
        .flat_map(|(number, session)| session.streams.iter().map(move |stream| (number, stream)))
        .collect();
    // The next block of each stream: its time (no earlier than that of the one before it), the stream and its place there.
    let next = move |number: usize, at: usize, before: i64, streams: &[(usize, &Stream)]| {
        let (session, stream) = streams[number];
        let ticks = stream.blocks.get(at)?.header.first_ticks;
        Some(Reverse((trace.sessions[session].order.wall_ns(ticks).max(before), number, at)))
    };
    let mut heads: BinaryHeap<_> =
        (0..streams.len()).filter_map(|number| next(number, 0, i64::MIN, &streams)).collect();
    std::iter::from_fn(move || {
        let Reverse((ns, number, at)) = heads.pop()?;
        heads.extend(next(number, at + 1, ns, &streams));
        let (session, stream) = streams[number];
        Some(Placed { session, block: &stream.blocks[at] })
    })
}
