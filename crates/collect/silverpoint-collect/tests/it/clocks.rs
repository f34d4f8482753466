//! Anchors, watermarks, and records that come late.

use std::time::Duration;

use silverpoint_collect::Collector;
use silverpoint_wire::clock::TickClock;
use silverpoint_wire::layout::control::at;
use silverpoint_wire::level::Level;

use crate::fake::{Fake, now, site};
use crate::scratch::Scratch;
use crate::told::read;

#[test]
fn times_are_those_of_the_wall_clock() {
    let scratch = Scratch::new("anchors");
    let mut fake = Fake::new(&scratch.root(), 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(14);
    let mut ring = fake.ring(slab, 1);
    // One anchor of the program, and one whose check is wrong.
    fake.anchor(0, 1000, 1000, 1_700_000_000_000_000_000);
    fake.anchor(1, 2000, 2000, 5);
    std::os::unix::fs::FileExt::write_all_at(&fake.control, &[0xFF; 8], 8192 + 32 + 24).unwrap();
    let wall =
        || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i64;
    let before = wall();
    ring.put(id, 1);
    let after = wall();
    let mut collector = Collector::new(scratch.config()).unwrap();
    collector.pass();
    collector.leave();
    let trace = read(&scratch.trace());
    let anchors = &trace.anchors[&fake.session_id];
    assert_eq!(anchors.len(), 2, "{anchors:?}");
    assert_eq!(anchors[0].ticks, 1000);
    let clock = TickClock::new(&anchors[1..], 1_000_000_000);
    let stored = clock.wall_ns(trace.records[&(fake.session_id, 1)][0].ticks);
    assert!((before - 1_000_000..=after + 1_000_000).contains(&stored), "{before} {stored} {after}");
}

#[test]
fn a_session_of_another_boot_has_no_anchor_of_now() {
    let scratch = Scratch::new("boot");
    let mut fake = Fake::new(&scratch.root(), 1);
    std::os::unix::fs::FileExt::write_all_at(&fake.control, &[9; 16], at::BOOT_ID as u64).unwrap();
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(14);
    let mut ring = fake.ring(slab, 1);
    fake.anchor(0, 1000, 1000, 1_700_000_000_000_000_000);
    ring.put(id, 1);
    let mut collector = Collector::new(scratch.config()).unwrap();
    collector.pass();
    collector.leave();
    let trace = read(&scratch.trace());
    assert_eq!(trace.anchors[&fake.session_id].len(), 1);
    assert!(!trace.watermarks.contains_key(&fake.session_id), "nobody can say what time it is there");
}

#[test]
fn watermarks_follow_and_what_comes_behind_them_is_marked() {
    let scratch = Scratch::new("watermark");
    let mut fake = Fake::new(&scratch.root(), 1);
    let mut quiet = Fake::new(&scratch.root(), 2);
    quiet.register(&site("{}", Level::Info, ""));
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(14);
    let mut ring = fake.ring(slab, 1);
    let mut collector = Collector::new(scratch.config()).unwrap();
    let mut last = 0;
    for value in 0..5 {
        ring.put(id, value);
        last = now();
        collector.pass();
        std::thread::sleep(Duration::from_millis(60));
    }
    for _ in 0..8 {
        collector.pass();
        std::thread::sleep(Duration::from_millis(30));
    }
    let size = std::fs::metadata(scratch.trace()).unwrap().len();
    for _ in 0..8 {
        collector.pass();
        std::thread::sleep(Duration::from_millis(30));
    }
    assert_eq!(std::fs::metadata(scratch.trace()).unwrap().len(), size, "in silence nothing is written");
    let marks = read(&scratch.trace()).watermarks[&fake.session_id].clone();
    assert!(*marks.last().unwrap() > last, "a follower may give out everything: {marks:?}, {last}");
    assert!(marks.len() < 10, "{marks:?}");
    // From before the watermark: of a thread that was put aside for long.
    assert!(ring.put_bytes(id, last - 1, &[0; 8], Duration::ZERO));
    collector.pass();
    ring.put(id, 9);
    collector.pass();
    collector.leave();
    let trace = read(&scratch.trace());
    assert_eq!(trace.late_blocks, 1);
    assert!(quiet.is_there());
}
