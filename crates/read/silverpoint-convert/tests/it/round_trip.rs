//! There and back: every pair of formats that can carry everything.

use std::fs;
use std::path::PathBuf;

use silverpoint_convert::silver::TraceReader;
use silverpoint_query::filter::Filter;
use silverpoint_render::json;
use silverpoint_trace::Trace;

use crate::support::{all, convert, with_reader, with_writer};

/// Formats that carry everything.
pub const WHOLE: &[&str] = &["silver", "jsonl", "json", "cbor", "tsv", "csv", "xml"];

fn vector(name: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../spec/vectors/files");
    fs::read(root.join(name)).unwrap()
}

fn there_and_back(original: &[u8], expected: &[String]) {
    for first in WHOLE {
        let a = convert("silver", original, first).unwrap_or_else(|error| panic!("to {first}: {error:?}"));
        assert_eq!(&all(first, &a), expected, "{first}");
        for second in WHOLE {
            let b =
                convert(first, &a, second).unwrap_or_else(|error| panic!("{first} to {second}: {error:?}"));
            assert_eq!(&all(second, &b), expected, "{first} to {second}");
        }
    }
}

#[test]
fn vectors_come_back_from_every_pair() {
    for name in [
        "every-type.raw.silver",
        "two-sessions.raw.silver",
        "three-streams.compact.silver",
        "control-records.raw.silver",
    ] {
        let bytes = vector(name);
        let records = all("silver", &bytes);
        assert!(!records.is_empty(), "{name}");
        there_and_back(&bytes, &records);
    }
}

#[test]
fn lines_are_those_of_cat() {
    let bytes = vector("every-type.raw.silver");
    let source = silverpoint_trace::Source::from_bytes(std::path::Path::new("x"), bytes.clone());
    let trace = Trace::from_sources(vec![source]).unwrap();
    let mut expected = String::new();
    let mut writer = json::Writer::new(json::Options::default(), &trace);
    let mut events = trace.select(&Filter::default());
    while let Some(event) = events.next() {
        writer.line(&mut expected, &event);
    }
    let lines = with_writer("jsonl", false, |writer| {
        let mut reader = TraceReader::new(&trace, &Filter::default(), 0);
        silverpoint_convert::copy::<crate::support::Failed>(&mut reader, writer, |e| Err(e.into())).unwrap();
    });
    assert_eq!(String::from_utf8(lines).unwrap(), expected);
}

#[test]
fn usual_lines_and_foreign_ones_become_records() {
    let lines = concat!(
        r#"{"time":"2026-11-20T19:02:11.123456789Z","level":"warn","process":"p","pid":7,"tid":8,"thread":"w","#,
        r#""category":"net","file":"a.cpp","line":3,"function":"f","kind":"event","template":"sent","message":"sent n=1","#,
        r#""args":{"n":1,"x":[1,{"y":2.5}],"big":340282366920938463463374607431768211455}}"#,
        "\n",
        r#"{"ts":"2026-11-20T19:02:12Z","msg":"hello {x}","user":"ada","ok":true,"level":"ERROR"}"#,
        "\n"
    );
    let silver = convert("jsonl", lines.as_bytes(), "silver").unwrap();
    let back = with_reader("silver", &silver, |reader| {
        let lines = with_writer("jsonl", false, |writer| {
            silverpoint_convert::copy::<crate::support::Failed>(reader, writer, |e| Err(e.into())).unwrap();
        });
        String::from_utf8(lines).unwrap()
    });
    let parsed: Vec<serde_json::Value> =
        back.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(parsed[0]["args"]["x"][1]["y"], 2.5);
    assert!(back.contains("340282366920938463463374607431768211455"));
    assert_eq!(
        parsed[0]["message"],
        "sent n=1 x=[1, {\"y\": 2.5}] big=340282366920938463463374607431768211455"
    );
    assert_eq!(parsed[1]["level"], "error");
    assert_eq!(parsed[1]["args"]["user"], "ada");
    assert_eq!(parsed[1]["message"], "hello {x} user=ada ok=true");
}

#[test]
fn tables_of_other_programs_become_records() {
    // A mark before UTF-8, line breaks of Unix, quotes of every sort.
    let table = concat!(
        "\u{FEFF}user id,timestamp,level,message,pid,ratio,ok,note\n",
        "42,2026-11-20T19:02:12+01:00,WARN,\"hello, \"\"you\"\"\",7,0.5,true,\"two\nlines\"\n",
        "\n",
        "0x2A,\"1763660532000000001\",notice,7,none,007,,\n",
    );
    let lines = String::from_utf8(convert("csv", table.as_bytes(), "jsonl").unwrap()).unwrap();
    let parsed: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(parsed.len(), 2);
    assert_eq!(parsed[0]["time"], "2026-11-20T18:02:12.000000000Z");
    assert_eq!((&parsed[0]["level"], &parsed[0]["pid"]), (&"warn".into(), &7.into()));
    let expected = serde_json::json!({ "message": "hello, \"you\"", "user id": 42, "ratio": 0.5, "ok": true, "note": "two\nlines" });
    assert_eq!(parsed[0]["args"], expected);
    assert_eq!(parsed[1]["time"], "2025-11-20T17:42:12.000000001Z");
    // A field that is neither a level nor a process id is an argument.
    let expected = serde_json::json!({ "message": "7", "user id": "0x2A", "level": "notice", "pid": "none", "ratio": "007" });
    assert_eq!((&parsed[1]["args"], &parsed[1]["level"]), (&expected, &"info".into()));
}
