//! `silverpoint sites` of programs and libraries: what it lists without running them is what running them records.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::harness::{Scratch, end, example};

/// The sites in the output of `sites --json`, without what only one of the two knows.
fn sites(scratch: &Scratch, file: &str) -> BTreeSet<String> {
    let ended = scratch.run(["sites", "--json", file]);
    assert_eq!((ended.code(), &*ended.err), (Some(0), ""), "{file}");
    let site = |line: &str| {
        let mut site: Value = serde_json::from_str(line).unwrap();
        for key in ["program", "process", "pid", "id", "records", "bytes"] {
            site.as_object_mut().unwrap().remove(key);
        }
        site.to_string()
    };
    ended.out.lines().map(site).collect()
}

/// Runs a program that executes each of its sites, and gives those that its trace describes.
fn executed(scratch: &Scratch, program: &str) -> BTreeSet<String> {
    let ended = scratch.run(["run", "--quiet", "--filter", "trace", "-o", "all.silver", "--", program]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let executed = sites(scratch, "all.silver");
    std::fs::remove_file(scratch.path("all.silver")).unwrap();
    executed
}

/// Compares, as it is and stripped.
fn compare(scratch: &Scratch, program: &str, least: usize) {
    let executed = executed(scratch, program);
    assert!(executed.len() >= least, "{executed:?}");
    assert_eq!(sites(scratch, program), executed, "{program}");
    let stripped = format!("{program}.stripped");
    let ended = end(&mut scratch.command("strip", ["--strip-all", program, "-o", &stripped]));
    assert_eq!(ended.code(), Some(0), "{}", ended.err);
    assert_eq!(sites(scratch, &stripped), executed, "{stripped}");
}

#[test]
fn a_rust_program_lists_what_it_executes() {
    let scratch = Scratch::new();
    std::fs::copy(example("listed"), scratch.path("listed")).unwrap();
    compare(&scratch, "./listed", 40);
}

/// With optimisation, and with names mangled in the other way: the same program as a crate of its own.
#[test]
fn an_optimised_rust_program_lists_what_it_executes() {
    let scratch = Scratch::new();
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = Path::new(env!("CARGO_BIN_EXE_silverpoint")).ancestors().nth(2).unwrap().join("listed");
    let manifest = format!(
        "[package]\nname = \"listed\"\nedition = \"2024\"\n[workspace]\n[[bin]]\nname = \"listed\"\npath = {:?}\n\
         [lib]\nname = \"library\"\npath = \"library.rs\"\ncrate-type = [\"cdylib\"]\n[dependencies]\nsilverpoint = {{ path = {:?} }}\n",
        own.join("examples/listed.rs"),
        own.with_file_name("silverpoint"),
    );
    std::fs::create_dir_all(&target).unwrap();
    std::fs::write(target.join("Cargo.toml"), manifest).unwrap();
    std::fs::copy(own.join("../../Cargo.lock"), target.join("Cargo.lock")).unwrap();
    std::fs::write(target.join("library.rs"), LIBRARY).unwrap();
    let mut build =
        scratch.command(env!("CARGO"), ["build", "-q", "--release", "--offline", "--target-dir", "."]);
    // Not `end`: a build takes as long as it takes.
    let built = build.current_dir(&target).env("RUSTFLAGS", "-Csymbol-mangling-version=v0").output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    std::fs::copy(target.join("release/listed"), scratch.path("listed")).unwrap();
    compare(&scratch, "./listed", 40);

    // A shared library lists what it exports, and what that uses; nobody ran it.
    let library = target.join("release/liblibrary.so");
    let ended = scratch.run(["sites", "--json", library.to_str().unwrap()]);
    let listed: Vec<Value> = ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let texts: Vec<_> = listed.iter().map(|site| site["template"].as_str().unwrap()).collect();
    assert_eq!(texts, ["within {}", "exported"], "{ended:?}");
    assert_eq!(listed[0]["function"], "library::within");
}

/// Tracepoints that the library's users reach, and one that nobody reaches.
const LIBRARY: &str = r#"
fn within(value: u8) {
    silverpoint::info!("within {}", value);
}

fn nobody_calls() {
    silverpoint::info!("nobody");
}

#[unsafe(no_mangle)]
pub extern "C" fn exported(value: u8) {
    silverpoint::warn!("exported");
    within(value);
    let _ = nobody_calls as fn();
}
"#;

#[test]
fn the_list_is_sorted_and_filtered() {
    let scratch = Scratch::new();
    let subject = example("subject");
    let program = subject.to_str().unwrap();
    let shown = |words: &[&str]| {
        let ended = scratch.run([&["sites"], words, &[program]].concat());
        assert_eq!((ended.code(), &*ended.err), (Some(0), ""), "{words:?}");
        ended.out.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let all = shown(&[]);
    let line = |row: &String| {
        let place = row.split_whitespace().find_map(|word| word.strip_prefix("subject.rs:"));
        place.unwrap().parse::<u32>().unwrap()
    };
    assert!(all.len() > 8 && all.iter().map(line).is_sorted(), "{all:?}");
    assert!(all.iter().all(|row| row.trim_start().starts_with("subject ")), "{all:?}");
    for (words, count) in [
        (&["--category", "net"][..], 2),
        (&["--category", "clock"], 1),
        (&["--level", "info", "--category", "net"], 0),
        (&["--function", "subject::threads"], 1),
        (&["--process", "subject"], all.len()),
        (&["--process", "other"], 0),
        (&["--file", "other.rs"], 0),
        (&["--file", &format!("subject.rs:{}", line(&all[0]))], 1),
    ] {
        assert_eq!(shown(words).len(), count, "{words:?}");
    }
}

#[test]
fn what_has_no_list_and_what_does_not_fit_is_said() {
    let scratch = Scratch::new();
    let subject = example("subject");
    let subject = subject.to_str().unwrap();
    std::fs::write(scratch.path("text"), "text").unwrap();
    for (words, code, said) in [
        (&["sites", "/bin/sh"][..], 4, "/bin/sh: no list of sites (section silverpoint_sites)"),
        (&["sites", subject, "text"], 2, "text is none"),
        (&["sites", subject, "--where", "a=1"], 2, "--where: "),
        (&["sites", subject, "--recorded"], 2, "--recorded: "),
        (&["sites", subject, "--since", "-5s"], 2, "--since: "),
        (&["sites", subject, "/bin/sh"], 4, "/bin/sh: no list"),
    ] {
        let ended = scratch.run(words);
        assert_eq!(ended.code(), Some(code), "{words:?}: {}", ended.err);
        assert!(ended.err.contains(said), "{words:?}: {}", ended.err);
        // What can be listed is.
        assert_eq!(ended.out.contains("subject.count"), code == 4 && words.len() == 3, "{words:?}");
    }
}
