//! Programs that feed user_events: each field of each event is compared with the ring's record of the same call.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use silverpoint_render::ShowContext;
use silverpoint_trace::{Trace, What};
use silverpoint_wire::layout::control::at;
use silverpoint_wire::layout::state;

use super::judge::{Decoded, Dialect, decode, expected, numbered, same};
use super::{compiled, file, root};
use crate::harness::{Ended, Scratch, built, end, example};
pub(super) use crate::lttng::{shop, shop_in_c};
use crate::ticking::Ticking;

const SILVERPOINT: &str = env!("CARGO_BIN_EXE_silverpoint");

/// The library with a file in the place of the kernel.
pub(super) fn library() -> PathBuf {
    compiled("fake", "fake.cpp", LIBRARY)
}

pub(super) const LIBRARY: &str = "-O2 -fPIC -shared -fno-exceptions -fno-rtti";

/// What the file has, in this order.
pub(super) enum Entry {
    Declaration(u32, String),
    Event(u32, Vec<u8>),
    /// How many sites have an event.
    Sites(u32),
}

pub(super) fn entries(file: &Path) -> Vec<Entry> {
    let bytes = std::fs::read(file).unwrap_or_default();
    let mut rest = &bytes[..];
    let mut found = Vec::new();
    // The last one may be incomplete while the program runs.
    while rest.len() >= 12 {
        let word = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap());
        let (kind, index, size) = (word(0), word(4), word(8) as usize);
        let Some(body) = rest.get(12..12 + size) else { break };
        found.push(match kind {
            0 => Entry::Declaration(index, String::from_utf8(body.to_vec()).unwrap()),
            1 => Entry::Event(index, body.to_vec()),
            2 => Entry::Sites(index),
            other => panic!("{other}"),
        });
        rest = &rest[12 + size..];
    }
    found
}

pub(super) fn events(file: &Path) -> Vec<Decoded> {
    let mut declarations: Vec<String> = Vec::new();
    let mut found = Vec::new();
    for entry in entries(file) {
        match entry {
            Entry::Declaration(index, text) => {
                // Each is there once: sites share it.
                assert_eq!(index as usize, declarations.len());
                assert!(!declarations.contains(&text), "{text} twice");
                declarations.push(text);
            }
            Entry::Event(index, bytes) => found.push(decode(&declarations[index as usize], &bytes)),
            Entry::Sites(_) => {}
        }
    }
    found
}

/// A record as an event: name, opcode, level, fields; of an end its duration is not known.
pub(super) struct Wanted {
    pub(super) name: String,
    opcode: u8,
    level: u8,
    fields: Option<Vec<Value>>,
}

pub(super) fn wanted(trace: &Path) -> (Vec<Wanted>, BTreeSet<usize>) {
    let trace = Trace::open(&[trace.to_owned()]).unwrap();
    let (mut found, mut sites) = (Vec::new(), BTreeSet::new());
    let level = |level: u8| [5, 5, 4, 3, 2, 1][usize::from(level)];
    let mut events = trace.events();
    while let Some(event) = events.next() {
        match event.what {
            What::Record { site, site_number, args, .. } => {
                sites.insert(site_number);
                let of = &site.description;
                let names: Vec<&str> = of.argument_names().collect();
                let mut fields = expected(Dialect::EventHeader, &of.signature, &names, args);
                if let Some(context) = event.context {
                    fields.push(json!(["context", "json?", numbered(context.json())]));
                }
                let (ending, opcode) = match of.kind as u8 {
                    3 => ("_entry", 1),
                    6 => ("_begin", 1),
                    7 => ("_end", 2),
                    9 => ("_begin", 0),
                    10 => ("_step", 0),
                    11 => ("_end", 0),
                    _ => ("", 0),
                };
                let name = format!("{}{ending}", of.template);
                found.push(Wanted { name, opcode, level: level(of.level as u8), fields: Some(fields) });
            }
            What::SpanEnd { site, .. } => {
                let of = &site.unwrap().description;
                let name = format!("{}_exit", of.template);
                found.push(Wanted { name, opcode: 2, level: level(of.level as u8), fields: None });
            }
            _ => {}
        }
    }
    (found, sites)
}

fn judge(found: &[Decoded], records: &[Wanted]) {
    let names = |names: Vec<&str>| names.join(" ");
    assert_eq!(
        names(found.iter().map(|event| &*event.name).collect()),
        names(records.iter().map(|record| &*record.name).collect())
    );
    let mut open = Vec::new();
    for (event, record) in found.iter().zip(records) {
        assert_eq!((event.opcode, event.level, event.tag), (record.opcode, record.level, 0), "{event:?}");
        match &record.fields {
            Some(fields) => {
                let (found, wanted) = (Value::from(event.fields.clone()), Value::from(fields.clone()));
                assert!(same(&found, &wanted), "{}\n  found {found}\n wanted {wanted}", event.name);
            }
            None => {
                let duration = event.fields[0][2].as_str().unwrap()[1..].parse::<u64>().unwrap();
                assert!(event.fields.len() == 1 && event.fields[0][0] == "duration_ns");
                assert!(duration < 3_600_000_000_000, "{duration}");
            }
        }
        match event.opcode {
            1 => open.push(event.activity.expect("an id")),
            // What ends has begun: these programs nest their spans.
            2 => assert!(open.contains(&event.activity.expect("an id")), "{event:?}"),
            _ => {}
        }
    }
}

/// Starts a program with a ring and these tracers; it goes on at `go`.
fn start(scratch: &Scratch, probes: &str, words: &[&OsStr], trace: &str) -> Child {
    let mut command = scratch
        .command(SILVERPOINT, ["run", "--quiet", "--probe", probes, "--filter", "trace", "-o", trace, "--"]);
    command
        .args(words)
        .env("SILVERPOINT_USER_EVENTS_LIBRARY", library())
        .env("EVENTS", scratch.path("events"));
    command.stdin(Stdio::piped()).spawn().unwrap()
}

/// Lets the program go on, once `sites` of its sites have an event. How many events it had written before: it
/// has called each site once, and events may be ready in time for that.
fn go(scratch: &Scratch, mut child: Child, sites: usize) -> usize {
    let file = scratch.path("events");
    scratch.wait("an event of each site", || {
        let last = entries(&file).into_iter().rev().find_map(|entry| match entry {
            Entry::Sites(count) => Some(count as usize),
            _ => None,
        });
        last.unwrap_or(0) >= sites
    });
    let before = events(&file).len();
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert!(child.wait().unwrap().success());
    before
}

/// What a program records when it runs once, and how many sites have.
fn once(scratch: &Scratch, program: &Path, more: &[&OsStr]) -> (usize, usize) {
    let mut command =
        scratch.command(SILVERPOINT, ["run", "--quiet", "--filter", "trace", "-o", "before.silver", "--"]);
    let mut child = command.arg(program).arg("0").args(more).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert!(child.wait().unwrap().success());
    let (records, sites) = wanted(&scratch.path("before.silver"));
    (records.len(), sites.len())
}

fn every_field_is_as_in_the_ring(program: &Path, more: &[&OsStr], count: usize) {
    let scratch = Scratch::new();
    let (records, sites) = once(&scratch, program, more);
    let words: Vec<&OsStr> =
        [program.as_os_str(), OsStr::new("100")].into_iter().chain(more.iter().copied()).collect();
    let child = start(&scratch, "user_events", &words, "all.silver");
    go(&scratch, child, sites);
    let (all, _) = wanted(&scratch.path("all.silver"));
    assert_eq!((all.len(), records * 100), (records * 101, count));
    // The first execution makes the events known. Some of it may be events already.
    let found = events(&scratch.path("events"));
    let early = found.len().saturating_sub(all.len() - records);
    let first: Vec<&str> = all[..records].iter().map(|record| &*record.name).collect();
    assert!(early <= records && found[..early].iter().all(|event| first.contains(&&*event.name)), "{early}");
    judge(&found[early..], &all[records..]);
}

#[test]
fn every_field_in_cpp_is_as_in_the_ring() {
    every_field_is_as_in_the_ring(&shop(), &[], 1100);
}

#[test]
fn every_field_in_c_is_as_in_the_ring() {
    every_field_is_as_in_the_ring(&shop_in_c(), &[], 600);
}

#[test]
fn every_field_in_rust_is_as_in_the_ring() {
    every_field_is_as_in_the_ring(&example("shop"), &[], 2200);
}

/// A program that others have built, and how many records it makes behind its first round: `scripts/dotnet test Kernel` names one.
#[test]
#[ignore = "needs a program that scripts/dotnet builds"]
fn every_field_in_a_named_program_is_as_in_the_ring() {
    let named = std::env::var("SILVERPOINT_NAMED_PROGRAM").unwrap();
    let (program, count) = named.rsplit_once(' ').unwrap();
    every_field_is_as_in_the_ring(Path::new(program), &[], count.parse().unwrap());
}

/// Two tracers of one program get each event. The second is a copy of the first under LTTng's name.
#[test]
fn two_tracers_get_each_event() {
    let scratch = Scratch::new();
    let options = format!("{LIBRARY} -O0 -DSTART=silverpoint_start_lttng -DVARIABLE=\"OTHER\"");
    let other = compiled("other", "fake.cpp", &options);
    let events_of = |name: &str| events(&scratch.path(name));
    for (number, path) in [shop(), example("shop")].iter().enumerate() {
        let [one, two] = ["one", "two"].map(|name| format!("{name}{number}"));
        let mut command = scratch.command(path, ["ticks"]);
        command.env("SILVERPOINT_PROBES", "user_events,lttng").env("SILVERPOINT_LTTNG_LIBRARY", &other);
        command.env("SILVERPOINT_USER_EVENTS_LIBRARY", library());
        command.env("EVENTS", scratch.path(&one)).env("OTHER", scratch.path(&two));
        let mut program = Ticking::start(&mut command);
        let counts = || (events_of(&one).len(), events_of(&two).len());
        scratch.wait("the first event of each", || {
            program.tick();
            counts().0 > 0 && counts().1 > 0
        });
        let before = counts();
        let evaluated = program.evaluated();
        (0..4).for_each(|_| program.tick());
        assert_eq!(counts(), (before.0 + 5, before.1 + 5));
        // The copy's events are user_events' own, too: LTTng's bit keeps the tracepoint awake, and nobody wants it.
        let pid = program.child.id();
        let switch = |to: &str| switch(&scratch, pid, to);
        switch("user_events=off");
        assert_eq!(program.evaluated(), evaluated + 5);
        (0..3).for_each(|_| program.tick());
        assert_eq!(program.evaluated(), evaluated + 5);
        assert_eq!(counts(), (before.0 + 5, before.1 + 5));
        switch("user_events=on");
        (0..5).for_each(|_| program.tick());
        assert_eq!(counts(), (before.0 + 10, before.1 + 10));
        assert_eq!(program.evaluated(), evaluated + 10);
        program.finish();
    }
}

/// In a forked child the libraries may come in another order than in its parent. Sites that the parent has executed
/// have both all the same.
#[test]
fn two_tracers_get_each_event_of_a_child() {
    let scratch = Scratch::new();
    let late = |name: &str, more: &str| compiled(name, "fake.cpp", &format!("{LIBRARY} -O0 {more}"));
    let first = late("late-at-first", "-DLATE=0");
    let second = late("late-in-child", "-DLATE=1 -DSTART=silverpoint_start_lttng -DVARIABLE=\"OTHER\"");
    let is_behind = |file: &Path| entries(file).iter().any(|entry| matches!(entry, Entry::Sites(1000)));
    let programs = [(daemon(), [].as_slice()), (example("shop"), &["ticks"])];
    for (number, (path, words)) in programs.into_iter().enumerate() {
        let [one, two] = ["one", "two"].map(|name| scratch.path(&format!("{name}{number}")));
        let mut command = scratch.command(path, words);
        command.env("SILVERPOINT_PROBES", "user_events,lttng").env("SILVERPOINT_LTTNG_LIBRARY", &second);
        command.env("SILVERPOINT_USER_EVENTS_LIBRARY", &first).env("EVENTS", &one).env("OTHER", &two);
        let mut program = Ticking::start(&mut command);
        let counts = || (events(&one).len(), events(&two).len());
        let same = |program: &mut Ticking| {
            let before = counts();
            (0..5).for_each(|_| program.tick());
            assert_eq!(counts(), (before.0 + 5, before.1 + 5));
        };
        scratch.wait("the events of the first behind those of the second", || {
            program.tick();
            program.say("o");
            is_behind(&one)
        });
        same(&mut program);
        program.say("g");
        scratch.wait("the events of the second behind those of the first", || {
            program.say("o");
            is_behind(&two)
        });
        same(&mut program);
        program.finish();
    }
}

/// A tracer that cannot be fed is not asked for any more, so that tracepoints cost what they cost without one.
/// It gets events as soon as somebody asks again and its library is there.
#[test]
fn a_missing_library_is_not_asked_for() {
    let scratch = Scratch::new();
    for (number, path) in [shop(), example("shop")].iter().enumerate() {
        let (late, file) =
            (scratch.path(&format!("late{number}.so")), scratch.path(&format!("late{number}")));
        let mut command = scratch.command(path, ["ticks"]);
        command.env("SILVERPOINT_PROBES", "user_events").env("SILVERPOINT_USER_EVENTS_LIBRARY", &late);
        command.env("EVENTS", &file);
        let mut program = Ticking::start(&mut command);
        program.tick();
        let pid = program.child.id();
        scratch.wait("nothing is asked for", || {
            let (states, asked) = states(&scratch, pid);
            !states.is_empty() && asked == 0 && states.iter().all(|byte| byte & state::PROBED == 0)
        });
        std::fs::copy(library(), &late).unwrap();
        switch(&scratch, pid, "user_events=on");
        scratch.wait("an event", || {
            program.tick();
            !events(&file).is_empty()
        });
        program.finish();
    }
}

/// The kernel enables tracepoints, so providers and levels, one by one.
#[test]
fn only_what_is_enabled_is_written_and_no_ring_is_needed() {
    let scratch = Scratch::new();
    let program = shop();
    let (_, sites) = once(&scratch, &program, &[]);
    let mut command = scratch.command(&program, ["3"]);
    command.env("SILVERPOINT_PROBES", "user_events").env("SILVERPOINT_USER_EVENTS_LIBRARY", library());
    command.env("EVENTS", scratch.path("events")).env("DISABLED", "K2 ");
    let child = command.stdin(Stdio::piped()).spawn().unwrap();
    let before = go(&scratch, child, sites);
    let found = events(&scratch.path("events"));
    assert!(found.iter().all(|event| event.keyword == 1 && event.provider == "shop"));
    let names: Vec<&str> = found[before..].iter().map(|event| &*event.name).collect();
    let each =
        ["order {} at {:.2f} of {}", "stream {} {} {}", "numbers", "values", "items", "depth", "within"];
    assert_eq!(names, each.repeat(3));
}

/// Records an event for each line, closes its descriptors, and forks.
pub(super) fn daemon() -> PathBuf {
    built("daemon", "g++", &["-std=c++20", "-O0", &file("daemon.cpp"), "-pthread"])
}

/// The library as it is installed.
pub(super) fn real() -> PathBuf {
    let file = root().join("cpp/src/silverpoint_user_events.cpp");
    let options =
        ["-std=c++20", "-O2", "-fPIC", "-shared", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden"];
    built("real.so", "g++", &[&options[..], &[file.to_str().unwrap()]].concat())
}

fn said(ended: &Ended) -> Vec<&str> {
    ended.err.lines().collect()
}

/// One message, and the program runs as ever.
#[test]
fn what_is_missing_is_one_message() {
    let scratch = Scratch::new();
    let real = real();
    for program in [shop(), example("shop")] {
        let run = |library: &Path| {
            let mut command = scratch.command("sh", ["-c", "echo | $0 0"]);
            command.arg(&program).env("SILVERPOINT_PROBES", "user_events");
            let ended = end(command.env("SILVERPOINT_USER_EVENTS_LIBRARY", library));
            assert_eq!(ended.code(), Some(0), "{ended:?}");
            ended
        };
        let ended = run(Path::new("./nowhere.so"));
        let begin = "silverpoint: SILVERPOINT_PROBES=user_events: the kernel gets no events: ";
        let line = said(&ended)[0].strip_prefix(begin).unwrap_or_else(|| panic!("{ended:?}"));
        assert!(line.starts_with("./nowhere.so"), "{line}");
        assert!(
            line.ends_with(
                "; install libsilverpoint_user_events, or name its file in SILVERPOINT_USER_EVENTS_LIBRARY"
            ),
            "{line}"
        );
        assert_eq!(said(&ended).len(), 1, "{ended:?}");
        let has_kernel = ["", "/debug"]
            .iter()
            .any(|of| Path::new(&format!("/sys/kernel{of}/tracing/user_events_data")).exists());
        let ended = run(&real);
        if has_kernel {
            continue;
        }
        assert_eq!(
            said(&ended),
            [format!(
                "{begin}/sys/kernel/tracing/user_events_data: there is no such file (CONFIG_USER_EVENTS, tracefs); `silverpoint doctor` says what to do"
            )]
        );
    }
}

/// The states of a session's sites, and the tracers that are asked for.
pub(super) fn states(scratch: &Scratch, pid: u32) -> (Vec<u8>, u32) {
    let mut sessions = std::fs::read_dir(scratch.root()).unwrap().map(|entry| entry.unwrap().path());
    let of_child =
        |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(&format!("{pid}-"));
    let bytes = std::fs::read(sessions.find(of_child).unwrap().join("control")).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    (bytes[word(at::STATES_AT)..][..word(at::SITES_NEXT)].to_vec(), word(at::PROBES_ASKED) as u32)
}

pub(super) fn switch(scratch: &Scratch, pid: u32, to: &str) {
    assert_eq!(scratch.run(["ctl", &pid.to_string(), "--probe", to]).code(), Some(0));
}

/// A kernel that a preloaded library stands for: what it was written, with its number of the tracepoint.
pub(super) fn written(file: &Path) -> Vec<(u32, Vec<u8>)> {
    let bytes = std::fs::read(file).unwrap_or_default();
    let (mut rest, mut found) = (&bytes[..], Vec::new());
    while let Some((size, more)) = rest.split_first_chunk::<4>() {
        let (event, more) = more.split_at(u32::from_le_bytes(*size) as usize);
        let (number, event) = event.split_first_chunk::<4>().unwrap();
        found.push((u32::from_le_bytes(*number), event.to_vec()));
        rest = more;
    }
    found
}

pub(super) fn kernel() -> PathBuf {
    let words = ["-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", &file("kernel.c")];
    built("kernel.so", "gcc", &words)
}

/// The real library, and a kernel that a preloaded library stands for: its side of the registration and of the write.
#[test]
fn the_kernel_gets_what_its_header_says() {
    let scratch = Scratch::new();
    let kernel = kernel();
    let real = real();
    let events = scratch.path("events");
    let mut command = scratch.command(shop(), ["ticks"]);
    command.env("SILVERPOINT_PROBES", "user_events").env("SILVERPOINT_USER_EVENTS_LIBRARY", &real);
    command.env("LD_PRELOAD", &kernel).env("EVENTS", &events);
    let mut program = Ticking::start(&mut command);
    scratch.wait("the first event", || {
        program.tick();
        !written(&events).is_empty()
    });
    let before = written(&events).len();
    (0..10).for_each(|_| program.tick());
    program.finish();
    let all = written(&events);
    assert_eq!(all.len(), before + 10);
    let names = std::fs::read_to_string(scratch.path("events.names")).unwrap();
    let (index, name) = names.trim_end().split_once(' ').unwrap();
    assert_eq!(index, "1000");
    for (number, event) in all {
        assert_eq!(number, 1000);
        let event = decode(name, &event);
        assert_eq!((&*event.name, &*event.provider, event.fields.len()), ("tick", "shop", 1));
    }
}
