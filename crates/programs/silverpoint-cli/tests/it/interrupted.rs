//! Commands that are ended by a signal: none waits for ever, and none leaves half a file.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::harness::{PATIENCE, Running, Scratch, subject};

fn traced(scratch: &Scratch) {
    let made = scratch.run(["run", "-q", "-o", "t.silver", "--", subject().to_str().unwrap(), "count", "10"]);
    assert_eq!(made.code(), Some(0), "{made:?}");
}

/// Opening a pipe into which nobody writes waits, and goes on to wait after a signal that is caught.
#[test]
fn a_pipe_without_a_writer_ends_by_a_signal() {
    let scratch = Scratch::new();
    let made = std::process::Command::new("mkfifo").arg(scratch.path("x.silver")).status();
    assert!(made.is_ok_and(|status| status.success()));
    let commands: [&[&str]; 14] = [
        &["top", "--batch", "-n", "1", "./x.silver"],
        &["tail", "./x.silver"],
        &["tail", "-f", "./x.silver"],
        &["cat", "x.silver"],
        &["cat", "-f", "x.silver"],
        &["stats", "x.silver"],
        &["sites", "x.silver"],
        &["verify", "x.silver"],
        &["merge", "x.silver", "-o", "y.silver"],
        &["repair", "x.silver", "-o", "y.silver"],
        &["trim", "x.silver", "-o", "y.silver"],
        &["split", "x.silver", "--parts", "2", "-o", "y-{}.silver"],
        &["convert", "x.silver", "y.jsonl"],
        &["sql", "x.silver", "select 1"],
    ];
    for words in commands {
        for signal in [Signal::TERM, Signal::INT] {
            let mut running = Running::start(&mut scratch.silverpoint(words));
            let begun = Instant::now();
            // It may not have come to the pipe yet.
            while running.is_running() {
                assert!(begun.elapsed() < PATIENCE, "{words:?} ignores {signal:?}");
                running.signal(signal);
                std::thread::sleep(Duration::from_millis(20));
            }
            let ended = running.end();
            let number = signal.as_raw();
            let by_signal = ended.signal() == Some(number) || ended.code() == Some(128 + number);
            assert!(by_signal, "{words:?}: {ended:?}");
        }
    }
    assert!(!scratch.path("y.silver").exists());
}

#[test]
fn an_interrupted_conversion_leaves_nothing_and_says_so() {
    let scratch = Scratch::new();
    for (output, signal, code) in [
        ("out.jsonl", Signal::INT, 130),
        ("out.silver", Signal::TERM, 143),
        ("out.ctf", Signal::INT, 130),
        ("out.etl", Signal::TERM, 143),
        ("out.sqlite", Signal::INT, 130),
    ] {
        let words = ["convert", "--from", "jsonl", "-", output];
        let mut running = Running::start_with_input(&mut scratch.silverpoint(words));
        let is_part = |name: &str| name.starts_with(output) && name.ends_with(".part");
        let names = || -> Vec<String> {
            let entries = std::fs::read_dir(scratch.path("")).unwrap().flatten();
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
        };
        scratch.wait("the part", || names().iter().any(|name| is_part(name)));
        running.signal(signal);
        scratch.wait("its end", || !running.is_running());
        let ended = running.end();
        assert_eq!(ended.code(), Some(code), "{output}: {ended:?}");
        assert!(ended.err.contains("interrupted: the file was not written"), "{output}: {}", ended.err);
        assert!(!names().iter().any(|name| name.starts_with(output)), "{output}: {:?}", names());
    }
}

#[test]
fn options_may_stand_between_the_files_of_a_conversion() {
    let scratch = Scratch::new();
    traced(&scratch);
    std::fs::write(scratch.path("b.jsonl"), "old").unwrap();
    let done = scratch.run(["convert", "t.silver", "--force", "b.jsonl"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    let text = std::fs::read_to_string(scratch.path("b.jsonl")).unwrap();
    assert_eq!(text.lines().filter(|line| line.contains("subject.count")).count(), 10, "{text}");
    let alone = scratch.run(["convert", "t.silver"]);
    assert_eq!(alone.code(), Some(2), "{alone:?}");
    assert!(alone.err.contains("an input and, last, an output"), "{}", alone.err);
}

#[test]
fn what_is_made_is_for_its_owner_alone_whatever_the_format() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    traced(&scratch);
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for output in ["o.jsonl", "o.json", "o.csv", "o.silver", "o.sqlite", "o.ctf", "o.etl"] {
        let mut command = scratch.command("sh", ["-c", "umask 022; exec \"$0\" convert t.silver \"$1\""]);
        let done = crate::harness::end(command.arg(env!("CARGO_BIN_EXE_silverpoint")).arg(output));
        assert_eq!(done.code(), Some(0), "{output}: {done:?}");
        let path = scratch.path(output);
        if path.is_dir() {
            assert_eq!(mode(&path), 0o700);
            for entry in std::fs::read_dir(&path).unwrap().flatten() {
                assert_eq!(mode(&entry.path()), 0o600, "{:?}", entry.path());
            }
        } else {
            assert_eq!(mode(&path), 0o600, "{output}");
        }
    }
}

#[test]
fn messages_are_searched_and_equal_sites_of_processes_are_one() {
    let scratch = Scratch::new();
    let words = ["run", "-q", "-o", "t.silver", "--", "sh", "-c", "$SUBJECT count 5; $SUBJECT count 6"];
    let made = scratch.run(words);
    assert_eq!(made.code(), Some(0), "{made:?}");
    let stats = scratch.run(["stats", "--json", "t.silver"]);
    let stats: serde_json::Value = serde_json::from_str(&stats.out).unwrap();
    let sites: Vec<u64> =
        stats["sites"].as_array().unwrap().iter().map(|site| site["records"].as_u64().unwrap()).collect();
    assert_eq!(sites, [11]);
    let counted = |words: &[&str]| scratch.run(words).out.trim().to_owned();
    assert_eq!(counted(&["cat", "--count", "--grep", "subject.count", "t.silver"]), "11");
    assert_eq!(counted(&["cat", "--count", "-g", "nothing of it", "t.silver"]), "0");
    assert_eq!(counted(&["cat", "--count", "-g", "subj*count", "-w", "number=5", "t.silver"]), "1");
}

#[test]
fn recover_replaces_no_file_unasked() {
    let scratch = Scratch::new();
    traced(&scratch);
    let pid = crate::recover::dead_session(&scratch, "10", &[]);
    let refused = scratch.run(["recover", &pid, "-o", "t.silver"]);
    assert_eq!(refused.code(), Some(1), "{refused:?}");
    assert!(refused.err.contains("--force replaces it"), "{}", refused.err);
    assert_eq!(scratch.records("t.silver"), 10);
    let file = scratch.run(["recover", "t.silver", "-o", "t.silver"]);
    assert_eq!(file.code(), Some(1), "{file:?}");
    let forced = scratch.run(["recover", &pid, "--force", "-q", "-o", "t.silver"]);
    assert_eq!((forced.code(), forced.err.as_str()), (Some(0), ""), "{forced:?}");
}
