//! Both outputs of ATrace, of a program in Rust and of one in C++. `convert` turns the contents of a ring
//! into the text that the kernel was given, and into Perfetto's events.

use std::path::{Path, PathBuf};

use crate::harness::{Scratch, compile, end, example};

/// The messages of a text as the kernel shows it.
fn messages(text: &str) -> Vec<&str> {
    text.lines()
        .filter_map(|line| line.split_once(": tracing_mark_write: "))
        .map(|(_, message)| message)
        .collect()
}

/// The program in C++, compiled.
fn cpp_program(scratch: &Scratch) -> PathBuf {
    let cpp = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../cpp");
    let program = scratch.path("atraced");
    let mut command =
        scratch.command("g++", ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", "-pthread"]);
    command.arg("-I").arg(cpp.join("include")).arg(cpp.join("tests/atraced.cpp")).arg("-o").arg(&program);
    compile(&mut command);
    program
}

/// Traces into both outputs; gives what the kernel was given. `t.silver` has the rest.
fn trace(scratch: &Scratch, program: &Path, seed: u32) -> Vec<String> {
    let mut command = scratch.silverpoint(["run", "-o", "t.silver", "--filter", "atrace=info", "--"]);
    command
        .arg(program)
        .args([&seed.to_string(), "6000"])
        .env("SILVERPOINT_ATRACE_MARKER", scratch.path("marker"))
        .env("debug.atrace.tags.enableflags", "0x1002");
    std::fs::write(scratch.path("marker"), "").unwrap();
    let ended = end(&mut command);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let text = std::fs::read_to_string(scratch.path("marker")).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn convert(scratch: &Scratch, format: &str) -> PathBuf {
    let output = scratch.path("converted");
    let _ = std::fs::remove_file(&output);
    let ended = scratch.run(["convert", "--to", format, "t.silver", "converted"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    output
}

fn is_the_kernels_to_the_byte(scratch: &Scratch, program: &Path) {
    for seed in 1..=4 {
        let of_kernel = trace(scratch, program, seed);
        let of_ring = std::fs::read_to_string(convert(scratch, "systrace")).unwrap();
        let of_ring = messages(&of_ring);
        let wrong = of_kernel.iter().zip(&of_ring).position(|(kernel, ring)| kernel != ring);
        let at = wrong.map(|at| (of_kernel[at].as_str(), of_ring[at]));
        assert_eq!(at, None, "seed {seed}, message {wrong:?}");
        assert_eq!(of_ring.len(), of_kernel.len(), "seed {seed}");
        assert!(of_kernel.len() > 6000, "seed {seed}: {}", of_kernel.len());
    }
}

#[test]
fn a_converted_ring_has_every_message_of_the_kernels_to_the_byte() {
    is_the_kernels_to_the_byte(&Scratch::new(), &example("atraced"));
}

#[test]
fn a_converted_ring_of_cpp_has_every_message_of_the_kernels_to_the_byte() {
    let scratch = Scratch::new();
    is_the_kernels_to_the_byte(&scratch, &cpp_program(&scratch));
}

/// As messages have it: `|` becomes `/`, a control character a space.
fn safe(text: &str) -> String {
    let change = |c: char| match c {
        '|' => '/',
        c if c.is_ascii_control() => ' ',
        c => c,
    };
    text.chars().map(change).collect()
}

/// A message as Perfetto shows it, and an event of Perfetto's the same way: type, and track, name and value where they belong to it. `None`: names were cut.
fn shown(message: &str) -> Option<String> {
    if message.len() >= 1000 {
        return None;
    }
    let parts: Vec<&str> = message.split('|').collect();
    Some(match parts[..] {
        ["B", _, name] => format!("begin {name}"),
        ["E", _] => "end".to_owned(),
        ["I", _, name] => format!("instant {name}"),
        ["N", _, track, name] => format!("instant {track} {name}"),
        ["C", _, name, value] => format!("counter {name} {value}"),
        ["S", _, name, _] => format!("begin {name} {name}"),
        ["F", _, name, _] => format!("end {name}"),
        ["G", _, track, name, _] => format!("begin {track} {name}"),
        ["H", _, track, _] => format!("end {track}"),
        _ => panic!("{message}"),
    })
}

fn shown_by_perfetto(event: &serde_json::Value, letter: char) -> String {
    let text = |key: &str| safe(event[key].as_str().unwrap_or_default());
    let kind = event["type"].as_str().unwrap();
    match letter {
        'B' | 'I' => format!("{kind} {}", text("name")),
        'E' => kind.to_owned(),
        'N' => format!("{kind} {} {}", safe(event["args"]["track"].as_str().unwrap()), text("name")),
        'C' => format!("{kind} {} {}", text("track"), event["value"]),
        'S' | 'G' => format!("{kind} {} {}", text("track"), text("name")),
        _ => format!("{kind} {}", text("track")),
    }
}

#[test]
fn perfetto_shows_what_the_kernel_was_given() {
    let judge = std::env::var_os("SILVERPOINT_JUDGES").filter(|path| !path.is_empty());
    let Some(python) = judge else {
        silverpoint_tests::skipped!(
            "SILVERPOINT_JUDGES names no Python with Perfetto's schema (scripts/judges)"
        );
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../read/silverpoint-convert/tests/judges/perfetto_trace.py");
    let scratch = Scratch::new();
    for program in [example("atraced"), cpp_program(&scratch)] {
        let of_kernel = trace(&scratch, &program, 5);
        let trace = std::fs::File::open(convert(&scratch, "perfetto")).unwrap();
        let output = scratch.command(&python, [&script]).stdin(trace).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let events: Vec<serde_json::Value> = String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .filter(|one: &serde_json::Value| one["type"].is_string())
            .collect();
        let mut compared = 0;
        for (message, event) in of_kernel.iter().zip(&events) {
            // (Of those that were cut others are not known by what is left of them.)
            let Some(expected) = shown(message) else { continue };
            let found = shown_by_perfetto(event, message.chars().next().unwrap());
            assert_eq!(found, expected, "{message:?}: {event}");
            compared += 1;
        }
        assert_eq!(events.len(), of_kernel.len());
        assert!(compared > 5000, "{compared}");
    }
}
