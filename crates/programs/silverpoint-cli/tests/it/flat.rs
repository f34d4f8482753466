//! Memory of `convert` does not grow with its input: a stream without an end is converted with what its beginning took.
//!
//! `SILVERPOINT_CONVERT_RECORDS=60000000` makes it a stream of more than 10 GB for each format.

use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::thread;

use crate::harness::Scratch;

/// Records for each format when nothing else is asked for.
const RECORDS: usize = 4_000;
/// Lines that are made, and then repeated.
const LINES: usize = 1000;
/// What a process may have at any time; unoptimised code and its stacks included.
const MOST: u64 = 96 << 20;
/// What the last three quarters may add to the first, of a long run.
const MORE: u64 = 4 << 20;
/// The same of a short one, in whose first quarter not all code has been paged in, and pages may be large ones.
const MORE_AT_FIRST: u64 = 16 << 20;

fn records() -> usize {
    let asked = std::env::var("SILVERPOINT_CONVERT_RECORDS").ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(RECORDS).max(4 * LINES)
}

/// The most memory that a living process ever had, in bytes.
fn peak(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_else(|| panic!("{status}"));
    1024 * line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
}

/// JSON lines of several threads, with values of many types.
fn lines() -> String {
    let line = |n: usize| {
        format!(
            "{{\"time\":\"2026-11-20T19:02:{:02}.{n:06}Z\",\"level\":\"info\",\"process\":\"app\",\"pid\":7,\"tid\":{},\"thread\":\"worker\",\"kind\":\"event\",\"template\":\"order\",\"args\":{{\"id\":{n},\"px\":{n}.25,\"who\":\"name of {n}\",\"ok\":true,\"legs\":[1,2,{n}]}}}}\n",
            n % 60,
            n % 4
        )
    };
    (0..LINES).map(line).collect()
}

/// Writes all records, and looks what the processes have taken after a quarter and at the end.
fn feed(mut input: ChildStdin, lines: &str, chain: &[&Child], count: usize) -> Vec<(u64, u64)> {
    let mut after = Vec::new();
    for round in 0..count / LINES {
        if round == count / LINES / 4 {
            after = chain.iter().map(|child| peak(child)).collect();
        }
        input.write_all(lines.as_bytes()).unwrap();
    }
    let ends: Vec<u64> = chain.iter().map(|child| peak(child)).collect();
    after.into_iter().zip(ends).collect()
}

/// Reads to the end, in a thread; gives how many bytes.
fn drain(mut output: ChildStdout) -> thread::JoinHandle<u64> {
    thread::spawn(move || io::copy(&mut output.by_ref(), &mut io::sink()).unwrap())
}

#[test]
fn memory_does_not_grow_with_the_stream() {
    let scratch = Scratch::new();
    let count = records();
    for (format, last) in
        [("cbor", "silver"), ("tsv", "xml"), ("xml", "cbor"), ("csv", "chrome"), ("json", "jsonl")]
    {
        // JSON lines ─▶ the format ─▶ another
        let mut words = ["convert", "--quiet", "--from", "jsonl", "--to", format, "-", "-"];
        let mut first = scratch.silverpoint(words);
        let mut first = first.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        (words[3], words[5]) = (format, last);
        let between = Stdio::from(first.stdout.take().unwrap());
        let mut second = scratch.silverpoint(words).stdin(between).stdout(Stdio::piped()).spawn().unwrap();
        let drained = drain(second.stdout.take().unwrap());
        let more = if count > 100_000 { MORE } else { MORE_AT_FIRST };
        let peaks = feed(first.stdin.take().unwrap(), &lines(), &[&first, &second], count);
        assert!(first.wait().unwrap().success() && second.wait().unwrap().success(), "{format}");
        assert!(drained.join().unwrap() > 32 * count as u64, "{format}");
        for ((quarter, end), what) in peaks.into_iter().zip([format, last]) {
            eprintln!("{count} records to {what}: {quarter} bytes after a quarter, {end} at the end");
            assert!(end <= MOST && end <= quarter + more, "to {what}: {quarter} bytes, then {end}");
        }
    }
}

/// Of one that is a file, and whose records must be in the order of time: they have one time.
#[test]
fn memory_does_not_grow_with_an_event_log() {
    let scratch = Scratch::new();
    let count = records().min(1_000_000);
    let lines: String = lines()
        .lines()
        .map(|line| {
            format!(
                "{}{}\n",
                "{\"time\":\"2026-11-20T19:02:11Z",
                &line["{\"time\":\"2026-11-20T19:02:00.000000Z".len()..]
            )
        })
        .collect();
    let mut child = scratch.silverpoint(["convert", "--quiet", "--from", "jsonl", "-", "out.etl"]);
    let mut child = child.stdin(Stdio::piped()).spawn().unwrap();
    let peaks = feed(child.stdin.take().unwrap(), &lines, &[&child], count);
    assert!(child.wait().unwrap().success());
    let size = std::fs::metadata(scratch.path("out.etl")).unwrap().len();
    assert!(size > 100 * count as u64, "{size}");
    let [(quarter, end)] = peaks[..] else { panic!("{peaks:?}") };
    let more = if count > 100_000 { MORE } else { MORE_AT_FIRST };
    eprintln!("{count} records to etl: {quarter} bytes after a quarter, {end} at the end");
    assert!(end <= MOST && end <= quarter + more, "{quarter} bytes, then {end}");
}
