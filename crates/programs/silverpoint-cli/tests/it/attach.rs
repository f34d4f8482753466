//! `attach`, `ctl` and `ls`: sessions of programs that run already.

use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process};

use silverpoint_shm::observer::{ObservedSession, list};
use silverpoint_shm::root::Root;

use crate::harness::{Running, Scratch, stop, subject};

/// The bytes of a session's control file that hold its mode. They are directives and states by the header's
/// offsets, and the words that collector and controller write (spec/wire.md, section 3.1). The generation,
/// which only grows, and the heartbeat are left out.
fn mode(scratch: &Scratch, pid: u32) -> Vec<u8> {
    let session = scratch.left().into_iter().find(|name| name.starts_with(&format!("{pid}-"))).unwrap();
    let control = std::fs::read(scratch.root().join(session).join("control")).unwrap();
    let word = |at: usize| u32::from_le_bytes(control[at..at + 4].try_into().unwrap()) as usize;
    let (directives, directives_cap, states, sites) = (word(128), word(136), word(152), word(140));
    let mut bytes = control[directives..directives + directives_cap].to_vec();
    bytes.extend_from_slice(&control[states..states + sites]);
    bytes.extend_from_slice(&control[708..712]);
    bytes.extend_from_slice(&control[768..776]);
    bytes.extend_from_slice(&control[784..800]);
    bytes
}

/// The process's session, opened without an `ls`, which would put things in order.
fn session(scratch: &Scratch, pid: u32) -> ObservedSession {
    let root = Root::open_directory(&scratch.root()).unwrap();
    let name = list(&root).unwrap().into_iter().find(|name| name.pid == pid).unwrap();
    ObservedSession::open(&root, name).unwrap()
}

/// A program with a session and a known site, which is off: nothing is recorded.
pub fn ticking(scratch: &Scratch) -> Running {
    let mut running = Running::start_with_input(&mut scratch.subject(["tick", "2"]));
    assert_eq!(running.line(), "ready");
    let session = session(scratch, running.pid());
    scratch.wait("its site", || session.counters().unwrap().sites_next > 0);
    running
}

/// Waits until a file that is being written holds so many of its records.
fn wait_for_records(scratch: &Scratch, trace: &str, count: usize) {
    scratch.wait("records in the file", || {
        scratch.path(trace).exists()
            && scratch.run(["cat", "--json", "--quiet", trace]).out.lines().count() >= count
    });
}

#[test]
fn attaching_records_and_letting_go_leaves_the_program_as_it_was() {
    let scratch = Scratch::new();
    let mut program = ticking(&scratch);
    let pid = program.pid();
    let before = mode(&scratch, pid);
    let mut attached =
        Running::start(&mut scratch.silverpoint(["attach", &pid.to_string(), "-o", "t.silver"]));
    scratch.wait("the collector", || mode(&scratch, pid) != before);
    let again = scratch.run(["attach", &pid.to_string()]);
    assert_eq!(again.code(), Some(1), "{again:?}");
    let collector = scratch.sessions()[0]["collector"].as_u64().unwrap();
    assert!(again.err.contains(&format!("process {collector} already collects it")), "{}", again.err);
    wait_for_records(&scratch, "t.silver", 20);
    attached.signal(Signal::INT);
    let ended = attached.end();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(ended.err.contains("no losses"), "{}", ended.err);
    assert_eq!(
        mode(&scratch, pid),
        before,
        "directives, states, policy or collector's words are not as before"
    );
    assert!(scratch.records("t.silver") >= 20);
    // It goes on, unrecorded, and leaves nothing of worth when it ends.
    let row = &scratch.sessions()[0];
    assert_eq!(
        (row["alive"].as_bool(), row["collector"].as_u64(), row["waiting_bytes"].as_u64()),
        (Some(true), Some(0), Some(0))
    );
    let ended = program.end();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(scratch.sessions().is_empty() && scratch.left().is_empty(), "{:?}", scratch.left());
}

/// Both processes of an attach die in turn; what is left of it lets go.
#[test]
fn a_killed_attach_leaves_the_program_as_it_was() {
    for kills_worker in [true, false] {
        let scratch = Scratch::new();
        let mut program = ticking(&scratch);
        let pid = program.pid();
        let before = mode(&scratch, pid);
        let mut attached =
            Running::start(&mut scratch.silverpoint(["attach", &pid.to_string(), "-o", "t.silver"]));
        scratch.wait("the collector", || scratch.sessions()[0]["collector"].as_u64() != Some(0));
        scratch.wait("records", || scratch.root().parent().is_some() && mode(&scratch, pid) != before);
        wait_for_records(&scratch, "t.silver", 6);
        let worker = scratch.sessions()[0]["collector"].as_u64().unwrap() as i32;
        assert_ne!(worker as u32, attached.pid(), "the worker is a process of its own");
        if kills_worker {
            kill_process(Pid::from_raw(worker).unwrap(), Signal::KILL).unwrap();
            let ended = attached.end();
            assert_eq!(ended.code(), Some(1), "{ended:?}");
            assert!(ended.err.contains("has its settings back"), "{}", ended.err);
        } else {
            attached.signal(Signal::KILL);
            scratch.wait("the worker's end", || scratch.sessions()[0]["collector"].as_u64() == Some(0));
        }
        scratch.wait("the program's own mode", || mode(&scratch, pid) == before);
        assert!(scratch.records("t.silver") > 5);
    }
}

#[test]
fn an_attachment_that_is_killed_leaves_nothing_behind() {
    let scratch = Scratch::new();
    let mut program = ticking(&scratch);
    let pid = program.pid();
    let before = mode(&scratch, pid);
    let session = session(&scratch, pid);
    for heir in ["attach", "ls", "ctl"] {
        let file = format!("{heir}.silver");
        let mut attached =
            Running::start(&mut scratch.silverpoint(["attach", &pid.to_string(), "-o", &file]));
        scratch.wait("the collector", || session.counters().unwrap().collector_pid != 0);
        scratch.wait("its settings", || mode(&scratch, pid) != before);
        wait_for_records(&scratch, &file, 1);
        let worker = session.counters().unwrap().collector_pid;
        // Both, so that neither can tidy up after the other.
        stop(attached.pid());
        kill_process(Pid::from_raw(worker as i32).unwrap(), Signal::KILL).unwrap();
        attached.signal(Signal::KILL);
        assert_eq!(attached.end().signal(), Some(9));
        scratch.wait("the worker's end", || !session.is_collected().unwrap());
        assert!(mode(&scratch, pid) != before, "{heir}");
        match heir {
            "attach" => {
                // All sites are on again, as none were by themselves.
                let words = ["attach", &pid.to_string(), "-o", "next.silver"];
                let mut next = Running::start(&mut scratch.silverpoint(words));
                wait_for_records(&scratch, "next.silver", 4);
                next.signal(Signal::INT);
                let next = next.end();
                assert_eq!(next.code(), Some(0), "{next:?}");
            }
            "ls" => assert_eq!(scratch.sessions().len(), 1),
            _ => {
                let shown = scratch.run(["ctl", &pid.to_string()]);
                assert!(shown.out.ends_with(": \n"), "{}", shown.out);
            }
        }
        assert_eq!(mode(&scratch, pid), before, "{heir}");
    }
    assert_eq!(program.end().code(), Some(0));
}

#[test]
fn attach_ends_with_the_program_or_after_a_time() {
    let scratch = Scratch::new();
    let mut program = ticking(&scratch);
    let pid = program.pid().to_string();
    // How much the program records in this time is a matter of the machine's load, too.
    let has_records = ["100ms", "1s", "10s"].into_iter().any(|time| {
        let file = format!("{time}.silver");
        let timed = scratch.run(["attach", &pid, "-o", &file, "--for", time]);
        assert_eq!(timed.code(), Some(0), "{timed:?}");
        scratch.records(&file) > 5
    });
    assert!(has_records, "nothing was recorded");
    let attached =
        Running::start(&mut scratch.silverpoint(["attach", &pid, "-o", "b.silver", "--filter", "info"]));
    scratch.wait("the collector", || scratch.sessions()[0]["collector"].as_u64() != Some(0));
    wait_for_records(&scratch, "b.silver", 3);
    program.signal(Signal::KILL);
    let ended = attached.end();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(scratch.records("b.silver") > 2);
    assert!(scratch.left().is_empty(), "{:?}", scratch.left());
}

#[test]
fn a_process_without_a_session_is_told() {
    let scratch = Scratch::new();
    for words in [&["attach", "1"][..], &["ctl", "1", "info"], &["recover", "1"]] {
        let ended = scratch.run(words);
        assert_eq!(ended.code(), Some(6), "{ended:?}");
        assert!(ended.err.contains("process 1 has no"), "{}", ended.err);
    }
}

#[test]
fn ctl_switches_a_living_process() {
    let scratch = Scratch::new();
    let mut program = Running::start_with_input(&mut scratch.subject(["watch"]));
    assert_eq!(program.line(), "ready");
    let pid = program.pid().to_string();
    let ended = scratch.run(["ctl", &pid, "error,net=debug"]);
    assert_eq!(program.line(), "on");
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(ended.out.contains(" known sites on"), "{}", ended.out);
    let shown = scratch.run(["ctl", &pid]);
    assert!(shown.out.ends_with(": error,net=debug\n"), "{}", shown.out);

    let malformed = scratch.run(["ctl", &pid, "net=debug,io=lou"]);
    assert_eq!(malformed.code(), Some(2));
    assert!(malformed.err.contains("column 14: found 'lou', expected a level"), "{}", malformed.err);
    assert_eq!(scratch.run(["ctl", &pid]).out, shown.out, "a malformed text changed something");
    assert_eq!(program.end().code(), Some(0));
}

#[test]
fn ctl_reaches_a_process_under_run() {
    let scratch = Scratch::new();
    let mut command = scratch.silverpoint(["run", "--filter", "off", "-o", "t.silver", "--"]);
    let mut running = Running::start_with_input(command.arg(subject()).arg("watch"));
    assert_eq!(running.line(), "ready");
    let mut pid = None;
    scratch.wait("the session", || {
        pid = scratch.sessions().first().and_then(|row| row["pid"].as_u64());
        pid.is_some()
    });
    assert_eq!(scratch.run(["ctl", &pid.unwrap().to_string(), "net=on"]).code(), Some(0));
    assert_eq!(running.line(), "on");
    assert_eq!(running.end().code(), Some(0));
    assert_eq!(scratch.messages("t.silver"), ["seen"]);
}

#[test]
fn ls_shows_the_living_and_the_dead_and_sweeps_what_is_empty() {
    let scratch = Scratch::new();
    assert_eq!(scratch.run(["ls"]).out, "no sessions\n");
    let mut living = ticking(&scratch);
    let mut empty = ticking(&scratch);
    empty.signal(Signal::KILL);
    empty.end();
    let dead = crate::harness::end(scratch.subject(["flood", "50"]).env("SILVERPOINT_FILTER", "trace"));
    assert_eq!(dead.signal(), Some(9));

    let rows = scratch.sessions();
    assert_eq!(rows.len(), 2, "{rows:?}");
    let alive = rows.iter().find(|row| row["alive"] == true).unwrap();
    let left = rows.iter().find(|row| row["alive"] == false).unwrap();
    assert_eq!(alive["pid"], living.pid());
    assert_eq!((alive["name"].as_str(), left["name"].as_str()), (Some("subject"), Some("subject")));
    assert_eq!((alive["waiting_bytes"].as_u64(), alive["streams"].as_u64()), (Some(0), Some(0)));
    assert!(left["streams"].as_u64().unwrap() >= 1, "{left}");
    assert!(left["waiting_bytes"].as_u64().unwrap() >= 50 * 24, "{left}");
    assert!(left["command"].as_str().unwrap().ends_with("subject flood 50"), "{left}");

    let table = scratch.run(["ls"]).out;
    assert!(table.lines().next().unwrap().contains("PID  STATE  COLLECTOR"), "{table}");
    assert!(table.contains("  alive  ") && table.contains("  dead   "), "{table}");
    assert_eq!(living.end().code(), Some(0));
}

#[test]
fn the_private_directory_of_a_run_that_died_is_swept() {
    let scratch = Scratch::new();
    let abandoned: PathBuf = scratch.root().join("run-999999999-00000000");
    std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), 0o700)
        .create(&abandoned)
        .unwrap();
    assert!(scratch.sessions().is_empty());
    assert!(!abandoned.exists());
}
