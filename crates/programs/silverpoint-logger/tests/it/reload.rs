//! Configurations that change while the program runs.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout};
use std::time::{Duration, Instant};

use crate::harness::{Scratch, numbers};

/// The program, which obeys commands.
pub struct Obeying {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Obeying {
    pub fn start(scratch: &Scratch, environment: Option<&str>) -> Self {
        Self::start_with(scratch, environment, "")
    }

    /// The program itself wants something recorded, too.
    fn start_with(scratch: &Scratch, environment: Option<&str>, also: &str) -> Self {
        let variables: Vec<_> = environment.map(|value| ("SILVERPOINT", value)).into_iter().collect();
        Self::start_in(scratch, &variables, also)
    }

    /// With these variables in its environment.
    fn start_in(scratch: &Scratch, variables: &[(&str, &str)], also: &str) -> Self {
        let mut command = scratch.logging(["obey", also]);
        let stderr = fs::File::create(scratch.path("stderr")).unwrap();
        command.stderr(stderr).env_remove("SILVERPOINT").envs(variables.iter().copied());
        let mut child = command.spawn().unwrap();
        let mut obeying = Self { out: BufReader::new(child.stdout.take().unwrap()), child };
        assert_eq!(obeying.line(), "ready");
        obeying
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    pub fn tell(&mut self, words: &str) -> String {
        writeln!(self.child.stdin.as_mut().unwrap(), "{words}").unwrap();
        self.line()
    }

    fn record(&mut self, text: &str) {
        assert_eq!(self.tell(&format!("record {text}")), "Complete");
    }

    pub fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

/// In one step, as editors and `mv` do.
fn configure(scratch: &Scratch, text: &str) {
    fs::write(scratch.path("new.toml"), text).unwrap();
    fs::rename(scratch.path("new.toml"), scratch.path("log.toml")).unwrap();
}

pub fn until(what: &str, mut is_met: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(300);
    while !is_met() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Levels and texts of a file's lines: `warn 1`.
fn words(scratch: &Scratch, name: &str) -> Vec<String> {
    let text = scratch.read(name);
    let word = |line: &str| {
        let object = serde_json::from_str::<serde_json::Value>(line).ok();
        let line = object.as_ref().and_then(|object| object["message"].as_str()).unwrap_or(line);
        let at = ["debug ", "info ", "warn "].iter().find_map(|word| line.find(word))?;
        Some(line[at..].split([' ', '"']).take(2).collect::<Vec<_>>().join(" "))
    };
    text.lines().filter_map(word).collect()
}

const A: &str = "[[sink]]\nto = 'file'\npath = 'a.log'\n";
const B: &str = "[[sink]]\nto = 'file'\npath = 'b.log'\n";

#[test]
fn a_reload_changes_everything_but_what_was_recorded_before() {
    let scratch = Scratch::new();
    configure(&scratch, &format!("record = 'info'\n{A}level = 'warn'\n"));
    let mut program = Obeying::start(&scratch, None);
    program.record("0");
    assert_eq!(words(&scratch, "a.log"), ["warn 0"]);
    configure(&scratch, &format!("record = 'debug'\n{A}format = 'json'\n{B}level = 'info'\n"));
    assert_eq!(program.tell("reload"), "true");
    program.record("1");
    assert_eq!(words(&scratch, "a.log"), ["warn 0", "debug 1", "info 1", "warn 1"]);
    assert!(scratch.read("a.log").lines().skip(1).all(|line| line.starts_with('{')));
    assert_eq!(words(&scratch, "b.log"), ["info 1", "warn 1"]);

    // A mistake changes nothing.
    configure(&scratch, &format!("record = 'info'\n{A}level = 'wran'\n"));
    let error = program.tell("reload");
    assert!(
        error.starts_with("log.toml:5: \"wran\" is no level") || error.contains("log.toml:5: "),
        "{error}"
    );
    // Nor does a sink that cannot be opened, though others are before it.
    configure(&scratch, &format!("{B}{A}[[sink]]\nto = 'file'\npath = 'missing/c.log'\n"));
    assert!(program.tell("reload").contains("missing/c.log"));
    program.record("2");
    assert_eq!(words(&scratch, "a.log")[4..], ["debug 2", "info 2", "warn 2"]);

    configure(&scratch, &format!("record = 'debug'\n{B}pattern = '{{message}}'\n"));
    assert_eq!(program.tell("reload"), "true");
    program.record("3");
    assert_eq!(words(&scratch, "a.log").len(), 7, "it is not in the file any more");
    assert_eq!(words(&scratch, "b.log")[4..], ["debug 3", "info 3", "warn 3"]);
    assert!(scratch.read("b.log").ends_with("debug 3\ninfo 3\nwarn 3\n"));
    // What comes back goes on where it is, not where it was.
    configure(&scratch, &format!("record = 'warn'\n{A}"));
    assert_eq!(program.tell("reload"), "true");
    program.record("4");
    assert_eq!(words(&scratch, "a.log")[7..], ["warn 4"]);
    program.end();
    assert_eq!(scratch.names(), ["a.log", "b.log", "log.toml", "stderr"]);
}

#[test]
fn a_changed_file_is_noticed_and_its_mistakes_are_told_in_the_log_too() {
    let scratch = Scratch::new();
    configure(&scratch, A);
    let mut program = Obeying::start(&scratch, None);
    configure(&scratch, &format!("{A}{B}format = 'json'\n"));
    until("the new sink", || scratch.path("b.log").exists());
    until("its records", || {
        program.record("1");
        scratch.read("b.log").contains("info 1")
    });
    configure(&scratch, "record = 'net=loud'\n");
    until("the mistake", || scratch.read("a.log").contains("loud") && scratch.read("b.log").contains("loud"));
    let told = scratch.read("stderr");
    assert!(
        told.contains("log.toml:1: ") && told.contains("the previous configuration stays in force"),
        "{told}"
    );
    let note = scratch.read("a.log").lines().find(|line| line.contains("loud")).unwrap().to_owned();
    assert!(note.contains("ERROR silverpoint  ") && note.contains("log.toml:1: "), "{note}");
    let text = scratch.read("b.log");
    let note = text.lines().find(|line| line.contains("loud")).unwrap();
    let note: serde_json::Value = serde_json::from_str(note).unwrap();
    assert_eq!((note["kind"].as_str(), note["level"].as_str()), (Some("note"), Some("error")), "{note}");
    program.record("2");
    assert!(scratch.read("a.log").contains("info 2"));
    assert_eq!(scratch.read("a.log").matches("loud").count(), 1, "it is reported once");
    program.end();
}

/// Removed, emptied, replaced by something that cannot be read: what was in force stays; what comes back counts.
#[test]
fn a_configuration_that_is_gone_changes_nothing_until_it_comes_back() {
    let scratch = Scratch::new();
    let file = scratch.path("log.toml");
    configure(&scratch, A);
    let mut program = Obeying::start(&scratch, None);
    program.record("1");
    fs::remove_file(&file).unwrap();
    let error = program.tell("reload");
    assert!(error.contains("log.toml: No such file"), "{error}");
    program.record("2");
    // As a shell does before it writes; at several looks.
    fs::write(&file, "").unwrap();
    std::thread::sleep(Duration::from_millis(2500));
    program.record("3");
    let told = scratch.read("stderr");
    assert_eq!(told, "", "nobody has to know of a file that is being replaced");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    until("the mistake", || scratch.read("a.log").contains("log.toml: Is a directory"));
    program.record("4");
    fs::remove_dir(&file).unwrap();
    // Root may read everything.
    fs::write(&file, A).unwrap();
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
    if fs::read(&file).is_err() {
        until("the mistake", || scratch.read("a.log").contains("log.toml: Permission denied"));
    }
    program.record("5");
    let all: Vec<String> = (1..6).flat_map(|n| [format!("info {n}"), format!("warn {n}")]).collect();
    assert_eq!(words(&scratch, "a.log"), all);
    configure(&scratch, &format!("{A}level = 'warn'\n"));
    let mut number = 6;
    until("what came back", || {
        program.record(&number.to_string());
        let is_in_force = !words(&scratch, "a.log").contains(&format!("info {number}"));
        number += 1;
        is_in_force
    });
    assert_eq!(words(&scratch, "a.log").last(), Some(&format!("warn {}", number - 1)));
    program.end();
}

/// It was compared with what the file says, and so said to have changed by each reload.
#[test]
fn a_policy_of_the_environment_was_said_to_have_changed() {
    let scratch = Scratch::new();
    configure(&scratch, A);
    let variables = [("SILVERPOINT_POLICY", "drop"), ("SILVERPOINT_BLOCK_MAX", "2s")];
    let mut program = Obeying::start_in(&scratch, &variables, "");
    configure(&scratch, &format!("{A}level = 'warn'\n"));
    assert_eq!(program.tell("reload"), "true");
    assert_eq!(scratch.read("stderr"), "");
    for _ in 0..2 {
        // Said when it has changed, not each time.
        configure(&scratch, &format!("crash-wait = '1s'\nspool-size = '128M'\n{A}"));
        assert_eq!(program.tell("reload"), "true");
        let told = scratch.read("stderr");
        assert_eq!(told.matches("with the next start only").count(), 1, "{told}");
    }
    program.record("1");
    assert_eq!(words(&scratch, "a.log"), ["info 1", "warn 1"]);
    program.end();
}

#[test]
fn the_environment_says_what_is_recorded_after_a_reload_too() {
    let scratch = Scratch::new();
    configure(&scratch, &format!("record = 'warn'\n{A}"));
    let mut program = Obeying::start(&scratch, Some("debug"));
    program.record("1");
    configure(&scratch, &format!("record = 'error'\n{A}level = 'info'\n"));
    assert_eq!(program.tell("reload"), "true");
    program.record("2");
    assert_eq!(words(&scratch, "a.log"), ["debug 1", "info 1", "warn 1", "info 2", "warn 2"]);
    program.end();
}

#[test]
fn what_the_program_wants_recorded_too_is_recorded_after_a_reload_too() {
    for environment in [None, Some("warn")] {
        let scratch = Scratch::new();
        configure(&scratch, &format!("record = 'warn'\n{A}"));
        let mut program = Obeying::start_with(&scratch, environment, "logging=debug");
        program.record("1");
        configure(&scratch, &format!("record = 'error'\n{A}"));
        assert_eq!(program.tell("reload"), "true");
        program.record("2");
        let all = ["debug 1", "info 1", "warn 1", "debug 2", "info 2", "warn 2"];
        assert_eq!(words(&scratch, "a.log"), all, "{environment:?}");
        program.end();
    }
}

#[test]
fn files_that_were_moved_are_there_again_after_a_call_or_a_signal() {
    let scratch = Scratch::new();
    configure(&scratch, A);
    let mut program = Obeying::start(&scratch, None);
    program.record("1");
    fs::rename(scratch.path("a.log"), scratch.path("a.old")).unwrap();
    assert_eq!(program.tell("reopen"), "done");
    until("the file", || scratch.path("a.log").exists());
    assert_eq!(scratch.read("a.log"), "");
    program.record("2");
    assert_eq!((words(&scratch, "a.old").len(), words(&scratch, "a.log").len()), (2, 2));
    fs::rename(scratch.path("a.log"), scratch.path("a.older")).unwrap();
    let pid = rustix::process::Pid::from_child(&program.child);
    rustix::process::kill_process(pid, rustix::process::Signal::HUP).unwrap();
    until("the file", || scratch.path("a.log").exists());
    program.record("3");
    assert_eq!(words(&scratch, "a.log"), ["info 3", "warn 3"]);
    program.end();
}

#[test]
fn after_its_logger_ended_a_program_did_not_end_with_its_terminal() {
    let scratch = Scratch::new();
    let output = scratch.logging(["hangup"]).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.signal(), &output.stdout[..]), (Some(1), &b"ended\n"[..]), "{err}");
    assert_eq!(scratch.read("app.log").lines().count(), 2);
}

/// During any changes.
#[test]
fn nothing_is_lost_or_repeated_by_reloads() {
    let scratch = Scratch::new();
    let (_, err) = scratch.run(["restless", "40"]);
    assert_eq!(err, "");
    let text = scratch.read("app.log");
    let of_thread = |text: &str, thread: u32| {
        let word = format!("thread {thread} number ");
        numbers(
            &text
                .lines()
                .filter(|line| line.contains(&word))
                .map(|line| format!("{line}\n"))
                .collect::<String>(),
        )
    };
    let part = scratch.read("part.log");
    for thread in 0..2 {
        let found = of_thread(&text, thread);
        let wrong = found.iter().zip(0..).find(|(found, expected)| **found != *expected);
        assert_eq!(wrong, None, "thread {thread}: of {} records", found.len());
        assert!(found.len() > 40, "{}", found.len());
        // A sink that comes and goes has stretches, in order.
        let found = of_thread(&part, thread);
        assert!(found.windows(2).all(|two| two[0] < two[1]), "thread {thread}");
        assert!(!found.is_empty());
    }
    // Both forms of lines.
    let is_full = |line: &str| line.as_bytes()[4] == b'-';
    assert!(text.lines().any(is_full) && text.lines().any(|line| !is_full(line)));
}

/// A file that a reload adds, but that another process writes: the reload is refused, and everything is as before.
#[test]
fn a_reload_takes_no_file_of_another_process() {
    let scratch = Scratch::new();
    let sink = |name: &str| format!("[[sink]]\nto = 'file'\npath = '{name}'\n");
    configure(&scratch, &sink("a.log"));
    fs::write(scratch.path("other.toml"), sink("b.log")).unwrap();
    let mut other = scratch.logging(["from", "other.toml", "steps", "1"]).spawn().unwrap();
    other.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    let mut told = BufReader::new(other.stdout.take().unwrap());
    told.read_line(&mut String::new()).unwrap();
    let mut program = Obeying::start(&scratch, Some("log.toml"));
    configure(&scratch, &(sink("a.log") + &sink("b.log")));
    let error = program.tell("reload");
    assert!(error.contains("b.log: taking it, which another process writes"), "{error}");
    program.record("one");
    drop(other.stdin.take());
    assert!(other.wait().unwrap().success());
    program.end();
    assert_eq!(scratch.read("b.log").lines().count(), 1, "that of the other process");
    assert!(scratch.read("a.log").contains("one"));
}

#[test]
fn a_change_between_the_reading_and_the_start_is_not_missed() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("log.toml"), "[[sink]]\nto = 'file'\npath = 'before.log'\n").unwrap();
    scratch.run(["overtaken"]);
}
