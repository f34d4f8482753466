//! Lines in the kernel's trace_marker, or in a file that stands for it, from tracepoints in C++ and Rust.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use silverpoint_wire::layout::control::at;

use crate::harness::{Scratch, built, example};
use crate::kernel;
use crate::ticking::Ticking;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn compiled(name: &str, words: &[&str]) -> PathBuf {
    let strict = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-pthread"];
    built(name, "g++", &[&strict[..], words].concat())
}

/// The library as it is installed.
fn library() -> PathBuf {
    let file = root().join("cpp/src/silverpoint_trace_marker.cpp");
    let options = ["-O2", "-fPIC", "-shared", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden"];
    compiled("library.so", &[&options[..], &[file.to_str().unwrap()]].concat())
}

fn marked() -> PathBuf {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/trace_marker/marked.cpp");
    compiled("marked", &["-O0", file.to_str().unwrap()])
}

fn ctl(scratch: &Scratch, program: &Ticking, words: &[&str]) {
    let pid = program.child.id().to_string();
    let ended = scratch.run([&["ctl", &pid][..], words].concat());
    assert_eq!(ended.code(), Some(0), "{}", ended.err);
}

/// The control file of a program's session.
fn control(scratch: &Scratch, program: &Ticking) -> PathBuf {
    let pid = format!("{}-", program.child.id());
    let mut sessions = std::fs::read_dir(scratch.root()).unwrap().map(|entry| entry.unwrap().path());
    let of_child = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(&pid);
    sessions.find(of_child).unwrap().join("control")
}

/// What was written, with `PID` for the process.
fn written(marker: &Path, program: &Ticking) -> Vec<String> {
    let text = std::fs::read_to_string(marker).unwrap_or_default();
    let pid = format!("|{}", program.child.id());
    text.lines().map(|line| line.replacen(&pid, "|PID", 1)).collect()
}

/// The lines of one round; of the spans only while these are on.
fn round(i: u32, has_spans: bool) -> Vec<String> {
    let name = format!("A/ {i}");
    let half = f64::from(i) / 2.0;
    let mut lines = vec![
        format!("I|PID|info shop: order {i} at 0.5 of {name}: {{}}"),
        format!("I|PID|warn shop: {i} of nine, 2.5%"),
        format!("I|PID|info shop: sold, i={i}, name={name}, parts=[{i},1]"),
    ];
    if has_spans {
        lines.push(format!("C|PID|depth|{half}"));
        lines.push(format!("B|PID|sell, i={i}, name={name}"));
    }
    lines.push(format!("I|PID|error shop: within {i} true {{\"request\":{i}}}"));
    if has_spans {
        lines.extend(["E|PID", "S|PID|fetch|ID", "F|PID|fetch|ID"].map(str::to_owned));
    }
    lines
}

/// Compares the lines of a round; the last is cut, and the ids of an async span are alike.
fn same(lines: &[String], wanted: &[String]) {
    let (last, lines) = lines.split_last().unwrap();
    assert!(last.starts_with("I|PID|info shop: xxx") && last.len() <= 1023 + 3, "{last}");
    let mut ids = Vec::new();
    let without_id = |line: &String| match line.rsplit_once('|') {
        Some((begin, id)) if line.starts_with(['S', 'F']) => {
            ids.push(id.to_owned());
            format!("{begin}|ID")
        }
        _ => line.clone(),
    };
    let lines: Vec<String> = lines.iter().map(without_id).collect();
    assert_eq!(lines, wanted);
    assert!(ids.is_empty() || ids[0] == ids[1], "{ids:?}");
}

#[test]
fn what_is_on_writes_lines_of_atrace() {
    let scratch = Scratch::new();
    let marker = scratch.path("marker");
    std::fs::write(&marker, "").unwrap();
    let mut command = scratch.command(marked(), [""; 0]);
    command.env("SILVERPOINT_PROBES", "trace_marker").env("SILVERPOINT_FILTER", "debug");
    command.env("SILVERPOINT_TRACE_MARKER_LIBRARY", library());
    command.env("SILVERPOINT_ATRACE_MARKER", &marker);
    let mut program = Ticking::start(&mut command);
    let mut rounds = 0;
    let mut next = |program: &mut Ticking, line: &str| {
        let before = written(&marker, program).len();
        program.say(line);
        rounds += 1;
        (rounds, written(&marker, program).split_off(before))
    };
    // A line exists from shortly after the first execution on.
    scratch.wait("all lines of a round", || next(&mut program, "").1.len() == 10);
    let (i, lines) = next(&mut program, "");
    same(&lines, &round(i, true));

    // What is off writes nothing.
    ctl(&scratch, &program, &["info"]);
    scratch.wait("the spans are off", || next(&mut program, "").1.len() == 5);
    let (i, lines) = next(&mut program, "");
    same(&lines, &round(i, false));
    // A span whose begin was not written has no end; one whose begin was written has one.
    next(&mut program, "s");
    // The program applies the change a moment after `ctl` has ended: each attempt gives it twice the time.
    let mut pause = Duration::from_millis(20);
    scratch.wait("the end of a span when all is off", || {
        ctl(&scratch, &program, &["debug"]);
        scratch.wait("the spans are on", || {
            program.say("");
            next(&mut program, "s").1.iter().any(|line| line.starts_with("B|"))
        });
        ctl(&scratch, &program, &["off"]);
        std::thread::sleep(pause);
        pause *= 2;
        program.say("");
        let all = written(&marker, &program);
        let count = |letter: &str| all.iter().filter(|line| line.starts_with(letter)).count();
        assert_eq!(count("B|"), count("E|"));
        all.last().unwrap() == "E|PID"
    });

    // A file of the program under the number of the marker gets nothing.
    ctl(&scratch, &program, &["debug"]);
    program.say("c");
    scratch.wait("all lines of a round", || next(&mut program, "").1.len() == 10);
    assert_eq!(std::fs::read(scratch.path("own")).unwrap(), b"");
    ctl(&scratch, &program, &["--probe", "trace_marker=off"]);
    program.say("");
    assert_eq!(next(&mut program, "").1, [""; 0]);
    program.finish();
}

/// The kernel has no span that is open for ever, and no end of one that it does not know.
#[test]
fn a_span_that_is_open_when_the_tracer_is_switched_off_has_its_end() {
    let scratch = Scratch::new();
    let library = library();
    for (number, path) in [marked(), example("shop")].iter().enumerate() {
        let marker = scratch.path(&format!("marker{number}"));
        std::fs::write(&marker, "").unwrap();
        let mut command = scratch.command(path, ["ticks"]);
        command.env("SILVERPOINT_PROBES", "trace_marker").env("SILVERPOINT_FILTER", "trace");
        command.env("SILVERPOINT_TRACE_MARKER_LIBRARY", &library);
        command.env("SILVERPOINT_ATRACE_MARKER", &marker);
        let mut program = Ticking::start(&mut command);
        let spans = |program: &Ticking| -> String {
            let letters = written(&marker, program).into_iter().map(|line| line[..1].to_owned());
            letters.filter(|letter| letter == "B" || letter == "E").collect()
        };
        // The span of a line `s` ends at the next line.
        let until_begun = |program: &mut Ticking| {
            scratch.wait("the begin of a span", || {
                program.say("");
                program.say("s");
                spans(program).ends_with('B')
            });
        };
        until_begun(&mut program);
        ctl(&scratch, &program, &["--probe", "trace_marker=off"]);
        let mut wanted = spans(&program) + "E";
        program.say("");
        assert_eq!(spans(&program), wanted);
        // This one begins while it is off, and ends while it is on.
        program.say("s");
        ctl(&scratch, &program, &["--probe", "trace_marker=on"]);
        program.say("");
        assert_eq!(spans(&program), wanted);
        until_begun(&mut program);
        program.say("");
        wanted = spans(&program);
        assert_eq!(wanted, "BE".repeat(wanted.len() / 2));
        program.finish();
    }
}

/// One message, and nothing is asked for any more, until somebody asks again.
#[test]
fn a_missing_marker_is_one_message() {
    let scratch = Scratch::new();
    let (marker, library) = (scratch.path("marker"), library());
    for path in [marked(), example("shop")] {
        let _ = std::fs::remove_file(&marker);
        let mut command = scratch.command(&path, ["ticks"]);
        command.env("SILVERPOINT_PROBES", "trace_marker").env("SILVERPOINT_FILTER", "trace");
        command.env("SILVERPOINT_TRACE_MARKER_LIBRARY", &library);
        command.env("SILVERPOINT_ATRACE_MARKER", &marker).stderr(Stdio::piped());
        let mut program = Ticking::start(&mut command);
        let mut errors = BufReader::new(program.child.stderr.take().unwrap()).lines();
        program.say("");
        let line = format!(
            "silverpoint: SILVERPOINT_PROBES=trace_marker: trace_marker gets no events: {}: there is no such file \
             (tracefs); `silverpoint doctor` says what to do",
            marker.display()
        );
        assert_eq!(errors.next().unwrap().unwrap(), line);
        let control = control(&scratch, &program);
        scratch.wait("nothing is asked for", || {
            std::fs::read(&control).unwrap()[at::PROBES_ASKED..][..4] == [0; 4]
        });
        std::fs::write(&marker, "").unwrap();
        ctl(&scratch, &program, &["--probe", "trace_marker=on"]);
        scratch.wait("a line", || {
            program.say("");
            !written(&marker, &program).is_empty()
        });
        program.finish();
    }
}

/// The kernel's own marker: an instance of tracefs, so that no other trace is disturbed.
#[test]
fn the_kernel_has_the_lines_in_its_trace() {
    let scratch = Scratch::new();
    let (program, library) = (marked(), library());
    let script = format!(
        "set -e
        of=/sys/kernel/tracing/instances/silverpoint-$$
        mkdir $of
        trap 'rmdir $of' EXIT
        export SILVERPOINT_ATRACE_MARKER=$of/trace_marker SILVERPOINT_TRACE_MARKER_LIBRARY={}
        lines() {{
            i=0
            until grep -q '|sell, i=' $of/trace || [ $i -ge 3000 ]; do
                echo
                i=$((i + 1))
                sleep 0.1
            done
            echo
        }}
        lines |
            {} run --quiet --probe trace_marker --filter debug -o t.silver -- {} >/dev/null
        cat $of/trace",
        library.display(),
        env!("CARGO_BIN_EXE_silverpoint"),
        program.display(),
    );
    let Some(out) = kernel::traced(&scratch, "true", &script) else { return };
    for part in
        [": I|", "|info shop: order ", " at 0.5 of A/ ", ": {}", "|sell, i=", ", name=A/ ", ": E|", ": C|"]
    {
        assert!(out.contains(&format!("tracing_mark_write{part}")) || out.contains(part), "{part}: {out}");
    }
}
