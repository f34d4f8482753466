//! Spans that end in another thread than they began in, and the begins that ends of written trace files name.

use std::collections::HashMap;

use serde_json::Value;
use silverpoint_trace::What;
use silverpoint_wire::block::{BlockKind, push_anchor};
use silverpoint_wire::clock::Anchor;
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::site::SiteDescription;

use crate::builder::{Builder, EPOCH_NS, log};
use crate::support::{convert, with_reader};

const TICKS: u64 = 10_000;

fn span(name: &str) -> SiteDescription {
    SiteDescription { kind: Kind::Span, ..log(Level::Info, "net", 1, name, "") }
}

/// The thread 8 begins `job` and others, the thread 9 ends it within its own.
fn sample() -> Vec<u8> {
    let mut b = Builder::new();
    b.session(1, "/bin/p", 7);
    // The clock is corrected: a difference of times is no duration.
    let mut anchors = Vec::new();
    for (ticks, ns) in [(TICKS, TICKS + 3), (100 * TICKS, 100 * TICKS + 150), (200 * TICKS, 200 * TICKS - 70)]
    {
        let anchor = Anchor { ticks, monotonic_ns: 1_000_000 + ns, wall_ns: EPOCH_NS + ns };
        push_anchor(&mut anchors, &anchor);
    }
    b.block(BlockKind::ANCHORS, 1, 0, &anchors);
    for (id, name) in [(16, "outer"), (17, "job"), (18, "inner"), (19, "own")] {
        b.site(1, id, &span(name));
    }
    b.stream(1, 1, 8, "first");
    b.stream(1, 2, 9, "second");
    let at = |number: u64| number * TICKS + number % 7;
    b.record(1, 1, 16, at(1), &[]);
    b.record(1, 1, 17, at(2), &[]);
    b.record(1, 1, 18, at(3), &[]);
    b.record(1, 2, 19, at(4), &[]);
    // Of the same site, and ended behind the other.
    b.record(1, 2, 17, at(5), &[]);
    b.span_end(1, 1, 18, at(3), at(6));
    b.span_end(1, 2, 17, at(2), at(150));
    b.record(1, 1, 18, at(160), &[]);
    b.span_end(1, 1, 18, at(160), at(161));
    b.span_end(1, 2, 17, at(5), at(170));
    b.span_end(1, 2, 19, at(4), at(180));
    b.span_end(1, 1, 16, at(1), at(190));
    b.flush(1, 1, true);
    b.flush(1, 2, true);
    b.end();
    b.bytes
}

/// Of each thread: which spans were open for how many microseconds, in the order of their ends.
fn shown(format: &str, bytes: &[u8]) -> HashMap<u64, Vec<(String, u64)>> {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let events: Vec<(u64, bool, String, f64)> = match format {
        "chrome" => {
            let value: Value = serde_json::from_str(&text).unwrap();
            let events = value["traceEvents"].as_array().unwrap().iter();
            let events = events.filter(|event| matches!(event["ph"].as_str(), Some("B" | "E")));
            let one = |event: &Value| {
                let name = event["name"].as_str().unwrap_or_default().to_owned();
                let us = event["ts"].as_f64().unwrap() - EPOCH_NS as f64 / 1000.0;
                (event["tid"].as_u64().unwrap(), event["ph"] == "E", name, us)
            };
            events.map(one).collect()
        }
        _ => {
            let lines = text.lines().filter_map(|line| {
                let (head, message) = line.split_once(": tracing_mark_write: ")?;
                let us = head.rsplit_once(' ')?.1.split_once('.')?;
                let us = us.0.parse::<f64>().ok()? * 1e6 + us.1.parse::<f64>().ok()?;
                let (thread, tid) = head.trim_start().split_once(" (")?.0.trim_end().rsplit_once('-')?;
                assert_eq!(thread, if tid == "8" { "first" } else { "second" }, "{line}");
                let mut parts = message.split('|');
                let letter = parts.next()?;
                let name = parts.nth(1).unwrap_or_default().to_owned();
                matches!(letter, "B" | "E").then(|| (tid.parse().unwrap(), letter == "E", name, us))
            });
            lines.collect()
        }
    };
    let mut open: HashMap<u64, Vec<(String, f64)>> = HashMap::new();
    let mut ended: HashMap<u64, Vec<(String, u64)>> = HashMap::new();
    for (tid, is_end, name, us) in events {
        if is_end {
            let (begun, from) = open.get_mut(&tid).and_then(Vec::pop).unwrap_or_else(|| panic!("{text}"));
            assert!(name.is_empty() || name == begun, "{text}");
            ended.entry(tid).or_default().push((begun, (us - from).round() as u64));
        } else {
            open.entry(tid).or_default().push((name, us));
        }
    }
    assert!(open.values().all(Vec::is_empty), "{text}");
    ended
}

#[test]
fn a_span_that_ends_in_another_thread_is_shown_where_it_began() {
    let bytes = sample();
    let lines = convert("silver", &bytes, "jsonl").unwrap();
    for (from, bytes) in [("silver", &bytes), ("jsonl", &lines)] {
        for format in ["chrome", "systrace"] {
            let found = shown(format, &convert(from, bytes, format).unwrap());
            let near = |tid: u64, expected: &[(&str, u64)]| {
                let found = &found[&tid];
                assert_eq!(found.len(), expected.len(), "{from} {format} {found:?}");
                for ((name, us), (expected, ticks)) in found.iter().zip(expected) {
                    assert_eq!(name, expected, "{from} {format} {found:?}");
                    assert!(us.abs_diff(ticks * 10) <= 1, "{from} {format} {found:?}");
                }
            };
            near(8, &[("inner", 3), ("job", 148), ("inner", 1), ("outer", 189)]);
            near(9, &[("job", 165), ("own", 176)]);
        }
    }
}

/// Of a trace file: how many ends name exactly the begin of a span of the same site, and how many do not.
fn pairs(bytes: &[u8]) -> (usize, usize) {
    with_reader("silver", bytes, |reader| {
        let (mut begins, mut found) = (HashMap::new(), (0, 0));
        while reader.advance().unwrap() {
            let record = reader.record().unwrap();
            let key = |site: usize, ticks: u64| (record.process_number, site, ticks);
            match record.what {
                What::Record { site, site_number, .. } if site.kind() == Kind::Span => {
                    *begins.entry(key(site_number, record.ticks.unwrap())).or_insert(0) += 1;
                }
                What::SpanEnd { site_number: Some(site), begin_ticks, .. } => {
                    match begins.get_mut(&key(site, begin_ticks)).filter(|count| **count > 0) {
                        Some(count) => {
                            *count -= 1;
                            found.0 += 1;
                        }
                        None => found.1 += 1,
                    }
                }
                _ => {}
            }
        }
        found
    })
}

/// Durations are rounded, and clocks are corrected between a begin and its end: half of the ends had named a begin that is none.
#[test]
fn ends_in_a_written_trace_file_name_their_begins() {
    let bytes = sample();
    assert_eq!(pairs(&bytes), (6, 0));
    let lines = convert("silver", &bytes, "jsonl").unwrap();
    for (from, bytes) in [("silver", &bytes), ("jsonl", &lines)] {
        assert_eq!(pairs(&convert(from, bytes, "silver").unwrap()), (6, 0), "{from}");
    }
}

/// The begin of an async span names the ticks of its first part.
#[test]
fn a_written_trace_file_names_the_first_part_of_an_async_span() {
    let mut b = Builder::new();
    b.session(1, "/bin/p", 7);
    let mut anchors = Vec::new();
    push_anchor(&mut anchors, &Anchor { ticks: 3000, monotonic_ns: 1_001_000, wall_ns: EPOCH_NS + 1000 });
    b.block(BlockKind::ANCHORS, 1, 0, &anchors);
    b.site(1, 16, &SiteDescription { language: 2, ..span("task") });
    let names = "span.id\nspan.begun\n".into();
    let late = SiteDescription {
        kind: Kind::AsyncBegin,
        language: 2,
        names,
        ..log(Level::Info, "net", 1, "task", "LL")
    };
    b.site(1, 17, &late);
    b.stream(1, 1, 8, "first");
    b.record(1, 1, 16, 3001, &[]);
    b.span_end(1, 1, 16, 3001, 3100);
    b.record(1, 1, 17, 3200, &[40_u64.to_le_bytes(), 3001_u64.to_le_bytes()].concat());
    b.flush(1, 1, true);
    b.end();
    let written = convert("silver", &b.bytes, "silver").unwrap();
    with_reader("silver", &written, |reader| {
        let (mut begun, mut named) = (None, None);
        while reader.advance().unwrap() {
            let record = reader.record().unwrap();
            if let What::Record { site, args, .. } = record.what {
                match site.kind() {
                    Kind::Span => begun = record.ticks,
                    _ => named = args.get(8..16).map(|word| u64::from_le_bytes(word.try_into().unwrap())),
                }
            }
        }
        assert!(begun.is_some_and(|ticks| ticks > EPOCH_NS));
        assert_eq!(named, begun);
    });
}
