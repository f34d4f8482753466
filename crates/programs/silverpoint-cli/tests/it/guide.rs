//! The shell snippets of the guide, run page by page in the order in which they stand there.

use std::path::{Path, PathBuf};

use crate::harness::{Scratch, end, example};

fn guide() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/guide")
}

/// The blocks of a page that are marked with a language.
fn snippets(page: &Path, language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(page).unwrap();
    let begin = format!("```{language}\n");
    text.split(&begin).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// A folder with programs of the names that the guide uses.
fn programs() -> Scratch {
    let scratch = Scratch::new();
    scratch.script("app", "exec \"$SUBJECT\" count 100");
    scratch.script("crashing", "exec \"$SUBJECT\" flood 100");
    // A pipe that is opened for both never ends.
    scratch.script("server", "mkfifo pipe && exec 3<>pipe && exec \"$SUBJECT\" tick 2 <&3 >/dev/null 2>&1");
    // As Cargo leaves it: the program itself.
    std::fs::create_dir_all(scratch.path("target/release")).unwrap();
    std::os::unix::fs::symlink(example("subject"), scratch.path("target/release/app")).unwrap();
    scratch
}

/// Runs all snippets of a page as one script; gives what they said.
fn run(page: &str) -> String {
    let scratch = programs();
    let snippets = snippets(&guide().join(page), "sh");
    assert!(!snippets.is_empty(), "{page} has no snippets");
    let here = Path::new(env!("CARGO_BIN_EXE_silverpoint")).parent().unwrap();
    let path = format!("{}:{}", here.display(), std::env::var("PATH").unwrap());
    let script = format!("set -eu\n{}", snippets.join("\n"));
    let ended = end(scratch.command("sh", ["-c", &script]).env("PATH", path));
    assert_eq!(ended.code(), Some(0), "{page}: {ended:?}");
    ended.out
}

#[test]
fn reading() {
    let out = run("reading.md");
    assert!(out.matches("subject.count").count() > 100, "{out}");
    assert!(out.contains("\"args\""), "JSON: {out}");
    // The pattern: exactly the last three have the place in parentheses.
    assert_eq!(out.matches(" (subject.rs:").count(), 3, "{out}");
    // One thread counts to a hundred; nine numbers lie between 10 and 20.
    assert!(out.contains("number=11") && out.contains("rate "), "{out}");
    // The program without its trace.
    assert!(out.contains("PROGRAM") && out.contains("\"program\":\"target/release/app\""), "{out}");
}

#[test]
fn steering() {
    let out = run("steering.md");
    assert!(out.contains("alive") && out.contains("tick "), "{out}");
    assert!(out.contains("info,net=debug,io::*=off,pump.cpp:88=on"), "{out}");
}

#[test]
fn looking() {
    let out = run("looking.md");
    // Three lines, and the table's.
    assert!(out.contains("tick ") && out.contains("RATE/S") && out.contains("tick {}"), "{out}");
    assert!(out.lines().filter(|line| line.starts_with("{\"")).count() == 2, "JSON: {out}");
}

#[test]
fn after_a_crash() {
    let out = run("after-a-crash.md");
    assert_eq!(
        out.matches("number=99").count(),
        2,
        "the last record, from the collector and from memory: {out}"
    );
    assert!(out.contains("dead"), "{out}");
}

#[test]
fn policies() {
    let out = run("policies.md");
    assert!(out.contains("verdict   intact"), "{out}");
    assert!(out.contains("forgotten 100 kept back"), "{out}");
    assert_eq!(out.matches("number=99").count(), 1, "the last record of the program that was killed: {out}");
}

#[test]
fn every_page_is_in_the_contents_and_every_shell_snippet_is_run() {
    let contents = std::fs::read_to_string(guide().join("README.md")).unwrap();
    for entry in std::fs::read_dir(guide()).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        assert!(
            name == "README.md" || contents.contains(&format!("({name})")),
            "{name} is not in the contents"
        );
        // Other tests run these: lttng.rs, tracegen.rs, usdt.rs, timeline.rs.
        let elsewhere = ["lttng.md", "tracegen.md", "bpftrace-and-perf.md", "one-timeline.md"];
        let is_run = ["reading.md", "steering.md", "looking.md", "after-a-crash.md", "policies.md"]
            .into_iter()
            .chain(elsewhere)
            .any(|run| run == name);
        assert!(is_run || snippets(&entry.path(), "sh").is_empty(), "nobody runs the snippets of {name}");
    }
    // Links of the guide lead somewhere.
    for link in contents.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
        assert!(guide().join(link).exists(), "{link}");
    }
}
