//! Records that a capture could not see are reported and counted.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use silverpoint::{dynamic, event, info};
use silverpoint_testing::{Capture, Value};

use crate::alone;

/// One record of it has 16 bytes of header and 8 of number.
fn count(numbers: std::ops::Range<u64>) {
    for n in numbers {
        event!("count", n);
    }
}

const COUNT_BYTES: u64 = 24;

#[test]
fn what_was_overwritten() {
    const MADE: u64 = 100_000;
    let capture = Capture::start();
    count(0..MADE);
    let seen = capture.expect_event("count").at_least(1).len() as u64;
    let losses = capture.losses();
    assert!(seen < MADE && !losses.is_none());
    assert_eq!(losses.records(), 0, "all were made");
    assert_eq!(losses.missed_rings(), 0);
    // Exact, but for the few bytes that fill a ring up at its end.
    let missed = MADE - seen;
    let pads = losses.overwritten_bytes() - missed * COUNT_BYTES;
    assert!(pads < COUNT_BYTES * (1 + MADE * COUNT_BYTES / (64 << 10)), "{pads}");
    // What is there is in order, the latest included. (Not in one piece: the small rings that the thread had first are kept beside the large one.)
    let numbers: Vec<i128> = capture.events().iter().map(|record| record["n"].as_i128().unwrap()).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b));
    assert_eq!((numbers.len() as u64, numbers.last()), (seen, Some(&i128::from(MADE - 1))));
    // What depends on the others fails, and says how much is missing.
    let note = format!(
        "note: this is uncertain, because records were lost: {} bytes overwritten (the ring holds the latest only",
        losses.overwritten_bytes()
    );
    let message = capture.expect_event("count").with("n", MADE - 1).check_once().unwrap_err();
    assert!(message.contains(&note), "{message}");
    let message = capture.expect_event("count").with("n", MADE).check_once().unwrap_err();
    assert!(message.contains(&note), "{message}");
    for (times, is_met) in [(seen as usize, true), (seen as usize + 1, false)] {
        let attempt = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            capture.expect_event("count").at_least(times);
        }));
        assert_eq!(attempt.is_ok(), is_met);
    }
    // A new beginning.
    capture.clear();
    assert!(capture.losses().is_none());
    count(0..1);
    capture.expect_event("count").once();
}

#[test]
fn who_looks_often_misses_nothing() {
    let capture = Capture::start();
    for part in 0..10 {
        count(part * 10_000..(part + 1) * 10_000);
        assert!(capture.losses().is_none(), "part {part}: {}", capture.losses());
    }
    let numbers: Vec<Value> = capture.events().iter().map(|record| record["n"].clone()).collect();
    assert_eq!(numbers.len(), 100_000);
    assert!(numbers.iter().zip(0_u64..).all(|(number, expected)| *number == expected));
}

#[test]
fn a_million_is_kept() {
    // They take hundreds of megabytes.
    if !alone("losses::a_million_is_kept", &[]) {
        return;
    }
    let capture = Capture::start();
    for _ in 0..101 {
        for _ in 0..10_000 {
            info!("one of many");
        }
        capture.losses();
    }
    assert_eq!(capture.losses().beyond_limit(), 10_000);
    assert_eq!(capture.losses().to_string(), "10000 records beyond the million that a capture keeps");
    capture.clear();
    assert!(capture.losses().is_none());
}

/// Records while it is being recorded, so many deep.
struct Chatty(u32);

impl fmt::Display for Chatty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(depth) = self.0.checked_sub(1) {
            let inner = Chatty(depth);
            info!(%inner, "inside");
        }
        f.write_str("chatty")
    }
}

/// A record within a record, so deep: as if signal handlers had interrupted each other.
fn nest(site: u32, depth: u64) {
    let _ = dynamic::record_short(2, site, |encoder| {
        if depth > 0 {
            nest(site, depth - 1);
        }
        encoder.u64(depth);
    });
}

#[test]
fn what_was_never_made() {
    let capture = Capture::start();
    let other = thread::spawn(|| {
        info!("ready");
        let capture = Capture::start();
        info!("set");
        (capture.losses(), capture)
    });
    let (_, other) = other.join().unwrap();
    // Values are looked at beside the ring: a record within a record costs none, however deep.
    let chatty = Chatty(4);
    info!(%chatty, "outside");
    assert!(capture.losses().is_none(), "{}", capture.losses());
    assert!(!capture.expect("inside").at_least(4).is_empty());
    capture.clear();
    // A thread has four rings, one within the other.
    let site = dynamic::register(&dynamic::Description {
        kind: 2,
        level: 2,
        language: 2,
        line: line!(),
        category: module_path!(),
        file: file!(),
        function: "",
        names: &|give| give(b"value\n"),
        template: &|give| give(b"outside"),
        signature: &|give| give(b"L"),
    })
    .id;
    nest(site, 4);
    let losses = capture.losses();
    let [(cause, lost)] = losses.by_cause().collect::<Vec<_>>()[..] else { panic!("{losses}") };
    assert_eq!((cause, losses.records()), ("nested", lost));
    assert!(lost > 0);
    capture.expect("outside").at_least(1);
    let message = capture.expect("outside").check_once().unwrap_err();
    assert!(message.contains("not made (nested)"), "{message}");
    assert!(other.losses().is_none(), "another thread's: {}", other.losses());
    capture.clear();
    assert!(capture.losses().is_none());
}

#[test]
fn rings_that_came_and_went() {
    if !alone("losses::rings_that_came_and_went", &[]) {
        return;
    }
    let capture = Capture::builder().all_threads().start();
    let begin = |n: u64| thread::spawn(move || count(n..n + 1)).join().unwrap();
    for n in 0..20 {
        begin(n);
        assert!(capture.losses().is_none(), "{}", capture.losses());
    }
    capture.expect_event("count").times(20);
    capture.clear();
    // Without a look between them some go the way of their slices.
    (0..500).for_each(begin);
    let seen = capture.records().len() as u64;
    let losses = capture.losses();
    assert_eq!(
        seen + losses.missed_rings() + losses.overwritten_bytes() / COUNT_BYTES,
        500,
        "{seen} {losses}"
    );
}

#[test]
fn while_it_is_looked_at() {
    // A thread that always records, faster than it is read: what is seen is true, and what is not seen is
    // reported.
    if !alone("losses::while_it_is_looked_at", &[]) {
        return;
    }
    static STOP: AtomicBool = AtomicBool::new(false);
    let capture = Capture::builder().all_threads().start();
    let writer = thread::spawn(|| {
        let mut n = 0_u64;
        while !STOP.load(Ordering::Relaxed) {
            event!("pair", n, twice = n * 2);
            n += 1;
        }
        n
    });
    let mut seen = 0;
    let mut last = None;
    for _ in 0..200 {
        for record in capture.records() {
            let n = record["n"].as_i128().unwrap();
            assert_eq!(record["twice"], n * 2);
            assert!(last.is_none_or(|last| last < n), "{last:?} {n}");
            last = Some(n);
            seen += 1;
        }
        assert_eq!(capture.losses().damaged(), 0);
        if capture.losses().is_none() {
            assert_eq!(last.map_or(0, |n| n + 1), seen, "nothing lost, no hole");
            capture.clear();
        } else {
            break;
        }
    }
    STOP.store(true, Ordering::Relaxed);
    let made = i128::from(writer.join().unwrap());
    assert!(seen <= made);
}
