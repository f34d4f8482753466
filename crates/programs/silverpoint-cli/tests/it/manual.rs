//! Manual pages and completions: nothing of the program is missing in them, and tools that read such files take them.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::harness::{Scratch, end};

/// The commands that `--help` lists.
fn commands(scratch: &Scratch) -> Vec<String> {
    let help = scratch.run(["--help"]).out;
    let (_, rest) = help.split_once("Commands:\n").unwrap();
    let (list, _) = rest.split_once("\n\n").unwrap();
    let names: Vec<String> = list
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect();
    assert!(names.iter().any(|name| name == "run") && names.len() >= 10, "{names:?}");
    names
}

/// The long flags that the help of a command lists.
fn flags(scratch: &Scratch, command: &str) -> Vec<String> {
    let help = scratch.run([command, "--help"]).out;
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let words = lines.flat_map(|line| line.split([' ', ',', '[', '='])).filter(|word| word.starts_with("--"));
    words.filter(|word| word.len() > 2).map(str::to_owned).collect()
}

/// Whether a program is there.
fn is_there(program: &str) -> bool {
    let found =
        Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !found {
        silverpoint_tests::skipped!("what {program} says to the files: it is not installed");
    }
    found
}

#[test]
fn pages_name_every_command_and_flag() {
    let scratch = Scratch::new();
    let ended = scratch.run(["man", "--out", "deep/man1"]);
    assert_eq!((ended.code(), ended.out.as_str(), ended.err.as_str()), (Some(0), "", ""));
    let read = |name: &str| std::fs::read_to_string(scratch.path("deep/man1").join(name)).unwrap();
    // Roff writes a dash as \-.
    let plain =
        |text: String| text.replace("\\-", "-").replace("\\fB", "").replace("\\fR", "").replace("\\fI", "");
    let program = plain(read("silverpoint.1"));
    let commands = commands(&scratch);
    for command in &commands {
        assert!(program.contains(&format!("silverpoint-{command}(1)")), "{command}: {program}");
        let page = plain(read(&format!("silverpoint-{command}.1")));
        let flags = flags(&scratch, command);
        assert!(flags.iter().any(|flag| flag == "--help"), "{flags:?}");
        for flag in flags {
            assert!(page.contains(&flag), "{command} {flag}: {page}");
        }
        assert!(page.contains("EXAMPLES") && page.contains(&format!("silverpoint {command}")), "{page}");
    }
    let pages = std::fs::read_dir(scratch.path("deep/man1")).unwrap().count();
    assert_eq!(pages, commands.len() + 1, "a page for each command and the program");
    if is_there("man") {
        for command in &commands {
            let page = scratch.path("deep/man1").join(format!("silverpoint-{command}.1"));
            let ended = end(scratch
                .command("man", ["--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page.to_str().unwrap()])
                .env("MANROFFSEQ", ""));
            assert!(!ended.err.contains("warning"), "{command}: {}", ended.err);
        }
    }
}

#[test]
fn one_page_goes_to_standard_output() {
    let scratch = Scratch::new();
    let ended = scratch.run(["man", "cat"]);
    assert_eq!(ended.code(), Some(0));
    assert!(ended.out.contains(".TH silverpoint-cat 1"), "{}", ended.out);
    let ended = scratch.run(["man", "nonsense"]);
    assert_eq!(ended.code(), Some(2));
    assert!(ended.err.contains("'nonsense' is not a command; the commands are run, attach"), "{}", ended.err);
    let ended = scratch.run(["man", "collect"]);
    assert_eq!(ended.code(), Some(2), "hidden commands have no page");
}

#[test]
fn completions_name_every_command_and_flag_and_shells_take_them() {
    let scratch = Scratch::new();
    for shell in ["bash", "zsh", "fish"] {
        let ended = scratch.run(["completions", shell]);
        assert_eq!(ended.code(), Some(0), "{ended:?}");
        for command in commands(&scratch) {
            assert!(ended.out.contains(&command), "{shell} {command}");
            for flag in flags(&scratch, &command) {
                let written = if shell == "fish" { format!("-l {}", &flag[2..]) } else { flag };
                assert!(ended.out.contains(&written), "{shell} {command} {written}");
            }
        }
        if is_there(shell) {
            std::fs::write(scratch.path(shell), &ended.out).unwrap();
            let checked = end(&mut scratch.command(shell, ["-n", shell]));
            assert_eq!((checked.code(), checked.err.as_str()), (Some(0), ""), "{shell}");
        }
    }
    assert_eq!(scratch.run(["completions", "tcsh"]).code(), Some(2));
}

#[test]
fn bash_completes_a_flag() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("completion"), scratch.run(["completions", "bash"]).out).unwrap();
    let complete = |words: &str| {
        let count = words.split(' ').count() - 1;
        let last = words.split(' ').next_back().unwrap();
        let script = format!(
            "source ./completion; COMP_WORDS=({words}); COMP_CWORD={count}; _silverpoint silverpoint '{last}' ''; echo \"${{COMPREPLY[@]}}\""
        );
        end(&mut scratch.command("bash", ["-c", &script])).out
    };
    assert_eq!(complete("silverpoint doct").trim(), "doctor");
    assert_eq!(complete("silverpoint stats --js").trim(), "--json");
    assert_eq!(complete("silverpoint run --ech").trim(), "--echo");
}

#[test]
fn make_install_puts_everything_in_its_place_and_uninstall_takes_it_away() {
    let scratch = Scratch::new();
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    if !is_there("make") {
        silverpoint_tests::skipped!("no make");
        return;
    }
    let program = format!("PROGRAM={}", env!("CARGO_BIN_EXE_silverpoint"));
    let prefix = format!("PREFIX={}", scratch.path("usr").display());
    // No libraries were built: the headers alone.
    let libraries = format!("C_BUILD={}", scratch.path("none").display());
    let make = |target| {
        let directory = top.to_str().unwrap();
        end(&mut scratch.command("make", ["-s", "-C", directory, target, &program, &prefix, &libraries]))
    };
    // What others have put there stays, an empty directory too.
    let (others, empty) = (scratch.path("usr/share/other"), scratch.path("usr/include"));
    std::fs::create_dir_all(&empty).unwrap();
    std::fs::create_dir_all(others.parent().unwrap()).unwrap();
    std::fs::write(&others, "").unwrap();
    let ended = make("install-files");
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let stale = scratch.path("usr/include/silverpoint/old/stale.hpp");
    std::fs::create_dir_all(stale.parent().unwrap()).unwrap();
    std::fs::write(&stale, "").unwrap();
    let ended = make("install-files");
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(!stale.parent().unwrap().exists(), "a header of a former version");
    for file in [
        "bin/silverpoint",
        "share/man/man1/silverpoint.1",
        "share/man/man1/silverpoint-run.1",
        "share/bash-completion/completions/silverpoint",
        "share/zsh/site-functions/_silverpoint",
        "share/fish/vendor_completions.d/silverpoint.fish",
        "include/silverpoint/silverpoint.hpp",
        "include/silverpoint/detail/ring.hpp",
    ] {
        assert!(scratch.path("usr").join(file).is_file(), "{file}");
    }
    let installed = end(&mut scratch.command(scratch.path("usr/bin/silverpoint"), ["--version"]));
    assert_eq!(installed.out, format!("silverpoint {}\n", env!("CARGO_PKG_VERSION")));

    let ended = make("uninstall");
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let left = end(&mut scratch.command("find", [scratch.path("usr").to_str().unwrap(), "-printf", "%P\n"]));
    let mut left: Vec<_> = left.out.lines().collect();
    left.sort_unstable();
    assert_eq!(left, ["", "include", "share", "share/other"]);
    // There is nothing to remove, which it says.
    let ended = make("uninstall");
    assert!(ended.code() != Some(0) && ended.err.contains("no such list"), "{ended:?}");
}
