//! USDT probes of tracepoints: the notes in programs and shared libraries, and what a tracer that is attached reads.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use silverpoint_tests::skipped;

use crate::harness::{self, Scratch, end};
use crate::kernel::{self, is_installed};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

pub fn source(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/usdt").join(name).to_str().unwrap().to_owned()
}

pub fn compile(scratch: &Scratch, compiler: &str, words: &[&str]) {
    let include = format!("-I{}", root().join("cpp/include").display());
    let strict = ["-Wall", "-Wextra", "-Werror", "-DSILVERPOINT_USDT"];
    harness::compile(scratch.command(compiler, words).args(strict).arg(include));
}

/// The program and its library.
fn compile_shop(scratch: &Scratch) {
    let library = ["-std=c++20", "-O2", "-fPIC", "-shared", &source("part.cpp"), "-o", "libpart.so"];
    compile(scratch, "g++", &library);
    let beside = "-Wl,-rpath,$ORIGIN";
    let program = ["-std=c++20", "-O2", &source("shop.cpp"), "-o", "shop", "-L.", "-lpart", beside];
    compile(scratch, "g++", &program);
}

/// The probes of a file, as readelf lists them: `provider:name SIZE…`, the sizes with their signs; a probe with a semaphore ends with `+`.
/// The semaphore begins a page: the kernel counts in the first mapping of one that is mapped twice (spec/usdt.md).
pub fn probes(scratch: &Scratch, file: &str) -> BTreeSet<String> {
    let sections = end(scratch.command("readelf", ["--wide", "--sections", file]).env("LC_ALL", "C"));
    if let Some(line) = sections.out.lines().find(|line| line.contains(" .probes ")) {
        let alignment = line.split_whitespace().last().unwrap();
        assert!(alignment == "4096" || alignment == "65536", "{line}");
    }
    let ended = end(scratch.command("readelf", ["--notes", file]).env("LC_ALL", "C"));
    assert_eq!(ended.code(), Some(0), "{}", ended.err);
    let mut found = BTreeSet::new();
    let mut words = ended.out.lines();
    while let Some(line) = words.next() {
        let Some(provider) = line.trim().strip_prefix("Provider: ") else { continue };
        let mut next =
            |what: &str| words.next().unwrap().trim().strip_prefix(what).unwrap().trim().to_owned();
        let (name, place, arguments) = (next("Name: "), next("Location: "), next("Arguments:"));
        let sizes: Vec<&str> =
            arguments.split_whitespace().map(|argument| argument.split('@').next().unwrap()).collect();
        assert!(!place.starts_with("0x0000000000000000"), "{name} is nowhere");
        let semaphore = place.split("Semaphore: ").nth(1).unwrap();
        let mark = if semaphore.trim_start_matches("0x").chars().any(|c| c != '0') { "+" } else { "" };
        found.insert(format!("{provider}:{name} {}{mark}", sizes.join(" ")));
    }
    found
}

const OF_CPP: [&str; 27] = [
    "Other_Category:slow_ms -4+",
    "net_shop:_9_limited -4+",
    "net_shop:evaluated -4+",
    "net_shop:fetch_begin 8 8 8+",
    "net_shop:fetch_end 8+",
    "net_shop:held_begin 8 -4 8 8+",
    "net_shop:held_end 8+",
    "net_shop:instance_entry +",
    "net_shop:instance_exit 8+",
    "net_shop:instance_of -8 8+",
    "net_shop:instance_of 1 8+",
    "net_shop:lists 8 8 -4 -4+",
    "net_shop:load_entry -4+",
    "net_shop:load_exit 8+",
    // Of fourteen numbers.
    "net_shop:many -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4 -4+",
    "net_shop:numbers_large -4 4 -8 8 4 8+",
    "net_shop:numbers_small -1 1 -2 2 1 CHAR+",
    "net_shop:of_is -4 8 8 8+",
    "net_shop:optional 1 -4 -4 1 -8+",
    "net_shop:order_at -4 8+",
    "net_shop:order_filled -4 8 8 8 -2+",
    "net_shop:others 8 8+",
    "net_shop:queue_depth -4+",
    "net_shop:shop_cpp_56 -4 8 8+",
    "net_shop:shop_cpp_73 8 8+",
    "net_shop:shop_cpp_76 8 8+",
    "net_shop:within +",
];

const OF_PART: [&str; 3] = ["part:called -4+", "part:owned_begin 8 -4+", "part:owned_end 8+"];

/// `char` has a sign on x86-64 and none on AArch64.
fn expected(char_size: &str) -> BTreeSet<String> {
    OF_CPP.iter().map(|line| line.replace("CHAR", char_size)).collect()
}

/// One test, so that the program is compiled once.
#[test]
fn probes_in_cpp() {
    let scratch = Scratch::new();
    compile_shop(&scratch);
    the_notes_state_names_sizes_signs_and_the_semaphore(&scratch);
    without_a_tracer_no_argument_is_evaluated(&scratch);
    a_tracer_reads_the_values_of_all_arguments(&scratch);
    a_tracer_of_a_library_sees_every_program_that_uses_it(&scratch);
    a_tracer_and_the_ring_get_the_same_call(&scratch);
}

fn the_notes_state_names_sizes_signs_and_the_semaphore(scratch: &Scratch) {
    let char_size = if cfg!(target_arch = "x86_64") { "-1" } else { "1" };
    assert_eq!(probes(scratch, "shop"), expected(char_size));
    assert_eq!(probes(scratch, "libpart.so"), OF_PART.map(str::to_owned).into());
}

#[test]
fn the_notes_are_the_same_on_aarch64() {
    if !is_installed("aarch64-linux-gnu-g++") {
        return skipped!("there is no compiler for AArch64 (Debian: g++-aarch64-linux-gnu)");
    }
    let scratch = Scratch::new();
    let words = ["-std=c++20", "-O1", &source("shop.cpp"), &source("part.cpp"), "-o", "shop"];
    compile(&scratch, "aarch64-linux-gnu-g++", &words);
    let mut all = expected("1");
    all.extend(OF_PART.map(str::to_owned));
    assert_eq!(probes(&scratch, "shop"), all);
}

/// Runs a script for bpftrace; `None` if that cannot be here.
pub fn traced(scratch: &Scratch, script: &str) -> Option<String> {
    if !is_installed("bpftrace") {
        skipped!("bpftrace is not installed");
        return None;
    }
    // Without BPF or uprobes it cannot even attach to itself, as it does for this.
    kernel::traced(scratch, "bpftrace -e 'BEGIN { exit(); }'", script)
}

/// What bpftrace and the program say when it reads these probes of `./shop WORDS`; `before` are words before its own.
/// `None` if it missed the beginning of `main` too, which is no probe of ours: then it read nothing of this process.
pub fn read(scratch: &Scratch, before: &str, probes: &str, words: &str) -> Option<String> {
    const BEGUN: &str = "the program has begun";
    let control = format!("uprobe:./shop:main {{ printf(\"{BEGUN}\\n\"); }}\n");
    std::fs::write(scratch.path("read.bt"), control + probes).unwrap();
    let out = traced(scratch, &format!("{before} bpftrace read.bt -c './shop {words}'"))?;
    if !out.contains(BEGUN) {
        skipped!("bpftrace did not see that the program began: {out}");
        return None;
    }
    Some(out)
}

fn a_tracer_reads_the_values_of_all_arguments(scratch: &Scratch) {
    let format = |probe: &str, form: &str, arguments: &str| {
        format!("usdt:./shop:{probe} {{ printf(\"{probe} {form}\\n\", {arguments}); }}\n")
    };
    let script = [
        format("net_shop:evaluated", "%d", "arg0"),
        format("net_shop:order_at", "%d %lx", "arg0, arg1"),
        format("net_shop:of_is", "%d '%s' %d %lx", "arg0, str(arg1, arg2), arg2, arg3"),
        format("net_shop:numbers_small", "%d %d %d %d %d %c", "arg0, arg1, arg2, arg3, arg4, arg5"),
        format("net_shop:numbers_large", "%d %lu %ld %lx %x %d", "arg0, arg1, arg2, arg3, arg4, arg5 != 0"),
        format("net_shop:order_filled", "%d %lx '%s' %d", "arg0, arg1, str(arg2, arg3), arg4"),
        format("net_shop:optional", "%d %d %d %d %ld", "arg0, arg1, arg2, arg3, arg4"),
        format("net_shop:lists", "%d %d %d", "arg1, arg2, arg3"),
        format("net_shop:shop_cpp_56", "%d '%s'", "arg0, str(arg1, arg2)"),
        // Items of CBOR: a list; the head of a text has three bytes.
        format("net_shop:shop_cpp_73", "%x '%s' %d", "*(uint8*)arg0, str(arg0 + 4, 4), arg1"),
        format("net_shop:shop_cpp_76", "'%s'", "str(arg0, arg1)"),
        format("net_shop:held_begin", "%d %d '%s'", "arg0 != 0, arg1, str(arg2, arg3)"),
        format("net_shop:held_end", "%d", "arg0 != 0"),
        format("Other_Category:slow_ms", "%d", "arg0"),
        format("net_shop:queue_depth", "%d", "arg0"),
        format("net_shop:fetch_begin", "%d '%s'", "arg0, str(arg1, arg2)"),
        format("net_shop:instance_of", "%d %d", "arg0, arg1"),
        format("net_shop:load_entry", "%d", "arg0"),
        format("net_shop:load_exit", "%d", "arg0 < 60000000000"),
    ];
    let Some(out) = read(scratch, "", &script.concat(), "5") else { return };
    let mut lines: Vec<String> = out.lines().filter(|line| line.contains(":")).map(str::to_owned).collect();
    let mut expected = Vec::new();
    for i in 0..5_i64 {
        let text = format!("text {i}");
        let (even, side) = (i64::from(i % 2 == 0), -3);
        let name = if i % 2 == 0 { "even" } else { "(null)" };
        let number = i as f64;
        expected.extend([
            // A stream that is held evaluates one in each round, too.
            format!("net_shop:evaluated {}", 2 * i + 1),
            format!("net_shop:order_at {i} {:x}", (number / 8.0).to_bits()),
            format!("net_shop:of_is {i} '{name}' {} {:x}", name.len(), i << 40),
            format!("net_shop:numbers_small {} {} {} {} {even} x", -i, 200 + i, -300 - i, 60000 + i),
            format!(
                "net_shop:numbers_large {} {} {} ffffffffffffffff {:x} 1",
                -i,
                4_000_000_000_i64 + i,
                i64::MIN + i,
                (number as f32).to_bits()
            ),
            format!("net_shop:order_filled {i} {:x} '{text}' {side}", (number / 4.0).to_bits()),
            format!("net_shop:optional {even} {} {i} 7 {}", even * i, i * 1000),
            format!("net_shop:lists {i} {i} {i}"),
            format!("net_shop:shop_cpp_56 {i} '{text}'"),
            "net_shop:shop_cpp_73 9f 'held' 10".to_owned(),
            format!("net_shop:shop_cpp_76 'written {i}'"),
            format!("net_shop:held_begin 1 {i} '{text}'"),
            "net_shop:held_end 1".to_owned(),
            format!("Other_Category:slow_ms {i}"),
            format!("net_shop:queue_depth {i}"),
            format!("net_shop:fetch_begin {i} '{text}'"),
            format!("net_shop:instance_of {i} 1"),
            format!("net_shop:instance_of {i} 8"),
            format!("net_shop:load_entry {i}"),
            "net_shop:load_exit 1".to_owned(),
        ]);
    }
    lines.sort();
    expected.sort();
    assert_eq!(lines, expected, "{out}");
    assert!(out.contains("10 evaluated"), "{out}");
}

pub fn without_a_tracer_no_argument_is_evaluated(scratch: &Scratch) {
    let ended = end(&mut scratch.command("./shop", ["3"]));
    assert_eq!((ended.code(), &*ended.out), (Some(0), "0 evaluated\n"), "{}", ended.err);
}

/// The tracer was there before the programs. The library's span ends in the program: the probe and the record are of
/// this end, too.
fn a_tracer_of_a_library_sees_every_program_that_uses_it(scratch: &Scratch) {
    let script = r#"
        bpftrace -B line -e '
            usdt:./libpart.so:part:called { printf("library %d\n", arg0); }
            usdt:./libpart.so:part:owned_begin { printf("owned %d\n", arg1); }
            usdt:./libpart.so:part:owned_end { printf("ended %d\n", arg0 > 0); }' >library.out &
        times=0
        until [ "$(grep -E '^(library|owned|ended) [01]$' library.out | sort -u | wc -l)" = 5 ]; do
            ./shop 2
            times=$((times + 1))
            [ $times -lt 3000 ] || exit 1
            sleep 0.1
        done
        "$SILVERPOINT" run --quiet --filter trace -o owned.silver -- ./shop 2
        kill -INT $!
        wait $!
        cat library.out"#;
    let script = script.replace("$SILVERPOINT", env!("CARGO_BIN_EXE_silverpoint"));
    let Some(out) = traced(scratch, &script) else { return };
    // Its tracepoints are on alone: those of the program have a semaphore of their own.
    assert!(out.contains("library 0\n") && out.contains("library 1\n"), "{out}");
    assert!(out.contains("0 evaluated"), "{out}");
    let records = scratch.messages("owned.silver");
    assert_eq!(records.iter().filter(|text| text.starts_with("owned ")).count(), 4, "{records:?}");
}

/// A probe and a record of one call: the same values; the record is not made twice.
fn a_tracer_and_the_ring_get_the_same_call(scratch: &Scratch) {
    let run = format!("{} run --quiet --filter trace -o both.silver --", env!("CARGO_BIN_EXE_silverpoint"));
    let count = |probe: &str| format!("usdt:./shop:net_shop:{probe} {{ @{probe} = count(); }}\n");
    let probes = ["order_at", "shop_cpp_73", "shop_cpp_76", "held_begin", "held_end"];
    let Some(out) = read(scratch, &run, &probes.map(count).concat(), "50") else { return };
    assert!(out.contains("100 evaluated"), "{out}");
    for probe in probes {
        assert!(out.contains(&format!("@{probe}: 50\n")), "{probe}: {out}");
    }
    let records = scratch.messages("both.silver");
    let orders: Vec<&String> = records.iter().filter(|text| text.starts_with("order ")).collect();
    assert_eq!((orders.len(), &**orders[8]), (50, "order 8 at 1.00"));
    let count = |begin: &str| records.iter().filter(|text| text.starts_with(begin)).count();
    // The stream, and both ends of the span.
    assert_eq!((count("held "), count("written ")), (150, 50), "{records:?}");
}

const MESSAGE: &str = "silverpoint:message 1 8 8 8 8 4 8 8+";

/// What a tracer gets of `silverpoint:message`, a sorted line each. (The tracer has a buffer for each processor, so that
/// lines may come in another order.)
fn messages(scratch: &Scratch, words: &str) -> Option<Vec<String>> {
    let script = "usdt:./shop:silverpoint:message {\n\
        printf(\"%d %s '%s' %d %s\\n\", arg0, str(arg1, arg2), str(arg3, arg4), arg4, arg5 > 0 ? \"placed\" : \"-\");\n}\n";
    let out = read(scratch, "", script, words)?;
    let mut all: Vec<_> = out.lines().filter(|line| line.ends_with(" placed")).map(str::to_owned).collect();
    all.sort();
    Some(all)
}

/// Statements of Qt and what comes through its handler; one file of the program is compiled without probes.
#[test]
fn messages_of_qt_are_one_probe() {
    let scratch = Scratch::new();
    let found = Command::new("pkg-config").args(["--cflags", "--libs", "Qt6Core"]).output();
    let Some(flags) = found.ok().filter(|found| found.status.success()) else {
        return skipped!("Qt 6 is not installed (Debian: qt6-base-dev)");
    };
    let flags = String::from_utf8(flags.stdout).unwrap().replace("-I/", "-isystem/");
    let flags: Vec<&str> = flags.split_whitespace().collect();
    let headers: Vec<&str> = flags.iter().copied().filter(|flag| !flag.starts_with("-l")).collect();
    let options = ["-std=c++20", "-O1", "-fPIC", "-pthread"];
    let (silent, qt) = (source("qt_silent.cpp"), source("qt.cpp"));
    compile(&scratch, "g++", &[&options[..], &["-c", &silent, "-o", "silent.o"], &headers].concat());
    let program = [&options[..], &[&qt, "silent.o", "-o", "shop"], &flags].concat();
    for compiler in ["g++", "clang++-16"] {
        if !is_installed(compiler) {
            skipped!("{compiler} is not installed");
            continue;
        }
        compile(&scratch, compiler, &program);
        assert_eq!(probes(&scratch, "shop"), BTreeSet::from([MESSAGE.to_owned()]));
        let Some(lines) = messages(&scratch, "2") else { return };
        let mut expected = Vec::new();
        for i in 0..2 {
            let texts = [
                (1, "shop", format!("point QPoint({i},{}) \"\u{fc}\"", -i)),
                (3, "default", format!("{i} of nine")),
                (4, "elsewhere", format!("from elsewhere {i}")),
                // It ends with the variable.
                (2, "default", format!("held {i}")),
            ];
            expected.extend(
                texts.map(|(level, category, text)| {
                    format!("{level} {category} '{text}' {} placed", text.len())
                }),
            );
        }
        expected.sort();
        assert_eq!(lines, expected);
    }
}

#[test]
fn messages_of_glog_and_spdlog_are_one_probe() {
    let scratch = Scratch::new();
    compile(&scratch, "g++", &["-std=c++20", &source("facades.cpp"), "-o", "shop", "-pthread"]);
    assert_eq!(probes(&scratch, "shop"), BTreeSet::from([MESSAGE.to_owned()]));
    let Some(lines) = messages(&scratch, "2") else { return };
    let mut expected = Vec::new();
    for i in 0..2 {
        for (level, text) in
            [(2, format!("order {i} of Ada")), (3, format!("object {i}")), (4, format!("both {i}"))]
        {
            expected.push(format!("{level} glog '{text}' {} placed", text.len()));
        }
        for (level, text) in [
            (3, format!("order {i} at {:.2}", f64::from(i) / 4.0)),
            (4, "a literal: {}".to_owned()),
            (5, format!("object {i}")),
        ] {
            expected.push(format!("{level} net '{text}' {} placed", text.len()));
        }
    }
    expected.sort();
    assert_eq!(lines, expected);
}

/// The page of the guide: its program, and what the tools then show.
#[test]
fn the_page_is_true() {
    if !is_installed("perf") {
        return skipped!("perf is not installed (Debian: linux-perf)");
    }
    let page = std::fs::read_to_string(root().join("docs/guide/bpftrace-and-perf.md")).unwrap();
    let block = |language: &str| {
        let begin = format!("```{language}\n");
        page.split(&begin).nth(1).and_then(|rest| rest.split("```").next()).expect("a snippet").to_owned()
    };
    let scratch = Scratch::new();
    // The page's program has the switch itself.
    std::fs::write(scratch.path("shop.cpp"), block("cpp").replace("#define SILVERPOINT_USDT\n", "")).unwrap();
    compile(&scratch, "g++", &["-std=c++20", "-O2", "shop.cpp", "-o", "shop"]);
    // perf keeps what it knows of programs in the home directory.
    let after = "trap \"perf probe --quiet --del 'sdt_shop:*' || true\" EXIT";
    let script = format!("set -e\nexport HOME=\"$PWD\"\n{after}\n{}", block("sh"));
    let Some(out) = traced(&scratch, &script) else { return };
    for probe in ["order_of", "sold", "sell_entry", "sell_exit"] {
        assert!(
            out.contains(&format!("usdt:./shop:shop:{probe}\n")),
            "bpftrace does not list {probe}: {out}"
        );
        assert!(out.contains(&format!("  sdt_shop:{probe} ")), "perf does not list {probe}: {out}");
    }
    let sum = |first: i32| (first..400).step_by(2).map(|order| order % 7).sum::<i32>();
    assert!(out.contains(&format!("@amount[Ada]: {}\n", sum(0))), "{out}");
    assert!(out.contains(&format!("@amount[Grace]: {}\n", sum(1))), "{out}");
    assert!(out.contains("@ns:"), "{out}");
    assert_eq!(out.matches(" sdt_shop:sold: ").count(), 400, "{out}");
    assert!(out.contains(" arg1=399 arg2=0 "), "{out}");
}
