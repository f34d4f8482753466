//! One file: its blocks indexed, its dictionaries read. Payloads of records are not touched, unless there is damage.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;

use silverpoint_wire::about::{FILE_ID, SPLIT, TRIMMED};
use silverpoint_wire::block::{
    self, BlockError, BlockHeader, BlockKind, GapInfo, LossInfo, SessionInfo, StreamInfo,
};
use silverpoint_wire::clock::Anchor;
use silverpoint_wire::layout::CAUSES;
use silverpoint_wire::layout::block::{HEADER_SIZE, PAYLOAD_MAX};
use silverpoint_wire::process;
use silverpoint_wire::scan::{Damage, Found, ReadAt, Scanner};
use silverpoint_wire::site::{SiteDescription, SiteError, fnv1a64};
use silverpoint_wire::version::FormatVersion;

use super::index;
use super::source::Source;
use super::verdict::Matter;

/// Where a block of records lies, and its header.
#[derive(Clone, Copy, Debug)]
pub struct BlockRef {
    /// Number of the file, in the order of opening.
    pub file: u32,
    /// Offset of the block in its file.
    pub at: u64,
    /// The header, which has been checked.
    pub header: BlockHeader,
}

/// The information of one file about a session.
#[derive(Debug, Default)]
pub(super) struct FoundSession {
    /// The file's own number of it.
    pub(super) local: u32,
    /// The number was that of another session before: files were joined.
    pub(super) is_other: bool,
    pub(super) info: Option<SessionInfo>,
    pub(super) sites: BTreeMap<u32, SiteDescription>,
    /// Sites of kinds that have no meaning here.
    unknown_sites: BTreeSet<u32>,
    pub(super) streams: BTreeMap<u32, FoundStream>,
    pub(super) anchors: Vec<Anchor>,
    /// Of records that had no ring.
    pub(super) loss: LossInfo,
    pub(super) notes: Vec<String>,
    pub(super) watermark: u64,
}

/// The information of one file about a stream.
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
    /// Of the last *file* block, see [`file_id`]; 0: there was none.
    file_id: u64,
    /// The last block closed a file.
    has_ended: bool,
}

impl Resume {
    /// Offset behind the last whole block.
    pub(super) fn offset(&self) -> u64 {
        self.at
    }
}

/// One file, indexed.
#[derive(Debug, Default)]
pub(super) struct FileScan {
    /// Lines of the first *file* block.
    pub(super) about: Vec<(String, String)>,
    /// In the order in which they were found.
    pub(super) sessions: Vec<FoundSession>,
    /// Places in `sessions` by the numbers that blocks have at the moment.
    numbers: HashMap<u32, usize>,
    /// Another file was joined to this one: from there on numbers are new ones.
    is_joined: bool,
    /// Notes of the collector that concern no session.
    pub(super) notes: Vec<String>,
    pub(super) matters: Vec<Matter>,
    /// That the file ends within a block.
    pub(super) cut: Option<Matter>,
    /// Where to go on when the file has grown.
    pub(super) resume: Resume,
    /// Valid blocks.
    pub(super) blocks: u64,
    /// Bytes examined.
    pub(super) bytes: u64,
    /// Reason of the *end* block, when nothing follows it.
    pub(super) end: Option<u32>,
    /// Blocks, and sites, of kinds that have no meaning here.
    pub(super) unknown: (u64, u64),
    /// The file's index said where its blocks are: the blocks themselves have not been examined.
    pub(super) is_by_index: bool,
    /// A *file* block states a version that cannot be read: nothing from there on is examined.
    pub(super) refused: Option<Matter>,
}

/// Most notes of a collector that are kept from one file.
const NOTES_MAX: usize = 10_000;

/// Most runs of missing blocks in which a displaced one is searched.
const MISSING_SEARCHED: usize = 256;

/// Most characters of a version that are shown.
const VERSION_SHOWN: usize = 40;

/// Ids of the sessions that a file's numbers had before, as far as they are known.
pub(super) type Known = HashMap<u32, [u8; 16]>;

/// What a *file* block says that the file is, as one number: not 0.
pub(super) fn file_id(lines: &[(String, String)]) -> u64 {
    fnv1a64(process::value(lines, FILE_ID).unwrap_or_default().as_bytes()).max(1)
}

/// Indexes a file, or what it has grown by. Memory grows with blocks, streams and sites, not with records.
///
/// # Errors
/// Those of reading the file.
pub(super) fn scan(source: &Source, file: u32, from: Resume, known: &Known) -> io::Result<FileScan> {
    let quick = scan_once(source, file, from, known, false)?;
    // After an error, a block may begin before the end that a broken block's header states. Then every
    // payload is checked, so that no block is missed.
    let whole = quick.matters.is_empty();
    if whole || quick.blocks == 0 { Ok(quick) } else { scan_once(source, file, from, known, true) }
}

fn scan_once(
    source: &Source,
    file: u32,
    from: Resume,
    known: &Known,
    check_payloads: bool,
) -> io::Result<FileScan> {
    let mut scan = FileScan { bytes: source.size()?, resume: from, ..FileScan::default() };
    let mut payload = Vec::new();
    if from.at == 0 && !check_payloads {
        if let Some(indexes) = index::read(source)? {
            for part in 0..indexes.len() {
                // Where one has changed meanwhile, the headers are read where they stand.
                let Some((blocks, next)) = indexes.blocks(source, part, &mut payload)? else { break };
                scan.is_by_index = true;
                for (at, header) in &blocks {
                    scan.block(source, file, *at, header, known, &mut payload)?;
                    if scan.refused.is_some() {
                        return Ok(scan);
                    }
                }
                scan.resume.at = next;
            }
        }
    }
    let seen = Seen { source, size: scan.bytes };
    let mut scanner = Scanner::resume(&seen, scan.resume.at, scan.resume.sequence, check_payloads);
    while let Some(found) = scanner.next()? {
        match found {
            Found::Block { at, header } => scan.block(source, file, at, &header, known, &mut payload)?,
            Found::Damage(damage) if damage.is_cut => {
                let bytes = damage.bytes.min(scan.bytes.saturating_sub(damage.at));
                scan.cut = Some(Matter::Cut { offset: damage.at, bytes });
                break;
            }
            Found::Damage(damage) => match broken_block(source, &damage)? {
                Some(header) => {
                    let next = header.sequence.saturating_add(1);
                    scan.resume.sequence = scan.resume.sequence.max(next);
                    scan.matters.push(bad_block(damage.at, &header, damage.why.to_string()));
                }
                None => scan.matters.push(Matter::Skipped {
                    offset: damage.at,
                    bytes: damage.bytes,
                    why: damage.why.to_string(),
                }),
            },
        }
        if scan.refused.is_some() {
            break;
        }
        scan.resume.at = scanner.position();
    }
    Ok(scan)
}

/// Where each block of a file stands, by its number: of a file whose index does not fit.
pub(super) fn places(source: &Source) -> io::Result<HashMap<u64, u64>> {
    let mut scanner = Scanner::new(source, 0, false);
    let mut places = HashMap::new();
    while let Some(found) = scanner.next()? {
        if let Found::Block { at, header } = found {
            places.entry(header.sequence).or_insert(at);
        }
    }
    Ok(places)
}

/// A file with its length at the begin of the scan. A block that is being appended counts as cut then. Seen
/// complete a moment later, with others after it, it would be a broken one between good ones.
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
    /// Processes a block with a valid header: notes its place if it holds records, otherwise reads its
    /// contents.
    fn block(
        &mut self,
        source: &Source,
        file: u32,
        at: u64,
        header: &BlockHeader,
        known: &Known,
        payload: &mut Vec<u8>,
    ) -> io::Result<()> {
        self.blocks += 1;
        self.count(at, header);
        if header.kind == BlockKind::RECORDS {
            let stream = self.session(header.session).streams.entry(header.stream).or_default();
            stream.blocks.push(BlockRef { file, at, header: *header });
        } else if header.kind != BlockKind::INDEX {
            match read_payload(source, at, header, payload)? {
                Ok(()) => self.take(at, header, known, payload),
                Err(why) => self.matters.push(bad_block(at, header, why)),
            }
        }
        Ok(())
    }

    /// Notes which blocks are missing, by their numbers, which restart where another file was joined.
    fn count(&mut self, at: u64, header: &BlockHeader) {
        let (number, expected) = (header.sequence, self.resume.sequence);
        let begins = number == 0 && header.kind == BlockKind::FILE;
        if begins {
            self.resume.sequence = 1;
        } else if number >= expected {
            if number > expected {
                self.matters.push(Matter::MissingBlocks { first: expected, last: number - 1 });
            }
            self.resume.sequence = number.saturating_add(1);
        } else if self.was_missing(number) {
            self.matters.push(Matter::Misplaced { offset: at, sequence: number });
        } else if self.resume.has_ended {
            // Another file follows, and its beginning was lost.
            self.join(0);
            self.resume.sequence = number + 1;
        }
        self.resume.has_ended = header.kind == BlockKind::END;
        // Another collector went on in the file, or another file was joined to it.
        self.end = None;
    }

    /// A block that was missing in its place stands elsewhere: it is missing no more.
    fn was_missing(&mut self, number: u64) -> bool {
        let has_it = |matter: &Matter| match matter {
            Matter::MissingBlocks { first, last } => (*first..=*last).contains(&number),
            _ => false,
        };
        // The last ones: a file of nothing but displaced blocks must not take for ever.
        let from = self.matters.len().saturating_sub(MISSING_SEARCHED);
        let Some(place) = self.matters[from..].iter().position(has_it) else { return false };
        let place = from + place;
        if let Matter::MissingBlocks { first, last } = self.matters.remove(place) {
            let rest = [(first, number.checked_sub(1)), (number + 1, Some(last))];
            for (first, last) in rest {
                if let Some(last) = last.filter(|last| first <= *last) {
                    self.matters.insert(place, Matter::MissingBlocks { first, last });
                }
            }
        }
        true
    }

    /// Another file follows, whose numbers of sessions are its own.
    fn join(&mut self, file_id: u64) {
        self.numbers.clear();
        self.is_joined = true;
        self.resume.file_id = file_id;
    }

    /// The session that has this number now.
    fn session(&mut self, local: u32) -> &mut FoundSession {
        let (sessions, is_other) = (&mut self.sessions, self.is_joined);
        let at = *self.numbers.entry(local).or_insert_with(|| {
            sessions.push(FoundSession { local, is_other, ..FoundSession::default() });
            sessions.len() - 1
        });
        &mut self.sessions[at]
    }

    /// A session is described: as before, or its number means another one from here on, since files were joined.
    fn describe(&mut self, local: u32, info: SessionInfo, known: &Known) {
        let session = self.session(local);
        let own = session.info.as_ref().map(|info| info.session_id);
        let before = own.or_else(|| known.get(&local).copied().filter(|_| !session.is_other));
        if before.is_none_or(|before| before == info.session_id) {
            session.info.get_or_insert(info);
            return;
        }
        let is_it = |found: &FoundSession| {
            found.info.as_ref().is_some_and(|found| found.session_id == info.session_id)
        };
        let at = self.sessions.iter().position(is_it).unwrap_or_else(|| {
            let other = FoundSession { local, is_other: true, info: Some(info), ..FoundSession::default() };
            self.sessions.push(other);
            self.sessions.len() - 1
        });
        self.numbers.insert(local, at);
    }

    /// Adds a payload, as it was stored, to the dictionaries.
    fn take(&mut self, at: u64, header: &BlockHeader, known: &Known, payload: &[u8]) {
        match header.kind {
            BlockKind::FILE => {
                let lines = process::lines(payload);
                // Files may have been joined: each block speaks for what follows it. Without the line it is not to be doubted.
                if let Some(version) = FormatVersion::refused(&lines) {
                    let version = version.chars().take(VERSION_SHOWN).collect();
                    self.refused = Some(Matter::OtherFormat { offset: at, version });
                }
                let id = file_id(&lines);
                if self.resume.file_id != id {
                    if self.resume.file_id != 0 {
                        self.join(id);
                    }
                    self.resume.file_id = id;
                }
                if self.about.is_empty() {
                    self.about = lines;
                    return;
                }
                // What one of the joined files leaves out is missing in all of it.
                for key in [TRIMMED, SPLIT] {
                    if let Some(value) = process::value(&lines, key) {
                        if process::value(&self.about, key).is_none() {
                            self.about.push((key.to_owned(), value.to_owned()));
                        }
                    }
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
        if header.kind == BlockKind::SESSION {
            match SessionInfo::decode(payload) {
                Some(info) => self.describe(header.session, info, known),
                None => {
                    let why = "the description of the session is too short".into();
                    self.matters.push(bad_block(at, header, why));
                }
            }
            return;
        }
        if header.kind == BlockKind::SITES {
            self.take_sites(at, header, payload);
            return;
        }
        let session = self.session(header.session);
        match header.kind {
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

    fn take_sites(&mut self, at: u64, header: &BlockHeader, payload: &[u8]) {
        let (mut matters, mut unknown) = (Vec::new(), 0);
        let session = self.session(header.session);
        // A site that was pending has been completed; else a repetition equals the first, and need not be decoded.
        let wanted = |session: &FoundSession, id: u32| {
            session.sites.get(&id).is_none_or(SiteDescription::is_pending)
                && !session.unknown_sites.contains(&id)
        };
        for (id, description) in block::site_entries(payload) {
            if !wanted(session, id) {
                continue;
            }
            match SiteDescription::decode(description) {
                Ok((site, _)) => {
                    session.sites.insert(id, site);
                }
                Err(SiteError::Kind(_)) => unknown += u64::from(session.unknown_sites.insert(id)),
                Err(error) => matters.push(bad_block(at, header, format!("site {id}: {error}"))),
            }
        }
        self.unknown.1 += unknown;
        self.matters.append(&mut matters);
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

    /// The file has grown since the scan began. The last block of that time counts as cut, at any byte, and
    /// what follows it is for the next scan.
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
