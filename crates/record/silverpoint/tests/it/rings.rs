//! Policies, accounting, growth, and switching from outside.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use silverpoint::{event, info, trace};
use silverpoint_shm::observer::{self, ObservedSession};
use silverpoint_shm::root::Root;

use crate::reader::{Drain, Session};
use crate::{Role, Scene, Test, reader};

pub const TESTS: &[Test] = &[
    ("a_flight_recorder_keeps_the_latest", flight_recorder),
    ("drop_counts_every_record", drop_counts),
    ("a_large_record_of_a_late_thread_is_whole", late_and_large),
    ("a_burst_that_fits_into_the_memory_waits_for_nobody", burst_waits_for_nobody),
    ("block_gives_up_and_says_so", block_gives_up),
    ("block_does_not_wait_for_a_collector_that_stands_still", stands_still),
    ("block_waits_for_a_collector_whose_heart_beats", heart_beats),
    ("block_loses_nothing_while_somebody_collects", block_loses_nothing),
    ("a_collector_that_lets_go_leaves_a_flight_recorder", letting_go),
    ("sites_are_switched_from_outside", switched_from_outside),
];
pub const ROLES: &[Role] = &[
    ("storm", storm),
    ("four_threads", four_threads),
    ("crowd", crowd),
    ("switched", switched),
    ("until_killed", until_killed),
];

const RECORDS: u64 = 200_000;

fn storm() {
    for n in 0..RECORDS {
        event!("n", n);
    }
}

fn four_threads() {
    thread::scope(|scope| {
        for number in 0..4u64 {
            scope.spawn(move || {
                for n in 0..RECORDS / 2 {
                    match n % 3 {
                        0 => event!("n", number, n),
                        1 => event!("n", number, n, "a text of some length"),
                        _ => event!("n", number, n, 1.5f64, [n; 7]),
                    }
                }
            });
        }
    });
}

/// Threads that take the memory that is not left to others, all alive. Then one that fills the ring it can
/// have, and has a large record.
fn crowd() {
    let over = Barrier::new(CROWD + 1);
    thread::scope(|scope| {
        for _ in 0..CROWD {
            let (done, wait) = mpsc::channel();
            let over = &over;
            scope.spawn(move || {
                for n in 0..1500u64 {
                    event!("n", n);
                }
                done.send(()).unwrap();
                over.wait();
            });
            wait.recv().unwrap();
        }
        scope.spawn(|| {
            for n in 0..100u64 {
                event!("late", n);
            }
            event!("large", "x".repeat(LARGE));
        });
        over.wait();
    });
}

const CROWD: usize = 30;
const LARGE: usize = 2000;

fn late_and_large() {
    let scene = Scene::new();
    let settings = [
        ("SILVERPOINT_FILTER", "info"),
        ("SILVERPOINT_COLLECTOR", "1"),
        ("SILVERPOINT_POLICY", "drop"),
        ("SILVERPOINT_MEMORY", "1M"),
    ];
    scene.run("crowd", &settings);
    let session = reader::only_session(scene.root());
    let late = session.args_of("late").len();
    assert!(late < 100, "it found no larger ring for comfort: {late} records");
    assert_eq!(session.args_of("large"), [format!("<{LARGE}>")], "but for what needs one");
}

fn flight_recorder() {
    let scene = Scene::new();
    scene.run("storm", &[("SILVERPOINT_FILTER", "info")]);
    let session = reader::only_session(scene.root());
    let numbers: Vec<u64> = session.args_of("n").iter().map(|n| n.parse().unwrap()).collect();
    // The kept records are the end, without a gap: the last ring, and the smaller ones before it as far as
    // they were kept.
    assert_eq!(numbers.last(), Some(&(RECORDS - 1)));
    let last_ring = session.streams.values().next_back().unwrap();
    let kept: Vec<u64> = last_ring.records.iter().map(|r| r.args.parse().unwrap()).collect();
    assert!(kept.windows(2).all(|pair| pair[1] == pair[0] + 1));
    let bytes = kept.len() as u64 * 24;
    let capacity = u64::from(last_ring.header.capacity);
    assert!(bytes > capacity * 3 / 4 && bytes <= capacity, "{bytes} of {capacity}");
    assert_eq!(session.losses(), [0; 8], "forgetting is no loss");
    assert!(!session.alive);
    let sizes: Vec<u32> = session.streams.values().map(|stream| stream.header.capacity).collect();
    assert_eq!(sizes, [1792, 16_128, 130_816, 1_048_320], "it grew step by step");
    let chain: Vec<u32> = session.streams.values().map(|stream| stream.header.previous).collect();
    assert_eq!(chain, [0, 1, 2, 3]);
}

fn drop_counts() {
    // The policy of all levels, and that of this one.
    for policy in ["drop", "block,info=drop"] {
        let scene = Scene::new();
        let settings = [
            ("SILVERPOINT_FILTER", "info"),
            ("SILVERPOINT_COLLECTOR", "1"),
            ("SILVERPOINT_POLICY", policy),
            ("SILVERPOINT_MEMORY", "1M"),
        ];
        scene.run("storm", &settings);
        let session = reader::only_session(scene.root());
        let numbers: Vec<u64> = session.args_of("n").iter().map(|n| n.parse().unwrap()).collect();
        assert!(
            numbers.iter().copied().eq(0..numbers.len() as u64),
            "{policy}: what is kept is the beginning"
        );
        let losses = session.losses();
        assert_eq!(losses[0] + numbers.len() as u64, RECORDS, "{policy}");
        assert_eq!(losses[1..], [0; 7], "{policy}");
        assert!(numbers.len() > 1000, "{policy}");
    }
}

fn block_gives_up() {
    let scene = Scene::new();
    let settings = [
        ("SILVERPOINT_FILTER", "info"),
        ("SILVERPOINT_COLLECTOR", "1"),
        ("SILVERPOINT_BLOCK_MAX", "200ms"),
        ("SILVERPOINT_MEMORY", "256K"),
    ];
    let start = Instant::now();
    scene.run("storm", &settings);
    assert!(start.elapsed() >= Duration::from_millis(200));
    let session = reader::only_session(scene.root());
    let losses = session.losses();
    assert_eq!(losses[1] + session.args_of("n").len() as u64, RECORDS, "collector_gone");
    let stalls: Vec<_> = session.streams.values().map(|s| (s.header.stalls, s.header.stall_ns)).collect();
    let (stalls, stall_ns) = stalls.into_iter().reduce(|a, b| (a.0 + b.0, a.1 + b.1)).unwrap();
    assert_eq!(stalls, 1, "it waits once, then drops until the ring is half empty");
    assert!(stall_ns >= 150_000_000, "{stall_ns}");
}

/// Nobody collects, and the burst is five times as large as the largest ring.
fn burst_waits_for_nobody() {
    for policy in ["block=forever", "drop"] {
        let scene = Scene::new();
        let settings = [
            ("SILVERPOINT_FILTER", "info"),
            ("SILVERPOINT_COLLECTOR", "1"),
            ("SILVERPOINT_POLICY", policy),
            ("SILVERPOINT_MEMORY", "16M"),
        ];
        scene.run("storm", &settings);
        let session = reader::only_session(scene.root());
        let numbers: Vec<u64> = session.args_of("n").iter().map(|n| n.parse().unwrap()).collect();
        assert!(numbers.into_iter().eq(0..RECORDS), "every record once and in order");
        assert_eq!(session.losses(), [0; 8]);
        assert_eq!(session.streams.values().map(|stream| stream.header.stalls).sum::<u64>(), 0);
        let rings: Vec<_> = session.streams.values().map(|stream| stream.header).collect();
        let largest = rings.iter().filter(|header| header.capacity == 1_048_320).count();
        assert_eq!(largest, 5, "of 4.8 MB");
        assert!(rings.iter().zip(0..).all(|(header, before)| header.previous == before), "one chain");
    }
}

/// Nobody has the patience that the longest wait allows.
const PATIENT: [(&str, &str); 4] = [
    ("SILVERPOINT_FILTER", "info"),
    ("SILVERPOINT_COLLECTOR", "1"),
    ("SILVERPOINT_BLOCK_MAX", "3600s"),
    ("SILVERPOINT_MEMORY", "256K"),
];

fn stands_still() {
    let scene = Scene::new();
    scene.run("storm", &PATIENT);
    let session = reader::only_session(scene.root());
    let losses = session.losses();
    assert_eq!(losses[1] + session.args_of("n").len() as u64, RECORDS, "collector_gone");
    assert!(losses[1] > 0);
}

fn heart_beats() {
    // The test may have been without a processor for so long that the program has rightly given up: once more.
    assert!((0..20).any(|_| has_beaten_in_time()), "no heart has beaten in time");
}

/// One attempt. False: a beat came late.
fn has_beaten_in_time() -> bool {
    // A program waits a second for the next beat.
    const LATE: Duration = Duration::from_millis(900);
    let scene = Scene::new();
    let mut child = scene.command("storm").envs(PATIENT).spawn().unwrap();
    let session = wait_for_session(scene.root(), &mut child);
    session.set_collector_pid(std::process::id()).unwrap();
    session.set_collector_state(1).unwrap();
    // Half as long again as one is waited for whose heart stands still.
    let (mut last, mut longest) = (Instant::now(), Duration::ZERO);
    for beat in 1..=75 {
        session.set_heartbeat(beat).unwrap();
        longest = longest.max(last.elapsed());
        last = Instant::now();
        thread::sleep(Duration::from_millis(20));
    }
    let has_ended = child.try_wait().unwrap().is_some();
    // From here on the program waits as long as it takes.
    session.set_block_max_ms(u32::MAX).unwrap();
    let is_in_time = longest.max(last.elapsed()) < LATE;
    let session = collect(scene.root(), &mut child, Duration::from_millis(1), |_, _| {});
    if is_in_time {
        assert!(!has_ended, "there was no room yet");
        assert_eq!(session.losses(), [0; 8]);
        assert_eq!(session.args_of("n").len() as u64, RECORDS);
    }
    is_in_time
}

/// Collects a child's session until the child has ended and everything is taken; `each` sees what was taken after each pass.
pub fn collect(
    root: &Path,
    child: &mut Child,
    pause: Duration,
    mut each: impl FnMut(&ObservedSession, &mut Drain),
) -> Session {
    let session = wait_for_session(root, child);
    assert!(session.lock_collector().unwrap());
    session.set_collector_pid(std::process::id()).unwrap();
    session.set_collector_state(1).unwrap();
    let mut drain = Drain::default();
    loop {
        let ended = child.try_wait().unwrap();
        let taken = drain.pass(&session, true);
        each(&session, &mut drain);
        if let Some(status) = ended {
            assert!(status.success(), "{status}");
            if taken == 0 {
                return drain.finish(&session);
            }
        }
        thread::sleep(pause);
    }
}

fn wait_for_session(root: &Path, child: &mut Child) -> ObservedSession {
    let start = Instant::now();
    loop {
        assert!(start.elapsed() < Duration::from_secs(300), "no session of {}", child.id());
        let open = || {
            let root = Root::open_directory(root).ok()?;
            // (A child that it has forked meanwhile has one of its own.)
            let name = observer::list(&root).ok()?.into_iter().find(|name| name.pid == child.id())?;
            ObservedSession::open(&root, name).ok()
        };
        if let Some(session) = open() {
            return session;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn block_loses_nothing() {
    let scene = Scene::new();
    let settings = [
        ("SILVERPOINT_FILTER", "info"),
        ("SILVERPOINT_COLLECTOR", "1"),
        ("SILVERPOINT_POLICY", "block=forever"),
    ];
    for memory in ["256K", "32M"] {
        let mut command = scene.command("four_threads");
        let mut child = command.envs(settings).env("SILVERPOINT_MEMORY", memory).spawn().unwrap();
        let session = collect(scene.root(), &mut child, Duration::from_micros(200), |_, _| {});
        assert_eq!(session.losses(), [0; 8], "{memory}");
        let mut next: HashMap<u64, u64> = HashMap::new();
        for record in session.records().iter().filter(|record| record.what == "n") {
            let mut numbers = record.args.split(", ");
            let number: u64 = numbers.next().unwrap().parse().unwrap();
            let n: u64 = numbers.next().unwrap().parse().unwrap();
            let expected = next.entry(number).or_default();
            assert_eq!(n, *expected, "thread {number}");
            *expected += 1;
        }
        assert_eq!(next.len(), 4);
        assert!(next.values().all(|n| *n == RECORDS / 2), "{next:?}");
        let root = Root::open_directory(scene.root()).unwrap();
        let name = observer::list(&root).unwrap()[0];
        ObservedSession::open(&root, name).unwrap().remove(&root).unwrap();
    }
}

/// Records until it is killed, which is long before the last.
fn until_killed() {
    for n in 0..50_000_000_u64 {
        info!("n {}", n);
    }
    panic!("nobody has killed it");
}

fn letting_go() {
    let scene = Scene::new();
    let mut command = scene.command("until_killed");
    let mut child =
        command.env("SILVERPOINT_FILTER", "info").env("SILVERPOINT_MEMORY", "1M").spawn().unwrap();
    let session = wait_for_session(scene.root(), &mut child);
    // Somebody collects, and never takes anything: the program waits.
    session.set_block_max_ms(u32::MAX).unwrap();
    session.set_collector_pid(std::process::id()).unwrap();
    session.set_collector_state(1).unwrap();
    let committed = || {
        let slabs = session.counters().unwrap().slabs_next;
        let mut slices = Vec::new();
        session.slices(slabs, &mut slices, |_| {}).unwrap();
        let sum: u64 =
            slices.iter().filter_map(|slice| session.ring(*slice).unwrap()).map(|ring| ring.committed).sum();
        let waiting =
            slices.iter().filter_map(|slice| session.ring(*slice).unwrap()).any(|ring| ring.waiting == 1);
        (sum, waiting)
    };
    let until = |what: &str, done: &dyn Fn() -> bool| {
        let start = Instant::now();
        while !done() {
            assert!(start.elapsed() < Duration::from_secs(300), "{what}");
            thread::sleep(Duration::from_millis(2));
        }
    };
    until("it waits", &|| committed().1);
    // It lets go: the program goes on without it.
    session.set_collector_state(0).unwrap();
    session.set_collector_pid(0).unwrap();
    let before = committed().0;
    until("it goes on", &|| committed().0 > before + 4_000_000);
    child.kill().unwrap();
    child.wait().unwrap();
    let session = reader::only_session(scene.root());
    assert_eq!(session.losses(), [0; 8]);
    assert!(!session.alive);
}

static EVALUATED: AtomicU64 = AtomicU64::new(0);

fn switched() {
    // Until a site that the parent switches on after the other says that it is enough.
    while !silverpoint::enabled!(target: "enough", Error) {
        trace!(target: "wanted", "evaluated {}", EVALUATED.fetch_add(1, Ordering::Relaxed));
        event!("never");
        thread::sleep(Duration::from_micros(100));
    }
}

fn switched_from_outside() {
    let scene = Scene::new();
    let mut child = scene.command("switched").stdout(Stdio::null()).spawn().unwrap();
    let session = wait_for_session(scene.root(), &mut child);
    thread::sleep(Duration::from_millis(50));
    assert_eq!(session.counters().unwrap().slabs_next, 0, "nothing is on, nothing is claimed");
    session.write_directives("wanted=trace").unwrap();
    let start = Instant::now();
    while session.counters().unwrap().slabs_next == 0 {
        assert!(start.elapsed() < Duration::from_secs(300), "switched on");
    }
    thread::sleep(Duration::from_millis(20));
    session.write_directives("wanted=off, enough=on").unwrap();
    assert!(child.wait().unwrap().success());
    let session = reader::only_session(scene.root());
    let records = session.records();
    assert!(records.iter().all(|record| record.what == "evaluated {}"), "{records:?}");
    let numbers: Vec<u64> = records.iter().map(|record| record.args.parse().unwrap()).collect();
    assert_eq!(numbers[0], 0, "not evaluated before it was on");
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1));
}
