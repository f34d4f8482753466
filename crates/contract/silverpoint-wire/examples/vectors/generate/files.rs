//! files.json and files/*.silver: whole trace files, raw and compact, with every record that a reader must give, in the order of the file.

use std::collections::HashMap;

use super::blocks::{File, Header, crc32c, site_bit};
use super::broken_files::broken;
use super::compact::{Item, payload};
use super::compress::{lz4, zstd};
use super::json::{Json, hex};
use super::pieced_files::pieced;
use super::records::record;
use super::sites::Site;
use super::value::{V, int, text};
use super::values;

/// When the sessions start.
pub const START: u64 = 1 << 40;

/// A record: site, ticks after the start, signature, arguments. Site 0: a pad of so many bytes (ticks).
pub struct Row(u32, u64, String, Vec<V>);

/// How blocks of records are stored.
#[derive(Clone, Copy, Default)]
pub struct How {
    compact: bool,
    /// The bit of the encoding for lz4 or zstd, or 0.
    packed: u8,
}

pub const LZ4: u8 = 1 << 4;
pub const ZSTD: u8 = 1 << 5;

/// The ways, with their names.
const WAYS: [(&str, How); 6] = [
    ("raw", How { compact: false, packed: 0 }),
    ("compact", How { compact: true, packed: 0 }),
    ("lz4", How { compact: false, packed: LZ4 }),
    ("zstd", How { compact: false, packed: ZSTD }),
    ("compact-lz4", How { compact: true, packed: LZ4 }),
    ("compact-zstd", How { compact: true, packed: ZSTD }),
];
/// Vectors that are stored in all of the ways; the others in the first two.
const ALL_WAYS: [&str; 4] = ["many records", "duplicates", "every type", "two indexes"];

/// A file with what is to be read from it.
pub struct Trace {
    pub file: File,
    how: How,
    /// Position of each stream of each session.
    positions: HashMap<(u32, u32), u64>,
    records: Vec<Json>,
    notes: Vec<Json>,
    gaps: Vec<Json>,
    losses: Vec<Json>,
    skipped: u32,
    index: &'static str,
    verdict: &'static str,
}

impl Trace {
    fn new(how: How) -> Trace {
        let file = File::default();
        let (records, notes, gaps, losses) = Default::default();
        Trace {
            file,
            how,
            positions: HashMap::new(),
            records,
            notes,
            gaps,
            losses,
            skipped: 0,
            index: "none",
            verdict: "ok",
        }
    }

    /// The dictionaries: file, then each session with these sites and streams.
    pub fn begin(how: How, sessions: u32, streams: u32) -> Trace {
        Trace::begin_other(how, 0, sessions, streams)
    }

    /// The same of other sessions.
    pub fn begin_other(how: How, other: u8, sessions: u32, streams: u32) -> Trace {
        let mut trace = Trace::new(how);
        trace.file.other = other;
        trace.file.about(1, None);
        (1..=sessions).for_each(|session| trace.dictionaries(session, streams));
        trace
    }

    pub fn dictionaries(&mut self, session: u32, streams: u32) {
        self.file.session(session, START);
        self.file.sites(session, &sites());
        self.file.streams(session, streams, START);
    }

    /// A block of records; its stream goes on from where it was.
    pub fn records(&mut self, session: u32, stream: u32, rows: &[Row]) {
        self.expect(session, stream, rows);
        self.stored(session, stream, rows, 0);
    }

    /// Records that a reader must give.
    fn expect(&mut self, session: u32, stream: u32, rows: &[Row]) {
        for Row(site, ticks, _, args) in rows.iter().filter(|row| row.0 != 0) {
            self.records.push(Json::Object(vec![
                ("session", Json::int(session)),
                ("stream", Json::int(stream)),
                ("ticks", Json::int(START + ticks)),
                ("site", Json::int(site)),
                ("args", Json::Array(args.iter().map(V::json).collect())),
            ]));
        }
    }

    /// The block alone.
    fn stored(&mut self, session: u32, stream: u32, rows: &[Row], flags: u32) {
        let raws: Vec<Vec<u8>> = rows.iter().map(raw).collect();
        let concat = raws.concat();
        let items = rows.iter().zip(&raws).map(|(Row(site, ticks, signature, args), raw)| Item {
            site: *site,
            ticks: START + ticks,
            signature,
            args,
            raw,
        });
        let How { compact, packed } = self.how;
        let bytes = if compact { payload(&items.collect::<Vec<_>>()) } else { concat.clone() };
        let (packed, bytes) = pack(packed, bytes, !compact);
        let position = self.positions.entry((session, stream)).or_default();
        let begin = *position;
        *position += concat.len() as u64;
        let proper = || rows.iter().filter(|row| row.0 != 0);
        let header = Header {
            kind: 5,
            encoding: u8::from(compact) | packed,
            session,
            stream,
            ring: (begin, *position),
            ticks: (
                proper().map(|row| START + row.1).min().unwrap_or(0),
                proper().map(|row| START + row.1).max().unwrap_or(0),
            ),
            records: proper().count() as u32,
            levels: proper().fold(0, |levels, row| levels | if row.0 < 16 { 1 << 31 } else { 1 << 2 }),
            sites: proper().fold(0, |sites, row| sites | site_bit(row.0)),
            raw_size: Some(concat.len() as u32),
            flags,
        };
        self.file.block(header, &bytes);
    }

    fn note(&mut self, text: &str) {
        self.file.plain(11, 1, 1, text.as_bytes());
        self.notes.push(Json::text(text));
    }

    fn gap(&mut self, begin: u64, end: u64) {
        let payload = [begin.to_le_bytes(), end.to_le_bytes()].concat();
        self.file.plain(12, 1, 1, &payload);
        self.gaps.push(Json::Array(vec![Json::int(1), Json::int(1), Json::int(begin), Json::int(end)]));
        self.positions.insert((1, 1), end);
    }

    fn unknown(&mut self, kind: u8) {
        self.file.plain(kind, 1, 1, b"what a later version has to say");
        self.skipped += 1;
    }
}

/// A payload as stored, and the bit that says how: compressed, if that makes it smaller. Zstd's frame states the size of its content, or not.
pub fn pack(how: u8, bytes: Vec<u8>, states_size: bool) -> (u8, Vec<u8>) {
    let packed = match how {
        LZ4 => lz4(&bytes),
        ZSTD => zstd(&bytes, states_size),
        _ => return (0, bytes),
    };
    let stored = [&(bytes.len() as u32).to_le_bytes()[..], &packed].concat();
    if stored.len() < bytes.len() { (how, stored) } else { (0, bytes) }
}

/// The bytes of a record or pad.
pub fn raw(Row(site, ticks, _, args): &Row) -> Vec<u8> {
    if *site != 0 {
        return record(*site, START + ticks, args);
    }
    // A pad may cover any bytes; flags mean nothing in it, and are kept.
    let flags = if *ticks > 16 { 0xA5 << 24 } else { 0 };
    let mut pad = (*ticks as u32 | flags).to_le_bytes().to_vec();
    pad.resize(8, 0);
    pad.resize(*ticks as usize, 0xD5);
    pad
}

/// The sites of every session but that of all types.
fn sites() -> Vec<(u32, Site)> {
    let span = Site { kind: 3, names: "file\n".into(), ..Site::log("load", "s") };
    vec![
        (16, Site::log("ready", "")),
        (17, Site::log("{} {} {}", "idL")),
        (18, span),
        (19, Site::log("{}", "s")),
    ]
}

pub fn ready(ticks: u64) -> Row {
    Row(16, ticks, String::new(), Vec::new())
}

pub fn numbers(ticks: u64, i: i128) -> Row {
    let args = vec![int(i), V::F64(i as f64 * 0.5), word((1000 + 3 * i) as u64)];
    Row(17, ticks, "idL".into(), args)
}

fn named(site: u32, ticks: u64, content: &str) -> Row {
    Row(site, ticks, "s".into(), vec![text(content)])
}

fn pad(size: u64) -> Row {
    Row(0, size, String::new(), Vec::new())
}

fn control(site: u32, ticks: u64, signature: &str, args: Vec<V>) -> Row {
    Row(site, ticks, signature.into(), args)
}

fn word(value: u64) -> V {
    V::Int(8, value.into())
}

/// files.json and the files.
pub fn files() -> Vec<super::File> {
    let mut files = Vec::new();
    let mut vectors = Vec::new();
    for (name, make) in CASES {
        let ways = if ALL_WAYS.contains(name) { &WAYS[..] } else { &WAYS[..2] };
        let variants: Vec<(&str, Trace)> = ways.iter().map(|(way, how)| (*way, make(*how))).collect();
        let paths = variants.iter().map(|(how, _)| format!("files/{}.{how}.silver", name.replace(' ', "-")));
        let paths: Vec<String> = paths.collect();
        let trace = &variants[0].1;
        vectors.push(Json::Object(vec![
            ("name", Json::text(*name)),
            ("files", Json::Array(paths.iter().map(Json::text).collect())),
            ("blocks", Json::int(trace.file.sequence)),
            ("skipped", Json::int(trace.skipped)),
            ("records", Json::Array(trace.records.clone())),
            ("losses", Json::Array(trace.losses.clone())),
            ("gaps", Json::Array(trace.gaps.clone())),
            ("notes", Json::Array(trace.notes.clone())),
            ("index", Json::text(trace.index)),
            ("verdict", Json::text(trace.verdict)),
        ]));
        for (path, (_, trace)) in paths.into_iter().zip(variants) {
            files.push((path, trace.file.out));
        }
    }
    for (name, bytes, verdict, given) in pieced() {
        let path = format!("files/{}.silver", name.replace(' ', "-"));
        vectors.push(Json::Object(vec![
            ("name", Json::text(name)),
            ("files", Json::Array(vec![Json::text(&path)])),
            ("given", Json::int(given)),
            ("verdict", Json::text(verdict)),
        ]));
        files.push((path, bytes));
    }
    for (name, bytes, verdict) in broken() {
        let path = format!("files/{}.silver", name.replace(' ', "-"));
        vectors.push(Json::Object(vec![
            ("name", Json::text(name)),
            ("files", Json::Array(vec![Json::text(&path)])),
            ("start", Json::text(hex(&bytes[..bytes.len().min(8)]))),
            ("verdict", Json::text(verdict)),
        ]));
        files.push((path, bytes));
    }
    files.push(("files.json".into(), super::json::file(vectors)));
    files
}

pub type Make = fn(How) -> Trace;

pub const CASES: &[(&str, Make)] = &[
    ("dictionaries alone", |how| Trace::begin(how, 1, 1)),
    ("one stream", |how| {
        let mut trace = Trace::begin(how, 1, 1);
        trace.records(
            1,
            1,
            &[ready(0), numbers(10, 1), numbers(25, -2), pad(8), numbers(20, i32::MAX.into())],
        );
        trace.records(1, 1, &[numbers(30, i32::MIN.into()), pad(40), ready(31)]);
        trace.file.watermark(1, START + 31);
        trace.file.end(1);
        trace
    }),
    ("three streams", |how| {
        let mut trace = Trace::begin(how, 1, 3);
        for (turn, stream) in [1, 2, 3, 2, 1].into_iter().enumerate() {
            let at = 100 * turn as u64 + u64::from(stream);
            trace.records(1, stream, &[numbers(at, turn as i128), named(19, at + 50, "a"), ready(at + 75)]);
        }
        trace.file.end(1);
        trace
    }),
    ("two sessions", |how| {
        let mut trace = Trace::begin(how, 2, 1);
        trace.records(1, 1, &[numbers(1, 1), ready(5)]);
        trace.records(2, 1, &[numbers(2, 2), ready(4)]);
        trace.records(1, 1, &[named(19, 6, "first")]);
        trace.file.watermark(1, START + 6);
        trace.records(2, 1, &[named(19, 7, "second")]);
        trace
    }),
    ("rotated part", |how| {
        let mut trace = Trace::new(how);
        trace.file.about(2, Some("example.1.silver"));
        trace.dictionaries(1, 2);
        // What the part before this holds.
        let positions = [(1_u64, 4096_u64), (2, 512)];
        let payload: Vec<u8> = positions
            .iter()
            .flat_map(|(stream, end)| [stream.to_le_bytes(), end.to_le_bytes()].concat())
            .collect();
        trace.file.plain(10, 1, 0, &payload);
        trace.positions.extend([((1, 1), 4096), ((1, 2), 512)]);
        trace.records(1, 1, &[numbers(1000, 7)]);
        trace.records(1, 2, &[ready(1001)]);
        trace.file.end(2);
        trace
    }),
    ("control records", |how| {
        let mut trace = Trace::begin(how, 1, 1);
        let begin = START + 10;
        trace.records(
            1,
            1,
            &[
                control(4, 1, "s", vec![text("worker \u{2713}")]),
                named(18, 10, "a.txt"),
                control(2, 20, "AL", vec![V::Int(1, 0), word(5_000)]),
                control(1, 30, "ALLL", vec![V::Int(1, 0), word(17), word(START + 21), word(START + 29)]),
                control(3, 40, "IL", vec![int(18), word(begin)]),
                control(5, 50, "", vec![]),
            ],
        );
        let mut losses = [0; 8];
        (losses[0], losses[5]) = (17, 2);
        trace.file.losses(1, 1, [1, 0, 0, 0, 0, 0, 0, 0], (0, 0));
        trace.file.losses(1, 1, losses, (1, 5_000));
        trace.losses.push(Json::Object(vec![
            ("session", Json::int(1)),
            ("stream", Json::int(1)),
            ("losses", Json::Array(losses.iter().map(Json::int).collect())),
            ("stalls", Json::int(1)),
            ("stall_ns", Json::int(5_000)),
        ]));
        trace
    }),
    ("late", |how| {
        let mut trace = Trace::begin(how, 1, 2);
        trace.records(1, 1, &[numbers(100, 1), ready(200)]);
        trace.file.watermark(1, START + 200);
        let late = [ready(50), numbers(60, 5)];
        trace.expect(1, 2, &late);
        trace.stored(1, 2, &late, 1);
        trace.records(1, 1, &[ready(300)]);
        trace
    }),
    ("gap and notes", |how| {
        let mut trace = Trace::begin(how, 1, 1);
        trace.records(1, 1, &[numbers(1, 1)]);
        trace.gap(40, 4096);
        trace.note("bytes 40 to 4096 of the ring were overwritten; Gr\u{fc}\u{df}e");
        trace.records(1, 1, &[ready(2)]);
        trace.note("");
        trace
    }),
    ("unknown kinds and a longer header", |how| {
        let mut trace = Trace::begin(how, 1, 1);
        trace.unknown(14);
        trace.file.longer = 16;
        trace.records(1, 1, &[numbers(1, 1), ready(2)]);
        trace.unknown(200);
        trace.file.longer = 0;
        trace.records(1, 1, &[ready(3)]);
        trace.unknown(255);
        trace
    }),
    ("duplicates", |how| {
        let mut trace = Trace::begin(how, 1, 1);
        let block = [numbers(1, 1), ready(2)];
        trace.records(1, 1, &block);
        // The same ring bytes once more, as after a collector's death; and the dictionaries, as at a segment.
        trace.positions.insert((1, 1), 0);
        trace.stored(1, 1, &block, 0);
        trace.dictionaries(1, 1);
        trace.records(1, 1, &[ready(3)]);
        trace
    }),
    ("sequence from 7", |how| {
        // A file whose first blocks were cut off at a segment's start.
        let mut trace = Trace::new(how);
        trace.file.sequence = 7;
        trace.dictionaries(1, 1);
        trace.records(1, 1, &[numbers(1, 1)]);
        trace.records(1, 1, &[ready(5)]);
        // Blocks are counted by it.
        trace.file.sequence -= 7;
        trace.verdict = "damaged";
        trace
    }),
    ("wide numbers", |how| {
        let mut trace = Trace::begin(how, 1, 1);
        let row = |ticks, a, b, c| Row(17, ticks, "idL".into(), vec![int(a), V::F64(b), word(c)]);
        // Differences that wrap at the width, ticks that run back.
        trace.records(
            1,
            1,
            &[
                row(1 << 50, i32::MAX.into(), f64::NAN, u64::MAX),
                row(0, i32::MIN.into(), -0.0, 0),
                row(u64::MAX - START, 0, f64::INFINITY, 1 << 63),
                row(7, -1, 5e-324, u64::MAX),
            ],
        );
        trace
    }),
    ("many records", |how| {
        let mut trace = Trace::begin(how, 1, 2);
        let rows = |from: u64, count: u64| -> Vec<Row> {
            let row = |turn: u64| match turn % 4 {
                3 => named(19, 10 * turn, ["connected to", "closed by", "retried"][turn as usize / 4 % 3]),
                _ => numbers(10 * turn, i128::from(turn * turn % 101)),
            };
            (from..from + count).map(row).collect()
        };
        trace.records(1, 1, &rows(0, 60));
        // Nothing is gained by compression here: such a block is left as it is.
        trace.records(1, 2, &[ready(300)]);
        // A text that runs on, longer than what one byte states of it.
        trace.records(1, 2, &[named(19, 500, &"ab".repeat(700)), named(19, 501, &"ab".repeat(9))]);
        trace.records(1, 1, &rows(60, 12));
        trace.file.end(1);
        trace
    }),
    ("index", |how| {
        let mut trace = Trace::begin(how, 1, 1);
        trace.records(1, 1, &[numbers(1, 1), ready(2)]);
        trace.file.index();
        trace.file.end_with_index();
        trace.index = "true";
        trace
    }),
    ("two indexes", |how| {
        let mut trace = Trace::begin(how, 1, 2);
        let rows = |from: u64| -> Vec<Row> { (from..from + 12).map(|at| numbers(at, 7)).collect() };
        trace.records(1, 1, &rows(1));
        trace.file.index();
        trace.dictionaries(1, 2);
        trace.records(1, 2, &rows(100));
        trace.note("of the second segment");
        trace.unknown(200);
        trace.file.longer = 8;
        trace.records(1, 1, &rows(50));
        trace.file.longer = 0;
        trace.file.index();
        trace.file.end_with_index();
        trace.index = "true";
        trace
    }),
    ("index without an end", |how| {
        let mut trace = Trace::begin(how, 1, 1);
        trace.records(1, 1, &[ready(1)]);
        trace.file.index();
        trace.records(1, 1, &[ready(2)]);
        trace.index = "unnamed";
        trace
    }),
    ("false index of other sizes", |how| {
        let mut trace = Trace::begin(how, 1, 1);
        trace.records(1, 1, &[numbers(1, 1), ready(2)]);
        trace.file.index_of(|headers| {
            // The stored size of the first block, with a checksum that agrees.
            headers[12] ^= 8;
            let crc = crc32c(&headers[..92]);
            headers[92..96].copy_from_slice(&crc.to_le_bytes());
        });
        trace.file.end_with_index();
        trace.index = "false";
        trace
    }),
    ("false index with a wrong header checksum", |how| {
        let mut trace = Trace::begin(how, 1, 1);
        trace.records(1, 1, &[numbers(1, 1), ready(2)]);
        trace.file.index_of(|headers| headers[24] ^= 2);
        trace.file.end_with_index();
        trace.index = "false";
        trace
    }),
    ("false index without the first block", |how| {
        let mut trace = Trace::begin(how, 1, 1);
        trace.records(1, 1, &[numbers(1, 1), ready(2)]);
        trace.file.index_of(|headers| drop(headers.drain(..96)));
        trace.file.end_with_index();
        trace.index = "false";
        trace
    }),
    ("false index without the last block", |how| {
        let mut trace = Trace::begin(how, 1, 1);
        trace.records(1, 1, &[numbers(1, 1)]);
        trace.file.index();
        trace.records(1, 1, &[ready(2)]);
        trace.file.end_with_index();
        trace.index = "false";
        trace
    }),
    ("false index that names itself", |how| {
        let mut trace = Trace::begin(how, 1, 1);
        trace.records(1, 1, &[numbers(1, 1), ready(2)]);
        let here = trace.file.out.len() as u64;
        trace.file.plain(13, 0, 0, &here.to_le_bytes());
        trace.file.end_that_names(here);
        trace.index = "false";
        trace
    }),
    ("false index where records stand", |how| {
        let mut trace = Trace::begin(how, 1, 1);
        let here = trace.file.out.len() as u64;
        trace.records(1, 1, &[numbers(1, 1), ready(2)]);
        trace.file.end_that_names(here);
        trace.index = "false";
        trace
    }),
    ("every type", |how| {
        let mut trace = Trace::new(how);
        trace.file.about(1, None);
        trace.file.session(1, START);
        let mut seen = Vec::new();
        let mut cases = values::cases();
        // One of every signature, but the long ones.
        cases.retain(|case| {
            let new = !seen.contains(&case.signature) && case.signature.len() < 80;
            seen.push(case.signature.clone());
            new
        });
        let ids = (16..).zip(&cases);
        let site = |(id, case): (u32, &values::Case)| {
            (id, Site { level: 2, signature: case.signature.clone(), ..Site::default() })
        };
        trace.file.sites(1, &ids.clone().map(site).collect::<Vec<_>>());
        trace.file.streams(1, 1, START);
        let row =
            |(id, case): (u32, &values::Case)| Row(id, id.into(), case.signature.clone(), case.args.clone());
        let rows: Vec<Row> = ids.map(row).collect();
        trace.records(1, 1, &rows);
        trace
    }),
];
