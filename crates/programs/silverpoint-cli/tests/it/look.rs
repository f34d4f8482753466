//! `tail` and `top`: looking at living sessions and growing files, without changing them.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;

use crate::harness::{Ended, Running, Scratch, numbers, subject};

/// A program that records what its standard input says, into rings that nobody empties.
fn recorder(scratch: &Scratch) -> Running {
    let mut running = Running::start_with_input(&mut scratch.subject(["steps"]));
    assert_eq!(running.line(), "ready");
    let pid = running.pid().to_string();
    let ctl = scratch.run(["ctl", &pid, "trace"]);
    assert_eq!(ctl.code(), Some(0), "{ctl:?}");
    running
}

fn step(running: &mut Running, step: &str) {
    running.write(&format!("{step}\n"));
    assert_eq!(running.line(), "done");
}

/// A program may be in the middle of a line when its output is read.
fn whole_lines(out: &str) -> &str {
    &out[..out.rfind('\n').map_or(0, |end| end + 1)]
}

/// All bytes of a session's files, and when each was changed.
fn contents(directory: &Path) -> BTreeMap<String, (Vec<u8>, i64, i64)> {
    let entries = std::fs::read_dir(directory).unwrap().flatten();
    entries
        .map(|entry| {
            let found = entry.metadata().unwrap();
            let mut bytes = Vec::new();
            std::fs::File::open(entry.path()).unwrap().read_to_end(&mut bytes).unwrap();
            (entry.file_name().to_string_lossy().into_owned(), (bytes, found.mtime(), found.mtime_nsec()))
        })
        .collect()
}

fn ended_well(ended: &Ended) {
    assert_eq!(ended.code(), Some(0), "{ended:?}");
}

#[test]
fn looking_changes_nothing() {
    let scratch = Scratch::new();
    let mut program = recorder(&scratch);
    step(&mut program, "count 1000");
    let pid = program.pid().to_string();
    let session =
        scratch.root().join(scratch.left().into_iter().find(|name| name.starts_with(&pid)).unwrap());
    let before = contents(&session);
    for _ in 0..2 {
        let tail = scratch.run(["tail", "--json", "-n", "5", &pid]);
        ended_well(&tail);
        assert_eq!(numbers(&tail.out), [995, 996, 997, 998, 999], "{tail:?}");
        assert!(tail.err.is_empty(), "{}", tail.err);
    }
    let mut follower = Running::start(&mut scratch.silverpoint(["tail", "-f", "--json", "-n", "2", &pid]));
    // It has begun.
    assert_eq!([follower.line(), follower.line()].map(|line| numbers(&line)), [[998], [999]]);
    let top = scratch.run(["top", "--json", "-n", "1", "-i", "100ms"]);
    ended_well(&top);
    let top: serde_json::Value = serde_json::from_str(&top.out).unwrap();
    assert_eq!(top["records"].as_u64(), Some(0), "what was there before is not counted");
    assert_eq!(contents(&session), before, "somebody who only looks has written into the session");
    // And it goes on after that.
    step(&mut program, "count 3");
    ended_well(&program.end());
    let followed = follower_end(&mut follower, &scratch);
    assert_eq!(numbers(&followed), [0, 1, 2]);
}

/// What a follower printed, which ends by itself when the program has.
fn follower_end(follower: &mut Running, scratch: &Scratch) -> String {
    let mut follower = std::mem::replace(follower, Running::start(&mut scratch.command("true", [""; 0])));
    let _ = follower.pid();
    let ended = follower.end();
    ended_well(&ended);
    assert!(ended.err.is_empty(), "{}", ended.err);
    ended.out
}

/// From the rings to a collector's file and back, while the program records: each record once, in order.
#[test]
fn following_goes_on_when_a_collector_comes_and_goes() {
    let scratch = Scratch::new();
    let mut program = recorder(&scratch);
    let pid = program.pid().to_string();
    step(&mut program, "count 7");
    let words = ["-c", "exec \"$0\" tail -f --json \"$1\" > out", env!("CARGO_BIN_EXE_silverpoint"), &pid];
    let mut follower = Running::start(&mut scratch.command("sh", words));
    let seen = || {
        let out = std::fs::read_to_string(scratch.path("out")).unwrap_or_default();
        numbers(whole_lines(&out)).len()
    };
    let mut expected = 7;
    scratch.wait("the first records", || seen() == expected);
    let mut record = |expected: &mut usize| {
        for _ in 0..5 {
            step(&mut program, "count 7");
            *expected += 7;
            std::thread::sleep(Duration::from_millis(10));
        }
        // Only now may the next one come: the file of a collector that stays only for a moment is unknown.
        scratch.wait("the records", || seen() >= *expected);
    };
    for round in 0..3 {
        record(&mut expected);
        let file = format!("{round}.silver");
        let mut attached = Running::start(&mut scratch.silverpoint(["attach", &pid, "-o", &file]));
        scratch.wait("the collector", || scratch.sessions()[0]["collector"].as_u64() != Some(0));
        record(&mut expected);
        attached.signal(Signal::INT);
        ended_well(&attached.end());
    }
    record(&mut expected);
    ended_well(&program.end());
    assert_eq!(follower_end(&mut follower, &scratch), "");
    let numbers = numbers(&std::fs::read_to_string(scratch.path("out")).unwrap());
    assert_eq!(numbers.len(), expected);
    assert!(numbers.chunks(7).all(|chunk| chunk == [0, 1, 2, 3, 4, 5, 6]), "{numbers:?}");
}

/// A collector may have stored much before the first look at a session. `top` counts that too when the
/// session came after `top` did.
#[test]
fn top_counts_sessions_that_come_later_from_their_first_record() {
    let scratch = Scratch::new();
    let mut top = Running::start(&mut scratch.silverpoint(["top", "--json", "-i", "100ms"]));
    // The first table stands for the first look.
    let first = top.line();
    assert!(first.contains("\"records\":0"), "{first}");
    let subject = subject();
    let words = ["run", "-q", "-o", "t.silver", "--", subject.to_str().unwrap(), "steps"];
    let mut run = Running::start_with_input(&mut scratch.silverpoint(words));
    assert_eq!(run.line(), "ready");
    step(&mut run, "count 30000");
    let mut alone = recorder(&scratch);
    step(&mut alone, "count 500");
    let records = |line: &str| {
        let table: serde_json::Value = serde_json::from_str(line).unwrap();
        table["records"].as_u64().unwrap()
    };
    // Ten tables a second.
    let is_complete = (0..1200).any(|_| records(&top.line()) == 30_500);
    assert!(is_complete, "not everything is counted");
    ended_well(&alone.end());
    ended_well(&run.end());
    top.signal(Signal::INT);
    let ended = top.end();
    ended_well(&ended);
    assert!(ended.out.lines().all(|line| records(line) == 30_500), "{}", ended.out);
}

/// Two programs of one run, in one file that is rotated all the time, and a third that nobody collects.
#[test]
fn several_at_once() {
    let scratch = Scratch::new();
    let mut alone = recorder(&scratch);
    // Both read the same standard input, whose end is theirs.
    let line = format!("exec 3<&0; {0} tick 1 <&3 & {0} tick 1; wait", subject().display());
    let run = Running::start_with_input(&mut scratch.silverpoint([
        "run",
        "-q",
        "-o",
        "t.silver",
        "--rotate-size",
        "64K",
        "--",
        "sh",
        "-c",
        &line,
    ]));
    scratch.wait("three sessions", || scratch.sessions().len() == 3);
    let program = env!("CARGO_BIN_EXE_silverpoint");
    let words = ["-c", "exec \"$0\" tail -f --json -n 0 'sub*' > out", program];
    let mut follower = Running::start(&mut scratch.command("sh", words));
    let out = || std::fs::read_to_string(scratch.path("out")).unwrap_or_default();
    let ticks = || {
        let mut ticks: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        let out = out();
        for line in whole_lines(&out).lines() {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            if let Some(number) = record["args"]["number"].as_u64() {
                ticks.entry(record["pid"].as_u64().unwrap()).or_default().push(number);
            }
        }
        ticks
    };
    let has = |count: usize| {
        let ticks = ticks();
        ticks.len() == 2 && ticks.values().all(|numbers| numbers.len() > count)
    };
    // It shows both programs of the run: it has begun.
    scratch.wait("the first ticks", || has(0));
    step(&mut alone, "count 100");
    scratch.wait("many ticks", || has(300));
    ended_well(&run.end());
    ended_well(&alone.end());
    assert_eq!(follower_end(&mut follower, &scratch), "");
    assert_eq!(numbers(&out()), (0..100).collect::<Vec<_>>());
    for numbers in ticks().values() {
        assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "{numbers:?}");
    }
}

#[test]
fn files_are_followed_until_they_are_closed() {
    let scratch = Scratch::new();
    for name in ["a.silver", "b.silver"] {
        let subject = subject();
        let ended = scratch.run(["run", "-q", "-o", name, "--", subject.to_str().unwrap(), "count", "20"]);
        ended_well(&ended);
    }
    let tail = scratch.run(["tail", "-f", "--json", "-n", "3", "a.silver", "b.silver"]);
    ended_well(&tail);
    assert_eq!(tail.out.lines().count(), 3);
    let top = scratch.run(["top", "-b", "a.silver", "b.silver"]);
    ended_well(&top);
    assert!(
        top.out.starts_with("0 records/s, 0 B/s; 40 records in 2 sites, 2 threads, 2 processes\n"),
        "{}",
        top.out
    );
}

#[test]
fn rows_are_limited_in_top_as_in_stats() {
    let scratch = Scratch::new();
    let subject = subject();
    // Two sites: a span, and the event within.
    let ended = scratch.run(["run", "-q", "-o", "a.silver", "--", subject.to_str().unwrap(), "spans", "5"]);
    ended_well(&ended);
    for words in [&["top", "-b"][..], &["stats"]] {
        let lines = |rows| {
            let ended = scratch.run([words, &["--rows", rows, "a.silver"]].concat());
            ended_well(&ended);
            ended.out.lines().filter(|line| line.contains("subject.rs:")).count()
        };
        assert_eq!((lines("0"), lines("2")), (lines("20"), lines("20")), "{words:?}");
        assert!(lines("1") < lines("2"), "{words:?}");
    }
}

#[test]
fn what_cannot_be_looked_at_is_told() {
    let scratch = Scratch::new();
    for command in ["tail", "top"] {
        let mut words = vec![command, "-n", "1"];
        words.push("1");
        let ended = scratch.run(&words);
        assert_eq!(ended.code(), Some(6), "{ended:?}");
        words[3] = "no-such-program";
        let ended = scratch.run(&words);
        assert_eq!(ended.code(), Some(6), "{ended:?}");
        assert!(ended.err.contains("no-such-program: no living session"), "{}", ended.err);
        words[3] = "missing.silver";
        let ended = scratch.run(&words);
        assert!(ended.code() == Some(1) && ended.err.contains("missing.silver"), "{ended:?}");
        words.push("1");
        assert_eq!(scratch.run(&words).code(), Some(2), "files and processes");
    }
    // Nobody is there: nothing to show, and no error.
    let ended = scratch.run(["tail"]);
    assert!(ended.code() == Some(0) && ended.out.is_empty(), "{ended:?}");
    // A program that records nothing: said once, with what to do.
    let mut program = Running::start_with_input(&mut scratch.subject(["tick", "1000"]));
    assert_eq!(program.line(), "ready");
    let pid = program.pid().to_string();
    let ended = scratch.run(["tail", &pid]);
    ended_well(&ended);
    assert!(ended.err.contains(&format!("`silverpoint ctl {pid} trace`")), "{}", ended.err);
}
