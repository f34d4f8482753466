//! Following a file that grows: everything comes once, in order, as soon as the watermarks allow.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

use proptest::prelude::*;
use silverpoint_query::filter::{Filter, WhoPattern};
use silverpoint_trace::{Event, Follow, Trace, Watcher, What};
use silverpoint_wire::block::BlockKind;
use silverpoint_wire::level::Level;
use tempfile::TempDir;

use crate::builder::{Builder, log};

/// Keeps the numbers that the records carry.
#[derive(Default)]
struct Seen(Vec<u64>);

impl Watcher for Seen {
    fn begin(&mut self, _: &Trace) {}

    fn event(&mut self, event: &Event<'_>) -> bool {
        if let What::Record { args, .. } = event.what {
            self.0.push(u64::from_le_bytes(args[..8].try_into().unwrap()));
        }
        true
    }
}

/// A file of one trace; its folder is removed with it.
struct Temporary(PathBuf, #[expect(dead_code)] TempDir);

impl Temporary {
    fn new() -> Self {
        let folder = TempDir::with_prefix("silverpoint-follow-").unwrap();
        Self(folder.path().join("trace.silver"), folder)
    }
}

fn begin(b: &mut Builder) {
    b.session(1, "/bin/p", 1);
    b.site(1, 16, &log(Level::Info, "", 1, "n {}", "L"));
    b.stream(1, 1, 1, "");
    b.stream(1, 2, 2, "");
}

fn record(b: &mut Builder, stream: u32, number: u64) {
    b.record(1, stream, 16, number * 10, &number.to_le_bytes());
}

fn watermark(b: &mut Builder, ticks: u64) {
    b.block(BlockKind::WATERMARK, 1, 0, &ticks.to_le_bytes());
}

#[test]
fn watermarks_bound_what_is_given() {
    let path = Temporary::new();
    let mut b = Builder::new();
    begin(&mut b);
    for n in [1, 4] {
        record(&mut b, 1, n);
    }
    b.flush(1, 1, false);
    watermark(&mut b, 20);
    let first = b.bytes.len();
    for n in [2, 3, 6] {
        record(&mut b, 2, n);
    }
    b.flush(1, 2, true);
    watermark(&mut b, 50);
    // The next block has been written in part.
    let second = b.bytes.len() + 50;
    record(&mut b, 1, 7);
    b.flush(1, 1, false);
    watermark(&mut b, u64::MAX);
    b.end();

    let mut file = File::create(&path.0).unwrap();
    file.write_all(&b.bytes[..first]).unwrap();
    let mut follow = Follow::open(std::slice::from_ref(&path.0), &Filter::default()).unwrap();
    let mut seen = Seen::default();
    follow.poll(&mut seen).unwrap();
    assert_eq!(seen.0, [1], "4 must wait: 2 or 3 may come from another thread");
    file.write_all(&b.bytes[first..second]).unwrap();
    follow.poll(&mut seen).unwrap();
    assert_eq!(seen.0, [1, 2, 3, 4]);
    file.write_all(&b.bytes[second..]).unwrap();
    let notes = follow.poll(&mut seen).unwrap();
    assert_eq!(seen.0, [1, 2, 3, 4, 6, 7]);
    assert!(notes.is_empty(), "{notes:?}");
    follow.poll(&mut seen).unwrap();
    assert_eq!(seen.0.len(), 6);
}

#[test]
fn the_next_part_is_found() {
    let path = Temporary::new();
    let mut b = Builder::new();
    begin(&mut b);
    record(&mut b, 1, 1);
    b.flush(1, 1, false);
    watermark(&mut b, 1000);
    fs::write(&path.0, &b.bytes).unwrap();
    let mut follow = Follow::open(std::slice::from_ref(&path.0), &Filter::default()).unwrap();
    let mut seen = Seen::default();
    follow.poll(&mut seen).unwrap();
    fs::rename(&path.0, path.0.with_extension("1.silver")).unwrap();
    let mut next = Builder::new();
    begin(&mut next);
    next.skip_ring(1, 1, 24);
    record(&mut next, 1, 101);
    next.flush(1, 1, false);
    watermark(&mut next, u64::MAX);
    fs::write(&path.0, &next.bytes).unwrap();
    follow.poll(&mut seen).unwrap();
    assert_eq!(seen.0, [1, 101]);
}

/// Two parts may have had the name since the last look, and the one that was read may have grown before it lost the name.
#[test]
fn parts_between_two_looks_are_not_skipped() {
    let path = Temporary::new();
    let directory_entry = |n: u32| path.0.with_extension(format!("{n}.silver"));
    let part = |number: u64, previous: Option<u32>, records: &[u64]| {
        let mut b = Builder::new();
        if let Some(previous) = previous {
            let name = directory_entry(previous).file_name().unwrap().to_str().unwrap().to_owned();
            b = Builder::part(number, &name);
        }
        begin(&mut b);
        b.skip_ring(1, 1, 24 * (records[0] - 1));
        for n in records {
            record(&mut b, 1, *n);
        }
        b
    };
    let mut first = part(1, None, &[1]);
    first.flush(1, 1, false);
    watermark(&mut first, 15);
    fs::write(&path.0, &first.bytes).unwrap();
    let mut follow = Follow::open(std::slice::from_ref(&path.0), &Filter::default()).unwrap();
    let mut seen = Seen::default();
    follow.poll(&mut seen).unwrap();
    assert_eq!(seen.0, [1]);

    record(&mut first, 1, 2);
    first.flush(1, 1, false);
    fs::write(&path.0, &first.bytes).unwrap();
    for (rotated, records) in [(1, [3, 4]), (2, [5, 6]), (3, [7, 8])] {
        fs::rename(&path.0, directory_entry(rotated)).unwrap();
        let mut next = part(u64::from(rotated) + 1, Some(rotated), &records);
        next.flush(1, 1, false);
        watermark(&mut next, if rotated == 3 { u64::MAX } else { records[1] * 10 });
        fs::write(&path.0, &next.bytes).unwrap();
    }
    let notes = follow.poll(&mut seen).unwrap();
    assert_eq!(seen.0, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert!(notes.is_empty(), "{notes:?}");
}

/// A block of one record.
fn go_on(b: &mut Builder, number: u64) {
    record(b, 1, number);
    b.flush(1, 1, false);
}

/// Its end is not that of the trace: another collector goes on in it, at any time and more than once.
#[test]
fn a_closed_file_that_goes_on_is_followed() {
    let path = Temporary::new();
    let mut b = Builder::new();
    begin(&mut b);
    go_on(&mut b, 1);
    b.end();
    fs::write(&path.0, &b.bytes).unwrap();
    let mut follow = Follow::open(std::slice::from_ref(&path.0), &Filter::default()).unwrap();
    let mut seen = Seen::default();
    for last in 1..=4 {
        assert_eq!(follow.poll_all(&mut seen).unwrap(), []);
        assert_eq!(seen.0, (1..=last).collect::<Vec<_>>());
        // Its next end is written at once, or later.
        go_on(&mut b, last + 1);
        if last % 2 == 0 {
            b.end();
        }
        let mut file = File::options().write(true).open(&path.0).unwrap();
        file.write_all(&b.bytes).unwrap();
    }
    follow.poll_all(&mut seen).unwrap();
    assert_eq!(seen.0, [1, 2, 3, 4, 5]);
}

/// The same when it was rotated away before anybody looked again.
#[test]
fn a_closed_file_that_went_on_and_was_rotated_is_not_skipped() {
    let path = Temporary::new();
    let mut b = Builder::new();
    begin(&mut b);
    go_on(&mut b, 1);
    b.end();
    fs::write(&path.0, &b.bytes).unwrap();
    let mut follow = Follow::open(std::slice::from_ref(&path.0), &Filter::default()).unwrap();
    let mut seen = Seen::default();
    follow.poll_all(&mut seen).unwrap();
    go_on(&mut b, 2);
    b.end();
    let mut file = File::options().write(true).open(&path.0).unwrap();
    file.write_all(&b.bytes).unwrap();
    let rotated = path.0.with_extension("1.silver");
    fs::rename(&path.0, &rotated).unwrap();
    let mut next = Builder::part(2, rotated.file_name().unwrap().to_str().unwrap());
    begin(&mut next);
    next.skip_ring(1, 1, 48);
    go_on(&mut next, 3);
    fs::write(&path.0, &next.bytes).unwrap();
    assert_eq!(follow.poll_all(&mut seen).unwrap(), []);
    assert_eq!(seen.0, [1, 2, 3]);
}

/// A ring that was used before begins its next stream where the one before ended.
#[test]
fn a_stream_that_is_declared_before_its_first_block_lacks_nothing() {
    let path = Temporary::new();
    let mut b = Builder::new();
    begin(&mut b);
    record(&mut b, 1, 1);
    b.flush(1, 1, false);
    let declared = b.bytes.len();
    b.skip_ring(1, 2, 96);
    record(&mut b, 2, 2);
    b.flush(1, 2, false);
    watermark(&mut b, u64::MAX);
    b.end();
    fs::write(&path.0, &b.bytes[..declared]).unwrap();
    let mut follow = Follow::open(std::slice::from_ref(&path.0), &Filter::default()).unwrap();
    let mut seen = Seen::default();
    assert_eq!(follow.poll_all(&mut seen).unwrap(), []);
    let positions: Vec<_> = follow.positions().collect();
    assert_eq!(positions, [([1; 16], 1, 24)], "the begin of stream 2 is unknown");
    fs::write(&path.0, &b.bytes).unwrap();
    assert_eq!(follow.poll_all(&mut seen).unwrap(), []);
    assert_eq!(seen.0, [1, 2]);
}

/// Keeps what the thread of each record is called.
#[derive(Default)]
struct Called(Vec<(u64, String)>);

impl Watcher for Called {
    fn begin(&mut self, _: &Trace) {}

    fn event(&mut self, event: &Event<'_>) -> bool {
        if let What::Record { args, .. } = event.what {
            let number = u64::from_le_bytes(args[..8].try_into().unwrap());
            self.0.push((number, event.thread_name.to_owned()));
        }
        true
    }
}

/// What one that goes on behind the first half gives, of all threads and of those called `worker`.
fn called_after_resuming(first: &Builder, whole: &Builder) -> [Vec<(u64, String)>; 2] {
    let path = Temporary::new();
    fs::write(&path.0, &first.bytes).unwrap();
    let mut before = Follow::open(std::slice::from_ref(&path.0), &Filter::default()).unwrap();
    before.poll_all(&mut Seen::default()).unwrap();
    let positions: Vec<_> = before.positions().collect();
    fs::write(&path.0, &whole.bytes).unwrap();
    let workers = Filter { threads: vec![WhoPattern::parse("worker")], ..Filter::default() };
    [Filter::default(), workers].map(|filter| {
        let mut after = Follow::open(std::slice::from_ref(&path.0), &filter).unwrap();
        after.resume(&positions);
        let mut called = Called::default();
        assert_eq!(after.poll_all(&mut called).unwrap(), []);
        called.0
    })
}

#[test]
fn a_thread_keeps_the_name_of_its_description_after_resuming() {
    let mut first = Builder::new();
    begin(&mut first);
    first.stream(1, 3, 3, "worker");
    record(&mut first, 3, 1);
    first.flush(1, 3, false);
    let mut whole = Builder::new();
    begin(&mut whole);
    whole.stream(1, 3, 3, "worker");
    for n in [1, 2] {
        record(&mut whole, 3, n);
        whole.flush(1, 3, false);
    }
    let expected = vec![(2, "worker".to_owned())];
    assert_eq!(called_after_resuming(&first, &whole), [expected.clone(), expected]);
}

#[test]
fn a_thread_keeps_the_name_that_a_record_gave_before_resuming() {
    let build = |all: bool| {
        let mut b = Builder::new();
        begin(&mut b);
        b.stream(1, 3, 3, "first");
        b.thread_name(1, 3, 5, "early");
        record(&mut b, 3, 1);
        b.thread_name(1, 3, 15, "worker");
        b.flush(1, 3, false);
        record(&mut b, 3, 2);
        b.flush(1, 3, false);
        if all {
            record(&mut b, 3, 3);
            b.thread_name(1, 3, 35, "other");
            record(&mut b, 3, 4);
            b.flush(1, 3, true);
        }
        b
    };
    let (worker, other) = ((3, "worker".to_owned()), (4, "other".to_owned()));
    let expected = [vec![worker.clone(), other], vec![worker]];
    assert_eq!(called_after_resuming(&build(false), &build(true)), expected);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// However the file grows, all records come exactly once and in order.
    #[test]
    fn any_growth(
        steps in prop::collection::vec((1u32..3, any::<bool>(), any::<bool>()), 1..80),
        pieces in prop::collection::vec(1usize..400, 1..30),
    ) {
        let path = Temporary::new();
        let mut b = Builder::new();
        begin(&mut b);
        for (n, (stream, flush, mark)) in steps.iter().enumerate() {
            record(&mut b, *stream, n as u64);
            if *flush || *mark {
                b.flush(1, *stream, n % 2 == 0);
            }
            if *mark {
                // All streams have been looked at.
                b.flush(1, 3 - *stream, false);
                watermark(&mut b, n as u64 * 10);
            }
        }
        b.flush(1, 1, false);
        b.flush(1, 2, false);
        watermark(&mut b, u64::MAX);
        let mut file = File::create(&path.0).unwrap();
        let mut rest = &b.bytes[..];
        let first = rest.len().min(200);
        file.write_all(&rest[..first]).unwrap();
        rest = &rest[first..];
        let mut follow = Follow::open(std::slice::from_ref(&path.0), &Filter::default()).unwrap();
        let mut seen = Seen::default();
        for piece in pieces.iter().cycle() {
            prop_assert!(follow.poll(&mut seen).unwrap().is_empty());
            if rest.is_empty() {
                break;
            }
            let (now, later) = rest.split_at(rest.len().min(*piece));
            file.write_all(now).unwrap();
            rest = later;
        }
        prop_assert_eq!(seen.0, (0..steps.len() as u64).collect::<Vec<_>>());
    }
}

/// An index repeats the headers of earlier blocks: where it is half written, they were taken for blocks behind damage.
#[test]
fn an_index_that_is_being_written_is_no_damage() {
    const RECORDS: u64 = 60;
    let mut b = Builder::new();
    begin(&mut b);
    for number in 0..RECORDS {
        record(&mut b, 1, number);
        b.flush(1, 1, false);
    }
    let body = b.bytes.len();
    b.end_with_index();
    let path = Temporary::new();
    for cut in (body + 8..b.bytes.len()).step_by(8) {
        fs::write(&path.0, &b.bytes[..body]).unwrap();
        let mut follow = Follow::open(std::slice::from_ref(&path.0), &Filter::default()).unwrap();
        let mut seen = Seen::default();
        assert!(follow.poll_all(&mut seen).unwrap().is_empty());
        for end in [cut, b.bytes.len()] {
            fs::write(&path.0, &b.bytes[..end]).unwrap();
            assert!(follow.poll_all(&mut seen).unwrap().is_empty(), "cut at {cut} of {}", b.bytes.len());
        }
        assert_eq!(seen.0, (0..RECORDS).collect::<Vec<_>>(), "cut at {cut}");
    }
}

/// A poll may fall between any two bytes of a block that is being written. The file may have grown by many
/// blocks before the poll ends.
#[test]
fn blocks_that_are_being_written_are_no_damage() {
    const RECORDS: u64 = 30_000;
    let mut b = Builder::new();
    begin(&mut b);
    for number in 1..=RECORDS {
        record(&mut b, 1, number);
        b.flush(1, 1, false);
    }
    b.end();
    let path = Temporary::new();
    let (bytes, name) = (b.bytes, path.0.clone());
    fs::write(&name, &bytes[..100]).unwrap();
    let writer = std::thread::spawn(move || {
        let mut file = File::options().append(true).open(name).unwrap();
        // Never at a block's end for long.
        bytes[100..].chunks(1061).for_each(|part| file.write_all(part).unwrap());
    });
    let mut follow = Follow::open(std::slice::from_ref(&path.0), &Filter::default()).unwrap();
    let mut seen = Seen::default();
    while (seen.0.len() as u64) < RECORDS {
        let notes = follow.poll_all(&mut seen).unwrap();
        assert!(notes.is_empty(), "after {} records: {notes:?}", seen.0.len());
    }
    writer.join().unwrap();
    assert_eq!(seen.0, (1..=RECORDS).collect::<Vec<_>>());
}

/// As [`Seen`], with a limit for each look.
struct SeenUpTo(Vec<u64>, usize);

impl Watcher for SeenUpTo {
    fn begin(&mut self, _: &Trace) {}

    fn event(&mut self, event: &Event<'_>) -> bool {
        if let What::Record { args, .. } = event.what {
            self.0.push(u64::from_le_bytes(args[..8].try_into().unwrap()));
        }
        self.0.len() < self.1
    }
}

/// Who stops within a block goes on with what was read: the file has other bytes by then.
#[test]
fn a_block_that_is_left_half_given_is_not_read_again() {
    let path = Temporary::new();
    let mut b = Builder::new();
    begin(&mut b);
    for n in 1..=6 {
        record(&mut b, 1 + (n % 2) as u32, n);
    }
    let before = b.bytes.len();
    b.flush(1, 1, false);
    b.flush(1, 2, false);
    watermark(&mut b, u64::MAX);
    let whole = b.bytes.clone();
    fs::write(&path.0, &whole).unwrap();
    let mut follow = Follow::open(std::slice::from_ref(&path.0), &Filter::default()).unwrap();
    let mut seen = SeenUpTo(Vec::new(), 3);
    assert_eq!(follow.poll_all(&mut seen).unwrap(), []);
    assert_eq!(seen.0, [1, 2, 3]);
    let mut damaged = whole.clone();
    damaged[before..].iter_mut().for_each(|byte| *byte = !*byte);
    fs::write(&path.0, damaged).unwrap();
    seen.1 = 6;
    follow.poll_all(&mut seen).unwrap();
    assert_eq!(seen.0, [1, 2, 3, 4, 5, 6]);
}
