//! Where no thread and no process can be started: said, never a panic.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::harness::{Scratch, end, is_root, subject};

/// A user that runs nothing else: the limit is one of all processes of a user, and root has none. Two runs of this test at a time have two users.
fn nobody() -> String {
    (1_000_000_000 + std::process::id()).to_string()
}

/// The program, as a user who may have so many processes.
fn limited(scratch: &Scratch, processes: u32, words: &[&str]) -> Command {
    let mut command =
        scratch.command("setpriv", ["--reuid", &nobody(), "--regid", &nobody(), "--clear-groups"]);
    command.args(["bash", "-c", "ulimit -u $0; exec \"$@\""]).arg(processes.to_string());
    command.arg(scratch.path("silverpoint")).args(words).stdin(Stdio::null());
    command
}

#[test]
fn no_command_panics_where_no_thread_can_be_started() {
    if !is_root("no thread can be started") {
        return;
    }
    let scratch = Scratch::new();
    // Where the other user finds it.
    for (from, to) in [(Path::new(env!("CARGO_BIN_EXE_silverpoint")), "silverpoint"), (&subject(), "subject")]
    {
        scratch.executable(to, from);
    }
    let made = scratch.run(["run", "-q", "-o", "t.silver", "--", "./subject", "count", "10"]);
    assert_eq!(made.code(), Some(0), "{made:?}");
    let pid = crate::recover::dead_session(&scratch, "10", &[]);
    let owned = Command::new("chown").arg("-R").arg(nobody()).arg(scratch.path("")).status();
    assert!(owned.is_ok_and(|status| status.success()));
    let mut codes = Vec::new();
    for processes in 1..8 {
        let run = ["run", "-o", "r.silver", "--", "true"];
        let ended = end(&mut limited(&scratch, processes, &run));
        assert!(!ended.err.contains("panicked"), "{processes} processes: {}", ended.err);
        assert!(matches!(ended.code(), Some(0 | 125)), "{processes} processes: {ended:?}");
        if ended.code() == Some(125) {
            assert!(
                ended.err.contains("can be started") || ended.err.contains("cannot be started"),
                "{}",
                ended.err
            );
        }
        codes.push(ended.code());
    }
    assert!(codes.contains(&Some(0)) && codes.contains(&Some(125)), "{codes:?}");
    let alone: [&[&str]; 9] = [
        &["sql", "t.silver", "select count(*) from records"],
        &["cat", "--count", "t.silver"],
        &["convert", "--force", "t.silver", "t.jsonl"],
        &["convert", "t.silver", "otlp+http://localhost:9"],
        &["stats", "t.silver"],
        &["verify", "t.silver"],
        &["top", "-n", "1", "t.silver"],
        &["replay", "t.silver", "--sink", "r2.silver"],
        &["recover", &pid, "-o", "d.silver"],
    ];
    for words in alone {
        let ended = end(&mut limited(&scratch, 1, words));
        assert!(!ended.err.contains("panicked"), "{words:?}: {}", ended.err);
        assert!(ended.code().is_some_and(|code| code < 3), "{words:?}: {ended:?}");
    }
}
