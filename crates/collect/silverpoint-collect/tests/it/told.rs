//! The contents of a trace, read by the contract alone and checked on the way. Every block is whole, numbers
//! have no gap, dictionaries come before records, and no byte of a ring is there twice.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use silverpoint_wire::block::{self, BlockKind, LossInfo, SessionInfo, StreamInfo, site_bit};
use silverpoint_wire::bytes::u64_at;
use silverpoint_wire::clock::Anchor;
use silverpoint_wire::compact::{Signatures, expand};
use silverpoint_wire::compression::Decompressor;
use silverpoint_wire::record::Records;
use silverpoint_wire::scan::{Found, Scanner};
use silverpoint_wire::site::SiteDescription;

pub type SessionId = [u8; 16];

/// One record as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub site: u32,
    pub ticks: u64,
    pub args: Vec<u8>,
}

impl Told {
    pub fn value(&self) -> u64 {
        u64_at(&self.args, 0).unwrap()
    }
}

/// A trace with all its parts.
#[derive(Debug, Default)]
pub struct Trace {
    /// Records by session and stream, in the file's order.
    pub records: BTreeMap<(SessionId, u32), Vec<Told>>,
    /// Where each stream's bytes have come to.
    pub ends: BTreeMap<(SessionId, u32), u64>,
    pub gaps: Vec<(SessionId, u32, u64, u64)>,
    pub losses: BTreeMap<(SessionId, u32), LossInfo>,
    pub notes: Vec<String>,
    pub anchors: BTreeMap<SessionId, Vec<Anchor>>,
    pub sessions: BTreeMap<SessionId, SessionInfo>,
    pub watermarks: BTreeMap<SessionId, Vec<u64>>,
    pub late_blocks: usize,
    pub kinds: Vec<Vec<u8>>,
    pub about: Vec<String>,
    pub encodings: HashSet<u8>,
    is_lenient: bool,
}

/// Parts in their order: `trace.N.silver`, then `trace.silver`.
pub fn parts(path: &Path) -> Vec<PathBuf> {
    let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
    let mut rotated: Vec<(u64, PathBuf)> = std::fs::read_dir(path.parent().unwrap())
        .unwrap()
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name()?.to_str()?.to_owned();
            let number = name.strip_prefix(&format!("{stem}."))?.strip_suffix(".silver")?.parse().ok()?;
            Some((number, path))
        })
        .collect();
    rotated.sort();
    rotated.into_iter().map(|(_, path)| path).chain(path.exists().then(|| path.to_owned())).collect()
}

/// Reads everything; panics with the place where a rule is broken.
pub fn read(path: &Path) -> Trace {
    let mut trace = Trace::default();
    for part in parts(path) {
        read_part(&part, &mut trace, true);
    }
    trace
}

/// As [`read`], for a trace with records of a producer whose site table and rings are invalid. Its records
/// may have sites that are not declared, and come twice.
pub fn read_of_hostile(path: &Path) -> Trace {
    let mut trace = Trace { is_lenient: true, ..Trace::default() };
    for part in parts(path) {
        read_part(&part, &mut trace, true);
    }
    trace
}

/// Of each block of records in a file its stream, in the file's order.
pub fn record_streams(path: &Path) -> Vec<u32> {
    let bytes = std::fs::read(path).unwrap();
    let mut scanner = Scanner::new(bytes.as_slice(), 0, true);
    let mut streams = Vec::new();
    while let Some(found) = scanner.next().unwrap() {
        let Found::Block { header, .. } = found else { panic!("{found:?}") };
        if header.kind == BlockKind::RECORDS {
            streams.push(header.stream);
        }
    }
    streams
}

/// Reads one file on its own, as if there were no other.
pub fn read_alone(path: &Path) -> Trace {
    let mut trace = Trace::default();
    read_part(path, &mut trace, false);
    trace
}

fn read_part(path: &Path, trace: &mut Trace, continues: bool) {
    let bytes = std::fs::read(path).unwrap();
    let mut scanner = Scanner::new(bytes.as_slice(), 0, true);
    let mut sequence = 0;
    let mut sessions: HashMap<u32, SessionId> = HashMap::new();
    let mut sites: HashMap<(u32, u32), SiteDescription> = HashMap::new();
    let mut signatures: HashMap<u32, Signatures> = HashMap::new();
    let mut streams: HashSet<(u32, u32)> = HashSet::new();
    let mut clocks: HashSet<u32> = HashSet::new();
    let mut watermarks: HashMap<u32, u64> = HashMap::new();
    let mut kinds = Vec::new();
    while let Some(found) = scanner.next().unwrap() {
        let Found::Block { at, header } = found else { panic!("{}: {found:?}", path.display()) };
        let place = format!("{} block {} at {at}", path.display(), header.sequence);
        assert_eq!(header.sequence, sequence, "{place}: the number");
        sequence += 1;
        kinds.push(header.kind.0);
        let payload = scanner.payload().to_vec();
        let id = sessions.get(&header.session).copied();
        match header.kind {
            BlockKind::FILE => trace.about.push(String::from_utf8(payload).unwrap()),
            BlockKind::SESSION => {
                let info = SessionInfo::decode(&payload).unwrap();
                sessions.insert(header.session, info.session_id);
                trace.sessions.insert(info.session_id, info);
            }
            BlockKind::SITES => {
                for (site, description) in block::sites(&payload) {
                    let description = description.unwrap();
                    let known = signatures.entry(header.session).or_default();
                    known.insert(site, &description.signature).unwrap();
                    if let Some(before) = sites.insert((header.session, site), description.clone()) {
                        assert_eq!(before, description, "{place}: a repeated site equals the first");
                    }
                }
            }
            BlockKind::STREAMS => {
                for stream in StreamInfo::decode_all(&payload) {
                    streams.insert((header.session, stream.stream));
                }
            }
            BlockKind::ANCHORS => {
                clocks.insert(header.session);
                trace
                    .anchors
                    .entry(id.expect("session before anchors"))
                    .or_default()
                    .extend(block::anchors(&payload));
            }
            BlockKind::RECORDS => {
                let id = id.unwrap_or_else(|| panic!("{place}: the session is not declared"));
                assert!(
                    streams.contains(&(header.session, header.stream)),
                    "{place}: the stream is not declared"
                );
                assert!(
                    trace.is_lenient || clocks.contains(&header.session),
                    "{place}: no anchor stands before it"
                );
                trace.encodings.insert(header.encoding);
                let payload = match header.encoding & 0xF0 {
                    0 => payload,
                    _ => {
                        let mut inner = Vec::new();
                        Decompressor::default()
                            .decompress(header.encoding, &payload, header.raw_size, &mut inner)
                            .unwrap();
                        inner
                    }
                };
                let raw = match header.encoding & 0x0F {
                    0 => payload,
                    1 => {
                        let mut raw = Vec::new();
                        expand(&payload, header.raw_size as usize, &signatures[&header.session], &mut raw)
                            .unwrap();
                        raw
                    }
                    other => panic!("{place}: encoding {other}"),
                };
                assert_eq!(raw.len() as u64, header.ring_end - header.ring_begin, "{place}: positions");
                let end = trace.ends.entry((id, header.stream)).or_insert(header.ring_begin);
                // (A producer that writes another ring's number into its own has said the same bytes twice.)
                assert!(
                    trace.is_lenient || header.ring_begin >= *end,
                    "{place}: bytes of stream {} again: {} < {end}",
                    header.stream,
                    header.ring_begin
                );
                *end = header.ring_end;
                let all = trace.records.entry((id, header.stream)).or_default();
                let (mut count, mut bloom, mut first, mut last) = (0, 0, u64::MAX, 0);
                for record in Records::new(&raw).without_pads() {
                    let record = record.unwrap();
                    let site = record.header.site;
                    assert!(
                        trace.is_lenient || site < 16 || sites.contains_key(&(header.session, site)),
                        "{place}: site {site} is not declared"
                    );
                    if let Some(description) = sites.get(&(header.session, site)) {
                        assert!(header.levels & (1 << description.level as u8) != 0, "{place}: levels");
                    }
                    (first, last) = (first.min(record.header.ticks), last.max(record.header.ticks));
                    bloom |= site_bit(site);
                    count += 1;
                    all.push(Told { site, ticks: record.header.ticks, args: record.args.to_vec() });
                }
                assert_eq!((count, bloom), (header.records, header.sites), "{place}: its summary");
                if count > 0 {
                    assert_eq!((first, last), (header.first_ticks, header.last_ticks), "{place}: its times");
                    // A watermark of an earlier part counts too.
                    let is_late = header.flags & 1 != 0;
                    let is_early = first < watermarks.get(&header.session).copied().unwrap_or(0);
                    assert!(is_late || !is_early, "{place}: late");
                    trace.late_blocks += usize::from(is_late);
                }
            }
            BlockKind::LOSSES => {
                for info in LossInfo::decode_all(&payload) {
                    let whose = (id.expect("session before losses"), info.stream);
                    if let Some(before) = trace.losses.get(&whose) {
                        let falls = before.losses.iter().zip(info.losses).any(|(before, now)| now < *before);
                        let is_less = info.stalls < before.stalls || info.stall_ns < before.stall_ns;
                        assert!(!falls && !is_less, "{place}: totals of losses fall");
                    }
                    trace.losses.insert(whose, info);
                }
            }
            BlockKind::WATERMARK => {
                let ticks = u64_at(&payload, 0).unwrap();
                let before = watermarks.insert(header.session, ticks);
                assert!(before.is_none_or(|before| before <= ticks), "{place}: a watermark goes back");
                trace.watermarks.entry(id.expect("session before watermark")).or_default().push(ticks);
            }
            BlockKind::POSITIONS if continues => {
                for entry in payload.chunks_exact(16) {
                    let stream = u64_at(entry, 0).unwrap() as u32;
                    let position = u64_at(entry, 8).unwrap();
                    let end = trace.ends.get(&(id.unwrap(), stream)).copied();
                    assert!(
                        end.is_none_or(|end| end <= position),
                        "{place}: stream {stream}: {end:?}, {position} stated"
                    );
                }
            }
            BlockKind::NOTE => trace.notes.push(String::from_utf8(payload).unwrap()),
            BlockKind::GAP => {
                let (begin, end) = (u64_at(&payload, 0).unwrap(), u64_at(&payload, 8).unwrap());
                trace.gaps.push((id.unwrap(), header.stream, begin, end));
            }
            _ => {}
        }
    }
    trace.kinds.push(kinds);
}

impl Trace {
    /// The values of all records of a stream that have a site (control records left out).
    pub fn values(&self, session: &SessionId, stream: u32) -> Vec<u64> {
        let records = self.records.get(&(*session, stream));
        records.into_iter().flatten().filter(|record| record.site >= 16).map(Told::value).collect()
    }
}
