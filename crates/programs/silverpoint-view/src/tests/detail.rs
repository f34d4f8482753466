//! Tiles from what is kept in memory are those of the records themselves, and what is not known yet is stated.

use serde_json::Value;
use silverpoint_wire::layout::record::{LOSS, STALL};
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::site::SiteDescription;

use super::{Written, ask, begun, open};
use crate::Views;
use crate::builder::{Builder, log};
use crate::slice::Slice;

const THREADS: u32 = 3;
const RECORDS: u32 = 80_000;

/// A sequence of numbers that look random.
struct Random(u64);

impl Random {
    /// Below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

fn site(kind: Kind, level: Level, name: &str, signature: &str) -> SiteDescription {
    SiteDescription { kind, ..log(level, "x", 1, name, signature) }
}

/// What a thread is in.
#[derive(Default)]
struct Thread {
    /// Sites and begins of its spans.
    open: Vec<(u32, u64)>,
    /// Time of its last record.
    last: u64,
}

/// Spans within one another, lines, two counters, async spans, losses and waits, from nanoseconds to milliseconds apart.
fn generated(seed: u64) -> Written {
    let mut random = Random(seed);
    let mut b = Builder::new();
    b.session(1, "/bin/p", 7);
    for stream in 1..=THREADS {
        b.stream(1, stream, 8 + stream, "worker");
    }
    let sites = [
        site(Kind::Span, Level::Info, "short", ""),
        site(Kind::Span, Level::Error, "long", ""),
        site(Kind::Log, Level::Debug, "line", ""),
        site(Kind::Log, Level::Error, "worse", ""),
        site(Kind::Counter, Level::Info, "queue", "L"),
        site(Kind::Counter, Level::Info, "heap", "L"),
        site(Kind::AsyncBegin, Level::Info, "fetch", "L"),
        site(Kind::AsyncEnd, Level::Info, "fetch", "L"),
    ];
    sites.iter().zip(16..).for_each(|(site, id)| b.site(1, id, site));
    let mut threads: Vec<Thread> = (0..THREADS).map(|_| Thread::default()).collect();
    let (mut now, mut asyncs) = (1000u64, Vec::new());
    for number in 0..RECORDS {
        let most = 1 << random.below(13);
        now += 1 + random.below(most);
        let stream = 1 + random.below(u64::from(THREADS)) as u32;
        let thread = &mut threads[stream as usize - 1];
        match random.below(16) {
            0..4 if thread.open.len() < 4 => {
                let site = 16 + random.below(2) as u32;
                thread.open.push((site, now));
                b.record(1, stream, site, now, &[]);
            }
            4..8 if !thread.open.is_empty() => {
                let (site, begin) = thread.open.pop().unwrap();
                b.span_end(1, stream, site, begin, now);
            }
            8 | 9 => b.record(1, stream, 20 + random.below(2) as u32, now, &random.below(1000).to_le_bytes()),
            // As many as have rows of their own.
            10 if asyncs.len() < 20 => {
                asyncs.push(u64::from(number));
                b.record(1, stream, 22, now, &u64::from(number).to_le_bytes());
            }
            11 if !asyncs.is_empty() => {
                let id = asyncs.swap_remove(random.below(asyncs.len() as u64) as usize);
                b.record(1, stream, 23, now, &id.to_le_bytes());
            }
            12 if random.below(20) == 0 => {
                let mut args = vec![0];
                [3, thread.last + 1, now]
                    .iter()
                    .for_each(|number| args.extend_from_slice(&number.to_le_bytes()));
                b.record(1, stream, LOSS, now, &args);
            }
            13 if random.below(20) == 0 => {
                let mut args = vec![0];
                args.extend_from_slice(&(now - thread.last).to_le_bytes());
                b.record(1, stream, STALL, now, &args);
            }
            kind => b.record(1, stream, if kind == 15 { 19 } else { 18 }, now, &[]),
        }
        thread.last = now;
        if number % 1000 == 999 {
            (1..=THREADS).for_each(|stream| b.flush(1, stream, false));
        }
    }
    b.end();
    Written::new(&b.bytes)
}

/// All tracks.
fn lanes(views: &mut Views, from: i64, to: i64, width: i64) -> Value {
    let all = ask(views, "/api/tracks", "")["total"].as_i64().unwrap();
    let tracks: Vec<String> = (0..all).map(|id| id.to_string()).collect();
    ask(
        views,
        "/api/lanes",
        &format!("from={from}&to={to}&width={width}&refine=1&tracks={}", tracks.join(",")),
    )
}

/// A rectangle: begin since 1970, duration, site, count, level, marks.
type Rectangle = [i64; 6];

/// Rectangles of each row of each track: first those of instants, then by depth.
fn rectangles(lanes: &Value) -> Vec<Vec<Rectangle>> {
    let from: i64 = lanes["from"].as_str().unwrap().parse().unwrap();
    let mut rows = Vec::new();
    for track in lanes["tracks"].as_array().unwrap() {
        for row in std::iter::once(&track["instants"]).chain(track["rows"].as_array().unwrap()) {
            let columns = ["begin", "duration", "site", "count", "level", "marks"];
            let value = |column: &str, at: usize| row[column][at].as_i64().unwrap();
            let length = row["begin"].as_array().map_or(0, Vec::len);
            rows.push(
                (0..length)
                    .map(|at| {
                        let mut found = columns.map(|column| value(column, at));
                        // Of what began before the range its level may be that of its neighbours.
                        if found[0] < 0 {
                            (found[4], found[5]) = (0, 0);
                        }
                        found[0] += from;
                        found
                    })
                    .collect(),
            );
        }
    }
    rows
}

/// A view of all records whose rectangles are merged to 2^`shift` nanoseconds.
fn merged(file: &Written, shift: u32) -> Views {
    let mut views = open(file);
    views.get("").unwrap().timeline.merge(shift);
    views
}

#[test]
fn tiles_of_merged_rectangles_are_those_of_the_records() {
    for seed in [1, 7] {
        let file = generated(seed);
        let mut whole = open(&file);
        assert_eq!(whole.get("").unwrap().timeline.resolution(), 0);
        let (begin, end) = whole.get("").unwrap().counts.range.unwrap();
        for shift in [6, 11, 16] {
            let mut merged = merged(&file, shift);
            for pixel in [shift, shift + 1, shift + 4, shift + 9] {
                for part in 0..8 {
                    let width = 40 + part * 7;
                    let from = begin + (end - begin) / 9 * part - 5;
                    let to = from + width * ((1 << pixel) + 3);
                    let (expected, found) =
                        (lanes(&mut whole, from, to, width), lanes(&mut merged, from, to, width));
                    assert_eq!(found["pixel_ns"], (1u64 << pixel).to_string());
                    assert_eq!(found["merged_ns"], "0");
                    let (of_merged, of_records) = (rectangles(&found), rectangles(&expected));
                    assert_eq!(of_merged.len(), of_records.len());
                    for (row, (found, expected)) in of_merged.iter().zip(&of_records).enumerate() {
                        let differs = found.iter().zip(expected).find(|(found, expected)| found != expected);
                        assert_eq!(differs, None, "{shift} {pixel} {part} {row}");
                        assert_eq!(found.len(), expected.len(), "{shift} {pixel} {part} {row}");
                    }
                    let points = |lanes: &Value| -> Vec<Value> {
                        lanes["tracks"]
                            .as_array()
                            .unwrap()
                            .iter()
                            .map(|track| track["points"].clone())
                            .collect()
                    };
                    assert_eq!(points(&found), points(&expected), "{shift} {pixel} {part}");
                }
            }
        }
    }
}

#[test]
fn where_tiles_are_coarser_than_pixels_they_say_so_and_have_all_that_is_long() {
    let file = generated(3);
    let mut whole = open(&file);
    let (begin, end) = whole.get("").unwrap().counts.range.unwrap();
    let mut merged = merged(&file, 15);
    let expected = lanes(&mut whole, begin, end + 1, 8000);
    let found = lanes(&mut merged, begin, end + 1, 8000);
    assert_eq!((&expected["merged_ns"], &found["merged_ns"]), (&"0".into(), &"32768".into()));
    assert!(found["pixel_ns"].as_str().unwrap().parse::<u64>().unwrap() < 1 << 15);
    let (of_records, of_merged) = (rectangles(&expected), rectangles(&found));
    assert_eq!(of_records.len(), of_merged.len());
    let (mut long, mut fewer) = (0, 0);
    for (row, expected) in of_merged.iter().zip(&of_records) {
        let sum = |row: &[Rectangle]| row.iter().map(|rectangle| rectangle[3]).sum::<i64>();
        assert_eq!(sum(row), sum(expected));
        fewer += expected.len() - row.len();
        for rectangle in expected.iter().filter(|rectangle| rectangle[1] > 1 << 15) {
            long += 1;
            assert!(row.iter().any(|other| other[..3] == rectangle[..3]), "{rectangle:?}");
        }
    }
    assert!(long > 100 && fewer > 1000, "{long} {fewer}");

    // It has too many records for an answer: they are read a slice after the other.
    let mut steps = 0;
    let refined = loop {
        let found = lanes(&mut merged, begin, end + 1, 8000);
        if found["refining"] == false {
            break found;
        }
        assert_eq!(found["merged_ns"], "32768");
        assert!(rectangles(&found) == of_merged, "what is known is not replaced by a part of it");
        let view = merged.get("").unwrap();
        steps += (0..200).filter(|_| view.refine(&Slice::of(std::time::Duration::ZERO))).count();
    };
    assert!(steps > 10, "{steps}");
    assert_eq!(refined["merged_ns"], "0");
    assert_eq!(refined["tracks"], expected["tracks"]);
}

#[test]
fn async_spans_of_a_part_are_read_again_and_long_ones_keep_their_rows() {
    let file = generated(5);
    let (mut whole, mut merged) = (open(&file), merged(&file, 14));
    let (begin, end) = whole.get("").unwrap().counts.range.unwrap();
    let tracks = ask(&mut whole, "/api/tracks", "");
    let is_async = |track: &&Value| track["kind"] == "async";
    let id = tracks["tracks"].as_array().unwrap().iter().find(is_async).unwrap()["id"].clone();
    let (mut short, mut long, mut crossings) = (0, 0, 0);
    for part in 0..60 {
        let from = begin + (end - begin) / 60 * part;
        // A pixel of a nanosecond: nothing is merged.
        let rows = |views: &mut Views| {
            let query = format!("from={from}&to={}&width=8000&tracks={id}", from + 8000);
            let found = ask(views, "/api/lanes", &query);
            assert_eq!((&found["pixel_ns"], &found["merged_ns"]), (&"1".into(), &"0".into()));
            rectangles(&found)
        };
        let (expected, found) = (rows(&mut whole), rows(&mut merged));
        assert_eq!(found.len(), expected.len());
        let sorted = |rows: &[Vec<Rectangle>]| {
            let mut all: Vec<Rectangle> = rows.iter().flatten().copied().collect();
            all.sort_unstable();
            all
        };
        assert_eq!(sorted(&found), sorted(&expected), "{part}");
        for (found, expected) in found.iter().zip(&expected) {
            let end = |rectangle: &Rectangle| rectangle[0] + rectangle[1];
            let is_long = |rectangle: &&Rectangle| rectangle[1] >= 1 << 14;
            let crossing = found.windows(2).filter(|pair| end(&pair[0]) > pair[1][0]);
            // In which rows short ones lay depends on some that ended before.
            crossings += crossing.inspect(|pair| assert!(!is_long(&&pair[0]), "{part}: {found:?}")).count();
            let longs = |row: &[Rectangle]| row.iter().filter(is_long).copied().collect::<Vec<_>>();
            assert_eq!(longs(found), longs(expected), "{part}");
            long += longs(found).len();
            short += found.len() - longs(found).len();
        }
    }
    assert!(short > 50 && long > 50 && crossings * 20 < short, "{short} {long} {crossings}");
}

#[test]
fn what_has_not_been_read_is_read_ahead_a_slice_after_the_other() {
    let file = generated(4);
    let (mut whole, mut views) = (open(&file), begun(&file));
    views.get("").unwrap();
    let (begin, end) = views.get("").unwrap().range().unwrap();
    let from = views.get("").unwrap().read_to().unwrap() + 1;
    let known = lanes(&mut whole, from, end + 1, 300);
    let mut before = 0;
    let found = loop {
        let found = lanes(&mut views, from, end + 1, 300);
        // Nothing of it is known otherwise: it is shown as it comes.
        let sum: i64 = column(&found, "count")
            .zip(column(&found, "marks"))
            .filter(|(_, marks)| *marks & 8 == 0)
            .map(|(count, _)| count)
            .sum();
        assert!(sum >= before, "{sum} {before}");
        before = sum;
        if found["refining"] == false {
            break found;
        }
        let (pixel, unread) = (
            found["pixel_ns"].as_str().unwrap().parse::<i64>().unwrap(),
            column(&found, "begin").zip(column(&found, "marks")),
        );
        let first = unread.filter(|(_, marks)| *marks & 8 != 0).map(|(begin, _)| begin).min();
        assert!(first.is_some_and(|first| first >= -pixel));
        let view = views.get("").unwrap();
        assert!((0..20).filter(|_| view.refine(&Slice::of(std::time::Duration::ZERO))).count() > 0);
    };
    assert_eq!((&found["ahead"], &found["merged_ns"]), (&true.into(), &"0".into()));
    assert!(column(&found, "marks").all(|marks| marks & 8 == 0));
    let ids = ["begin", "duration", "site", "count", "level", "marks"];
    for name in ids {
        assert_eq!(
            column(&found, name).collect::<Vec<_>>(),
            column(&known, name).collect::<Vec<_>>(),
            "{name}"
        );
    }
    assert!(begin < from);
}

/// Of a column, of the records of all threads.
fn column<'v>(lanes: &'v Value, name: &'v str) -> impl Iterator<Item = i64> + 'v {
    let tracks = lanes["tracks"].as_array().unwrap().iter();
    let columns = tracks.filter_map(move |track| track["instants"][name].as_array());
    columns.flatten().map(|value| value.as_i64().unwrap())
}

#[test]
fn a_timeline_in_bounded_memory_is_merged_as_little_as_need_be() {
    let file = generated(5);
    let mut views = open(&file);
    let view = views.get("").unwrap();
    let (begin, end) = view.counts.range.unwrap();
    let all = 80_000 * 24;
    for room in [all / 2, all / 10, all / 100] {
        let mut timeline = crate::timeline::Timeline::with_room(room);
        // No record waits until all is merged: that of the largest takes half a million bytes away.
        let mut most_gone = 0;
        assert!(view.within((begin, end + 1), u64::MAX, |trace, event| {
            let before = timeline.bytes();
            timeline.add(trace, event);
            most_gone = before.saturating_sub(timeline.bytes()).max(most_gone);
        }));
        assert!((1..100_000).contains(&most_gone), "{most_gone} {room}");
        // It halves when it is full.
        let mut finer = crate::timeline::Timeline::default();
        assert!(view.within((begin, end + 1), u64::MAX, |trace, event| finer.add(trace, event)));
        finer.merge(timeline.shift() - 1);
        assert!(timeline.bytes() <= room, "{} {room}", timeline.bytes());
        assert!(finer.bytes() > room / 2, "{} {room}", finer.bytes());
    }
}

#[test]
fn records_are_read_again_only_as_far_as_their_bytes_allow() {
    const LARGE: usize = 200 << 10;
    let mut b = Builder::new();
    b.session(1, "/bin/p", 7);
    b.stream(1, 1, 9, "pump");
    b.site(1, 16, &log(Level::Info, "x", 1, "small", ""));
    b.site(1, 17, &log(Level::Info, "x", 2, "large {}", "s"));
    let value = crate::builder::text(&"y".repeat(LARGE));
    for number in 0..4000u64 {
        let (site, args): (u32, &[u8]) = if number % 20 == 0 { (17, &value) } else { (16, &[]) };
        b.record(1, 1, site, 1000 + number * 1000, args);
        if number % 40 == 39 {
            b.flush(1, 1, false);
        }
    }
    b.end();
    let file = Written::new(&b.bytes);
    let mut views = merged(&file, 22);
    let begin = views.get("").unwrap().counts.range.unwrap().0;
    let mut merged_ns = |from: i64, records: i64| {
        let found = lanes(&mut views, begin + from * 1000, begin + (from + records) * 1000, 1);
        found["merged_ns"].as_str().unwrap().to_owned()
    };
    // The surroundings are read, too: 4194 records on either side. So all of them, which are 40 MB.
    assert_eq!(merged_ns(2000, 100), "4194304");
    let view = views.get("").unwrap();
    let mut given = |from: i64, to: i64| {
        let mut given = 0;
        let done = view.within((begin + from * 1000, begin + to * 1000), u64::MAX, |_, _| given += 1);
        (done, given)
    };
    assert_eq!(given(0, 4000), (false, 0));
    assert_eq!(given(1000, 3000), (true, 2000));
}

#[test]
fn what_has_not_been_read_of_counters_and_async_spans_is_stated() {
    let file = generated(9);
    let mut views = begun(&file);
    // Counters and async spans are known as soon as one of their records has been read.
    while ask(&mut views, "/api/tracks", "")["total"].as_u64().unwrap() < 6 {
        views.get("").unwrap().work(&Slice::of(std::time::Duration::ZERO));
    }
    let view = views.get("").unwrap();
    let (begin, end) = view.range().unwrap();
    let read = view.read_to().unwrap();
    assert!(read < begin + (end - begin) / 4, "most has not been read");
    let length = end - begin;
    let kinds: Vec<(i64, String)> = ask(&mut views, "/api/tracks", "")["tracks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|track| (track["id"].as_i64().unwrap(), track["kind"].as_str().unwrap().to_owned()))
        .collect();
    let of_kind = |lanes: &Value, kind: &str| -> Vec<Value> {
        let tracks = lanes["tracks"].as_array().unwrap().iter();
        let is_kind = |track: &&Value| kinds.iter().any(|(id, of)| of == kind && track["id"] == *id);
        tracks.filter(is_kind).cloned().collect()
    };
    // Everything: too much to be read for the answer.
    let whole = lanes(&mut views, begin, end + 1, 500);
    let from: i64 = whole["from"].as_str().unwrap().parse().unwrap();
    assert_eq!(whole["ahead"], false);
    for kind in ["counter", "async"] {
        assert!(!of_kind(&whole, kind).is_empty());
        for track in of_kind(&whole, kind) {
            assert_eq!(track["unread_from"], read - from, "{kind}");
        }
    }
    for track in of_kind(&whole, "thread") {
        assert_eq!(track["unread_from"], Value::Null, "headers state what there is");
        assert!(track["instants"]["marks"].as_array().unwrap().contains(&8.into()));
    }
    // Open async spans are not said to last beyond what is known.
    for track in of_kind(&whole, "async") {
        for row in track["rows"].as_array().unwrap() {
            for (begin, duration) in
                row["begin"].as_array().unwrap().iter().zip(row["duration"].as_array().unwrap())
            {
                assert!(begin.as_i64().unwrap() + duration.as_i64().unwrap() <= read - from);
            }
        }
    }
    // Near the end records are read for the answer: all that lies in the range is there, and nothing of what was known long before.
    let near = |views: &mut Views| lanes(views, end - length / 50, end + 1, 500);
    let ahead = near(&mut views);
    assert_eq!(ahead["ahead"], true);
    let view = views.get("").unwrap();
    while view.has_more() {
        view.work(&Slice::of(std::time::Duration::from_millis(100)));
    }
    let known = near(&mut views);
    assert_eq!(known["ahead"], false);
    for (ahead, known) in of_kind(&ahead, "counter").iter().zip(of_kind(&known, "counter")) {
        assert_eq!(ahead["unread_from"], Value::Null);
        let points = |track: &Value, skipped| -> Vec<Value> {
            ["at", "min", "max", "last", "count"]
                .iter()
                .map(|name| track["points"][name].as_array().unwrap()[skipped..].into())
                .collect()
        };
        // The value before the range is not known.
        assert_eq!(points(ahead, 0), points(&known, 1));
    }
    for (ahead, known) in of_kind(&ahead, "async").iter().zip(of_kind(&known, "async")) {
        assert_eq!(ahead["unread_from"], Value::Null);
        let spans = |track: &Value| -> Vec<(i64, i64)> {
            let of_row = |row: &Value| -> Vec<(i64, i64)> {
                let column = |name: &str| -> Vec<i64> {
                    row[name].as_array().unwrap().iter().map(|value| value.as_i64().unwrap()).collect()
                };
                column("begin").into_iter().zip(column("duration")).collect()
            };
            track["rows"].as_array().unwrap().iter().flat_map(of_row).collect()
        };
        let (ahead, known) = (spans(ahead), spans(&known));
        assert!(!ahead.is_empty());
        // Open ones last to the end of the range, or to that of the trace.
        let begins: Vec<i64> = known.iter().map(|span| span.0).collect();
        assert!(ahead.iter().all(|span| begins.contains(&span.0)), "{ahead:?} {known:?}");
    }
}

#[test]
fn of_a_filter_what_has_not_been_read_is_stated_of_every_track() {
    let file = generated(11);
    let mut views = begun(&file);
    let found = ask(&mut views, "/api/trace", "filter=-l+error");
    let (begin, end) = views.get("").unwrap().range().unwrap();
    assert_eq!(found["progress"]["state"], "reading");
    let query = format!("filter=-l+error&from={begin}&to={end}&width=500&tracks=0");
    let lanes = ask(&mut views, "/api/lanes", &query);
    let read = views.get("-l error").unwrap().read_to().unwrap();
    let from: i64 = lanes["from"].as_str().unwrap().parse().unwrap();
    assert_eq!(lanes["tracks"][0]["unread_from"], read - from);
    let view = views.get("-l error").unwrap();
    while view.has_more() {
        view.work(&Slice::of(std::time::Duration::from_millis(100)));
    }
    assert_eq!(ask(&mut views, "/api/lanes", &query)["tracks"][0]["unread_from"], Value::Null);
}
