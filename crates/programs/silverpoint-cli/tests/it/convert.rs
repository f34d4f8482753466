//! `convert`: what goes in comes out, whole or not at all.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;

use rustix::process::Signal;
use silverpoint_wire::level::Level;

use crate::builder::{Builder, log, text};
use crate::files::names;
use crate::harness::{Running, Scratch, end, numbers};

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

/// A program that records what its standard input says, into rings that nobody empties.
fn recorder(scratch: &Scratch) -> Running {
    let mut running = Running::start_with_input(&mut scratch.subject(["steps"]));
    assert_eq!(running.line(), "ready");
    assert_eq!(scratch.run(["ctl", &running.pid().to_string(), "trace"]).code(), Some(0));
    running
}

#[test]
fn living_sessions_are_inputs_too() {
    let scratch = Scratch::new();
    fs::write(scratch.path("old.silver"), trace("/bin/a", 0)).unwrap();
    let mut program = recorder(&scratch);
    program.write("count 100\n");
    assert_eq!(program.line(), "done");
    let pid = program.pid().to_string();
    // By id and by name, alone and merged with files: these are older.
    for (name, output) in [(pid.as_str(), "a.jsonl"), ("subj*", "b.jsonl")] {
        let ended = scratch.run(["convert", "old.silver", name, output]);
        assert_eq!(ended.code(), Some(0), "{ended:?}");
        let text = fs::read_to_string(scratch.path(output)).unwrap();
        assert!(text.lines().next().unwrap().contains("record 0"), "{text}");
        assert_eq!(numbers(&text), (0..100).collect::<Vec<_>>());
    }
    let ended = scratch.run(["convert", "--to", "jsonl", "--where", "n>=98", &pid, "-"]);
    assert_eq!(numbers(&ended.out), [98, 99], "{ended:?}");
    assert_eq!(scratch.run(["convert", "nobody", "x.cbor"]).code(), Some(6));
    assert_eq!(scratch.run(["convert", "--follow", "old.silver", "x.cbor"]).code(), Some(2));
    drop(program);
}

#[test]
fn a_session_is_followed_to_its_end_or_an_interrupt_and_the_output_is_complete() {
    let scratch = Scratch::new();
    for is_interrupted in [false, true] {
        let mut program = recorder(&scratch);
        program.write("count 10\n");
        assert_eq!(program.line(), "done");
        let pid = program.pid().to_string();
        let words = ["convert", "--follow", "--force", &pid, "out.silver"];
        let mut follower = Running::start(&mut scratch.silverpoint(words));
        // It has the new file under way when it reads.
        scratch.wait("the output's beginning", || {
            crate::files::names(&scratch.path(".")).iter().any(|name| name.ends_with(".part"))
        });
        program.write("count 20\n");
        assert_eq!(program.line(), "done");
        if is_interrupted {
            // What it was recorded before is in it.
            follower.signal(Signal::INT);
            let ended = follower.end();
            assert_eq!(ended.code(), Some(0), "{ended:?}");
            drop(program);
        } else {
            assert_eq!(program.end().code(), Some(0));
            let ended = follower.end();
            assert_eq!(ended.code(), Some(0), "{ended:?}");
        }
        assert_eq!(scratch.run(["verify", "out.silver"]).code(), Some(0));
        let all = numbers(&cat(&scratch, &["out.silver"]));
        let wanted: Vec<u64> = (0..10).chain(0..20).collect();
        // An interrupt may come before the last look.
        if is_interrupted {
            assert!(wanted.starts_with(&all) && all.len() >= 10, "{all:?}");
        } else {
            assert_eq!(all, wanted);
        }
    }
}

#[test]
fn a_directory_is_there_whole_or_not_at_all() {
    let scratch = Scratch::new();
    fs::write(scratch.path("a.silver"), trace("/bin/a", 0)).unwrap();
    fs::write(scratch.path("bad.jsonl"), "{\"time\":\"2026-11-20T19:02:11Z\",\"message\":\"m\"}\n{").unwrap();
    assert_eq!(scratch.run(["convert", "bad.jsonl", "out.ctf"]).code(), Some(1));
    assert_eq!(names(&scratch.path(".")), ["a.silver", "bad.jsonl", "root"]);
    let ended = scratch.run(["convert", "a.silver", "out.ctf/"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(names(&scratch.path("out.ctf")), ["metadata", "stream_0"]);
    let metadata = fs::read_to_string(scratch.path("out.ctf/metadata")).unwrap();
    assert!(
        metadata.starts_with("/* CTF 1.8 */") && metadata.contains("name = \"net::tcp:{}\""),
        "{metadata}"
    );
    let ended = scratch.run(["convert", "a.silver", "out.ctf"]);
    assert!(ended.code() == Some(1) && ended.err.contains("it already exists"), "{ended:?}");
    let ended = scratch.run(["convert", "--level", "warn", "--force", "a.silver", "out.ctf"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let now = fs::read_to_string(scratch.path("out.ctf/metadata")).unwrap();
    assert!(!now.contains("name = \"net:{}\""), "{now}");
    // Foreign files are never replaced, even with --force.
    fs::create_dir(scratch.path("other.ctf")).unwrap();
    fs::write(scratch.path("other.ctf/mine"), "mine").unwrap();
    for (words, code) in [
        (&["--force", "a.silver", "other.ctf"][..], 1),
        (&["--force", "--to", "ctf", "a.silver", "a.silver"], 1),
        (&["--to", "ctf", "a.silver", "-"], 2),
        (&["--from", "ctf", "out.ctf", "x.jsonl"], 2),
    ] {
        let ended = scratch.run(["convert"].iter().chain(words));
        assert_eq!(ended.code(), Some(code), "{ended:?}");
    }
    assert_eq!(names(&scratch.path("other.ctf")), ["mine"]);
    assert_eq!(names(&scratch.path(".")), ["a.silver", "bad.jsonl", "other.ctf", "out.ctf", "root"]);
}

#[test]
fn an_event_log_is_there_whole_or_not_at_all() {
    let scratch = Scratch::new();
    fs::write(scratch.path("a.silver"), trace("/bin/a", 0)).unwrap();
    let line = |args: String| {
        format!(
            "{{\"time\":\"2026-11-20T19:02:11Z\",\"kind\":\"event\",\"file\":\"a.c\",\"line\":7,\"template\":\"e\",\"args\":[{args}]}}\n"
        )
    };
    let wide = vec!["true"; 200].join(",");
    fs::write(scratch.path("wide.jsonl"), [line("1".into()), line(wide), line("2".into())].concat()).unwrap();
    let ended = scratch.run(["convert", "a.silver", "out.etl"]);
    assert_eq!((ended.code(), &*ended.err), (Some(0), ""), "{ended:?}");
    let made = fs::read(scratch.path("out.etl")).unwrap();
    // With the names of the process and the thread.
    assert_eq!(silverpoint_tests::etl::events(&made).len(), 102);
    let ended = scratch.run(["convert", "wide.jsonl", "new.etl"]);
    assert!(
        ended.code() == Some(1) && ended.err.contains("a.c:7: an event of ETW holds at most 127 fields"),
        "{ended:?}"
    );
    assert!(ended.err.contains("--keep-going skips it"), "{ended:?}");
    let ended = scratch.run(["convert", "--keep-going", "wide.jsonl", "kept.etl"]);
    assert!(ended.code() == Some(3) && ended.err.contains("1 records were left out"), "{ended:?}");
    assert_eq!(silverpoint_tests::etl::events(&fs::read(scratch.path("kept.etl")).unwrap()).len(), 2);
    for (words, code, why) in [
        (&["a.silver", "out.etl"][..], 1, "it already exists"),
        (&["--to", "etl", "a.silver", "-"], 2, "give the name of a file"),
        (&["--from", "etl", "out.etl", "x.jsonl"], 2, "etl can only be written"),
        (&["--force", "--to", "etl", "a.silver", "a.silver"], 1, "overwrite an input"),
    ] {
        let ended = scratch.run(["convert"].iter().chain(words));
        assert!(ended.code() == Some(code) && ended.err.contains(why), "{ended:?}");
    }
    assert_eq!(names(&scratch.path(".")), ["a.silver", "kept.etl", "out.etl", "root", "wide.jsonl"]);
    assert_eq!(fs::read(scratch.path("out.etl")).unwrap(), made);
    let ended = scratch.run(["convert", "--level", "warn", "--force", "a.silver", "out.etl"]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(silverpoint_tests::etl::events(&fs::read(scratch.path("out.etl")).unwrap()).len(), 52);
}

#[test]
fn formats_of_a_helper_go_through_it_and_what_it_lacks_is_said() {
    let scratch = Scratch::new();
    // More than two pipes hold.
    let line = |n| format!("{{\"time\":\"2026-11-20T19:02:11Z\",\"message\":\"number {n:0200}\"}}\n");
    fs::write(scratch.path("in.jsonl"), (0..5000).map(line).collect::<String>()).unwrap();
    let convert = |helper: &str, words: &[&str]| {
        let mut command = scratch.silverpoint(["convert", "--force"].iter().chain(words));
        end(command.env("SILVERPOINT_ARROW", helper))
    };
    // It gives back what it is given, and says how it was called.
    // In place of silverpoint-arrow.
    let helper = |script: &str| scratch.script("helper", script).display().to_string();
    let path = helper("echo \"$@\" >> called; exec cat");
    for output in ["out.parquet", "out.arrow", "out.arrows"] {
        assert_eq!(convert(&path, &["in.jsonl", output]).code(), Some(0));
        let back = convert("", &["--from", "cbor", "--to", "jsonl", output, "-"]);
        let wanted = convert("", &["--to", "jsonl", "in.jsonl", "-"]);
        assert_eq!((back.code(), back.out), (Some(0), wanted.out));
    }
    assert_eq!(convert(&path, &["--event", "a b", "in.jsonl", "out.parquet"]).code(), Some(0));
    let called = fs::read_to_string(scratch.path("called")).unwrap();
    assert_eq!(called, "parquet\narrow\narrow-stream\nparquet --event=a b\n");
    assert_eq!(convert(&path, &["--event", "x", "in.jsonl", "x.cbor"]).code(), Some(2));
    // One that fails, at once or in the end, leaves no file.
    for script in ["exit 3", "cat > /dev/null; exit 3"] {
        let ended = convert(&helper(script), &["in.jsonl", "new.parquet"]);
        assert_eq!(ended.code(), Some(1), "{ended:?}");
        assert!(ended.err.contains("exit status: 3"), "{ended:?}");
    }
    let ended = convert("/nowhere/helper", &["in.jsonl", "new.parquet"]);
    assert!(ended.code() == Some(1) && ended.err.contains("/nowhere/helper: No such file"), "{ended:?}");
    let mut command = scratch.silverpoint(["convert", "in.jsonl", "new.parquet"]);
    let ended = end(command.env("PATH", "/nowhere"));
    assert!(ended.code() == Some(1) && ended.err.contains("`make arrow install-arrow`"), "{ended:?}");
    assert!(!names(&scratch.path(".")).iter().any(|name| name.starts_with("new.")));
}

#[test]
fn databases_are_a_format_like_others() {
    let scratch = Scratch::new();
    fs::write(scratch.path("a.silver"), trace("/bin/a", 0)).unwrap();
    let all = cat(&scratch, &["a.silver"]);
    let run = |words: &[&str]| {
        let ended = scratch.run([&["convert"], words].concat());
        assert_eq!((ended.code(), ended.err.as_str()), (Some(0), ""), "{words:?}");
        ended.out
    };
    // From a trace as it is, from lines, and filtered; back into both; from database to database.
    run(&["a.silver", "a.sqlite"]);
    run(&["--lossless", "a.silver", "a.jsonl"]);
    run(&["a.jsonl", "b.db"]);
    run(&["--level", "warn", "b.db", "c.sqlite3"]);
    for (database, filter) in [("a.sqlite", &[][..]), ("b.db", &[]), ("c.sqlite3", &["--level", "warn"])] {
        let back = format!("{database}.silver");
        run(&[database, &back]);
        assert_eq!(cat(&scratch, &[&back]), cat(&scratch, &[&["a.silver"], filter].concat()), "{database}");
    }
    // Merged by time with a trace.
    fs::write(scratch.path("b.silver"), trace("/bin/b", 1)).unwrap();
    let merged = run(&["--to", "jsonl", "--only", "a.sqlite", "b.silver", "-"]);
    assert_eq!(merged, cat(&scratch, &["a.silver", "b.silver"]));
    assert_eq!(run(&["--to", "jsonl", "a.sqlite", "-"]), all);
    // Nothing of what was between is left.
    let left: Vec<_> = names(&scratch.path(".")).into_iter().filter(|name| name.contains("part")).collect();
    assert!(left.is_empty(), "{left:?}");

    let python = "import sqlite3,sys; d = sqlite3.connect(sys.argv[1])\n\
        print(d.execute('pragma integrity_check').fetchall(), d.execute('select count(*), sum(severity = 3), max(length(packed)) from records').fetchall())";
    match std::process::Command::new("python3").args(["-c", python]).arg(scratch.path("b.db")).output() {
        Ok(output) => {
            let said = String::from_utf8(output.stdout).unwrap();
            assert_eq!(said, "[('ok',)] [(100, 50, 16)]\n");
        }
        Err(error) => silverpoint_tests::skipped!("what Python says to the database: {error}"),
    }
}

#[test]
fn what_is_wrong_with_a_database_is_told() {
    let scratch = Scratch::new();
    fs::write(scratch.path("a.silver"), trace("/bin/a", 0)).unwrap();
    assert_eq!(scratch.run(["convert", "a.silver", "a.sqlite"]).code(), Some(0));
    for (words, code, told) in [
        (&["a.silver", "a.sqlite"][..], 1, "--force replaces it"),
        (&["--force", "a.sqlite", "a.sqlite"], 1, "would overwrite an input"),
        (&["--to", "sqlite", "a.silver", "-"], 2, "cannot be written to a stream"),
        (&["--from", "sqlite", "-", "b.silver"], 2, "cannot be read from a stream"),
        (
            &["--from", "sqlite", "a.silver", "b.jsonl"],
            1,
            "a.silver: found a file that does not begin as one of SQLite",
        ),
        (&["none.sqlite", "b.jsonl"], 1, "none.sqlite: "),
    ] {
        let ended = scratch.run([&["convert"], words].concat());
        assert_eq!(ended.code(), Some(code), "{words:?}: {ended:?}");
        assert!(ended.err.contains(told), "{words:?}: {ended:?}");
    }
    let mut bytes = fs::read(scratch.path("a.sqlite")).unwrap();
    let at = bytes.windows(9).position(|window| window == b"record 50").unwrap();
    let page = at / 4096 * 4096;
    bytes[page..page + 2000].fill(0xFF);
    fs::write(scratch.path("bad.sqlite"), bytes).unwrap();
    let ended = scratch.run(["convert", "bad.sqlite", "c.jsonl"]);
    assert!(ended.code() == Some(1) && ended.err.contains("bad.sqlite: "), "{ended:?}");
    assert!(!scratch.path("c.jsonl").exists());
}

/// A collector that answers each request so, as long as there is one; gives what it was asked for.
fn collector(answers: Vec<&'static [u8]>) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let answer = |body: &&[u8]| {
            let mut reader = BufReader::new(listener.accept().unwrap().0);
            let (mut first, mut len) = (String::new(), 0);
            reader.read_line(&mut first).unwrap();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if line == "\r\n" {
                    break;
                }
                let line = line.to_ascii_lowercase();
                len = line.strip_prefix("content-length: ").map_or(len, |len| len.trim().parse().unwrap());
            }
            reader.read_exact(&mut vec![0; len]).unwrap();
            let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/x-protobuf\r\n";
            let head = format!("{head}content-length: {}\r\n\r\n", body.len());
            reader.into_inner().write_all(&[head.as_bytes(), body].concat()).unwrap();
            first.split(' ').nth(1).unwrap().to_owned()
        };
        answers.iter().map(answer).collect()
    });
    (address, thread)
}

#[test]
fn opentelemetry_by_file_and_by_http() {
    let scratch = Scratch::new();
    fs::write(scratch.path("a.silver"), trace("/bin/a", 0)).unwrap();
    for name in ["a.otlp.json", "a.otlp.jsonl"] {
        let ended = scratch.run(["convert", "a.silver", name]);
        assert_eq!(ended.code(), Some(0), "{ended:?}");
        let text = fs::read_to_string(scratch.path(name)).unwrap();
        let request: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let scopes = &request["resourceLogs"][0]["scopeLogs"];
        assert_eq!(scopes[0]["logRecords"].as_array().unwrap().len(), 50, "{text}");
        assert_eq!(scopes[1]["logRecords"][0]["severityNumber"], 13);
    }
    let (address, asked) = collector(vec![b"", b"\x0a\x09\x08\x02\x12\x05a\x1bold"]);
    let ended = scratch.run(["convert", "a.silver", &format!("otlp+{address}")]);
    assert_eq!((ended.code(), ended.err.as_str()), (Some(0), ""));
    // Records that the collector refuses are reported, and make the conversion incomplete.
    let ended = scratch.run(["convert", "--to", "otlp", "a.silver", &format!("{address}/")]);
    assert_eq!(ended.code(), Some(3), "{ended:?}");
    assert!(ended.err.contains("the collector says: a old") && ended.err.contains("2 records were left out"));
    assert_eq!(asked.join().unwrap(), ["/v1/logs", "/v1/logs"]);
    // Nobody is there: a port of the system's that no test can be given.
    let ended = scratch.run(["convert", "a.silver", "otlp+http://127.0.0.1:1"]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    assert!(ended.err.contains("http://127.0.0.1:1/v1/logs: "), "{ended:?}");
    for (to, output) in [("otlp", "https://localhost"), ("otlp", "http://"), ("cbor", "otlp+http://a:1")] {
        let ended = scratch.run(["convert", "--to", to, "a.silver", output]);
        assert_eq!(ended.code(), Some(if to == "otlp" { 2 } else { 1 }), "{ended:?}");
    }
}
