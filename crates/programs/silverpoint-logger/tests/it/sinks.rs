//! What comes out where.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, OFlags};

use crate::harness::{Scratch, is_gone, numbers, wait_until};

#[test]
fn each_sink_has_its_level_and_format() {
    let scratch = Scratch::new();
    let (out, err) = scratch.run(["levels"]);
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    // Values keep their line: what is recorded with a line break is one line all the same.
    let err = lines(&err);
    assert_eq!(err.len(), 2, "{err:?}");
    assert!(
        err[0].contains("WARN") && err[0].contains("three\\nlines") && err[0].contains("logging.rs:"),
        "{err:?}"
    );
    assert!(err[1].contains("ERROR") && err[1].contains("code=4"), "{err:?}");
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((json["template"].as_str(), json["args"]["code"].as_u64()), (Some("four"), Some(4)), "{out}");
    let file = lines(&scratch.read("app.log"));
    assert_eq!(file.len(), 4, "{file:?}");
    for (line, text) in file.iter().zip(["one", "two", "three", "four"]) {
        assert!(line.contains(text), "{line}");
        // Date and zone stand in files.
        assert!(line.as_bytes()[4] == b'-' && line.as_bytes()[10] == b'T', "{line}");
    }
    assert_eq!(scratch.names(), ["app.log"]);
}

#[test]
fn a_handler_is_given_templates_and_arguments_unformatted() {
    let scratch = Scratch::new();
    let (out, _) = scratch.run(["handler"]);
    assert_eq!(out, "[(\"two {} {}\", 2, 16)]\n");
    assert_eq!(scratch.read("app.log").lines().count(), 2);
}

#[test]
fn a_handler_that_panicked_held_up_every_flush_and_kept_the_spool() {
    let scratch = Scratch::new();
    let (out, err) = scratch.run(["handler-panics"]);
    assert_eq!(out, "1\n2\n");
    assert_eq!(err.matches("a handler: it has panicked, and gets no more records").count(), 1, "{err}");
    // Beside them stands the panic itself, with its stack.
    assert_eq!(scratch.read("app.log").matches(" number ").count(), 10);
    assert_eq!(scratch.names(), ["app.log"], "the spool has gone");
}

#[test]
fn a_handler_that_flushed_waited_for_itself() {
    let scratch = Scratch::new();
    let (out, err) = scratch.run(["handler-flushes"]);
    let line = |lines: usize| format!("Ok((Late {{ sinks: 1 }}, {lines}))\n");
    // The file, for which it waits, has what it was given, and does not wait for it.
    assert_eq!((out, err.as_str()), ([1, 2, 3].map(line).concat(), ""));
}

#[test]
fn a_handler_that_ended_its_logger_waited_for_itself() {
    let scratch = Scratch::new();
    let (out, err) = scratch.run(["handler-ends"]);
    assert_eq!((out.as_str(), err.as_str()), ("Ok(Late { sinks: 1 }) Late { sinks: 1 }\n", ""));
    assert_eq!(scratch.read("app.log").lines().count(), 1);
}

#[test]
fn synchronous_handlers_are_given_what_others_are_before_the_tracepoint_returns() {
    let scratch = Scratch::new();
    let output = scratch.logging(["synchronous"]).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.success(), &output.stdout[..]), (true, &b"done\n"[..]), "{err}");
    assert_eq!(err.matches("has panicked").count(), 1, "{err}");
}

#[test]
fn the_environment_chooses() {
    let scratch = Scratch::new();
    let count = |value: Option<&str>| {
        let mut command = scratch.logging(["init"]);
        value.map(|value| command.env("SILVERPOINT", value));
        let output = command.output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        (output.status.success(), err.lines().count(), err)
    };
    assert_eq!(count(None).1, 2);
    assert_eq!(count(Some("debug")).1, 3);
    std::fs::write(scratch.path("log.toml"), "record = 'error'\n[[sink]]\nto = 'file'\npath = 'own.log'\n")
        .unwrap();
    assert_eq!(count(Some("log.toml")).1, 0);
    assert_eq!(scratch.read("own.log").lines().count(), 1, "{}", scratch.read("own.log"));
    std::fs::write(scratch.path("log.toml"), "record = 'error'\n[[sink]]\nto = 'fiel'\n").unwrap();
    let (is_success, _, err) = count(Some("log.toml"));
    assert!(!is_success && err.contains("log.toml:3: \"fiel\" is no destination"), "{err}");
}

#[test]
fn threads_and_rotation_lose_nothing() {
    let scratch = Scratch::new();
    let (out, err) = scratch.run(["threads", "4", "5000"]);
    assert_eq!((out.as_str(), err.as_str()), ("flushed\n", ""));
    let mut files: Vec<String> = scratch.names();
    assert!(files.len() > 20, "{files:?}");
    // app.31.log is older than app.2.log, and app.log is the newest.
    files.sort_by_key(|name| std::cmp::Reverse(name.split('.').nth(1).unwrap().parse::<u32>().unwrap_or(0)));
    let text: String = files
        .iter()
        .map(|name| {
            let text = scratch.read(name);
            assert!(
                text.len() <= 32 << 10 || text.lines().count() == 1 || name == "app.log",
                "{name}: {}",
                text.len()
            );
            assert!(text.ends_with('\n'), "{name}");
            text
        })
        .collect();
    for thread in 0..4 {
        let word = format!("thread {thread} number ");
        let own: String =
            text.lines().filter(|line| line.contains(&word)).map(|line| format!("{line}\n")).collect();
        assert_eq!(numbers(&own), (0..5000).collect::<Vec<_>>(), "thread {thread}");
    }
}

#[test]
fn a_sink_that_fails_holds_up_no_other() {
    let scratch = Scratch::new();
    let (out, err) = scratch.run(["full"]);
    assert_eq!(out, "1000\n");
    assert_eq!(err.matches("No space left on device").count(), 1, "said once: {err}");
    assert!(err.contains("/dev/full: not everything is written"), "and at the end, by its name: {err}");
    assert!(err.contains("unwritten records wait in the spool"), "{err}");
    assert_eq!(numbers(&scratch.read("app.log")), (0..1000).collect::<Vec<_>>());
    assert!(!is_gone(&scratch.path("app.log.spool")), "what was not delivered is kept");
}

#[test]
fn lines_that_wait_come_out_by_level_by_bytes_and_by_a_flush() {
    let scratch = Scratch::new();
    let (out, err) = scratch.run(["buffered", "live"]);
    assert_eq!(out, "0\n4\n6\ntrue\n20006\n", "{err}");
    assert_eq!(numbers(&scratch.read("app.log")), (0..20_006).collect::<Vec<_>>());
}

/// What waits in a sink is in the spool still.
#[test]
fn lines_that_wait_survive_the_death_of_their_process() {
    let scratch = Scratch::new();
    let died = scratch.logging(["buffered", "die"]).output().unwrap();
    assert_eq!(String::from_utf8(died.stdout).unwrap(), "0\n");
    assert!(!died.status.success());
    assert_eq!(scratch.read("app.log"), "");
    let (out, _) = scratch.run(["buffered", "resume"]);
    assert_eq!(out, "3\n");
    assert_eq!(numbers(&scratch.read("app.log")), [0, 1, 2]);
    assert_eq!(numbers(&scratch.read("app.log.plain")), [0, 1, 2]);
}

fn make_pipe(path: &Path) {
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}

/// What was written into it before would be gone with the program.
#[test]
fn a_pipe_that_nobody_reads_yet_gets_its_lines_when_somebody_does() {
    let scratch = Scratch::new();
    make_pipe(&scratch.path("app.log"));
    let mut child = scratch.logging(["count", "20"]).spawn().unwrap();
    // Long enough for a program that waits for nobody.
    assert!(wait_until(|| !is_gone(&scratch.path("sessions"))));
    std::thread::sleep(Duration::from_millis(300));
    let text = std::fs::read_to_string(scratch.path("app.log")).unwrap();
    assert_eq!(numbers(&text), (0..20).collect::<Vec<_>>());
    assert!(child.wait().unwrap().success());
}

/// The logger has no reading end of it, so that it notices when there is no reader.
#[test]
fn standard_output_that_nobody_reads_any_more_holds_up_nobody() {
    let scratch = Scratch::new();
    std::os::unix::fs::symlink("/dev/stdout", scratch.path("app.log")).unwrap();
    let mut child = scratch.logging(["count", "20000"]).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; 100]).unwrap();
    drop(out);
    assert!(wait_until(|| child.try_wait().unwrap().is_some()));
    assert!(child.wait().unwrap().success());
}

/// Such as `/dev/stdout` in a container.
#[test]
fn a_pipe_with_a_name_gets_its_lines_as_a_file_does() {
    let scratch = Scratch::new();
    make_pipe(&scratch.path("app.log"));
    let nonblocking = OFlags::NONBLOCK.bits() as i32;
    let reader =
        OpenOptions::new().read(true).custom_flags(nonblocking).open(scratch.path("app.log")).unwrap();
    for _ in 0..2 {
        // It has asserted that all came out.
        scratch.run(["count", "20"]);
        let mut bytes = vec![0; 64 << 10];
        let read = (&reader).read(&mut bytes).unwrap();
        let text = std::str::from_utf8(&bytes[..read]).unwrap();
        assert_eq!(numbers(text), (0..20).collect::<Vec<_>>());
    }
}

/// Each of several files by its own filter, form and rotation, from one configuration.
#[test]
fn two_files_differ_in_everything_that_a_configuration_can_say() {
    let scratch = Scratch::new();
    let config = "[[sink]]\nto = 'file'\npath = 'net.log'\ncategory = 'net'\nwhere = 'number >= 100 and number < 150'\n\
                  pattern = '{level} {category} {message}'\n\
                  [[sink]]\nto = 'file'\npath = 'disk.log'\nlevel = 'warn'\nformat = 'json'\nrotate-size = '8K'\nkeep = 100\n";
    std::fs::write(scratch.path("log.toml"), config).unwrap();
    scratch.run(["from", "log.toml", "different"]);
    let expected: Vec<String> = (100..150).map(|number| format!("INFO net sent {number}")).collect();
    let log = scratch.read("net.log");
    let found: Vec<&str> =
        log.lines().map(|line| line.split(" number=").next().unwrap().trim_end()).collect();
    assert_eq!(found, expected);
    let mut old = scratch.names();
    old.retain(|name| name.starts_with("disk.") && name != "disk.log");
    assert!(old.len() > 1, "{old:?}");
    let number = |name: &String| name.split('.').nth(1).unwrap().parse::<u32>().unwrap();
    old.sort_by_key(|name| std::cmp::Reverse(number(name)));
    old.push("disk.log".to_owned());
    let sizes: Vec<usize> = old.iter().map(|name| scratch.read(name).len()).collect();
    assert!(sizes.iter().all(|size| *size <= 8 << 10), "{sizes:?}");
    let text: String = old.iter().map(|name| scratch.read(name)).collect();
    let objects = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let stored: Vec<u64> = objects
        .filter(|object| object["category"] == "disk")
        .map(|object| object["args"]["number"].as_u64().unwrap())
        .collect();
    assert_eq!(stored, (0..200).collect::<Vec<_>>());
    assert!(!scratch.names().iter().any(|name| name.starts_with("net.1")), "{:?}", scratch.names());
}

/// Lines that wait are written when their time has come, and not before anything else asks for them.
#[test]
fn lines_wait_as_long_as_the_configuration_says() {
    let scratch = Scratch::new();
    let sink = |name: &str, every: &str| format!("[[sink]]\nto = 'file'\npath = '{name}'\n{every}");
    let config = sink("now.log", "")
        + &sink("soon.log", "flush.every = '200ms'\n")
        + &sink("late.log", "flush.every = '1h'\n")
        + &sink("bad.log", "flush = { every = '1h', level = 'info' }\n");
    std::fs::write(scratch.path("log.toml"), config).unwrap();
    let mut child = scratch.logging(["from", "log.toml", "steps", "3"]).spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0; 5]).unwrap();
    for name in ["now.log", "soon.log", "bad.log"] {
        let lines = || scratch.read(name).lines().count();
        assert!(wait_until(|| lines() == 3), "{name}: {}", lines());
    }
    assert_eq!(scratch.read("late.log"), "");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(numbers(&scratch.read("late.log")), [0, 1, 2]);
}
