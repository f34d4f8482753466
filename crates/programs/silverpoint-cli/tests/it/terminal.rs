//! Colours and paging: on a terminal (a pseudo-terminal of `script`), and never in a pipe.

use std::process::Command;

use crate::harness::{Scratch, end};

/// A trace with records.
fn traced() -> Scratch {
    let scratch = Scratch::new();
    let subject = crate::harness::subject();
    let ended = scratch.run(["run", "-q", "-o", "t.silver", "--", subject.to_str().unwrap(), "count", "3"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    scratch
}

/// Runs words of a shell with a terminal as standard output, and gives what the terminal got.
fn on_a_terminal(scratch: &Scratch, words: &str, environment: &[(&str, &str)]) -> Option<String> {
    if Command::new("script").arg("--version").output().is_err() {
        silverpoint_tests::skipped!("terminals: the program script (bsdutils) is not installed");
        return None;
    }
    let line = format!("{} {words}", env!("CARGO_BIN_EXE_silverpoint"));
    let mut command = scratch.command("script", ["-qec", &line, "/dev/null"]);
    for name in ["NO_COLOR", "CLICOLOR_FORCE", "PAGER", "SILVERPOINT_PAGER", "LESS"] {
        command.env_remove(name);
    }
    command.env("TERM", "xterm").envs(environment.iter().copied());
    let ended = end(&mut command);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    Some(ended.out)
}

const ESCAPE: char = '\x1b';

#[test]
fn a_terminal_gets_colours_unless_told_otherwise() {
    let scratch = traced();
    let plain = [("SILVERPOINT_PAGER", "")];
    let Some(out) = on_a_terminal(&scratch, "cat t.silver", &plain) else { return };
    assert!(out.contains("\x1b[32mINFO\x1b[0m"), "levels are coloured: {out:?}");
    assert!(out.contains("\x1b[2msubject["), "names are dimmed: {out:?}");
    for words in ["stats t.silver", "sites t.silver"] {
        assert!(on_a_terminal(&scratch, words, &plain).unwrap().contains("\x1b[32minfo\x1b[0m"), "{words}");
    }
    for (words, environment) in [
        ("cat --color never t.silver", vec![]),
        ("--color=never stats t.silver", vec![("CLICOLOR_FORCE", "1")]),
        ("cat t.silver", vec![("NO_COLOR", "1")]),
        ("cat t.silver", vec![("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]),
        ("sites t.silver", vec![("TERM", "dumb")]),
    ] {
        let environment: Vec<_> = plain.iter().copied().chain(environment).collect();
        let out = on_a_terminal(&scratch, words, &environment).unwrap();
        assert!(!out.contains(ESCAPE) && out.contains("subject"), "{words} {environment:?}: {out:?}");
    }
}

#[test]
fn a_pipe_gets_colours_only_when_forced() {
    let scratch = traced();
    let run = |words: &[&str], environment: &[(&str, &str)]| {
        let mut command = scratch.silverpoint(words);
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").env("TERM", "xterm");
        end(command.envs(environment.iter().copied())).out.contains(ESCAPE)
    };
    for command in ["cat", "stats", "sites"] {
        assert!(!run(&[command, "t.silver"], &[]), "{command}");
        assert!(!run(&[command, "t.silver"], &[("CLICOLOR_FORCE", "0")]), "{command}");
        assert!(run(&[command, "t.silver"], &[("CLICOLOR_FORCE", "1")]), "{command}");
        assert!(run(&["--color", "always", command, "t.silver"], &[("NO_COLOR", "1")]), "{command}");
        assert!(
            !run(&[command, "--json", "--color", "always", "t.silver"], &[]),
            "JSON has no colours: {command}"
        );
    }
}

#[test]
fn a_terminal_gets_a_pager_and_a_pipe_does_not() {
    let scratch = traced();
    let pager = [("SILVERPOINT_PAGER", "sed s/^/paged:/"), ("PAGER", "sed s/^/wrong:/")];
    for words in ["cat t.silver", "stats t.silver", "sites t.silver", "ls"] {
        let Some(out) = on_a_terminal(&scratch, words, &pager) else { return };
        assert!(out.contains("paged:") && !out.contains("wrong:"), "{words}: {out:?}");
        let out = on_a_terminal(&scratch, words, &pager[1..]).unwrap();
        assert!(out.contains("wrong:"), "{words}: {out:?}");
        let out = on_a_terminal(&scratch, &format!("{words} --no-pager"), &pager).unwrap();
        assert!(!out.contains("paged:"), "{words}: {out:?}");
        // Without a pager's program, and with one that is `cat`, the text comes all the same.
        for program in ["", "cat"] {
            let out = on_a_terminal(&scratch, words, &[("SILVERPOINT_PAGER", program)]).unwrap();
            assert!(out.contains("subject") || out.contains("no sessions"), "{words}: {out:?}");
        }
        let words: Vec<&str> = words.split(' ').collect();
        let piped = end(scratch.silverpoint(words).envs(pager));
        assert!(!piped.out.contains("paged:"), "{piped:?}");
    }
}

#[test]
fn a_pager_that_ends_early_ends_the_program() {
    let scratch = traced();
    let pager = [("SILVERPOINT_PAGER", "sed -u 1q")];
    let Some(out) = on_a_terminal(&scratch, "cat t.silver", &pager) else { return };
    assert_eq!(out.lines().count(), 1, "{out:?}");
}

#[test]
fn less_is_the_default_and_shows_colours() {
    let scratch = traced();
    if Command::new("less").arg("--version").output().is_err() {
        silverpoint_tests::skipped!("the default pager: less is not installed");
        return;
    }
    let Some(out) = on_a_terminal(&scratch, "cat t.silver", &[]) else { return };
    assert_eq!(out.matches("subject.count").count(), 3, "less -F ends by itself when all fits: {out:?}");
    assert!(out.contains("\x1b[32mINFO"), "less -R passes colours: {out:?}");
}

#[test]
fn a_command_that_ends_at_once_shows_no_bar() {
    let scratch = traced();
    for words in ["verify t.silver", "split --force --parts 2 -o 'p-{}.silver' t.silver"] {
        // A busy machine may interrupt one run for longer than a bar waits, hardly all of them.
        let is_quick = (0..10).any(|_| {
            let out = on_a_terminal(&scratch, words, &[]);
            out.is_none_or(|out| out.contains("record") && !out.contains("KiB/"))
        });
        assert!(is_quick, "{words}");
    }
}
