//! How much memory a session's rings take: by default, under limits, and beyond what is accessible at first.

use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs, thread};

use silverpoint::event;
use silverpoint_shm::memory::{LARGE, SMALL};
use silverpoint_shm::observer::{self, ObservedSession};
use silverpoint_shm::root::Root;
use silverpoint_wire::layout::ring::RETIRED;

use crate::processes::Plugin;
use crate::{Role, Scene, Test, reader};

pub const TESTS: &[Test] = &[
    ("a_burst_takes_more_than_is_accessible_at_first", wide_burst),
    ("a_chain_is_whole_with_signal_handlers_in_it", interrupted_chain),
    ("a_chain_of_an_unloaded_copy_is_whole", unloaded_chain),
    ("limits_keep_the_memory_small", limits),
    ("locked_memory_has_no_unused_rings", locked),
    ("ended_threads_keep_no_more_than_on_a_small_machine", ended_threads),
];
pub const ROLES: &[Role] = &[
    ("wide", wide),
    ("interrupted", interrupted),
    ("unloaded_chain", unload),
    ("one", one),
    ("locking", locking),
    ("ended", ended),
];

const FOLLOWED: [(&str, &str); 3] =
    [("SILVERPOINT_FILTER", "info"), ("SILVERPOINT_COLLECTOR", "1"), ("SILVERPOINT_POLICY", "block=forever")];
const TEXT: usize = 4000;
/// Records of some 40 MB: more than the first part.
const WIDE: u64 = 10_000;
/// As above, of the forked child.
const FEW: u64 = 3;

fn records(numbers: std::ops::Range<u64>) {
    let text = "x".repeat(TEXT);
    numbers.for_each(|n| event!("n", n, text));
}

/// First arguments of a site's records, by time.
fn numbers(session: &reader::Session, what: &str) -> Vec<u64> {
    let number = |args: String| args.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap();
    session.args_of(what).into_iter().map(number).collect()
}

/// Forks in the middle of a chain.
fn wide() {
    records(0..WIDE - 1);
    // SAFETY: this process has one thread.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        records(0..FEW);
        return;
    }
    records(WIDE - 1..WIDE);
    let mut status = 0;
    // SAFETY: waits for the child, whose status has a place.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
}

fn wide_burst() {
    let scene = Scene::new();
    let settings = [FOLLOWED.as_slice(), &[("SILVERPOINT_MEMORY", "128M")]].concat();
    scene.run("wide", &settings);
    let mut sessions = reader::sessions(scene.root());
    sessions.sort_by_key(|session| session.counters.slabs_next);
    let [child, parent] = sessions.as_slice() else { panic!("{} sessions", sessions.len()) };
    assert!(u64::from(parent.counters.slabs_next) > SMALL >> 20, "{} slabs", parent.counters.slabs_next);
    for (session, count) in [(child, FEW), (parent, WIDE)] {
        assert!(numbers(session, "n").into_iter().eq(0..count), "each once and in order");
        assert_eq!(session.losses(), [0; 8]);
        let rings = session.streams.values().map(|stream| &stream.header);
        assert!(rings.clone().zip(0..).all(|(header, before)| header.previous == before), "one chain");
        assert_eq!(rings.map(|header| header.stalls).sum::<u64>(), 0);
    }
}

static HANDLED: AtomicU64 = AtomicU64::new(0);

extern "C" fn handler(_: libc::c_int) {
    event!("handled", HANDLED.fetch_add(1, Ordering::Relaxed));
}

/// A timer interrupts a chain all the time. Most of its time goes into making the memory of further rings.
fn interrupted() {
    let every = libc::timeval { tv_sec: 0, tv_usec: 100 };
    // SAFETY: the handler records and counts, nothing else. The timer ends with the process.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        assert_eq!(libc::sigaction(libc::SIGALRM, &raw const action, std::ptr::null_mut()), 0);
        let timer = libc::itimerval { it_interval: every, it_value: every };
        assert_eq!(libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut()), 0);
    }
    records(0..WIDE / 2);
    let never = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let timer = libc::itimerval { it_interval: never, it_value: never };
    // SAFETY: as above.
    assert_eq!(unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut()) }, 0);
    print!("{}", HANDLED.load(Ordering::Relaxed));
}

fn interrupted_chain() {
    let scene = Scene::new();
    let settings = [FOLLOWED.as_slice(), &[("SILVERPOINT_MEMORY", "64M")]].concat();
    let output = scene.run("interrupted", &settings);
    let handled: u64 = String::from_utf8(output.stdout).unwrap().parse().unwrap();
    assert!(handled > 0);
    let session = reader::only_session(scene.root());
    assert!(session.counters.slabs_next > 16, "{} slabs", session.counters.slabs_next);
    for (name, count) in [("n", WIDE / 2), ("handled", handled)] {
        assert!(numbers(&session, name).into_iter().eq(0..count), "{name}: each once and in order");
    }
    assert_eq!(session.losses(), [0; 8]);
}

const OF_FIRST: u32 = 120_000;
const OF_BOTH: u32 = 150_000;

/// The library goes in the middle of its chain, and comes again.
fn unload() {
    for numbers in [0..OF_FIRST, OF_FIRST..OF_BOTH] {
        let plugin = Plugin::load();
        numbers.for_each(|n| (plugin.work)(n));
        plugin.unload();
        one();
    }
}

fn unloaded_chain() {
    let scene = Scene::new();
    let settings = [FOLLOWED.as_slice(), &[("SILVERPOINT_MEMORY", "16M")]].concat();
    scene.run("unloaded_chain", &settings);
    let session = reader::only_session(scene.root());
    let all = numbers(&session, "plugin works on {}");
    assert!(all.into_iter().eq(0..u64::from(OF_BOTH)), "each once and in order");
    assert_eq!(session.args_of("n").len(), 2, "the executable's");
    assert_eq!(session.losses(), [0; 8]);
    let largest = |stream: &&reader::Stream| stream.header.capacity == 1_048_320;
    assert!(session.streams.values().filter(largest).count() > 2, "a chain");
    let is_left = |stream: &reader::Stream| stream.header.copy == 1 || stream.header.state == RETIRED;
    assert!(session.streams.values().all(is_left), "no ring belongs to a copy that is gone");
}

fn one() {
    records(0..1);
}

fn set_limit(resource: libc::__rlimit_resource_t, bytes: u64) {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: reads the limit that it is given. Raising the hard limit may be refused: then nothing changes.
    unsafe { libc::setrlimit(resource, &raw const limit) };
}

fn size_of_rings(scene: &Scene) -> u64 {
    let root = Root::open_directory(scene.root()).unwrap();
    let name = observer::list(&root).unwrap()[0];
    ObservedSession::open(&root, name).unwrap().header().rings_size
}

fn limits() {
    let size = |addresses: u64| {
        let scene = Scene::new();
        let mut command = scene.command("one");
        // Before the program is executed: a session is made when it is loaded.
        // SAFETY: a system call, between fork and exec.
        unsafe {
            command.envs(FOLLOWED).pre_exec(move || {
                set_limit(libc::RLIMIT_AS, addresses);
                Ok(())
            })
        };
        assert!(command.status().unwrap().success());
        size_of_rings(&scene)
    };
    let (by_default, limited) = (size(libc::RLIM_INFINITY), size(1 << 40));
    assert!(by_default <= LARGE);
    assert_eq!(limited, by_default.min(SMALL));
}

/// Bytes of memory in the only session's ring file.
fn rings_made(root: &Path) -> u64 {
    let session = fs::read_dir(root).unwrap().next().unwrap().unwrap();
    fs::metadata(session.path().join("rings")).unwrap().blocks() * 512
}

const CANNOT_LOCK: &str = "cannot lock";

fn locking() {
    set_limit(libc::RLIMIT_MEMLOCK, libc::RLIM_INFINITY);
    // SAFETY: locks memory, and changes nothing else.
    if unsafe { libc::mlockall(libc::MCL_FUTURE) } != 0 {
        println!("{CANNOT_LOCK}");
        return;
    }
    // A session is mapped, by another copy: that of this program was there before.
    (Plugin::load().work)(1);
    let root = env::var_os("SILVERPOINT_DIR").unwrap();
    let made = rings_made(Path::new(&root));
    assert!(made < 4 << 20, "{made} bytes when future memory is locked");
    // SAFETY: as above.
    assert_eq!(unsafe { libc::mlockall(libc::MCL_CURRENT) }, 0);
    let made = rings_made(Path::new(&root));
    assert!(made <= SMALL, "{made} bytes when all memory is locked");
}

fn locked() {
    let scene = Scene::new();
    let settings = [FOLLOWED.as_slice(), &[("SILVERPOINT_MEMORY", "256M")]].concat();
    let output = scene.run("locking", &settings);
    if String::from_utf8_lossy(&output.stdout).contains(CANNOT_LOCK) {
        silverpoint_tests::skipped!("this user may not lock much memory");
    }
}

/// Threads one after the other, each with a ring of the largest size.
fn ended() {
    for _ in 0..40 {
        thread::spawn(|| records(0..400)).join().unwrap();
    }
}

fn ended_threads() {
    let used = |settings: &[(&str, &str)]| {
        let scene = Scene::new();
        scene.run("ended", settings);
        rings_made(scene.root())
    };
    let filter = ("SILVERPOINT_FILTER", "info");
    assert!(used(&[filter]) <= SMALL);
    assert!(used(&[filter, ("SILVERPOINT_MEMORY", "64M")]) > SMALL, "what is asked for is used");
}
