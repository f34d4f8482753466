//! Many threads, signal handlers.

use std::collections::{HashMap, HashSet};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;
use std::{io, mem, ptr, thread};

use silverpoint::{event, info};

use crate::{Role, Scene, Test, reader, rings, side_by_side};

pub const TESTS: &[Test] = &[
    ("ten_thousand_threads_one_after_the_other", one_after_the_other),
    ("ten_thousand_threads_at_once", at_once),
    ("a_storm_of_signals_tears_nothing", signal_storm),
    ("threads_that_claim_large_rings_at_once_cut_nothing", large_at_once),
    ("threads_have_names", names),
    ("a_prepared_thread_has_its_ring_and_no_record", prepared),
];
pub const ROLES: &[Role] = &[
    ("one_after_the_other", || many(1)),
    ("at_once", || many(THREADS)),
    ("large", large),
    ("signals", signals),
    ("named", named),
    ("prepares", prepares),
];

const THREADS: usize = 10_000;

/// Each of many threads records once, `at_once` of them alive together.
fn many(at_once: usize) {
    for first in (0..THREADS).step_by(at_once) {
        let all_here = Arc::new(Barrier::new(at_once));
        let spawn = |n| {
            let all_here = all_here.clone();
            let body = move || {
                event!("once", n);
                all_here.wait();
            };
            thread::Builder::new().stack_size(64 << 10).spawn(body).expect("a thread")
        };
        let threads: Vec<_> = (first..first + at_once).map(spawn).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

fn check(role: &str) -> reader::Session {
    let scene = Scene::new();
    scene.run(role, &[("SILVERPOINT_FILTER", "info")]);
    let session = reader::only_session(scene.root());
    assert_eq!(session.losses(), [0; 8]);
    let all: HashSet<String> = session.args_of("once").into_iter().collect();
    assert_eq!(all.len(), THREADS, "each record is there");
    session
}

fn one_after_the_other() {
    let session = check("one_after_the_other");
    assert_eq!(session.streams.len(), THREADS);
}

fn at_once() {
    let session = check("at_once");
    assert_eq!(session.streams.len(), THREADS);
    let owners: HashSet<u32> = session.streams.values().map(|stream| stream.header.owner_tid).collect();
    assert_eq!(owners.len(), THREADS);
}

/// Threads of [`large`]; each needs a slab of the ring file.
const LARGE: usize = 16;

/// Each of many threads has a first record that only the largest rings can have, all at the same time.
fn large() {
    let start = Barrier::new(LARGE);
    let text = "x".repeat(200_000);
    let record = || {
        start.wait();
        event!("large", text);
    };
    side_by_side(2 << 20, &[&record as &(dyn Fn() + Sync); LARGE]);
}

/// A thread that comes too late for a new slab takes the next one, not a ring that is too small.
fn large_at_once() {
    for _ in 0..10 {
        let scene = Scene::new();
        scene.run("large", &[("SILVERPOINT_FILTER", "info"), ("SILVERPOINT_MEMORY", "64M")]);
        let session = reader::only_session(scene.root());
        let records: Vec<_> = session.records().into_iter().filter(|record| record.what == "large").collect();
        let sizes: Vec<_> = records.iter().map(|record| (record.bytes.len(), record.truncated)).collect();
        assert_eq!(records.len(), LARGE);
        assert!(sizes.iter().all(|(bytes, truncated)| *bytes > 200_000 && !truncated), "{sizes:?}");
        assert_eq!(session.losses(), [0; 8]);
    }
}

static HANDLED: AtomicU64 = AtomicU64::new(0);
/// Handled signals that end the storm. In an emulator each takes a hundred times as long.
fn storm() -> u64 {
    if std::env::var_os("TEST_RUNNER").is_some() { 20_000 } else { 1_000_000 }
}

extern "C" fn handler(signal: libc::c_int) {
    let n = HANDLED.fetch_add(1, Ordering::Relaxed);
    event!("handled", n, signal, "a text", [n; 3]);
}

/// A thread that records is interrupted all the time by handlers that record, and that are interrupted themselves.
fn signals() {
    let signals = [libc::SIGUSR1, libc::SIGUSR2, libc::SIGALRM, libc::SIGVTALRM, libc::SIGPROF];
    for signal in signals {
        // SAFETY: the handler only records and counts; an empty mask lets other signals interrupt it.
        unsafe {
            let mut action: libc::sigaction = mem::zeroed();
            action.sa_sigaction = handler as *const () as usize;
            libc::sigaction(signal, &action, ptr::null_mut());
        }
    }
    let done = AtomicBool::new(false);
    // SAFETY: asks for the calling thread's own id.
    let victim = unsafe { libc::pthread_self() };
    let mut calls = 0u64;
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut sent, enough) = (0, storm());
            while HANDLED.load(Ordering::Relaxed) < enough {
                // SAFETY: the victim lives as long as the scope.
                unsafe { libc::pthread_kill(victim, signals[sent % signals.len()]) };
                sent += 1;
            }
            done.store(true, Ordering::Relaxed);
        });
        while !done.load(Ordering::Relaxed) {
            event!("main", calls, calls * 2, "another text");
            calls += 1;
        }
    });
    println!("{calls} {}", HANDLED.load(Ordering::Relaxed));
}

/// Numbers that were there.
#[derive(Default)]
struct Seen(Vec<u64>);

impl Seen {
    /// False: it was there before.
    fn insert(&mut self, number: u64) -> bool {
        let (word, bit) = (number as usize / 64, 1 << (number % 64));
        if word >= self.0.len() {
            self.0.resize((word + 1) * 2, 0);
        }
        let is_new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        is_new
    }
}

/// The arguments of a record of the main loop, byte for byte.
fn main_bytes(n: u64) -> Vec<u8> {
    [&n.to_le_bytes()[..], &(2 * n).to_le_bytes(), &12u32.to_le_bytes(), b"another text"].concat()
}

/// Those of a handler's.
fn handled_bytes(n: u64, signal: &[u8]) -> Vec<u8> {
    let n = n.to_le_bytes();
    [&n[..], signal, &6u32.to_le_bytes(), b"a text", &n, &n, &n, &[0; 2]].concat()
}

/// Somebody collects all the time: a million handlers, and every record is there but for those that came too deep.
fn signal_storm() {
    let scene = Scene::new();
    let settings = [
        ("SILVERPOINT_FILTER", "info"),
        ("SILVERPOINT_COLLECTOR", "1"),
        ("SILVERPOINT_POLICY", "block=forever"),
        // Not hundreds of megabytes that this test reads slower than they are made.
        ("SILVERPOINT_MEMORY", "32M"),
    ];
    let mut command = scene.command("signals");
    let mut child = command.envs(settings).stdout(Stdio::piped()).spawn().unwrap();
    let (mut recorded, mut has_nested) = (0, false);
    let mut seen: [Seen; 2] = Default::default();
    let mut last: HashMap<u32, u64> = HashMap::new();
    let session = rings::collect(scene.root(), &mut child, Duration::from_micros(200), |_, drain| {
        drain.take(|ring, record| {
            let last = last.entry(ring.stream).or_default();
            assert!(*last <= record.header.ticks, "in order within a stream");
            *last = record.header.ticks;
            if record.header.site < 16 {
                return;
            }
            recorded += 1;
            has_nested |= ring.lane > 0;
            let n = u64::from_le_bytes(*record.args.first_chunk().unwrap());
            let (is_main, whole) = match record.args.len() {
                32 => (true, main_bytes(n)),
                _ => (false, handled_bytes(n, &record.args[8..12])),
            };
            assert_eq!(record.args, whole, "torn");
            assert!(seen[usize::from(is_main)].insert(n), "twice: {n}");
        });
    });
    let said = io::read_to_string(child.stdout.take().unwrap()).unwrap();
    let (calls, handled) = said.trim().split_once(' ').unwrap();
    let (calls, handled): (u64, u64) = (calls.parse().unwrap(), handled.parse().unwrap());
    assert!(handled >= storm(), "{handled} handled");
    let mut losses = session.losses();
    let too_deep = mem::take(&mut losses[4]);
    assert_eq!(losses, [0; 8], "nothing is lost but what came too deep");
    assert_eq!(recorded + too_deep, calls + handled);
    // How many is the machine's affair: those that come while all lanes wait for this process do.
    assert!(handled - too_deep >= 1000, "{too_deep} of {handled} came too deep");
    assert!(has_nested, "handlers interrupted records");
    assert_eq!(session.site("main").signature, "LLs");
    assert_eq!(session.site("handled").signature, "Lis#3:L");
}

fn named() {
    let body = || info!("named");
    thread::Builder::new().name("a worker".into()).spawn(body).unwrap().join().unwrap();
}

fn names() {
    let scene = Scene::new();
    scene.run("named", &[("SILVERPOINT_FILTER", "info")]);
    let session = reader::only_session(scene.root());
    let stream = session.streams.values().next().unwrap();
    assert_eq!(stream.header.name, *b"a worker\0\0\0\0\0\0\0\0");
    assert_ne!(stream.header.owner_tid, session.pid);
}

fn prepares() {
    let silent = || {
        silverpoint::prepare_thread();
        silverpoint::prepare_thread();
    };
    let recording = || {
        silverpoint::prepare_thread();
        event!("once", 1);
    };
    thread::spawn(silent).join().unwrap();
    thread::spawn(recording).join().unwrap();
}

fn prepared() {
    let scene = Scene::new();
    scene.run("prepares", &[("SILVERPOINT_FILTER", "info")]);
    let session = reader::only_session(scene.root());
    assert_eq!(session.args_of("once"), ["1"]);
    assert_eq!(session.losses(), [0; 8]);
    // The second thread may have taken over the ring of the first, which holds nothing.
    assert!(session.streams.values().map(|stream| stream.records.len()).sum::<usize>() == 1);
}
