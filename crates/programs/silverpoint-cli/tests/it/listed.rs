//! `silverpoint sites` of programs and libraries: what it lists without running them is what running them records.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use silverpoint_tests::skipped;

use crate::crates;
use crate::harness::{self, Scratch, end, example};
use crate::kernel::is_installed;

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
    scratch.executable("listed", example("listed"));
    compare(&scratch, "./listed", 40);
}

/// With optimisation, and with names mangled in the other way: the same program as a crate of its own.
#[test]
fn an_optimised_rust_program_lists_what_it_executes() {
    let scratch = Scratch::new();
    let build = |what: &[&str]| {
        let mangled = ["--", "-Csymbol-mangling-version=v0"];
        crates::cargo(&scratch, "rustc", &[&["--release", "-p", "listed"], what, &mangled].concat())
    };
    let target = build(&["--bin", "listed"]).join("release");
    scratch.executable("listed", target.join("listed"));
    compare(&scratch, "./listed", 40);

    // A shared library lists what it exports, and what that uses; nobody ran it.
    build(&["--lib"]);
    let library = target.join("liblibrary.so");
    let ended = scratch.run(["sites", "--json", library.to_str().unwrap()]);
    let listed: Vec<Value> = ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let texts: Vec<_> = listed.iter().map(|site| site["template"].as_str().unwrap()).collect();
    assert_eq!(texts, ["within {}", "exported"], "{ended:?}");
    assert_eq!(listed[0]["function"], "library::within");
}

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

/// Compiles the files of a program of the C++ frontend's tests, to be linked as a program and as a library.
fn compile(scratch: &Scratch, compiler: &str, words: &[&str]) {
    std::thread::scope(|scope| {
        scope.spawn(|| compile_file(scratch, compiler, words, "listed_part.cpp"));
        compile_file(scratch, compiler, words, "listed.cpp");
    });
}

fn compile_file(scratch: &Scratch, compiler: &str, words: &[&str], file: &str) {
    let cpp = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../cpp");
    let mut command = scratch.command(compiler, ["-std=c++20", "-c", "-I"]);
    harness::compile(command.arg(cpp.join("include")).args(words).arg(cpp.join("tests").join(file)));
}

/// Links what was compiled last.
fn link(scratch: &Scratch, compiler: &str, words: &[&str]) {
    harness::compile(scratch.command(compiler, ["listed.o", "listed_part.o"]).args(words));
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
    let (sections, collected) = (["-O2", "-fPIC", "-ffunction-sections"], "-Wl,--gc-sections");
    for (compiler, words, how) in [
        ("g++", &["-O0", "-fPIC"][..], "-pie"),
        ("g++", &sections, collected),
        ("clang++-16", &["-O0"], "-no-pie"),
        ("clang++-16", &sections, collected),
    ] {
        if !is_installed(compiler) {
            skipped!("{compiler} is not installed");
            continue;
        }
        compile(&scratch, compiler, words);
        link(&scratch, compiler, &[how, "-o", "listed"]);
        compare_cpp(&scratch, "./listed", &format!("{compiler} {words:?} {how}"));
        if words.contains(&"-fPIC") {
            link(&scratch, compiler, &["-shared", "-o", "liblisted.so"]);
            assert_eq!(sites(&scratch, "./liblisted.so"), sites(&scratch, "./listed"), "{compiler}");
        }
    }
}

#[test]
fn what_a_cpp_program_leaves_out_is_not_listed() {
    let scratch = Scratch::new();
    compile(&scratch, "g++", &["-O0", "-DSP_MIN_LEVEL=4"]);
    link(&scratch, "g++", &["-o", "listed"]);
    let left = sites(&scratch, "./listed");
    assert!(!left.is_empty(), "{left:?}");
    for site in left {
        let site: Value = serde_json::from_str(&site).unwrap();
        assert!(["error", "fatal"].contains(&site["level"].as_str().unwrap()), "{site}");
    }
    compile_file(&scratch, "g++", &["-O0", "-fPIC", "-DSP_NO_SITE_SECTION"], "listed_part.cpp");
    harness::compile(&mut scratch.command("g++", ["-shared", "listed_part.o", "-o", "libnone.so"]));
    let ended = scratch.run(["sites", "libnone.so"]);
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
