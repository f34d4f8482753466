//! Programs that crash: the record of it, everything that was accepted, and the end that they would have had anyway.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use rustix::process::{Resource, Rlimit};
use serde_json::Value;

use crate::harness::Scratch;

const SIGABRT: i32 = 6;
const SIGKILL: i32 = 9;
const SIGSEGV: i32 = 11;
const SIGTERM: i32 = 15;
/// Category of the record of a crash.
const CRASH: &str = "silverpoint.crash";

/// What a program has left: how it ended, its text, its objects, and standard output.
struct Left {
    status: ExitStatus,
    text: String,
    json: Vec<Value>,
    out: String,
}

/// For all children, with any limits of the shell: the stack ends before the memory does, and no core files
/// are written.
fn set_limits() {
    let stack = rustix::process::getrlimit(Resource::Stack);
    let most = stack.maximum.map_or(8 << 20, |maximum| maximum.min(8 << 20));
    rustix::process::setrlimit(Resource::Stack, Rlimit { current: Some(most), ..stack }).unwrap();
    let core = rustix::process::getrlimit(Resource::Core);
    rustix::process::setrlimit(Resource::Core, Rlimit { current: Some(0), ..core }).unwrap();
}

fn crash(scratch: &Scratch, way: &str) -> Left {
    set_limits();
    let output = scratch.example("crashing", [way]).output().unwrap();
    Left {
        status: output.status,
        text: scratch.read("app.log"),
        json: objects(&scratch.read("app.log.jsonl")),
        out: String::from_utf8(output.stdout).unwrap(),
    }
}

fn object(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

fn objects(json: &str) -> Vec<Value> {
    json.lines().map(object).collect()
}

/// The crashes among objects.
fn crashes(json: &[Value]) -> Vec<&Value> {
    json.iter().filter(|object| object["category"] == CRASH).collect()
}

/// Whether a function is in a crash's stack, with a line of its source.
fn has_function(crash: &Value, name: &str) -> bool {
    let frames = crash["stack"].as_array().into_iter().flatten();
    let mut places = frames.flat_map(|frame| frame["places"].as_array().into_iter().flatten());
    places.any(|place| {
        place["function"].as_str().is_some_and(|function| function.contains(name)) && place["line"].is_u64()
    })
}

/// One crash, already in the files when the process has ended.
fn expect(way: &str, signal: Option<i32>, what: &str, function: &str) {
    let scratch = Scratch::new();
    let left = crash(&scratch, way);
    assert_eq!(left.status.signal(), signal, "{way}: {}", left.status);
    let found = crashes(&left.json);
    assert_eq!(found.len(), 1, "{way}: {}", left.text);
    let (crash, args) = (found[0], &found[0]["args"]);
    assert!(args["what"].as_str().unwrap().contains(what), "{way}: {args}");
    assert!(has_function(crash, function), "{way}: {crash}");
    let lines: Vec<&str> = left.text.lines().collect();
    assert!(lines[0].contains("begun"), "{way}: {}", left.text);
    let at = lines.iter().position(|line| line.contains(what)).unwrap();
    assert!(lines[at + 1].trim_start().starts_with("#0 "), "{way}: {}", left.text);
    assert!(left.text.contains(&format!("{function} (")), "{way}: {}", left.text);
    // Nothing comes twice, and nothing was missing.
    let resumed = scratch.example("crashing", ["resume"]).status().unwrap();
    assert!(resumed.success());
    assert_eq!(scratch.read("app.log"), left.text, "{way}");
}

#[test]
fn signals_are_recorded_and_end_the_process_as_ever() {
    expect("segv", Some(SIGSEGV), "SIGSEGV (SEGV_MAPERR) at address 0x10", "crashing::fail");
    expect("term", Some(SIGTERM), "SIGTERM (SI_TKILL) sent by process", "crashing::fail");
    expect("abort", Some(SIGABRT), "SIGABRT (SI_TKILL)", "crashing::fail");
    if cfg!(all(target_arch = "x86_64", target_env = "gnu")) {
        let what = "SIGABRT: crashing: source.c:7: fail: Assertion `1 == 2' failed.";
        expect("assert", Some(SIGABRT), what, "crashing::fail");
    }
    expect("within-record", Some(SIGSEGV), "SIGSEGV (SEGV_MAPERR)", "crashing::fail");
}

/// The thread that has failed holds the lock of the heap. The delivery may need what lies there, and waits
/// only as long as it may; then the next start delivers it.
#[test]
fn a_heap_that_is_broken() {
    let scratch = Scratch::new();
    assert_eq!(crash(&scratch, "heap").status.signal(), Some(SIGABRT));
    assert!(scratch.example("crashing", ["resume"]).status().unwrap().success());
    let (text, json) = (scratch.read("app.log"), objects(&scratch.read("app.log.jsonl")));
    let found = crashes(&json);
    assert_eq!((found.len(), json.len()), (1, 2), "{text}");
    assert!(has_function(found[0], "crashing::fail"), "{}", found[0]);
    let what = if cfg!(target_env = "gnu") { "SIGABRT: " } else { "SIGABRT (SI_TKILL)" };
    assert_eq!(text.matches(what).count(), 1, "{text}");
    assert!(text.lines().next().unwrap().contains("begun"), "{text}");
}

/// What the program had installed before is called after the record, with what the system said of the fault.
#[test]
fn handlers_that_were_there_before_are_called() {
    for (way, said) in [("chained", "chained\n"), ("chained-siginfo", "chained at 16\n")] {
        expect(way, Some(SIGSEGV), "SIGSEGV (SEGV_MAPERR) at address 0x10", "crashing::fail");
        let scratch = Scratch::new();
        assert_eq!(crash(&scratch, way).out, said);
    }
}

/// The standard library tells of it, and aborts.
#[test]
fn a_stack_that_is_used_up() {
    expect("stack", Some(SIGABRT), "SIGSEGV", "crashing::descend");
    expect("stack-of-thread", Some(SIGABRT), "SIGSEGV", "crashing::descend");
}

#[test]
fn panics_are_recorded() {
    expect("panic", None, "panicked: out of luck, 7", "crashing::fail");
    expect(
        "check",
        Some(SIGABRT),
        "panicked: assertion `left == right` failed: arithmetic",
        "crashing::fail",
    );
    let scratch = Scratch::new();
    let mut left = crash(&scratch, "panic-of-thread");
    assert!(left.status.success());
    // A busy machine may take longer to find the stack's names than the end waits.
    assert!(scratch.example("crashing", ["resume"]).status().unwrap().success());
    (left.text, left.json) = (scratch.read("app.log"), objects(&scratch.read("app.log.jsonl")));
    let found = crashes(&left.json);
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0]["level"], &found[0]["thread"]), (&"error".into(), &"unlucky".into()));
    assert!(found[0]["args"]["where"].as_str().unwrap().contains("crashing.rs:"), "{}", found[0]);
    assert!(left.text.lines().last().unwrap().contains("still here"), "{}", left.text);
}

/// A sink that has crashed itself is not waited for; the next start delivers what was recorded.
#[test]
fn a_thread_of_the_loggers_own() {
    let scratch = Scratch::new();
    let left = crash(&scratch, "sink");
    assert_eq!(left.status.signal(), Some(SIGSEGV));
    assert!(scratch.example("crashing", ["resume"]).status().unwrap().success());
    let json = objects(&scratch.read("app.log.jsonl"));
    let found = crashes(&json);
    assert_eq!(found.len(), 1);
    assert!(found[0]["thread"].as_str().unwrap().starts_with("sp-"), "{}", found[0]);
    assert!(has_function(found[0], "crashing::fail"), "{}", found[0]);
    assert!(scratch.read("app.log").lines().next().unwrap().contains("begun"));
}

/// A child has no logger: its record waits in a session of its own, and it waits for no sinks.
#[test]
fn a_forked_child_ends_as_it_would() {
    let scratch = Scratch::new();
    let left = crash(&scratch, "forked");
    assert!(left.status.success());
    assert!(left.out.ends_with(" 11\n"), "{}", left.out);
    assert!(crashes(&left.json).is_empty());
    assert_eq!(scratch.sessions(), 1, "the child's");
}

/// Whether a core is dumped is the system's matter, with the handler and without.
#[test]
fn cores_are_dumped_as_ever() {
    let dumped = |way: &str| {
        let scratch = Scratch::new();
        let mut shell = Command::new("sh");
        let plain = scratch.example("crashing", [way]);
        shell.arg("-c").arg("ulimit -c unlimited; exec \"$@\"").arg("sh");
        shell.arg(plain.get_program()).args(plain.get_args());
        shell.current_dir(scratch.path("sessions")).env("SILVERPOINT_DIR", scratch.path("sessions"));
        let status = shell.output().unwrap().status;
        let signal = if way.starts_with("segv") { SIGSEGV } else { SIGABRT };
        assert_eq!(status.signal(), Some(signal), "{way}");
        status.core_dumped()
    };
    if !dumped("segv-without-handler") {
        return eprintln!("SKIPPED: whether cores are dumped: this system dumps none");
    }
    for way in ["segv", "abort", "check"] {
        assert!(dumped(&format!("{way}-without-handler")), "{way}: this system dumps it");
        assert!(dumped(way), "{way}: with the handler it is not dumped");
    }
}

/// At any moment, while three threads log. `SILVERPOINT_CRASH_ROUNDS`: of each way. `SILVERPOINT_CRASH_PROGRAM`: another program that does the same.
#[test]
fn crashes_lose_nothing_and_repeat_nothing() {
    let rounds: u64 = std::env::var("SILVERPOINT_CRASH_ROUNDS").map_or(2, |rounds| rounds.parse().unwrap());
    let program = std::env::var_os("SILVERPOINT_CRASH_PROGRAM").map(PathBuf::from);
    // A Rust program whose stack is used up is aborted by the standard library.
    let stack = if program.is_some() { SIGSEGV } else { SIGABRT };
    for (way, signal) in
        [("segv", SIGSEGV), ("abort", SIGABRT), ("stack", stack), ("check", SIGABRT), ("kill", SIGKILL)]
    {
        let (mut records, mut in_time) = (0, 0);
        for round in 0..rounds {
            let (count, was_in_time) = storm(program.as_ref(), way, signal, round);
            records += count;
            in_time += u64::from(was_in_time);
        }
        let late = if way == "kill" { "none is expected" } else { "the others by the next start" };
        println!(
            "{way}: {rounds} rounds ended by signal {signal}; {records} records, each found once; the crash's record was delivered before the end in {in_time}, {late}"
        );
    }
}

/// One round; how many records there were, and whether the crash's was in the log when the process ended.
fn storm(program: Option<&PathBuf>, way: &str, signal: i32, round: u64) -> (u64, bool) {
    const THREADS: usize = 3;
    set_limits();
    let scratch = Scratch::new();
    let command = |words: &[&str]| match program {
        Some(program) => scratch.command(program, words.iter().copied()),
        None => scratch.example("crashing", words.iter().copied()),
    };
    let mut first = command(&["storm", way, &THREADS.to_string()]);
    // Every other time rings are full and threads stand still; and every other of those fails within one of them.
    if round % 2 == 1 {
        first.env("SILVERPOINT_CRASH_PACE", "none").env("SILVERPOINT_MEMORY", "1M");
    }
    if round % 4 > 1 {
        first.env("SILVERPOINT_CRASH_WHO", "logging");
    }
    let mut running = first.spawn().unwrap();
    let mut out = BufReader::new(running.stdout.take().unwrap());
    let mut told = String::new();
    out.read_line(&mut told).unwrap();
    // Times that are spread, not random: the moments within the program's work are random enough.
    std::thread::sleep(Duration::from_micros(300 + round * 7919 % 30_000));
    if way == "kill" {
        running.kill().unwrap();
    } else {
        running.stdin.take().unwrap().write_all(b"\n").unwrap();
    }
    out.read_to_string(&mut told).unwrap();
    let output = running.wait_with_output().unwrap();
    let context = format!("{way}, round {round}: {}", output.status);
    assert_eq!(output.status.signal(), Some(signal), "{context}");
    // The last line may have been cut.
    let whole = told.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let mut accepted = [0_u64; THREADS];
    for line in whole.lines() {
        for (most, word) in accepted.iter_mut().zip(line.split(' ')) {
            *most = (*most).max(word.parse().unwrap());
        }
    }
    let mut was_in_time = false;
    scratch.each_line("app.log", |line| was_in_time |= line.contains(CRASH));
    let resumed = command(&["resume"]).output().unwrap();
    assert!(resumed.status.success(), "{context}: {}", String::from_utf8_lossy(&resumed.stderr));
    let expected = usize::from(way != "kill");
    let numbers = |line: &str| {
        let mut words = line.split("thread ").nth(1)?.split_whitespace();
        Some((words.next()?.parse().ok()?, words.nth(1)?.parse().ok()?))
    };
    let (mut in_text, mut crashes) = (Count::new(THREADS, format!("{context}, text")), 0);
    scratch.each_line("app.log", |line| {
        crashes += usize::from(line.contains(CRASH));
        in_text.add(if line.contains(" number ") { numbers(line) } else { None });
    });
    assert_eq!(crashes, expected, "{context}");
    let numbers = |object: &Value| {
        let args = &object["args"];
        let word = |name: &str, at: usize| args[name].as_u64().or(args[at].as_u64());
        Some((word("thread", 0)? as usize, word("number", 1)?))
    };
    let (mut in_json, mut crashes) = (Count::new(THREADS, format!("{context}, JSON")), 0);
    scratch.each_line("app.log.jsonl", |line| {
        let object = object(line);
        match object["category"] == CRASH {
            true => crashes += 1,
            false => in_json.add(numbers(&object)),
        }
    });
    assert_eq!(crashes, expected, "{context}");
    let count = in_text.end(&accepted);
    assert_eq!(count, in_json.end(&accepted), "{context}");
    (count, was_in_time)
}

/// The numbers of records, as a log is read line by line: each thread's are there from 0 on without a gap, in order.
struct Count {
    next: Vec<u64>,
    context: String,
}

impl Count {
    fn new(threads: usize, context: String) -> Self {
        Self { next: vec![0; threads], context }
    }

    fn add(&mut self, found: Option<(usize, u64)>) {
        let Some((thread, number)) = found else { return };
        assert_eq!(self.next[thread], number, "{}: thread {thread}", self.context);
        self.next[thread] += 1;
    }

    /// Records found, which are as many as were accepted, at least.
    fn end(self, accepted: &[u64]) -> u64 {
        for (thread, (next, accepted)) in self.next.iter().zip(accepted).enumerate() {
            assert!(next >= accepted, "{}: thread {thread} has {next} of at least {accepted}", self.context);
        }
        self.next.iter().sum()
    }
}
