//! Where no more can be written: each command names the file.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use silverpoint_wire::level::Level;

use crate::builder::{Builder, log, text};
use crate::harness::{Scratch, end};

/// A folder with a trace, longer in every form than a file may be here.
fn traced() -> Scratch {
    let mut b = Builder::new();
    b.session(1, "/bin/a", 7);
    b.site(1, 16, &log(Level::Info, "net", 1, "{}", "s"));
    b.stream(1, 1, 1, "main");
    for n in 0..4000u64 {
        // No two are alike: what compresses is as long.
        let number = n.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        b.record(1, 1, 16, 1_000_000 * n, &text(&format!("record {number:x}")));
    }
    b.flush(1, 1, true);
    b.end();
    let scratch = Scratch::new();
    fs::write(scratch.path("t.silver"), &b.bytes).unwrap();
    scratch
}

/// The program, whose files may have 8 KiB.
fn limited(scratch: &Scratch, words: &[&str]) -> Command {
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\"";
    let mut command = scratch.command("bash", ["-c", script, env!("CARGO_BIN_EXE_silverpoint")]);
    command.args(words);
    command
}

#[test]
fn every_command_names_the_file_that_cannot_be_written() {
    let scratch = traced();
    for (words, file) in [
        (&["convert", "t.silver", "o.jsonl"][..], "o.jsonl"),
        (&["convert", "t.silver", "o.csv"], "o.csv"),
        (&["convert", "t.silver", "o.cbor"], "o.cbor"),
        (&["convert", "--since", "+1ns", "t.silver", "o.silver"], "o.silver"),
        (&["convert", "t.silver", "o.pftrace"], "o.pftrace"),
        (&["convert", "--to", "ctf", "t.silver", "o.ctf"], "o.ctf"),
        (&["convert", "t.silver", "o.etl"], "o.etl"),
        (&["convert", "t.silver", "o.sqlite"], "o.sqlite"),
        (&["convert", "--level", "info", "t.silver", "p.sqlite"], "p.sqlite"),
        (&["repair", "t.silver", "-o", "o.silver"], "o.silver"),
        (&["merge", "t.silver", "t.silver", "-o", "o.silver"], "o.silver"),
        (&["trim", "t.silver", "-o", "o.silver"], "o.silver"),
        (&["split", "--parts", "2", "t.silver", "-o", "o-{}.silver"], "o-001.silver"),
        (&["sql", "t.silver", "-o", "o.sqlite"], "o.sqlite"),
        (&["recover", "t.silver", "-o", "o.silver"], "o.silver"),
    ] {
        let ended = end(&mut limited(&scratch, words));
        assert_eq!(ended.code(), Some(1), "{words:?}: {ended:?}");
        let line = ended.err.lines().find(|line| line.contains(file));
        assert!(line.is_some_and(|line| line.starts_with("silverpoint: ")), "{words:?}: {ended:?}");
        assert!(!fs::exists(scratch.path(file)).unwrap(), "{words:?}");
    }
}

#[test]
fn every_command_names_standard_output_when_it_is_full() {
    let scratch = traced();
    for words in [
        &["cat", "t.silver"][..],
        &["cat", "--json", "t.silver"],
        &["cat", "--count", "t.silver"],
        &["stats", "t.silver"],
        &["sites", "t.silver"],
        &["sql", "t.silver", "select message from records"],
        &["convert", "--to", "jsonl", "t.silver", "-"],
        &["convert", "--to", "silver", "t.silver", "-"],
        &["man", "cat"],
        &["tail", "t.silver"],
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let child = scratch.silverpoint(words).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        let ended = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(1), "{words:?}: {err}");
        assert!(err.contains("standard output: No space left on device"), "{words:?}: {err}");
    }
}
