//! A directory of sessions that was named is used or refused: never another in its place.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::harness::{Scratch, end, subject};

fn wide(scratch: &Scratch) -> String {
    let wide = scratch.path("wide");
    fs::create_dir(&wide).unwrap();
    fs::set_permissions(&wide, fs::Permissions::from_mode(0o755)).unwrap();
    wide.to_str().unwrap().to_owned()
}

#[test]
fn every_command_refuses_a_named_directory_that_others_may_enter() {
    let scratch = Scratch::new();
    let wide = wide(&scratch);
    let commands: [&[&str]; 13] = [
        &["ls"],
        &["recover", "--all"],
        &["recover", "1"],
        &["recover", "1-1-0"],
        &["tail"],
        &["tail", "1"],
        &["debug"],
        &["top", "-n", "1"],
        &["attach", "1"],
        &["ctl", "1", "info"],
        &["ctl", "1"],
        &["convert", "1", "x.jsonl"],
        &["run", "-o", "x.silver", "--", "true"],
    ];
    for words in commands {
        let ended = end(scratch.silverpoint(words).env("SILVERPOINT_DIR", &wide));
        assert!(matches!(ended.code(), Some(1 | 125)), "{words:?}: {ended:?}");
        for part in ["SILVERPOINT_DIR names", "its mode is 0755", "chmod 0700"] {
            assert!(ended.err.contains(part), "{words:?}: {}", ended.err);
        }
        assert!(!ended.out.contains("no sessions"), "{words:?}: {}", ended.out);
    }
    assert_eq!(fs::read_dir(&wide).unwrap().count(), 0);
}

#[test]
fn a_program_says_that_its_named_directory_is_refused_and_records_nowhere_else() {
    let scratch = Scratch::new();
    let wide = wide(&scratch);
    for demands in [true, false] {
        let mut command = scratch.subject(["count", "10"]);
        command.env("SILVERPOINT_DIR", &wide).env("XDG_RUNTIME_DIR", scratch.root());
        if demands {
            command.env("SILVERPOINT_FILTER", "trace");
        }
        let ended = end(&mut command);
        assert_eq!(ended.code(), Some(0), "{ended:?}");
        assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
        assert!(ended.err.contains(&format!("SILVERPOINT_DIR names {wide}")), "{}", ended.err);
        assert!(ended.err.contains("nothing is recorded"), "{}", ended.err);
    }
    // One that is killed would leave its session where it was.
    let mut command = scratch.subject(["flood", "10"]);
    command.env("SILVERPOINT_DIR", &wide).env("SILVERPOINT_FILTER", "trace");
    let mut running = crate::harness::Running::start(&mut command);
    let pid = running.pid();
    assert_eq!(running.end().signal(), Some(9));
    let uid = rustix::process::geteuid().as_raw();
    for root in [format!("/dev/shm/silverpoint-{uid}"), format!("/tmp/silverpoint-{uid}"), wide] {
        let names = fs::read_dir(&root).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let own: Vec<_> =
            names.filter(|name| name.to_string_lossy().starts_with(&format!("{pid}-"))).collect();
        assert!(own.is_empty(), "{root}: {own:?}");
    }
}

#[test]
fn a_named_directory_that_is_missing_is_made_or_the_reason_is_said() {
    let scratch = Scratch::new();
    let new = scratch.path("new");
    let mut command = scratch.silverpoint(["run", "-o", "t.silver", "--"]);
    let ended = end(command.arg(subject()).args(["count", "10"]).env("SILVERPOINT_DIR", &new));
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(fs::metadata(&new).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(scratch.records("t.silver"), 10);
    let deep = scratch.path("missing/deep");
    let mut command = scratch.silverpoint(["run", "-o", "u.silver", "--", "true"]);
    let ended = end(command.env("SILVERPOINT_DIR", &deep));
    assert_eq!(ended.code(), Some(125), "{ended:?}");
    assert!(ended.err.contains("it is not there and cannot be made"), "{}", ended.err);
}

/// The collector of a run may be between two lives when somebody recovers everything that is dead.
#[test]
fn recovering_all_leaves_runs_that_go_on_alone() {
    let scratch = Scratch::new();
    let mut command = scratch.silverpoint(["run", "-o", "t.silver", "--"]);
    let mut running = crate::harness::Running::start_with_input(command.arg(subject()).arg("steps"));
    assert_eq!(running.line(), "ready");
    let root = fs::read_dir(scratch.root()).unwrap().flatten().next().expect("a private root").path();
    // A dead session that nobody collects, as a collector's death leaves one.
    let mut dead = scratch.subject(["flood", "10"]);
    dead.env("SILVERPOINT_DIR", scratch.path("apart")).env("SILVERPOINT_FILTER", "trace");
    fs::create_dir(scratch.path("apart")).unwrap();
    fs::set_permissions(scratch.path("apart"), fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(end(&mut dead).signal(), Some(9));
    let session = fs::read_dir(scratch.path("apart")).unwrap().flatten().next().expect("a session");
    // The collector of the run would take it at once.
    let collector = crate::harness::collector_of(running.pid()).expect("a collector");
    crate::harness::stop(collector);
    fs::rename(session.path(), root.join(session.file_name())).unwrap();
    let recovered = scratch.run(["recover", "--all", "-o", "stolen.silver"]);
    crate::harness::send(collector, rustix::process::Signal::CONT);
    assert_eq!(recovered.code(), Some(0), "{recovered:?}");
    assert!(recovered.err.contains("still stores it"), "{}", recovered.err);
    assert!(!scratch.path("stolen.silver").exists());
    running.write("count 5\n");
    assert_eq!(running.line(), "done");
    let ended = running.end();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(scratch.records("t.silver"), 15, "{}", ended.err);
}
