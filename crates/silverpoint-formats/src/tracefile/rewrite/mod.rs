//! Trace files made of trace files (`spec/file.md`, section 5): mended, or several as one.
//!
//! A [`Trace`] has already joined sessions and put the blocks of each stream in order. What is written is a file that stands alone: its own *file* block
//! and numbers, the dictionaries, every block of records with its ring range, and an index. Duplicates are left out.
//!
//! Memory is that of the trace's index, and of one block.

mod output;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use silverpoint_wire::block::{
    self, BlockHeader, BlockKind, LossInfo, SessionInfo, push_anchor, push_site, site_bit,
};
use silverpoint_wire::compact::compact;
use silverpoint_wire::compression::{Compression, Compressor};
use silverpoint_wire::layout::block::{COMPACT, LEVELS_CONTROL, LZ4, RAW, SEGMENT};
use silverpoint_wire::layout::record::{PAD, PAD_MIN};
use silverpoint_wire::layout::site_entry::FIRST_ID;
use silverpoint_wire::process::{self, push_line};
use silverpoint_wire::record::Records;
use silverpoint_wire::site::fnv1a64;
use silverpoint_wire::value::skip;
use silverpoint_wire::version::FormatVersion;

use super::blocks::BlockReader;
use super::scan::BlockRef;
use super::session::{Session, Stream};
use super::verdict::{Matter, Note};
use super::{Trace, TraceFile};
use output::Output;

/// How a file is written.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How blocks are compressed; each keeps its kind when absent, zstd at the level that its file states, else at level 1.
    pub compression: Option<Compression>,
    /// What the file says of its origin, as a note.
    pub remark: String,
    /// Blocks are judged record by record: summaries are made anew, and records that nobody can decode are overwritten with pads.
    pub mend: bool,
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
    /// Records that nobody can decode, overwritten ([`Options::mend`]).
    pub undecodable: u64,
    /// Blocks that could not be read, or not to their end.
    pub notes: Vec<Note>,
}

/// Most notes that are kept.
const NOTES_MAX: usize = 10_000;
/// Descriptions of sites that stand in one block.
const SITES_BYTES: usize = 1 << 20;

/// Of the pads that fill a longer stretch.
const PAD_LONG: usize = 8 << 20;

/// A block in its place.
struct Placed<'t> {
    session: usize,
    block: &'t BlockRef,
}

/// Writes the whole trace as one file.
///
/// # Errors
/// Those of writing. What cannot be read is left out, and told.
pub fn rewrite(trace: &Trace, options: &Options, out: impl Write) -> io::Result<Rewritten> {
    let mut rewriter = Rewriter {
        trace,
        options,
        out: Output::new(out),
        done: Rewritten::default(),
        covered: HashMap::new(),
        reader: BlockReader::default(),
        compressor: Compressor::new(options.compression.unwrap_or_default()),
        raw: Vec::new(),
        small: Vec::new(),
        packed: Vec::new(),
    };
    rewriter.file()?;
    rewriter.done.bytes = rewriter.out.finish()?;
    Ok(rewriter.done)
}

struct Rewriter<'t, W> {
    trace: &'t Trace,
    options: &'t Options,
    out: Output<W>,
    done: Rewritten,
    /// Of each session and stream: up to where its ring has been written.
    covered: HashMap<(usize, u32), u64>,
    reader: BlockReader,
    compressor: Compressor,
    raw: Vec<u8>,
    small: Vec<u8>,
    packed: Vec<u8>,
}

impl<W: Write> Rewriter<'_, W> {
    fn file(&mut self) -> io::Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        let about = about(self.trace, self.options, now);
        self.out.push(BlockKind::FILE, 0, 0, about.as_bytes())?;
        self.dictionaries(now)?;
        self.told()?;
        let mut segment_end = SEGMENT;
        for placed in placed(self.trace) {
            if self.out.written() >= segment_end {
                self.out.index()?;
                self.dictionaries(now)?;
                segment_end = (self.out.written() / SEGMENT + 1) * SEGMENT;
            }
            self.records(&placed)?;
        }
        for (number, session) in (1u32..).zip(&self.trace.sessions) {
            if session.watermark == u64::MAX {
                self.out.push(BlockKind::WATERMARK, number, 0, &u64::MAX.to_le_bytes())?;
            }
        }
        if !self.options.remark.is_empty() {
            self.out.push(BlockKind::NOTE, 0, 0, self.options.remark.as_bytes())?;
        }
        Ok(())
    }

    /// Everything that describes the sessions, and their losses.
    fn dictionaries(&mut self, now: u128) -> io::Result<()> {
        for (number, session) in (1u32..).zip(&self.trace.sessions) {
            let mut payload = Vec::new();
            match &session.info {
                Some(info) => info.encode(&mut payload),
                // Its description was lost: it is nobody else's session.
                None => {
                    let mut session_id = [0; 16];
                    session_id[..8].copy_from_slice(&fnv1a64(&now.to_le_bytes()).to_le_bytes());
                    session_id[8..12].copy_from_slice(&number.to_le_bytes());
                    SessionInfo { session_id, ..SessionInfo::default() }.encode(&mut payload);
                }
            }
            self.out.push(BlockKind::SESSION, number, 0, &payload)?;
            self.sites(number, session)?;
            payload.clear();
            for stream in &session.streams {
                let unknown = block::StreamInfo { stream: stream.number, ..Default::default() };
                stream.info.unwrap_or(unknown).encode(&mut payload);
            }
            if !payload.is_empty() {
                self.out.push(BlockKind::STREAMS, number, 0, &payload)?;
            }
            payload.clear();
            for anchor in &session.anchors {
                push_anchor(&mut payload, anchor);
            }
            for part in payload.chunks(24 * 10_000) {
                self.out.push(BlockKind::ANCHORS, number, 0, part)?;
            }
            payload.clear();
            let of_streams =
                session.streams.iter().map(|stream| LossInfo { stream: stream.number, ..stream.loss });
            let own = LossInfo { stream: 0, ..session.loss };
            for loss in std::iter::once(own).chain(of_streams) {
                if loss != (LossInfo { stream: loss.stream, ..LossInfo::default() }) {
                    loss.encode(&mut payload);
                }
            }
            for part in payload.chunks(LossInfo::SIZE * 10_000) {
                self.out.push(BlockKind::LOSSES, number, 0, part)?;
            }
        }
        Ok(())
    }

    fn sites(&mut self, number: u32, session: &Session) -> io::Result<()> {
        let mut sites: Vec<(u32, usize)> = session.site_numbers().collect();
        sites.sort_unstable();
        let (mut payload, mut description) = (Vec::new(), Vec::new());
        for (id, site) in sites {
            description.clear();
            self.trace.sites[site].description.encode(&mut description);
            push_site(&mut payload, id, &description);
            if payload.len() >= SITES_BYTES {
                self.out.push(BlockKind::SITES, number, 0, &payload)?;
                payload.clear();
            }
        }
        if payload.is_empty() { Ok(()) } else { self.out.push(BlockKind::SITES, number, 0, &payload) }
    }

    /// Gaps and notes.
    fn told(&mut self) -> io::Result<()> {
        for note in self.trace.notes() {
            if let Matter::Collector { whose, text } = &note.matter
                && whose.is_empty()
            {
                self.out.push(BlockKind::NOTE, 0, 0, text.as_bytes())?;
            }
        }
        for (number, session) in (1u32..).zip(&self.trace.sessions) {
            for text in &session.notes {
                self.out.push(BlockKind::NOTE, number, 0, text.as_bytes())?;
            }
            for stream in &session.streams {
                for (begin, end) in &stream.gaps {
                    let mut payload = begin.to_le_bytes().to_vec();
                    payload.extend_from_slice(&end.to_le_bytes());
                    self.out.push(BlockKind::GAP, number, stream.number, &payload)?;
                }
            }
        }
        Ok(())
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
        if let Some(note) = note
            && self.done.notes.len() < NOTES_MAX
        {
            self.done.notes.push(note);
        }
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
            self.done.blocks += 1;
            self.done.records += u64::from(new.records);
            written = self.encode(session, placed.block.file, new, &raw);
        }
        self.raw = raw;
        written
    }

    /// Writes raw bytes of records that this file held, compact if they were so, compressed as asked.
    fn encode(&mut self, session: &Session, file: u32, header: BlockHeader, raw: &[u8]) -> io::Result<()> {
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

/// How the writer of a file says that it compresses.
fn stated(file: &TraceFile) -> Option<Compression> {
    process::value(&file.about, "compression")?.parse().ok()
}

/// The text of the *file* block.
fn about(trace: &Trace, options: &Options, now: u128) -> String {
    let mut text = String::new();
    let id = u128::from(fnv1a64(&now.to_le_bytes())) << 64 | u128::from(std::process::id());
    push_line(&mut text, "format", &FormatVersion::CURRENT.to_string());
    push_line(&mut text, "writer", concat!("silverpoint ", env!("CARGO_PKG_VERSION")));
    push_line(&mut text, "created", &now.to_string());
    let host = trace.files.iter().flat_map(|file| &file.about).find(|(key, _)| key == "host");
    if let Some((_, host)) = host {
        push_line(&mut text, "host", host);
    }
    push_line(&mut text, "file_id", &format!("{id:032x}"));
    // Of files that do not agree the level is known no more.
    let first = trace.files.first().and_then(stated);
    let common = first.filter(|first| trace.files.iter().all(|file| stated(file) == Some(*first)));
    if let Some(compression) = options.compression.or(common).filter(|how| *how != Compression::None) {
        push_line(&mut text, "compression", &compression.to_string());
    }
    push_line(&mut text, "part", "1");
    text
}

/// All blocks: of a stream in ring order, of different ones by time, so that what belongs to a stretch of time lies together.
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

/// Overwrites records that no description explains, and states in the summary what is there. Gives how many were overwritten.
fn mend(trace: &Trace, session: &Session, raw: &mut [u8], header: &mut BlockHeader) -> u64 {
    let mut bad = Vec::new();
    let (mut records, mut levels, mut sites) = (0, 0, 0);
    let (mut first_ticks, mut last_ticks) = (u64::MAX, 0);
    let mut whole = raw.len();
    for record in Records::new(raw) {
        let Ok(record) = record else {
            // From here on nothing tells where records begin: the rest becomes one pad.
            whole = whole_until(raw);
            break;
        };
        let site = record.header.site;
        if site == PAD {
            continue;
        }
        let level = match session.site_number(site) {
            _ if site < FIRST_ID => Some(LEVELS_CONTROL),
            Some(number) => Some(1 << trace.sites[number].level() as u32),
            None => None,
        };
        let types = session.signatures.get(site).unwrap_or_default();
        let end = types.iter().try_fold(0, |at, ty| skip(ty, record.args, at));
        let (Some(level), Ok(_)) = (level, end) else {
            bad.push((record.offset, record.header.size as usize));
            continue;
        };
        records += 1;
        levels |= level;
        sites |= site_bit(site);
        first_ticks = first_ticks.min(record.header.ticks);
        last_ticks = last_ticks.max(record.header.ticks);
    }
    let overwritten = bad.len() as u64 + u64::from(whole < raw.len());
    // A pad's size has 24 bits, and is a multiple of 8.
    let end = raw.len() - raw.len() % PAD_MIN;
    let tail = (whole..end).step_by(PAD_LONG);
    bad.extend(tail.map(|at| (at, (end - at).min(PAD_LONG))));
    for (at, size) in bad {
        raw[at..at + size].fill(0);
        raw[at..at + 4].copy_from_slice(&(size as u32).to_le_bytes());
    }
    if records == 0 {
        first_ticks = 0;
    }
    *header = BlockHeader { records, levels, sites, first_ticks, last_ticks, ..*header };
    overwritten
}

/// Where the first record begins that is none.
fn whole_until(raw: &[u8]) -> usize {
    let mut at = 0;
    for record in Records::new(raw) {
        match record {
            Ok(record) => at = record.offset + record.header.size as usize,
            Err(_) => break,
        }
    }
    at
}
