//! USDT probes of ATrace's calls: the notes, and what a tracer that is attached reads.

use std::collections::BTreeSet;

use crate::crates;
use crate::harness::{Scratch, end};
use crate::kernel::is_installed;
use crate::usdt::{compile, probes, read, source};

const CALLS: [&str; 9] = [
    "begin",
    "end",
    "async_begin",
    "async_end",
    "track_begin",
    "track_end",
    "instant",
    "track_instant",
    "counter",
];
const ROUNDS: i64 = 5;

/// Of `./shop`, which makes the calls of `usdt/atrace.rs`.
fn a_tracer_reads_each_call(scratch: &Scratch) {
    let all = CALLS.map(|call| format!("silverpoint:atrace_{call} 8 8 8 -8 8 8+"));
    assert_eq!(probes(scratch, "shop"), BTreeSet::from(all));
    let ended = end(&mut scratch.command("./shop", ["3"]));
    assert_eq!((ended.code(), &*ended.out), (Some(0), "0 formatted\n"), "{}", ended.err);

    let each = CALLS.map(|call| {
        let values = "arg0, str(arg1, arg2), arg3, str(arg4, arg5)";
        format!("usdt:./shop:silverpoint:atrace_{call} {{ printf(\"{call} %d '%s' %ld '%s' .\\n\", {values}); }}\n")
    });
    let rounds = ROUNDS.to_string();
    let Some(out) = read(scratch, "", &each.concat(), &rounds) else { return };
    assert!(out.contains("5 formatted"), "names are formatted while a tracer is attached: {out}");
    let (stored, mut lines): (Vec<&str>, Vec<&str>) =
        out.lines().filter(|line| line.ends_with(" .")).partition(|line| line.contains("'stored'"));
    let mut expected = Vec::new();
    for i in 0..ROUNDS {
        expected.extend([
            "begin 4096 'outer' 0 '' .".to_owned(),
            format!("async_begin 4096 'upload' {i} '' ."),
            format!("track_begin 2097152 'part' {i} 'track' ."),
            "begin 8 'draw' 0 '' .".to_owned(),
            format!("counter 8 'frame' {} '' .", -i),
            "end 8 '' 0 '' .".to_owned(),
            format!("begin 4096 'frame {i}' 0 '' ."),
            format!("counter 4096 'large' {} '' .", i64::MIN + i),
            "end 4096 '' 0 '' .".to_owned(),
            "instant 4096 'point' 0 '' .".to_owned(),
            "track_instant 2097152 'on it' 0 'track' .".to_owned(),
            format!("track_end 2097152 '' {i} 'track' ."),
            format!("async_end 4096 'upload' {i} '' ."),
            "end 4096 '' 0 '' .".to_owned(),
        ]);
    }
    lines.sort_unstable();
    expected.sort_unstable();
    assert_eq!(lines, expected, "{out}");
    // Its cookies are its own: a begin and an end of each.
    let cookies_of = |call: &str| {
        let begin = format!("{call} 4096 'stored' ");
        stored.iter().filter_map(|line| line.strip_prefix(&*begin)).collect::<BTreeSet<_>>()
    };
    assert_eq!((cookies_of("async_begin").len(), stored.len()), (5, 10), "{out}");
    assert_eq!(cookies_of("async_begin"), cookies_of("async_end"));

    // The ring has the same records as without a tracer, each call once.
    let run = format!("{} run --quiet --filter atrace=info -o", env!("CARGO_BIN_EXE_silverpoint"));
    let alone = end(&mut scratch.command("sh", ["-c", &format!("{run} alone.silver -- ./shop {rounds}")]));
    assert_eq!(alone.code(), Some(0), "{}", alone.err);
    if read(scratch, &format!("{run} both.silver --"), &each.concat(), &rounds).is_some() {
        let [alone, both] = ["alone.silver", "both.silver"].map(|file| scratch.messages(file).len());
        assert!(alone >= 16 * 5, "{alone}");
        assert_eq!(both, alone);
    }
}

#[test]
fn calls_of_atrace_in_rust_are_nine_probes() {
    let scratch = Scratch::new();
    let built = crates::cargo(&scratch, "build", &["-p", "atrace"]).join("debug/atrace");
    std::fs::copy(built, scratch.path("shop")).unwrap();
    a_tracer_reads_each_call(&scratch);
}

/// One file of the program is compiled without probes.
#[test]
fn calls_of_atrace_in_cpp_are_nine_probes() {
    for (compiler, optimised) in [("g++", "-O0"), ("g++", "-O2"), ("clang++-16", "-O1")] {
        if !is_installed(compiler) {
            silverpoint_tests::skipped!("{compiler} is not installed");
            continue;
        }
        let scratch = Scratch::new();
        let (own, silent) = (source("atrace.cpp"), source("atrace_silent.cpp"));
        // (The file without probes is the first that the linker sees.)
        let words = ["-std=c++20", optimised, &silent, &own, "-o", "shop", "-pthread"];
        compile(&scratch, compiler, &words);
        a_tracer_reads_each_call(&scratch);
    }
}
