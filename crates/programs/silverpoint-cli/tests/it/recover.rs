//! `recover`: dead sessions and damaged files.

use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::harness::{Ended, Running, Scratch, end};

/// A program that recorded without a collector and was killed; gives its process id.
pub fn dead_session(scratch: &Scratch, records: &str, settings: &[(&str, &str)]) -> String {
    let mut command = scratch.subject(["flood", records]);
    command.env("SILVERPOINT_FILTER", "trace").envs(settings.iter().copied());
    assert_eq!(end(&mut command).signal(), Some(9));
    scratch.left().iter().find(|name| name.ends_with("-0")).unwrap().split('-').next().unwrap().to_owned()
}

#[test]
fn what_a_killed_program_recorded_is_stored() {
    let scratch = Scratch::new();
    let pid = dead_session(&scratch, "100", &[]);
    let ended = scratch.run(["recover", &pid, "-o", "t.silver"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(scratch.records("t.silver"), 100);
    assert!(scratch.left().is_empty(), "{:?}", scratch.left());
    assert_eq!(scratch.run(["recover", &pid]).code(), Some(6));
    assert_eq!(scratch.run(["recover", "--all"]).code(), Some(0));
    assert_eq!(scratch.run(["recover"]).code(), Some(2));
}

/// A process with much memory takes its time to end, and its session had no death to recover from meanwhile.
#[test]
fn a_session_is_recovered_at_once_after_a_kill() {
    assert!((0..10).any(|_| recovers_after_a_kill()), "the killed program never ended in time");
}

/// One attempt. False: the machine was so busy that the killed process ended later than `recover` waits.
fn recovers_after_a_kill() -> bool {
    const WAIT: Duration = Duration::from_secs(2);
    let scratch = Scratch::new();
    let mut program =
        Running::start_with_input(scratch.subject(["steps"]).env("SILVERPOINT_FILTER", "trace"));
    assert_eq!(program.line(), "ready");
    for step in ["memory 200\n", "count 10\n"] {
        program.write(step);
        assert_eq!(program.line(), "done");
    }
    let pid = program.pid().to_string();
    program.signal(Signal::KILL);
    let begun = Instant::now();
    let ended = scratch.run(["recover", &pid, "-o", "t.silver"]);
    if ended.code() != Some(0) && begun.elapsed() >= WAIT {
        return false;
    }
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(scratch.records("t.silver"), 10);
    true
}

#[test]
fn a_session_by_name_may_be_kept() {
    let scratch = Scratch::new();
    dead_session(&scratch, "20", &[]);
    let name = scratch.left()[0].clone();
    for output in ["a.silver", "b.silver"] {
        let ended = scratch.run(["recover", &name, "--keep", "-o", output]);
        assert_eq!(ended.code(), Some(0), "{ended:?}");
        assert_eq!(scratch.records(output), 20);
    }
    assert_eq!(scratch.left(), [name]);
}

#[test]
fn several_sessions_go_into_one_file() {
    let scratch = Scratch::new();
    for records in ["10", "20", "30"] {
        dead_session(&scratch, records, &[]);
    }
    let ended = scratch.run(["recover", "--all"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(scratch.records("recovered.silver"), 60);
}

/// It stayed where it was, and `recover --all` said that all was well.
#[test]
fn a_session_that_cannot_be_opened_is_a_failure_and_the_others_are_stored() {
    let scratch = Scratch::new();
    dead_session(&scratch, "10", &[]);
    let damaged = scratch.left();
    let session = damaged[0].clone();
    let path = scratch.root().join(&session).join("control");
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.write_all_at(b"nonsense", 0).unwrap();
    dead_session(&scratch, "20", &[]);
    let ended = scratch.run(["recover", "--all", "-o", "t.silver"]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    assert!(ended.err.contains(&session) && ended.err.contains("1 session could not be opened"), "{ended:?}");
    assert_eq!(scratch.records("t.silver"), 20);
    assert_eq!(scratch.left(), damaged);
    let pid = session.split('-').next().unwrap();
    for target in [pid, &session, "--all"] {
        let ended = scratch.run(["recover", target]);
        assert_eq!(ended.code(), Some(1), "{target}: {ended:?}");
    }
    assert!(!scratch.path("recovered.silver").exists());
}

#[test]
fn losses_have_an_exit_code_of_their_own_and_are_told() {
    let scratch = Scratch::new();
    let settings =
        [("SILVERPOINT_COLLECTOR", "1"), ("SILVERPOINT_POLICY", "drop"), ("SILVERPOINT_MEMORY", "128K")];
    let pid = dead_session(&scratch, "20000", &settings);
    let ended = scratch.run(["recover", &pid, "-o", "t.silver"]);
    assert_eq!(ended.code(), Some(5), "{ended:?}");
    let stored = scratch.records("t.silver");
    let lost = 20_000 - stored;
    assert!(lost > 1000, "{lost}");
    let with_commas = format!("{},{:03}", lost / 1000, lost % 1000);
    assert!(ended.err.contains(&format!("{with_commas} records lost:")), "{with_commas}: {}", ended.err);
    let streams = ended.err.lines().find(|line| line.contains(" records (full)"));
    assert!(
        streams.is_some_and(|line| line.contains("subject[") && line.contains(&with_commas)),
        "{}",
        ended.err
    );
}

fn recover_file(scratch: &Scratch, output: &str) -> Ended {
    scratch.run(["recover", "t.silver", "--force", "-o", output])
}

#[test]
fn a_file_gives_what_is_intact() {
    let scratch = Scratch::new();
    dead_session(&scratch, "3000", &[]);
    assert_eq!(scratch.run(["recover", "--all", "-o", "t.silver"]).code(), Some(0));
    let whole = recover_file(&scratch, "whole.silver");
    assert_eq!(whole.code(), Some(0), "{whole:?}");
    assert_eq!(scratch.records("whole.silver"), 3000);

    let file = std::fs::File::options().read(true).write(true).open(scratch.path("t.silver")).unwrap();
    let len = file.metadata().unwrap().len();
    // A bit in the first block, which holds no records.
    let mut byte = [0];
    file.read_exact_at(&mut byte, 100).unwrap();
    file.write_all_at(&[byte[0] ^ 4], 100).unwrap();
    let flipped = recover_file(&scratch, "flipped.silver");
    assert_eq!(flipped.code(), Some(5), "{flipped:?}");
    assert!(flipped.err.contains("offset 0") && flipped.err.contains("1 block missing"), "{}", flipped.err);
    assert_eq!(scratch.records("flipped.silver"), 3000);
    assert_eq!(scratch.run(["cat", "t.silver"]).code(), Some(3), "the original is damaged");
    assert_eq!(scratch.run(["cat", "flipped.silver"]).code(), Some(0), "what was recovered is whole");

    file.set_len(len / 2).unwrap();
    let cut = recover_file(&scratch, "cut.silver");
    assert_eq!(cut.code(), Some(5), "{cut:?}");
    assert!(cut.err.contains("the file was cut"), "{}", cut.err);
    assert_eq!(scratch.run(["cat", "cut.silver"]).code(), Some(0));

    file.set_len(0).unwrap();
    file.write_all_at(b"something else", 0).unwrap();
    let none = recover_file(&scratch, "none.silver");
    assert_eq!(none.code(), Some(4), "{none:?}");
    assert!(!scratch.path("none.silver").exists());
    assert_eq!(scratch.run(["recover", "nowhere.silver"]).code(), Some(1));
}

#[test]
fn a_file_is_not_recovered_into_itself_or_over_something_else() {
    let scratch = Scratch::new();
    dead_session(&scratch, "10", &[]);
    assert_eq!(scratch.run(["recover", "--all", "-o", "t.silver"]).code(), Some(0));
    std::fs::write(scratch.path("notes.txt"), "precious").unwrap();
    for output in ["t.silver", "notes.txt"] {
        let ended = scratch.run(["recover", "t.silver", "-o", output]);
        assert_eq!(ended.code(), Some(1), "{ended:?}");
    }
    assert_eq!(std::fs::read(scratch.path("notes.txt")).unwrap(), b"precious");
    assert_eq!(scratch.records("t.silver"), 10);
}

/// Its collector had stored everything, and was killed before it could clean up.
#[test]
fn the_empty_root_of_a_dead_run_goes() {
    use std::os::unix::fs::DirBuilderExt;
    let scratch = Scratch::new();
    let mut ended = std::process::Command::new("true").spawn().unwrap();
    ended.wait().unwrap();
    let root = scratch.root().join(format!("run-{}-0a0b0c0d", ended.id()));
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&root).unwrap();
    let of_a_living_one = scratch.root().join(format!("run-{}-0a0b0c0d", std::process::id()));
    std::fs::DirBuilder::new().mode(0o700).create(&of_a_living_one).unwrap();
    let ended = scratch.run(["recover", "--all", "-o", "r.silver"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(!root.exists() && of_a_living_one.exists());
}
