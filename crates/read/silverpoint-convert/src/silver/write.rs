//! A trace file made of records. Each process is a session of its own whose clock counts nanoseconds since
//! 1970. A block is written when 64 KiB of a thread wait, or 16 MiB of all of them.
//!
//! **Order.** Readers use a stream as it lies in the file, so a stream's records must be in order of time.
//! Records of a thread that come in another order wait longer and are sorted. If they are earlier than the
//! records in the first stream, they go into another stream of the thread: readers merge the streams.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use silverpoint_trace::What;
use silverpoint_wire::about::About;
use silverpoint_wire::batch::Batch;
use silverpoint_wire::block::{BlockHeader, BlockKind, SessionInfo, StreamInfo, end, push_anchor, push_site};
use silverpoint_wire::clock::Anchor;
use silverpoint_wire::layout::block::{LATE, LEVELS_CONTROL};
use silverpoint_wire::layout::clock_source::MONOTONIC;
use silverpoint_wire::layout::record::{LOSS, SIZE_MAX, SPAN_END, STALL, TRUNCATED};
use silverpoint_wire::layout::site_entry::FIRST_ID;
use silverpoint_wire::level::Kind;
use silverpoint_wire::process::push_line;
use silverpoint_wire::record::RecordHeader;
use silverpoint_wire::site::fnv1a64;

use super::begins::Begins;
use super::waiting::{Ready, Thread};
use crate::{Record, WriteError, Writer};

/// Bytes of all threads that wait at most.
const WAITING_ALL: usize = 16 << 20;
/// Descriptions of sites in one block.
const SITES_BYTES: usize = 1 << 20;
/// An anchor each 2^50 ns (13 days): between them a double counts nanoseconds exactly.
const ANCHOR_BITS: u32 = 50;
/// Ids of records without description begin here, where no described site is.
const UNKNOWN: u32 = 1 << 30;

/// Writes a trace file.
pub struct SilverWriter<W> {
    out: W,
    /// The block that is written.
    batch: Batch,
    sessions: Vec<Session>,
    by_process: HashMap<usize, usize>,
    waiting: usize,
    /// The text of the *file* block.
    about: String,
    record: Vec<u8>,
    /// The greatest time of a record.
    latest: u64,
    /// Those that are open.
    spans: Begins,
    /// For readers that follow the file: nothing earlier follows, except what is marked as late. 0: not
    /// stated.
    watermark: u64,
}

struct Session {
    number: u32,
    /// Its description.
    info: Vec<u8>,
    threads: Vec<Thread>,
    by_tid: HashMap<u32, usize>,
    /// Of all threads: what describes them.
    streams: Vec<StreamInfo>,
    /// Ids by the numbers of sites.
    sites: HashMap<usize, u32>,
    /// Descriptions that are written, as payloads of blocks.
    all_sites: Vec<Vec<u8>>,
    /// Those that are not written yet.
    new_sites: Vec<u8>,
    anchors: BTreeSet<u64>,
    new_anchors: Vec<u8>,
}

impl<W: Write> SilverWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// Those of writing.
    pub fn new(out: W) -> io::Result<Self> {
        let mut writer = Self {
            out,
            batch: Batch::new(),
            sessions: Vec::new(),
            by_process: HashMap::new(),
            waiting: 0,
            about: String::new(),
            record: Vec::new(),
            latest: 0,
            spans: Begins::default(),
            watermark: 0,
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos());
        let id = fnv1a64(&now.to_le_bytes());
        let about = About {
            writer: concat!("silverpoint-convert ", env!("CARGO_PKG_VERSION")),
            created: now,
            id: u128::from(id) << 64 | u128::from(fnv1a64(&id.to_le_bytes())),
            ..About::default()
        };
        let about = about.text();
        writer.push_of(0, BlockKind::FILE, about.as_bytes())?;
        writer.about = about;
        Ok(writer)
    }

    /// The output so far.
    pub fn get_ref(&self) -> &W {
        &self.out
    }

    /// Writes the waiting records for a reader that follows the file. It writes blocks of any size, and a
    /// watermark, so that the reader need not wait.
    ///
    /// # Errors
    /// Those of writing.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.waiting == 0 {
            return Ok(());
        }
        self.flush_all()?;
        self.state_watermark()
    }

    /// Writes the waiting records, as [`SilverWriter::flush`], for a writer that knows that later records have
    /// later times than this. What comes earlier all the same is marked as late.
    ///
    /// # Errors
    /// Those of writing.
    pub fn flush_until(&mut self, ns: u64) -> io::Result<()> {
        self.flush_all()?;
        self.latest = self.latest.max(ns);
        self.state_watermark()
    }

    fn state_watermark(&mut self) -> io::Result<()> {
        self.watermark = self.latest;
        for session in 1..=self.sessions.len() as u32 {
            self.push_of(session, BlockKind::WATERMARK, &self.watermark.to_le_bytes())?;
        }
        self.out.flush()
    }

    /// The output, when the file is finished.
    pub fn into_inner(self) -> W {
        self.out
    }

    fn push(&mut self, header: BlockHeader, payload: &[u8]) -> io::Result<()> {
        self.batch.clear();
        self.batch.push_block(header, payload);
        self.out.write_all(self.batch.bytes())
    }

    fn push_of(&mut self, session: u32, kind: BlockKind, payload: &[u8]) -> io::Result<()> {
        self.push(BlockHeader { session, ..BlockHeader::new(kind, &[]) }, payload)
    }

    /// Everything that was described, once more.
    fn describe_again(&mut self) -> io::Result<()> {
        self.batch.kinds_mut().restart();
        let about = std::mem::take(&mut self.about);
        self.push_of(0, BlockKind::FILE, about.as_bytes())?;
        self.about = about;
        let sessions = std::mem::take(&mut self.sessions);
        let described = sessions.iter().try_for_each(|session| self.describe(session));
        self.sessions = sessions;
        described
    }

    fn describe(&mut self, session: &Session) -> io::Result<()> {
        self.push_of(session.number, BlockKind::SESSION, &session.info)?;
        for sites in &session.all_sites {
            self.push_of(session.number, BlockKind::SITES, sites)?;
        }
        let (mut streams, mut anchors) = (Vec::new(), Vec::new());
        session.streams.iter().for_each(|info| info.encode(&mut streams));
        session.anchors.iter().for_each(|ns| push_anchor(&mut anchors, &anchor_of(*ns)));
        for (kind, payload) in [(BlockKind::ANCHORS, &anchors), (BlockKind::STREAMS, &streams)] {
            for part in payload.chunks(StreamInfo::SIZE * 20_000) {
                self.push_of(session.number, kind, part)?;
            }
        }
        Ok(())
    }

    fn session(&mut self, record: &Record<'_>) -> io::Result<usize> {
        if let Some(session) = self.by_process.get(&record.process_number) {
            return Ok(*session);
        }
        let number = self.sessions.len() as u32 + 1;
        let mut process = String::new();
        push_line(&mut process, "exe", record.process);
        let mut session_id = [0; 16];
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos());
        session_id[..8].copy_from_slice(&fnv1a64(&now.to_le_bytes()).to_le_bytes());
        session_id[8..12].copy_from_slice(&number.to_le_bytes());
        session_id[12..].copy_from_slice(&record.pid.to_le_bytes());
        let info = SessionInfo {
            session_id,
            clock_source: MONOTONIC,
            pid: record.pid,
            ticks_per_second: 1_000_000_000,
            process: process.into_bytes(),
            ..SessionInfo::default()
        };
        let mut payload = Vec::new();
        info.encode(&mut payload);
        self.push_of(number, BlockKind::SESSION, &payload)?;
        self.sessions.push(Session {
            number,
            info: payload,
            threads: Vec::new(),
            by_tid: HashMap::new(),
            streams: Vec::new(),
            sites: HashMap::new(),
            all_sites: Vec::new(),
            new_sites: Vec::new(),
            anchors: BTreeSet::new(),
            new_anchors: Vec::new(),
        });
        self.by_process.insert(record.process_number, self.sessions.len() - 1);
        Ok(self.sessions.len() - 1)
    }

    /// Writes what waits of a thread, in order of time, and what describes it.
    fn flush_thread(&mut self, session: usize, thread: usize) -> io::Result<()> {
        let state = &mut self.sessions[session];
        let number = state.number;
        let thread = &mut state.threads[thread];
        self.waiting -= thread.bytes();
        let Some(Ready { stream, mut ring, blocks }) = thread.take(&mut state.streams) else { return Ok(()) };
        let new_sites = state.describe_sites();
        let new_anchors = std::mem::take(&mut state.new_anchors);
        let mut info = Vec::new();
        if ring == 0
            && let Some(described) = state.streams.iter().find(|info| info.stream == stream)
        {
            described.encode(&mut info);
        }
        for (kind, payload) in
            [(BlockKind::SITES, &new_sites), (BlockKind::ANCHORS, &new_anchors), (BlockKind::STREAMS, &info)]
        {
            if !payload.is_empty() {
                self.push_of(number, kind, payload)?;
            }
        }
        for block in blocks {
            let header = BlockHeader {
                session: number,
                stream,
                ring_begin: ring,
                ring_end: ring + block.raw.len() as u64,
                first_ticks: block.first,
                last_ticks: block.last,
                records: block.records,
                levels: block.levels,
                sites: block.sites,
                flags: if block.first < self.watermark { LATE } else { 0 },
                ..BlockHeader::new(BlockKind::RECORDS, &[])
            };
            ring = header.ring_end;
            if self.batch.kinds().is_due() {
                self.describe_again()?;
            }
            self.push(header, &block.raw)?;
        }
        Ok(())
    }

    fn flush_all(&mut self) -> io::Result<()> {
        for session in 0..self.sessions.len() {
            for thread in 0..self.sessions[session].threads.len() {
                self.flush_thread(session, thread)?;
            }
        }
        Ok(())
    }
}

/// The clock counts nanoseconds since 1970.
fn anchor_of(ns: u64) -> Anchor {
    Anchor { ticks: ns, monotonic_ns: ns, wall_ns: ns }
}

impl Session {
    fn thread(&mut self, tid: u32) -> usize {
        if let Some(thread) = self.by_tid.get(&tid) {
            return *thread;
        }
        self.threads.push(Thread::new(tid));
        self.by_tid.insert(tid, self.threads.len() - 1);
        self.threads.len() - 1
    }

    /// The descriptions of sites that are not written yet; they count as written.
    fn describe_sites(&mut self) -> Vec<u8> {
        let new = std::mem::take(&mut self.new_sites);
        match self.all_sites.last_mut() {
            Some(last) if last.len() + new.len() <= SITES_BYTES => last.extend_from_slice(&new),
            _ if new.is_empty() => {}
            _ => self.all_sites.push(new.clone()),
        }
        new
    }

    /// The id of a site, described when it is new.
    fn site(&mut self, number: usize, site: &silverpoint_trace::Site) -> u32 {
        if let Some(id) = self.sites.get(&number) {
            return *id;
        }
        let id = FIRST_ID + self.sites.len() as u32;
        let mut description = Vec::new();
        site.description.encode(&mut description);
        push_site(&mut self.new_sites, id, &description);
        self.sites.insert(number, id);
        id
    }
}

impl<W: Write> Writer for SilverWriter<W> {
    fn write(&mut self, record: &Record<'_>) -> Result<(), WriteError> {
        let Ok(ticks) = u64::try_from(record.wall_ns) else {
            return Err(WriteError::CannotHold("a trace file holds no record from before 1970".into()));
        };
        let mut args = std::mem::take(&mut self.record);
        args.clear();
        let number = self.session(record)?;
        let session = &mut self.sessions[number];
        let anchor = ticks >> ANCHOR_BITS << ANCHOR_BITS;
        if session.anchors.insert(anchor) {
            push_anchor(&mut session.new_anchors, &anchor_of(anchor));
        }
        let (id, flags, level) = match record.what {
            What::Record { site, site_number, args: packed, truncated } => {
                args.extend_from_slice(packed);
                match site.kind() {
                    Kind::Span => self.spans.begin(record, site, site_number, ticks),
                    Kind::AsyncBegin => self.spans.translate(record, site, &mut args),
                    _ => {}
                }
                let flags = if truncated { TRUNCATED } else { 0 };
                (session.site(site_number, site), flags, Some(site.level()))
            }
            What::Unknown { site_id, args: packed } => {
                args.extend_from_slice(packed);
                let id = if site_id < UNKNOWN { site_id + UNKNOWN } else { site_id };
                (id, 0, None)
            }
            What::SpanEnd { site, site_number, duration_ns, .. } => {
                let id = match (site, site_number) {
                    (Some(site), Some(number)) => session.site(number, site),
                    _ => UNKNOWN,
                };
                let known = site_number.and_then(|site| self.spans.end(record, site));
                let begin = match (known, duration_ns) {
                    // One that ended before it began stays so.
                    (_, None) => ticks.saturating_add(1),
                    (Some(begin), _) if begin <= ticks => begin,
                    (_, Some(ns)) => ticks.saturating_sub(ns),
                };
                args.extend_from_slice(&id.to_le_bytes());
                args.extend_from_slice(&begin.to_le_bytes());
                (SPAN_END, 0, None)
            }
            What::Loss { cause, count, span_ns } => {
                args.push(cause);
                for word in [count, ticks.saturating_sub(span_ns), ticks] {
                    args.extend_from_slice(&word.to_le_bytes());
                }
                (LOSS, 0, None)
            }
            What::Stall { cause, duration_ns } => {
                args.push(cause);
                args.extend_from_slice(&duration_ns.to_le_bytes());
                (STALL, 0, None)
            }
            What::ThreadName | What::ThreadEnd | What::Context | What::OtherControl { .. } => {
                self.record = args;
                return Ok(());
            }
        };
        if args.len() + 16 > SIZE_MAX {
            let size = args.len();
            self.record = args;
            return Err(WriteError::CannotHold(format!(
                "a trace file holds no record of more than 256 KiB; this one has {size} bytes"
            )));
        }
        self.latest = self.latest.max(ticks);
        let at = session.thread(record.tid);
        let levels = level.map_or(LEVELS_CONTROL, |level| 1 << level as u32);
        let header = RecordHeader { size: 0, flags, site: id, ticks };
        let thread = &mut session.threads[at];
        self.waiting += thread.add(record, header, &args, levels);
        let is_due = thread.is_due();
        self.record = args;
        if is_due {
            self.flush_thread(number, at)?;
        }
        if self.waiting >= WAITING_ALL {
            self.flush_all()?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.flush_all()?;
        if self.batch.kinds().is_due_at_end() {
            self.describe_again()?;
        }
        for session in 1..=self.sessions.len() as u32 {
            self.push_of(session, BlockKind::WATERMARK, &u64::MAX.to_le_bytes())?;
        }
        let payload = end(1, 0);
        self.push_of(0, BlockKind::END, &payload)?;
        self.out.flush()
    }
}
