//! `recover`, and the logs of loggers that were killed.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use rustix::process::Signal;
use silverpoint_shm::observer::ObservedSession;
use silverpoint_shm::root::Root;

use crate::harness::{Running, Scratch, end, example};

/// The numbers of the records in a log of text. A program that outruns the sinks has waited, which is a line too.
fn numbers(scratch: &Scratch, log: &str) -> Vec<u64> {
    let text = std::fs::read_to_string(scratch.path(log)).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split("number ").nth(1));
    lines.map(|rest| rest.split_whitespace().next().unwrap().parse().unwrap()).collect()
}

/// Those of a log of JSON.
fn json_numbers(scratch: &Scratch, log: &str) -> Vec<u64> {
    let text = std::fs::read_to_string(scratch.path(log)).unwrap_or_default();
    let objects = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    objects.filter_map(|object| object["args"]["number"].as_u64()).collect()
}

/// A program with a logger that was killed within its work; gives up to where it had come at least.
fn killed(scratch: &Scratch) -> u64 {
    let log = scratch.path("app.log");
    let words = [log.to_str().unwrap(), "flood"];
    let mut command = scratch.command(example("logged"), words);
    // On a loaded machine the collector's thread may stand still for longer than a second.
    let mut program = Running::start(command.env("SILVERPOINT_POLICY", "block=forever"));
    let mut told = program.line();
    std::thread::sleep(Duration::from_millis(20));
    program.signal(Signal::KILL);
    let ended = program.end();
    // The last line may have been cut by the kill.
    if let Some(whole) = ended.out.lines().rev().nth(1) {
        told = whole.to_owned();
    }
    told.parse().unwrap()
}

fn assert_whole(scratch: &Scratch, told: u64) {
    let found = numbers(scratch, "app.log");
    assert!(found.len() as u64 > told, "{} of at least {}", found.len(), told + 1);
    let wrong = found.iter().zip(0..).find(|(found, expected)| **found != *expected);
    assert_eq!(wrong, None, "of {} records", found.len());
    assert_eq!(json_numbers(scratch, "app.log.jsonl"), found);
    assert_eq!(numbers(scratch, "app.log.few"), [0, 1, 2, 3, 4]);
}

/// It took what was in the rings into a trace file, and the log had a hole that nobody mentioned.
#[test]
fn what_a_killed_logger_had_not_delivered_is_added_to_its_log() {
    let scratch = Scratch::new();
    let told = killed(&scratch);
    let ended = scratch.run(["recover", "--all"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(
        ended.err.contains("app.log.jsonl") && ended.err.contains("the missing records are now in"),
        "{ended:?}"
    );
    assert_whole(&scratch, told);
    assert!(!scratch.path("recovered.silver").exists());
    assert!(scratch.left().is_empty() && !scratch.path("app.log.spool").exists(), "{:?}", scratch.left());
    // As any line of its own, with what code alone can ask for.
    let text = std::fs::read_to_string(scratch.path("app.log")).unwrap();
    assert!(text.lines().all(|line| line.contains("logged[")), "{}", text.lines().next_back().unwrap());
    // The next start has nothing to add, and goes on.
    let before = numbers(&scratch, "app.log").len();
    let log = scratch.path("app.log");
    let next = end(&mut scratch.command(example("logged"), [log.to_str().unwrap(), "count", "3"]));
    assert_eq!(next.code(), Some(0), "{next:?}");
    assert_eq!(numbers(&scratch, "app.log")[before..], [0, 1, 2]);
}

#[test]
fn a_copy_of_a_killed_loggers_session_takes_nothing_from_its_log() {
    let scratch = Scratch::new();
    let told = killed(&scratch);
    let left = scratch.left();
    let ended = scratch.run(["recover", "--all", "--keep", "-o", "copy.silver"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(scratch.left(), left);
    let ended = scratch.run(["recover", &left[0]]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_whole(&scratch, told);
}

#[test]
fn a_killed_logger_of_which_nobody_knows_the_sinks_is_left_to_its_next_start() {
    let scratch = Scratch::new();
    let told = killed(&scratch);
    std::fs::remove_file(scratch.path("app.log.spool/sinks.toml")).unwrap();
    let left = scratch.left();
    let ended = scratch.run(["recover", "--all"]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    assert!(ended.err.contains("next start") && ended.err.contains("app.log.spool"), "{ended:?}");
    assert_eq!(scratch.left(), left);
    let log = scratch.path("app.log");
    let next = end(&mut scratch.command(example("logged"), [log.to_str().unwrap(), "count", "0"]));
    assert_eq!(next.code(), Some(0), "{next:?}");
    assert_whole(&scratch, told);
}

/// The session is gone when the spool has its records. Then the process's number finds nothing, and the log's
/// missing records wait for a start that may never come.
#[test]
fn what_a_log_could_not_be_given_is_delivered_from_its_spool() {
    let scratch = Scratch::new();
    let told = killed(&scratch);
    let (sinks, log) = (scratch.path("app.log.spool/sinks.toml"), scratch.path("app.log.jsonl"));
    let right = std::fs::read_to_string(&sinks).unwrap();
    let full = right.replace(log.to_str().unwrap(), "/dev/full");
    assert_ne!(right, full);
    std::fs::write(&sinks, full).unwrap();
    let ended = scratch.run(["recover", "--all"]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    let spool = scratch.path("app.log.spool");
    assert!(ended.err.contains(&format!("`silverpoint recover {}`", spool.display())), "{ended:?}");
    assert!(scratch.left().is_empty() && spool.exists(), "{:?}", scratch.left());
    // Still nothing can be written: the same words again.
    let spool = spool.to_str().unwrap();
    let ended = scratch.run(["recover", spool]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    std::fs::write(&sinks, right).unwrap();
    for words in [["recover", spool, "--keep"].as_slice(), &["recover", spool, "-o", "some.silver"]] {
        assert_eq!(scratch.run(words).code(), Some(2));
    }
    // All is in the spool: the directory of sessions may be one that cannot be used.
    std::fs::set_permissions(scratch.root(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let ended = scratch.run(["recover", spool]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(
        ended.err.contains("app.log.jsonl") && ended.err.contains("the missing records are now in"),
        "{ended:?}"
    );
    assert_whole(&scratch, told);
    assert!(!scratch.path("app.log.spool").exists());
}

/// A spool of a program that lives is its own.
#[test]
fn the_spool_of_a_living_logger_is_not_taken() {
    let scratch = Scratch::new();
    let log = scratch.path("app.log");
    let words = [log.to_str().unwrap(), "flood"];
    let mut program = Running::start(&mut scratch.command(example("logged"), words));
    program.line();
    let ended = scratch.run(["recover", "app.log.spool"]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    assert!(ended.err.contains("another process has"), "{ended:?}");
    program.signal(Signal::KILL);
    program.end();
    let ended = scratch.run(["recover", "app.log.spool"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_whole(&scratch, 0);
    assert!(scratch.left().is_empty());
}

/// Sessions in its list may be held by others, or be inaccessible. What can be delivered is delivered; the
/// rest is reported, and waits.
#[test]
fn what_cannot_be_taken_from_a_spool_is_told_and_waits() {
    let scratch = Scratch::new();
    let told = killed(&scratch);
    let (spool, list) = (scratch.path("app.log.spool"), scratch.path("app.log.spool/sessions"));
    let session = scratch.left().pop().unwrap();
    let root = Root::open_directory(&scratch.root()).unwrap();
    let held = ObservedSession::open(&root, session.parse().unwrap()).unwrap();
    assert!(held.lock_collector().unwrap());
    let ended = scratch.run(["recover", "app.log.spool"]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    assert!(ended.err.contains("another process holds") && spool.exists(), "{ended:?}");
    drop(held);
    let restrict = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    restrict(&scratch.root(), 0o755);
    let ended = scratch.run(["recover", "app.log.spool"]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    assert!(ended.err.contains("cannot be opened") && spool.exists(), "{ended:?}");
    restrict(&scratch.root(), 0o700);

    // A directory that is everybody's is no root of sessions.
    let open = scratch.path("open");
    let other = session.replace(|c: char| c.is_ascii_digit(), "7");
    std::fs::create_dir_all(open.join(&other)).unwrap();
    restrict(&open, 0o777);
    let named = std::fs::read_to_string(&list).unwrap();
    std::fs::write(&list, format!("{other} {}\n{named}", open.display())).unwrap();
    let ended = scratch.run(["recover", "app.log.spool"]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    assert!(
        ended.err.contains("cannot be opened") && ended.err.contains(open.to_str().unwrap()),
        "{ended:?}"
    );
    assert_whole(&scratch, told);
    assert!(scratch.left().is_empty() && spool.exists());
    std::fs::remove_dir_all(&open).unwrap();
    let ended = scratch.run(["recover", "app.log.spool"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_whole(&scratch, told);
    assert!(!spool.exists());
}
