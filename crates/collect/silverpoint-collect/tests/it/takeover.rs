//! Collectors die at every place that matters; each record is in the file exactly once nevertheless.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use silverpoint_collect::Collector;
use silverpoint_shm::observer::Intent;
use silverpoint_wire::layout::ring::at as ring_at;
use silverpoint_wire::level::Level;

use crate::fake::{Fake, FakeRing, site};
use crate::roles::Role;
use crate::scratch::{Scratch, wait_until};
use crate::told::{self, parts, read};

/// Records of each of the rings.
const RECORDS: u64 = 3000;
const SIGKILL: i32 = 9;

/// Two sessions with rings of several sizes, all full most of the time. A collector is killed at the place, another goes on.
/// A pass may store as much as the small rings hold, less than 100 records of each.
fn kill_at(place: &str, nth: u32, rotate: bool, compact: bool) {
    let records = RECORDS.max(100 * u64::from(nth));
    let scratch = Scratch::new(&format!("kill-{place}-{nth}"));
    let mut fakes: Vec<Fake> = (0..2).map(|pid| Fake::new(&scratch.root(), 200 + pid)).collect();
    let mut rings = Vec::new();
    for fake in &mut fakes {
        let id = fake.register(&site("{}", Level::Info, ""));
        let (small, large) = (fake.slab(11), fake.slab(14));
        for tid in 0..2 {
            rings.push((fake.session_id, id, fake.ring(small, tid)));
        }
        rings.push((fake.session_id, id, fake.ring(large, 2)));
    }
    let role = |fault: bool| {
        let mut role = Role::new(scratch.root(), scratch.trace());
        if fault {
            role.fault(place, nth);
        }
        if rotate {
            role.rotate_bytes(64 << 10);
        }
        if compact {
            role.compact();
        }
        role.start()
    };
    let mut first = role(true);
    let killed = std::thread::scope(|scope| {
        let writers: Vec<_> = rings
            .iter_mut()
            .map(|(_, id, ring)| scope.spawn(move || (0..records).for_each(|value| ring.put(*id, value))))
            .collect();
        // If the place is never reached, that is a failure of the test.
        let status = first.wait().unwrap();
        let mut second = role(false);
        for writer in writers {
            writer.join().unwrap();
        }
        for fake in &mut fakes {
            fake.die();
        }
        assert!(second.wait().unwrap().success(), "{place}:{nth}: the second collector");
        status.signal()
    });
    assert_eq!(killed, Some(SIGKILL), "{place}:{nth} was not reached");
    let trace = read(&scratch.trace());
    for (session, _, ring) in &rings {
        let values = trace.values(session, ring.stream);
        assert_eq!(values.len() as u64, records, "{place}:{nth}");
        assert!(values.iter().copied().eq(0..records), "{place}:{nth}: order");
    }
    assert!(trace.gaps.is_empty());
    assert!(fakes.iter().all(|fake| !fake.is_there()), "stored whole, so removed");
    if rotate {
        let parts = parts(&scratch.trace());
        assert!(parts.len() > 2, "{parts:?}");
        for part in parts {
            stands_alone(&part);
        }
    }
}

/// A part can be read without the others.
fn stands_alone(part: &Path) {
    let alone = told::read_alone(part);
    // Stated at the beginning, and again from time to time.
    let first = alone.about.first().unwrap_or_else(|| panic!("{}", part.display()));
    assert!(alone.about.iter().all(|about| about == first), "{}", part.display());
}

#[test]
fn killed_before_and_after_the_intent() {
    for nth in [1, 7] {
        kill_at("before-intent", nth, false, false);
        kill_at("after-intent", nth, false, false);
    }
}

#[test]
fn killed_in_the_middle_of_a_write() {
    for nth in [1, 2, 9] {
        kill_at("mid-write", nth.max(2), false, false);
    }
    kill_at("mid-write", 5, false, true);
}

#[test]
fn killed_between_write_and_release() {
    for nth in [1, 8] {
        kill_at("after-write", nth, false, false);
        kill_at("after-release", nth, false, false);
    }
    for nth in [1, 5] {
        kill_at("mid-release", nth, false, false);
    }
    kill_at("after-write", 6, false, true);
}

#[test]
fn killed_while_rotating() {
    for place in ["before-rename", "after-create", "after-link", "after-rename", "mid-end", "after-rotation"]
    {
        for nth in [1, 2] {
            kill_at(place, nth, true, false);
        }
    }
}

#[test]
fn killed_just_after_a_rotation_and_just_before_one() {
    kill_at("after-write", 60, true, false);
    kill_at("mid-write", 61, true, false);
}

#[test]
fn killed_while_taking_over() {
    let scratch = Scratch::new("kill-takeover");
    let mut fake = Fake::new(&scratch.root(), 300);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(14);
    let mut rings: Vec<_> = (0..3).map(|tid| fake.ring(slab, tid)).collect();
    for ring in &mut rings {
        (0..100).for_each(|value| ring.put(id, value));
    }
    // Stored, nothing released; then released by a successor that dies after the first ring.
    assert!(
        !Role::new(scratch.root(), scratch.trace()).fault("after-write", 1).start().wait().unwrap().success()
    );
    assert_eq!(rings.iter().filter(|ring| ring.get(ring_at::CONSUMED) > 0).count(), 0);
    assert!(
        !Role::new(scratch.root(), scratch.trace())
            .fault("mid-takeover", 1)
            .start()
            .wait()
            .unwrap()
            .success()
    );
    assert_eq!(rings.iter().filter(|ring| ring.get(ring_at::CONSUMED) > 0).count(), 1);
    for ring in &mut rings {
        (100..150).for_each(|value| ring.put(id, value));
    }
    fake.die();
    assert!(Role::new(scratch.root(), scratch.trace()).start().wait().unwrap().success());
    let trace = read(&scratch.trace());
    for ring in &rings {
        assert_eq!(trace.values(&fake.session_id, ring.stream), (0..150).collect::<Vec<_>>());
    }
}

#[test]
fn the_file_of_a_dead_collector_is_found_under_its_new_name() {
    let scratch = Scratch::new("renamed");
    let mut fake = Fake::new(&scratch.root(), 301);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(14);
    let mut ring = fake.ring(slab, 1);
    (0..50).for_each(|value| ring.put(id, value));
    assert!(
        !Role::new(scratch.root(), scratch.trace()).fault("after-write", 1).start().wait().unwrap().success()
    );
    // A rotation by another collector of the same file.
    std::fs::rename(scratch.trace(), scratch.path().join("trace.4.silver")).unwrap();
    fake.die();
    assert!(Role::new(scratch.root(), scratch.trace()).start().wait().unwrap().success());
    let trace = read(&scratch.trace());
    assert_eq!(trace.values(&fake.session_id, ring.stream), (0..50).collect::<Vec<_>>());
    assert!(trace.about[1].contains("previous=trace.4.silver\npart=5\n"), "{:?}", trace.about);
}

#[test]
fn a_file_that_somebody_renamed_is_found_in_its_directory() {
    let scratch = Scratch::new("any-name");
    let mut fake = Fake::new(&scratch.root(), 305);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(14);
    let mut ring = fake.ring(slab, 1);
    (0..50).for_each(|value| ring.put(id, value));
    assert!(
        !Role::new(scratch.root(), scratch.trace()).fault("after-write", 1).start().wait().unwrap().success()
    );
    let renamed = scratch.path().join("kept for later");
    std::fs::rename(scratch.trace(), &renamed).unwrap();
    (50..60).for_each(|value| ring.put(id, value));
    fake.die();
    assert!(Role::new(scratch.root(), scratch.trace()).start().wait().unwrap().success());
    assert_eq!(read(&renamed).values(&fake.session_id, 1), (0..50).collect::<Vec<_>>());
    assert_eq!(read(&scratch.trace()).values(&fake.session_id, 1), (50..60).collect::<Vec<_>>());
}

#[test]
fn another_file_of_the_next_collector_holds_only_what_the_first_does_not() {
    let scratch = Scratch::new("elsewhere");
    let mut fake = Fake::new(&scratch.root(), 302);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(14);
    let mut ring = fake.ring(slab, 1);
    (0..50).for_each(|value| ring.put(id, value));
    assert!(
        !Role::new(scratch.root(), scratch.trace()).fault("after-write", 1).start().wait().unwrap().success()
    );
    (50..80).for_each(|value| ring.put(id, value));
    fake.die();
    let other = scratch.path().join("other.silver");
    assert!(Role::new(scratch.root(), other.clone()).start().wait().unwrap().success());
    assert_eq!(read(&scratch.trace()).values(&fake.session_id, 1), (0..50).collect::<Vec<_>>());
    assert_eq!(read(&other).values(&fake.session_id, 1), (50..80).collect::<Vec<_>>());
}

/// A collector may be killed while it removes a session that it has stored completely. The next one must not
/// report it as unreadable, nor leave it for ever.
#[test]
fn a_removal_that_was_cut_short_is_finished() {
    for gone in [&["control"][..], &["control", "rings"], &["control", "rings", "collector", "owner"]] {
        let scratch = Scratch::new("removal");
        let mut fake = Fake::new(&scratch.root(), 305);
        gone.iter().for_each(|file| std::fs::remove_file(fake.path.join(file)).unwrap());
        // As long as its process lives, nobody has stored it whole.
        if gone.len() < 4 {
            Collector::new(scratch.config()).unwrap().pass();
            assert!(fake.is_there(), "{gone:?}");
        }
        fake.die();
        let mut collector = Collector::new(scratch.config()).unwrap();
        collector.pass();
        assert!(!fake.is_there(), "{gone:?}");
        assert_eq!(collector.take_messages().len(), 0, "{gone:?}");
    }
}

#[test]
fn an_intent_whose_file_is_gone_costs_a_remark_and_no_record() {
    let scratch = Scratch::new("gone");
    let mut fake = Fake::new(&scratch.root(), 303);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(14);
    let mut ring = fake.ring(slab, 1);
    (0..50).for_each(|value| ring.put(id, value));
    assert!(
        !Role::new(scratch.root(), scratch.trace()).fault("after-write", 1).start().wait().unwrap().success()
    );
    // Moved to a place that is not searched.
    std::fs::create_dir(scratch.path().join("away")).unwrap();
    let moved = scratch.path().join("away/moved.silver");
    std::fs::rename(scratch.trace(), &moved).unwrap();
    let mut collector = Collector::new(scratch.config()).unwrap();
    collector.pass();
    let messages = collector.take_messages();
    assert!(messages.iter().any(|message| message.text.contains("cannot be examined")), "{messages:?}");
    collector.leave();
    assert_eq!(read(&scratch.trace()).values(&fake.session_id, 1), (0..50).collect::<Vec<_>>());
    assert_eq!(
        read(&moved).values(&fake.session_id, 1),
        (0..50).collect::<Vec<_>>(),
        "here too: twice rather than never"
    );
}

#[test]
fn a_collector_killed_at_random_moments_by_somebody_else() {
    let scratch = Scratch::new("random");
    let mut fake = Fake::new(&scratch.root(), 304);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(11);
    let mut rings: Vec<_> = (0..4).map(|tid| fake.ring(slab, tid)).collect();
    // What fits the rings.
    const ROOM: u64 = 4 * 75;
    let (stop, written) = (AtomicBool::new(false), AtomicU64::new(0));
    let counts: Vec<u64> = std::thread::scope(|scope| {
        let (stop, written) = (&stop, &written);
        let write = |ring: &mut FakeRing| {
            let mut value = 0;
            while !stop.load(Ordering::Relaxed) && value < 500_000 {
                ring.put(id, value);
                value += 1;
                written.fetch_add(1, Ordering::Relaxed);
            }
            value
        };
        let writers: Vec<_> = rings.iter_mut().map(|ring| scope.spawn(move || write(ring))).collect();
        // On a loaded machine the first collectors may have died before they drained anything: later ones live longer.
        let drained = || written.load(Ordering::Relaxed) > ROOM;
        for round in (0..200u64).take_while(|round| *round < 25 || !drained()) {
            let mut child = Role::new(scratch.root(), scratch.trace()).rotate_bytes(100_000).start();
            std::thread::sleep(
                (1 + round as u32 / 25) * Duration::from_micros(5_000 + 7_919 * round % 30_000),
            );
            child.kill().unwrap();
            child.wait().unwrap();
        }
        stop.store(true, Ordering::Relaxed);
        let mut last = Role::new(scratch.root(), scratch.trace()).rotate_bytes(100_000).start();
        let counts = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
        last.kill().unwrap();
        last.wait().unwrap();
        counts
    });
    fake.die();
    assert!(
        Role::new(scratch.root(), scratch.trace()).rotate_bytes(100_000).start().wait().unwrap().success()
    );
    let trace = read(&scratch.trace());
    // More than fits the rings: some of it was released in between.
    assert!(counts.iter().sum::<u64>() > ROOM, "the collectors have drained nothing: {counts:?}");
    for (ring, count) in rings.iter().zip(counts) {
        assert!(trace.values(&fake.session_id, ring.stream).iter().copied().eq(0..count));
    }
    wait_until("the session is removed", || !fake.is_there());
}

#[test]
fn intents_name_absolute_paths() {
    assert!(Intent::admits(Path::new("/tmp/trace.silver")) && !Intent::admits(Path::new("trace.silver")));
}
