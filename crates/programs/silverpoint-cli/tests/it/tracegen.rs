//! `silverpoint tracegen`: what it writes is compiled, and fires; its records are compared with what was given.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use silverpoint_tests::skipped;

use crate::harness::{Scratch, compile, end};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tracegen").join(name)
}

/// The first block of a language in the page of the guide.
fn block(language: &str) -> String {
    let page = std::fs::read_to_string(root().join("docs/guide/tracegen.md")).unwrap();
    let (_, rest) = page.split_once(&format!("```{language}\n")).unwrap();
    rest.split("```").next().unwrap().to_owned()
}

/// Whether Qt's headers are there.
fn has_qt() -> bool {
    let known =
        ["/usr/include/x86_64-linux-gnu/qt6", "/usr/include/aarch64-linux-gnu/qt6", "/usr/include/qt6"];
    known.iter().any(|path| Path::new(path).join("QtCore/qstring.h").is_file())
}

/// Name and arguments of all records.
fn records(scratch: &Scratch, trace: &str) -> Vec<(String, Value)> {
    let cat = scratch.run(["cat", "--json", "--quiet", trace]);
    assert_eq!(cat.code(), Some(0), "{cat:?}");
    let record = |line: &str| {
        let record: Value = serde_json::from_str(line).unwrap();
        (record["template"].as_str().unwrap().to_owned(), record["args"].clone())
    };
    cat.out.lines().map(record).collect()
}

#[test]
fn the_page_of_the_guide_shows_what_happens_and_rust_records_the_same() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("shop.tracepoints"), block("text")).unwrap();
    std::fs::write(scratch.path("main.cpp"), block("cpp")).unwrap();
    let here = Path::new(env!("CARGO_BIN_EXE_silverpoint")).parent().unwrap();
    let path = format!("{}:{}", here.display(), std::env::var("PATH").unwrap());
    let mut command = scratch.command("sh", ["-c", &format!("set -eu\n{}", block("sh"))]);
    let ended = end(command.env("PATH", path).env("CPLUS_INCLUDE_PATH", root().join("cpp/include")));
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    // As the page has it, but for time and process.
    let shown = |text: &str| -> Vec<String> {
        text.lines().filter_map(|line| Some(line.split_once(" shop  ")?.1.to_owned())).collect()
    };
    assert_eq!(shown(&ended.out), shown(&block("console")));
    assert_eq!(shown(&ended.out).len(), 4);
    let module = scratch.run(["tracegen", "--rust", "shop.tracepoints"]);
    assert_eq!(module.code(), Some(0), "{module:?}");
    // The module that `subject` has compiled. To renew it: the command above with `-o`.
    assert_eq!(module.out, std::fs::read_to_string(data("shop.rs")).unwrap());
    let subject = crate::harness::subject();
    let run = scratch.run([
        "run",
        "--quiet",
        "--filter",
        "debug",
        "-o",
        "rust.silver",
        "--",
        subject.to_str().unwrap(),
        "shop",
    ]);
    assert_eq!(run.code(), Some(0), "{run:?}");
    let in_cpp = records(&scratch, "shop.silver");
    assert_eq!(in_cpp.len(), 4);
    assert_eq!(records(&scratch, "rust.silver"), in_cpp);
}

/// Definitions whose code is compiled as it is written.
const EDGES: &str = "provider p\nenum Big { low = 1, high = 18446744073709551615, top = 18446744073709551615 }\nf(b: Big, all: [pointer], some: [?pointer])\n\
    moved(std::string &&text)\nseen(const volatile char *v, int a)\n";
/// As a version of Qt's private header that is switched off, and lacks the macros of definitions.
const OLD_HEADER: &str = "#pragma once\n#define Q_HAS_TRACEPOINTS 0\n#define Q_TRACE(x, ...)\n#define Q_TRACE_EXIT(x, ...)\n\
    #define Q_TRACE_SCOPE(x, ...)\n#define Q_UNCONDITIONAL_TRACE(x, ...)\n#define Q_TRACE_ENABLED(x) false\n";
const EDGES_MAIN: &str = r#"
#include <private/qtrace_p.h>
#include "edges.h"
#include "old.h"
Q_TRACE_POINT(old, old, int number)
int main() {
    Q_TRACE(old, 7);
    const void* const all[] = {nullptr};
    const std::optional<const void*> some[] = {{}};
    // Whether a tracepoint is on is a question about itself.
    if (p::trace_f_enabled()) p::do_trace_f(p::Big::high, all, some);
    if (p::trace_moved_enabled()) return 1;
    p::do_trace_moved(std::string("text"));
    p::trace_seen(nullptr, {});
}
"#;

#[test]
fn one_site_answers_whether_it_is_on_and_records() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("edges.tracepoints"), EDGES).unwrap();
    std::fs::write(scratch.path("main.cpp"), EDGES_MAIN).unwrap();
    let header = scratch.run(["tracegen", "edges.tracepoints", "-o", "edges.h"]);
    assert_eq!(header.code(), Some(0), "{header:?}");
    std::fs::create_dir(scratch.path("private")).unwrap();
    std::fs::write(scratch.path("private/qtrace_p.h"), OLD_HEADER).unwrap();
    std::fs::write(scratch.path("old.tracepoints"), "old(int number)\n").unwrap();
    assert_eq!(scratch.run(["tracegen", "old.tracepoints", "-o", "old.h"]).code(), Some(0));
    let include = format!("-I{}", root().join("cpp/include").display());
    let options =
        ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-Wshadow", "-I.", &include, "main.cpp", "-o", "edges"];
    compile(&mut scratch.command("c++", options));
    let run = scratch.run([
        "run",
        "--quiet",
        "--filter",
        "off,p::trace_f()=on",
        "-o",
        "one.silver",
        "--",
        "./edges",
    ]);
    assert_eq!(run.code(), Some(0), "{run:?}");
    let found = records(&scratch, "one.silver");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].1["b"], "high");
    // The site's description has no sign before the label's value, as Rust has it.
    let header = std::fs::read_to_string(scratch.path("edges.h")).unwrap();
    assert!(header.contains("is_unsigned = true"), "{header}");
    let run = scratch.run(["run", "--quiet", "--filter", "debug", "-o", "all.silver", "--", "./edges"]);
    assert_eq!(run.code(), Some(1), "{run:?}");
    let found = records(&scratch, "all.silver");
    assert_eq!(found.first(), Some(&("old".to_owned(), json!({"number": 7}))), "{found:?}");
}

/// A program that gets its tracepoints by the function for CMake.
const PROJECT: &str = r#"
cmake_minimum_required(VERSION 3.20)
project(app LANGUAGES CXX)
set(SILVERPOINT_C OFF)
set(SILVERPOINT_LTTNG OFF)
add_subdirectory(${SOURCES} silverpoint)
find_package(Qt6 6.2 REQUIRED COMPONENTS Core)
add_executable(program ${DATA}/qt.cpp)
target_compile_options(program PRIVATE -Wall -Wextra -Werror -Wshadow)
target_link_libraries(program Qt6::Core)
silverpoint_tracegen(program ${DATA}/qtdemo.tracepoints)
silverpoint_tracegen(program PROVIDER editor ${DATA}/qt.cpp)
"#;

#[test]
fn definitions_of_qt_compile_and_record_what_they_are_given() {
    if !has_qt() {
        return skipped!("Qt 6 is not installed (Debian: qt6-base-dev)");
    }
    let scratch = Scratch::new();
    std::fs::write(scratch.path("CMakeLists.txt"), PROJECT).unwrap();
    let define = |name: &str, value: &Path| format!("-D{name}={}", value.display());
    let mut configure = scratch.command("cmake", ["-S", ".", "-B", "build", "-DCMAKE_CXX_COMPILER=g++"]);
    configure.args([define("SOURCES", &root()), define("DATA", &data(""))]);
    configure.arg(define("SILVERPOINT_PROGRAM", Path::new(env!("CARGO_BIN_EXE_silverpoint"))));
    compile(&mut configure);
    compile(&mut scratch.command("cmake", ["--build", "build"]));
    // A change of a header that AUTO has read makes the header again, too.
    let rule =
        std::fs::read_to_string(scratch.path("build/program_tracegen/editor_tracepoints_p.h.d")).unwrap();
    assert!(rule.contains("qcoreevent.h"), "{rule}");
    let run = scratch.run(["run", "--quiet", "--filter", "debug", "-o", "qt.silver", "--", "build/program"]);
    assert_eq!(run.code(), Some(0), "{run:?}");
    let mut found = records(&scratch, "qt.silver");
    // An address is what it is.
    for (name, arguments) in &mut found {
        for key in ["event", "view"].into_iter().filter(|_| name != "QObject_dtor") {
            if let Some(address) = arguments.get_mut(key).filter(|address| **address != "0x0") {
                assert!(address.as_str().unwrap().starts_with("0x7"), "{address}");
                *address = json!("address");
            }
        }
    }
    let expected = [
        ("QFactoryLoader_update", json!({"fileName": "plugä.so"})),
        ("QLibraryPrivate_load_entry", json!({"fileName": ""})),
        ("QLibraryPrivate_load_exit", json!({"success": true})),
        ("QEvent_ctor", json!({"event": "address", "type": 1})),
        ("QCoreApplication_postEvent_exit", json!({})),
        ("QObject_dtor", json!({"object": "0x0"})),
        (
            "qt_message_print",
            json!({"type": 1, "category": "net", "function": "(null)", "file": "a.cpp", "line": 7, "message": "text"}),
        ),
        ("qcoreapplication_foo", json!({"argc": 2, "argv": "first", "values": [1, -2, 3]})),
        ("qcoreapplication_baz", json!({"some_string": "some", "len": 4, "list": [0.5, 1.5], "count": 2})),
        ("qcoreapplication_baz", json!({"some_string": "", "len": 4, "list": [], "count": -1})),
        (
            "qcoreapplication_moved",
            json!({"from": {"x": 1, "y": 2, "width": 3, "height": 4}, "to": {"x": 5, "y": 6, "width": 7, "height": 8}}),
        ),
        (
            "qcoreapplication_mixed",
            json!({"data": "610062", "url": "http://a/b", "button": "OtherButton", "modifiers": "ShiftModifier|ControlModifier", "point": {"x": 1, "y": 2.5}}),
        ),
        ("View_event", json!({"view": "address", "type": "Timer"})),
        ("View_event", json!({"view": "0x0", "type": "User"})),
        ("Document_load_entry", json!({"name": "name", "text": 12})),
        ("Document_load_exit", json!({})),
    ];
    let expected: Vec<(String, Value)> =
        expected.into_iter().map(|(name, arguments)| (name.to_owned(), arguments)).collect();
    assert_eq!(found, expected);
}

/// Name and parameters of each function of a header, without blanks and `const`.
fn functions(header: &str) -> Vec<String> {
    let mut all: Vec<String> = header
        .lines()
        .filter_map(|line| line.strip_prefix("inline "))
        .map(|line| {
            line.split('{').next().unwrap().replace(' ', "").replace("const", "").replace("given_", "")
        })
        .collect();
    all.sort();
    all
}

#[test]
fn the_functions_are_those_of_the_tracegen_of_qt() {
    let theirs = Path::new("/usr/lib/qt6/libexec/tracegen");
    if !theirs.exists() {
        return skipped!("Qt's tracegen is not installed (Debian: qt6-base-dev-tools)");
    }
    let scratch = Scratch::new();
    // What stands before the first enumeration: older versions know none.
    let definitions = std::fs::read_to_string(data("qtdemo.tracepoints")).unwrap();
    let text = definitions.split("ENUM").next().unwrap();
    let more = "a(const char[len] some, unsigned int len, int[3] three, QRect rect)\nb(std::uintptr_t at, long long int far)\n";
    std::fs::write(scratch.path("plain.tracepoints"), format!("{text}\n{more}")).unwrap();
    let ended = end(&mut scratch.command(theirs, ["lttng", "plain.tracepoints", "theirs.h"]));
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let ours = scratch.run(["tracegen", "plain.tracepoints"]);
    assert_eq!(ours.code(), Some(0), "{ours:?}");
    let theirs = functions(&std::fs::read_to_string(scratch.path("theirs.h")).unwrap());
    assert_eq!(theirs.len(), 3 * 9);
    assert_eq!(functions(&ours.out), theirs);
}

#[test]
fn mistakes_are_reported_by_place_and_nothing_is_written() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("a.tracepoints"), "fine(int a)\nbad(int)\nworse(const QString &)\n").unwrap();
    let ended = scratch.run(["tracegen", "a.tracepoints", "-o", "a.h"]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    let expected = "a.tracepoints:2:5: expected a type and a name, as in `int count`\n\
                    a.tracepoints:3:22: expected a name behind the type, as in `int count`\n";
    assert_eq!(ended.err, expected);
    assert!(!scratch.path("a.h").exists());
    std::fs::write(scratch.path("a.tracepoints"), "fine(int a)\n").unwrap();
    assert_eq!(scratch.run(["tracegen", "a.tracepoints", "-o", "a.h"]).code(), Some(0));
    // An existing file is replaced on request.
    assert_eq!(scratch.run(["tracegen", "a.tracepoints", "-o", "a.h"]).code(), Some(1));
    assert_eq!(scratch.run(["tracegen", "a.tracepoints", "-o", "a.h", "--force"]).code(), Some(0));
    assert_eq!(scratch.run(["tracegen"]).code(), Some(2));
    assert_eq!(scratch.run(["tracegen", "missing.tracepoints"]).code(), Some(1));
    std::fs::write(scratch.path("none.cpp"), "int main() {}\n").unwrap();
    let none = scratch.run(["tracegen", "--provider", "x", "none.cpp"]);
    assert_eq!(none.code(), Some(1));
    assert_eq!(none.err, "silverpoint: none.cpp: it defines no tracepoint of the provider x\n");
}
