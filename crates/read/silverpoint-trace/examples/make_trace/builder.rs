//! Builds trace files block by block, for tests and measurements.

use std::collections::BTreeMap;

use silverpoint_wire::block::{
    self, BlockHeader, BlockKind, Index, LossInfo, SessionInfo, StreamInfo, push_anchor, push_block,
    push_site, site_bit,
};
use silverpoint_wire::clock::Anchor;
use silverpoint_wire::compact::{Signatures, compact};
use silverpoint_wire::compression::{Compression, Compressor};
use silverpoint_wire::layout::block::{COMPACT, LEVELS_CONTROL};
use silverpoint_wire::layout::record::{CONTEXT, HEADER_SIZE, SPAN_END, THREAD_NAME};
use silverpoint_wire::layout::site_entry::FIRST_ID;
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::record::RecordHeader;
use silverpoint_wire::site::SiteDescription;

/// Wall time of tick 0: 2026-11-20T19:02:11Z.
pub const EPOCH_NS: u64 = 1_795_201_331_000_000_000;

/// A trace file in memory. One tick is one nanosecond.
#[derive(Default)]
pub struct Builder {
    /// What has been written so far.
    pub bytes: Vec<u8>,
    sequence: u64,
    sessions: BTreeMap<u32, Signatures>,
    levels: BTreeMap<(u32, u32), u32>,
    streams: BTreeMap<(u32, u32), Pending>,
    index: Index,
    /// Bytes that `bytes` held before: for files that are written piece by piece.
    pub written: u64,
}

/// Records of a stream that are not in a block yet.
#[derive(Default)]
struct Pending {
    raw: Vec<u8>,
    begin: u64,
    first: u64,
    last: u64,
    records: u32,
    levels: u32,
    sites: u64,
}

#[allow(dead_code)]
impl Builder {
    /// A file with its *file* block.
    pub fn new() -> Self {
        let mut builder = Self::default();
        builder.block(
            BlockKind::FILE,
            0,
            0,
            b"format=1.0\nwriter=builder\nfile_id=00000000000000000000000000000001\npart=1\n",
        );
        builder
    }

    /// A rotated file's next part, after the one of that name in the same directory.
    pub fn part(number: u64, previous: &str) -> Self {
        let mut builder = Self::default();
        let about = format!(
            "format=1.0\nwriter=builder\nfile_id={number:032x}\nprevious={previous}\npart={number}\n"
        );
        builder.block(BlockKind::FILE, 0, 0, about.as_bytes());
        builder
    }

    /// Writes any block.
    pub fn block(&mut self, kind: BlockKind, session: u32, stream: u32, payload: &[u8]) {
        let header = BlockHeader { session, stream, ..BlockHeader::new(kind, payload) };
        self.push(header, payload);
    }

    fn push(&mut self, header: BlockHeader, payload: &[u8]) {
        let header = BlockHeader { sequence: self.sequence, ..header };
        push_block(&mut self.bytes, &header, payload);
        self.index.headers.extend_from_slice(&header.encode());
        self.sequence += 1;
    }

    /// Leaves out a sequence number, as if a block were missing.
    pub fn skip_block(&mut self) {
        self.sequence += 1;
    }

    /// A session with one anchor.
    pub fn session(&mut self, number: u32, exe: &str, pid: u32) {
        self.session_of(number, exe, pid, [7; 16]);
        self.anchor(number, 0);
    }

    /// A session of this boot, without an anchor.
    pub fn session_of(&mut self, number: u32, exe: &str, pid: u32, boot_id: [u8; 16]) {
        let info = SessionInfo {
            session_id: [number as u8; 16],
            clock_source: 3,
            pid,
            start_time: 1,
            ticks_per_second: 1_000_000_000,
            boot_id,
            uid: 1000,
            process: format!("exe={exe}\nlanguage=C++\n").into_bytes(),
        };
        let mut payload = Vec::new();
        info.encode(&mut payload);
        self.block(BlockKind::SESSION, number, 0, &payload);
        self.sessions.insert(number, Signatures::new());
    }

    /// An anchor at this tick.
    pub fn anchor(&mut self, session: u32, ticks: u64) {
        self.anchor_of(session, Anchor { ticks, monotonic_ns: 1_000_000 + ticks, wall_ns: EPOCH_NS + ticks });
    }

    /// Any anchor.
    pub fn anchor_of(&mut self, session: u32, anchor: Anchor) {
        let mut payload = Vec::new();
        push_anchor(&mut payload, &anchor);
        self.block(BlockKind::ANCHORS, session, 0, &payload);
    }

    /// A site; `id` counts from 16.
    pub fn site(&mut self, session: u32, id: u32, site: &SiteDescription) {
        let (mut description, mut payload) = (Vec::new(), Vec::new());
        site.encode(&mut description);
        push_site(&mut payload, id, &description);
        self.block(BlockKind::SITES, session, 0, &payload);
        if let Some(signatures) = self.sessions.get_mut(&session) {
            let _ = signatures.insert(id, &site.signature);
        }
        self.levels.insert((session, id), 1 << site.level as u32);
    }

    /// A stream of a thread.
    pub fn stream(&mut self, session: u32, stream: u32, tid: u32, name: &str) {
        let mut padded = [0; 16];
        padded[..name.len()].copy_from_slice(name.as_bytes());
        let mut payload = Vec::new();
        StreamInfo { stream, tid, name: padded, ..StreamInfo::default() }.encode(&mut payload);
        self.block(BlockKind::STREAMS, session, 0, &payload);
    }

    /// Totals of losses.
    pub fn losses(&mut self, session: u32, loss: &LossInfo) {
        let mut payload = Vec::new();
        loss.encode(&mut payload);
        self.block(BlockKind::LOSSES, session, 0, &payload);
    }

    /// Adds a record to a stream's next block.
    pub fn record(&mut self, session: u32, stream: u32, site: u32, ticks: u64, args: &[u8]) {
        let levels = match site {
            FIRST_ID.. => self.levels.get(&(session, site)).copied().unwrap_or(u32::MAX),
            _ => LEVELS_CONTROL,
        };
        let pending = self.streams.entry((session, stream)).or_default();
        let size = (HEADER_SIZE + args.len()).next_multiple_of(8);
        let start = pending.raw.len();
        pending.raw.extend_from_slice(&RecordHeader { size: size as u32, flags: 0, site, ticks }.encode());
        pending.raw.extend_from_slice(args);
        pending.raw.resize(start + size, 0);
        pending.first = if pending.records == 0 { ticks } else { pending.first.min(ticks) };
        pending.last = pending.last.max(ticks);
        pending.records += 1;
        pending.levels |= levels;
        pending.sites |= site_bit(site);
    }

    /// Ends a span.
    pub fn span_end(&mut self, session: u32, stream: u32, site: u32, begin: u64, ticks: u64) {
        let mut args = site.to_le_bytes().to_vec();
        args.extend_from_slice(&begin.to_le_bytes());
        self.record(session, stream, SPAN_END, ticks, &args);
    }

    /// Names the thread.
    pub fn thread_name(&mut self, session: u32, stream: u32, ticks: u64, name: &str) {
        self.record(session, stream, THREAD_NAME, ticks, &text(name));
    }

    /// States the fields of the records that follow: none, or `request` and `user`.
    pub fn context(&mut self, session: u32, stream: u32, ticks: u64, fields: Option<(u8, &str)>) {
        let mut item = vec![0xBF];
        if let Some((request, user)) = fields {
            item.extend_from_slice(b"\x67request\x18");
            item.push(request);
            item.extend_from_slice(b"\x64user\x78");
            item.push(user.len() as u8);
            item.extend_from_slice(user.as_bytes());
        }
        item.push(0xFF);
        let mut args = (item.len() as u32).to_le_bytes().to_vec();
        args.extend_from_slice(&item);
        self.record(session, stream, CONTEXT, ticks, &args);
    }

    /// Bytes of the stream that wait for a block.
    pub fn pending(&self, session: u32, stream: u32) -> usize {
        self.streams.get(&(session, stream)).map_or(0, |pending| pending.raw.len())
    }

    /// Leaves out bytes of the ring; gives begin and end.
    pub fn skip_ring(&mut self, session: u32, stream: u32, bytes: u64) -> (u64, u64) {
        let pending = self.streams.entry((session, stream)).or_default();
        pending.begin += bytes;
        (pending.begin - bytes, pending.begin)
    }

    /// Writes a stream's records as one block.
    pub fn flush(&mut self, session: u32, stream: u32, compacted: bool) {
        self.flush_as(session, stream, compacted, Compression::None);
    }

    /// As [`Builder::flush`], compressed where that makes it smaller.
    pub fn flush_as(&mut self, session: u32, stream: u32, compacted: bool, compression: Compression) {
        let Some(pending) = self.streams.get_mut(&(session, stream)) else { return };
        let done = std::mem::take(pending);
        let end = done.begin + done.raw.len() as u64;
        pending.begin = end;
        let mut stored = Vec::new();
        let signatures = self.sessions.get(&session).cloned().unwrap_or_default();
        let mut encoding =
            if compacted && compact(&done.raw, &signatures, &mut stored).is_ok() { COMPACT } else { 0 };
        let mut payload = if encoding == COMPACT { &stored } else { &done.raw };
        let mut compressed = Vec::new();
        match Compressor::new(compression).compress(payload, &mut compressed) {
            0 => {}
            bit => (encoding, payload) = (encoding | bit, &compressed),
        }
        let header = BlockHeader {
            encoding,
            session,
            stream,
            ring_begin: done.begin,
            ring_end: end,
            first_ticks: done.first,
            last_ticks: done.last,
            records: done.records,
            levels: done.levels,
            sites: done.sites,
            raw_size: done.raw.len() as u32,
            ..BlockHeader::new(BlockKind::RECORDS, payload)
        };
        self.push(header, payload);
    }

    /// An *index* block of what was written since the last one.
    pub fn index(&mut self) {
        let at = self.written + self.bytes.len() as u64;
        let mut payload = Vec::new();
        self.index.encode(&mut payload);
        self.block(BlockKind::INDEX, 0, 0, &payload);
        self.index = Index { previous: at, headers: Vec::new() };
    }

    /// The last *index* block, and the *end* block that names it.
    pub fn end_with_index(&mut self) {
        self.index();
        let payload = block::end(1, self.index.previous);
        self.block(BlockKind::END, 0, 0, &payload);
    }

    /// Writes the header of a block of records whose payload, of this many bytes, is missing: a reader finds
    /// it damaged. For sparse files.
    pub fn hollow(&mut self, session: u32, stream: u32, ticks: (u64, u64), size: u32) {
        let pending = self.streams.entry((session, stream)).or_default();
        let begin = pending.begin;
        pending.begin += u64::from(size);
        let header = BlockHeader {
            session,
            stream,
            sequence: self.sequence,
            stored_size: size,
            raw_size: size,
            ring_begin: begin,
            ring_end: begin + u64::from(size),
            first_ticks: ticks.0,
            last_ticks: ticks.1,
            records: size / 40,
            levels: u32::MAX >> 1,
            sites: u64::MAX,
            payload_crc: 1,
            ..BlockHeader::new(BlockKind::RECORDS, &[])
        };
        self.sequence += 1;
        self.index.headers.extend_from_slice(&header.encode());
        self.bytes.extend_from_slice(&header.encode());
    }

    /// The *end* block.
    pub fn end(&mut self) {
        self.block(BlockKind::END, 0, 0, &1u32.to_le_bytes());
    }
}

/// A log site.
#[allow(dead_code)]
pub fn log(level: Level, category: &str, line: u32, template: &str, signature: &str) -> SiteDescription {
    SiteDescription {
        kind: Kind::Log,
        level,
        flags: 0,
        line,
        language: 1,
        category: category.into(),
        file: "src/net/pump.cpp".into(),
        function: "void app::Pump::start(int)".into(),
        names: String::new(),
        template: template.into(),
        signature: signature.into(),
    }
}

/// A text as an argument.
pub fn text(text: &str) -> Vec<u8> {
    let mut bytes = (text.len() as u32).to_le_bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    bytes
}
