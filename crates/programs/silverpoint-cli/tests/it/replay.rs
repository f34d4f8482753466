//! `replay`: records come out again, wherever they are to go. When they are due is tested where the clock is a number (silverpoint-query); here nothing asks for the time.

use std::fs;
use std::os::unix::net::UnixDatagram;

use rustix::process::Signal;
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::site::SiteDescription;

use crate::builder::{Builder, log, text};
use crate::harness::{Running, Scratch};

const MS: u64 = 1_000_000;

/// Two threads, a span, a context; the last record after `end_ms`.
fn trace(end_ms: u64) -> Vec<u8> {
    let mut b = Builder::new();
    b.session(1, "/bin/app", 77);
    b.site(1, 16, &log(Level::Info, "net", 1, "first {}", "s"));
    b.site(1, 17, &log(Level::Warn, "io", 2, "second {}", "s"));
    b.site(1, 18, &SiteDescription { kind: Kind::Span, ..log(Level::Info, "io", 3, "load", "") });
    b.stream(1, 1, 7, "main");
    b.stream(1, 2, 8, "worker");
    b.context(1, 1, MS, Some((42, "ada")));
    b.record(1, 1, 16, MS, &text("a"));
    b.record(1, 2, 18, 2 * MS, &[]);
    b.record(1, 2, 17, 3 * MS, &text("b"));
    b.span_end(1, 2, 18, 2 * MS, 4 * MS);
    b.flush(1, 2, false);
    b.record(1, 1, 16, end_ms * MS, &text("end"));
    b.flush(1, 1, false);
    b.end();
    b.bytes
}

fn with_trace(end_ms: u64) -> Scratch {
    let scratch = Scratch::new();
    fs::write(scratch.path("in.silver"), trace(end_ms)).unwrap();
    scratch
}

/// An hour.
const FAR: u64 = 3_600_000;

#[test]
fn lines_are_those_of_cat_in_every_form_and_commands_get_them() {
    let scratch = with_trace(FAR);
    for form in [&[][..], &["--json"], &["--style", "qt"], &["--pattern", "{level} {message}"], &["--long"]] {
        let cat = scratch.run([&["cat", "in.silver"], form].concat());
        let replay = scratch.run([&["replay", "--speed", "max", "in.silver"], form].concat());
        assert_eq!((replay.code(), &replay.out), (Some(0), &cat.out), "{replay:?}");
        assert!(replay.err.contains("5 records of 3599.999s"), "{replay:?}");
        let words =
            [&["replay", "--speed", "max", "in.silver", "--quiet", "--sink", "| cat >&2"], form].concat();
        let command = scratch.run(words);
        assert_eq!((command.code(), &command.err), (Some(0), &cat.out), "{command:?}");
    }
    // Pauses without an end are none.
    let ended =
        scratch.run(["replay", "--max-gap", "0s", "in.silver", "--level", "warn", "--sink", "stderr"]);
    assert_eq!((ended.code(), ended.err.lines().count()), (Some(0), 2), "{ended:?}");
    let ended = scratch.run(["replay", "--speed", "max", "in.silver", "--sink", "| exit 3"]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    assert!(ended.err.contains("'exit 3': exit status: 3"), "{ended:?}");
    for wrong in
        [&["--speed", "0"][..], &["--sink", "sesion"], &["--sink", "syslog:nowhere"], &["--max-gap", "x"]]
    {
        assert_eq!(scratch.run([&["replay", "in.silver"], wrong].concat()).code(), Some(2), "{wrong:?}");
    }
    fs::write(scratch.path("no.silver"), "no trace file").unwrap();
    assert_eq!(scratch.run(["replay", "no.silver"]).code(), Some(4));
}

#[test]
fn sinks_of_a_logger_get_everything() {
    let scratch = with_trace(FAR);
    let socket = UnixDatagram::bind(scratch.path("journal")).unwrap();
    let syslog = UnixDatagram::bind(scratch.path("syslog")).unwrap();
    let journal_at = format!("journald:{}", scratch.path("journal").display());
    let syslog_at = format!("syslog:{}", scratch.path("syslog").display());
    let ended = scratch.run([
        "replay",
        "--speed",
        "max",
        "in.silver",
        "--sink",
        "out.log",
        "--sink",
        "out.jsonl",
        "--sink",
        "out.silver",
        "--sink",
        &journal_at,
        "--sink",
        &syslog_at,
    ]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let cat = |words: &[&str]| scratch.run([&["cat", "--quiet"], words].concat()).out;
    // Columns are as wide as what was known when a line was made.
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let log = fs::read_to_string(scratch.path("out.log")).unwrap();
    assert_eq!(words(&log), words(&cat(&["in.silver"])));
    assert_eq!(fs::read_to_string(scratch.path("out.jsonl")).unwrap(), cat(&["--json", "in.silver"]));
    assert_eq!(cat(&["--json", "out.silver"]), cat(&["--json", "in.silver"]));
    let all = |socket: &UnixDatagram| {
        socket.set_nonblocking(true).unwrap();
        let mut bytes = vec![0; 1 << 16];
        let mut texts = Vec::new();
        while let Ok(len) = socket.recv(&mut bytes) {
            texts.push(String::from_utf8_lossy(&bytes[..len]).into_owned());
        }
        texts
    };
    let (entries, messages) = (all(&socket), all(&syslog));
    assert_eq!((entries.len(), messages.len()), (5, 5), "{entries:?} {messages:?}");
    assert!(entries[0].contains("MESSAGE=first a\n"), "{entries:?}");
    assert!(messages[2].contains("second b"), "{messages:?}");

    let config = "[[sink]]\nto = \"file\"\npath = \"configured.log\"\nlevel = \"warn\"\nformat = \"json\"\n";
    fs::write(scratch.path("log.toml"), config).unwrap();
    let ended = scratch.run(["replay", "--speed", "max", "in.silver", "--config", "log.toml"]);
    assert_eq!((ended.code(), ended.out.as_str()), (Some(0), ""), "{ended:?}");
    let configured = fs::read_to_string(scratch.path("configured.log")).unwrap();
    assert_eq!(configured, cat(&["--json", "--level", "warn", "in.silver"]));
    let names = crate::files::names(&scratch.path("."));
    assert!(!names.iter().any(|name| name.ends_with(".spool")), "{names:?}");
}

#[test]
fn an_interrupt_ends_it_with_what_was_due_in_all_sinks() {
    let scratch = with_trace(FAR);
    let mut running = Running::start(&mut scratch.silverpoint([
        "replay",
        "in.silver",
        "--sink",
        "stdout",
        "--sink",
        "out.log",
    ]));
    running.read_until("load done");
    running.read_until("\n");
    running.signal(Signal::INT);
    let ended = running.end();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(ended.err.contains("stopped: 4 records of 3ms"), "{ended:?}");
    let log = fs::read_to_string(scratch.path("out.log")).unwrap();
    assert_eq!(log.lines().count(), 4, "{log}");
}

#[test]
fn a_session_has_the_records_and_tail_shows_them() {
    let scratch = with_trace(FAR);
    let mut running = Running::start(&mut scratch.silverpoint(["replay", "in.silver", "--sink", "session"]));
    let pid = running.pid().to_string();
    let mut shown = String::new();
    scratch.wait("the records in the session", || {
        shown = scratch.run(["tail", "--json", "--quiet", &pid]).out;
        shown.lines().count() == 4
    });
    let lines: Vec<serde_json::Value> =
        shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let field = |name: &str| lines.iter().map(|line| line[name].clone()).collect::<Vec<_>>();
    assert_eq!(field("thread"), ["main", "worker", "worker", "worker"]);
    assert_eq!(field("message")[..3], ["first a", "load", "second b"]);
    assert_eq!(field("category"), ["net", "io", "io", "io"]);
    assert_eq!(lines[0]["context"], serde_json::json!({"request": 42, "user": "ada"}));
    assert_eq!(lines[1]["context"], serde_json::Value::Null);
    assert!(lines[3]["duration_ns"].as_u64().is_some(), "{shown}");
    running.signal(Signal::INT);
    let ended = running.end();
    assert!(ended.err.contains("4 records are in the session"), "{ended:?}");
    assert_eq!(ended.code(), Some(0), "{ended:?}");
}
