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

/// What both know of a site of C++: without the arguments' types, and without what streams are made of.
fn without_types(sites: BTreeSet<String>) -> BTreeSet<String> {
    let site = |site: String| {
        let mut site: Value = serde_json::from_str(&site).unwrap();
        site.as_object_mut().unwrap().remove("signature");
        if site["kind"] == "stream" {
            site["template"] = Value::Null;
        }
        site.to_string()
    };
    sites.into_iter().map(site).collect()
}

/// Compiles a program of the C++ frontend's tests; `None` when there is no such compiler.
fn compile(scratch: &Scratch, compiler: &str, words: &[&str]) -> Option<()> {
    let cpp = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cpp");
    let [include, program, part] =
        ["include", "tests/listed.cpp", "tests/listed_part.cpp"].map(|path| cpp.join(path));
    // Not `end`: a compiler takes as long as it takes.
    let mut command = scratch.command(compiler, ["-std=c++20", "-I"]);
    let ended = match command.arg(include).args(words).args([program, part]).output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && compiler != "g++" => return None,
        ended => ended.unwrap(),
    };
    assert!(ended.status.success(), "{compiler} {words:?}: {}", String::from_utf8_lossy(&ended.stderr));
    Some(())
}

/// Of a program in C++, as it is and stripped.
fn compare_cpp(scratch: &Scratch, program: &str, how: &str) {
    let executed = without_types(executed(scratch, program));
    assert!(executed.len() >= 40, "{how}: {executed:?}");
    let stripped = format!("{program}.stripped");
    let ended = end(&mut scratch.command("strip", ["--strip-all", program, "-o", &stripped]));
    assert_eq!(ended.code(), Some(0), "{}", ended.err);
    for file in [program, &stripped] {
        let listed = without_types(sites(scratch, file));
        // Only the question whether a tracepoint would record is listed and never recorded.
        let more: Vec<_> = listed.difference(&executed).collect();
        assert!(more.len() == 1 && more[0].contains("\"template\":\"\""), "{how}: {more:?}");
        assert_eq!(executed.difference(&listed).collect::<Vec<_>>(), [] as [&String; 0], "{how}");
    }
}

/// Programs; and a shared library of the same code lists the same.
#[test]
fn a_cpp_program_lists_what_it_executes() {
    let scratch = Scratch::new();
    for (compiler, words) in [
        ("g++", &["-O0"][..]),
        ("g++", &["-O2", "-ffunction-sections", "-Wl,--gc-sections"]),
        ("clang++-16", &["-O0", "-no-pie"]),
        ("clang++-16", &["-O2", "-ffunction-sections", "-Wl,--gc-sections"]),
    ] {
        if compile(&scratch, compiler, &[words, &["-o", "listed"]].concat()).is_some() {
            compare_cpp(&scratch, "./listed", &format!("{compiler} {words:?}"));
            if words[0] == "-O0" {
                compile(&scratch, compiler, &["-O1", "-fPIC", "-shared", "-o", "liblisted.so"]).unwrap();
                assert_eq!(sites(&scratch, "./liblisted.so"), sites(&scratch, "./listed"), "{compiler}");
            }
        }
    }
}

#[test]
fn what_a_cpp_program_leaves_out_is_not_listed() {
    let scratch = Scratch::new();
    compile(&scratch, "g++", &["-O0", "-DSP_MIN_LEVEL=4", "-o", "listed"]).unwrap();
    let left = sites(&scratch, "./listed");
    assert!(!left.is_empty(), "{left:?}");
    for site in left {
        let site: Value = serde_json::from_str(&site).unwrap();
        assert!(["error", "fatal"].contains(&site["level"].as_str().unwrap()), "{site}");
    }
    compile(&scratch, "g++", &["-O0", "-DSP_NO_SITE_SECTION", "-o", "listed"]).unwrap();
    let ended = scratch.run(["sites", "./listed"]);
    assert_eq!(ended.code(), Some(4), "{ended:?}");
    assert!(ended.err.contains("no list of sites"), "{}", ended.err);
}

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
    let whole = shown(&[]);
    let all: Vec<String> = whole.iter().filter(|row| row.contains(" subject.rs:")).cloned().collect();
    let line = |row: &String| {
        let place = row.split_whitespace().find_map(|word| word.strip_prefix("subject.rs:"));
        place.unwrap().parse::<u32>().unwrap()
    };
    assert!(all.len() > 8 && all.iter().map(line).is_sorted(), "{all:?}");
    assert!(whole.iter().all(|row| row.trim_start().starts_with("subject ")), "{whole:?}");
    for (words, count) in [
        (&["--category", "net"][..], 2),
        (&["--category", "clock"], 1),
        (&["--level", "info", "--category", "net"], 0),
        (&["--function", "subject::threads"], 1),
        (&["--process", "subject"], whole.len()),
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
        (&["sites", subject, "text"], 2, "text is not: list them one after the other"),
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
