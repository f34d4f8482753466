//! Order, duplicates, several files, gaps.

use std::path::Path;

use proptest::prelude::*;
use silverpoint_trace::{Matter, Source, Trace, Verdict, What};
use silverpoint_wire::block::{BlockKind, LossInfo};
use silverpoint_wire::clock::Anchor;
use silverpoint_wire::level::Level;

use crate::builder::{Builder, log};
use crate::trace::{lines, open};

/// The numbers that the records of `site {}` carry, in the order of reading.
fn numbers(trace: &Trace) -> Vec<u64> {
    let mut events = trace.events();
    let mut numbers = Vec::new();
    while let Some(event) = events.next() {
        if let What::Record { args, .. } = event.what {
            numbers.push(u64::from_le_bytes(args[..8].try_into().unwrap()));
        }
    }
    numbers
}

fn builder(sessions: u32, streams: u32) -> Builder {
    let mut b = Builder::new();
    for session in 1..=sessions {
        b.session(session, "/bin/p", session);
        b.site(session, 16, &log(Level::Info, "", 1, "n {}", "L"));
        for stream in 1..=streams {
            b.stream(session, stream, stream, "");
        }
    }
    b
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any distribution of records over sessions, streams and blocks comes out in order of time; equal times by session and stream.
    #[test]
    fn the_merge_is_exact(
        steps in prop::collection::vec((1u32..4, 1u32..5, 0u64..3, any::<bool>(), any::<bool>()), 1..300)
    ) {
        let mut b = builder(3, 4);
        let mut ticks = 0;
        let mut expected = Vec::new();
        for (n, (session, stream, later, flush, compact)) in steps.into_iter().enumerate() {
            ticks += later;
            b.record(session, stream, 16, ticks, &(n as u64).to_le_bytes());
            expected.push((ticks, session, stream, n as u64));
            if flush {
                b.flush(session, stream, compact);
            }
        }
        for session in 1..4 {
            for stream in 1..5 {
                b.flush(session, stream, true);
            }
        }
        expected.sort();
        let expected: Vec<u64> = expected.into_iter().map(|(.., n)| n).collect();
        prop_assert_eq!(numbers(&open(&b.bytes)), expected);
    }
}

#[test]
fn blocks_that_occur_twice_are_given_once() {
    let mut b = builder(1, 1);
    for n in 0..3u64 {
        b.record(1, 1, 16, n, &n.to_le_bytes());
    }
    let before = b.bytes.len();
    b.flush(1, 1, false);
    let block = b.bytes[before..].to_vec();
    // As after a takeover that could not prove what was stored.
    b.bytes.extend_from_slice(&block);
    for n in 3..5u64 {
        b.record(1, 1, 16, n, &n.to_le_bytes());
    }
    b.flush(1, 1, false);
    assert_eq!(numbers(&open(&b.bytes)), [0, 1, 2, 3, 4]);
}

#[test]
fn the_same_session_in_several_files_is_one() {
    let file = |records: &[u64]| {
        let mut b = builder(1, 1);
        for n in 0..6u64 {
            if records.contains(&n) {
                b.record(1, 1, 16, n * 10, &n.to_le_bytes());
                b.flush(1, 1, false);
            } else {
                b.skip_ring(1, 1, 24);
            }
        }
        b.bytes
    };
    let source = |name: &str, bytes| Source::from_bytes(Path::new(name), bytes);
    let sources = vec![source("b", file(&[3, 4, 5])), source("a", file(&[0, 1, 2, 3]))];
    let trace = Trace::from_sources(sources).unwrap();
    assert_eq!(trace.sessions.len(), 1);
    assert_eq!(numbers(&trace), [0, 1, 2, 3, 4, 5]);
    // One file alone tells nothing missing but what lies between its own blocks.
    let trace = open(&file(&[0, 4]));
    let mut events = trace.events();
    while events.next().is_some() {}
    let [note] = events.notes() else { panic!("{:?}", events.notes()) };
    assert!(matches!(note.matter, Matter::MissingBytes { bytes: 72, .. }), "{note}");
    assert_eq!(events.verdict(), Verdict::Intact);
}

#[test]
fn losses_and_gaps_are_told() {
    let mut b = builder(1, 1);
    b.record(1, 1, 16, 10, &1u64.to_le_bytes());
    b.flush(1, 1, false);
    let (begin, end) = b.skip_ring(1, 1, 48);
    let mut gap = begin.to_le_bytes().to_vec();
    gap.extend_from_slice(&end.to_le_bytes());
    b.block(BlockKind::GAP, 1, 1, &gap);
    let mut loss = vec![2u8];
    for word in [5u64, 11, 2_000_011] {
        loss.extend_from_slice(&word.to_le_bytes());
    }
    b.record(1, 1, 1, 2_000_020, &loss);
    let mut stall = vec![0u8];
    stall.extend_from_slice(&1_500_000u64.to_le_bytes());
    b.record(1, 1, 2, 4_000_000, &stall);
    b.flush(1, 1, false);
    b.losses(1, &LossInfo { stream: 1, losses: [0, 0, 5, 0, 0, 0, 0, 0], stalls: 1, stall_ns: 1_500_000 });
    b.block(BlockKind::NOTE, 1, 0, b"ring of thread 1 ends at a contradiction");
    let trace = open(&b.bytes);
    let mut events = trace.events();
    let text = lines(&trace, &mut events);
    assert_eq!(events.verdict(), Verdict::Lossy);
    let notes: Vec<String> = trace.notes().iter().chain(events.notes()).map(ToString::to_string).collect();
    insta::assert_snapshot!(format!("{text}\n{}", notes.join("\n")));
}

#[test]
fn wall_clock_steps_do_not_disturb_the_order() {
    let mut b = builder(1, 2);
    // The wall clock is set back by a second between ticks 1000 and 2000.
    for (ticks, wall_ns) in [(1_000_000_000u64, 3_000_000_000u64), (2_000_000_000, 2_000_000_000)] {
        b.anchor_of(1, Anchor { ticks, monotonic_ns: 1_000_000 + ticks, wall_ns });
    }
    for n in 0..20u64 {
        b.record(1, 1 + (n % 2) as u32, 16, n * 150_000_000, &n.to_le_bytes());
    }
    b.flush(1, 1, false);
    b.flush(1, 2, false);
    assert_eq!(numbers(&open(&b.bytes)), (0..20).collect::<Vec<u64>>());
}

/// Their monotonic clock drifts away from wall time by four seconds a day, and they have no boot in common, as on Windows. The wall clock is
/// set back by a minute at noon, when the second did not run yet.
#[test]
fn sessions_without_a_boot_are_in_order_of_wall_time_after_a_day() {
    const SECOND: u64 = 1_000_000_000;
    const DAY: u64 = 86_400 * SECOND;
    let anchor = |ticks: u64| {
        let set_back = if ticks > DAY / 2 { 60 * SECOND } else { 0 };
        Anchor { ticks, monotonic_ns: ticks, wall_ns: DAY * 20_000 + ticks + ticks / 20_000 - set_back }
    };
    let mut b = Builder::new();
    for (session, hours) in [(1, 0..25), (2, 18..25)] {
        b.session_of(session, "app.exe", session, [0; 16]);
        b.site(session, 16, &log(Level::Info, "", 1, "n {}", "L"));
        b.stream(session, 1, 1, "");
        hours.for_each(|hour| b.anchor_of(session, anchor(DAY / 24 * hour)));
    }
    for n in 0..200u64 {
        // The first session alone around noon; both in the evening.
        let session = if n < 100 { 1 } else { 1 + (n % 2) as u32 };
        let ticks = if n < 100 { DAY / 2 + n * 80 * SECOND } else { DAY / 24 * 23 + n * SECOND / 100 };
        b.record(session, 1, 16, ticks, &n.to_le_bytes());
    }
    b.flush(1, 1, false);
    b.flush(2, 1, false);
    let trace = open(&b.bytes);
    let found = numbers(&trace);
    assert_eq!(found[..100], (0..100).collect::<Vec<u64>>());
    assert_eq!(trace.sessions[0].monotonic_ns(DAY), Some(DAY as i64));
    assert_eq!(found[100..], (100..200).collect::<Vec<u64>>());
}

#[test]
fn missing_blocks_are_counted() {
    let mut b = builder(1, 1);
    b.record(1, 1, 16, 1, &1u64.to_le_bytes());
    b.flush(1, 1, false);
    b.skip_block();
    b.skip_block();
    b.end();
    let trace = open(&b.bytes);
    assert_eq!(trace.notes().len(), 1);
    assert_eq!(trace.notes()[0].matter, Matter::MissingBlocks { first: 6, last: 7 });
    assert_eq!(trace.verdict(), Verdict::Damaged);
}
