//! Sleeping, waking, and what waiting costs.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use silverpoint_collect::Collector;
use silverpoint_wire::layout::control::at;
use silverpoint_wire::layout::ring::at as ring_at;
use silverpoint_wire::level::Level;

use crate::fake::{Fake, site};
use crate::roles::{Role, program};
use crate::scratch::{Scratch, wait_until};
use crate::told::read;

/// Passes and rests until the collector dozes.
fn fall_asleep(collector: &mut Collector, fake: &Fake) {
    let start = Instant::now();
    while fake.control32(at::COLLECTOR_SLEEPING) != 1 {
        collector.pass();
        collector.rest();
        assert!(start.elapsed() < Duration::from_secs(300), "it does not fall asleep");
    }
}

#[test]
fn an_idle_collector_sleeps_and_beats() {
    const PASSES: u32 = 12;
    let scratch = Scratch::new("idle");
    let mut fake = Fake::new(&scratch.root(), 1);
    let slab = fake.slab(11);
    let _rings: Vec<_> = (0..8).map(|tid| fake.ring(slab, tid)).collect();
    let mut collector = Collector::new(scratch.config()).unwrap();
    collector.pass();
    fall_asleep(&mut collector, &fake);
    let size = std::fs::metadata(scratch.trace()).unwrap().len();
    let (beat, start) = (fake.control32(at::HEARTBEAT), Instant::now());
    for _ in 0..PASSES {
        collector.pass();
        collector.rest();
    }
    let (beats, took) = (fake.control32(at::HEARTBEAT) - beat, start.elapsed());
    assert!((1..=PASSES).contains(&beats), "{beats} heartbeats in {PASSES} passes");
    // At most 30 wake-ups a second; a loaded machine makes them fewer. (What that costs is measured by bench/run, part idle.)
    assert!(took >= Duration::from_secs(1) * PASSES / 30, "{PASSES} passes in {took:?}");
    assert_eq!(std::fs::metadata(scratch.trace()).unwrap().len(), size, "an idle session writes nothing");
}

#[test]
fn the_doorbell_wakes_the_collector() {
    const SOON: Duration = Duration::from_millis(40);
    let scratch = Scratch::new("doorbell");
    let mut fakes: Vec<Fake> = (0..3).map(|pid| Fake::new(&scratch.root(), pid + 1)).collect();
    let mut collector = Collector::new(scratch.config()).unwrap();
    for several in [false, true] {
        if !several {
            // Alone at first.
            for fake in &mut fakes[1..] {
                std::fs::rename(&fake.path, scratch.path().join(&fake.name)).unwrap();
            }
        } else {
            for fake in &mut fakes[1..] {
                std::fs::rename(scratch.path().join(&fake.name), &fake.path).unwrap();
            }
            wait_until("all sessions are taken", || collector.pass().sessions == 3);
        }
        let bell = &fakes[if several { 2 } else { 0 }];
        // The doorbell's word in a map of the fake's own: as a producer has it.
        let map = Doorbell::of(bell);
        let (mut quickest, start) = (Duration::MAX, Instant::now());
        // How soon it wakes is a matter of the machine's load too, but not each time.
        while quickest >= SOON && start.elapsed() < Duration::from_secs(300) {
            collector.pass();
            fall_asleep(&mut collector, bell);
            // Silence until the rests are long.
            for _ in 0..3 {
                collector.pass();
                collector.rest();
            }
            collector.pass();
            let (rung, woken) = std::thread::scope(|scope| {
                let ringer = scope.spawn(|| {
                    std::thread::sleep(Duration::from_millis(10));
                    map.ring();
                    Instant::now()
                });
                collector.rest();
                let woken = Instant::now();
                (ringer.join().unwrap(), woken)
            });
            // It did not wake of itself before.
            if woken >= rung - Duration::from_millis(1) {
                quickest = quickest.min(woken.saturating_duration_since(rung));
            }
        }
        assert!(
            quickest < SOON,
            "several: {several}: woken {quickest:?} after the ring; of itself it wakes 90 ms after it"
        );
    }
}

/// The producer's side of the doorbell: its own map of its own file.
struct Doorbell {
    page: *mut std::ffi::c_void,
}

// SAFETY: the page is only used through an atomic word, which any thread may do.
unsafe impl Sync for Doorbell {}

impl Doorbell {
    fn of(fake: &Fake) -> Self {
        use rustix::mm::{MapFlags, ProtFlags};
        // SAFETY: a new mapping of a file that keeps its size.
        let page = unsafe {
            let protection = ProtFlags::READ | ProtFlags::WRITE;
            rustix::mm::mmap(std::ptr::null_mut(), 4096, protection, MapFlags::SHARED, &fake.control, 0)
        };
        Self { page: page.unwrap() }
    }

    fn ring(&self) {
        // SAFETY: the word lies in the page, which stays mapped as long as self.
        let word = unsafe { &*self.page.cast::<u8>().add(at::DOORBELL).cast::<AtomicU32>() };
        word.fetch_add(1, Ordering::Release);
        rustix::thread::futex::wake(word, rustix::thread::futex::Flags::empty(), u32::MAX >> 1).unwrap();
    }
}

impl Drop for Doorbell {
    fn drop(&mut self) {
        // SAFETY: the mapping made in of; nothing refers to it.
        let _ = unsafe { rustix::mm::munmap(self.page, 4096) };
    }
}

#[test]
fn a_waiting_producer_is_told_of_room() {
    let scratch = Scratch::new("waiting");
    let mut fake = Fake::new(&scratch.root(), 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(11);
    let mut ring = fake.ring(slab, 1);
    (0..50).for_each(|value| ring.put(id, value));
    ring.set32(ring_at::WAITING, 1);
    let wake = ring.get(ring_at::WAKE) as u32;
    let mut collector = Collector::new(scratch.config()).unwrap();
    collector.pass();
    assert_eq!(ring.get(ring_at::WAKE) as u32, wake + 1);
    assert_eq!(collector.stats().wakes, 1);
    collector.leave();
}

/// A program of the Rust frontend, its threads and its end; everything that it recorded is in the file exactly once.
fn collect_program(name: &str, threads: u64, records: u64, end: &str) {
    let scratch = Scratch::new(name);
    let mut collector = Collector::new(scratch.config()).unwrap();
    let mut child = program(scratch.root(), threads, records, end).spawn().unwrap();
    let start = Instant::now();
    let waiter = std::thread::spawn(move || child.wait().unwrap());
    while !(waiter.is_finished() && collector.sessions().is_empty() && collector.stats().sessions > 0) {
        collector.pass();
        collector.rest();
        assert!(start.elapsed() < Duration::from_secs(300), "{:?}", collector.stats());
    }
    let status = waiter.join().unwrap();
    assert_eq!(status.success(), end == "exit", "{status}");
    let messages = collector.take_messages();
    assert!(messages.is_empty(), "{messages:?}");
    collector.leave();
    is_whole(&scratch, threads, records);
}

/// Every record that the program's threads made is in the trace, once, in order.
fn is_whole(scratch: &Scratch, threads: u64, records: u64) {
    let trace = read(&scratch.trace());
    assert!(trace.losses.values().all(|info| info.losses == [0; 8]), "{:?}", trace.losses);
    assert!(trace.gaps.is_empty(), "{:?}", trace.gaps);
    // By thread, over all the streams that it had one after the other.
    let mut by_thread = vec![Vec::new(); threads as usize];
    let mut all: Vec<_> = trace.records.values().flatten().filter(|record| record.site >= 16).collect();
    all.sort_by_key(|record| record.ticks);
    for record in all {
        let word = |at: usize| u64::from_le_bytes(record.args[at..at + 8].try_into().unwrap());
        by_thread[word(8) as usize].push(word(0));
    }
    for (thread, values) in by_thread.iter().enumerate() {
        assert_eq!(values.len() as u64, records, "thread {thread}");
        assert!(values.iter().copied().eq(0..records), "thread {thread}");
    }
    assert!(std::fs::read_dir(scratch.root()).unwrap().next().is_none(), "the session is removed");
}

#[test]
fn a_real_program_survives_its_collectors() {
    // The first collector may have had the time to store everything.
    assert!((0..20).any(|_| collectors_of_a_program() >= 2), "no collector was killed in time");
}

/// Kills collectors until the program has ended; gives their number.
fn collectors_of_a_program() -> u64 {
    let scratch = Scratch::new("program-collectors");
    let role = || Role::new(scratch.root(), scratch.trace()).rotate_bytes(1 << 20).start();
    let mut child = program(scratch.root(), 3, 150_000, "kill").spawn().unwrap();
    let waiter = std::thread::spawn(move || child.wait().unwrap());
    let mut rounds = 0u64;
    while !waiter.is_finished() {
        let mut collector = role();
        std::thread::sleep(Duration::from_micros(15_000 + 6_007 * rounds % 40_000));
        collector.kill().unwrap();
        collector.wait().unwrap();
        rounds += 1;
    }
    waiter.join().unwrap();
    // The last may have finished the session; then there is none to wait for.
    if std::fs::read_dir(scratch.root()).unwrap().next().is_some() {
        assert!(role().wait().unwrap().success());
    }
    is_whole(&scratch, 3, 150_000);
    rounds
}

#[test]
fn a_real_program_is_collected_whole() {
    collect_program("program", 4, 20_000, "exit");
}

#[test]
fn a_real_program_that_is_killed_is_collected_whole() {
    collect_program("program-killed", 3, 20_000, "kill");
}
