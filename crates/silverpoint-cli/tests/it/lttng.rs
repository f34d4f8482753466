//! Events of LTTng-UST from tracepoints in C++ and C: recorded by a session daemon of the test's own, and compared with the ring's records.

use std::path::{Path, PathBuf};

use silverpoint_tests::skipped;

use crate::harness::{Ended, Scratch, end};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What is not installed of what these tests need.
fn missing() -> Option<&'static str> {
    let program = |name: &str| {
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .any(|path| path.join(name).is_file())
    };
    let library = ["/usr/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"];
    if !program("lttng") || !program("lttng-sessiond") {
        return Some("lttng-tools is not installed");
    }
    if !library.iter().any(|path| Path::new(path).join("liblttng-ust.so.1").exists()) {
        return Some("liblttng-ust is not installed (Debian: liblttng-ust1)");
    }
    if !program("babeltrace2") || !Path::new("/usr/lib/python3/dist-packages/bt2").exists() {
        return Some("babeltrace2 or its Python module is not installed (Debian: python3-bt2)");
    }
    None
}

fn compile(scratch: &Scratch, compiler: &str, words: &[&str]) {
    let include = format!("-I{}", root().join("cpp/include").display());
    let ended = end(scratch.command(compiler, words).arg(include));
    assert_eq!(ended.code(), Some(0), "{}", ended.err);
}

/// Of `cpp/src`, or of this test's folder.
fn source(name: &str) -> String {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/lttng").join(name);
    let path = if own.exists() { own } else { root().join("cpp/src").join(name) };
    path.to_str().unwrap().to_owned()
}

const LIBRARY: &str = "libsilverpoint_lttng.so.0";

fn compile_library(scratch: &Scratch) {
    let options =
        "-std=c++20 -O2 -Wall -Wextra -Werror -fPIC -shared -fno-exceptions -fno-rtti -fvisibility=hidden";
    let mut words: Vec<&str> = options.split(' ').collect();
    let file = source("silverpoint_lttng.cpp");
    words.extend([&*file, "-o", LIBRARY]);
    compile(scratch, "g++", &words);
}

fn compile_program(scratch: &Scratch, name: &str) {
    compile(
        scratch,
        "g++",
        &["-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", &source(name), "-o", "program", "-pthread"],
    );
}

/// Runs a scenario; `None` where this machine does not allow it.
fn check(scratch: &Scratch, words: &[&str]) -> Option<Ended> {
    std::fs::create_dir(scratch.path("work")).unwrap();
    let mut command = scratch.command("/usr/bin/python3", ["-B"]);
    command.arg(source("check.py")).args(words).current_dir(scratch.path("work"));
    command.env("SILVERPOINT_LTTNG_LIBRARY", scratch.path(LIBRARY));
    let ended = end(&mut command);
    if ended.code() == Some(77) {
        skipped!("{}", ended.out.trim());
        return None;
    }
    assert_eq!(ended.code(), Some(0), "{}{}", ended.out, ended.err);
    Some(ended)
}

const SILVERPOINT: &str = env!("CARGO_BIN_EXE_silverpoint");

#[test]
fn every_field_in_cpp_is_as_in_the_ring() {
    if let Some(why) = missing() {
        return skipped!("{why}");
    }
    let scratch = Scratch::new();
    compile_library(&scratch);
    compile_program(&scratch, "shop.cpp");
    let Some(ended) = check(&scratch, &["fields", SILVERPOINT, "../program", "200"]) else { return };
    assert_eq!(ended.out, "1600 events equal\n");
}

#[test]
fn every_field_in_c_is_as_in_the_ring() {
    if let Some(why) = missing() {
        return skipped!("{why}");
    }
    let scratch = Scratch::new();
    compile_library(&scratch);
    let cold: Vec<String> = ["silverpoint_c.cpp", "context_c.cpp"].iter().map(|name| source(name)).collect();
    for (number, file) in cold.iter().enumerate() {
        let object = format!("{number}.o");
        let words = [
            "-std=c++20",
            "-O2",
            "-fno-exceptions",
            "-fno-rtti",
            "-fvisibility=hidden",
            "-c",
            file,
            "-o",
            &object,
        ];
        compile(&scratch, "g++", &words);
    }
    compile(
        &scratch,
        "gcc",
        &["-O2", "-Wall", "-Wextra", &source("shop.c"), "0.o", "1.o", "-o", "program", "-pthread"],
    );
    let Some(ended) = check(&scratch, &["fields", SILVERPOINT, "../program", "200"]) else { return };
    assert_eq!(ended.out, "800 events equal\n");
}

#[test]
fn events_need_no_ring_and_heed_filters() {
    if let Some(why) = missing() {
        return skipped!("{why}");
    }
    let scratch = Scratch::new();
    compile_library(&scratch);
    compile_program(&scratch, "shop.cpp");
    check(&scratch, &["alone", SILVERPOINT, "../program", "20"]);
}

#[test]
fn a_forked_child_has_events_of_its_own() {
    if let Some(why) = missing() {
        return skipped!("{why}");
    }
    let scratch = Scratch::new();
    compile_library(&scratch);
    compile_program(&scratch, "family.cpp");
    check(&scratch, &["fork", "../program"]);
}

#[test]
fn a_child_that_was_forked_before_lttng_is_open_has_events() {
    if let Some(why) = missing() {
        return skipped!("{why}");
    }
    let scratch = Scratch::new();
    compile_library(&scratch);
    compile_program(&scratch, "family.cpp");
    check(&scratch, &["fork", "../program", "early"]);
}

#[test]
fn a_program_that_forks_while_its_events_are_made_ends() {
    if let Some(why) = missing() {
        return skipped!("{why}");
    }
    let scratch = Scratch::new();
    compile_library(&scratch);
    compile_program(&scratch, "busy.cpp");
    check(&scratch, &["busy", "../program"]);
}

#[test]
fn a_tracepoint_in_malloc_does_not_recur() {
    if let Some(why) = missing() {
        return skipped!("{why}");
    }
    let scratch = Scratch::new();
    compile_library(&scratch);
    compile_program(&scratch, "allocs.cpp");
    check(&scratch, &["allocs", "../program"]);
}

/// Names of fields and values as JSON, which no daemon is needed for.
#[test]
fn names_and_json_are_right() {
    let scratch = Scratch::new();
    let sources = format!("-I{}", root().join("cpp/src").display());
    let file = source("unit.cpp");
    let words = [
        "-std=c++20",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fvisibility=hidden",
        &*sources,
        &*file,
        "-o",
        "unit",
    ];
    compile(&scratch, "g++", &words);
    let ended = end(&mut scratch.command("./unit", [] as [&str; 0]));
    assert_eq!((ended.code(), &*ended.out), (Some(0), "all equal\n"), "{}", ended.err);
}

/// The page of the guide: its program, and what LTTng's tools then show.
#[test]
fn the_page_is_true() {
    if let Some(why) = missing() {
        return skipped!("{why}");
    }
    let page = std::fs::read_to_string(root().join("docs/guide/lttng.md")).unwrap();
    let block = |language: &str| {
        let begin = format!("```{language}\n");
        page.split(&begin).nth(1).and_then(|rest| rest.split("```").next()).expect("a snippet").to_owned()
    };
    let scratch = Scratch::new();
    compile_library(&scratch);
    std::fs::write(scratch.path("shop.cpp"), block("cpp")).unwrap();
    compile(&scratch, "g++", &["-std=c++20", "-O1", "shop.cpp", "-o", "shop", "-pthread"]);
    let script = format!("set -e\ncp ../shop .\n{}", block("sh"));
    let Some(ended) = check(&scratch, &["page", &script]) else { return };
    for event in ["shop:sold (", "shop:order {} at {:.2f} (", "shop:sell_entry (", "shop:sell_exit ("] {
        assert!(ended.out.contains(event), "{event} is not listed: {}", ended.out);
    }
    // Orders from 200 on, those of Ada.
    assert_eq!(ended.out.matches(" shop:sold: { cpu_id").count(), 100, "{}", ended.out);
    assert!(ended.out.contains("duration_ns = ") && !ended.out.contains("\"Grace\""), "{}", ended.out);
}

/// Without the library, or of LTTng's, the program runs as ever, and one line says what is missing.
#[test]
fn what_is_missing_is_one_message() {
    let scratch = Scratch::new();
    compile_program(&scratch, "family.cpp");
    let mut command = scratch.command("sh", ["-c", "echo | ./program"]);
    command.env("SILVERPOINT_PROBES", "lttng,dtrace").env("SILVERPOINT_LTTNG_LIBRARY", "./nowhere.so");
    let ended = end(&mut command);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let lines: Vec<&str> = ended.err.lines().collect();
    assert_eq!(lines[0], "silverpoint: SILVERPOINT_PROBES: 'dtrace' is ignored: expected lttng");
    assert!(
        lines[1].contains("LTTng gets no events: ./nowhere.so")
            && lines[1].contains("SILVERPOINT_LTTNG_LIBRARY"),
        "{lines:?}"
    );
    // A child makes a session of its own, but does not say it again.
    assert_eq!(lines.len(), 2, "{lines:?}");
}

/// A library of that name that is none, at a long path: the message says which, and what to do.
#[test]
fn an_unsuitable_lttng_is_one_message() {
    let scratch = Scratch::new();
    compile_library(&scratch);
    compile_program(&scratch, "family.cpp");
    let folder = scratch.path(&format!("{}/{}", "long".repeat(60), "path".repeat(40)));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("liblttng-ust.so.1"), "no library\n".repeat(100)).unwrap();
    let mut command = scratch.command("sh", ["-c", "echo | ./program"]);
    command.env("SILVERPOINT_PROBES", "lttng").env("SILVERPOINT_LTTNG_LIBRARY", scratch.path(LIBRARY));
    command.env("LD_LIBRARY_PATH", &folder);
    let ended = end(&mut command);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let lines: Vec<&str> = ended.err.lines().collect();
    let is_right = |line: &&str| {
        line.starts_with("silverpoint: SILVERPOINT_PROBES=lttng: LTTng gets no events: ")
            && line.contains("longlong")
            && line.ends_with("; install liblttng-ust 2.13 or later (Debian: liblttng-ust1)")
    };
    // A child that is forked before that opens LTTng itself.
    assert!((1..=2).contains(&lines.len()) && lines.iter().all(is_right), "{lines:?}");
}
