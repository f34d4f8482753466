//! `silverpoint debug`: debug output of living programs.

use std::fs;
use std::process::Command;

use rustix::process::Signal;
use silverpoint_shm::observer::{ObservedSession, list};
use silverpoint_shm::root::Root;

use crate::harness::{Running, Scratch};

/// A program that does what its standard input says.
fn program(scratch: &Scratch) -> Running {
    let mut running = Running::start_with_input(&mut scratch.subject(["steps"]));
    assert_eq!(running.line(), "ready");
    running
}

fn step(running: &mut Running, step: &str) {
    running.write(&format!("{step}\n"));
    assert_eq!(running.line(), "done");
}

fn directives(scratch: &Scratch, pid: &str) -> String {
    let ended = scratch.run(["ctl", pid]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    ended.out.trim_end().split_once(": ").map_or("", |(_, text)| text).to_owned()
}

/// Waits until somebody has switched debug output on: what comes now is shown. The text of directives comes before the states of
/// sites, so it is read under the controller's lock.
fn wait_until_on(scratch: &Scratch, pid: &str) {
    let root = Root::open_directory(&scratch.root()).unwrap();
    let name = list(&root).unwrap().into_iter().find(|name| name.pid.to_string() == pid).unwrap();
    let session = ObservedSession::open(&root, name).unwrap();
    scratch.wait("debug output that is on", || {
        let mode = session.save_mode().unwrap();
        String::from_utf8_lossy(mode.directives_text()).contains("debug_output=debug")
    });
}

fn messages(json: &str) -> Vec<String> {
    let message = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        record["message"].as_str().unwrap().to_owned()
    };
    json.lines().map(message).collect()
}

#[test]
fn debug_output_is_shown_and_saved_and_off_afterwards() {
    let scratch = Scratch::new();
    let mut program = program(&scratch);
    let pid = program.pid().to_string();
    assert_eq!(scratch.run(["ctl", &pid, "shop=info"]).code(), Some(0));
    // Not shown: it is off.
    step(&mut program, "debug 5");
    let words = ["debug", "--json", "-o", "d.silver", &pid];
    let mut monitor = Running::start(&mut scratch.silverpoint(words));
    wait_until_on(&scratch, &pid);
    // Others stay off.
    step(&mut program, "count 2");
    step(&mut program, "debug 3");
    let shown = [monitor.line(), monitor.line(), monitor.line()];
    assert_eq!(messages(&shown.join("\n")), ["debug 0\\n", "debug 1\\n", "debug 2\\n"]);
    assert!(!scratch.path("d.silver").exists(), "a file that is not complete");
    // Another one does not end with it.
    let mut other =
        Running::start(&mut scratch.silverpoint(["debug", "--pattern", "{pid} {message}", "-c", "*"]));
    monitor.signal(Signal::INT);
    let ended = monitor.end();
    assert_eq!((ended.code(), &*ended.err), (Some(0), ""), "{ended:?}");
    assert_eq!(scratch.messages("d.silver"), ["debug 0\\n", "debug 1\\n", "debug 2\\n"]);
    wait_until_on(&scratch, &pid);
    assert_eq!(scratch.run(["ctl", &pid, "+subject=info"]).code(), Some(0));
    step(&mut program, "count 1");
    step(&mut program, "debug 1");
    assert_eq!(other.line(), format!("{pid} subject.count n=0"));
    assert_eq!(other.line(), format!("{pid} debug 0\\n"));
    other.signal(Signal::TERM);
    assert_eq!(other.end().code(), Some(0));
    assert_eq!(directives(&scratch, &pid), "shop=info,subject=info");
    // It is never replaced without being asked.
    let ended = scratch.run(words);
    assert!(ended.code() == Some(1) && ended.err.contains("--force"), "{ended:?}");
    // The end of the process is the end.
    let monitor = Running::start(&mut scratch.silverpoint([&words[..], &["--force"]].concat()));
    wait_until_on(&scratch, &pid);
    step(&mut program, "debug 1");
    assert_eq!(program.end().code(), Some(0));
    let ended = monitor.end();
    assert_eq!((ended.code(), messages(&ended.out)), (Some(0), vec!["debug 0\\n".to_owned()]), "{ended:?}");
    assert_eq!(scratch.messages("d.silver"), ["debug 0\\n"]);
    assert_eq!(scratch.run(["debug", &pid]).code(), Some(6));
}

#[test]
fn directives_of_the_user_come_back_and_what_came_last_is_shown() {
    let scratch = Scratch::new();
    let mut program = program(&scratch);
    let pid = program.pid().to_string();
    for (own, added, afterwards) in [
        ("trace,debug_output=off", None, "trace,debug_output=off"),
        ("trace,debug_output=off", Some("+shop=info"), "trace,debug_output=off,shop=info"),
        ("trace,debug_output=off", Some("+debug_output=trace"), "trace,debug_output=trace"),
    ] {
        assert_eq!(scratch.run(["ctl", &pid, own]).code(), Some(0));
        let mut monitor = Running::start(&mut scratch.silverpoint(["debug", "--json", &pid]));
        wait_until_on(&scratch, &pid);
        if let Some(added) = added {
            assert_eq!(scratch.run(["ctl", &pid, added]).code(), Some(0));
        }
        // An interrupt loses nothing that came before it.
        step(&mut program, "debug 1");
        monitor.signal(Signal::INT);
        let ended = monitor.end();
        assert_eq!(
            (ended.code(), messages(&ended.out)),
            (Some(0), vec!["debug 0\\n".to_owned()]),
            "{ended:?}"
        );
        assert_eq!(directives(&scratch, &pid), afterwards, "{added:?}");
    }
    // A session that has ended keeps nothing open in the monitor of all.
    assert_eq!(scratch.run(["ctl", &pid, "info"]).code(), Some(0));
    let mut monitor = Running::start(&mut scratch.silverpoint(["debug"]));
    wait_until_on(&scratch, &pid);
    let (root, open) = (scratch.root().canonicalize().unwrap(), format!("/proc/{}/fd", monitor.pid()));
    let has_root_open = || {
        let mut links = fs::read_dir(&open).unwrap().flatten().filter_map(|fd| fs::read_link(fd.path()).ok());
        links.any(|path| path == root)
    };
    scratch.wait("a directory of the session", has_root_open);
    assert_eq!(program.end().code(), Some(0));
    scratch.wait("a closed directory", || !has_root_open());
    monitor.signal(Signal::INT);
    assert_eq!(monitor.end().code(), Some(0));
}

#[test]
fn an_error_keeps_what_was_saved_and_puts_directives_back() {
    let scratch = Scratch::new();
    let mut program = program(&scratch);
    let pid = program.pid().to_string();
    for (script, why) in [
        ("exec \"$0\" debug -o d.silver \"$1\" > /dev/full", "standard output: No space left on device"),
        // Copies reach the limit: nothing is shown.
        ("ulimit -f 4096; exec \"$0\" debug -c shop \"$1\"", "File too large"),
    ] {
        let words = ["-c", script, env!("CARGO_BIN_EXE_silverpoint"), &pid];
        let mut monitor = Running::start(&mut scratch.command("/bin/sh", words));
        wait_until_on(&scratch, &pid);
        scratch.wait(why, || {
            step(&mut program, "debug 1000");
            !monitor.is_running()
        });
        let ended = monitor.end();
        assert!(ended.code() == Some(1) && ended.err.contains(why), "{ended:?}");
        assert_eq!(directives(&scratch, &pid), "", "{why}");
    }
    let saved = scratch.messages("d.silver");
    assert_eq!(saved.first().map(String::as_str), Some("debug 0\\n"));
    assert_eq!(program.end().code(), Some(0));
}

/// On a pseudo-terminal of `script`. Another monitor says when the paused one must have seen a text.
#[test]
fn the_space_bar_pauses() {
    if Command::new("script").arg("--version").output().is_err() {
        silverpoint_tests::skipped!("terminals: the program script (bsdutils) is not installed");
        return;
    }
    let scratch = Scratch::new();
    let mut program = program(&scratch);
    let pid = program.pid().to_string();
    let line = format!("{} debug --color never -o d.silver {pid}", env!("CARGO_BIN_EXE_silverpoint"));
    let mut terminal =
        Running::start_with_input(&mut scratch.command("script", ["-qec", &line, "/dev/null"]));
    wait_until_on(&scratch, &pid);
    step(&mut program, "debug 1");
    terminal.read_until("debug 0");
    let words = ["debug", "--pattern", "{message}", "--since", "2000-01-01"];
    let mut other = Running::start(&mut scratch.silverpoint(words));
    terminal.write(" ");
    terminal.read_until("paused");
    step(&mut program, "debug 2");
    while other.line() != "debug 1\\n" {}
    terminal.write(" ");
    let seen = terminal.read_until("goes on");
    assert!(!seen.contains("debug"), "{seen:?}");
    terminal.read_until("debug 1");
    // The end of a pause shows what came in it, too.
    terminal.write(" ");
    terminal.read_until("paused");
    step(&mut program, "debug 3");
    terminal.write("q");
    terminal.read_until("debug 2");
    let ended = terminal.end();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(scratch.messages("d.silver").last().map(String::as_str), Some("debug 2\\n"));
    other.signal(Signal::INT);
    assert_eq!(other.end().code(), Some(0));
}
