//! Sessions that come, change and die; rings that are handed on; losses and overwriting.

use std::time::Duration;

use silverpoint_collect::{Collector, Config, Limits, sweep};
use silverpoint_shm::root::Root;
use silverpoint_wire::layout::control::at;
use silverpoint_wire::layout::ring::{RETURNED, RETURNING, at as ring_at};
use silverpoint_wire::level::Level;

use crate::fake::{Fake, get32, now, put32, put64, site};
use crate::scratch::{Scratch, wait_until};
use crate::told::read;

#[test]
fn a_dead_session_is_stored_whole_and_removed() {
    let scratch = Scratch::new("dead");
    let mut collector = Collector::new(scratch.config()).unwrap();
    assert_eq!(collector.pass().sessions, 0);
    let mut fake = Fake::new(&scratch.root(), 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(14);
    let mut rings: Vec<_> = (0..3).map(|tid| fake.ring(slab, tid)).collect();
    for ring in &mut rings {
        (0..200).for_each(|value| ring.put(id, value));
    }
    fake.die();
    wait_until("the session is gone", || {
        collector.pass();
        !fake.is_there()
    });
    assert_eq!(collector.pass().sessions, 0);
    let stats = collector.leave();
    assert_eq!((stats.records, stats.sessions, stats.sessions_ended), (600, 1, 1));
    let trace = read(&scratch.trace());
    for ring in &rings {
        assert!(trace.values(&fake.session_id, ring.stream).into_iter().eq(0..200));
    }
    assert_eq!(*trace.watermarks[&fake.session_id].last().unwrap(), u64::MAX, "nothing follows");
    assert!(trace.notes.is_empty(), "{:?}", trace.notes);
}

#[test]
fn a_retired_ring_is_drained_and_its_slice_can_be_claimed_again() {
    let scratch = Scratch::new("retired");
    let mut fake = Fake::new(&scratch.root(), 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(11);
    let mut collector = Collector::new(scratch.config()).unwrap();
    let mut ring = fake.ring(slab, 1);
    for round in 0..10 {
        (0..30).for_each(|value| ring.put(id, 100 * round + value));
        ring.retire();
        collector.pass();
        assert_eq!(ring.get(ring_at::CONSUMED), ring.head, "drained: an adopter may have it");
        // Some looks at a quiet ring.
        collector.pass();
        collector.pass();
        ring = fake.claim(ring.at, ring.size, 1);
    }
    collector.leave();
    let trace = read(&scratch.trace());
    for round in 0..10u64 {
        let values = trace.values(&fake.session_id, round as u32 + 1);
        assert!(values.into_iter().eq(100 * round..100 * round + 30), "stream {}", round + 1);
    }
}

#[test]
fn a_thread_that_waits_at_its_last_ring_is_woken_for_an_emptied_one() {
    let scratch = Scratch::new("emptied");
    let mut fake = Fake::new(&scratch.root(), 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    let (first, second) = (fake.slab(16), fake.slab(16));
    let mut left = fake.ring(first, 1);
    left.put(id, 1);
    left.retire();
    let last = fake.ring(second, 1);
    last.set32(ring_at::WAITING, 1);
    let mut collector = Collector::new(scratch.config()).unwrap();
    // The second look finds the ring that was left empty.
    collector.pass();
    collector.pass();
    let woken = get32(&fake.rings, last.at + ring_at::WAKE as u64);
    assert!(woken > 0, "its own ring had nothing to release");
    collector.pass();
    assert_eq!(get32(&fake.rings, last.at + ring_at::WAKE as u64), woken, "once");
    collector.leave();
}

/// The collector before has died when it had begun with one of the rings. Another thread has the other one again.
#[test]
fn memory_is_given_back_of_empty_rings_alone() {
    let scratch = Scratch::new("returned");
    let mut fake = Fake::new(&scratch.root(), 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slabs = [fake.slab(16), fake.slab(16)];
    let mut rings = slabs.map(|slab| fake.ring(slab, 1));
    for ring in &mut rings {
        (0..1000).for_each(|value| ring.put(id, value));
        ring.retire();
    }
    let [begun, other] = rings;
    begun.set32(ring_at::RETURNED, RETURNING);
    let mut collector = Collector::new(scratch.config()).unwrap();
    collector.pass();
    collector.pass();
    let mut again = fake.claim(other.at, other.size, 2);
    (0..1000).for_each(|value| again.put(id, value));
    let returned = |at| get32(&fake.rings, at + ring_at::RETURNED as u64);
    // Records lie there, or a hole reads as zeros.
    let is_hole = |at: u64| {
        use std::os::unix::fs::FileExt;
        let mut bytes = [1; 16_384];
        fake.rings.read_exact_at(&mut bytes, at + 4096).unwrap();
        bytes.iter().all(|byte| *byte == 0)
    };
    assert!(!is_hole(begun.at) && !is_hole(again.at));
    wait_until("the memory is given back", || {
        collector.pass();
        returned(begun.at) == RETURNED
    });
    assert!(is_hole(begun.at) && !is_hole(again.at));
    assert_eq!(begun.get(ring_at::CONSUMED), begun.head, "the header stays");
    assert_eq!(returned(again.at), 0);
    collector.leave();
    let trace = read(&scratch.trace());
    for stream in [begun.stream, other.stream, again.stream] {
        assert!(trace.values(&fake.session_id, stream).into_iter().eq(0..1000), "stream {stream}");
    }
}

#[test]
fn the_waits_of_a_stream_that_is_gone_are_told() {
    let scratch = Scratch::new("waits");
    let mut fake = Fake::new(&scratch.root(), 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(11);
    let mut ring = fake.ring(slab, 1);
    let mut collector = Collector::new(scratch.config()).unwrap();
    for stalls in 1..=2 {
        // The first is reported at once. The next report is due in a second.
        ring.put(id, stalls);
        ring.set(ring_at::STALLS, stalls);
        ring.set(ring_at::STALL_NS, 100 * stalls);
        collector.pass();
    }
    ring.retire();
    collector.pass();
    let next = fake.claim(ring.at, ring.size, 1);
    next.set(ring_at::STALLS, 0);
    next.set(ring_at::STALL_NS, 0);
    collector.pass();
    collector.leave();
    let told = &read(&scratch.trace()).losses[&(fake.session_id, ring.stream)];
    assert_eq!((told.stalls, told.stall_ns), (2, 200));
}

#[test]
fn losses_are_told_and_the_producer_knows() {
    let scratch = Scratch::new("losses");
    let mut fake = Fake::new(&scratch.root(), 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(11);
    let mut ring = fake.ring(slab, 1);
    ring.put(id, 1);
    ring.set(ring_at::LOSSES, 7);
    ring.set(ring_at::LOSSES + 8, 2);
    ring.set(ring_at::STALLS, 3);
    ring.set(ring_at::STALL_NS, 5000);
    put64(&fake.control, at::SESSION_LOSSES as u64 + 8 * 3, 11);
    let mut collector = Collector::new(scratch.config()).unwrap();
    collector.pass();
    assert_eq!(ring.get(ring_at::TOLD), 9, "the sum that is stored");
    ring.set(ring_at::LOSSES, 8);
    collector.leave();
    assert_eq!(ring.get(ring_at::TOLD), 10);
    let trace = read(&scratch.trace());
    let of_stream = &trace.losses[&(fake.session_id, 1)];
    assert_eq!((of_stream.losses[..2].to_vec(), of_stream.stalls, of_stream.stall_ns), (vec![8, 2], 3, 5000));
    assert_eq!(trace.losses[&(fake.session_id, 0)].losses[3], 11);
}

/// For any changes of a program's counters: in the file totals never fall.
#[test]
fn losses_that_a_program_takes_back_stay_told() {
    let scratch = Scratch::new("losses-fall");
    let mut fake = Fake::new(&scratch.root(), 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(11);
    let mut ring = fake.ring(slab, 1);
    ring.put(id, 1);
    let session_losses = at::SESSION_LOSSES as u64 + 8 * 3;
    let totals = |losses: [u64; 2], stalls: u64, session: u64| {
        ring.set(ring_at::LOSSES, losses[0]);
        ring.set(ring_at::LOSSES + 8, losses[1]);
        ring.set(ring_at::STALLS, stalls);
        ring.set(ring_at::STALL_NS, 1000 * stalls);
        put64(&fake.control, session_losses, session);
    };
    totals([7, 2], 3, 11);
    let mut collector = Collector::new(scratch.config()).unwrap();
    collector.pass();
    // What grew counts, what fell stays.
    totals([4, 5], 1, 6);
    collector.leave();
    let trace = read(&scratch.trace());
    let of_stream = &trace.losses[&(fake.session_id, 1)];
    assert_eq!((of_stream.losses[..2].to_vec(), of_stream.stalls, of_stream.stall_ns), (vec![7, 5], 3, 3000));
    assert_eq!(trace.losses[&(fake.session_id, 0)].losses[3], 11);
}

#[test]
fn a_stream_that_is_gone_keeps_the_losses_it_was_known_by() {
    let scratch = Scratch::new("losses-kept");
    let mut fake = Fake::new(&scratch.root(), 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(11);
    let mut ring = fake.ring(slab, 1);
    ring.put(id, 1);
    ring.set(ring_at::LOSSES, 7);
    let mut collector = Collector::new(scratch.config()).unwrap();
    collector.pass();
    let ring = fake.claim(ring.at, ring.size, 2);
    assert_eq!(ring.get(ring_at::LOSSES), 0);
    collector.pass();
    // A successor of the collector sees only the zero.
    drop(collector);
    let mut collector = Collector::new(scratch.config()).unwrap();
    collector.pass();
    collector.leave();
    assert_eq!(read(&scratch.trace()).losses[&(fake.session_id, 1)].losses[0], 7);
}

#[test]
fn what_a_flight_recorder_has_overwritten_is_a_gap() {
    let scratch = Scratch::new("overwrite");
    let mut fake = Fake::new(&scratch.root(), 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(11);
    let mut ring = fake.ring(slab, 1);
    ring.overwrites = true;
    (0..1000).for_each(|value| ring.put(id, value));
    let mut collector = Collector::new(scratch.config()).unwrap();
    collector.pass();
    let oldest = ring.get(ring_at::OLDEST);
    (1000..1010).for_each(|value| ring.put(id, value));
    collector.leave();
    let trace = read(&scratch.trace());
    let values = trace.values(&fake.session_id, 1);
    assert!(values.len() > 60, "{}", values.len());
    assert!(values.iter().copied().eq(values[0]..1010));
    assert_eq!(trace.gaps, [(fake.session_id, 1, 0, oldest)]);
}

#[test]
fn a_reader_that_is_overtaken_again_and_again_stores_no_torn_record() {
    let scratch = Scratch::new("overtaken");
    let mut fake = Fake::new(&scratch.root(), 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(11);
    let mut ring = fake.ring(slab, 1);
    ring.overwrites = true;
    let mut collector = Collector::new(scratch.config()).unwrap();
    collector.pass();
    let count = std::thread::scope(|scope| {
        let writer = scope.spawn(move || {
            let mut value = 0u64;
            while value < 150_000 {
                // The value again and again: a record made of two does not agree with itself.
                let words = 1 + value as usize % 50;
                let args: Vec<u8> = std::iter::repeat_n(value.to_le_bytes(), words).flatten().collect();
                assert!(ring.put_bytes(id, now(), &args, Duration::ZERO));
                value += 1;
            }
            value
        });
        while !writer.is_finished() {
            collector.pass();
        }
        writer.join().unwrap()
    });
    let stats = collector.leave();
    let trace = read(&scratch.trace());
    let mut last = None;
    let records = &trace.records[&(fake.session_id, 1)];
    for record in records.iter().filter(|record| record.site == id) {
        let value = record.value();
        assert!(record.args.chunks_exact(8).all(|word| *word == value.to_le_bytes()), "torn: {record:?}");
        assert!(last.is_none_or(|last| last < value), "{last:?} before {value}");
        last = Some(value);
    }
    assert!(records.len() > 100 && count > 1000, "{} of {count}, {stats:?}", records.len());
    assert!(trace.notes.is_empty(), "{:?}", trace.notes);
}

#[test]
fn sweeping_removes_what_holds_nothing_and_bounds_the_rest() {
    let scratch = Scratch::new("sweep");
    let mut fakes: Vec<Fake> = (0..6).map(|pid| Fake::new(&scratch.root(), pid + 1)).collect();
    for (index, fake) in fakes.iter_mut().enumerate() {
        let id = fake.register(&site("{}", Level::Info, ""));
        let slab = fake.slab(11);
        let mut ring = fake.ring(slab, 1);
        if index > 0 {
            ring.put(id, 1);
        }
        if index == 1 {
            // Stored already.
            ring.set(ring_at::CONSUMED, ring.head);
        }
        if index != 5 {
            fake.die();
        }
    }
    let root = Root::open_directory(&scratch.root()).unwrap();
    let swept = sweep(&root, Limits { sessions: 2, ..Limits::default() }).unwrap();
    assert_eq!((swept.empty.len(), swept.over_limit.len(), swept.kept.len()), (2, 1, 2), "{swept:?}");
    let there: Vec<bool> = fakes.iter().map(Fake::is_there).collect();
    assert!(!there[0] && !there[1] && there[5], "{there:?}");
    let swept = sweep(&root, Limits { bytes: 0, ..Limits::default() }).unwrap();
    assert_eq!(swept.over_limit.len(), 2);
    assert!(fakes[5].is_there(), "it lives");
}

#[test]
fn pages_are_there_before_threads_come() {
    use std::os::unix::fs::MetadataExt;
    let scratch = Scratch::new("prepare");
    let mut fake = Fake::new(&scratch.root(), 1);
    let quiet = Fake::new(&scratch.root(), 2);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(11);
    let mut ring = fake.ring(slab, 1);
    ring.put(id, 1);
    // The fake says that the whole slab is backed; here it is only begun.
    put64(&fake.control, 4096 + 8, 4096);
    let blocks = |fake: &Fake| fake.rings.metadata().unwrap().blocks() * 512;
    let before = blocks(&fake);
    let mut collector = Collector::new(scratch.config()).unwrap();
    // The rest of this slab, and the beginnings of four others; a piece at each pass.
    wait_until("pages", || {
        collector.pass();
        blocks(&fake) - before >= 300 << 10
    });
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(25));
        collector.pass();
    }
    let prepared = blocks(&fake) - before;
    assert!((300 << 10..=400 << 10).contains(&prepared), "{prepared} bytes");
    assert_eq!(blocks(&quiet), 0, "a session that may never record costs nothing");
    collector.leave();
}

#[test]
fn an_eager_collector_has_the_first_large_ring_ready_before_anybody_records() {
    use std::os::unix::fs::MetadataExt;
    let scratch = Scratch::new("eager");
    let fake = Fake::new(&scratch.root(), 1);
    put32(&fake.control, at::SLAB_BYTES as u64, 256 << 10);
    put32(&fake.control, at::SLAB_COUNT as u64, 8);
    let mut collector = Collector::new(Config { is_eager: true, ..scratch.config() }).unwrap();
    collector.pass();
    // Four slabs: the fourth whole, of the others 128 KiB.
    let prepared = fake.rings.metadata().unwrap().blocks() * 512;
    assert!((640 << 10..=660 << 10).contains(&prepared), "{prepared} bytes");
    collector.leave();
}
