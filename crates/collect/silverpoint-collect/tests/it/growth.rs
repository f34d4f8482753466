//! What a call waits for when its thread's ring grows: counted in page faults, which is what takes long.

use std::os::unix::fs::FileExt;
use std::process::Command;
use std::sync::Barrier;
use std::time::Duration;

use silverpoint_collect::Collector;
use silverpoint_shm::observer::{ObservedSession, Slice, list};
use silverpoint_shm::root::Root;
use silverpoint_wire::layout::ring::{RETURNED, RETURNING, at};

use crate::scratch::{Scratch, wait_until};

/// Records that fill most of the largest ring, which nobody empties meanwhile.
const RECORDS: u64 = 45_000;
/// Records that fill three quarters of a ring of 128 KiB, and those that it has grown from.
const FEWER: u64 = 3_000;
const LARGEST: u32 = 1 << 20;

/// Page faults of this thread so far, and those that a populating call has saved.
fn faults() -> i64 {
    // SAFETY: all zero is a value of this structure, which the call fills.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage), 0);
        usage.ru_minflt
    }
}

/// Page faults of so many records: most of one call, and of all.
fn grow(records: u64) -> (i64, i64) {
    // The first records of a thread touch its stack, and code that nobody has run yet.
    (0..10).for_each(|n: u64| silverpoint::info!("n {}", n));
    let begin = faults();
    let mut most = 0;
    for n in 0..records {
        let before = faults();
        silverpoint::info!("n {}", n);
        most = most.max(faults() - before);
    }
    (most, faults() - begin)
}

fn largest_rings(session: &ObservedSession) -> usize {
    let mut slices: Vec<Slice> = Vec::new();
    session.slices(session.counters().unwrap().slabs_next, &mut slices, |fault| panic!("{fault}")).unwrap();
    slices.iter().filter(|slice| slice.size == LARGEST).count()
}

/// Runs a role to its end in a child process, over files in memory. `None`, said loudly: there is no such file system.
fn run_role(role: &str, memory: &str, more: &[(&str, &str)]) -> Option<Scratch> {
    let Some(scratch) = Scratch::in_memory("growth") else {
        silverpoint_tests::skipped!("there is no file system in memory at /dev/shm");
        return None;
    };
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([role, "--exact", "--ignored", "--nocapture"]);
    command.env("SP_GROWS", scratch.path()).env("SILVERPOINT_DIR", scratch.root());
    command.env("SILVERPOINT_FILTER", "info").env("SILVERPOINT_COLLECTOR", "1");
    command.env("SILVERPOINT_MEMORY", memory).envs(more.iter().copied());
    assert!(command.status().unwrap().success());
    Some(scratch)
}

#[test]
fn no_call_waits_for_the_pages_of_a_ring() {
    run_role("growth::role_of_a_growing_program", "32M", &[("SILVERPOINT_POLICY", "drop")]);
}

/// The program and its collector in one process: what one of them does is then over when the other goes on.
#[test]
#[ignore = "a role that another test starts in a child process"]
fn role_of_a_growing_program() {
    let Some(path) = std::env::var_os("SP_GROWS") else { return };
    let root = std::path::PathBuf::from(path).join("root");
    let end = Barrier::new(2);
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        // It keeps its ring: the next thread needs a new one. Nobody has prepared this, so the thread makes it a
        // page at a time.
        scope.spawn(|| {
            send.send(grow(RECORDS)).unwrap();
            end.wait();
        });
        let (most, all) = receive.recv().unwrap();
        assert!(all >= 250, "{all} faults");
        assert!(most <= 4, "{most} faults in one call, as many as a ring of 16 KiB has pages");
        let output = silverpoint_collect::OutputConfig::new(root.with_file_name("trace.silver"));
        let mut collector = Collector::new(silverpoint_collect::Config::new(root.clone(), output)).unwrap();
        let name = list(&Root::open_directory(&root).unwrap()).unwrap()[0];
        let session = ObservedSession::open_read_only(&Root::open_directory(&root).unwrap(), name).unwrap();
        assert_eq!(largest_rings(&session), 1);
        let next = session.counters().unwrap().slabs_next;
        let whole = session.header().slab_bytes;
        let mut pass_until = |what: &str, is_so: &dyn Fn(u32) -> bool| {
            wait_until(what, || {
                std::thread::sleep(Duration::from_millis(1));
                collector.pass();
                is_so(session.slab(next).unwrap().unwrap().prepared)
            });
        };
        pass_until("a part of the next slab is prepared", &|prepared| prepared > 0);
        assert!(session.slab(next).unwrap().unwrap().prepared < whole);
        let (most, _) = scope.spawn(|| grow(FEWER)).join().unwrap();
        assert_eq!(largest_rings(&session), 1, "the next one will be ready soon");
        assert!(most <= 2, "{most} faults in one call");
        pass_until("the next slab is prepared", &|prepared| prepared == whole);
        assert_eq!(session.counters().unwrap().slabs_next, next);
        let (most, all) = scope.spawn(|| grow(RECORDS)).join().unwrap();
        assert_eq!(largest_rings(&session), 2, "it has grown");
        assert_eq!(session.slab(next).unwrap().unwrap().backed, session.header().slab_bytes);
        // One fault enters 64 KiB. A call has two where a ring begins at the end of such a piece.
        assert!(most <= 2, "{most} faults in one call");
        assert!(all <= 40, "{all} faults");
        end.wait();
        collector.leave();
    });
}

/// Bursts of five times what the largest ring holds. Between them the memory is given back, by a collector
/// that dies meanwhile and by its successor.
#[test]
fn memory_of_a_burst_is_given_back() {
    let Some(scratch) = run_role("growth::role_of_a_bursting_program", "16M", &[]) else { return };
    let trace = crate::told::read(&scratch.trace());
    assert!(
        trace.losses.values().all(|told| told.losses == [0; 8] && told.stalls == 0),
        "{:?}",
        trace.losses
    );
    // Streams in the order in which they began.
    let numbers: Vec<u64> = trace.records.values().flatten().map(crate::told::Told::value).collect();
    assert!(numbers.into_iter().eq((0..3).flat_map(|_| 0..200_000)), "each record once and in order");
}

#[test]
#[ignore = "a role that another test starts in a child process"]
fn role_of_a_bursting_program() {
    let Some(path) = std::env::var_os("SP_GROWS") else { return };
    let root = std::path::PathBuf::from(path).join("root");
    let burst = || (0..200_000u64).for_each(|n| silverpoint::info!("n {}", n));
    let output = || silverpoint_collect::OutputConfig::new(root.with_file_name("trace.silver"));
    let collector = || Collector::new(silverpoint_collect::Config::new(root.clone(), output())).unwrap();
    // While nobody collects.
    burst();
    let mut first = collector();
    let name = list(&Root::open_directory(&root).unwrap()).unwrap()[0];
    let session = ObservedSession::open_read_only(&Root::open_directory(&root).unwrap(), name).unwrap();
    assert!(session.used_bytes() > 4 << 20);
    let slabs = || session.counters().unwrap().slabs_next;
    let rings = std::fs::File::open(root.join(name.to_string()).join("rings")).unwrap();
    let is_one = |wanted: u32| {
        let mut slices: Vec<Slice> = Vec::new();
        session.slices(slabs(), &mut slices, |fault| panic!("{fault}")).unwrap();
        slices.iter().any(|slice| {
            let mut word = [0; 4];
            rings.read_exact_at(&mut word, slice.at + at::RETURNED as u64).unwrap();
            u32::from_le_bytes(word) == wanted
        })
    };
    wait_until("memory is being given back", || {
        first.pass();
        is_one(RETURNING)
    });
    drop(first); // without a word, as one that is killed
    burst();
    assert!(is_one(RETURNING), "nobody takes such a ring");
    assert_eq!(largest_rings(&session), 6, "but a new one");
    let (before, all) = (slabs(), session.used_bytes());
    let mut second = collector();
    wait_until("its memory is given back", || {
        second.pass();
        // Five rings of six, less what the collector prepares.
        !is_one(RETURNING) && session.used_bytes() + (2 << 20) < all
    });
    assert!(is_one(RETURNED));
    burst();
    assert_eq!(slabs(), before, "it has taken the same rings again");
    second.pass();
    second.leave();
}

#[test]
fn the_directory_says_how_far_slabs_are_prepared() {
    let Some(scratch) = Scratch::in_memory("word") else {
        silverpoint_tests::skipped!("there is no file system in memory at /dev/shm");
        return;
    };
    let fake = crate::fake::Fake::new(&scratch.root(), 1);
    let root = Root::open_directory(&scratch.root()).unwrap();
    let session = ObservedSession::open(&root, list(&root).unwrap()[0]).unwrap();
    let bytes = session.header().slab_bytes;
    let prepared = |slab| session.slab(slab).unwrap().unwrap().prepared;
    let config = || silverpoint_collect::Config { is_eager: true, ..scratch.config() };
    let mut collector = Collector::new(config()).unwrap();
    collector.pass();
    assert_eq!((0..5).map(prepared).collect::<Vec<_>>(), [bytes, bytes, bytes, bytes, 0]);
    // Pages stay, and the next collector does not ask for them again.
    collector.leave();
    let used = session.used_bytes();
    let mut collector = Collector::new(config()).unwrap();
    collector.pass();
    assert_eq!((0..5).map(prepared).collect::<Vec<_>>(), [bytes, bytes, bytes, bytes, 0]);
    assert_eq!(session.used_bytes(), used);
    collector.leave();
    drop(fake);
}
