//! The format in the program: there and back, and errors with their places.

use std::io::Write;
use std::process::{Command, Output, Stdio};

fn convert(options: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_own-format"))
        .arg("convert")
        .args(options)
        .args(["-", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

const LINES: &str = "time=2026-11-20T19:02:11.000000001Z level=warn pid=7 message=\"said \\\"ü = 1\\\" \\\\\"\n\
                     time=2026-11-20T19:02:12.500000000Z level=info pid=8 message=\"42\"\n";

#[test]
fn lines_become_records_and_records_lines() {
    let json = convert(&["--from", "logfmt", "--to", "jsonl"], LINES);
    let json = String::from_utf8(json.stdout).unwrap();
    assert!(
        json.contains(r#""level":"warn""#) && json.contains(r#""message":"said \"ü = 1\" \\""#),
        "{json}"
    );
    assert!(json.contains(r#""pid":8"#), "{json}");
    let back = convert(&["--from", "jsonl", "--to", "logfmt"], &json);
    assert_eq!(String::from_utf8(back.stdout).unwrap(), LINES);
    // Filters are those of all formats.
    let warnings = convert(&["--from", "logfmt", "--to", "logfmt", "--level", "warn"], LINES);
    assert_eq!(String::from_utf8(warnings.stdout).unwrap().lines().count(), 1);
}

#[test]
fn what_is_wrong_is_told_with_its_place_and_passed_over() {
    let damaged = format!("{LINES}time=yesterday level=info\n{LINES}");
    let output = convert(&["--from", "logfmt", "--to", "jsonl"], &damaged);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("(line 3, column 1), in [2].time: found the text \"yesterday\""), "{told}");
    let output = convert(&["--from", "logfmt", "--to", "jsonl", "--keep-going"], &damaged);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 4);
}

/// It stays as short as the page about it says.
#[test]
fn it_is_short() {
    let lines =
        include_str!("../src/lib.rs").lines().count() + include_str!("../src/main.rs").lines().count();
    assert!(lines <= 110, "{lines} lines");
    let code = |text: &str| {
        text.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with("//")).count()
    };
    assert!(code(include_str!("../src/lib.rs")) + code(include_str!("../src/main.rs")) < 100);
}
