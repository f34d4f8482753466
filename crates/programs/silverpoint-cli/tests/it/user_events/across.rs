//! Spans that end in another thread than they began in.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use silverpoint_wire::layout::state;

use super::fed::{events, library, states};
use super::{CHECKED, compiled, etw, file};
use crate::harness::{Scratch, built, example, objects_of_c};
use crate::ticking::Ticking;

/// Threads end each other's spans, those of threads that have ended, others that have not begun, and more than
/// there is room for.
#[test]
fn ends_in_other_threads_have_the_activity_of_their_begin() {
    for program in [compiled("encode", "encode.cpp", CHECKED), etw::program()] {
        let output = Command::new(&program).arg("across").output().unwrap();
        assert!(output.status.success() && output.stdout == b"done\n", "{program:?}: {output:?}");
    }
}

fn judge(program: &Path) {
    for with_ring in [false, true] {
        let _ = judge_one(program, with_ring, None);
    }
}

/// What the program says on standard error, with a library to preload.
fn judge_one(program: &Path, with_ring: bool, preload: Option<&Path>) -> String {
    let scratch = Scratch::new();
    let path = scratch.path("events");
    let mut command = scratch.command(program, [""; 0]);
    command.env("SILVERPOINT_PROBES", "user_events").env("SILVERPOINT_USER_EVENTS_LIBRARY", library());
    command.env("EVENTS", &path).env("SILVERPOINT_FILTER", if with_ring { "trace" } else { "off" });
    let said = scratch.path("said");
    command.stderr(File::create(&said).unwrap());
    if let Some(library) = preload {
        command.env("LD_PRELOAD", library);
    }
    let mut program = Ticking::start(&mut command);
    let wanted = ["passed_entry", "passed_exit", "inside", "own", "behind", "last"];
    scratch.wait("the events of each tracepoint", || {
        program.tick();
        let found = events(&path);
        wanted.iter().all(|name| found.iter().any(|event| event.name == *name))
    });
    let is_on = |byte: &u8| byte & state::RING != 0;
    assert_eq!(states(&scratch, program.child.id()).0.iter().any(is_on), with_ring);
    let before = events(&path).len();
    (0..20).for_each(|_| program.tick());
    program.finish();
    let all = events(&path).split_off(before);
    assert_eq!(all.len(), 20 * 12, "{all:#?}");
    let mut known = Vec::new();
    for round in all.chunks(12) {
        let names: Vec<&str> = round.iter().map(|event| &*event.name).collect();
        assert_eq!(
            names,
            [
                "passed_entry",
                "inside",
                "passed_entry",
                "inside",
                "passed_exit",
                "own",
                "passed_exit",
                "behind",
                "passed_entry",
                "inside",
                "passed_exit",
                "last",
            ]
        );
        assert!(round.iter().all(|event| event.related.is_none()));
        let [one, two, three] = [0, 2, 8].map(|at: usize| round[at].activity);
        let found: Vec<_> = round.iter().map(|event| event.activity).collect();
        assert_eq!(found, [one, one, two, two, one, two, two, None, three, three, three, None]);
        let opcodes: Vec<u8> = round.iter().map(|event| event.opcode).collect();
        assert_eq!(opcodes, [1, 0, 1, 0, 2, 0, 2, 0, 1, 0, 2, 0]);
        known.extend([one, two, three].map(Option::unwrap));
    }
    // Each is another one.
    known.sort_unstable();
    known.dedup();
    assert_eq!(known.len(), 60);
    std::fs::read_to_string(said).unwrap()
}

#[test]
fn coroutines_in_cpp_end_their_spans_in_other_threads() {
    let program = built("across", "g++", &["-std=c++20", "-O0", &file("across.cpp"), "-pthread"]);
    judge(&program);
}

#[test]
fn spans_in_c_end_in_other_threads() {
    let objects = objects_of_c();
    let program =
        built("across-in-c", "gcc", &["-O2", &file("across.c"), &objects[0], &objects[1], "-pthread"]);
    judge(&program);
}

/// A span has its USDT probes, its events and its records at once.
#[cfg(target_arch = "x86_64")]
#[test]
fn spans_in_c_with_usdt_end_in_other_threads() {
    let objects = objects_of_c();
    let words = ["-O2", "-DSILVERPOINT_USDT", &file("across.c"), &objects[0], &objects[1], "-pthread"];
    let program = built("across-with-usdt", "gcc", &words);
    let tracer = built("uprobes.so", "gcc", &["-O2", "-fPIC", "-shared", &crate::usdt::source("uprobes.c")]);
    for with_ring in [false, true] {
        let said = judge_one(&program, with_ring, Some(&tracer));
        let hits = |probe: &str| said.lines().filter(|line| line.starts_with(probe)).count();
        assert!(hits("shop:behind") > 20, "{said}");
        assert_eq!(
            [hits("shop:passed_entry "), hits("shop:passed_exit "), hits("shop:own ")],
            [3, 3, 1].map(|each| each * hits("shop:behind"))
        );
    }
}

#[test]
fn spans_in_rust_end_in_other_threads() {
    judge(&example("across"));
}
