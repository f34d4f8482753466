//! Each record once, no matter which process dies and when.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::harness::{Scratch, kill, numbers, wait_until};

#[test]
fn stopping_and_starting_goes_on_in_the_same_file() {
    let scratch = Scratch::new();
    scratch.run(["again", "5"]);
    let text = scratch.read("app.log");
    let rounds: Vec<&str> = text.lines().map(|line| line.split("round ").nth(1).unwrap()).collect();
    assert_eq!(rounds.len(), 5, "{text}");
    scratch.run(["count", "3"]);
    assert_eq!(scratch.read("app.log").lines().count(), 8);
    assert_eq!(scratch.names(), ["app.log"]);
}

/// Counted, not measured: a busy machine makes them fewer.
#[test]
fn an_idle_logger_wakes_up_ten_times_a_second_at_most() {
    let scratch = Scratch::new();
    let sinks = "[[sink]]\nto = 'stderr'\n[[sink]]\nto = 'file'\npath = 'a.log'\nflush.every = '1s'\n\
                 [[sink]]\nto = 'file'\npath = 'b.log'\nformat = 'json'\nsync = '1s'\nrotate-at = 'hour'\n";
    std::fs::write(scratch.path("log.toml"), sinks).unwrap();
    // Each page that the system has to read back from a disk is a wake-up, too: what is so by design is so each time.
    let mut seen = Vec::new();
    let is_quiet = (0..4).any(|_| {
        let (out, _) = scratch.run(["idle"]);
        let figures: Vec<u64> = out.split_whitespace().map(|word| word.parse().unwrap()).collect();
        let [wakes, ms] = figures[..] else { panic!("{out}") };
        seen.push((wakes, ms));
        // One may have begun before, and one end after.
        wakes <= ms / 100 + 2
    });
    assert!(is_quiet, "wake-ups in milliseconds: {seen:?}");
}

/// `SILVERPOINT_SOAK=3600000` is an hour of a thousand records a second.
#[test]
fn memory_and_spool_stay_as_they_are_however_much_is_logged() {
    let scratch = Scratch::new();
    let asked = std::env::var("SILVERPOINT_SOAK").ok();
    let records: u64 = asked.as_ref().map_or(256_000, |count| count.parse().unwrap());
    let mut command = scratch.logging(["soak", &records.to_string()]);
    if asked.is_none() {
        // Rings are used the more the longer the collector waits for a processor: here they are used up soon.
        command.env("SILVERPOINT_MEMORY", "4M");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let out = String::from_utf8(output.stdout).unwrap();
    let figures: Vec<u64> = out.lines().map(|line| line.parse().unwrap()).collect();
    // The first quarter is spent on growing to what the threads and their buffers need.
    let [_, first, .., last, spool] = figures[..] else { panic!("{out}") };
    println!(
        "{records} records: {first} KiB after half of them, {last} KiB after all; {spool} bytes of spool"
    );
    // What waits for a sink that another program keeps from running takes some, too; a leak shows in the hour.
    assert!(last < first + 24 * 1024, "resident KiB after each quarter, bytes of spool: {figures:?}");
    // Two parts of 16 MiB.
    assert!(spool <= 32 << 20, "resident KiB after each quarter, bytes of spool: {figures:?}");
}

#[test]
fn what_is_recorded_without_a_logger_comes_with_the_next() {
    let scratch = Scratch::new();
    scratch.run(["keep"]);
    let text = scratch.read("app.log");
    let messages: Vec<&str> = ["never", "before", "below", "first", "between", "off"]
        .into_iter()
        .filter(|word| text.contains(&format!(" {word}")))
        .collect();
    assert_eq!(messages, ["before", "first", "between"], "{text}");
    assert_eq!(text.lines().count(), 3, "{text}");
    assert_eq!((scratch.names(), scratch.sessions()), (vec!["app.log".to_owned()], 0));
}

/// Killed at any moment: the next start delivers what the dead process had recorded, in order, each record once.
#[test]
fn killed_programs_lose_nothing_and_repeat_nothing() {
    let rounds: u64 = std::env::var("SILVERPOINT_KILL_ROUNDS").map_or(8, |rounds| rounds.parse().unwrap());
    // Times that are spread, not random: the moments within the program's work are random enough.
    for round in 0..rounds {
        let scratch = Scratch::new();
        let mut running = scratch.logging(["flood"]).spawn().unwrap();
        let mut out = BufReader::new(running.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        std::thread::sleep(Duration::from_micros(300 + round * 7919 % 30_000));
        let told = kill(running, out, line);
        scratch.run(["resume"]);
        let found = numbers(&scratch.read("app.log"));
        assert!(found.len() as u64 > told, "round {round}: {} of at least {}", found.len(), told + 1);
        let wrong = found.iter().zip(0..).find(|(found, expected)| **found != *expected);
        assert_eq!(wrong, None, "round {round}: of {} records", found.len());
        let json = scratch.read("app.log.jsonl");
        let objects = json.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let json: Vec<u64> = objects.filter_map(|object| object["args"]["number"].as_u64()).collect();
        assert_eq!(json, found, "round {round}: JSON");
        assert_eq!(scratch.names(), ["app.log", "app.log.jsonl"], "round {round}");
        assert!(scratch.sessions() <= 1, "round {round}: only that of the last process");
    }
}

/// As `silverpoint run` gives its command one. A start there must not take the stored part of the dead
/// process's records for everything. It must keep the list of what the log still lacks.
#[test]
fn a_start_with_another_directory_of_sessions_leaves_a_dead_ones_where_the_next_finds_them() {
    let scratch = Scratch::new();
    let mut running = scratch.logging(["flood"]).spawn().unwrap();
    let mut out = BufReader::new(running.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    std::thread::sleep(Duration::from_millis(5));
    let told = kill(running, out, line);
    let elsewhere = scratch.path("sessions").join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::set_permissions(&elsewhere, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let ended = scratch.logging(["resume"]).env("SILVERPOINT_DIR", &elsewhere).output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    assert_eq!(scratch.sessions(), 1);
    scratch.run(["resume"]);
    let found = numbers(&scratch.read("app.log"));
    assert!(found.len() as u64 > told, "{} of at least {}", found.len(), told + 1);
    let wrong = found.iter().zip(0..).find(|(found, expected)| **found != *expected);
    assert_eq!(wrong, None, "of {} records", found.len());
    assert_eq!(
        (scratch.names(), scratch.sessions()),
        (vec!["app.log".to_owned(), "app.log.jsonl".to_owned()], 0)
    );
}

#[test]
fn two_processes_that_name_the_same_file_get_a_file_each() {
    let scratch = Scratch::new();
    let mut first = scratch.logging(["hold"]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(first.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "holding\n");
    let (_, err) = scratch.run(["count", "3"]);
    assert!(err.contains("app-2.log"), "{err}");
    assert_eq!(numbers(&scratch.read("app-2.log")), [0, 1, 2]);
    assert_eq!(scratch.read("app.log").lines().count(), 1);
    first.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert!(first.wait().unwrap().success());
    // Then the name is free again.
    scratch.run(["count", "3"]);
    assert_eq!(scratch.read("app.log").lines().count(), 4);
    assert_eq!(scratch.names(), ["app-2.log", "app.log"]);
}

/// A process that ends releases its locks one after the other, and late when it has much memory. A program
/// that is started at once must neither find the log taken, nor take the session of the dead process for a
/// living one.
#[test]
fn a_program_that_is_killed_and_started_again_at_once_goes_on_in_its_log() {
    for mib in [1, 384] {
        assert!((0..10).any(|_| goes_on_after_a_kill(mib)), "{mib} MiB: it never ended in time");
    }
}

/// One attempt. False: the machine was so busy that the killed process ended later than the next one waits.
fn goes_on_after_a_kill(mib: u64) -> bool {
    const WAIT: Duration = Duration::from_secs(2);
    let scratch = Scratch::new();
    let mut first = scratch.logging(["heavy", &mib.to_string()]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(first.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "holding\n");
    first.kill().unwrap();
    let begun = Instant::now();
    let (_, err) = scratch.run(["count", "3"]);
    let took = begun.elapsed();
    first.wait().unwrap();
    if took >= WAIT && scratch.path("app-2.log").exists() {
        return false;
    }
    assert_eq!(numbers(&scratch.read("app.log")), [0, 1, 0, 1, 2], "{mib} MiB: {err}");
    assert_eq!((scratch.names(), scratch.sessions()), (vec!["app.log".to_owned()], 0), "{mib} MiB");
    true
}

/// Until it has logged `held by PID`; it goes on to have its files.
fn holding(scratch: &Scratch) -> std::process::Child {
    scratch.logging(["hold"]).spawn().unwrap()
}

fn wait_for(holding: &mut std::process::Child) {
    let mut line = String::new();
    BufReader::new(holding.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "holding\n");
}

fn release(mut holding: std::process::Child) {
    holding.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert!(holding.wait().unwrap().success());
}

#[test]
fn two_loggers_of_one_process_do_not_write_one_file() {
    let scratch = Scratch::new();
    let (out, err) = scratch.run(["twice"]);
    assert!(out.contains("app.log.spool: another logger of this process writes this log"), "{out}");
    assert_eq!((err.as_str(), numbers(&scratch.read("app.log"))), ("", vec![0, 1]));
    assert_eq!(scratch.names(), ["app.log"]);
}

/// One collector has a process.
#[test]
fn a_second_logger_of_a_process_is_told_that_it_gets_nothing() {
    let scratch = Scratch::new();
    let (_, err) = scratch.run(["two"]);
    assert!(err.contains("another collector already has this process"), "{err}");
    assert_eq!(numbers(&scratch.read("app.log")), [0]);
    assert_eq!((scratch.read("app.log.other"), scratch.names().len()), (String::new(), 2));
}

#[test]
fn processes_that_start_together_get_a_file_each() {
    let scratch = Scratch::new();
    let mut all: Vec<_> = (0..6).map(|_| holding(&scratch)).collect();
    all.iter_mut().for_each(wait_for);
    let mut names = scratch.names();
    names.retain(|name| name.ends_with(".log"));
    let expected = ["app-2.log", "app-3.log", "app-4.log", "app-5.log", "app-6.log", "app.log"];
    assert_eq!(names, expected);
    let mut held: Vec<String> = names.iter().map(|name| scratch.read(name)).collect();
    for text in &held {
        assert_eq!(text.lines().count(), 1, "{held:?}");
    }
    for process in all {
        let word = format!("held by {} ", process.id());
        let before = held.len();
        held.retain(|text| !text.contains(&word));
        assert_eq!(held.len() + 1, before, "{word}");
        release(process);
    }
    assert_eq!(scratch.names(), expected, "no spool is left");
}

/// The first process made the file; for the next one, which found it there, the link was another name, and both wrote the same file.
#[test]
fn a_link_to_a_file_that_was_not_there_yet_was_another_log_for_the_next_process() {
    use std::os::unix::fs::symlink;
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("logs")).unwrap();
    symlink("logs/link.log", scratch.path("app.log")).unwrap();
    symlink(scratch.path("logs/real.log"), scratch.path("logs/link.log")).unwrap();
    let mut first = holding(&scratch);
    wait_for(&mut first);
    let (_, err) = scratch.run(["count", "3"]);
    assert!(err.contains("real-2.log"), "{err}");
    assert_eq!(numbers(&scratch.read("logs/real-2.log")), [0, 1, 2]);
    assert_eq!(scratch.read("logs/real.log").lines().count(), 1, "{}", scratch.read("logs/real.log"));
    release(first);
    scratch.run(["count", "3"]);
    assert_eq!(scratch.read("app.log").lines().count(), 4, "by any name");
}

/// Of two files each, one is the same: neither process writes what the other writes.
#[test]
fn two_processes_that_share_one_of_their_files_do_not_mix_it() {
    for spool in ["", "spool = 'spools'\n"] {
        let scratch = Scratch::new();
        let sinks = |first: &str, second: &str| {
            let sink = |name: &str| format!("[[sink]]\nto = 'file'\npath = '{name}'\n");
            format!("{spool}{}{}", sink(first), sink(second))
        };
        std::fs::write(scratch.path("one.toml"), sinks("a.log", "b.log")).unwrap();
        std::fs::write(scratch.path("two.toml"), sinks("b.log", "c.log")).unwrap();
        let mut first = scratch.logging(["from", "one.toml", "steps", "3"]).spawn().unwrap();
        first.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        first.stdout.as_mut().unwrap().read_exact(&mut [0; 5]).unwrap();
        let run = || {
            let mut second = scratch.logging(["from", "two.toml", "steps", "2"]).spawn().unwrap();
            second.stdin.take().unwrap().write_all(b"\n").unwrap();
            let output = second.wait_with_output().unwrap();
            assert!(output.status.success());
            String::from_utf8(output.stderr).unwrap()
        };
        let err = run();
        assert!(err.contains("b.log: another process writes it") && err.contains("c-2.log"), "{err}");
        drop(first.stdin.take());
        assert!(first.wait().unwrap().success());
        assert_eq!(run(), "", "the name is free again");
        for (name, expected) in [("a.log", 3), ("b.log", 5), ("b-2.log", 2), ("c-2.log", 2), ("c.log", 2)] {
            assert_eq!(numbers(&scratch.read(name)).len(), expected, "{name}");
        }
        let mut names = scratch.names();
        names.retain(|name| name.contains("spool") && name != "spools");
        assert!(names.is_empty(), "{names:?}");
    }
}

/// What was found in the directory before is not the logger's to remove.
#[test]
fn a_directory_for_the_spool_keeps_what_else_is_in_it() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("logs")).unwrap();
    std::fs::write(scratch.path("logs/database"), "precious").unwrap();
    let config = "spool = 'logs'\n[[sink]]\nto = 'file'\npath = 'logs/app.log'\n";
    std::fs::write(scratch.path("log.toml"), config).unwrap();
    let ended = scratch.logging(["init"]).env("SILVERPOINT", "log.toml").output().unwrap();
    assert!(ended.status.success());
    assert_eq!(scratch.read("logs/database"), "precious");
    assert_eq!(scratch.read("logs/app.log").lines().count(), 2);
    assert_eq!(std::fs::read_dir(scratch.path("logs")).unwrap().count(), 2, "no spool is left");
}

#[test]
fn logs_of_one_name_in_two_directories_have_a_place_each() {
    let scratch = Scratch::new();
    for name in ["a", "b"] {
        std::fs::create_dir(scratch.path(name)).unwrap();
    }
    let sink = |name: &str| format!("[[sink]]\nto = 'file'\npath = '{name}/app.log'\n");
    std::fs::write(scratch.path("log.toml"), sink("b") + &sink("a")).unwrap();
    let run = || scratch.logging(["init"]).env("SILVERPOINT", "log.toml").status().unwrap().success();
    assert!(run() && run());
    for name in ["a/app.log", "b/app.log"] {
        assert_eq!(scratch.read(name).lines().count(), 4, "{name}");
    }
}

/// A spool of zeros, as a file system leaves it that lost power, must not keep the program from logging.
#[test]
fn a_spool_that_is_none_is_put_away() {
    let scratch = Scratch::new();
    let spool = scratch.path("app.log.spool");
    {
        use std::os::unix::fs::DirBuilderExt;
        std::fs::DirBuilder::new().mode(0o700).create(&spool).unwrap();
    }
    std::fs::write(spool.join("spool.silver"), [0; 70_000]).unwrap();
    let (_, err) = scratch.run(["count", "3"]);
    assert!(err.contains("spool.damaged-1"), "{err}");
    assert_eq!(numbers(&scratch.read("app.log")), [0, 1, 2]);
}

#[test]
fn directories_of_others_are_not_used() {
    let scratch = Scratch::new();
    let spool = scratch.path("app.log.spool");
    std::fs::create_dir(&spool).unwrap();
    std::fs::set_permissions(&spool, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let ended = scratch.logging(["count", "1"]).output().unwrap();
    let err = String::from_utf8(ended.stderr).unwrap();
    assert!(!ended.status.success() && err.contains("open to others"), "{err}");
    std::fs::remove_dir(&spool).unwrap();
    std::os::unix::fs::symlink(scratch.path("sessions"), &spool).unwrap();
    let ended = scratch.logging(["count", "1"]).output().unwrap();
    let err = String::from_utf8(ended.stderr).unwrap();
    assert!(!ended.status.success() && err.contains("no directory"), "{err}");
}

#[test]
fn a_start_that_fails_leaves_the_program_as_it_was() {
    let scratch = Scratch::new();
    let (out, _) = scratch.run(["refused"]);
    assert_eq!(out, "true false\n", "it fails, and tracepoints are off as before");
}

#[test]
fn a_flush_without_end_ends_with_the_logger() {
    let scratch = Scratch::new();
    let (out, _) = scratch.run(["flush"]);
    assert_eq!(out, "Late { sinks: 1 }\n".repeat(3));
}

/// The logger's threads take no signals: SIGTERM is for the thread that waits for it.
#[test]
fn signals_are_the_programs() {
    let scratch = Scratch::new();
    let (out, _) = scratch.run(["signals"]);
    let masks = out.lines().map(|line| u64::from_str_radix(line.rsplit('\t').next().unwrap(), 16).unwrap());
    // SIGTERM is 15, SIGPIPE 13; bit n-1.
    let (own, others): (Vec<u64>, Vec<u64>) = masks.partition(|mask| *mask == 0);
    assert_eq!((own.len(), others.len()), (1, 2), "{out}");
    assert!(others.iter().all(|mask| mask & (1 << 14) != 0 && mask & (1 << 12) != 0), "{out}");
}

/// Its end is the parent's matter, and each of its locks may be held by a thread that the child has not.
#[test]
fn a_forked_child_leaves_its_parents_logger_alone() {
    let scratch = Scratch::new();
    let ended = scratch.example("forking", ["20"]).output().unwrap();
    let err = String::from_utf8(ended.stderr).unwrap();
    assert!(ended.status.success(), "{err}");
    // A file of the parent's is another process's.
    let said: Vec<&str> = err.lines().filter(|line| !line.contains("app-2.log")).collect();
    assert_eq!(said, [""; 0]);
    let log = scratch.read("app.log");
    assert!(log.lines().last().unwrap().contains("in the end"), "{log}");
    assert!(!log.contains("of the child"), "{log}");
    let own = scratch.read("app-2.log");
    assert!(own.contains("of the child") && own.lines().count() == 1, "{own}");
    // Those of the parent stand there once, no matter what was being written when a child was forked. Those
    // of children without a logger do not.
    let records: Vec<&str> = log.lines().filter(|line| line.contains("number ")).collect();
    let found = numbers(&records.join("\n"));
    assert!(!found.is_empty() && found.iter().zip(0..).all(|(found, expected)| *found == expected), "{log}");
    assert_eq!(scratch.names(), ["app-2.log", "app.log"]);
}

/// What the first image had recorded is the second one's to deliver: both have one process number. A child that executes another one is another process.
#[test]
fn a_program_that_executes_another_loses_nothing() {
    let scratch = Scratch::new();
    let ended = scratch.example("forking", ["exec"]).output().unwrap();
    let err = String::from_utf8(ended.stderr).unwrap();
    assert!(ended.status.success(), "{err}");
    assert_eq!(numbers(&scratch.read("app.log")), [0, 1, 2], "{err}");
    assert_eq!(numbers(&scratch.read("app-2.log")), [2], "{err}");
    assert_eq!(
        (scratch.names(), scratch.sessions()),
        (vec!["app-2.log".to_owned(), "app.log".to_owned()], 0)
    );
}

/// The child keeps the lock of its parent's spool, and the parent has the number in the lock file. The parent
/// must be able to start a logger while the child lives, and the records of the first image must be
/// delivered.
#[test]
fn a_program_that_executes_another_beside_a_child_has_its_logs() {
    let scratch = Scratch::new();
    let mut program = scratch.example("forking", ["exec-beside-a-child"]);
    let ended = program.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(ended.success());
    assert_eq!(numbers(&scratch.read("app.log")), [0, 1, 2]);
    assert_eq!((scratch.names(), scratch.sessions()), (vec!["app.log".to_owned()], 0));
}

/// The child had the locks of its parent's collector, as long as it lived: what the parent had recorded was for nobody.
#[test]
fn a_program_that_is_killed_beside_a_child_has_its_logs() {
    let scratch = Scratch::new();
    let killed =
        scratch.example("forking", ["killed-beside-a-child"]).stderr(Stdio::null()).output().unwrap();
    assert_eq!(killed.status.signal(), Some(9));
    let child: i32 = String::from_utf8(killed.stdout).unwrap().trim().parse().unwrap();
    let child = rustix::process::Pid::from_raw(child).unwrap();
    let next = scratch.example("forking", ["executed"]).output().unwrap();
    let is_alive = rustix::process::test_kill_process(child).is_ok();
    rustix::process::kill_process(child, rustix::process::Signal::KILL).unwrap();
    assert!(next.status.success() && is_alive, "{}", String::from_utf8_lossy(&next.stderr));
    assert_eq!(numbers(&scratch.read("app.log")), [0, 1, 2]);
    assert_eq!((scratch.names(), scratch.sessions()), (vec!["app.log".to_owned()], 0));
}

/// The child has closed what it inherited, the lock of its parent's spool too.
#[test]
fn a_daemon_starts_its_logger_when_it_has_closed_everything() {
    let scratch = Scratch::new();
    let started = scratch.example("forking", ["daemon"]).output().unwrap();
    assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
    assert!(wait_until(|| scratch.names() == ["app.log"] && scratch.read("app.log").lines().count() == 3));
    assert_eq!(numbers(&scratch.read("app.log")), [0, 1, 2]);
}
