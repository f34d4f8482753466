//! `split`: parts that show, one after the other, what the trace shows; all of them or none.

use std::fs;
use std::path::Path;

use silverpoint_wire::level::Level;

use crate::builder::{Builder, log, text};
use crate::files::{names, trace};
use crate::harness::{Ended, Scratch};

/// Two threads, one of which is renamed.
fn many() -> Vec<u8> {
    let mut b = Builder::new();
    b.session(1, "/usr/bin/many", 1);
    b.site(1, 16, &log(Level::Info, "", 1, "{}", "s"));
    b.stream(1, 1, 1, "main");
    b.stream(1, 2, 2, "");
    b.thread_name(1, 2, 1_000, "worker");
    for n in 0..1_000u64 {
        b.record(1, 1 + (n % 3 == 0) as u32, 16, 1_000_000 * n, &text(&format!("record {n}")));
        if n % 100 == 0 {
            b.flush(1, 1, true);
            b.flush(1, 2, true);
        }
    }
    b.flush(1, 1, true);
    b.flush(1, 2, true);
    b.end();
    b.bytes
}

fn parts(scratch: &Scratch, folder: &str) -> Vec<String> {
    names(&scratch.path(folder)).into_iter().map(|name| format!("{folder}/{name}")).collect()
}

fn cat<S: AsRef<str>>(scratch: &Scratch, files: &[S]) -> String {
    let words = ["cat", "--json", "--only"].into_iter().chain(files.iter().map(AsRef::as_ref));
    let cat = scratch.run(words);
    assert_eq!(cat.code(), Some(0), "{cat:?}");
    cat.out
}

fn is_done(ended: &Ended) {
    assert_eq!(ended.code(), Some(0), "{ended:?}");
}

#[test]
fn parts_one_after_the_other_and_joined_are_the_trace() {
    let scratch = Scratch::new();
    fs::write(scratch.path("many.silver"), many()).unwrap();
    let whole = cat(&scratch, &["many.silver"]);
    let ways = [
        (&["--parts", "3"][..], 3),
        (&["--parts", "12", "--compress", "zstd"], 12),
        (&["--every", "100ms"], 10),
        (&["--every", "1h"], 1),
        (&["--size", "8K"], 0),
        (&["--size", "1M", "--compress", "lz4"], 1),
    ];
    for (number, (limit, count)) in ways.into_iter().enumerate() {
        let folder = format!("way{number}");
        let words = ["split", "many.silver", "-o"].into_iter().map(str::to_owned);
        let words = words.chain([format!("{folder}/")]).chain(limit.iter().map(|word| (*word).to_owned()));
        let ended = scratch.run(words);
        is_done(&ended);
        let parts = parts(&scratch, &folder);
        assert!(parts.len() == count || count == 0 && parts.len() > 3, "{limit:?}: {parts:?}");
        assert!(ended.err.contains(&parts[0]) && ended.err.contains(&parts[parts.len() - 1]), "{ended:?}");
        let each: String = parts.iter().map(|part| cat(&scratch, &[part])).collect();
        assert_eq!(each, whole, "{limit:?}");
        assert_eq!(cat(&scratch, &parts), whole, "{limit:?}");
        let verified = scratch.run(["verify"].into_iter().chain(parts.iter().map(String::as_str)));
        is_done(&verified);
        assert!(!verified.out.contains("note:"), "{}", verified.out);
        let merge = ["merge", "--force", "-o", "again.silver"];
        is_done(&scratch.run(merge.into_iter().chain(parts.iter().map(String::as_str))));
        assert_eq!(cat(&scratch, &["again.silver"]), whole, "{limit:?}");
        let verified = scratch.run(["verify", "again.silver"]);
        is_done(&verified);
        assert!(!verified.out.contains("note:"), "{}", verified.out);
    }
    let stats = scratch.run(["stats", "--only", "way0/many-002.silver"]).out;
    assert!(stats.contains("split     --parts 3, part 2\n"), "{stats}");
    let stats = scratch.run(["stats", "--json", "--only", "way0/many-002.silver"]).out;
    let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
    assert_eq!((&stats["files"][0]["split"], &stats["files"][0]["part"]), (&"--parts 3".into(), &2.into()));
}

#[test]
fn every_vector_is_split_and_comes_back() {
    let scratch = Scratch::new();
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../spec/vectors/files"));
    let mut seen = 0;
    for name in names(folder).iter().filter(|name| !name.contains(".compact.")) {
        let path = folder.join(name);
        let path = path.to_str().unwrap();
        let whole = scratch.run(["cat", "--json", "--only", path]);
        let ended = scratch.run(["split", path, "--only", "-o", &format!("{name}/"), "--parts", "3"]);
        assert_eq!(ended.code(), whole.code(), "{name}: {ended:?}");
        if ended.code() == Some(4) {
            assert!(!scratch.path(name).exists(), "{name}");
            continue;
        }
        let parts = parts(&scratch, name);
        let each: String = parts.iter().map(|part| cat(&scratch, &[part])).collect();
        assert_eq!((&each, &cat(&scratch, &parts)), (&whole.out, &whole.out), "{name}");
        seen += 1;
    }
    assert!(seen > 12, "{seen}");
}

#[test]
fn names_are_what_was_asked_for() {
    let scratch = Scratch::new();
    fs::write(scratch.path("a.silver"), trace(1, &[1_000, 2_000, 3_000])).unwrap();
    fs::create_dir(scratch.path("there")).unwrap();
    is_done(&scratch.run(["split", "a.silver", "-o", "there", "--parts", "2"]));
    is_done(&scratch.run(["split", "a.silver", "-o", "there/of-{}-x", "--every", "1h"]));
    is_done(&scratch.run(["split", "a.silver", "-o", "{}.silver", "--parts", "1000"]));
    assert_eq!(parts(&scratch, "there"), ["there/a-001.silver", "there/a-002.silver", "there/of-0001-x"]);
    let made: Vec<_> = names(&scratch.path(".")).into_iter().filter(|name| name.starts_with("00")).collect();
    assert_eq!(made, ["0001.silver", "0002.silver", "0003.silver"]);
    for (output, code) in
        [("new.silver", 2), ("{}-{}", 2), ("no/where-{}", 1), ("no/where/", 1), ("a.silver", 2)]
    {
        let refused = scratch.run(["split", "a.silver", "-o", output, "--parts", "2", "--force"]);
        assert_eq!(refused.code(), Some(code), "{refused:?}");
        assert!(refused.err.contains(output.trim_end_matches("{}")), "{refused:?}");
    }
}

#[test]
fn all_parts_or_none() {
    let scratch = Scratch::new();
    fs::write(scratch.path("many.silver"), many()).unwrap();
    fs::create_dir(scratch.path("parts")).unwrap();
    // One is there already.
    fs::write(scratch.path("parts/many-003.silver"), "precious").unwrap();
    let there = scratch.run(["split", "many.silver", "-o", "parts", "--parts", "4"]);
    assert_eq!(there.code(), Some(1), "{there:?}");
    assert!(there.err.contains("parts/many-003.silver") && there.err.contains("--force"), "{there:?}");
    assert_eq!(parts(&scratch, "parts"), ["parts/many-003.silver"]);
    assert_eq!(fs::read(scratch.path("parts/many-003.silver")).unwrap(), b"precious");
    is_done(&scratch.run(["split", "many.silver", "-o", "parts", "--parts", "4", "--force"]));
    assert_eq!(parts(&scratch, "parts").len(), 4);
    // The input is one of the names.
    fs::rename(scratch.path("many.silver"), scratch.path("in-002.silver")).unwrap();
    let before = fs::read(scratch.path("in-002.silver")).unwrap();
    let own = scratch.run(["split", "in-002.silver", "-o", "in-{}.silver", "--parts", "4", "--force"]);
    assert_eq!(own.code(), Some(1), "{own:?}");
    assert_eq!(fs::read(scratch.path("in-002.silver")).unwrap(), before);
    assert!(!scratch.path("in-001.silver").exists());
    // Limits that cannot be kept.
    for (limit, value) in
        [("--size", "100"), ("--parts", "0"), ("--parts", "10000"), ("--every", "0"), ("--size", "x")]
    {
        let refused = scratch.run(["split", "in-002.silver", "-o", "new-{}", limit, value]);
        assert_eq!(refused.code(), Some(2), "{limit} {value}: {refused:?}");
    }
    for words in [&["--parts", "2", "--every", "1s"][..], &[]] {
        let refused = scratch.run(["split", "in-002.silver", "-o", "new-{}"].iter().chain(words));
        assert_eq!(refused.code(), Some(2), "{refused:?}");
    }
    let left: Vec<_> = names(&scratch.path(".")).into_iter().filter(|name| name.contains("new-")).collect();
    assert_eq!(left, [""; 0]);
}
