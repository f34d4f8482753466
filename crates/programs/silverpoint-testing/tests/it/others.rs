//! Others at the same rings: a collector that takes the records meanwhile, and a program that damages them.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;

use silverpoint::{event, info};
use silverpoint_shm::owner;
use silverpoint_testing::Capture;

use crate::{alone, own_session, rings};

fn count(numbers: std::ops::Range<u64>) {
    for n in numbers {
        event!("count", n);
    }
}

/// Takes everything, as a collector does that has stored it.
fn take() {
    let session = own_session();
    for (slice, ring) in rings(&session) {
        session.set_consumed(slice, ring.committed).unwrap();
        session.wake(slice).unwrap();
    }
}

#[test]
fn what_a_collector_has_taken_is_seen() {
    if !alone("others::what_a_collector_has_taken_is_seen", &[("SILVERPOINT_FILTER", "info")]) {
        return;
    }
    own_session().set_collector_pid(std::process::id()).unwrap();
    let capture = Capture::start();
    // Less than three quarters of the smallest ring.
    count(0..20);
    take();
    count(20..30);
    assert_eq!(capture.expect_event("count").times(30)[19]["n"], 19);
    take();
    capture.expect_event("count").times(30);
    assert!(capture.losses().is_none(), "{}", capture.losses());
    own_session().set_collector_pid(0).unwrap();
}

#[test]
fn what_a_collector_has_taken_and_is_overwritten_is_counted() {
    const TEST: &str = "others::what_a_collector_has_taken_and_is_overwritten_is_counted";
    if !alone(TEST, &[("SILVERPOINT_FILTER", "info"), ("SILVERPOINT_COLLECTOR", "1")]) {
        return;
    }
    const PARTS: u64 = 200;
    const PART: u64 = 100;
    own_session().set_collector_pid(std::process::id()).unwrap();
    let capture = Capture::start();
    for part in 0..PARTS {
        take();
        count(part * PART..(part + 1) * PART);
    }
    let seen: Vec<i128> = capture.events().iter().map(|record| record["n"].as_i128().unwrap()).collect();
    // What was not taken is there; what is there is in order.
    assert!(seen.is_sorted_by(|a, b| a < b));
    assert!(seen.ends_with(&((PARTS - 1) * PART..PARTS * PART).map(i128::from).collect::<Vec<_>>()));
    let losses = capture.losses();
    let missing = PARTS * PART - seen.len() as u64;
    assert!(missing > 0 && losses.overwritten_bytes() >= missing * 24, "{missing} {losses}");
    assert_eq!((losses.damaged(), losses.records()), (0, 0), "{losses}");
    let message = capture.expect_event("count").check_once().unwrap_err();
    assert!(message.contains("a collector takes the records meanwhile"), "{message}");
    // Looking as often as the collector does, nothing is missed.
    capture.clear();
    for part in 0..PARTS {
        take();
        count(part * PART..(part + 1) * PART);
        assert!(capture.losses().is_none(), "part {part}: {}", capture.losses());
    }
    assert_eq!(capture.events().len() as u64, PARTS * PART);
    own_session().set_collector_pid(0).unwrap();
}

#[test]
fn damaged_records_are_counted() {
    if !alone("others::damaged_records_are_counted", &[]) {
        return;
    }
    info!("first");
    let session = own_session();
    let (directory, _) = owner::session_name().unwrap();
    let file = OpenOptions::new().write(true).open(directory.join("rings")).unwrap();
    // A record's size that leads beyond the ring; a site that does not exist; a size of nothing.
    for (at, word) in [(0, 0x00FF_FFF8_u32), (4, 0x00FF_FFFF), (0, 0)] {
        let capture = Capture::start();
        count(0..1);
        let place = |number: usize| {
            let (slice, ring) = rings(&session)[number];
            slice.at + u64::from(ring.data_at) + ring.committed % u64::from(ring.capacity)
        };
        let damaged = place(0);
        count(1..3);
        file.write_all_at(&word.to_le_bytes(), damaged + at).unwrap();
        assert!(capture.losses().damaged() > 0, "{at} {word:x}: {}", capture.losses());
        capture.expect_event("count").with("n", 0).at_least(1);
        let message = capture.expect_event("count").with("n", 0).check_once().unwrap_err();
        assert!(message.contains("records were lost") && message.contains("damaged"), "{message}");
        // It goes on after it.
        capture.clear();
        count(3..4);
        assert_eq!(capture.expect_event("count").once()["n"], 3);
    }
}
