//! Forks, executed images, several copies in one process.

use std::ffi::CString;
use std::os::unix::process::CommandExt;
use std::time::Duration;
use std::{env, fs, thread};

use silverpoint::{event, info};
use silverpoint_wire::layout::ring::{LIVE, RETIRED};

use crate::{Role, Scene, Test, reader};

pub const TESTS: &[Test] = &[
    ("a_forked_child_has_its_own_session", forks),
    ("a_child_of_many_threads", threads_fork),
    ("an_executed_image_has_its_own_session", executes),
    ("copies_of_one_process_share_the_session", copies),
    ("unloaded_copies_leave_nothing_behind", unloaded),
    ("a_logger_of_a_forked_child_has_its_first_record", child_logs),
];
pub const ROLES: &[Role] = &[
    ("fork", fork),
    ("fork_with_threads", fork_with_threads),
    ("execute", execute),
    ("load_a_copy", load_a_copy),
    ("load_and_unload", load_and_unload),
    ("log_in_a_child", log_in_a_child),
];

fn same_site(what: &str) {
    event!("same site", what);
}

/// Runs `child` in a forked process and waits for it.
fn in_child(child: impl FnOnce()) {
    // SAFETY: the child uses what a forked child may use: these tests run it from a single thread, or record only.
    match unsafe { libc::fork() } {
        0 => {
            child();
            // SAFETY: ends the child without the parent's exit handlers.
            unsafe { libc::_exit(0) }
        }
        pid => {
            let mut status = 0;
            // SAFETY: waits for the child just made.
            unsafe { libc::waitpid(pid, &mut status, 0) };
            assert_eq!(status, 0);
        }
    }
}

fn fork() {
    same_site("parent");
    info!("only the parent");
    in_child(|| {
        same_site("child");
        info!("only the child");
        in_child(|| {
            same_site("grandchild");
            thread::spawn(|| same_site("grandchild's thread")).join().unwrap();
            same_site("grandchild again");
        });
        same_site("child again");
    });
    in_child(|| {}); // one that records nothing has no session
    same_site("parent again");
}

fn forks() {
    let scene = Scene::new();
    scene.run("fork", &[("SILVERPOINT_FILTER", "info")]);
    let mut sessions = reader::sessions(scene.root());
    assert_eq!(sessions.len(), 3);
    sessions.sort_by_key(|session| session.records()[0].ticks);
    let [parent, child, grandchild] = &sessions[..] else { unreachable!() };
    assert_eq!(parent.args_of("same site"), ["\"parent\"", "\"parent again\""]);
    assert_eq!(child.args_of("same site"), ["\"child\"", "\"child again\""]);
    let said = ["\"grandchild\"", "\"grandchild's thread\"", "\"grandchild again\""];
    assert_eq!(grandchild.args_of("same site"), said);
    let id =
        |session: &reader::Session| session.records().iter().find(|r| r.what == "same site").unwrap().site;
    assert_eq!((id(child), id(grandchild)), (id(parent), id(parent)), "sites keep their ids");
    assert_eq!(child.args_of("only the parent"), [""; 0]);
    assert_eq!(child.args_of("only the child"), [""]);
    assert_eq!(parent.sites.len(), 2, "what children register is theirs");
    assert_eq!(child.sites.len(), 3);
    for session in &sessions {
        assert_eq!((session.losses(), session.alive), ([0; 8], false), "{}", session.name);
        assert!(session.name.starts_with(&format!("{}-", session.pid)));
    }
}

const LOG: &str = "SILVERPOINT_TEST_LOG";

fn log_in_a_child() {
    info!("the parent has a session");
    in_child(|| {
        use silverpoint_logger::{Config, Flushed, Logger, Sink};
        let file = env::var_os(LOG).unwrap();
        let logger = Logger::start(Config::new("info").sink(Sink::file(file))).unwrap();
        info!("first of the child");
        assert_eq!(logger.stop(Duration::from_secs(300)), Flushed::Complete);
    });
}

/// The child's session is made by its first record otherwise, and the collector finds it too late for that one.
fn child_logs() {
    let scene = Scene::new();
    let log = scene.root().with_extension("log");
    scene.run("log_in_a_child", &[(LOG, log.to_str().unwrap())]);
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.lines().count() == 1 && text.contains("first of the child"), "{text:?}");
}

/// Threads record and register all the time while another forks.
fn fork_with_threads() {
    let stop = std::sync::atomic::AtomicBool::new(false);
    let stop = &stop;
    thread::scope(|scope| {
        for number in 0..3 {
            scope.spawn(move || {
                let mut n = 0u32;
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    match n % 3 {
                        0 => event!("busy", number, n),
                        1 => event!("busy, another", number),
                        _ => event!("busy, a third", n),
                    }
                    n += 1;
                }
            });
        }
        for n in 0..20 {
            in_child(|| {
                event!("child", n);
                for k in 0..100 {
                    event!("child's many", k);
                }
            });
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

fn threads_fork() {
    let scene = Scene::new();
    scene.run("fork_with_threads", &[("SILVERPOINT_FILTER", "info")]);
    let sessions = reader::sessions(scene.root());
    let children: Vec<_> = sessions.iter().filter(|session| !session.args_of("child").is_empty()).collect();
    assert_eq!((sessions.len(), children.len()), (21, 20));
    for child in children {
        assert_eq!(child.args_of("child's many").len(), 100);
        assert_eq!(child.args_of("busy"), [""; 0], "the parent's records are the parent's");
    }
}

const SECOND: &str = "SILVERPOINT_TEST_SECOND";

fn execute() {
    if env::var_os(SECOND).is_some() {
        info!("after exec");
        return;
    }
    info!("before exec");
    let error = crate::again().env(SECOND, "1").exec();
    panic!("{error}");
}

fn executes() {
    let scene = Scene::new();
    scene.run("execute", &[("SILVERPOINT_FILTER", "info")]);
    let mut sessions = reader::sessions(scene.root());
    sessions.sort_by_key(|session| session.records()[0].ticks);
    let [first, second] = &sessions[..] else { panic!("{} sessions", sessions.len()) };
    assert_eq!(first.pid, second.pid, "one process");
    assert!(first.name.ends_with("-0") && second.name.ends_with("-1"), "{} {}", first.name, second.name);
    assert_eq!(first.args_of("before exec").len(), 1);
    assert_eq!(second.args_of("after exec").len(), 1);
}

/// The example's library, with a copy of its own of everything.
pub struct Plugin {
    handle: *mut libc::c_void,
    pub work: extern "C" fn(u32),
}

impl Plugin {
    pub fn load() -> Plugin {
        let library = env::current_exe().unwrap().with_file_name("../examples/libplugin.so");
        let path = CString::new(library.to_str().unwrap()).unwrap();
        // SAFETY: the library has this function.
        unsafe {
            let handle = libc::dlopen(path.as_ptr(), libc::RTLD_NOW);
            assert!(!handle.is_null(), "{}", library.display());
            let work = libc::dlsym(handle, c"plugin_work".as_ptr());
            Plugin { handle, work: std::mem::transmute::<*mut libc::c_void, extern "C" fn(u32)>(work) }
        }
    }

    pub fn unload(self) {
        // SAFETY: none of its code runs, or will run.
        assert_eq!(unsafe { libc::dlclose(self.handle) }, 0);
    }
}

/// Loads a library, and records on both sides.
fn load_a_copy() {
    event!("executable", 1u8);
    let plugin = Plugin::load().work;
    plugin(7);
    event!("executable", 2u8);
    in_child(|| {
        plugin(8);
        event!("executable", 3u8);
        plugin(9);
    });
}

const LOADS: usize = 30;

/// Loads the same library again and again.
fn load_and_unload() {
    let maps = || fs::read_to_string("/proc/self/maps").unwrap();
    let pages = || -> u64 {
        fs::read_to_string("/proc/self/statm").unwrap().split(' ').next().unwrap().parse().unwrap()
    };
    let mut after_the_first = 0;
    event!("executable", 1u8);
    for load in 0..LOADS {
        let plugin = Plugin::load();
        (plugin.work)(7);
        plugin.unload();
        assert!(!maps().contains("libplugin.so"), "something keeps the library");
        if load == 0 {
            after_the_first = pages();
        }
    }
    let root = env::var("SILVERPOINT_DIR").unwrap();
    // Of the executable's copy: control, the page that holds the lock, and rings: what is accessible of them,
    // and what is not.
    let mapped: Vec<String> = maps().lines().filter(|line| line.contains(&root)).map(String::from).collect();
    assert!((3..=4).contains(&mapped.len()), "{mapped:#?}");
    let more = pages().saturating_sub(after_the_first);
    assert!(more < 256, "{more} pages more than after the first");
}

fn unloaded() {
    let scene = Scene::new();
    scene.run("load_and_unload", &[("SILVERPOINT_FILTER", "info")]);
    let session = reader::only_session(scene.root());
    assert_eq!(session.sites.len(), 2, "the library's is found again");
    assert_eq!(session.args_of("plugin works on {}"), vec!["7"; LOADS]);
    let states: Vec<(u16, u32)> =
        session.streams.values().map(|stream| (stream.header.copy, stream.header.state)).collect();
    let given_back = (2..2 + LOADS as u16).map(|copy| (copy, RETIRED));
    assert_eq!(states, [(1, LIVE)].into_iter().chain(given_back).collect::<Vec<_>>());
    assert_eq!(session.losses(), [0; 8]);
}

fn copies() {
    let scene = Scene::new();
    scene.run("load_a_copy", &[("SILVERPOINT_FILTER", "info")]);
    let mut sessions = reader::sessions(scene.root());
    sessions.sort_by_key(|session| session.records()[0].ticks);
    let [parent, child] = &sessions[..] else { panic!("{} sessions", sessions.len()) };
    let copies = |session: &reader::Session| -> Vec<u16> {
        session.streams.values().map(|stream| stream.header.copy).collect()
    };
    assert_eq!((copies(parent), copies(child)), (vec![1, 2], vec![1, 2]), "one stream each");
    assert_eq!(parent.args_of("executable"), ["1", "2"]);
    assert_eq!(parent.args_of("plugin works on {}"), ["7"]);
    // The child's two copies meet in its one session, with all sites where they were.
    assert_eq!(child.args_of("executable"), ["3"]);
    assert_eq!(child.args_of("plugin works on {}"), ["8", "9"]);
    assert_eq!((parent.sites.len(), child.sites.len()), (3, 4));
    assert_eq!(parent.counters.copies_joined, 0, "both have left");
}
