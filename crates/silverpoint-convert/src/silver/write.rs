//! A trace file made of records: each process is a session of its own whose clock counts nanoseconds since 1970, each thread a stream. A block is written
//! when 64 KiB of a thread wait, or 16 MiB of all of them.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use silverpoint_formats::tracefile::What;
use silverpoint_wire::block::{
    BlockHeader, BlockKind, SessionInfo, StreamInfo, end, push_anchor, push_block, push_site, site_bit,
};
use silverpoint_wire::clock::Anchor;
use silverpoint_wire::layout::block::{HEADER_SIZE, LATE, LEVELS_CONTROL};
use silverpoint_wire::layout::clock_source::MONOTONIC;
use silverpoint_wire::layout::record::{CONTEXT, LOSS, SIZE_MAX, SPAN_END, STALL, THREAD_NAME, TRUNCATED};
use silverpoint_wire::layout::site_entry::FIRST_ID;
use silverpoint_wire::level::Level;
use silverpoint_wire::process::push_line;
use silverpoint_wire::record::RecordHeader;
use silverpoint_wire::site::fnv1a64;

use crate::{Record, WriteError, Writer};

/// Bytes of one stream that wait at most.
const WAITING: usize = 64 << 10;
/// Bytes of all streams that wait at most.
const WAITING_ALL: usize = 16 << 20;
/// An anchor each 2^50 ns (13 days): between them a double counts nanoseconds exactly.
const ANCHOR_BITS: u32 = 50;
/// Ids of records without description begin here, where no described site is.
const UNKNOWN: u32 = 1 << 30;

/// Writes a trace file.
pub struct SilverWriter<W> {
    out: W,
    bytes: Vec<u8>,
    sequence: u64,
    sessions: Vec<Session>,
    by_process: HashMap<usize, usize>,
    waiting: usize,
    record: Vec<u8>,
    /// The greatest time of a record.
    latest: u64,
    /// By who follows the file: nothing earlier follows but what says that it is late. 0: nothing was said.
    watermark: u64,
}

struct Session {
    number: u32,
    streams: Vec<Stream>,
    by_tid: HashMap<u32, usize>,
    /// Ids by the numbers of sites.
    sites: HashMap<usize, u32>,
    /// Descriptions that are not written yet.
    new_sites: Vec<u8>,
    anchors: BTreeSet<u64>,
    new_anchors: Vec<u8>,
}

struct Stream {
    number: u32,
    tid: u32,
    is_told: bool,
    ring: u64,
    raw: Vec<u8>,
    first: u64,
    last: u64,
    records: u32,
    levels: u32,
    sites: u64,
    name: String,
    context: Vec<u8>,
}

impl<W: Write> SilverWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// Those of writing.
    pub fn new(out: W) -> io::Result<Self> {
        let mut writer = Self {
            out,
            bytes: Vec::new(),
            sequence: 0,
            sessions: Vec::new(),
            by_process: HashMap::new(),
            waiting: 0,
            record: Vec::new(),
            latest: 0,
            watermark: 0,
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos());
        let mut about = String::new();
        push_line(&mut about, "format", "1.0");
        push_line(&mut about, "writer", concat!("silverpoint-convert ", env!("CARGO_PKG_VERSION")));
        push_line(&mut about, "created", &now.to_string());
        let id = fnv1a64(&now.to_le_bytes());
        push_line(&mut about, "file_id", &format!("{id:016x}{:016x}", fnv1a64(&id.to_le_bytes())));
        writer.push(BlockHeader::new(BlockKind::FILE, about.as_bytes()), about.as_bytes())?;
        Ok(writer)
    }

    /// The output so far.
    pub fn get_ref(&self) -> &W {
        &self.out
    }

    /// Writes what waits, for somebody who follows the file: blocks, however small, and a watermark, so that what is in them need not be waited with.
    ///
    /// # Errors
    /// Those of writing.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.waiting == 0 {
            return Ok(());
        }
        self.flush_all()?;
        self.watermark = self.latest;
        for session in 1..=self.sessions.len() as u32 {
            let payload = self.watermark.to_le_bytes();
            self.push(BlockHeader { session, ..BlockHeader::new(BlockKind::WATERMARK, &payload) }, &payload)?;
        }
        self.out.flush()
    }

    /// The output, when the file is finished.
    pub fn into_inner(self) -> W {
        self.out
    }

    fn push(&mut self, header: BlockHeader, payload: &[u8]) -> io::Result<()> {
        let header = BlockHeader { header_size: HEADER_SIZE as u16, sequence: self.sequence, ..header };
        self.sequence += 1;
        self.bytes.clear();
        push_block(&mut self.bytes, &header, payload);
        self.out.write_all(&self.bytes)
    }

    fn session(&mut self, record: &Record<'_>) -> io::Result<usize> {
        if let Some(session) = self.by_process.get(&record.process_number) {
            return Ok(*session);
        }
        let number = self.sessions.len() as u32 + 1;
        let mut process = String::new();
        push_line(&mut process, "exe", &record.process.name);
        let mut session_id = [0; 16];
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos());
        session_id[..8].copy_from_slice(&fnv1a64(&now.to_le_bytes()).to_le_bytes());
        session_id[8..12].copy_from_slice(&number.to_le_bytes());
        session_id[12..].copy_from_slice(&record.process.pid.to_le_bytes());
        let info = SessionInfo {
            session_id,
            clock_source: MONOTONIC,
            pid: record.process.pid,
            ticks_per_second: 1_000_000_000,
            process: process.into_bytes(),
            ..SessionInfo::default()
        };
        let mut payload = Vec::new();
        info.encode(&mut payload);
        self.push(
            BlockHeader { session: number, ..BlockHeader::new(BlockKind::SESSION, &payload) },
            &payload,
        )?;
        self.sessions.push(Session {
            number,
            streams: Vec::new(),
            by_tid: HashMap::new(),
            sites: HashMap::new(),
            new_sites: Vec::new(),
            anchors: BTreeSet::new(),
            new_anchors: Vec::new(),
        });
        self.by_process.insert(record.process_number, self.sessions.len() - 1);
        Ok(self.sessions.len() - 1)
    }

    /// Writes what waits of a stream, and what describes it.
    fn flush_stream(&mut self, session: usize, stream: usize) -> io::Result<()> {
        let state = &mut self.sessions[session];
        let number = state.number;
        let new_sites = std::mem::take(&mut state.new_sites);
        let new_anchors = std::mem::take(&mut state.new_anchors);
        let stream = &mut state.streams[stream];
        let raw = std::mem::take(&mut stream.raw);
        self.waiting -= raw.len();
        let mut info = Vec::new();
        if !std::mem::replace(&mut stream.is_told, true) {
            StreamInfo { stream: stream.number, tid: stream.tid, ..Default::default() }.encode(&mut info);
        }
        let header = BlockHeader {
            session: number,
            stream: stream.number,
            ring_begin: stream.ring,
            ring_end: stream.ring + raw.len() as u64,
            first_ticks: stream.first,
            last_ticks: stream.last,
            records: stream.records,
            levels: stream.levels,
            sites: stream.sites,
            flags: if stream.first < self.watermark { LATE } else { 0 },
            ..BlockHeader::new(BlockKind::RECORDS, &raw)
        };
        stream.ring = header.ring_end;
        (stream.first, stream.last, stream.records, stream.levels, stream.sites) = (u64::MAX, 0, 0, 0, 0);
        for (kind, payload) in
            [(BlockKind::SITES, &new_sites), (BlockKind::ANCHORS, &new_anchors), (BlockKind::STREAMS, &info)]
        {
            if !payload.is_empty() {
                self.push(BlockHeader { session: number, ..BlockHeader::new(kind, payload) }, payload)?;
            }
        }
        if !raw.is_empty() {
            self.push(header, &raw)?;
        }
        Ok(())
    }

    fn flush_all(&mut self) -> io::Result<()> {
        for session in 0..self.sessions.len() {
            for stream in 0..self.sessions[session].streams.len() {
                if !self.sessions[session].streams[stream].raw.is_empty() {
                    self.flush_stream(session, stream)?;
                }
            }
        }
        Ok(())
    }
}

impl Session {
    fn stream(&mut self, tid: u32) -> usize {
        if let Some(stream) = self.by_tid.get(&tid) {
            return *stream;
        }
        self.streams.push(Stream {
            number: self.streams.len() as u32 + 1,
            tid,
            is_told: false,
            ring: 0,
            raw: Vec::new(),
            first: u64::MAX,
            last: 0,
            records: 0,
            levels: 0,
            sites: 0,
            name: String::new(),
            context: Vec::new(),
        });
        self.by_tid.insert(tid, self.streams.len() - 1);
        self.streams.len() - 1
    }

    /// The id of a site, described when it is new.
    fn site(&mut self, number: usize, site: &silverpoint_formats::site::Site) -> u32 {
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

impl Stream {
    fn push(&mut self, site: u32, flags: u32, ticks: u64, args: &[u8], level: Option<Level>) -> usize {
        let size = (16 + args.len()).next_multiple_of(8);
        let header = RecordHeader { size: size as u32, flags, site, ticks };
        let before = self.raw.len();
        self.raw.extend_from_slice(&header.encode());
        self.raw.extend_from_slice(args);
        self.raw.resize(before + size, 0);
        self.first = self.first.min(ticks);
        self.last = self.last.max(ticks);
        self.records += 1;
        self.levels |= level.map_or(LEVELS_CONTROL, |level| 1 << level as u32);
        self.sites |= site_bit(site);
        size
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
            push_anchor(
                &mut session.new_anchors,
                &Anchor { ticks: anchor, monotonic_ns: anchor, wall_ns: anchor },
            );
        }
        let (id, flags, level) = match record.what {
            What::Record { site, site_number, args: packed, truncated } => {
                args.extend_from_slice(packed);
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
                // One that ended before it began stays so.
                let begin = match duration_ns {
                    Some(ns) => ticks.saturating_sub(ns),
                    None => ticks.saturating_add(1),
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
        let at = session.stream(record.tid);
        let stream = &mut session.streams[at];
        let mut written = 0;
        if stream.name != record.thread {
            record.thread.clone_into(&mut stream.name);
            let mut name = (stream.name.len() as u32).to_le_bytes().to_vec();
            name.extend_from_slice(stream.name.as_bytes());
            name.truncate(SIZE_MAX / 2);
            written += stream.push(THREAD_NAME, 0, ticks, &name, None);
        }
        let context = record.context.map_or(&[][..], |context| context.item());
        if stream.context != context {
            context.clone_into(&mut stream.context);
            // The empty map ends all.
            let item = if context.is_empty() { &[0xA0] } else { context };
            let mut packed = (item.len() as u32).to_le_bytes().to_vec();
            packed.extend_from_slice(item);
            written += stream.push(CONTEXT, 0, ticks, &packed, None);
        }
        written += stream.push(id, flags, ticks, &args, level);
        let is_much = stream.raw.len() >= WAITING;
        self.waiting += written;
        self.record = args;
        if is_much {
            self.flush_stream(number, at)?;
        }
        if self.waiting >= WAITING_ALL {
            self.flush_all()?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.flush_all()?;
        for session in 1..=self.sessions.len() as u32 {
            let payload = u64::MAX.to_le_bytes();
            self.push(BlockHeader { session, ..BlockHeader::new(BlockKind::WATERMARK, &payload) }, &payload)?;
        }
        let payload = end(1, 0);
        self.push(BlockHeader::new(BlockKind::END, &payload), &payload)?;
        self.out.flush()
    }
}
