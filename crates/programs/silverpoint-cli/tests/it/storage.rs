//! Files that rotate, disks that fill up, shared memory that is small.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};

use crate::harness::{Running, Scratch, collector_of, end, is_root, send, subject};

fn parts(scratch: &Scratch) -> Vec<PathBuf> {
    let entries = fs::read_dir(scratch.path("")).unwrap().flatten().map(|entry| entry.path());
    let mut parts: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "silver")).collect();
    parts.sort();
    parts
}

#[test]
fn rotated_parts_stand_alone_and_are_whole_together() {
    let scratch = Scratch::new();
    let mut command = scratch.silverpoint([
        "run",
        "--compact",
        "--rotate-size",
        "64K",
        "--policy",
        "block=forever",
        "-o",
        "t.silver",
        "--",
    ]);
    let ended = end(command.arg(subject()).args(["count", "20000", "3"]).env("SILVERPOINT_MEMORY", "256K"));
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let parts = parts(&scratch);
    assert!(parts.len() > 3, "{parts:?}");
    assert_eq!(scratch.records("t.silver"), 60_000);
    let mut sum = 0;
    for part in &parts {
        let cat = scratch.run(["cat", "--json", "--only", part.to_str().unwrap()]);
        assert_eq!(cat.code(), Some(0), "{}: {}", part.display(), cat.err);
        assert!(!cat.out.contains("\"site\":null"), "{}", part.display());
        sum += cat.out.lines().filter(|line| line.contains("subject.count")).count();
    }
    assert_eq!(sum, 60_000);
}

/// Many rotations happen between two looks of the one who follows.
#[test]
fn following_misses_no_part() {
    let scratch = Scratch::new();
    let words = ["run", "--rotate-size", "64K", "--policy", "block=forever", "-o", "t.silver", "--"];
    let mut run = scratch.silverpoint(words);
    let mut run = run
        .arg(subject())
        .args(["later", "300", "300000"])
        .env("SILVERPOINT_MEMORY", "256K")
        .spawn()
        .unwrap();
    scratch.wait("the trace", || scratch.path("t.silver").exists());
    let follow = end(&mut scratch.silverpoint(["cat", "--follow", "--json", "--quiet", "t.silver"]));
    assert!(run.wait().unwrap().success());
    assert_eq!(follow.code(), Some(0), "{}", follow.err);
    assert!(parts(&scratch).len() > 100, "{:?}", parts(&scratch));
    let numbers: Vec<u64> = follow
        .out
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter_map(|record| record["args"]["number"].as_u64())
        .collect();
    assert_eq!(numbers.len(), 300_000);
    assert!(numbers.iter().zip(0..).all(|(number, expected)| *number == expected));
}

#[test]
fn the_quota_takes_the_oldest_parts() {
    let scratch = Scratch::new();
    let mut command = scratch.silverpoint([
        "run",
        "--rotate-size",
        "64K",
        "--quota",
        "400K",
        "--policy",
        "block=forever",
        "-o",
        "t.silver",
        "--",
    ]);
    let ended = end(command.arg(subject()).args(["count", "50000"]).env("SILVERPOINT_MEMORY", "256K"));
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let bytes: u64 = parts(&scratch).iter().map(|part| fs::metadata(part).unwrap().len()).sum();
    // The present part, and what was written in one go, may exceed it.
    assert!((200 << 10..800 << 10).contains(&bytes), "{bytes} bytes");
    assert!(!scratch.path("t.1.silver").exists(), "the oldest part is there");
    // The youngest record is there, and none is missing before it as far back as the parts reach.
    let numbers: Vec<u64> = scratch
        .run(["cat", "--json", "--quiet", "t.silver"])
        .out
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter_map(|record| record["args"]["number"].as_u64())
        .collect();
    assert_eq!(numbers.last(), Some(&49_999));
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1));
}

#[test]
fn parts_are_rotated_by_time() {
    let scratch = Scratch::new();
    let mut command = scratch.silverpoint(["run", "--rotate-every", "60ms", "-o", "t.silver", "--"]);
    let mut running = Running::start_with_input(command.arg(subject()).args(["tick", "2"]));
    assert_eq!(running.line(), "ready");
    scratch.wait("three parts", || parts(&scratch).len() >= 3);
    let ended = running.end();
    let ticks: usize = ended.out.split_whitespace().next().unwrap().parse().unwrap();
    assert_eq!(scratch.records("t.silver"), ticks);
}

/// A small file system in memory; unmounted with the test.
pub struct Mount(PathBuf);

impl Mount {
    pub fn new(path: PathBuf, bytes: &str) -> Mount {
        fs::create_dir_all(&path).unwrap();
        let options = format!("size={bytes},mode=0700");
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(&path)
            .status();
        assert!(mounted.is_ok_and(|status| status.success()), "{}: it cannot be mounted", path.display());
        Mount(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Makes it larger.
    pub fn resize(&self, bytes: &str) {
        let options = format!("remount,size={bytes}");
        let mounted = std::process::Command::new("mount").args(["-o", &options]).arg(&self.0).status();
        assert!(mounted.is_ok_and(|status| status.success()), "{}: it cannot be resized", self.0.display());
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Whether tmpfs can be mounted here; else says loudly what is not tested.
pub fn can_mount(scratch: &Scratch, what: &str) -> bool {
    if !is_root(what) {
        return false;
    }
    let probe = scratch.path("probe");
    fs::create_dir_all(&probe).unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64K", "tmpfs"])
        .arg(&probe)
        .status();
    let can = mounted.is_ok_and(|status| status.success());
    if can {
        let _ = std::process::Command::new("umount").arg(&probe).status();
    } else {
        silverpoint_tests::skipped!("{what}: nothing can be mounted here");
    }
    can
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn a_full_disk_is_told_and_collection_resumes() {
    let scratch = Scratch::new();
    if !can_mount(&scratch, "a full disk") {
        return;
    }
    let disk = Mount::new(scratch.path("disk"), "1M");
    let output = disk.path("t.silver");
    let mut command =
        scratch.silverpoint(["run", "--policy", "block=forever", "-o", output.to_str().unwrap(), "--"]);
    command
        .arg(subject())
        .args(["tick", "1"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let errors = scratch.path("errors");
    let mut child = command.stderr(fs::File::create(&errors).unwrap()).spawn().unwrap();
    scratch.wait("the first records", || fs::metadata(&output).is_ok_and(|found| found.len() > 2000));
    // Everything but what the file has already.
    let mut ballast = fs::File::create(disk.path("ballast")).unwrap();
    while std::io::Write::write_all(&mut ballast, &[0; 4096]).is_ok() {}
    scratch.wait("the complaint", || {
        text(&errors).contains("records stay in the rings until the file can be written again")
    });
    assert!(text(&errors).contains("t.silver: No space left on device"), "{}", text(&errors));
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "the program ended");
    drop(ballast);
    fs::remove_file(disk.path("ballast")).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    drop(child.stdin.take());
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success());
    let said = String::from_utf8(ended.stdout).unwrap();
    let ticks: usize = said.lines().last().unwrap().split_whitespace().next().unwrap().parse().unwrap();
    assert_eq!(scratch.records(output.to_str().unwrap()), ticks, "{}", text(&errors));
    assert!(text(&errors).contains("no losses"), "{}", text(&errors));
    assert!(scratch.left().is_empty());
}

/// A run whose trace file refuses writes in the middle, and accepts them again later. The program continues,
/// the error is reported once, and every record is there.
fn says_no(scratch: &Scratch, error: &str, forbid: impl FnOnce(&Path, u32), allow: impl FnOnce(&Path, u32)) {
    let output = scratch.path("t.silver");
    let mut command = scratch.silverpoint(["run", "--policy", "block=forever", "-o", "t.silver", "--"]);
    let errors = scratch.path("errors");
    let mut child = command
        .arg(subject())
        .args(["tick", "1"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(fs::File::create(&errors).unwrap())
        .spawn()
        .unwrap();
    scratch.wait("the first records", || fs::metadata(&output).is_ok_and(|found| found.len() > 2000));
    let collector = collector_of(child.id()).expect("it has a collector");
    forbid(&output, collector);
    scratch.wait("the complaint", || {
        text(&errors).contains("records stay in the rings until the file can be written again")
    });
    assert!(text(&errors).contains(&format!("t.silver: {error}")), "{}", text(&errors));
    assert!(child.try_wait().unwrap().is_none(), "the program ended");
    assert_eq!(collector_of(child.id()), Some(collector), "the collector died: {}", text(&errors));
    allow(&output, collector);
    scratch.wait("the collection to go on", || text(&errors).contains("resumed: for "));
    drop(child.stdin.take());
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success());
    let said = String::from_utf8(ended.stdout).unwrap();
    let ticks: usize = said.lines().last().unwrap().split_whitespace().next().unwrap().parse().unwrap();
    assert_eq!(scratch.records("t.silver"), ticks, "{}", text(&errors));
    let told = text(&errors);
    assert_eq!(told.matches("records stay in the rings until").count(), 1, "{told}");
    assert!(told.contains("no losses"), "{told}");
    assert!(scratch.left().is_empty());
}

/// A file that must not be changed, as `chattr +i` makes it; it may be removed when the test ends.
struct Immutable(PathBuf);

impl Immutable {
    fn flag(path: &Path, flag: &str) -> bool {
        let mut command = std::process::Command::new("chattr");
        command.arg(flag).arg(path).stderr(std::process::Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    fn make(path: &Path) -> Option<Immutable> {
        Immutable::flag(path, "+i").then(|| Immutable(path.to_owned()))
    }
}

impl Drop for Immutable {
    fn drop(&mut self) {
        Immutable::flag(&self.0, "-i");
    }
}

#[test]
fn a_file_that_becomes_unwritable_is_told_and_collection_resumes() {
    let scratch = Scratch::new();
    if !is_root("a trace file that becomes unwritable") {
        return;
    }
    // Not every file system has the flag, or obeys it in a file that is open.
    let mut probe = fs::File::create(scratch.path("probe")).unwrap();
    let flagged = Immutable::make(&scratch.path("probe"));
    if flagged.is_none() || std::io::Write::write_all(&mut probe, b"x").is_ok() {
        silverpoint_tests::skipped!(
            "a trace file that becomes unwritable: the file system of {} cannot make one",
            scratch.path("").display()
        );
        return;
    }
    drop(flagged);
    let flagged = std::cell::RefCell::new(None);
    says_no(
        &scratch,
        "Operation not permitted",
        |output, _| *flagged.borrow_mut() = Some(Immutable::make(output).expect("it can be flagged")),
        |_, _| drop(flagged.take()),
    );
}

/// The signal that comes with the error once ended the collector.
#[test]
fn a_file_that_may_not_grow_is_told_and_collection_resumes() {
    let scratch = Scratch::new();
    let limit = |collector: u32, current| {
        let pid = Pid::from_raw(collector as i32);
        let before = prlimit(pid, Resource::Fsize, Rlimit { current, maximum: None });
        if before.is_ok_and(|before| before.maximum.is_some()) {
            panic!("these tests need files of any size");
        }
    };
    says_no(
        &scratch,
        "File too large",
        |output, collector| limit(collector, Some(fs::metadata(output).unwrap().len())),
        |_, collector| limit(collector, None),
    );
}

#[test]
fn an_attachment_that_could_not_store_everything_says_so() {
    let scratch = Scratch::new();
    if !can_mount(&scratch, "a full disk under attach") {
        return;
    }
    let disk = Mount::new(scratch.path("disk"), "1M");
    let output = disk.path("t.silver");
    let mut program = crate::attach::ticking(&scratch);
    let pid = program.pid().to_string();
    let mut command = scratch.silverpoint(["attach", &pid, "-o", output.to_str().unwrap()]);
    let errors = scratch.path("errors");
    let mut child = command.stderr(fs::File::create(&errors).unwrap()).spawn().unwrap();
    scratch.wait("the first records", || fs::metadata(&output).is_ok_and(|found| found.len() > 2000));
    let mut ballast = fs::File::create(disk.path("ballast")).unwrap();
    while std::io::Write::write_all(&mut ballast, &[0; 4096]).is_ok() {}
    scratch.wait("the complaint", || {
        text(&errors).contains("records stay in the rings until the file can be written again")
    });
    send(child.id(), Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(1), "{}", text(&errors));
    assert!(text(&errors).contains("could not be written completely"), "{}", text(&errors));
    assert_eq!(program.end().code(), Some(0), "the program is not concerned");
}

#[test]
fn what_a_full_disk_cannot_take_stays_for_recover() {
    let scratch = Scratch::new();
    if !can_mount(&scratch, "a full disk at the end") {
        return;
    }
    let disk = Mount::new(scratch.path("disk"), "64K");
    let output = disk.path("t.silver");
    let ended = end(scratch
        .silverpoint(["run", "-o", output.to_str().unwrap(), "--"])
        .arg(subject())
        .args(["count", "4000"]));
    assert_eq!(ended.code(), Some(5), "the trace is not what was recorded: {ended:?}");
    assert!(ended.err.contains("No space left on device"), "{}", ended.err);
    assert!(ended.err.contains("silverpoint recover --all"), "{}", ended.err);
    assert!(ended.err.contains("of 1 session not stored"), "{}", ended.err);
    assert!(!ended.err.contains("no losses"), "{}", ended.err);
    let recovered = scratch.run(["recover", "--all", "-o", "rest.silver"]);
    assert_eq!(recovered.code(), Some(0), "{recovered:?}");
    assert_eq!(scratch.records(output.to_str().unwrap()) + scratch.records("rest.silver"), 4000);
    assert!(scratch.left().is_empty(), "{:?}", scratch.left());
}

/// The number that stands before a text.
fn number_before(said: &str, text: &str) -> usize {
    let before = said.split(text).next().filter(|before| before.len() < said.len());
    let before = before.unwrap_or_else(|| panic!("nothing says {text:?}: {said}"));
    let digits: String = before.rsplit(' ').next().unwrap().chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("no number before {text:?}: {said}"))
}

/// The losses stand in the session alone: the file that could not be written has no report of them.
#[test]
fn the_summary_counts_what_an_unwritable_file_has_made_the_program_lose() {
    let scratch = Scratch::new();
    for quiet in [false, true] {
        let mut command = scratch.silverpoint(["run", "-o", "t.silver"]);
        command.args(quiet.then_some("--quiet")).arg("--").arg(subject()).arg("steps");
        command.env("SILVERPOINT_MEMORY", "256K").env("SILVERPOINT_BLOCK_MAX", "10");
        let mut running = Running::start_with_input(&mut command);
        assert_eq!(running.line(), "ready");
        running.write("count 1000\n");
        assert_eq!(running.line(), "done");
        let output = scratch.path("t.silver");
        scratch.wait("the first records", || scratch.records("t.silver") == 1000);
        let collector = collector_of(running.pid()).expect("it has a collector");
        let current = Some(fs::metadata(&output).unwrap().len());
        prlimit(Pid::from_raw(collector as i32), Resource::Fsize, Rlimit { current, maximum: None }).unwrap();
        // Before it has tried to write, a loss would have another cause.
        running.write("count 100\n");
        assert_eq!(running.line(), "done");
        scratch.wait_until_sink_full();
        running.write("count 200000\n");
        assert_eq!(running.line(), "done");
        let ended = running.end();
        assert_eq!(ended.code(), Some(5), "{ended:?}");
        let lost = number_before(&ended.err, " lost (sink_full)");
        assert!(lost > 100_000, "{ended:?}");
        let recovered = scratch.run(["recover", "--all", "--force", "-o", "rest.silver"]);
        assert_eq!(recovered.code(), Some(5), "{recovered:?}");
        let there = scratch.records("t.silver") + scratch.records("rest.silver");
        assert_eq!(there + lost, 201_100, "{}", ended.err);
    }
}

/// A run of ticks, during which somebody does something to its trace in a directory of its own. Gives the number of ticks and how it ended.
fn ticking_under(
    scratch: &Scratch,
    options: &[&str],
    interfere: impl FnOnce(&Path, &dyn Fn() -> String),
) -> (usize, crate::harness::Ended) {
    let folder = scratch.path("gone");
    fs::create_dir(&folder).unwrap();
    let errors = scratch.path("errors");
    let mut command = scratch.silverpoint(["run"]);
    command.args(options).args(["-o", "gone/t.silver", "--"]).arg(subject()).args(["tick", "1"]);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.stderr(fs::File::create(&errors).unwrap()).spawn().unwrap();
    let output = folder.join("t.silver");
    scratch.wait("the first records", || fs::metadata(&output).is_ok_and(|found| found.len() > 4000));
    interfere(&folder, &|| text(&errors));
    drop(child.stdin.take());
    let mut ended: crate::harness::Ended = child.wait_with_output().unwrap().into();
    ended.err = text(&errors);
    let ticks = ended.out.lines().last().unwrap().split_whitespace().next().unwrap().parse().unwrap();
    (ticks, ended)
}

#[test]
fn a_directory_removed_under_the_collector_costs_the_exit_status_and_is_counted() {
    let scratch = Scratch::new();
    let (ticks, ended) = ticking_under(&scratch, &["--rotate-size", "64K"], |folder, said| {
        fs::remove_dir_all(folder).unwrap();
        scratch.wait("the complaint", || said().contains("no new part can be started in its place"));
    });
    assert_eq!(ended.code(), Some(5), "{ended:?}");
    let removed = number_before(&ended.err, " lost (removed with their file)");
    assert!(removed > 0, "{ended:?}");
    // What came afterwards was not released, and is there for `recover`.
    let recovered = scratch.run(["recover", "--all", "-o", "rest.silver"]);
    assert_eq!(recovered.code(), Some(0), "{recovered:?}");
    assert_eq!(removed + scratch.records("rest.silver"), ticks, "{}", ended.err);
}

#[test]
fn a_directory_that_is_made_again_is_gone_on_in() {
    let scratch = Scratch::new();
    let (ticks, ended) = ticking_under(&scratch, &[], |folder, said| {
        fs::remove_dir_all(folder).unwrap();
        scratch.wait("the complaint", || said().contains("no new part can be started in its place"));
        fs::create_dir(folder).unwrap();
        scratch.wait("the collection to go on", || said().contains("resumed: for "));
    });
    assert_eq!(ended.code(), Some(5), "{ended:?}");
    let removed = number_before(&ended.err, " lost (removed with their file)");
    assert_eq!(removed + scratch.records("gone/t.silver"), ticks, "{}", ended.err);
}

#[test]
fn a_trace_file_removed_under_the_collector_is_counted_and_one_that_was_moved_is_not_lost() {
    let scratch = Scratch::new();
    let (ticks, ended) = ticking_under(&scratch, &[], |folder, said| {
        fs::remove_file(folder.join("t.silver")).unwrap();
        scratch.wait("the remark", || said().contains("a new part begins in its place"));
    });
    assert_eq!(ended.code(), Some(5), "{ended:?}");
    let removed = number_before(&ended.err, " lost (removed with their file)");
    assert_eq!(removed + scratch.records("gone/t.silver"), ticks, "{}", ended.err);
    fs::remove_dir_all(scratch.path("gone")).unwrap();
    let (ticks, ended) = ticking_under(&scratch, &[], |folder, said| {
        fs::rename(folder.join("t.silver"), folder.join("moved.silver")).unwrap();
        scratch.wait("the remark", || said().contains("a new part begins in its place"));
    });
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let moved = number_before(&ended.err, " in parts that were moved or removed");
    assert_eq!(moved + scratch.records("gone/t.silver"), ticks, "{}", ended.err);
    assert_eq!(scratch.records("gone/moved.silver"), moved);
}

/// What was stored before the disk was full is in the file and nowhere else: the second attempt must not begin with an empty one.
#[test]
fn a_recovery_that_found_no_room_is_gone_on_with_in_the_same_file() {
    let scratch = Scratch::new();
    if !can_mount(&scratch, "a disk that is too small for a recovery") {
        return;
    }
    let records = 30_000;
    let pid = crate::recover::dead_session(&scratch, &records.to_string(), &[]);
    let kept = scratch.run(["recover", &pid, "--keep", "-o", "whole.silver"]);
    assert_eq!(kept.code(), Some(0), "{kept:?}");
    assert_eq!(scratch.records("whole.silver"), records);
    let size = fs::metadata(scratch.path("whole.silver")).unwrap().len();
    // More than one write takes; else nothing is stored.
    assert!(size > 760 << 10, "{size}");
    let disk = Mount::new(scratch.path("disk"), &(size - (40 << 10)).to_string());
    let output = disk.path("t.silver").to_str().unwrap().to_owned();
    let failed = scratch.run(["recover", &pid, "-o", &output]);
    assert_eq!(failed.code(), Some(1), "{failed:?}");
    assert!(failed.err.contains("No space left on device"), "{}", failed.err);
    assert!(scratch.records(&output) > 0 && !scratch.left().is_empty());
    disk.resize("4M");
    let recovered = scratch.run(["recover", &pid, "-o", &output]);
    assert_eq!(recovered.code(), Some(0), "{recovered:?}");
    assert_eq!(scratch.records(&output), records, "{}", recovered.err);
    assert!(recovered.err.contains("the rest is added"), "{}", recovered.err);
    assert!(scratch.left().is_empty(), "{:?}", scratch.left());
}

#[test]
fn a_megabyte_of_shared_memory_is_enough() {
    let scratch = Scratch::new();
    if !can_mount(&scratch, "small shared memory") {
        return;
    }
    let shared = Mount::new(scratch.path("shm"), "1M");
    let mut command = scratch.silverpoint(["run", "--policy", "block=forever", "-o", "t.silver", "--"]);
    let ended =
        end(command.arg(subject()).args(["count", "30000", "4"]).env("SILVERPOINT_DIR", shared.path("")));
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(ended.err.contains("no losses"), "{}", ended.err);
    assert_eq!(scratch.records("t.silver"), 120_000);
}

#[test]
fn without_any_shared_memory_the_program_runs_all_the_same() {
    let scratch = Scratch::new();
    if !can_mount(&scratch, "no shared memory") {
        return;
    }
    let shared = Mount::new(scratch.path("shm"), "64K");
    // As much as goes in.
    let _ = fs::write(shared.path("ballast"), vec![0; 64 << 10]);
    let mut command = scratch.silverpoint(["run", "-o", "t.silver", "--"]);
    let ended = end(command.arg(subject()).args(["count", "1000"]).env("SILVERPOINT_DIR", shared.path("")));
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(ended.err.contains("no session could be made, nothing is recorded"), "{}", ended.err);
}
