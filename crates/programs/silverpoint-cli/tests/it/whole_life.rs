//! A C++ program under `run`, from before its main to after it, with plug-ins and a thread that outlives
//! main. Texts of every kind go through the whole way. Compiled with both compilers, with all warnings,
//! without exceptions and type information.

use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{self, Scratch};
use crate::kernel::is_installed;

const COMPILERS: [&str; 2] = ["g++", "clang++-16"];

/// Compiles the program and the plug-in.
fn compile(scratch: &Scratch, compiler: &str) {
    let cpp = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../cpp");
    let source = |name: &str| cpp.join("tests").join(name);
    let calls = [
        (&["-o", "whole_life"][..], vec![source("whole_life.cpp"), source("life_part.cpp")]),
        (&["-fPIC", "-shared", "-o", "libplugin.so"], vec![source("plugin.cpp")]),
    ];
    for (words, sources) in calls {
        let mut command = scratch.command(compiler, ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror"]);
        command.args(["-fno-exceptions", "-fno-rtti", "-I"]).arg(cpp.join("include"));
        harness::compile(command.args(words).args(sources).args(["-lpthread", "-ldl"]));
    }
}

/// What the program records in this order, but for the thread that outlives main.
const LIFE: [&str; 27] = [
    "early constructor",
    "static constructor",
    "main",
    "part",
    "plugin constructor",
    "plugin.template value=1",
    "plugin stream 1",
    "plugin.template value=[\"x\"]",
    "plugin stream [\"x\"]",
    "plugin.span number=1",
    "plugin 1",
    "plugin.span done",
    "plugin destructor",
    "unloaded",
    "plugin constructor",
    "plugin.template value=2",
    "plugin stream 2",
    "plugin.template value=[\"x\"]",
    "plugin stream [\"x\"]",
    "plugin.span number=2",
    "plugin 2",
    "plugin.span done",
    "thread destructor",
    "atexit",
    "plugin destructor",
    "static destructor",
    "late destructor",
];

fn life(scratch: &Scratch, compiler: &str) {
    std::fs::write(scratch.path("count"), [0; 8]).unwrap();
    let trace = format!("life-{compiler}.silver");
    let ended = scratch.run(["run", "-o", &trace, "--", "./whole_life", "./libplugin.so", "count"]);
    assert_eq!(ended.code(), Some(0), "{compiler}: {ended:?}");
    assert!(ended.err.contains("no losses"), "{compiler}: {}", ended.err);
    let messages = scratch.messages(&trace);
    let (outlives, others): (Vec<_>, Vec<_>) =
        messages.iter().partition(|message| message.starts_with("outlives "));
    // How long it took is not of interest.
    let until_done = |message: &String| message.find(" done").map_or(message.len(), |at| at + " done".len());
    let others: Vec<&str> = others.into_iter().map(|message| &message[..until_done(message)]).collect();
    assert_eq!(others, LIFE, "{compiler}");
    for (number, message) in outlives.iter().enumerate() {
        assert_eq!(**message, format!("outlives {number}"), "{compiler}");
    }
    // Calls that returned before the process ended; one more may have recorded, and not counted it yet.
    let returned = u64::from_le_bytes(std::fs::read(scratch.path("count")).unwrap().try_into().unwrap());
    assert!(returned >= 300, "{compiler}: {returned}");
    let recorded = outlives.len() as u64;
    assert!(recorded == returned || recorded == returned + 1, "{compiler}: {recorded} of {returned}");
    // It recorded after main had returned.
    let at = |wanted: &str| messages.iter().position(|message| message == wanted).unwrap();
    let after = messages[at("static destructor")..].iter().filter(|message| message.starts_with("outlives "));
    assert!(after.count() >= 100, "{compiler}");
    assert!(scratch.left().is_empty(), "{compiler}: {:?}", scratch.left());
}

/// Text and arguments of what the program records as texts.
fn expected_texts() -> Vec<(&'static str, Value)> {
    let halves = ("a\u{FFFD}b\u{FFFD}\u{1F600}\u{FFFD}", json!(["a\u{FFFD}b\u{FFFD}\u{1F600}\u{FFFD}"]));
    let wide = ("a\u{FFFD}\u{FFFD}\u{1F600}", json!(["a\u{FFFD}\u{FFFD}\u{1F600}"]));
    let face = ("\u{1F600}", json!(["\u{1F600}"]));
    let whole = ("a\\x00b", json!(["a\0b"]));
    let first = ("a", json!(["a"]));
    let mut all = vec![halves; 4];
    all.push(("grüße \u{1F600}", json!(["grüße \u{1F600}"])));
    all.extend(std::iter::repeat_n(wide, 4));
    all.push(("漢字 \u{1F600}", json!(["漢字 \u{1F600}"])));
    all.push(("(null)", json!(["(null)"])));
    all.extend(std::iter::repeat_n(face, 6));
    all.push(("\u{1F600} € \u{1F600} x", json!(["\u{1F600}", "€", "\u{1F600}", "x"])));
    all.push(("[\"\u{1F600}\", \"\"]", json!([["\u{1F600}", ""]])));
    all.push(("{\"ké\": \"\u{1F600}\"}", json!([{"ké": "\u{1F600}"}])));
    all.push(("w", json!(["w"])));
    all.push(("(\"w\", \"s\", \"e\")", json!([["w", "s", "e"]])));
    all.push(("stream w\u{1F600} s\u{1F600}", json!(["w\u{1F600}", "s\u{1F600}"])));
    all.extend([whole.clone(), whole.clone(), first.clone()]);
    for _ in ["UTF-16", "wide", "UTF-32", "UTF-8"] {
        all.extend([whole.clone(), first.clone()]);
    }
    all.push(("line\\nnext\\x1b[31m", json!(["line\nnext\x1b[31m"])));
    all
}

fn texts(scratch: &Scratch, compiler: &str) {
    let trace = format!("texts-{compiler}.silver");
    let ended = scratch.run(["run", "-q", "-o", &trace, "--", "./whole_life"]);
    assert_eq!(ended.code(), Some(0), "{compiler}: {ended:?}");
    let cat = |words: &[&str]| {
        let whose = ["--function", "texts", trace.as_str()];
        let ended = scratch.run(["cat"].iter().chain(words).chain(&whose));
        assert_eq!((ended.code(), ended.err.as_str()), (Some(0), ""), "{compiler}: {ended:?}");
        ended.out
    };
    let expected = expected_texts();
    let shown = cat(&["--pattern", "{message}"]);
    assert_eq!(shown.lines().collect::<Vec<_>>(), expected.iter().map(|one| one.0).collect::<Vec<_>>());
    let objects = cat(&["--json"]);
    let arguments: Vec<Value> =
        objects.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["args"].clone()).collect();
    assert_eq!(arguments, expected.into_iter().map(|one| one.1).collect::<Vec<_>>(), "{compiler}");
}

#[test]
fn a_cpp_program_is_recorded_from_before_main_to_after_it_and_its_texts_are_right() {
    let scratch = Scratch::new();
    for compiler in COMPILERS {
        if !is_installed(compiler) {
            silverpoint_tests::skipped!("{compiler} is not installed");
            continue;
        }
        compile(&scratch, compiler);
        life(&scratch, compiler);
        texts(&scratch, compiler);
    }
}
