//! The filters of `cat`, each alone and together, over a file of several processes and threads: as text, as JSON and as a count.

use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::site::SiteDescription;

use crate::builder::{Builder, log, text};
use crate::harness::{Ended, Scratch, end};

/// A second in the ticks of these files.
const SECOND: u64 = 1_000_000_000;

fn site(level: Level, category: &str, file: &str, line: u32, function: &str) -> SiteDescription {
    SiteDescription {
        kind: Kind::Event,
        file: file.into(),
        function: function.into(),
        names: "n\nuser\n".into(),
        ..log(level, category, line, "step", "Is")
    }
}

/// Records 0 to 7, one a second: session, stream, site, user.
const RECORDS: [(u32, u32, u32, &str); 8] = [
    (1, 1, 16, "ann"),
    (1, 2, 17, "bob"),
    (1, 3, 18, "ann"),
    (2, 1, 16, "bob"),
    (2, 2, 17, "carl"),
    (2, 1, 18, "ann"),
    (1, 2, 16, "carl"),
    (2, 2, 16, "dora"),
];

/// Two processes with five threads and six sites. In one block a thread, or in one a record; in another order than that of time.
fn trace(has_small_blocks: bool, is_compact: bool) -> Vec<u8> {
    let mut b = Builder::new();
    b.session(1, "/usr/bin/indexer", 4312);
    b.session(2, "/opt/digest", 77);
    b.site(1, 16, &site(Level::Info, "net::tcp", "src/net/pump.cpp", 88, "void app::Pump::start(int)"));
    b.site(1, 17, &site(Level::Warn, "net", "src/net/pump.cpp", 90, "void app::Pump::stop()"));
    b.site(1, 18, &site(Level::Debug, "index", "src/index/scan.rs", 12, "index::scan"));
    b.site(2, 16, &site(Level::Error, "network", "src/digest/main.cpp", 7, "int main()"));
    b.site(2, 17, &site(Level::Trace, "", "lib/pump.cpp", 88, "void lib::Pump::start(int)"));
    b.site(2, 18, &site(Level::Fatal, "net::udp", "src/net/pump.cpp", 88, "void app::Pump::stop()"));
    b.stream(1, 1, 4312, "main");
    b.stream(1, 2, 4313, "worker-1");
    b.stream(1, 3, 4314, "worker-2");
    b.stream(2, 1, 77, "main");
    b.stream(2, 2, 78, "io");
    for (number, (session, stream, site, user)) in RECORDS.into_iter().enumerate() {
        let mut args = (number as u32).to_le_bytes().to_vec();
        args.extend_from_slice(&text(user));
        b.record(session, stream, site, number as u64 * SECOND, &args);
        if has_small_blocks {
            b.flush(session, stream, is_compact);
        }
    }
    for (session, stream) in [(2, 2), (1, 3), (2, 1), (1, 2), (1, 1)] {
        if !has_small_blocks {
            b.flush(session, stream, is_compact);
        }
    }
    b.end();
    b.bytes
}

/// What is given on the command line, and the numbers of the records that it takes.
type Case = (&'static [&'static str], &'static [u32]);

const ALL: &[u32] = &[0, 1, 2, 3, 4, 5, 6, 7];

const CASES: &[Case] = &[
    (&[], ALL),
    // Level.
    (&["--level", "trace"], ALL),
    (&["--level", "info"], &[0, 1, 3, 5, 6, 7]),
    (&["-l", "WARN"], &[1, 3, 5, 7]),
    (&["--level", "fatal"], &[5]),
    // Category.
    (&["--category", "net"], &[0, 1, 5, 6]),
    (&["--category", "net::tcp"], &[0, 6]),
    (&["--category", "net*"], &[0, 1, 3, 5, 6, 7]),
    (&["--category", "*::?dp"], &[5]),
    (&["-c", "index", "-c", "net::udp"], &[2, 5]),
    (&["--category", "net=warn"], &[1, 5]),
    (&["--category", "et"], &[]),
    // File.
    (&["--file", "pump.cpp"], &[0, 1, 4, 5, 6]),
    (&["--file", "src/net/*"], &[0, 1, 5, 6]),
    (&["--file", "net/pump.cpp:88"], &[0, 5, 6]),
    (&["--file", "scan.rs", "--file", "main.cpp:7"], &[2, 3, 7]),
    (&["--file", "main.cpp:8"], &[]),
    (&["--file", "ump.cpp"], &[]),
    // Function.
    (&["--function", "Pump::start"], &[0, 4, 6]),
    (&["--function", "app::Pump::start"], &[0, 6]),
    (&["--function", "stop", "--function", "scan"], &[1, 2, 5]),
    (&["--function", "main"], &[3, 7]),
    (&["--function", "tart"], &[]),
    // Thread.
    (&["--thread", "worker-*"], &[1, 2, 6]),
    (&["--thread", "main"], &[0, 3, 5]),
    (&["-t", "4313"], &[1, 6]),
    (&["-t", "io", "-t", "4314"], &[2, 4, 7]),
    (&["--thread", "worker"], &[]),
    // Process.
    (&["--process", "indexer"], &[0, 1, 2, 6]),
    (&["-p", "77"], &[3, 4, 5, 7]),
    (&["-p", "d?gest", "-p", "4312"], ALL),
    (&["--process", "78"], &[]),
    // Time.
    (&["--since", "+5s"], &[5, 6, 7]),
    (&["--until", "+1s"], &[0, 1]),
    (&["--since", "-1s"], &[6, 7]),
    (&["--until", "-6500ms"], &[0]),
    (&["--since", "2026-11-20T19:02:14Z", "--until", "2026-11-20T19:02:14Z"], &[3]),
    (&["--utc", "--since", "2026-11-20 19:02:17"], &[6, 7]),
    (&["--utc", "--since", "19:02:17.5"], &[7]),
    // By the clock of the zone: 5.5 hours ahead.
    (&["--since", "2026-11-21 00:32:17"], &[6, 7]),
    (&["--until", "00:32:11"], &[0]),
    (&["--since", "2026-11-20T19:02:19Z"], &[]),
    // Field.
    (&["--where", "n=3"], &[3]),
    (&["-w", "user=ann"], &[0, 2, 5]),
    (&["-w", "user~\"?o*\" or n<1"], &[0, 1, 3, 7]),
    (&["-w", "n>=2 and n<0x5 and not user=ann"], &[3, 4]),
    (&["-w", "message~\"*carl*\""], &[4, 6]),
    (&["-w", "nobody=1"], &[]),
    // Several: each narrows.
    (&["--level", "info", "--category", "net"], &[0, 1, 5, 6]),
    (&["--category", "net", "--function", "stop", "--process", "digest"], &[5]),
    (&["--file", "pump.cpp:88", "--thread", "worker-1", "--thread", "io"], &[4, 6]),
    (&["--thread", "main", "--process", "77", "--since", "+4s"], &[5]),
    (&["--where", "user=ann", "--level", "info", "--until", "+4s"], &[0]),
    (&["--thread", "main", "--thread", "io", "--process", "digest", "--where", "user~\"*o*\""], &[3, 7]),
    (
        &[
            "-l",
            "debug",
            "-c",
            "net",
            "--file",
            "pump.cpp",
            "--function",
            "Pump::*",
            "-t",
            "worker-*",
            "-p",
            "indexer",
            "--since",
            "+1s",
            "--until",
            "+6s",
            "-w",
            "n>1",
        ],
        &[6],
    ),
    (&["--level", "error", "--category", "index"], &[]),
];

fn cat(scratch: &Scratch, how: &[&str], words: &[&str]) -> Ended {
    let words = ["cat"].iter().chain(how).chain(words).chain(&["t.silver"]);
    let ended = end(scratch.silverpoint(words).env("TZ", "Asia/Kolkata"));
    assert_eq!((ended.code(), ended.err.as_str()), (Some(0), ""), "{ended:?}");
    ended
}

#[test]
fn each_filter_of_cat_takes_what_matches_and_nothing_else() {
    let scratch = Scratch::new();
    for (has_small_blocks, is_compact) in [(false, false), (true, false), (false, true)] {
        std::fs::write(scratch.path("t.silver"), trace(has_small_blocks, is_compact)).unwrap();
        for (words, expected) in CASES {
            let json = cat(&scratch, &["--json"], words).out;
            let numbers: Vec<u32> = json
                .lines()
                .map(|line| {
                    let record: serde_json::Value = serde_json::from_str(line).unwrap();
                    record["args"]["n"].as_u64().unwrap() as u32
                })
                .collect();
            assert_eq!(numbers, *expected, "{words:?}");
            if has_small_blocks || is_compact {
                continue;
            }
            let shown = cat(&scratch, &[], words).out;
            let wanted: Vec<String> =
                expected.iter().map(|n| format!("step n={n} user={}", RECORDS[*n as usize].3)).collect();
            assert_eq!(shown.lines().count(), wanted.len(), "{words:?}: {shown}");
            for (line, wanted) in shown.lines().zip(&wanted) {
                assert!(line.contains(wanted), "{words:?}: {line}, expected {wanted}");
            }
            assert_eq!(cat(&scratch, &["--count"], words).out, format!("{}\n", expected.len()), "{words:?}");
        }
    }
}

#[test]
fn a_filter_that_cannot_be_understood_is_told_with_its_option() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("t.silver"), trace(false, false)).unwrap();
    let cases: [(&[&str], &[&str]); 14] = [
        (&["--level", "loud"], &["'loud' for '--level", "trace, debug, info, warn, error or fatal"]),
        (&["--level", ""], &["'--level", "trace, debug, info, warn, error or fatal"]),
        (&["--category", "net=loud"], &["--category", "'loud' after = is no level; valid are trace, debug,"]),
        (&["--since", "noon"], &["--since: 'noon' is not a time", "19:02:11.5"]),
        (&["--until", "noon"], &["--until: 'noon' is not a time"]),
        (&["--since", "+1s", "--until", "+5x"], &["--until: '+5x' is not a time", "units ns, us, ms"]),
        (&["--since", ""], &["--since: '' is not a time"]),
        (&["--since", "-"], &["--since: '-' is not a time"]),
        (&["--until", "2026-02-30 10:00"], &["--until: '2026-02-30 10:00' is not a time"]),
        (&["--since", "+99999999999999999999d"], &["--since: '+99999999999999999999d' is not a time"]),
        (&["--where", "n="], &["--where: column 3: expected a value\n  n=\n    ^"]),
        (&["--where", ""], &["--where: column 1: expected "]),
        (&["--where", "n=1 and"], &["--where: column 8: expected "]),
        (&["--where", "(n=1"], &["--where: column 5: expected "]),
    ];
    for (words, expected) in cases {
        for how in ["--json", "--count", "--quiet"] {
            let ended = scratch.run(["cat", how].iter().chain(words).chain(&["t.silver"]));
            assert_eq!((ended.code(), ended.out.as_str()), (Some(2), ""), "{words:?}: {ended:?}");
            for part in expected {
                assert!(ended.err.contains(part), "{words:?}: {part:?} is not in {}", ended.err);
            }
        }
    }
    // Options that need a value take no other option for it.
    for option in ["--level", "--category", "--file", "--function", "--thread", "--process", "--where"] {
        let ended = scratch.run(["cat", "t.silver", option, "--json"]);
        assert_eq!(ended.code(), Some(2), "{option}: {ended:?}");
        assert!(ended.err.contains(option) && ended.out.is_empty(), "{option}: {ended:?}");
    }
}
