//! Places where nothing can be recorded, and what is left behind.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;

use silverpoint::{debug, event, info};

use crate::{Role, Scene, Test, reader};

pub const TESTS: &[Test] = &[
    ("an_idle_program_leaves_nothing", idle),
    ("off_is_off", off),
    ("all_descriptors_closed", descriptors_closed),
    ("a_tiny_file_system", || tiny_file_system("limited")),
    ("a_tiny_file_system_and_an_old_kernel", || tiny_file_system("limited_old_kernel")),
    ("a_shortage_of_memory_passes", || passing_shortage("scarce")),
    ("a_shortage_of_memory_passes_with_an_old_kernel", || passing_shortage("scarce_old_kernel")),
    ("a_root_of_others_is_refused", refused),
    ("the_dead_are_swept", swept),
    ("a_malformed_filter_is_told", malformed_filter),
    ("a_killed_program_leaves_its_records", killed),
];
pub const ROLES: &[Role] = &[
    ("record_some", record_some),
    ("record_nothing", || assert!(!silverpoint::enabled!(Fatal))),
    ("close_descriptors", close_descriptors),
    ("die", die),
    ("limited", limited),
    ("limited_old_kernel", || with_an_old_kernel("limited")),
    ("scarce", scarce),
    ("scarce_old_kernel", || with_an_old_kernel("scarce")),
];

fn record_some() {
    for n in 0..10u8 {
        event!("some", n);
    }
}

fn left_in(scene: &Scene) -> usize {
    fs::read_dir(scene.root()).map_or(0, |entries| entries.count())
}

fn idle() {
    let scene = Scene::new();
    scene.run("record_nothing", &[]);
    assert!(scene.root().is_dir(), "there was a session");
    assert_eq!(left_in(&scene), 0);
    scene.run("record_some", &[("SILVERPOINT_FILTER", "other=info")]);
    assert_eq!(left_in(&scene), 1, "demanded: it stays, although it has no records");
}

fn off() {
    let scene = Scene::new();
    scene.run("record_some", &[("SILVERPOINT_FILTER", "info"), ("SILVERPOINT_OFF", "1")]);
    assert!(!scene.root().exists());
}

fn close_descriptors() {
    event!("before", 1u8);
    // SAFETY: nothing of this process uses them afterwards.
    (0..1024).for_each(|fd| unsafe {
        libc::close(fd);
    });
    for n in 0..100_000u32 {
        event!("after", n);
    }
    thread::spawn(|| event!("thread", 2u8)).join().unwrap();
    // SAFETY: as in any program.
    unsafe {
        if libc::fork() == 0 {
            event!("child", 3u8);
            libc::_exit(0);
        }
        libc::wait(std::ptr::null_mut());
        libc::_exit(0);
    }
}

fn descriptors_closed() {
    let scene = Scene::new();
    scene.run("close_descriptors", &[("SILVERPOINT_FILTER", "info")]);
    let mut sessions = reader::sessions(scene.root());
    sessions.sort_by_key(|session| session.records()[0].ticks);
    let [parent, child] = &sessions[..] else { panic!("{} sessions", sessions.len()) };
    assert_eq!(parent.args_of("thread"), ["2"]);
    assert_eq!(parent.args_of("after").last().unwrap(), "99999");
    assert_eq!(child.args_of("child"), ["3"]);
    assert!(!parent.alive && !child.alive);
}

const LIMITED_THREADS: u32 = 50;
const LIMITED_CALLS: u32 = 2000;

/// Fills what there is, with many threads.
fn limited() {
    thread::scope(|scope| {
        for number in 0..LIMITED_THREADS {
            scope.spawn(move || {
                for n in 0..LIMITED_CALLS {
                    event!("limited", number, n, [n; 16]);
                }
            });
        }
    });
    println!("unharmed");
}

/// A role with a kernel before 5.14, as far as memory is concerned: `MADV_POPULATE_WRITE` is not known.
fn with_an_old_kernel(role: &str) {
    const POPULATE_WRITE: u32 = 23;
    let load = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    let compare = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    let give = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let mut filter = [
        step(load, 0, 0, std::mem::offset_of!(libc::seccomp_data, nr) as u32),
        step(compare, 0, 3, libc::SYS_madvise as u32),
        step(load, 0, 0, std::mem::offset_of!(libc::seccomp_data, args) as u32 + 2 * 8),
        step(compare, 0, 1, POPULATE_WRITE),
        step(give, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EINVAL as u32),
        step(give, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the filter is as long as it says; the page is this function's.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program), 0);
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let page = libc::mmap(std::ptr::null_mut(), 4096, access, flags, -1, 0);
        assert_eq!(libc::madvise(page, 4096, POPULATE_WRITE as i32), -1, "the filter is there");
    }
    panic!("{}", crate::again().env(crate::ROLE, role).exec());
}

/// Calls that find no memory, and threads that have a ring each: more than there are in what is backed.
const SCARCE_CALLS: u32 = 20_000;
const LIVING: u32 = 40;

/// What memory is left is taken, until it is given back.
fn while_memory_is_short(what: impl FnOnce()) {
    let path = Path::new(&std::env::var_os("SILVERPOINT_DIR").unwrap()).join("filler");
    let mut filler = fs::File::create(&path).unwrap();
    while filler.write_all(&[1; 4096]).is_ok() {}
    what();
    fs::remove_file(path).unwrap();
    // Not every record asks for memory again.
    thread::sleep(Duration::from_millis(20));
}

/// Memory that is short for a while: first before anything is recorded, then after.
fn scarce() {
    let without_a_site = |n: u32| {
        event!("no site", n);
        debug!("off {}", n);
    };
    let without_a_ring = |n: u32| event!("no ring", n);
    while_memory_is_short(|| {
        thread::spawn(move || (0..SCARCE_CALLS).for_each(without_a_site)).join().unwrap();
    });
    without_a_site(SCARCE_CALLS);
    without_a_ring(0);
    // Threads that live, so that nobody takes their rings over.
    let over = Arc::new(Barrier::new(LIVING as usize + 1));
    let mut living = Vec::new();
    while_memory_is_short(|| {
        for n in 0..LIVING {
            let (done, wait) = mpsc::channel();
            let over = Arc::clone(&over);
            living.push(thread::spawn(move || {
                without_a_ring(n);
                done.send(()).unwrap();
                over.wait();
            }));
            wait.recv().unwrap();
        }
        thread::spawn(move || (0..SCARCE_CALLS).for_each(without_a_ring)).join().unwrap();
    });
    thread::spawn(|| event!("room again")).join().unwrap();
    over.wait();
    living.into_iter().for_each(|thread| thread.join().unwrap());
    println!("unharmed");
}

/// An attempt without memory takes nothing that is missing later. When there is memory again, sites, slices
/// and slabs are there, every call is accounted for, and a site that is off loses nothing.
fn passing_shortage(role: &str) {
    let scene = Scene::new();
    let Some(run) = run_in_little_memory(&scene, role, "1m") else { return };
    assert!(run.warned.contains("no memory for another ring"), "{}", run.warned);
    let session = reader::only_session(&run.left);
    let losses = session.losses();
    let calls = u64::from(SCARCE_CALLS + 1 + 1 + LIVING + SCARCE_CALLS + 1);
    assert_eq!(recorded(&session) + losses.iter().sum::<u64>(), calls, "{losses:?}");
    assert_eq!(losses[6], u64::from(SCARCE_CALLS), "no_site");
    assert!(losses[3] >= u64::from(SCARCE_CALLS), "no_memory: {losses:?}");
    assert_eq!(session.args_of("no site"), [SCARCE_CALLS.to_string()]);
    assert_eq!(session.args_of("room again").len(), 1);
    assert!(session.args_of("no ring").len() > 1);
    let counters = &session.counters;
    assert_eq!(counters.sites_next, 4, "sites, and no entry was used in vain");
    assert!(counters.descs_next * 8 < 8 << 10, "{} units of descriptions", counters.descs_next);
    assert!(counters.slabs_next <= 2, "{} slabs", counters.slabs_next);
}

/// Records of the program's, without those that say what became of them.
fn recorded(session: &reader::Session) -> u64 {
    session.records().iter().filter(|record| record.site >= 16).count() as u64
}

/// What a role said in little memory, and the root with what it left.
struct Run {
    warned: String,
    left: PathBuf,
}

/// Runs a role with its sessions in a file system of this size, in a mount namespace of its own. A collector
/// is expected, so nothing is forgotten without being counted, and no thread waits for it. `None`, which is
/// reported, where this is not permitted.
fn run_in_little_memory(scene: &Scene, role: &str, size: &str) -> Option<Run> {
    let (small, left) = (scene.root().join("small"), scene.root().join(format!("left-{size}")));
    for directory in [scene.root(), &small, &left] {
        let _ = fs::DirBuilder::new().mode(0o700).create(directory);
    }
    let inner = scene.command(role);
    let mut command = Command::new("unshare");
    let script = format!(
        "mount -t tmpfs -o size={size},mode=0700 none \"$SILVERPOINT_DIR\" && \"$0\" \"$@\" && \
         find \"$SILVERPOINT_DIR\" -mindepth 1 -maxdepth 1 -exec cp -a --sparse=always {{}} \"$LEFT\" \\;"
    );
    command.args(["--mount", "sh", "-c", &script]).arg(inner.get_program()).args(inner.get_args());
    inner.get_envs().for_each(|(name, value)| {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    });
    command.env("SILVERPOINT_DIR", &small).env("LEFT", &left).env("SILVERPOINT_FILTER", "info");
    command.env("SILVERPOINT_COLLECTOR", "1").env("SILVERPOINT_POLICY", "drop");
    let output = command.output().expect("unshare");
    let said = String::from_utf8_lossy(&output.stdout);
    let warned = String::from_utf8_lossy(&output.stderr).into_owned();
    // Without the right to mount this cannot be tested; that a program runs is tested elsewhere.
    if warned.contains("unshare") || warned.contains("mount:") {
        println!("{role} in little memory: not run, no mount namespace: {warned}");
        return None;
    }
    let is_unharmed = output.status.success() && said.contains("unharmed");
    assert!(is_unharmed, "{role}, {size}: {}\n{said}{warned}", output.status);
    Some(Run { warned, left })
}

/// Runs the role on file systems of a few sizes: every call is a record or a loss, and who goes without says so.
fn tiny_file_system(role: &str) {
    let scene = Scene::new();
    for size in ["4k", "64k", "300k", "1m", "3m"] {
        let Some(run) = run_in_little_memory(&scene, role, size) else { return };
        let warned = &run.warned;
        let warnings = warned.lines().filter(|line| line.starts_with("silverpoint:")).count();
        // The filter of system calls is set by an image before.
        let images = if role == "limited" { 1 } else { 2 };
        assert!(warnings <= images, "{size}: one clear warning an image, no more:\n{warned}");
        let sessions = reader::sessions(&run.left);
        let is_there = |session: &&reader::Session| recorded(session) > 0;
        if let Some(session) = sessions.iter().find(is_there) {
            let losses = session.losses();
            let calls = u64::from(LIMITED_THREADS * LIMITED_CALLS);
            assert_eq!(recorded(session) + losses.iter().sum::<u64>(), calls, "{size}: {losses:?}");
            assert!(losses[3] == 0 || warned.contains("no memory for another ring"), "{size}: {warned}");
        } else {
            assert!(matches!(size, "4k" | "64k"), "{size}: nothing was recorded");
            assert!(warned.contains("no session could be made"), "{size}: {warned}");
        }
        if size == "4k" {
            assert_eq!(warnings, images, "there was no room at all");
        }
    }
}

fn refused() {
    let scene = Scene::new();
    fs::DirBuilder::new().mode(0o755).create(scene.root()).unwrap();
    fs::set_permissions(scene.root(), fs::Permissions::from_mode(0o755)).unwrap();
    // The next place that is set is taken; nothing stays there, since nothing is recorded.
    scene.run("record_nothing", &[]);
    let touched = |scene: &Scene| fs::metadata(scene.root()).unwrap().modified().unwrap();
    let before = touched(&scene);
    scene.run("record_nothing", &[]);
    assert_eq!(touched(&scene), before, "nothing is made in a directory that others can read");
    fs::set_permissions(scene.root(), fs::Permissions::from_mode(0o700)).unwrap();
    scene.run("record_nothing", &[]);
    assert_ne!(touched(&scene), before, "its own directory is used");
}

fn die() {
    for n in 0..5000u32 {
        event!("last words", n);
    }
    // SAFETY: ends this process the hard way.
    unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
}

fn killed() {
    let scene = Scene::new();
    let status = scene.command("die").env("SILVERPOINT_FILTER", "info").status().unwrap();
    assert!(!status.success());
    let session = reader::only_session(scene.root());
    assert_eq!(session.args_of("last words").last().unwrap(), "4999");
    assert!(!session.alive);
}

fn swept() {
    let scene = Scene::new();
    // One killed without records, one that was never finished, one with records, and things that are no sessions.
    scene.command("die").status().unwrap();
    assert_eq!(left_in(&scene), 1);
    fs::create_dir(scene.root().join(".new-1-1")).unwrap();
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    fs::File::open(scene.root().join(".new-1-1")).unwrap().set_modified(long_ago).unwrap();
    fs::create_dir(scene.root().join("notes")).unwrap();
    fs::write(scene.root().join("1-2-3"), b"").unwrap();
    scene.command("die").env("SILVERPOINT_FILTER", "info").status().unwrap();
    let names = || {
        let mut names: Vec<_> = fs::read_dir(scene.root())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(
        names().len(),
        3,
        "the killed one without records and the unfinished one are gone: {:?}",
        names()
    );
    scene.run("record_nothing", &[]);
    assert_eq!(names().len(), 3, "the one with records stays: {:?}", names());
    assert!(scene.root().join("notes").is_dir() && scene.root().join("1-2-3").is_file());
}

fn malformed_filter() {
    let scene = Scene::new();
    let output = scene.run("record_some", &[("SILVERPOINT_FILTER", "=what, info")]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.starts_with("silverpoint: SILVERPOINT_FILTER:"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    let session = reader::only_session(scene.root());
    assert_eq!(session.args_of("some").len(), 10, "the rest of the filter counts");
    info!("the parent is off");
}
