//! Zooming in shows what was merged in memory, and what has not been read.

mod detail;

use std::io::Write as _;

use serde_json::Value;
use silverpoint_read::{OpenOptions, Reader};
use silverpoint_trace::Trace;
use silverpoint_wire::block::{BlockHeader, BlockKind, push_block};
use silverpoint_wire::compression::{Compression, Compressor};
use silverpoint_wire::layout::block::COMPACT;
use silverpoint_wire::layout::record::HEADER_SIZE;
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::record::RecordHeader;
use silverpoint_wire::site::SiteDescription;
use tempfile::TempPath;

use crate::answers;
use crate::builder::{Builder, log};
use crate::params::Params;
use crate::slice::Slice;
use crate::timeline::Timeline;
use crate::{Source, Views};

/// A file that goes with the test.
struct Written(TempPath);

impl Written {
    fn new(bytes: &[u8]) -> Self {
        let mut file =
            tempfile::Builder::new().prefix("silverpoint-view-").suffix(".silver").tempfile().unwrap();
        file.write_all(bytes).unwrap();
        Self(file.into_temp_path())
    }
}

/// 200 outer spans of 900 ns with two inner ones, a counter and a line.
///
/// One span is around the first hundred; one is around the others, and stays open.
fn sample() -> Written {
    let named = |kind, name: &str, signature: &str| SiteDescription {
        kind,
        ..log(Level::Info, "x", 1, name, signature)
    };
    let mut b = Builder::new();
    b.session(1, "/bin/p", 7);
    b.stream(1, 1, 9, "pump");
    b.site(1, 16, &named(Kind::Span, "outer", ""));
    b.site(1, 17, &named(Kind::Span, "inner", ""));
    b.site(1, 18, &named(Kind::Counter, "queue", "L"));
    b.site(1, 19, &log(Level::Warn, "x", 2, "line", ""));
    b.site(1, 20, &named(Kind::Span, "around", ""));
    b.record(1, 1, 20, 500, &[]);
    for number in 0..200u64 {
        let begin = 1000 + number * 1000;
        b.record(1, 1, 16, begin, &[]);
        b.record(1, 1, 17, begin + 100, &[]);
        b.span_end(1, 1, 17, begin + 100, begin + 150);
        b.record(1, 1, 18, begin + 200, &number.to_le_bytes());
        b.record(1, 1, 17, begin + 300, &[]);
        b.record(1, 1, 19, begin + 400, &[]);
        b.span_end(1, 1, 17, begin + 300, begin + 800);
        b.span_end(1, 1, 16, begin, begin + 900);
        if number == 99 {
            b.span_end(1, 1, 20, 500, begin + 950);
            b.record(1, 1, 20, begin + 960, &[]);
        }
    }
    b.flush(1, 1, false);
    b.end();
    Written::new(&b.bytes)
}

fn begun(file: &Written) -> Views {
    let options = OpenOptions { only: true, ..OpenOptions::default() };
    Views::open(Source::Files { paths: vec![file.0.to_path_buf()], options }).unwrap()
}

fn open(file: &Written) -> Views {
    let mut views = begun(file);
    let view = views.get("").unwrap();
    while view.has_more() {
        view.work(&Slice::of(std::time::Duration::from_millis(100)));
    }
    views
}

/// Blocks of one stream, all of the same time, whose headers are as they are given.
fn hostile(blocks: u64, header: BlockHeader, payload: &[u8]) -> (Written, Trace) {
    let mut b = Builder::new();
    b.session(1, "/bin/p", 7);
    b.stream(1, 1, 9, "pump");
    b.site(1, 16, &log(Level::Info, "x", 1, "line", ""));
    let length = header.ring_end;
    for number in 0..blocks {
        let (ring_begin, ring_end) = (number * length, (number + 1) * length);
        // Behind those of the file, the session, its anchors, the stream and the site.
        let block = BlockHeader { sequence: 5 + number, ring_begin, ring_end, ..header };
        push_block(&mut b.bytes, &block, payload);
        b.skip_block();
    }
    b.end();
    let file = Written::new(&b.bytes);
    let trace = Trace::open(&[&file.0]).unwrap();
    (file, trace)
}

/// Asks as the page does.
fn ask(views: &mut Views, path: &str, query: &str) -> Value {
    let handler = answers::of(path).unwrap();
    serde_json::from_slice(&handler(views, Params::parse(query).unwrap()).unwrap()).unwrap()
}

/// Of a column, from an answer of lanes with one track.
fn column(lanes: &Value, name: &str) -> Vec<i64> {
    let column = lanes["tracks"][0]["instants"][name].as_array().unwrap();
    column.iter().map(|value| value.as_i64().unwrap()).collect()
}

#[test]
fn a_span_that_ends_in_another_thread_is_shown_where_it_began() {
    let mut b = Builder::new();
    b.session(1, "/bin/p", 7);
    for (id, name) in [(16, "job"), (17, "own")] {
        b.site(1, id, &SiteDescription { kind: Kind::Span, ..log(Level::Info, "x", 1, name, "") });
    }
    b.stream(1, 1, 9, "one");
    b.stream(1, 2, 10, "two");
    b.record(1, 1, 16, 1000, &[]);
    b.record(1, 2, 17, 2000, &[]);
    b.span_end(1, 2, 16, 1000, 5000);
    b.record(1, 1, 17, 6000, &[]);
    b.span_end(1, 1, 17, 6000, 7000);
    b.span_end(1, 2, 17, 2000, 8000);
    b.flush(1, 1, false);
    b.flush(1, 2, false);
    b.end();
    let file = Written::new(&b.bytes);
    let mut views = open(&file);
    let view = views.get("").unwrap();
    let (begin, end) = view.counts.range.unwrap();
    let lanes = ask(&mut views, "/api/lanes", &format!("from={begin}&to={}&width=8000&tracks=0,1", end + 1));
    let shown: Vec<Vec<(Value, Value)>> = (0..2)
        .map(|track| {
            let rows = lanes["tracks"][track]["rows"].as_array().unwrap().iter();
            rows.map(|row| (row["begin"].clone(), row["duration"].clone())).collect()
        })
        .collect();
    let row = |values: [&[i64]; 2]| (Value::from(values[0]), Value::from(values[1]));
    assert_eq!(shown, [vec![row([&[0, 5000], &[4000, 1000]])], vec![row([&[1000], &[6000]])]]);
    let mut flame = crate::flame::Flame::new((begin, end + 1));
    let view = views.get("").unwrap();
    assert!(view.within((begin, end + 1), u64::MAX, |_, event| flame.add(event)));
    flame.finish(end + 1);
    let times: Vec<u64> = flame.nodes().iter().skip(2).map(|node| node.time).collect();
    assert_eq!(times, [4000, 7000]);
}

#[test]
fn the_first_answer_shows_all_of_a_file_of_which_little_has_been_read() {
    const RECORDS: u64 = 40_000;
    let mut b = Builder::new();
    b.session(1, "/bin/p", 7);
    b.stream(1, 1, 9, "pump");
    // Of this thread the headers state a record, and it has nothing to show.
    b.stream(1, 2, 10, "named");
    b.thread_name(1, 2, 1000, "named");
    b.flush(1, 2, false);
    b.site(1, 19, &log(Level::Warn, "x", 2, "line", ""));
    for number in 0..RECORDS {
        b.record(1, 1, 19, 1000 + number * 1000, &[]);
        if number % 500 == 499 {
            b.flush(1, 1, false);
        }
    }
    b.end();
    let file = Written::new(&b.bytes);
    let mut views = begun(&file);
    let first = ask(&mut views, "/api/trace", "");
    let number = |value: &Value| value.as_str().unwrap().parse::<i64>().unwrap();
    let (begin, end) = (number(&first["begin"]), number(&first["end"]));
    let read = number(&first["progress"]["records"]);
    assert!(read < 10_000 && end - begin > 39_000_000, "{first}");
    assert_eq!((&first["tracks"], &first["progress"]["state"]), (&2.into(), &"reading".into()));

    let range = |from: i64, to: i64| format!("from={from}&to={to}&width=400&tracks=0");
    let whole = ask(&mut views, "/api/lanes", &range(begin, end + 1));
    let sum: i64 = column(&whole, "count").iter().sum();
    assert_eq!(sum, RECORDS as i64, "all of them are so few that they are read for the answer");
    let histogram = ask(&mut views, "/api/histogram", &format!("from={begin}&to={}&parts=80", end + 1));
    let sum =
        |list: &Value| list.as_array().unwrap().iter().map(|count| count.as_i64().unwrap()).sum::<i64>();
    let (known, unread) = (sum(&histogram["levels"][3]), sum(&histogram["unread"]));
    assert!(known <= read && (known + unread - RECORDS as i64).abs() < 100, "{known} {unread}");

    // Without the records themselves: what the headers state, behind what has been read.
    let view = views.get("").unwrap();
    let (outline, frontier) = view.unread().unwrap();
    let mut stated = Vec::new();
    outline.fold((0, 9), frontier, (begin, end + 1, 100_000), |entry| stated.push(entry));
    let count: i64 = stated.iter().map(|entry| i64::from(entry.count)).sum();
    assert!((count + read - RECORDS as i64).abs() < 100, "{count} {read}");
    assert!(stated.iter().all(|entry| entry.begin >= frontier && entry.marks == crate::lanes::UNREAD));
    // Near the end, far from what has been read.
    let near = ask(&mut views, "/api/lanes", &range(end - 10_000, end + 1));
    assert_eq!(column(&near, "count"), [1; 11]);
    assert_eq!(column(&near, "marks"), [0; 11]);

    let view = views.get("").unwrap();
    while view.has_more() {
        view.work(&Slice::of(std::time::Duration::from_millis(100)));
    }
    assert!(view.unread().is_none());
    let last = ask(&mut views, "/api/trace", "");
    // The page asks for its lists again when this changes.
    assert_eq!(last["tracks"], 1);
    assert_ne!(last["revision"], first["revision"]);
    assert_eq!((number(&last["begin"]), number(&last["end"])), (begin, end));
    assert_eq!(ask(&mut views, "/api/lanes", &range(end - 10_000, end + 1))["tracks"], near["tracks"]);
}

#[test]
fn tracks_that_are_expected_have_the_names_of_their_threads() {
    let mut b = Builder::new();
    b.session(1, "/bin/p", 7);
    b.session(2, "/bin/q", 8);
    for (session, stream, tid, name) in [(1, 1, 9, "one"), (1, 2, 10, "two"), (2, 1, 9, "three")] {
        b.stream(session, stream, tid, name);
    }
    b.end();
    let file = Written::new(&b.bytes);
    let mut timeline = Timeline::default();
    timeline
        .expect(&Trace::open(&[&file.0]).unwrap(), [(0, 9), (0, 10), (1, 9), (1, 77), (2, 9)].into_iter());
    let names: Vec<String> =
        timeline.tracks().iter().map(|track| format!("{} {}", track.process, track.name)).collect();
    assert_eq!(names, ["p one", "p two", "q three", "q "]);
}

#[test]
fn a_merged_timeline_shows_the_same_when_it_is_zoomed_into() {
    let file = sample();
    let (mut whole, mut merged) = (open(&file), open(&file));
    let timeline = &mut merged.get("").unwrap().timeline;
    timeline.merge(13);
    assert_eq!(timeline.resolution(), 8192);
    let (begin, end) = whole.get("").unwrap().counts.range.unwrap();
    let lanes = |views: &mut Views, from: i64, to: i64| {
        ask(views, "/api/lanes", &format!("from={from}&to={to}&width=5000&tracks=0,1"))
    };
    let length = end - begin;
    for (at, size) in
        (0..97).map(|step| (step * length / 97, 300 + step * 37)).chain([(0, length + 1), (-50, 700)])
    {
        let (from, to) = (begin + at, begin + at + size);
        let (expected, found) = (lanes(&mut whole, from, to), lanes(&mut merged, from, to));
        let has_detail = found["pixel_ns"].as_str().unwrap().parse::<u64>().unwrap() < 8192;
        assert_eq!((has_detail, &found["merged_ns"]), (true, &Value::from("0")));
        assert_eq!(found["tracks"], expected["tracks"], "{at} {size}");
    }
}

#[test]
fn reading_ahead_ends_where_the_bytes_of_blocks_are_too_many_whatever_their_headers_state() {
    const EVER: (i64, i64) = (i64::MIN, i64::MAX);
    let mut zeros = Vec::new();
    let zstd = Compressor::new(Compression::Zstd(1)).compress(&vec![0; 16 << 20], &mut zeros);
    assert!(zeros.len() < 4096);
    let header = BlockHeader {
        session: 1,
        stream: 1,
        last_ticks: 1000,
        records: 1,
        levels: u32::MAX >> 1,
        sites: u64::MAX,
        ..BlockHeader::new(BlockKind::RECORDS, &zeros)
    };
    let whole = |blocks, header, payload| hostile(blocks, header, payload).1.between(EVER, 1000, |_| {});
    let honest = BlockHeader { encoding: zstd, raw_size: 16 << 20, ring_end: 16 << 20, ..header };
    assert_eq!([1, 2].map(|blocks| whole(blocks, honest, &zeros)), [true, false]);
    // What it is unpacked to may be large although little is to come out of that.
    let lying = BlockHeader { encoding: COMPACT | zstd, raw_size: 16, ring_end: 16, ..header };
    assert_eq!([1, 3].map(|blocks| whole(blocks, lying, &zeros)), [true, false]);
}

#[test]
fn reading_ahead_finds_what_lies_in_a_stretch_among_many_streams_also_in_a_file_that_grows() {
    const STREAMS: u32 = 300;
    let mut b = Builder::new();
    b.session(1, "/bin/p", 7);
    let file = Written::new(&b.bytes);
    let options = OpenOptions { only: true, follow: true, ..OpenOptions::default() };
    let mut reader = Reader::open(&[file.0.to_path_buf()], options).unwrap();
    b.site(1, 16, &log(Level::Info, "x", 1, "line", ""));
    let mut all: Vec<i64> = Vec::new();
    for half in 0..2 {
        // Later streams have lower numbers, and stand before those that are known.
        for stream in (1..=STREAMS).rev().filter(|stream| stream % 2 == half) {
            b.stream(1, stream, stream, "pump");
            for block in 0..3 {
                for record in 0..2 {
                    let ticks = u64::from(STREAMS - stream) * 1000 + block * 700 + record * 200;
                    b.record(1, stream, 16, ticks, &[]);
                }
                b.flush(1, stream, false);
            }
        }
        std::fs::write(&file.0, &b.bytes).unwrap();
        reader.grow_with(|| true, |_, _, event| all.push(event.wall_ns)).unwrap();
        while all.len() < reader.trace().records_stated() as usize {
            reader.grow_with(|| false, |_, _, event| all.push(event.wall_ns)).unwrap();
        }
        assert_eq!(all.len(), 6 * 150 * (half as usize + 1));
        all.sort_unstable();
        let (begin, end) = (all[0], all[all.len() - 1] + 1);
        let ranges = (0..60).map(|step| (begin + step * 5003, begin + step * 5003 + step * 211));
        for (from, to) in ranges.chain([(begin, end), (begin - 9, begin), (end, end + 9)]) {
            let expected: Vec<i64> = all.iter().copied().filter(|at| (from..to).contains(at)).collect();
            let mut found = Vec::new();
            assert!(reader.trace().between((from, to), 10_000, |event| found.push(event.wall_ns)));
            assert_eq!(found, expected, "{from} {to}");
        }
        // More than is wanted: nothing is read.
        let mut given = 0;
        assert!(!reader.trace().between((begin, end), 6 * 150 - 1, |_| given += 1));
        assert_eq!(given, 0);
    }
}

#[test]
fn reading_ahead_counts_records_itself() {
    let record = RecordHeader { size: HEADER_SIZE as u32, flags: 0, site: 16, ticks: 500 }.encode();
    let payload = record.repeat(30);
    let header = BlockHeader {
        session: 1,
        stream: 1,
        last_ticks: 1000,
        levels: u32::MAX >> 1,
        sites: u64::MAX,
        ring_end: payload.len() as u64,
        ..BlockHeader::new(BlockKind::RECORDS, &payload)
    };
    let (_file, trace) = hostile(2, header, &payload);
    let given = |most| {
        let mut given = 0;
        (trace.between((i64::MIN, i64::MAX), most, |_| given += 1), given)
    };
    assert_eq!([60, 59].map(given), [(true, 60), (false, 59)]);
}
