//! Lines on the console stay complete, even if the program writes beside the logger.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::harness::{Scratch, numbers};

const COUNT: u64 = 2_000;

/// Counts lines by their first word; each must be one.
fn count(text: &str) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for line in text.lines() {
        let line = line.trim_end_matches('\r');
        // A thread's wait for room has a line of its own.
        if line.contains(" for room in the ring") {
            continue;
        }
        let words: Vec<&str> = line.split(' ').collect();
        let is_whole = matches!(words[..], ["out" | "err" | "log", number, long, "end"]
            if number.parse::<u64>().is_ok_and(|number| long.len() as u64 == number * 37 % 500))
            || matches!(words[..], ["half", number, "end"] if number.parse::<u64>().is_ok());
        assert!(is_whole, "{line:?}");
        *counts.entry(words[0].to_owned()).or_default() += 1;
    }
    counts
}

fn expected(words: &[(&str, u64)]) -> BTreeMap<String, u64> {
    words.iter().map(|(word, times)| ((*word).to_owned(), times * COUNT)).collect()
}

#[test]
fn in_pipes_every_line_is_whole() {
    let scratch = Scratch::new();
    let (out, err) = scratch.run(["noisy", &COUNT.to_string()]);
    assert_eq!(count(&out), expected(&[("half", 1), ("log", 1), ("out", 1)]));
    assert_eq!(count(&err), expected(&[("err", 1), ("log", 1)]));
}

#[test]
fn in_one_pipe_for_both_streams_every_line_is_whole() {
    let scratch = Scratch::new();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut command = scratch.logging(["noisy", &COUNT.to_string()]);
    let mut child = command.stdout(writer.try_clone().unwrap()).stderr(writer).spawn().unwrap();
    // It holds the other end, too.
    drop(command);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success());
    // Standard error of Rust comes in pieces under a lock that standard output does not know: its lines are
    // not checked here.
    let logged = text.lines().filter(|line| line.starts_with("log ")).count();
    assert!(logged > 0);
    let log: String =
        text.lines().filter(|line| line.starts_with("log ")).map(|line| format!("{line}\n")).collect();
    count(&log);
}

/// The two ends of a terminal: the user's, and the program's.
fn terminal() -> (OwnedFd, File) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let nothing = rustix::fs::OFlags::NOCTTY.bits() as i32;
    let other = OpenOptions::new().read(true).write(true).custom_flags(nothing).open(&name).unwrap();
    (terminal, other)
}

#[test]
fn on_a_terminal_every_line_is_whole() {
    let scratch = Scratch::new();
    let (terminal, other) = terminal();
    let mut command = scratch.logging(["noisy", &COUNT.to_string()]);
    let mut child = command.stdout(Stdio::from(other)).stderr(Stdio::piped()).spawn().unwrap();
    drop(command);
    // Another thread takes the other stream, or the program would stand still.
    let mut err = child.stderr.take().unwrap();
    let reading = std::thread::spawn(move || {
        let mut text = String::new();
        err.read_to_string(&mut text).unwrap();
        text
    });
    let mut bytes = Vec::new();
    // With the last one that has the terminal open, reading it fails (EIO).
    let _ = File::from(terminal).read_to_end(&mut bytes);
    assert!(child.wait().unwrap().success());
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(count(&text), expected(&[("half", 1), ("log", 1), ("out", 1)]));
    assert_eq!(count(&reading.join().unwrap()), expected(&[("err", 1), ("log", 1)]));
}

/// What waited for it would fill the spool, and hold up the end of the program.
#[test]
fn nothing_waits_for_a_terminal_that_was_closed() {
    let scratch = Scratch::new();
    let (terminal, other) = terminal();
    let config = "[[sink]]\nto = 'stderr'\n[[sink]]\nto = 'file'\npath = 'all.log'\n";
    std::fs::write(scratch.path("log.toml"), config).unwrap();
    let mut command = scratch.logging(["from", "log.toml", "steps", "10"]);
    let mut child = command.stderr(Stdio::from(other)).spawn().unwrap();
    drop(command);
    let (mut to, mut from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut step = || {
        writeln!(to).unwrap();
        let mut line = String::new();
        from.read_line(&mut line).unwrap();
        assert_eq!(line, "done\n");
    };
    step();
    drop(terminal);
    step();
    drop(to);
    // It has asserted that all sinks were complete, and had no message for an output without a reader.
    assert!(child.wait().unwrap().success());
    assert_eq!(numbers(&scratch.read("all.log")), (0..20).collect::<Vec<_>>());
    assert_eq!(scratch.names(), ["all.log", "log.toml"], "the spool is gone");
}

/// What the default sink, standard error, looks like on a terminal.
fn on_terminal(no_colour: Option<&str>) -> String {
    let scratch = Scratch::new();
    let (terminal, other) = terminal();
    let mut command = scratch.logging(["init"]);
    command.env_remove("SILVERPOINT").env_remove("NO_COLOR").stderr(Stdio::from(other));
    if let Some(value) = no_colour {
        command.env("NO_COLOR", value);
    }
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut bytes = Vec::new();
    // With the last one that has the terminal open, reading it fails (EIO).
    let _ = File::from(terminal).read_to_end(&mut bytes);
    assert!(child.wait().unwrap().success());
    String::from_utf8(bytes).unwrap()
}

#[test]
fn on_a_terminal_levels_have_colours_unless_nobody_wants_them() {
    let coloured = on_terminal(None);
    assert!(coloured.contains("\x1b[32mINFO") && coloured.contains("\x1b[31mERROR"), "{coloured:?}");
    // An empty one counts as none.
    assert!(on_terminal(Some("")).contains("\x1b[31mERROR"));
    let plain = on_terminal(Some("1"));
    assert!(plain.contains(" ERROR ") && !plain.contains('\x1b'), "{plain:?}");
    let scratch = Scratch::new();
    let mut command = scratch.logging(["init"]);
    let piped = command.env_remove("SILVERPOINT").env_remove("NO_COLOR").output().unwrap();
    let piped = String::from_utf8(piped.stderr).unwrap();
    assert!(piped.contains(" ERROR ") && !piped.contains('\x1b'), "{piped:?}");
}
