//! What a trace file has described, and the blocks that come next.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::time::{SystemTime, UNIX_EPOCH};

use silverpoint_trace::{Session, Trace};
use silverpoint_wire::about::{self, About};
use silverpoint_wire::batch::Batch;
use silverpoint_wire::block::{
    BlockHeader, BlockKind, LossInfo, SessionInfo, StreamInfo, push_anchor, push_site, site_bit,
};
use silverpoint_wire::bytes::floor_char_boundary;
use silverpoint_wire::layout::block::{LEVELS_CONTROL, RAW, SEGMENT};
use silverpoint_wire::layout::record::{CONTEXT, THREAD_NAME};
use silverpoint_wire::process;
use silverpoint_wire::record::Records;
use silverpoint_wire::repetition::Repetition;
use silverpoint_wire::scan::{Found, ReadAt, Scanner};
use silverpoint_wire::site::fnv1a64;

use super::super::logfile::LogFile;
use super::run::Run;
use crate::cursor::Position;

/// Bytes of descriptions of sites in one block.
const SITES_BYTES: usize = 1 << 20;
/// A stream of a session, by its id.
type StreamKey = ([u8; 16], u32);

/// See the module.
#[derive(Default)]
pub(super) struct Content {
    identity: (u64, u64),
    len: u64,
    sequence: u64,
    sessions: HashMap<[u8; 16], Described>,
    statements: HashMap<StreamKey, Statements>,
    /// From there on everything is described again.
    segment_end: u64,
    /// Or when this much has been written since.
    repetition: Repetition,
    /// The text of the *file* block.
    about: String,
}

/// A session.
#[derive(Default)]
struct Described {
    number: u32,
    is_said: bool,
    sites: HashSet<u32>,
    /// As first described, and whether it is in this segment.
    streams: HashMap<u32, (StreamInfo, bool)>,
    anchored: u64,
    /// Whether it is described in what is composed now.
    is_current: bool,
    losses: Vec<u8>,
}

/// The last ones of a stream that are still valid.
#[derive(Default)]
struct Statements {
    name: Option<Statement>,
    context: Option<Statement>,
}

struct Statement {
    position: u64,
    ticks: u64,
    site: u32,
    raw: Vec<u8>,
}

struct Source<'f>(&'f File);

impl ReadAt for Source<'_> {
    type Error = io::Error;

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.0.read_at(&mut buffer[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

impl Content {
    /// Examines the file of a log.
    ///
    /// # Errors
    /// Those of reading, and a file that no sink has written.
    pub(super) fn read(log: &LogFile) -> io::Result<Self> {
        let file = log.file()?;
        let found = file.metadata()?;
        let mut content = Self {
            identity: (found.dev(), found.ino()),
            len: found.len(),
            segment_end: (found.len() / SEGMENT + 1) * SEGMENT,
            ..Self::default()
        };
        let source = Source(file);
        let mut scanner = Scanner::new(&source, 0, false);
        let mut is_own = found.len() == 0;
        let mut ids: HashMap<u32, [u8; 16]> = HashMap::new();
        while let Some(found) = scanner.next()? {
            let Found::Block { at, header } = found else { continue };
            content.sequence = content.sequence.max(header.sequence.saturating_add(1));
            let is_statement = header.kind == BlockKind::RECORDS
                && header.encoding == RAW
                && header.levels & LEVELS_CONTROL != 0
                && header.sites & (site_bit(THREAD_NAME) | site_bit(CONTEXT)) != 0;
            let describes = matches!(header.kind, BlockKind::FILE | BlockKind::SESSION | BlockKind::STREAMS);
            if !is_statement && !describes {
                continue;
            }
            let mut payload = vec![0; header.stored_size as usize];
            let read = source.read_at(at + u64::from(header.header_size), &mut payload)?;
            payload.truncate(read);
            if header.check(&payload).is_err() {
                continue;
            }
            match header.kind {
                BlockKind::FILE => {
                    is_own |= process::value(&process::lines(&payload), about::TRIMMED).is_some();
                    content.about = String::from_utf8_lossy(&payload).into_owned();
                }
                BlockKind::SESSION => {
                    if let Some(info) = SessionInfo::decode(&payload) {
                        ids.insert(header.session, info.session_id);
                        content.sessions.entry(info.session_id).or_default().number = header.session;
                    }
                }
                BlockKind::STREAMS => {
                    if let Some(session) =
                        ids.get(&header.session).and_then(|id| content.sessions.get_mut(id))
                    {
                        for info in StreamInfo::decode_all(&payload) {
                            session.streams.entry(info.stream).or_insert((info, true));
                        }
                    }
                }
                _ => {
                    if let Some(id) = ids.get(&header.session) {
                        content.state((*id, header.stream), header.ring_begin, &payload);
                    }
                }
            }
        }
        if !is_own {
            let text = "it is no trace file that a sink has written; move it away, or name another";
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(content)
    }

    pub(super) fn is(&self, identity: (u64, u64), len: u64) -> bool {
        (self.identity, self.len) == (identity, len)
    }

    pub(super) fn has_grown(&mut self, identity: (u64, u64), len: u64) {
        (self.identity, self.len) = (identity, len);
    }

    /// It may lack what was composed last.
    pub(super) fn is_doubtful(&mut self) {
        self.len = u64::MAX;
    }

    /// What was composed is in the file: its names and contexts are valid from then on.
    pub(super) fn take_stated(&mut self, trace: &Trace, waiting: &BTreeMap<(usize, u32), Vec<Run>>) {
        for ((session, stream), runs) in waiting {
            let Some(session) = trace.sessions.get(*session) else { continue };
            for run in runs.iter().filter(|run| run.has_statements()) {
                self.state((id(session), *stream), run.header().ring_begin, &run.raw);
            }
        }
    }

    /// Adopts those of another file, which this one continues.
    pub(super) fn take_statements(&mut self, before: &mut Self) {
        self.statements = std::mem::take(&mut before.statements);
    }

    /// Notes the statements of records that begin at a position.
    fn state(&mut self, key: StreamKey, begin: u64, raw: &[u8]) {
        for record in Records::new(raw).map_while(Result::ok) {
            let site = record.header.site;
            if !matches!(site, THREAD_NAME | CONTEXT) {
                continue;
            }
            let bytes = &raw[record.offset..record.offset + record.header.size as usize];
            let (position, ticks) = (begin + record.offset as u64, record.header.ticks);
            let statement = Some(Statement { position, ticks, site, raw: bytes.to_vec() });
            let known = self.statements.entry(key).or_default();
            *if site == CONTEXT { &mut known.context } else { &mut known.name } = statement;
        }
    }

    /// The blocks of the waiting records, and before them the descriptions that they need.
    pub(super) fn compose(
        &mut self,
        trace: &Trace,
        waiting: &BTreeMap<(usize, u32), Vec<Run>>,
        notes: &[String],
        live: &[Position],
    ) -> Vec<u8> {
        let mut out = Batch::new();
        out.restart(self.sequence);
        if self.len == 0 {
            self.about = about(trace);
        }
        let is_due = self.len >= self.segment_end || self.repetition.is_due();
        if is_due {
            self.repetition.restart();
        }
        // A file that another program has cut may end anywhere.
        out.pad((self.len.next_multiple_of(8) - self.len) as usize);
        if (self.len == 0 || is_due) && !self.about.is_empty() {
            out.push(BlockKind::FILE, 0, 0, self.about.as_bytes());
        }
        if is_due {
            self.segment_end = (self.len / SEGMENT + 1) * SEGMENT;
            for session in self.sessions.values_mut() {
                (session.is_said, session.anchored) = (false, 0);
                session.sites.clear();
                session.losses.clear();
                session.streams.values_mut().for_each(|(_, is_said)| *is_said = false);
            }
        }
        self.sessions.values_mut().for_each(|session| session.is_current = false);
        let numbers: HashMap<[u8; 16], usize> =
            trace.sessions.iter().enumerate().map(|(number, session)| (id(session), number)).collect();
        let live: HashSet<StreamKey> = live.iter().map(|(session, stream, _)| (*session, *stream)).collect();
        self.statements.retain(|key, _| live.contains(key));
        if self.len == 0 {
            let statements = std::mem::take(&mut self.statements);
            for (key, known) in &statements {
                let Some(session) = numbers.get(&key.0).map(|number| &trace.sessions[*number]) else {
                    continue;
                };
                let number = self.describe(&mut out, trace, session, key.1, "");
                let mut both: Vec<&Statement> = known.name.iter().chain(&known.context).collect();
                both.sort_unstable_by_key(|statement| statement.position);
                for statement in both {
                    let header = BlockHeader { session: number, stream: key.1, ..statement.header() };
                    out.push_block(header, &statement.raw);
                }
            }
            self.statements = statements;
        }
        for ((session, stream), runs) in waiting {
            let Some(session) = trace.sessions.get(*session) else { continue };
            let name = runs.first().map_or("", |run| &run.thread_name);
            let number = self.describe(&mut out, trace, session, *stream, name);
            for run in runs {
                let header = BlockHeader { session: number, stream: *stream, ..run.header() };
                out.push_block(header, &run.raw);
            }
        }
        for note in notes {
            out.push(BlockKind::NOTE, 0, 0, note.as_bytes());
        }
        self.sequence = out.next_sequence();
        self.repetition.add_all(out.kinds());
        out.into_bytes()
    }

    /// Describes what records of a stream need and the file does not have yet. Gives the session's number.
    fn describe(
        &mut self,
        out: &mut Batch,
        trace: &Trace,
        session: &Session,
        stream: u32,
        thread_name: &str,
    ) -> u32 {
        let next = self.sessions.values().map(|session| session.number).max().unwrap_or(0) + 1;
        let mut known = self.sessions.remove(&id(session)).unwrap_or_default();
        if known.number == 0 {
            known.number = next;
        }
        let number = known.number;
        let mut payload = Vec::new();
        if !std::mem::replace(&mut known.is_said, true) {
            session.info.clone().unwrap_or_default().encode(&mut payload);
            out.push(BlockKind::SESSION, number, 0, &payload);
        }
        if !std::mem::replace(&mut known.is_current, true) {
            sites(out, trace, session, &mut known);
            anchors(out, session, &mut known);
            losses(out, session, &mut known);
        }
        payload.clear();
        let (info, is_said) = known.streams.entry(stream).or_insert_with(|| {
            let found = session.streams.iter().find(|found| found.number == stream);
            let mut info = found.and_then(|found| found.info).unwrap_or_default();
            info.stream = stream;
            if !thread_name.is_empty() {
                let len = floor_char_boundary(thread_name, info.name.len());
                info.name = [0; 16];
                info.name[..len].copy_from_slice(&thread_name.as_bytes()[..len]);
            }
            (info, false)
        });
        if !std::mem::replace(is_said, true) {
            info.encode(&mut payload);
            out.push(BlockKind::STREAMS, number, 0, &payload);
        }
        self.sessions.insert(id(session), known);
        number
    }
}

fn anchors(out: &mut Batch, session: &Session, known: &mut Described) {
    let mut payload = Vec::new();
    let new = session.anchors().iter().filter(|anchor| anchor.ticks > known.anchored);
    new.for_each(|anchor| push_anchor(&mut payload, anchor));
    let last = session.anchors().iter().map(|anchor| anchor.ticks).max();
    known.anchored = last.unwrap_or(0).max(known.anchored);
    for part in payload.chunks(24 * 10_000) {
        out.push(BlockKind::ANCHORS, known.number, 0, part);
    }
}

fn losses(out: &mut Batch, session: &Session, known: &mut Described) {
    let mut payload = Vec::new();
    let of_streams = session.streams.iter().map(|stream| LossInfo { stream: stream.number, ..stream.loss });
    for loss in std::iter::once(LossInfo { stream: 0, ..session.loss }).chain(of_streams) {
        if loss != (LossInfo { stream: loss.stream, ..LossInfo::default() }) {
            loss.encode(&mut payload);
        }
    }
    if payload != known.losses {
        for part in payload.chunks(LossInfo::SIZE * 10_000) {
            out.push(BlockKind::LOSSES, known.number, 0, part);
        }
        known.losses = payload;
    }
}

fn sites(out: &mut Batch, trace: &Trace, session: &Session, known: &mut Described) {
    let mut new: Vec<(u32, usize)> =
        session.site_numbers().filter(|(id, _)| !known.sites.contains(id)).collect();
    new.sort_unstable();
    let (mut payload, mut description) = (Vec::new(), Vec::new());
    for (id, site) in new {
        let site = &trace.sites[site].description;
        // It is described again when more is known of it.
        if !site.is_pending() {
            known.sites.insert(id);
        }
        description.clear();
        site.encode(&mut description);
        push_site(&mut payload, id, &description);
        if payload.len() >= SITES_BYTES {
            out.push(BlockKind::SITES, known.number, 0, &payload);
            payload.clear();
        }
    }
    if !payload.is_empty() {
        out.push(BlockKind::SITES, known.number, 0, &payload);
    }
}

impl Statement {
    /// Of a block with nothing else.
    fn header(&self) -> BlockHeader {
        BlockHeader {
            ring_begin: self.position,
            ring_end: self.position + self.raw.len() as u64,
            first_ticks: self.ticks,
            last_ticks: self.ticks,
            records: 1,
            levels: LEVELS_CONTROL,
            sites: site_bit(self.site),
            ..BlockHeader::new(BlockKind::RECORDS, &[])
        }
    }
}

fn id(session: &Session) -> [u8; 16] {
    session.info.as_ref().map_or([0; 16], |info| info.session_id)
}

/// The text of the *file* block.
fn about(trace: &Trace) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    let file_id = u128::from(fnv1a64(&now.to_le_bytes())) << 64
        | u128::from(std::process::id()) << 32
        | now & 0xFFFF_FFFF;
    About {
        writer: concat!("silverpoint ", env!("CARGO_PKG_VERSION")),
        created: now,
        host: trace.files.iter().find_map(|file| process::value(&file.about, about::HOST)),
        id: file_id,
        part: Some(1),
        trimmed: Some("what a sink of the program's logger selects"),
        ..About::default()
    }
    .text()
}
