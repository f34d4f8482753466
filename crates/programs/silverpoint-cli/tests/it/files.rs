//! `verify`, `repair`, `merge` and `trim`: outputs that are whole or not there, inputs that are not touched.

use std::fs;
use std::path::Path;

use silverpoint_trace::Trace;
use silverpoint_wire::level::Level;

use crate::builder::{Builder, log, text};
use crate::harness::Scratch;

pub fn trace(session: u32, ticks: &[u64]) -> Vec<u8> {
    let mut b = Builder::new();
    b.session(session, &format!("/bin/p{session}"), session);
    b.site(session, 16, &log(Level::Info, "", 1, "{}", "s"));
    b.stream(session, 1, session, "main");
    for ticks in ticks {
        b.record(session, 1, 16, *ticks, &text(&format!("{session} at {ticks}")));
        b.flush(session, 1, true);
    }
    b.end();
    b.bytes
}

pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn cat_of_the_merged_is_merged_cat_of_the_parts() {
    let scratch = Scratch::new();
    fs::write(scratch.path("a.silver"), trace(1, &[1_000_000, 3_000_000])).unwrap();
    fs::write(scratch.path("b.silver"), trace(2, &[2_000_000, 4_000_000])).unwrap();
    for how in ["none", "lz4", "zstd"] {
        let merged =
            scratch.run(["merge", "a.silver", "b.silver", "-o", "m.silver", "--force", "--compress", how]);
        assert_eq!(merged.code(), Some(0), "{merged:?}");
        for options in [&["cat", "--json"][..], &["cat", "--count"], &["cat", "--process", "p2"]] {
            let parts = scratch.run(options.iter().chain(&["a.silver", "b.silver"]));
            let whole = scratch.run(options.iter().chain(&["m.silver"]));
            assert!(!parts.out.is_empty());
            assert_eq!(whole.out, parts.out);
        }
        assert_eq!(scratch.run(["verify", "m.silver"]).code(), Some(0));
    }
}

#[test]
fn every_vector_is_repaired_and_then_in_order() {
    let scratch = Scratch::new();
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../spec/vectors/files"));
    let mut repaired = 0;
    for name in names(folder) {
        let path = folder.join(&name);
        let before = fs::read(&path).unwrap();
        let ended = scratch.run(["repair".as_ref(), path.as_os_str(), "-o".as_ref(), name.as_ref()]);
        assert_eq!(fs::read(&path).unwrap(), before, "{name} is not touched");
        match ended.code() {
            Some(0 | 5) => {
                repaired += 1;
                let verified = scratch.run(["verify", &name]);
                assert_eq!(
                    (verified.code(), verified.err.as_str()),
                    (Some(0), ""),
                    "{name}: {}",
                    verified.out
                );
            }
            Some(4) => assert!(!scratch.path(&name).exists(), "{name}"),
            _ => panic!("{name}: {ended:?}"),
        }
        if name.starts_with("damaged") {
            assert_eq!(ended.code(), Some(5), "{name}: {ended:?}");
        }
    }
    assert!(repaired > 20);
}

const SELECTIONS: [&[&str]; 7] = [
    &[],
    &["--level", "warn"],
    &["--since", "-1us"],
    &["--until", "+1us", "--utc"],
    &["--thread", "main"],
    &["--category", "net", "--process", "*"],
    &["--where", "message~\"*a*\"", "--level", "debug"],
];

#[test]
fn cat_of_the_trimmed_is_cat_with_the_selection() {
    let scratch = Scratch::new();
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../spec/vectors/files"));
    let mut trimmed = 0;
    let names = names(folder);
    let plain =
        names.iter().filter(|name| !["compact", "lz4", "zstd"].iter().any(|kind| name.contains(kind)));
    // One selection a file; the library's own tests have every pair.
    for (name, selection) in plain.zip(SELECTIONS.iter().cycle()) {
        let path = folder.join(name);
        let path = path.to_str().unwrap();
        let words = ["trim", path, "-o", "t.silver", "--force"];
        let ended = scratch.run(words.iter().chain(*selection));
        if ended.code() == Some(4) {
            continue;
        }
        let selected = scratch.run(["cat", "--json", path].iter().chain(*selection));
        assert_eq!(ended.code(), selected.code(), "{name}: {ended:?}");
        let cat = scratch.run(["cat", "--json", "t.silver"]);
        assert_eq!((cat.code(), &cat.out), (Some(0), &selected.out), "{name}: {selection:?}");
        let verified = scratch.run(["verify", "t.silver"]);
        assert_eq!(verified.code(), Some(0), "{name}: {}", verified.out);
        trimmed += 1;
    }
    assert!(trimmed > 25, "{trimmed}");
}

#[test]
fn a_trimmed_file_says_what_it_was_trimmed_to() {
    let scratch = Scratch::new();
    fs::write(scratch.path("a.silver"), trace(1, &[1_000_000, 3_000_000])).unwrap();
    let words =
        ["trim", "-l", "info", "-t", "it's", "-t", "main", "--since", "-1s", "a.silver", "-o", "t.silver"];
    assert_eq!(scratch.run(words).code(), Some(0));
    let made = Trace::open(&[scratch.path("t.silver")]).unwrap();
    let selection = "--level info --thread 'it'\\''s' --thread main --since -1s";
    assert_eq!(made.files[0].trimmed(), Some(selection));
    let stats = scratch.run(["stats", "t.silver"]).out;
    assert!(stats.contains("trimmed   --level info --thread"), "{stats}");
    let stats = scratch.run(["stats", "--json", "t.silver"]).out;
    let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
    assert_eq!(stats["files"][0]["trimmed"], selection);
    let wrong = scratch.run(["trim", "--where", "a=", "a.silver", "-o", "u.silver"]);
    assert_eq!(wrong.code(), Some(2), "{wrong:?}");
    assert!(!scratch.path("u.silver").exists());
}

#[test]
fn outputs_are_not_replaced_unasked_and_never_made_of_themselves() {
    let scratch = Scratch::new();
    fs::write(scratch.path("a.silver"), trace(1, &[1_000_000])).unwrap();
    fs::write(scratch.path("there"), "precious").unwrap();
    fs::create_dir(scratch.path("folder")).unwrap();
    let before = names(&scratch.path("."));
    for command in ["repair", "merge", "trim"] {
        for (output, force) in
            [("there", ""), ("a.silver", "--force"), ("folder", "--force"), ("no/where", "")]
        {
            let words = [command, "a.silver", "-o", output, force];
            let refused = scratch.run(words.iter().filter(|word| !word.is_empty()));
            assert_eq!(refused.code(), Some(1), "{refused:?}");
            assert!(refused.err.contains(output), "{refused:?}");
        }
    }
    assert_eq!(fs::read(scratch.path("there")).unwrap(), b"precious");
    assert_eq!(names(&scratch.path(".")), before);
    assert_eq!(scratch.run(["repair", "a.silver", "-o", "there", "--force"]).code(), Some(0));
    assert_eq!(scratch.run(["verify", "there"]).code(), Some(0));
}

#[test]
fn what_cannot_be_read_makes_no_file() {
    let scratch = Scratch::new();
    fs::write(scratch.path("a.silver"), trace(1, &[1_000_000])).unwrap();
    fs::write(scratch.path("text"), "no trace").unwrap();
    fs::write(scratch.path("empty"), "").unwrap();
    fs::create_dir(scratch.path("folder")).unwrap();
    for (input, code) in [("text", 4), ("empty", 4), ("folder", 1), ("missing", 1)] {
        let calls = [
            &["repair", input, "-o", "new"][..],
            &["merge", "a.silver", input, "-o", "new"],
            &["trim", "--level", "info", "a.silver", input, "-o", "new"],
        ];
        for words in calls {
            let ended = scratch.run(words);
            assert_eq!(ended.code(), Some(code), "{words:?}: {ended:?}");
            assert!(ended.err.contains(input), "{ended:?}");
            assert!(!scratch.path("new").exists(), "{words:?}");
        }
    }
}

#[test]
fn killed_while_it_writes_it_leaves_no_part_under_the_name() {
    let scratch = Scratch::new();
    let ticks: Vec<u64> = (1..40_000).map(|n| n * 1000).collect();
    fs::write(scratch.path("a.silver"), trace(1, &ticks)).unwrap();
    let (mut partial, mut rounds) = (0, 0);
    // On a busy machine this process gets its turn when the other one is done already, but not each time.
    while rounds < 8 || (partial == 0 && rounds < 300) {
        rounds += 1;
        let words = ["repair", "a.silver", "-o", "new.silver", "--force"];
        let mut child = scratch.silverpoint(words).stderr(std::process::Stdio::null()).spawn().unwrap();
        let temporary = scratch.path(&format!("new.silver.{}.part", child.id()));
        while !temporary.exists() && child.try_wait().unwrap().is_none() {}
        child.kill().unwrap();
        child.wait().unwrap();
        partial += u32::from(temporary.exists());
        if scratch.path("new.silver").exists() {
            let verified = scratch.run(["verify", "new.silver"]);
            assert_eq!(
                (verified.code(), verified.err.as_str()),
                (Some(0), ""),
                "whole or not there: {}",
                verified.out
            );
        }
    }
    assert!(partial > 0, "none was killed in time");
}
