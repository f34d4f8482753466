//! Each cause of a loss, a wait or a late record, provoked in a real program, and seen in `stats` with its thread.

use std::path::Path;

use rustix::process::Signal;

use crate::harness::{Running, Scratch, collector_of, send, stop, subject};
use crate::storage::{Mount, can_mount};

/// A traced program that obeys commands, and its collector.
struct Scene {
    running: Running,
    collector: u32,
}

impl Scene {
    fn new(scratch: &Scratch, output: &Path, policy: &str, environment: &[(&str, &str)]) -> Scene {
        let mut command = scratch.silverpoint(["run", "-q", "--policy", policy, "-o"]);
        command.arg(output).arg("--").arg(subject()).arg("steps").envs(environment.iter().copied());
        let mut running = Running::start_with_input(&mut command);
        assert_eq!(running.line(), "ready");
        let supervisor = running.pid();
        let mut collector = None;
        scratch.wait("a collector", || {
            collector = collector_of(supervisor);
            collector.is_some()
        });
        Scene { running, collector: collector.unwrap() }
    }

    /// Has the program do something, to its end.
    fn step(&mut self, words: &str) {
        self.running.write(&format!("{words}\n"));
        assert_eq!(self.running.line(), "done", "{words}");
    }

    /// The same while the collector sleeps.
    fn step_alone(&mut self, words: &str) {
        stop(self.collector);
        self.step(words);
        send(self.collector, Signal::CONT);
    }

    fn end(self) {
        let ended = self.running.end();
        assert_eq!(ended.code(), Some(0), "{ended:?}");
    }

    /// Of a run that lost what could not be stored.
    fn end_incomplete(self) {
        let ended = self.running.end();
        assert_eq!(ended.code(), Some(5), "{ended:?}");
    }
}

/// What `stats` says of a cause: how many, in how many threads. It says the same in both forms.
#[track_caller]
fn told(scratch: &Scratch, output: &Path, cause: &str) -> (u64, Vec<serde_json::Value>) {
    let output = output.to_str().unwrap();
    let stats = scratch.run(["stats", "--json", output]);
    let json: serde_json::Value = serde_json::from_str(&stats.out).unwrap();
    let troubles = json["troubles"].as_array().unwrap();
    let found: Vec<_> = troubles.iter().filter(|trouble| trouble["cause"] == cause).cloned().collect();
    let count = found.iter().map(|trouble| trouble["count"].as_u64().unwrap()).sum();
    assert!(count > 0, "no {cause}: {troubles:?}");
    let text = scratch.run(["stats", output]).out;
    let table = text.split_once("losses, waits, late records\n").unwrap().1;
    let lines = table.lines().filter(|line| line.split_whitespace().nth(1) == Some(cause)).count();
    assert_eq!(lines, found.len(), "{text}");
    for trouble in &found {
        assert!(trouble["process"] == "subject" && !trouble["meaning"].as_str().unwrap().is_empty());
    }
    if !["wait", "overwritten", "late"].contains(&cause) {
        assert_eq!(json["losses"][cause], count, "{json}");
    }
    (count, found)
}

fn recorded(scratch: &Scratch, output: &Path) -> u64 {
    scratch.records(output.to_str().unwrap()) as u64
}

const SMALL: (&str, &str) = ("SILVERPOINT_MEMORY", "256K");

#[test]
fn full() {
    let scratch = Scratch::new();
    let output = scratch.path("t.silver");
    let mut scene = Scene::new(&scratch, &output, "drop", &[SMALL]);
    scene.step_alone("count 20000");
    scene.end();
    let (lost, found) = told(&scratch, &output, "full");
    assert!(found.iter().all(|trouble| trouble["tid"].as_u64() > Some(0)), "{found:?}");
    assert_eq!(recorded(&scratch, &output) + lost, 20_000);
}

#[test]
fn collector_gone_and_the_wait_before_it() {
    let scratch = Scratch::new();
    let output = scratch.path("t.silver");
    let mut scene = Scene::new(&scratch, &output, "block", &[SMALL]);
    scene.step_alone("count 20000");
    scene.end_incomplete();
    let (lost, _) = told(&scratch, &output, "collector_gone");
    assert_eq!(recorded(&scratch, &output) + lost, 20_000);
    let (waits, found) = told(&scratch, &output, "wait");
    let ns: u64 = found.iter().map(|trouble| trouble["ns"].as_u64().unwrap()).sum();
    assert!(waits >= 1 && ns >= 500_000_000, "it waited for most of block_max: {found:?}");
}

#[test]
fn waits_alone() {
    let scratch = Scratch::new();
    let output = scratch.path("t.silver");
    let mut scene = Scene::new(&scratch, &output, "block=forever", &[SMALL]);
    stop(scene.collector);
    scene.running.write("count 20000\n");
    scratch.wait_until_waiting();
    send(scene.collector, Signal::CONT);
    assert_eq!(scene.running.line(), "done");
    scene.end();
    told(&scratch, &output, "wait");
    assert_eq!(recorded(&scratch, &output), 20_000);
}

/// While the collector stands still, a thread records five times what the largest ring holds.
#[test]
fn none_of_a_burst_within_the_memory() {
    let scratch = Scratch::new();
    let output = scratch.path("t.silver");
    let mut scene = Scene::new(&scratch, &output, "block", &[("SILVERPOINT_MEMORY", "16M")]);
    scene.step_alone("count 200000");
    scene.end();
    let stats = scratch.run(["stats", "--json", output.to_str().unwrap()]);
    let json: serde_json::Value = serde_json::from_str(&stats.out).unwrap();
    assert_eq!(json["troubles"].as_array().map(Vec::len), Some(0), "{json}");
    let messages = scratch.messages("t.silver");
    let number = |text: &String| text.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    let numbers: Option<Vec<u64>> = messages.iter().map(number).collect();
    assert!(numbers.is_some_and(|numbers| numbers.into_iter().eq(0..200_000)), "each once, in order");
}

#[test]
fn sink_full() {
    let scratch = Scratch::new();
    if !can_mount(&scratch, "a loss by a full disk") {
        return;
    }
    let disk = Mount::new(scratch.path("disk"), "1M");
    let output = disk.path("t.silver");
    let mut scene = Scene::new(&scratch, &output, "block", &[SMALL]);
    let ballast = disk.path("ballast");
    let mut file = std::fs::File::create(&ballast).unwrap();
    while std::io::Write::write_all(&mut file, &[0; 4096]).is_ok() {}
    // Before the collector has tried to write, a loss would have another cause.
    scene.step("count 100");
    scratch.wait_until_sink_full();
    scene.step("count 40000");
    std::fs::remove_file(&ballast).unwrap();
    drop(file);
    scene.end_incomplete();
    let (lost, _) = told(&scratch, &output, "sink_full");
    assert_eq!(recorded(&scratch, &output) + lost, 40_100);
}

#[test]
fn no_memory() {
    let scratch = Scratch::new();
    let output = scratch.path("t.silver");
    let mut scene = Scene::new(&scratch, &output, "drop", &[("SILVERPOINT_MEMORY", "64K")]);
    scene.step("threads 200");
    scene.end();
    let (lost, found) = told(&scratch, &output, "no_memory");
    assert!(
        found.iter().any(|trouble| trouble["tid"].is_null()),
        "without a ring there is no thread: {found:?}"
    );
    let stored = scratch.messages("t.silver").iter().filter(|text| text.contains("subject.thread")).count();
    assert_eq!(stored as u64 + lost, 200);
}

#[test]
fn too_large() {
    let scratch = Scratch::new();
    let output = scratch.path("t.silver");
    let mut scene = Scene::new(&scratch, &output, "block", &[]);
    scene.step("texts 10");
    // Even with every text cut to nothing.
    scene.step("texts 50000");
    scene.end();
    assert_eq!(told(&scratch, &output, "too_large").0, 1);
    assert_eq!(scratch.messages("t.silver").len(), 1);
}

#[test]
fn nested() {
    let scratch = Scratch::new();
    let output = scratch.path("t.silver");
    let mut scene = Scene::new(&scratch, &output, "block", &[]);
    // Sites are known before: what is nested is the record alone.
    scene.step("nest 0");
    scene.step("nest 9");
    scene.end();
    let (lost, _) = told(&scratch, &output, "nested");
    // The first; one in each of the four lanes; what is lost is not written, and so nests no deeper.
    assert_eq!((scratch.messages("t.silver").len(), lost), (1 + 4, 1));
}

#[test]
fn overwritten() {
    let scratch = Scratch::new();
    let output = scratch.path("t.silver");
    let mut scene = Scene::new(&scratch, &output, "overwrite", &[SMALL]);
    scene.step("count 10");
    scene.step_alone("count 20000");
    scene.end();
    let (_, found) = told(&scratch, &output, "overwritten");
    let bytes: u64 = found.iter().map(|trouble| trouble["bytes"].as_u64().unwrap()).sum();
    let stored = recorded(&scratch, &output);
    assert!(stored < 20_010 && bytes >= (20_010 - stored) * 24, "{bytes} bytes, {stored} records");
}

#[test]
fn late() {
    // As long as it takes the collector to declare the time complete in which the record began.
    let mut milliseconds = [600, 2_000, 8_000, 30_000].into_iter();
    assert!(milliseconds.any(is_late), "a record of 30 s was not late");
}

/// Whether a record that takes so many milliseconds to write comes late.
fn is_late(milliseconds: u64) -> bool {
    let scratch = Scratch::new();
    let output = scratch.path("t.silver");
    let mut scene = Scene::new(&scratch, &output, "block", &[]);
    scene.step("count 1");
    scene.step(&format!("slow {milliseconds}"));
    scene.end();
    assert_eq!(scratch.messages("t.silver").len(), 2);
    let stats = scratch.run(["stats", "--json", "t.silver"]);
    let stats: serde_json::Value = serde_json::from_str(&stats.out).unwrap();
    if stats["troubles"].as_array().is_none_or(Vec::is_empty) {
        return false;
    }
    let (late, found) = told(&scratch, &output, "late");
    assert_eq!((late, found.len()), (1, 1), "{found:?}");
    true
}
