//! Disks that are full: nothing that fits in memory is lost, the rest is counted, and no thread waits longer than it may.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use crate::failing::{Steps, configured, whole};
use crate::harness::{Scratch, numbers, wait_until};
use crate::reload::Obeying;

/// A small file system of its own, where root allows that.
struct Small(PathBuf);

impl Small {
    fn mount(path: PathBuf) -> Option<Self> {
        fs::create_dir(&path).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=16m,mode=700", "tmpfs"])
            .arg(&path)
            .output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(path));
        }
        silverpoint_tests::skipped!(
            "no file system can be mounted here: what a full disk does is tested by a limit of the size of files alone"
        );
        None
    }

    /// Until nothing more fits. The log has this many lines before: a write that fails meanwhile would give
    /// its part back, and another one would find room.
    fn fill_after(&self, scratch: &Scratch, lines: usize) {
        let log = || scratch.read("small/app.log").lines().count();
        assert!(wait_until(|| log() == lines), "{} lines of {lines}", log());
        let mut filler = File::create(self.0.join("filler")).unwrap();
        while filler.write_all(&[0; 4096]).is_ok() {}
        while filler.write_all(&[0]).is_ok() {}
    }

    fn make_room(&self) {
        fs::remove_file(self.0.join("filler")).unwrap();
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_delays_what_waits_in_a_spool_elsewhere() {
    let scratch = Scratch::new();
    let Some(small) = Small::mount(scratch.path("small")) else { return };
    let config = "spool = 'spools'\n[[sink]]\nto = 'file'\npath = 'small/app.log'\n";
    let mut program = Steps::configured(&scratch, config, &["steps", "3000"]);
    program.step();
    small.fill_after(&scratch, 3000);
    program.step();
    program.step();
    program.until_told(&["small/app.log", "No space left", "in the spool"]);
    small.make_room();
    let (_, err) = program.end();
    assert!(err.contains("it can be written again"), "{err}");
    assert_eq!(numbers(&scratch.read("small/app.log")), whole(9000));
    drop(small);
}

/// The spool too: what is recorded stays in the program's memory, and nobody says that it waits in the spool.
#[test]
fn a_disk_that_is_full_for_the_spool_too_loses_nothing_that_fits_in_memory() {
    let scratch = Scratch::new();
    let Some(small) = Small::mount(scratch.path("small")) else { return };
    let config = "policy = 'block=forever'\n[[sink]]\nto = 'file'\npath = 'small/app.log'\n";
    let mut program = Steps::configured(&scratch, config, &["steps", "3000"]);
    program.step();
    small.fill_after(&scratch, 3000);
    program.step();
    program.until_told(&[
        "small/app.log.spool",
        "No space left",
        "records stay in the rings until the file can be written again",
    ]);
    program.step();
    // Meanwhile the collector has tried several times, and tries less often than at first: the end waits for it all the same.
    std::thread::sleep(Duration::from_secs(1));
    small.make_room();
    program.end();
    assert_eq!(numbers(&scratch.read("small/app.log")), whole(9000));
    drop(small);
}

/// With `drop` no thread waits, and dropped records are counted: received and lost are all.
#[test]
fn what_is_dropped_while_nothing_can_be_written_is_counted() {
    let scratch = Scratch::new();
    let Some(small) = Small::mount(scratch.path("small")) else { return };
    let config = "policy = 'drop'\n[[sink]]\nto = 'file'\npath = 'small/app.log'\n";
    let mut command = configured(&scratch, config, &["steps", "50"]);
    command.env("SILVERPOINT_MEMORY", "256K");
    let mut program = Steps::start(command);
    program.step();
    small.fill_after(&scratch, 50);
    // More than what is left of the spool's last page.
    (0..20).for_each(|_| program.step());
    program.until_told(&[
        "small/app.log.spool",
        "No space left",
        "records stay in the rings until the file can be written again",
    ]);
    (0..600).for_each(|_| program.step());
    small.make_room();
    // A loss is recorded before the next record that its thread can keep: so up to a step of which the last
    // one is kept.
    let mut steps = 621;
    loop {
        program.step();
        steps += 1;
        let last = format!("number {} ", steps * 50 - 1);
        let is_kept = (0..25).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            scratch.read("small/app.log").contains(&last)
        });
        if is_kept {
            break;
        }
        assert!(steps < 1300, "nothing is kept although there is room");
    }
    program.end();
    let text = scratch.read("small/app.log");
    let (lost, kept): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.contains(" lost "));
    let count =
        |line: &&str| line.split(" lost ").nth(1).unwrap().split(' ').next().unwrap().parse::<u64>().unwrap();
    let lost: u64 = lost.iter().map(count).sum();
    let kept = numbers(&kept.join("\n"));
    assert!(kept.is_sorted_by(|a, b| a < b), "in order, each once");
    assert!(lost > 0);
    assert_eq!(kept.len() as u64 + lost, steps * 50);
}

/// Old files are compressed as far as there is room. Without room they stay as they are, and a later logger
/// with room compresses them.
#[test]
fn a_disk_that_is_full_while_old_files_are_compressed_keeps_them() {
    let scratch = Scratch::new();
    let Some(small) = Small::mount(scratch.path("small")) else { return };
    let sink = "spool = 'spools'\n[[sink]]\nto = 'file'\npath = 'small/app.log'\n";
    let rotated = format!("{sink}rotate-at = 'day'\nkeep = 9\ncompress = 'zstd'\n");
    let mut program = Steps::configured(&scratch, sink, &["steps", "3000"]);
    program.step();
    program.end();
    small.fill_after(&scratch, 3000);
    // Of yesterday, on any day: the first line rotates it.
    let log = File::options().write(true).open(scratch.path("small/app.log")).unwrap();
    log.set_modified(SystemTime::now() - Duration::from_secs(26 * 3600)).unwrap();
    let mut program = Steps::configured(&scratch, &rotated, &["steps", "3000"]);
    program.step();
    program.until_told(&["small/app.1.log: it cannot be compressed", "No space left", "stays as it is"]);
    assert_eq!(numbers(&scratch.read("small/app.1.log")), whole(3000));
    let names = || {
        let entries = fs::read_dir(scratch.path("small")).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| !name.ends_with(".spool"));
        names.sort();
        names
    };
    // The sink's thread makes the new file meanwhile.
    let expected = ["app.1.log", "app.log", "filler"];
    assert!(wait_until(|| names() == expected), "nothing half-way stays: {:?}", names());
    small.make_room();
    program.end();
    let is_compressed = || {
        if names() != ["app.1.log.zst", "app.log"] {
            // The thread that compresses has the lowest priority, and may not have had its turn before the end.
            Steps::configured(&scratch, &rotated, &["steps", "0"]).end();
        }
        names() == ["app.1.log.zst", "app.log"]
    };
    assert!(wait_until(is_compressed), "{:?}", names());
    let old = zstd::decode_all(File::open(scratch.path("small/app.1.log.zst")).unwrap()).unwrap();
    assert_eq!(numbers(std::str::from_utf8(&old).unwrap()), whole(3000));
    assert_eq!(numbers(&scratch.read("small/app.log")), whole(3000));
    drop(small);
}

/// The same while the disk is full, for the log and for the spool beside it.
#[test]
fn a_flush_on_a_full_disk_says_what_is_so() {
    let scratch = Scratch::new();
    let Some(small) = Small::mount(scratch.path("small")) else { return };
    fs::write(scratch.path("log.toml"), "[[sink]]\nto = 'file'\npath = 'small/app.log'\n").unwrap();
    let mut program = Obeying::start(&scratch, None);
    let log = |program: &mut Obeying, number: u64, ms: u64| {
        assert_eq!(program.tell(&format!("log number {number}")), "done");
        program.tell(&format!("flush {ms}"))
    };
    assert_eq!(log(&mut program, 0, 60_000), "Complete");
    small.fill_after(&scratch, 1);
    let mut count = 1;
    // What is left of the last pages takes some.
    let said = loop {
        let said = log(&mut program, count, 1000);
        count += 1;
        let written = scratch.read("small/app.log").lines().count() as u64;
        assert!(said != "Complete" || written == count, "{written} of {count} lines");
        if said != "Complete" && program.tell("flush 1000") != "Complete" {
            break said;
        }
        assert!(count < 1000, "the disk is not full");
    };
    assert_eq!(said, "Late { sinks: 1 }");
    small.make_room();
    assert_eq!(program.tell("flush 60000"), "Complete");
    assert_eq!(numbers(&scratch.read("small/app.log")), whole(count));
    program.end();
    drop(small);
}

/// As far as no file may grow further: the program goes on, and the next one without the limit delivers everything.
#[test]
fn a_limit_of_the_size_of_files_delays_what_waits() {
    let scratch = Scratch::new();
    let sink = "[[sink]]\nto = 'file'\npath = 'app.log'\n";
    let logging = configured(&scratch, sink, &["bulk", "500"]);
    // The limit's signal is ignored, so that writing fails instead.
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 131072; exec \"$0\" \"$@\""])
        .arg(logging.get_program())
        .args(logging.get_args());
    limited.current_dir(logging.get_current_dir().unwrap());
    for (key, value) in logging.get_envs() {
        match value {
            Some(value) => limited.env(key, value),
            None => limited.env_remove(key),
        };
    }
    limited.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut program = Steps::start(limited);
    program.step();
    program.until_told(&["File too large"]);
    program.0.kill().unwrap();
    program.0.wait().unwrap();
    // The session's memory is files too: the limit is beyond their size.
    Steps::configured(&scratch, sink, &["steps", "0"]).end();
    assert_eq!(numbers(&scratch.read("app.log")), whole(500));
}

/// A full disk for log and spool, and full rings: a call waits as long as `block-max` says and then drops its
/// record. Everything is accounted for, and each wait is recorded with its reason.
#[test]
fn a_call_that_finds_no_room_waits_no_longer_than_it_may() {
    const BLOCK_MAX: Duration = Duration::from_millis(200);
    // Of threads that want the processor as well. Who waits without an end waits longer.
    const SLACK: Duration = Duration::from_secs(60);
    // More than all rings hold.
    const STEPS: u32 = 400;
    let scratch = Scratch::new();
    let Some(small) = Small::mount(scratch.path("small")) else { return };
    let config = "block-max = '200ms'\n[[sink]]\nto = 'file'\npath = 'small/app.log'\n";
    let mut command = configured(&scratch, config, &["timed", "50"]);
    command.env("SILVERPOINT_MEMORY", "256K");
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut made = 0;
    let mut step = |child: &mut Child| {
        child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        made += 50;
        (Duration::from_millis(line.trim_end().parse().unwrap()), made)
    };
    step(&mut child);
    small.fill_after(&scratch, 50);
    // Until a ring is full. After the first vain wait, no thread waits before there is room.
    let mut longest = Duration::ZERO;
    for _ in 0..STEPS {
        let (took, _) = step(&mut child);
        longest = longest.max(took);
    }
    assert!((BLOCK_MAX..BLOCK_MAX + SLACK).contains(&longest), "{longest:?}");
    small.make_room();
    // A loss is recorded before the next record that its thread can keep.
    let mut made = 0;
    let is_kept = (0..1000).any(|_| {
        (_, made) = step(&mut child);
        let last = format!("number {} ", made - 1);
        (0..25).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            scratch.read("small/app.log").contains(&last)
        })
    });
    assert!(is_kept, "nothing is kept although there is room");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    let text = scratch.read("small/app.log");
    let told = |text: &str, before: &str| -> u64 {
        let counts = text.lines().filter_map(|line| line.split(before).nth(1));
        counts.map(|rest| rest.split(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    };
    let lost = told(&text, " lost ");
    let kept = numbers(&text.lines().filter(|line| !line.contains(" lost ")).collect::<Vec<_>>().join("\n"));
    assert!(kept.is_sorted_by(|a, b| a < b), "in order, each once");
    assert!(lost > 0);
    assert_eq!(kept.len() as u64 + lost, made);
    let waits: Vec<&str> = text.lines().filter(|line| line.contains(" for room in the ring")).collect();
    assert!(!waits.is_empty(), "{text}");
    drop(small);
}
