//! Places where nothing can be recorded, and what is left behind.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;

use silverpoint::{event, info};

use crate::{Role, Scene, Test, reader};

pub const TESTS: &[Test] = &[
    ("an_idle_program_leaves_nothing", idle),
    ("off_is_off", off),
    ("all_descriptors_closed", descriptors_closed),
    ("a_tiny_file_system", || tiny_file_system("limited")),
    ("a_tiny_file_system_and_an_old_kernel", || tiny_file_system("limited_old_kernel")),
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
    ("limited_old_kernel", limited_old_kernel),
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
    assert_eq!(left_in(&scene), 1, "demanded: it stays, though it has no records, for whoever demanded it");
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

/// Fills what there is, with many threads.
fn limited() {
    thread::scope(|scope| {
        for number in 0..50u32 {
            scope.spawn(move || {
                for n in 0..2000u32 {
                    event!("limited", number, n, [n; 16]);
                }
            });
        }
    });
    println!("unharmed");
}

/// The same with a kernel before 5.14, as far as memory is concerned: `MADV_POPULATE_WRITE` is not known.
fn limited_old_kernel() {
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
    panic!("{}", crate::again().env(crate::ROLE, "limited").exec());
}

/// Runs the role on file systems of a few sizes, in a mount namespace of its own.
fn tiny_file_system(role: &str) {
    let scene = Scene::new();
    for size in ["4k", "64k", "300k", "1m", "3m"] {
        let inner = scene.command(role);
        let mut command = Command::new("unshare");
        let script = format!(
            "mount -t tmpfs -o size={size},mode=0700 none \"$SILVERPOINT_DIR\" && \"$0\" \"$@\" && df --output=used \"$SILVERPOINT_DIR\""
        );
        command.args(["--mount", "sh", "-c", &script]).arg(inner.get_program()).args(inner.get_args());
        inner.get_envs().for_each(|(name, value)| {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        });
        let _ = fs::DirBuilder::new().mode(0o700).create(scene.root());
        let output = command.env("SILVERPOINT_FILTER", "info").output().expect("unshare");
        let (said, warned) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        // Whoever may not mount cannot see this; that a program runs is seen elsewhere.
        if warned.contains("unshare") || warned.contains("mount:") {
            println!("a_tiny_file_system: not run, no mount namespace: {warned}");
            return;
        }
        assert!(
            output.status.success() && said.contains("unharmed"),
            "{size}: {}\n{said}{warned}",
            output.status
        );
        let warnings = warned.lines().filter(|line| line.starts_with("silverpoint:")).count();
        // The filter of system calls is set by an image before.
        let images = if role == "limited" { 1 } else { 2 };
        assert!(warnings <= images, "{size}: one clear warning an image, no more:\n{warned}");
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
