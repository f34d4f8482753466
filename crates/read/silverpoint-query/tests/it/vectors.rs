//! The vectors of packed values (`spec/vectors/values.json`): each is a record's arguments, with the verdict
//! of decoding them. The vectors of whole files (`spec/vectors/files.json`), in every encoding, with the
//! verdicts of reading and of verifying.

use std::path::Path;

use serde_json::Value;
use silverpoint_trace::verify::{Depth, Finding, verify};
use silverpoint_trace::{Source, Trace, Verdict, rewrite};
use silverpoint_wire::level::Level;

use crate::builder::{Builder, log};
use crate::trace::{json_lines, lines, open};

#[test]
fn values() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../spec/vectors/values.json");
    let vectors: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(vectors.len() > 100, "the vectors are there");
    for vector in &vectors {
        let text = |key: &str| vector[key].as_str().unwrap_or_default();
        let hex = text("hex");
        let args: Vec<u8> =
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
        let name = text("name");
        let types = silverpoint_wire::signature::parse(text("signature")).unwrap();
        let template = vec!["{}"; types.len()].join(" ");
        let mut b = Builder::new();
        b.session(1, "/bin/x", 1);
        b.site(1, 16, &log(Level::Info, "", 1, &template, text("signature")));
        b.stream(1, 1, 1, "");
        b.record(1, 1, 16, 1, &args);
        b.flush(1, 1, true);
        let trace = open(&b.bytes);
        let object = &json_lines(&trace, &mut trace.events())[0];
        let line = lines(&trace, &mut trace.events());
        assert_eq!(line.lines().count(), 1, "{name}: {line}");
        // The zero bytes that fill a record may complete what the vector leaves short: then the record is not to blame.
        let padded = args.len().next_multiple_of(8) != args.len();
        match text("verdict") {
            "ok" => {
                assert_eq!(object.get("damaged"), None, "{name}: {object}");
                assert!(!line.contains("<damaged>"), "{name}: {line}");
                same_shape(name, vector["json"].as_array().unwrap(), &object["args"], &line);
            }
            "truncated" | "length" if padded => {}
            _ => {
                assert_eq!(object["damaged"], true, "{name}: {object}");
                assert!(line.contains("<damaged>"), "{name}: {line}");
            }
        }
    }
}

/// The vectors of whole files.
pub fn files() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../spec/vectors/files.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The names of a vector's files, and what is in them.
pub fn contents(vector: &Value) -> impl Iterator<Item = (&str, Vec<u8>)> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../spec/vectors"));
    let paths = vector["files"].as_array().unwrap().iter().map(|path| path.as_str().unwrap());
    paths.map(move |path| (path, std::fs::read(folder.join(path)).unwrap()))
}

#[test]
fn files_are_read_alike_in_every_encoding() {
    let mut compressed = 0;
    for vector in files() {
        let mut first = None;
        for (path, bytes) in contents(&vector) {
            let trace = open(&bytes);
            let objects = json_lines(&trace, &mut trace.events());
            let shown = lines(&trace, &mut trace.events());
            // What is wrong within a block is known when it is read.
            let mut events = trace.events();
            let _ = lines(&trace, &mut events);
            let is_damaged = trace.verdict() == Verdict::Damaged || !events.notes().is_empty();
            assert_eq!(is_damaged, vector["verdict"] == "damaged", "{path}: {:?}", events.notes());
            if let Some(given) = vector["given"].as_u64() {
                assert_eq!(objects.len() as u64, given, "{path}: {:?}", events.notes());
                assert_eq!(trace.count_records(), given, "{path}");
                assert!(objects.iter().all(|object| object["template"].is_string()), "{path}: {objects:?}");
                repaired(path, &trace, given);
            }
            if let Some(records) = vector["records"].as_array() {
                if records.iter().all(|record| record["site"].as_u64() >= Some(16)) {
                    assert_eq!(objects.len(), records.len(), "{path}");
                }
                let first = first.get_or_insert_with(|| (objects.clone(), shown.clone()));
                assert_eq!((&first.0, &first.1), (&objects, &shown), "{path}");
                compressed += usize::from(path.contains("lz4") || path.contains("zstd"));
            }
        }
    }
    assert!(compressed >= 16, "{compressed}");
}

/// A repaired file is in order, and gives the same records.
fn repaired(path: &str, trace: &Trace, given: u64) {
    let mut bytes = Vec::new();
    let options = rewrite::Options { mend: true, ..rewrite::Options::default() };
    rewrite::rewrite(trace, &options, &mut bytes).unwrap();
    let again = open(&bytes);
    assert_eq!(json_lines(&again, &mut again.events()).len() as u64, given, "{path}");
    let source = Source::from_bytes(Path::new(path), bytes);
    let mut findings: Vec<Finding> = Vec::new();
    let found = verify(&source, Depth::Whole, |finding| findings.push(finding)).unwrap();
    assert_eq!(found.verdict(), Verdict::Intact, "{path}: {findings:?}");
}

/// A false index harms no reader, and is its writer's mistake: verifying tells it.
#[test]
fn files_are_verified() {
    let mut indexed = 0;
    for vector in files() {
        for (path, bytes) in contents(&vector) {
            let source = Source::from_bytes(Path::new(path), bytes);
            let mut findings: Vec<Finding> = Vec::new();
            let found = verify(&source, Depth::Whole, |finding| findings.push(finding)).unwrap();
            let expected = match vector["verdict"].as_str().unwrap() {
                _ if vector["index"] == "false" => Verdict::Damaged,
                "ok" => Verdict::Intact,
                "cut" => Verdict::Cut,
                "damaged" => Verdict::Damaged,
                "not a trace file" => Verdict::NotATraceFile,
                other => panic!("{other}"),
            };
            assert_eq!(found.verdict(), expected, "{path}: {findings:?}");
            if vector["index"] == "false" {
                indexed += 1;
                assert!(findings.iter().any(|finding| finding.what.contains("index")), "{findings:?}");
            }
        }
    }
    assert!(indexed >= 10, "{indexed}");
}

/// As many arguments, and plain values are the same; tagged ones have spellings of their own here.
fn same_shape(name: &str, expected: &[Value], given: &Value, line: &str) {
    let given = given.as_array().map_or(&[][..], Vec::as_slice);
    assert_eq!(given.len(), expected.len(), "{name}: {given:?}");
    for (expected, given) in expected.iter().zip(given) {
        match expected {
            // Integers beyond 2^53 are strings in the vectors and numbers here, which not every parser keeps exactly.
            Value::String(text) if given.is_number() => {
                assert!(line.contains(text.as_str()), "{name}: {line}")
            }
            // An f32 has its own shortest digits here, those of the f64 that equals it in the vectors.
            Value::Number(number) if number.is_f64() => {
                let (expected, given) = (number.as_f64().unwrap(), given.as_f64().unwrap());
                assert!(expected == given || expected as f32 == given as f32, "{name}: {given}");
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                assert_eq!(given, expected, "{name}")
            }
            _ => {}
        }
    }
}
