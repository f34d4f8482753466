//! One file: its blocks indexed, its dictionaries read. Payloads of records are not touched, unless there is damage.

use std::collections::BTreeMap;
use std::io;

use silverpoint_wire::block::{
    self, BlockError, BlockHeader, BlockKind, GapInfo, LossInfo, SessionInfo, StreamInfo,
};
use silverpoint_wire::clock::Anchor;
use silverpoint_wire::layout::CAUSES;
use silverpoint_wire::layout::block::{HEADER_SIZE, PAYLOAD_MAX};
use silverpoint_wire::process;
use silverpoint_wire::scan::{Damage, Found, ReadAt, Scanner};
use silverpoint_wire::site::{SiteDescription, SiteError};
use silverpoint_wire::version::FormatVersion;

use super::index;
use super::source::Source;
use super::verdict::Matter;

/// Where a block of records lies, and what its header says of it.
#[derive(Clone, Copy, Debug)]
pub struct BlockRef {
    /// Number of the file, in the order of opening.
    pub file: u32,
    /// Offset of the block in its file.
    pub at: u64,
    /// The header, which has been checked.
    pub header: BlockHeader,
}

/// What one file says about a session.
#[derive(Debug, Default)]
pub(super) struct FoundSession {
    pub(super) info: Option<SessionInfo>,
    pub(super) sites: BTreeMap<u32, SiteDescription>,
    pub(super) streams: BTreeMap<u32, FoundStream>,
    pub(super) anchors: Vec<Anchor>,
    /// Of records that had no ring.
    pub(super) loss: LossInfo,
    pub(super) notes: Vec<String>,
    pub(super) watermark: u64,
}

/// What one file says about a stream.
#[derive(Debug, Default)]
pub(super) struct FoundStream {
    pub(super) info: Option<StreamInfo>,
    pub(super) blocks: Vec<BlockRef>,
    pub(super) loss: LossInfo,
    /// Ring bytes that could not be stored.
    pub(super) gaps: Vec<GapInfo>,
}

/// Where the index of a file ends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Resume {
    /// Offset behind the last whole block.
    at: u64,
    /// Number of the block that comes next.
    sequence: u64,
}

/// One file, indexed.
#[derive(Debug, Default)]
pub(super) struct FileScan {
    /// Lines of the first *file* block.
    pub(super) about: Vec<(String, String)>,
    /// By the file's own numbers.
    pub(super) sessions: BTreeMap<u32, FoundSession>,
    /// Notes of the collector that concern no session.
    pub(super) notes: Vec<String>,
    pub(super) matters: Vec<Matter>,
    /// That the file ends within a block.
    pub(super) cut: Option<Matter>,
    /// Where to go on when the file has grown.
    pub(super) resume: Resume,
    /// Valid blocks.
    pub(super) blocks: u64,
    /// Bytes looked at.
    pub(super) bytes: u64,
    /// Reason of the *end* block.
    pub(super) end: Option<u32>,
    /// Blocks, and sites, of kinds that have no meaning here.
    pub(super) unknown: (u64, u64),
    /// A *file* block states a version that cannot be read: nothing from there on is looked at.
    pub(super) refused: Option<Matter>,
}

/// Most notes of a collector that are kept from one file.
const NOTES_MAX: usize = 10_000;

/// Most characters of a version that are shown.
const VERSION_SHOWN: usize = 40;

/// Indexes a file, or what it has grown by. Memory grows with blocks, streams and sites, not with records.
///
/// # Errors
/// Those of reading the file.
pub(super) fn scan(source: &Source, file: u32, from: Resume) -> io::Result<FileScan> {
    let quick = scan_once(source, file, from, false)?;
    // Where something is wrong, a block that follows may begin before the place that a broken block's header promises: then every payload
    // is checked, so that none is missed.
    let whole = quick.matters.is_empty();
    if whole || quick.blocks == 0 { Ok(quick) } else { scan_once(source, file, from, true) }
}

fn scan_once(source: &Source, file: u32, from: Resume, check_payloads: bool) -> io::Result<FileScan> {
    let mut scan = FileScan { bytes: source.size()?, resume: from, ..FileScan::default() };
    let mut payload = Vec::new();
    if from.at == 0
        && !check_payloads
        && let Some(indexes) = index::read(source)?
    {
        for part in 0..indexes.len() {
            // Where one has changed meanwhile, the headers are read where they stand.
            let Some((blocks, next)) = indexes.blocks(source, part, &mut payload)? else { break };
            for (at, header) in &blocks {
                scan.block(source, file, *at, header, &mut payload)?;
                if scan.refused.is_some() {
                    return Ok(scan);
                }
            }
            scan.resume.at = next;
        }
    }
    let seen = Seen { source, size: scan.bytes };
    let mut scanner = Scanner::resume(&seen, scan.resume.at, scan.resume.sequence, check_payloads);
    while let Some(found) = scanner.next()? {
        match found {
            Found::Block { at, header } => scan.block(source, file, at, &header, &mut payload)?,
            Found::Damage(damage) if damage.is_cut => {
                let bytes = damage.bytes.min(scan.bytes.saturating_sub(damage.at));
                scan.cut = Some(Matter::Cut { offset: damage.at, bytes });
                break;
            }
            Found::Damage(damage) if let Some(header) = broken_block(source, &damage)? => {
                let next = header.sequence.saturating_add(1);
                scan.resume.sequence = scan.resume.sequence.max(next);
                scan.matters.push(bad_block(damage.at, &header, damage.why.to_string()));
            }
            Found::Damage(damage) => {
                scan.matters.push(Matter::Skipped {
                    offset: damage.at,
                    bytes: damage.bytes,
                    why: damage.why.to_string(),
                });
            }
        }
        if scan.refused.is_some() {
            break;
        }
        scan.resume.at = scanner.position();
    }
    Ok(scan)
}

/// A file as long as it was when the look at it began. A block that is being appended is cut then; seen whole a moment later, with others behind it, it would
/// be a broken one between good ones.
struct Seen<'s> {
    source: &'s Source,
    size: u64,
}

impl ReadAt for Seen<'_> {
    type Error = io::Error;

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.size.saturating_sub(offset).min(buffer.len() as u64) as usize;
        if len == 0 { Ok(0) } else { self.source.read_at(offset, &mut buffer[..len]) }
    }

    fn skip_hole(&self, offset: u64) -> io::Result<u64> {
        Ok(self.source.skip_hole(offset)?.min(self.size.max(offset)))
    }
}

/// The header of a block whose payload alone is damaged.
fn broken_block(source: &Source, damage: &Damage) -> io::Result<Option<BlockHeader>> {
    let mut bytes = [0; HEADER_SIZE];
    if damage.why != BlockError::PayloadCrc || source.read_at(damage.at, &mut bytes)? < HEADER_SIZE {
        return Ok(None);
    }
    Ok(BlockHeader::decode(&bytes).ok())
}

/// Reads a stored payload into `payload`, in place of what is there, and checks it. The outer error is the file system's, the inner one the block's.
pub(super) fn read_payload(
    source: &Source,
    at: u64,
    header: &BlockHeader,
    payload: &mut Vec<u8>,
) -> io::Result<Result<(), String>> {
    let size = (header.stored_size as usize).min(PAYLOAD_MAX);
    // What is there is written over: to clear it first would cost as much as to read.
    payload.resize(size, 0);
    let mut filled = 0;
    while filled < size {
        match source.read_at(at + u64::from(header.header_size) + filled as u64, &mut payload[filled..])? {
            0 => break,
            n => filled += n,
        }
    }
    payload.truncate(filled);
    Ok(header.check(payload).map_err(|error| error.to_string()))
}

pub(super) fn bad_block(at: u64, header: &BlockHeader, why: String) -> Matter {
    Matter::BadBlock {
        offset: at,
        sequence: header.sequence,
        session: header.session,
        stream: header.stream,
        records: if header.kind == BlockKind::RECORDS { header.records } else { 0 },
        why,
    }
}

impl FileScan {
    /// Takes a block with a valid header: where it lies if it holds records, else what it says.
    fn block(
        &mut self,
        source: &Source,
        file: u32,
        at: u64,
        header: &BlockHeader,
        payload: &mut Vec<u8>,
    ) -> io::Result<()> {
        self.blocks += 1;
        let expected = self.resume.sequence;
        if header.sequence > expected {
            self.matters.push(Matter::MissingBlocks { first: expected, last: header.sequence - 1 });
        }
        self.resume.sequence = expected.max(header.sequence.saturating_add(1));
        if header.kind == BlockKind::RECORDS {
            let session = self.sessions.entry(header.session).or_default();
            let stream = session.streams.entry(header.stream).or_default();
            stream.blocks.push(BlockRef { file, at, header: *header });
        } else if header.kind != BlockKind::INDEX {
            match read_payload(source, at, header, payload)? {
                Ok(()) => self.take(at, header, payload),
                Err(why) => self.matters.push(bad_block(at, header, why)),
            }
        }
        Ok(())
    }

    /// Takes a payload, which is as it was stored, into the dictionaries.
    fn take(&mut self, at: u64, header: &BlockHeader, payload: &[u8]) {
        match header.kind {
            BlockKind::FILE => {
                let lines = process::lines(payload);
                // Files may have been joined: each block speaks for what follows it. Without the line it is not to be doubted.
                if let Some(version) = FormatVersion::refused(&lines) {
                    let version = version.chars().take(VERSION_SHOWN).collect();
                    self.refused = Some(Matter::OtherFormat { offset: at, version });
                }
                if self.about.is_empty() {
                    self.about = lines;
                }
                return;
            }
            BlockKind::END => {
                self.end = payload.first_chunk().map(|reason| u32::from_le_bytes(*reason));
                return;
            }
            BlockKind::NOTE if header.session == 0 => {
                if self.notes.len() < NOTES_MAX {
                    self.notes.push(String::from_utf8_lossy(payload).into_owned());
                }
                return;
            }
            BlockKind::SESSION
            | BlockKind::SITES
            | BlockKind::STREAMS
            | BlockKind::ANCHORS
            | BlockKind::LOSSES
            | BlockKind::WATERMARK
            | BlockKind::NOTE
            | BlockKind::GAP => {}
            BlockKind::POSITIONS => return,
            _ => {
                self.unknown.0 += 1;
                return;
            }
        }
        let session = self.sessions.entry(header.session).or_default();
        match header.kind {
            BlockKind::SESSION => match SessionInfo::decode(payload) {
                Some(info) => {
                    session.info.get_or_insert(info);
                }
                None => {
                    self.matters.push(bad_block(
                        at,
                        header,
                        "the description of the session is too short".into(),
                    ));
                }
            },
            BlockKind::SITES => {
                for (id, site) in block::sites(payload) {
                    match site {
                        // A site that was pending has been completed; else a repetition equals the first.
                        Ok(site) => match session.sites.get(&id) {
                            Some(known) if !known.is_pending() => {}
                            _ => {
                                session.sites.insert(id, site);
                            }
                        },
                        Err(SiteError::Kind(_)) => self.unknown.1 += 1,
                        Err(error) => self.matters.push(bad_block(at, header, format!("site {id}: {error}"))),
                    }
                }
            }
            BlockKind::STREAMS => {
                for info in StreamInfo::decode_all(payload) {
                    // The last one knows the thread's name best.
                    session.streams.entry(info.stream).or_default().info = Some(info);
                }
            }
            BlockKind::ANCHORS => session.anchors.extend(block::anchors(payload)),
            BlockKind::LOSSES => {
                for loss in LossInfo::decode_all(payload) {
                    let total = match loss.stream {
                        0 => &mut session.loss,
                        stream => &mut session.streams.entry(stream).or_default().loss,
                    };
                    raise(total, &loss);
                }
            }
            BlockKind::WATERMARK => {
                if let Some(ticks) = payload.first_chunk() {
                    session.watermark = session.watermark.max(u64::from_le_bytes(*ticks));
                }
            }
            BlockKind::NOTE if session.notes.len() < NOTES_MAX => {
                session.notes.push(String::from_utf8_lossy(payload).into_owned());
            }
            BlockKind::GAP => {
                if let Some(gap) = GapInfo::decode(payload) {
                    session.streams.entry(header.stream).or_default().gaps.push(gap);
                }
            }
            _ => {}
        }
    }
}

/// Totals only grow: the greatest of each is the last.
pub(super) fn raise(total: &mut LossInfo, seen: &LossInfo) {
    total.stream = seen.stream;
    for cause in 0..CAUSES {
        total.losses[cause] = total.losses[cause].max(seen.losses[cause]);
    }
    total.stalls = total.stalls.max(seen.stalls);
    total.stall_ns = total.stall_ns.max(seen.stall_ns);
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// The file has more by now than when the look began: what was there of the last block then is cut, at whatever byte, and what follows it is for the next look.
    #[test]
    fn a_block_that_is_being_written_is_cut_however_far_the_file_has_grown_since() {
        let mut bytes = Vec::new();
        let mut ends = Vec::new();
        for sequence in 0..4 {
            let payload = [sequence as u8; 40];
            let header = BlockHeader { sequence, ..BlockHeader::new(BlockKind::NOTE, &payload) };
            block::push_block(&mut bytes, &header, &payload);
            ends.push(bytes.len() as u64);
        }
        let source = Source::from_bytes(Path::new("t.silver"), bytes);
        for size in 0..=*ends.last().unwrap() {
            let seen = Seen { source: &source, size };
            let mut scanner = Scanner::new(&seen, 0, false);
            let mut blocks = 0;
            while let Some(found) = scanner.next().unwrap() {
                match found {
                    Found::Block { .. } => blocks += 1,
                    Found::Damage(damage) => assert!(damage.is_cut, "{size} bytes: {damage}"),
                }
            }
            assert_eq!(blocks, ends.iter().filter(|end| **end <= size).count(), "{size} bytes");
        }
    }
}
