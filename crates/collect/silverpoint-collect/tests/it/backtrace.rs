//! Keeping back: what is forgotten, what is written when, and who may die meanwhile.

use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use silverpoint_collect::{Backtrace, Collector, Config};
use silverpoint_wire::block::{BlockKind, GapInfo};
use silverpoint_wire::layout::control::at;
use silverpoint_wire::layout::record::CONTEXT;
use silverpoint_wire::layout::ring::at as ring_at;
use silverpoint_wire::level::Level;
use silverpoint_wire::scan::{Found, Scanner};

use crate::fake::{Fake, FakeRing, now, put32, site};
use crate::scratch::{Scratch, wait_until};
use crate::told::{parts, read};

fn config(scratch: &Scratch, bytes: u64, trigger: Option<Level>) -> Config {
    Config { backtrace: Some(Backtrace { bytes, trigger }), ..scratch.config() }
}

/// A living program with a ring of 16 KiB, and its sites: a detail and a warning.
fn program(scratch: &Scratch, pid: u32) -> (Fake, FakeRing, u32, u32) {
    let mut fake = Fake::new(&scratch.root(), pid);
    put32(&fake.control, at::COPIES_JOINED as u64, 1);
    let detail = fake.register(&site("{}", Level::Debug, ""));
    let warning = fake.register(&site("bad {}", Level::Warn, ""));
    let slab = fake.slab(14);
    let ring = fake.ring(slab, 1);
    (fake, ring, detail, warning)
}

/// Passes until nothing is being written and nothing new is found.
fn settle(collector: &mut Collector) {
    let mut quiet = 0;
    wait_until("the collector has come to rest", || {
        let pass = collector.pass();
        quiet = if pass.bytes == 0 && !collector.is_writing_kept_back() { quiet + 1 } else { 0 };
        quiet > 2
    });
}

/// The program dies, and its session is done with.
fn see_off(collector: &mut Collector, fake: &mut Fake) {
    fake.die();
    wait_until("the session is gone", || {
        collector.pass();
        !fake.is_there()
    });
}

/// What the gaps of a trace say: all of them, and of those that were forgotten the records, and whether there were more.
pub fn gaps(path: &Path) -> (Vec<GapInfo>, u64, bool) {
    let mut all = Vec::new();
    for part in parts(path) {
        let bytes = std::fs::read(part).unwrap();
        let mut scanner = Scanner::new(bytes.as_slice(), 0, true);
        while let Some(found) = scanner.next().unwrap() {
            let Found::Block { header, .. } = found else { panic!("{found:?}") };
            if header.kind == BlockKind::GAP {
                all.push(GapInfo::decode(scanner.payload()).unwrap());
            }
        }
    }
    let forgotten: Vec<_> = all.iter().filter_map(|gap| gap.forgotten).collect();
    let records = forgotten.iter().map(|forgotten| forgotten.records).sum();
    (all, records, forgotten.iter().any(|forgotten| forgotten.has_more))
}

#[test]
fn nothing_is_stored_until_a_bad_record_comes_and_then_everything_of_everybody() {
    let scratch = Scratch::new("kept");
    let mut collector = Collector::new(config(&scratch, 1 << 20, Some(Level::Warn))).unwrap();
    let (first, mut one, detail, warning) = program(&scratch, 1);
    let (second, mut two, other, _) = program(&scratch, 2);
    (0..50).for_each(|value| one.put(detail, value));
    (100..150).for_each(|value| two.put(other, value));
    settle(&mut collector);
    assert_eq!(collector.stats().records, 0);
    assert_eq!((one.get(ring_at::CONSUMED), two.get(ring_at::CONSUMED)), (0, 0), "it stays in the rings");
    one.put(warning, 50);
    settle(&mut collector);
    assert_eq!((one.get(ring_at::CONSUMED), two.get(ring_at::CONSUMED)), (one.head, two.head));
    // The next are kept back again.
    (51..60).for_each(|value| one.put(detail, value));
    settle(&mut collector);
    assert_eq!(collector.stats().records, 101);
    drop(collector);
    let trace = read(&scratch.trace());
    assert!(trace.values(&first.session_id, one.stream).into_iter().eq(0..51));
    assert!(trace.values(&second.session_id, two.stream).into_iter().eq(100..150));
    assert!(gaps(&scratch.trace()).0.is_empty());
}

#[test]
fn the_level_that_triggers_is_for_the_user_to_say_and_so_is_the_moment() {
    let scratch = Scratch::new("kept-asked");
    let mut collector = Collector::new(config(&scratch, 1 << 20, None)).unwrap();
    let (fake, mut ring, _, warning) = program(&scratch, 1);
    (0..10).for_each(|value| ring.put(warning, value));
    settle(&mut collector);
    assert_eq!(collector.stats().records, 0, "nothing triggers");
    collector.write_kept_back();
    assert!(collector.is_writing_kept_back());
    settle(&mut collector);
    assert_eq!(collector.stats().records, 10);
    drop(collector);
    assert!(read(&scratch.trace()).values(&fake.session_id, 1).into_iter().eq(0..10));
}

#[test]
fn the_oldest_is_forgotten_and_counted_and_the_program_waits_for_nobody() {
    for (name, bytes) in [("kept-ring", 1 << 20), ("kept-bytes", 3000)] {
        let scratch = Scratch::new(name);
        let mut collector = Collector::new(config(&scratch, bytes, Some(Level::Warn))).unwrap();
        let (fake, mut ring, detail, warning) = program(&scratch, 1);
        let mut value = 0;
        for _ in 0..200 {
            for _ in 0..100 {
                assert!(ring.put_bytes(detail, now(), &u64::to_le_bytes(value), Duration::ZERO), "no wait");
                value += 1;
            }
            collector.pass();
            let held = ring.head - ring.get(ring_at::CONSUMED);
            assert!(held <= (ring.capacity * 6 / 8).min(bytes + ring.capacity / 8), "{held}");
        }
        assert_eq!(collector.stats().records, 0);
        ring.put(warning, value);
        settle(&mut collector);
        drop(collector);
        let values = read(&scratch.trace()).values(&fake.session_id, 1);
        assert!(values.len() > 80, "{}", values.len());
        assert!(values.iter().copied().eq(values[0]..=value), "the latest, without a hole");
        let (all, records, has_more) = gaps(&scratch.trace());
        assert_eq!((records, has_more), (values[0], false), "each that is not stored is counted");
        assert!(all.iter().all(|gap| gap.forgotten.is_some_and(|forgotten| forgotten.keeps_fields)));
    }
}

/// A real one goes on in a larger ring when this one is more than half full. Where there is none, it may have all but three eighths, at once.
#[test]
fn a_thread_that_needs_the_room_has_it() {
    let scratch = Scratch::new("kept-pressed");
    let mut collector = Collector::new(config(&scratch, 1 << 20, Some(Level::Warn))).unwrap();
    let (_fake, mut ring, detail, _) = program(&scratch, 1);
    let room = ring.capacity;
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| (0..5000).for_each(|value| ring.put(detail, value)));
        while !writer.is_finished() {
            collector.pass();
        }
    });
    settle(&mut collector);
    assert_eq!(collector.stats().records, 0);
    // Until it would wait; then it has room for the longest record.
    let words = vec![0; room as usize / 4 - 32];
    while ring.put_bytes(detail, now(), &[0; 8], Duration::ZERO) {}
    settle(&mut collector);
    assert!(ring.head - ring.get(ring_at::CONSUMED) <= room * 3 / 8);
    assert!(ring.put_bytes(detail, now(), &words, Duration::ZERO));
}

#[test]
fn a_program_that_would_rather_drop_has_the_room_beforehand() {
    let scratch = Scratch::new("kept-dropping");
    let mut collector = Collector::new(config(&scratch, 1 << 20, Some(Level::Warn))).unwrap();
    let (fake, mut ring, detail, _) = program(&scratch, 1);
    fake.control.write_all_at(&[1; 6], at::POLICY as u64).unwrap();
    for value in 0..2000 {
        ring.put(detail, value);
        collector.pass();
        assert!(ring.head - ring.get(ring_at::CONSUMED) <= ring.capacity * 3 / 8);
    }
}

#[test]
fn a_program_that_is_killed_leaves_its_last_records() {
    let scratch = Scratch::new("kept-killed");
    let mut collector = Collector::new(config(&scratch, 1 << 20, Some(Level::Warn))).unwrap();
    let (mut fake, mut ring, detail, _) = program(&scratch, 1);
    (0..50).for_each(|value| ring.put(detail, value));
    settle(&mut collector);
    // What the collector has not even seen is there too.
    (50..60).for_each(|value| ring.put(detail, value));
    see_off(&mut collector, &mut fake);
    collector.leave();
    let trace = read(&scratch.trace());
    assert!(trace.values(&fake.session_id, 1).into_iter().eq(0..60));
    assert_eq!(*trace.watermarks[&fake.session_id].last().unwrap(), u64::MAX, "nothing follows");
}

#[test]
fn a_program_that_ends_well_leaves_the_account_alone() {
    let scratch = Scratch::new("kept-clean");
    let mut collector = Collector::new(config(&scratch, 1 << 20, Some(Level::Warn))).unwrap();
    let (mut fake, mut ring, detail, _) = program(&scratch, 1);
    (0..500).for_each(|value| {
        ring.put(detail, value);
        collector.pass();
    });
    put32(&fake.control, at::COPIES_JOINED as u64, 0);
    see_off(&mut collector, &mut fake);
    assert_eq!(collector.leave().records, 0);
    assert!(read(&scratch.trace()).values(&fake.session_id, 1).is_empty());
    let (all, records, has_more) = gaps(&scratch.trace());
    assert_eq!((records, has_more), (500, false), "{all:?}");
}

#[test]
fn a_warning_that_is_a_programs_last_word_is_heard() {
    let scratch = Scratch::new("kept-last");
    let mut collector = Collector::new(config(&scratch, 1 << 20, Some(Level::Warn))).unwrap();
    let (mut fake, mut ring, detail, warning) = program(&scratch, 1);
    (0..20).for_each(|value| ring.put(detail, value));
    settle(&mut collector);
    ring.put(warning, 20);
    put32(&fake.control, at::COPIES_JOINED as u64, 0);
    see_off(&mut collector, &mut fake);
    collector.leave();
    assert!(read(&scratch.trace()).values(&fake.session_id, 1).into_iter().eq(0..21));
}

#[test]
fn a_collector_that_is_killed_leaves_what_it_kept_back_to_the_next_one() {
    let scratch = Scratch::new("kept-successor");
    let (fake, mut ring, detail, warning) = program(&scratch, 1);
    let mut collector = Collector::new(config(&scratch, 1 << 20, Some(Level::Warn))).unwrap();
    (0..900).for_each(|value| {
        ring.put(detail, value);
        collector.pass();
    });
    let forgotten = ring.get(ring_at::CONSUMED);
    assert!(forgotten > 0);
    // As after SIGKILL: the lock is gone, the words in the session are not.
    drop(collector);
    let mut collector = Collector::new(config(&scratch, 1 << 20, Some(Level::Warn))).unwrap();
    settle(&mut collector);
    assert_eq!((collector.stats().takeovers, collector.stats().records), (1, 0));
    assert_eq!(ring.get(ring_at::CONSUMED), forgotten, "it goes on keeping back");
    ring.put(warning, 900);
    settle(&mut collector);
    drop(collector);
    let values = read(&scratch.trace()).values(&fake.session_id, 1);
    assert!(values.iter().copied().eq(values[0]..901));
    let (all, _, has_more) = gaps(&scratch.trace());
    assert_eq!((all[0].begin, all[0].end), (0, forgotten));
    assert!(has_more, "how many were forgotten died with the first collector");
}

/// A part is begun as soon as the one before is full. The stored positions of the streams are written into it
/// with the next pass.
#[test]
fn a_part_whose_writer_died_when_it_was_begun_goes_on_where_the_one_before_ended() {
    let scratch = Scratch::new("kept-part");
    let (fake, mut ring, detail, _) = program(&scratch, 1);
    let config = || {
        let mut config = config(&scratch, 1 << 20, None);
        config.output.rotate_bytes = Some(64 << 10);
        config
    };
    let mut collector = Collector::new(config()).unwrap();
    let mut value = 0;
    while collector.stats().rotations == 0 {
        assert!(value < 100_000, "no part is ever full");
        (value..value + 100).for_each(|value| ring.put(detail, value));
        value += 100;
        collector.pass();
        collector.write_kept_back();
        collector.pass();
    }
    assert_eq!(ring.get(ring_at::CONSUMED), ring.head);
    // As after SIGKILL.
    drop(collector);
    let mut collector = Collector::new(config()).unwrap();
    settle(&mut collector);
    ring.put(detail, value);
    settle(&mut collector);
    collector.write_kept_back();
    settle(&mut collector);
    drop(collector);
    assert_eq!(parts(&scratch.trace()).len(), 2);
    assert!(read(&scratch.trace()).values(&fake.session_id, 1).into_iter().eq(0..=value));
    assert_eq!(gaps(&scratch.trace()), (vec![], 0, false), "nothing was forgotten");
}

#[test]
fn what_a_program_overwrites_unseen_is_told_as_more_than_was_counted() {
    let scratch = Scratch::new("kept-overwritten");
    let mut collector = Collector::new(config(&scratch, 1 << 20, Some(Level::Warn))).unwrap();
    let (fake, mut ring, detail, warning) = program(&scratch, 1);
    ring.overwrites = true;
    (0..50).for_each(|value| ring.put(detail, value));
    settle(&mut collector);
    (50..5000).for_each(|value| ring.put(detail, value));
    settle(&mut collector);
    ring.put(warning, 5000);
    settle(&mut collector);
    drop(collector);
    let values = read(&scratch.trace()).values(&fake.session_id, 1);
    assert!(values.iter().copied().eq(values[0]..=5000));
    let (all, records, has_more) = gaps(&scratch.trace());
    assert!(has_more && records >= 50 && records < values[0], "{all:?}");
    assert!(all.iter().all(|gap| gap.forgotten.is_some()), "deliberately: {all:?}");
}

#[test]
fn fields_that_were_stated_in_what_is_forgotten_are_stated_again() {
    let scratch = Scratch::new("kept-fields");
    let mut collector = Collector::new(config(&scratch, 1 << 20, Some(Level::Warn))).unwrap();
    let (fake, mut ring, detail, warning) = program(&scratch, 1);
    // {"a": 1}, behind its length.
    let fields = [4, 0, 0, 0, 0xA1, 0x61, 0x61, 0x01];
    assert!(ring.put_bytes(CONTEXT, now(), &fields, Duration::ZERO));
    (0..2000).for_each(|value| {
        ring.put(detail, value);
        if value % 50 == 0 {
            collector.pass();
        }
    });
    ring.put(warning, 2000);
    settle(&mut collector);
    drop(collector);
    let trace = read(&scratch.trace());
    let first = &trace.records[&(fake.session_id, 1)][0];
    assert_eq!((first.site, first.args.as_slice()), (CONTEXT, fields.as_slice()));
    let (all, ..) = gaps(&scratch.trace());
    assert!(all.last().unwrap().forgotten.unwrap().keeps_fields, "they hold from there on: {all:?}");
}

#[test]
fn a_ring_that_another_thread_gets_takes_its_account_along() {
    let scratch = Scratch::new("kept-threads");
    // Nothing is kept back for long: each ring is empty again.
    let mut collector = Collector::new(config(&scratch, 0, Some(Level::Warn))).unwrap();
    let (mut fake, mut ring, detail, _) = program(&scratch, 1);
    for _ in 0..20 {
        (0..30).for_each(|value| ring.put(detail, value));
        ring.retire();
        settle(&mut collector);
        assert_eq!(ring.get(ring_at::CONSUMED), ring.head, "an adopter may have it");
        ring = fake.claim(ring.at, ring.size, 1);
    }
    put32(&fake.control, at::COPIES_JOINED as u64, 0);
    see_off(&mut collector, &mut fake);
    collector.leave();
    read(&scratch.trace());
    let (all, records, has_more) = gaps(&scratch.trace());
    assert_eq!((all.len(), records, has_more), (20, 600, false), "{all:?}");
}

/// Rings whose threads are gone may use a quarter of the memory (eight of these), so that new threads find
/// some. Forgetting what a living thread's ring holds frees no room.
#[test]
fn rings_of_living_threads_keep_what_they_hold_however_many_they_are() {
    for (name, is_retired, most) in [("kept-living", false, 12), ("kept-retired", true, 8)] {
        let scratch = Scratch::new(name);
        let mut collector = Collector::new(config(&scratch, 1 << 20, Some(Level::Warn))).unwrap();
        let (mut fake, mut own, detail, warning) = program(&scratch, 1);
        for thread in 0..12 {
            let slab = fake.slab(16);
            let mut ring = fake.ring(slab, 2 + thread);
            (0..30).for_each(|value| ring.put(detail, value));
            if is_retired {
                ring.retire();
            }
            settle(&mut collector);
        }
        own.put(warning, 30);
        settle(&mut collector);
        assert_eq!(collector.stats().records, most * 30 + 1, "{name}");
        collector.leave();
        let (_, forgotten, has_more) = gaps(&scratch.trace());
        assert_eq!((forgotten, has_more), ((12 - most) * 30, false), "{name}");
    }
}

#[test]
fn a_collector_that_lets_go_leaves_nothing_kept_back() {
    let scratch = Scratch::new("kept-left");
    let mut collector = Collector::new(config(&scratch, 1 << 20, Some(Level::Warn))).unwrap();
    let (fake, mut ring, detail, _) = program(&scratch, 1);
    (0..50).for_each(|value| ring.put(detail, value));
    settle(&mut collector);
    assert_eq!(collector.leave().records, 50);
    assert!(read(&scratch.trace()).values(&fake.session_id, 1).into_iter().eq(0..50));
}

#[test]
fn without_keeping_back_asking_changes_nothing() {
    let scratch = Scratch::new("kept-not");
    let mut collector = Collector::new(scratch.config()).unwrap();
    let (_fake, mut ring, detail, _) = program(&scratch, 1);
    (0..50).for_each(|value| ring.put(detail, value));
    collector.write_kept_back();
    assert!(!collector.is_writing_kept_back());
    collector.pass();
    assert_eq!(collector.stats().records, 50);
    drop(collector);
}
