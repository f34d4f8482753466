//! Trace files that a sink writes: what a text sink beside it has, and nothing that a reader minds.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::time::Duration;

use silverpoint_render::{text, time::Style};
use silverpoint_trace::verify::{Depth, Severity, verify};
use silverpoint_trace::{Source, Trace, Verdict};

use crate::harness::{Scratch, kill};

/// The trace files of a scratch directory.
fn trace_files(scratch: &Scratch) -> Vec<PathBuf> {
    let names = scratch.names().into_iter().filter(|name| name.ends_with(".silver"));
    names.map(|name| scratch.path(&name)).collect()
}

/// What `cat` shows of them, without times.
fn lines(files: &[PathBuf]) -> String {
    let trace = Trace::open(files).unwrap();
    assert_eq!(trace.verdict(), Verdict::Intact, "{:?}", trace.notes());
    let options = text::Options { time: Style::None, process: false, ..text::Options::default() };
    let mut writer = text::Writer::new(&options, &trace);
    let mut events = trace.events();
    let mut out = String::new();
    while let Some(event) = events.next() {
        if event.is_shown() {
            writer.line(&mut out, &event);
        }
    }
    assert_eq!(events.notes(), []);
    out
}

/// Every file is what the specification says.
fn check(files: &[PathBuf]) {
    for file in files {
        let mut found = Vec::new();
        let source = Source::open(file).unwrap();
        let verified = verify(&source, Depth::Whole, |finding| found.push(finding)).unwrap();
        // It may go on at any time.
        found.retain(|finding| {
            finding.severity > Severity::Remark || finding.what != "the file was not closed"
        });
        assert_eq!((verified.verdict(), found), (Verdict::Intact, Vec::new()), "{}", file.display());
        assert!(verified.records > 0, "{}", file.display());
    }
}

/// The lines of each thread, in their order; others (waits for room) too.
fn by_thread(text: &str) -> BTreeMap<String, Vec<&str>> {
    let mut threads = BTreeMap::new();
    for line in text.lines() {
        let thread = line.split("worker ").nth(1).map_or("", |rest| &rest[..1]);
        threads.entry(thread.to_owned()).or_insert_with(Vec::new).push(line);
    }
    threads
}

/// Gives how many lines of the first thread there are with a number.
fn compare(scratch: &Scratch, of: &str) -> usize {
    let files = trace_files(scratch);
    check(&files);
    let (text, traced) = (scratch.read("app.log"), lines(&files));
    let (text, traced) = (by_thread(&text), by_thread(&traced));
    for (thread, lines) in &text {
        let other = &traced[thread];
        let differs = lines.iter().zip(other).find(|(one, other)| one != other);
        assert_eq!(differs, None, "{of}: thread {thread}");
        assert_eq!(lines.len(), other.len(), "{of}: thread {thread}");
    }
    assert_eq!(text.len(), traced.len(), "{of}");
    text.get("0").map_or(0, |lines| lines.iter().filter(|line| line.contains(" number ")).count())
}

#[test]
fn a_trace_file_has_the_lines_of_a_text_file_beside_it() {
    let scratch = Scratch::new();
    scratch.run(["traced", "0", "4", "2000"]);
    assert_eq!(compare(&scratch, "first"), 4000);
    // The next process goes on in the same file.
    scratch.run(["traced", "0", "3", "500"]);
    assert_eq!(compare(&scratch, "second"), 5000);
    assert_eq!(scratch.names(), ["app.log", "app.log.silver"]);
    let text = scratch.read("app.log");
    assert!(text.contains("request=1") && text.contains("whole=thread") && text.contains("work"), "{text}");
}

#[test]
fn each_of_its_rotated_files_stands_alone() {
    let scratch = Scratch::new();
    scratch.run(["traced", "65536", "3", "2000"]);
    let files = trace_files(&scratch);
    assert!(files.len() > 3, "{files:?}");
    assert_eq!(compare(&scratch, "all"), 4000);
    let mut apart: Vec<String> = files
        .iter()
        .flat_map(|file| lines(std::slice::from_ref(file)).lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let text = scratch.read("app.log");
    let mut expected: Vec<&str> = text.lines().collect();
    apart.sort_unstable();
    expected.sort_unstable();
    assert!(apart == expected, "{} lines of {}", apart.len(), expected.len());
}

/// Killed at any moment, and gone on with by the next process.
#[test]
fn killed_programs_leave_whole_trace_files_with_each_record_once() {
    let rounds: u64 = std::env::var("SILVERPOINT_KILL_ROUNDS").map_or(4, |rounds| rounds.parse().unwrap());
    for round in 0..rounds {
        let scratch = Scratch::new();
        let bytes = if round % 2 == 0 { "0" } else { "131072" };
        let mut running = scratch.logging(["traced", bytes, "3", "1000000000"]).spawn().unwrap();
        let mut out = BufReader::new(running.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        std::thread::sleep(Duration::from_micros(3_000 + round * 7_757 % 40_000));
        let told = kill(running, out, line) as usize;
        scratch.run(["resume-traced", bytes]);
        let found = compare(&scratch, &format!("round {round}"));
        assert!(found > told, "round {round}: {found} of at least {}", told + 1);
    }
}

#[test]
fn a_file_that_is_no_trace_is_left_alone() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("app.log.silver"), "something else").unwrap();
    let output = scratch.logging(["resume-traced", "0"]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("it is no trace file"), "{error}");
    assert_eq!(scratch.read("app.log.silver"), "something else");
}
