//! `convert`: what goes in comes out, whole or not at all.

use std::fs;

use silverpoint_wire::level::Level;

use crate::builder::{Builder, log, text};
use crate::files::names;
use crate::harness::Scratch;

fn trace(name: &str, from: u64) -> Vec<u8> {
    let mut b = Builder::new();
    let session = from as u32 + 1;
    b.session(session, name, session);
    b.site(session, 16, &log(Level::Info, "net", 1, "{}", "s"));
    b.site(session, 17, &log(Level::Warn, "net::tcp", 2, "{}", "s"));
    b.stream(session, 1, 1, "main");
    for n in 0..100u64 {
        b.record(session, 1, 16 + (n % 2) as u32, 1_000_000 * (2 * n + from), &text(&format!("record {n}")));
    }
    b.flush(session, 1, true);
    b.end();
    b.bytes
}

fn cat(scratch: &Scratch, words: &[&str]) -> String {
    let ended = scratch.run(["cat", "--json", "--only"].iter().chain(words));
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    ended.out
}

#[test]
fn there_and_back_shows_the_same_and_filters_and_merges() {
    let scratch = Scratch::new();
    fs::write(scratch.path("a.silver"), trace("/bin/a", 0)).unwrap();
    fs::write(scratch.path("b.silver"), trace("/bin/b", 1)).unwrap();
    let both = cat(&scratch, &["a.silver", "b.silver"]);
    for (number, middle) in ["m.cbor", "m.jsonl", "m.json"].into_iter().enumerate() {
        let ended = scratch.run(["convert", "--lossless", "a.silver", middle]);
        assert_eq!(ended.code(), Some(0), "{ended:?}");
        // A trace file and another format, merged by time.
        let back = format!("{number}.silver");
        let ended = scratch.run(["convert", "--only", middle, "b.silver", &back]);
        assert_eq!(ended.code(), Some(0), "{ended:?}");
        assert_eq!(cat(&scratch, &[&back]), both);
        assert_eq!(scratch.run(["verify", &back]).code(), Some(0));
        // The same filter, wherever the records come from.
        for filter in [&["--level", "warn"][..], &["--category", "net::tcp"], &["--where", "message~\"*5\""]]
        {
            let words = [&["convert", "--to", "jsonl", middle, "-"], filter].concat();
            let ended = scratch.run(words);
            let wanted = cat(&scratch, &[&["a.silver"], filter].concat());
            assert!(!wanted.is_empty());
            assert_eq!((ended.code(), ended.out), (Some(0), wanted));
        }
    }
}

#[test]
fn a_malformed_input_leaves_nothing_unless_it_is_passed_over() {
    let scratch = Scratch::new();
    let line = "{\"time\":\"2026-11-20T19:02:11Z\",\"message\":\"hello\"}\n";
    fs::write(scratch.path("in.jsonl"), format!("{line}{{\"time\":7,,}}\n{line}")).unwrap();
    let ended = scratch.run(["convert", "in.jsonl", "out.silver"]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    assert!(ended.err.contains("in.jsonl: byte 60 (line 2, column 11), in [1]: found ','"), "{ended:?}");
    assert_eq!(names(&scratch.path(".")), ["in.jsonl", "root"]);
    let ended = scratch.run(["convert", "--keep-going", "in.jsonl", "out.silver"]);
    assert_eq!(ended.code(), Some(3), "{ended:?}");
    assert!(ended.err.contains("1 records were left out"), "{ended:?}");
    assert_eq!(cat(&scratch, &["out.silver"]).lines().count(), 2);
    assert_eq!(scratch.run(["convert", "in.jsonl", "out.silver"]).code(), Some(1));
    assert_eq!(scratch.run(["convert", "in.jsonl", "out.nothing"]).code(), Some(2));
    assert_eq!(scratch.run(["convert", "--from", "nothing", "in.jsonl", "x.silver"]).code(), Some(2));
    assert_eq!(scratch.run(["convert", "--since", "-1s", "in.jsonl", "x.silver"]).code(), Some(2));
    fs::write(scratch.path("no.silver"), "no trace file").unwrap();
    assert_eq!(scratch.run(["convert", "no.silver", "x.cbor"]).code(), Some(4));
}
