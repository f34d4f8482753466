//! Programs that change themselves, their files or what they may do after their logger has begun.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::harness::{Scratch, numbers};

const RECORDS: u64 = 100;

fn assert_whole(scratch: &Scratch, name: &str) {
    let found = numbers(&scratch.read(name));
    assert!(found.iter().copied().eq(0..RECORDS), "{name}: {found:?}");
}

/// Blocks of the spool, a mark of the lock and whole lines stood in files of the program's.
#[test]
fn a_program_that_closes_all_descriptors_keeps_its_log_and_its_own_files() {
    // The collector's thread may be anywhere when they are closed.
    (0..8).for_each(|_| close_all_descriptors());
}

fn close_all_descriptors() {
    let scratch = Scratch::new();
    let mut running = scratch.logging(["closed"]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(running.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "flushed\n");
    // The lock was ended with the descriptors, and is held again.
    scratch.run(["count", "3"]);
    assert_eq!(numbers(&scratch.read("app-2.log")), [0, 1, 2]);
    running.stdin.take().unwrap().write_all(b"\n").unwrap();
    let ended = running.wait_with_output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    assert_whole(&scratch, "app.log");
    assert_eq!(scratch.read("app.log.jsonl").lines().count() as u64, RECORDS);
    for number in 0..12 {
        let own = scratch.read(&format!("app.log.data-{number}"));
        assert_eq!(own, format!("precious {number}\nstill open {number}\n"));
    }
    assert!(!scratch.path("app.log.spool").exists(), "everything was delivered");
}

fn is_root(what: &str) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        silverpoint_tests::skipped!("{what}: needs root");
    }
    is_root
}

/// What is open goes on, although its name cannot be reached any more, nor the file be rotated.
#[test]
fn a_program_that_gives_up_its_rights_keeps_its_log() {
    if !is_root("another user, another root") {
        return;
    }
    for what in ["user", "root"] {
        let scratch = Scratch::new();
        fs::create_dir(scratch.path("jail")).unwrap();
        fs::set_permissions(scratch.path(""), fs::Permissions::from_mode(0o755)).unwrap();
        let (_, err) = scratch.run(["dropped", what]);
        let text = scratch.read("app.log");
        assert_eq!(text.matches("of another thread").count(), 1, "{what}: {text}{err}");
        let lines: String =
            text.lines().filter(|line| line.contains("number ")).map(|line| format!("{line}\n")).collect();
        let found = numbers(&lines);
        assert!(found.iter().copied().eq(0..RECORDS), "{what}: {found:?} {err}");
        assert_eq!(err.matches("the same file continues").count(), 1, "{what}: {err}");
    }
}

/// Nothing that was written to such a file can be changed.
#[test]
fn a_log_to_which_may_only_be_appended() {
    let scratch = Scratch::new();
    fs::write(scratch.path("app.log"), "begun by hand\n").unwrap();
    let change = |how: &str| {
        let done = Command::new("chattr").arg(how).arg(scratch.path("app.log")).output();
        done.is_ok_and(|done| done.status.success())
    };
    if !change("+a") {
        return eprintln!(
            "SKIPPED: a file to which may only be appended: needs root, and a file system that has such"
        );
    }
    let first = scratch.logging(["count", "100"]).output().unwrap();
    let second = scratch.logging(["count", "3"]).output().unwrap();
    assert!(change("-a"));
    for ended in [first, second] {
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    let text = scratch.read("app.log");
    let (begun, lines) = text.split_once('\n').unwrap();
    assert_eq!(begun, "begun by hand");
    assert!(numbers(lines).into_iter().eq((0..RECORDS).chain(0..3)), "{text}");
}

/// A spool has the log's name and an ending.
#[test]
fn logs_whose_names_are_as_long_as_names_may_be() {
    for len in [237, 250, 255] {
        let scratch = Scratch::new();
        let name = "x".repeat(len - 4) + ".log";
        let command = scratch.logging(["count", "100"]);
        let words: Vec<_> = command.get_args().skip(1).map(ToOwned::to_owned).collect();
        let mut renamed = Command::new(command.get_program());
        renamed.arg(scratch.path(&name)).args(words).env("SILVERPOINT_DIR", scratch.path("sessions"));
        renamed.stdin(std::process::Stdio::null());
        let ended = renamed.output().unwrap();
        assert!(ended.status.success(), "{len}: {}", String::from_utf8_lossy(&ended.stderr));
        assert_whole(&scratch, &name);
        assert_eq!(scratch.names(), [name], "{len}: the spool is gone");
    }
}
