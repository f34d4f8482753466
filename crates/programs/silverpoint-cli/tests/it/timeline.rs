//! Records on one timeline with the kernel's events and LTTng's.

use std::path::{Path, PathBuf};

use silverpoint_tests::skipped;

use crate::harness::{self, Scratch, end};
use crate::kernel::{self, is_installed};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn page() -> String {
    std::fs::read_to_string(root().join("docs/guide/one-timeline.md")).unwrap()
}

fn block(language: &str) -> String {
    let begin = format!("```{language}\n");
    page().split(&begin).nth(1).and_then(|rest| rest.split("```").next()).expect("a snippet").to_owned()
}

/// The program of the page.
fn compile(scratch: &Scratch) {
    std::fs::write(scratch.path("shop.cpp"), block("cpp")).unwrap();
    let include = format!("-I{}", root().join("cpp/include").display());
    let words = ["-std=c++20", "-O2", "shop.cpp", "-o", "shop", "-pthread"];
    harness::compile(scratch.command("g++", words).arg(include));
}

/// The number that follows a name in an event's line.
fn number(line: &str, name: &str) -> u64 {
    let (_, rest) = line.split_once(name).unwrap_or_else(|| panic!("no {name}: {line}"));
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().unwrap_or_else(|_| panic!("{name}: {line}"))
}

/// Nanoseconds of the day, of a line that begins with `[hours:minutes:seconds.nanoseconds]`.
fn time(line: &str) -> i64 {
    let text = line.split_once('[').and_then(|(_, rest)| rest.split_once(']')).expect("a time").0;
    let parts: Vec<i64> = text.split([':', '.']).map(|part| part.parse().unwrap()).collect();
    let [hours, minutes, seconds, nanoseconds] = parts[..] else { panic!("{line}") };
    ((hours * 60 + minutes) * 60 + seconds) * 1_000_000_000 + nanoseconds
}

/// Nanoseconds from one time of a day to another, also beyond midnight.
fn from_to(begin: i64, end: i64) -> i64 {
    const DAY: i64 = 86_400_000_000_000;
    (end - begin + DAY / 2).rem_euclid(DAY) - DAY / 2
}

/// The snippets of the page: each call of the kernel lies between the records before and after it.
#[test]
fn perf_and_records_are_in_order() {
    for (program, package) in [("perf", "linux-perf"), ("babeltrace2", "babeltrace2")] {
        if !is_installed(program) {
            return skipped!("{program} is not installed (Debian: {package})");
        }
    }
    let scratch = Scratch::new();
    compile(&scratch);
    let here = Path::new(env!("CARGO_BIN_EXE_silverpoint")).parent().unwrap().display();
    let script = format!("set -e\nPATH={here}:$PATH\n{}", block("sh"));
    // Debian's perf can write CTF; others need not.
    let first = "perf record --quiet -k mono -e raw_syscalls:sys_enter --filter 'id == 230' -o first.data sleep 0.01 \
                 && perf data convert --tod --to-ctf=first.ctf -i first.data";
    let Some(out) = kernel::traced(&scratch, first, &script) else { return };
    let thread = number(out.lines().find(|line| line.contains(" shop:before:")).expect("records"), "vtid = ");
    let is_of_thread = |line: &&str| number(line, "perf_tid = ") == thread;
    let sleeps = out.lines().filter(|line| line.contains("raw_syscalls:sys_enter:")).filter(is_of_thread);
    let sleeps: Vec<i64> = sleeps.map(time).collect();
    assert_eq!(sleeps.len(), 100, "{out}");
    for (order, sleep) in (0..).zip(sleeps) {
        let place = |name: &str| {
            let found = out.lines().find(|line| line.contains(name) && number(line, "order = ") == order);
            time(found.unwrap_or_else(|| panic!("{name} {order} is missing: {out}")))
        };
        let (before, after) = (place(" shop:before:"), place(" shop:after:"));
        // Both clocks are right to some 50 ns; where the kernel corrects its clock meanwhile, to a few microseconds.
        let is_in_order = from_to(before, sleep) > -5_000 && from_to(sleep, after) > 0;
        assert!(is_in_order, "{order}: {before}, sleep {sleep}, {after}: {out}");
    }
}

#[test]
fn a_clock_that_cannot_be_taken_is_refused() {
    let scratch = Scratch::new();
    let ended = end(scratch
        .silverpoint(["run", "--quiet", "-o", "a.silver", "--"])
        .arg(crate::harness::subject())
        .args(["count", "1"]));
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    std::fs::create_dir_all(scratch.path("theirs/ust")).unwrap();
    let theirs = |text: &str| std::fs::write(scratch.path("theirs/ust/metadata"), text).unwrap();
    let refused = |words: &[&str], code: i32, why: &str| {
        let ended = scratch.run([&["convert", "--quiet", "--clock-from"], words].concat());
        assert!(ended.code() == Some(code) && ended.err.contains(why), "{why}: {ended:?}");
    };
    refused(&["theirs", "a.silver", "b.ctf"], 1, "there is no trace of CTF");
    refused(&["nowhere", "a.silver", "b.ctf"], 1, "nowhere");
    theirs("clock { name = monotonic; freq = 1000; };");
    refused(&["theirs", "a.silver", "b.ctf"], 1, "theirs/ust/metadata: the clock counts 1000 units a second");
    theirs("clock { name = monotonic; uuid = \"00000000-0000-0000-0000-000000000001\"; };");
    refused(&["theirs", "a.silver", "b.ctf"], 1, "different boots");
    refused(&["theirs", "a.silver", "b.jsonl"], 2, "--clock-from is for ctf");
    std::fs::write(scratch.path("c.jsonl"), "").unwrap();
    refused(&["theirs", "c.jsonl", "b.ctf"], 2, "needs trace files");
    std::fs::create_dir(scratch.path("theirs/kernel")).unwrap();
    theirs("clock { name = monotonic; offset = 1; };");
    std::fs::write(scratch.path("theirs/kernel/metadata"), "clock { name = monotonic; offset = 2; };")
        .unwrap();
    refused(&["theirs", "a.silver", "b.ctf"], 1, "have different clocks");
    assert!(!scratch.path("b.ctf").exists());
    // Times are those of the monotonic clock, after the offset.
    let ended = scratch.run(["convert", "--clock-from", "theirs/ust", "a.silver", "b.ctf"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let metadata = std::fs::read_to_string(scratch.path("b.ctf/metadata")).unwrap();
    assert!(metadata.contains("name = monotonic;") && metadata.contains("offset = 1;"), "{metadata}");
    // Without it the clock has the boot's id.
    assert_eq!(scratch.run(["convert", "a.silver", "c.ctf"]).code(), Some(0));
    let metadata = std::fs::read_to_string(scratch.path("c.ctf/metadata")).unwrap();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    assert!(metadata.contains(&format!("name = realtime;\n    uuid = \"{}\"", boot.trim())), "{metadata}");
}
