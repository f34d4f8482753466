//! `run --backtrace`: what is kept back, when it is written, and who may die.

use rustix::process::Signal;

use crate::harness::{Ended, Running, Scratch, collector_of, send, stop, subject};

/// A program that obeys commands, whose records are kept back.
struct Scene {
    scratch: Scratch,
    running: Running,
}

impl Scene {
    fn new(words: &[&str]) -> Scene {
        let scratch = Scratch::new();
        let mut command = scratch.silverpoint(["run"]);
        command.args(words).args(["-o", "t.silver", "--"]).arg(subject()).arg("steps");
        let mut running = Running::start_with_input(&mut command);
        assert_eq!(running.line(), "ready");
        Scene { scratch, running }
    }

    fn step(&mut self, words: &str) {
        self.running.write(&format!("{words}\n"));
        assert_eq!(self.running.line(), "done", "{words}");
    }

    fn subject(&self) -> u32 {
        let mut pid = None;
        self.scratch.wait("the session", || {
            pid = self.scratch.sessions().first().map(|row| row["pid"].as_u64().unwrap() as u32);
            pid.is_some()
        });
        pid.unwrap()
    }

    fn warnings(&self) -> usize {
        self.scratch.messages("t.silver").iter().filter(|text| text.contains("subject.warn")).count()
    }

    fn end(self) -> (Scratch, Ended) {
        let ended = self.running.end();
        (self.scratch, ended)
    }
}

#[test]
fn a_run_in_which_nothing_bad_happens_leaves_a_count() {
    let mut scene = Scene::new(&["--backtrace"]);
    scene.step("count 100");
    let (scratch, ended) = scene.end();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(ended.err.contains("no losses, 100 kept back and not asked for"), "{}", ended.err);
    assert_eq!(scratch.records("t.silver"), 0);
    let stats = scratch.run(["stats", "t.silver"]).out;
    assert!(stats.contains("forgotten 100 kept back"), "{stats}");
    let verify = scratch.run(["verify", "t.silver"]);
    assert_eq!(verify.code(), Some(0), "{verify:?}");
    assert!(scratch.left().is_empty(), "{:?}", scratch.left());
}

#[test]
fn what_came_before_a_warning_is_written() {
    let mut scene = Scene::new(&["--backtrace=1M"]);
    scene.step("count 50");
    scene.step("warn 1");
    // While it runs.
    let Scene { scratch, .. } = &scene;
    scratch
        .wait("the records", || std::path::Path::exists(&scratch.path("t.silver")) && scene.warnings() == 1);
    assert_eq!(scene.scratch.records("t.silver"), 50);
    let (scratch, ended) = scene.end();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(scratch.records("t.silver"), 50);
}

/// Rings begin small. They grow, as long as there is memory, and what was in the smaller ones stays too.
#[test]
fn a_long_history_is_kept_back_by_rings_that_grow() {
    let mut scene = Scene::new(&["--backtrace"]);
    scene.step("count 3000");
    scene.step("warn 1");
    let (scratch, ended) = scene.end();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let stats = scratch.run(["stats", "--json", "t.silver"]);
    let stats: serde_json::Value = serde_json::from_str(&stats.out).unwrap();
    let (stored, forgotten) = (scratch.records("t.silver") as u64, stats["forgotten"].as_u64().unwrap());
    assert_eq!(stored + forgotten, 3000, "{}", ended.err);
    assert!(stored >= 500, "{stored} of 3000");
}

#[test]
fn another_level_triggers_if_it_is_said() {
    let mut scene = Scene::new(&["--backtrace", "--backtrace-at", "error"]);
    scene.step("count 20");
    scene.step("warn 1");
    let (scratch, ended) = scene.end();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(ended.err.contains("21 kept back and not asked for"), "{}", ended.err);
    assert!(scratch.messages("t.silver").is_empty());
}

#[test]
fn what_is_kept_back_can_be_asked_for() {
    let mut scene = Scene::new(&["--backtrace", "--backtrace-at", "never"]);
    let pid = scene.subject().to_string();
    for asked in 1..=3 {
        scene.step("count 40");
        let ctl = scene.scratch.run(["ctl", &pid, "--dump"]);
        assert_eq!(ctl.code(), Some(0), "{ctl:?}");
        assert!(ctl.out.contains("the kept records are written"), "{}", ctl.out);
        assert_eq!(scene.scratch.records("t.silver"), 40 * asked);
    }
    let (scratch, ended) = scene.end();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(scratch.left().is_empty(), "{:?}", scratch.left());
}

#[test]
fn a_program_that_nobody_keeps_back_is_told_so() {
    let scratch = Scratch::new();
    let mut running =
        Running::start_with_input(scratch.subject(["steps"]).env("SILVERPOINT_FILTER", "trace"));
    assert_eq!(running.line(), "ready");
    running.write("count 5\n");
    assert_eq!(running.line(), "done");
    let pid = running.pid().to_string();
    let ctl = scratch.run(["ctl", &pid, "--dump"]);
    assert_eq!(ctl.code(), Some(1), "{ctl:?}");
    assert!(ctl.err.contains("`silverpoint run` does not collect it"), "{}", ctl.err);
    running.end();
}

#[test]
fn a_run_that_keeps_nothing_back_does_not_say_that_it_has_written_it() {
    let mut scene = Scene::new(&[]);
    scene.step("count 5");
    let pid = scene.subject().to_string();
    for _ in 0..2 {
        let ctl = scene.scratch.run(["ctl", &pid, "--dump"]);
        assert_eq!(ctl.code(), Some(1), "{ctl:?}");
        assert!(ctl.out.is_empty() && ctl.err.contains("without --backtrace"), "{ctl:?}");
    }
    let (scratch, ended) = scene.end();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(scratch.records("t.silver"), 5);
    assert!(scratch.left().is_empty(), "{:?}", scratch.left());
}

#[test]
fn a_program_that_is_killed_leaves_its_last_moments() {
    let mut scene = Scene::new(&["--backtrace"]);
    scene.step("count 50");
    send(scene.subject(), Signal::KILL);
    let (scratch, ended) = scene.end();
    assert_eq!(ended.signal(), Some(9), "{ended:?}");
    assert_eq!(scratch.records("t.silver"), 50);
}

#[test]
fn a_collector_that_is_killed_forgets_nothing() {
    let mut scene = Scene::new(&["--backtrace"]);
    scene.step("count 50");
    let supervisor = scene.running.pid();
    let first = collector_of(supervisor).unwrap();
    send(first, Signal::KILL);
    scene.scratch.wait("another collector", || collector_of(supervisor).is_some_and(|pid| pid != first));
    scene.step("count 10");
    scene.step("warn 1");
    let (scratch, ended) = scene.end();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(scratch.records("t.silver"), 60);
}

#[test]
fn when_all_die_the_last_moments_are_recovered() {
    let mut scene = Scene::new(&["--backtrace"]);
    scene.step("count 50");
    let (supervisor, program) = (scene.running.pid(), scene.subject());
    // In this order: nobody starts another collector, and none stores what the program leaves.
    stop(supervisor);
    let collector = collector_of(supervisor).unwrap();
    for pid in [collector, program, supervisor] {
        send(pid, Signal::KILL);
    }
    let (scratch, ended) = scene.end();
    assert_eq!(ended.signal(), Some(9), "{ended:?}");
    let recovered = scratch.run(["recover", "--all", "-o", "r.silver"]);
    assert_eq!(recovered.code(), Some(0), "{recovered:?}");
    assert_eq!(scratch.records("r.silver"), 50);
}

#[test]
fn a_trigger_that_is_no_level_is_refused_before_anything_starts() {
    let scratch = Scratch::new();
    let ended = scratch.run(["run", "--backtrace", "--backtrace-at", "bad", "--", "true"]);
    assert_eq!(ended.code(), Some(2), "{ended:?}");
    assert!(ended.err.contains("expected trace, debug, info, warn, error, fatal or never"), "{}", ended.err);
    let ended = scratch.run(["run", "--backtrace-at", "warn", "--", "true"]);
    assert_eq!(ended.code(), Some(2), "{ended:?}");
}
