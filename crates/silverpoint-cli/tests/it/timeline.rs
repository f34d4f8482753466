//! Records on one timeline with the kernel's events and LTTng's.

use std::path::{Path, PathBuf};

use silverpoint_tests::skipped;

use crate::harness::{Scratch, end};
use crate::kernel::{self, is_installed};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
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
    let ended = end(scratch.command("g++", words).arg(include));
    assert_eq!(ended.code(), Some(0), "{}", ended.err);
}

/// The number of an order in an event's line.
fn order(line: &str) -> usize {
    let (_, rest) = line.split_once("order = ").unwrap_or_else(|| panic!("no order: {line}"));
    rest.split_once(' ').map_or(rest, |(number, _)| number).parse().unwrap()
}

/// The snippets of the page: each record lies between the kernel's events that are its neighbours.
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
    let first = "perf record --quiet -k mono -e raw_syscalls:sys_enter -o first.data true \
                 && perf data convert --tod --to-ctf=first.ctf -i first.data";
    let Some(out) = kernel::traced(&scratch, first, &script) else { return };
    let is_sleep = |line: &&str| line.contains("raw_syscalls:sys_enter:") && line.contains(" id = 230,");
    let lines: Vec<&str> = out.lines().filter(|line| line.contains(" shop:") || is_sleep(line)).collect();
    for number in 0..100 {
        let place = |name: &str| {
            let found = lines.iter().position(|line| line.contains(name) && order(line) == number);
            found.unwrap_or_else(|| panic!("{name} {number} is missing: {out}"))
        };
        let (before, after) = (place(" shop:before:"), place(" shop:after:"));
        let sleeps = lines[before..after].iter().filter(|line| is_sleep(line)).count();
        assert!(before < after && sleeps >= 1, "{number}: {:?}", &lines[before..=after]);
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
