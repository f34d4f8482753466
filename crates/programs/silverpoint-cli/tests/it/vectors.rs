//! Runs the program over every trace file of the vectors (`spec/vectors/files.json`), whole, and cut and
//! flipped in each of its blocks. It must give every intact record, say what is missing, and end with the
//! documented code.
//!
//! The library is judged at every byte in `silverpoint-query` and `silverpoint-wire`; a process each is too dear for that.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use silverpoint_wire::block::{BlockHeader, BlockKind};

use crate::harness::{Ended, Scratch};

/// Ticks of the vectors' beginning, and the time that they are.
const START: u64 = 1 << 40;
const BEGUN: &str = "2023-11-14T22:13:20.";

fn vectors() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../spec/vectors/files.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn paths(vector: &Value) -> impl Iterator<Item = String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../spec/vectors");
    vector["files"].as_array().unwrap().iter().map(move |path| format!("{folder}/{}", path.as_str().unwrap()))
}

/// Which record it is: session, stream, and nanoseconds (where they are few).
type Key = (u64, u64, Option<u64>);

fn key_of_line(line: &str) -> Key {
    let object: Value = serde_json::from_str(line).unwrap();
    let ns = object["time"].as_str().unwrap().strip_prefix(BEGUN);
    let ns = ns.map(|text| text.trim_end_matches('Z').parse().unwrap());
    (object["pid"].as_u64().unwrap() - 4000, object["tid"].as_u64().unwrap() - 5000, ns)
}

fn key_of_record(record: &Value) -> Key {
    let ticks = &record["ticks"];
    let ticks = ticks.as_u64().or_else(|| ticks.as_str()?.parse().ok()).unwrap();
    let ns = ticks.checked_sub(START).filter(|ns| *ns < 1_000_000_000);
    (record["session"].as_u64().unwrap(), record["stream"].as_u64().unwrap(), ns)
}

fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.sort();
    items
}

/// Whether a record has a line: names and ends of threads are part of the others.
fn has_line(record: &Value) -> bool {
    record["site"].as_u64().is_some_and(|site| site >= 16 || (1..=3).contains(&site))
}

/// Plain values are the same; others have spellings of their own in a line.
fn same_values(expected: &Value, line: &str) -> bool {
    let object: Value = serde_json::from_str(line).unwrap();
    let given: Vec<&Value> = match &object["args"] {
        Value::Array(values) => values.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        _ => return false,
    };
    let expected = expected.as_array().unwrap();
    expected.len() == given.len()
        && expected.iter().zip(given).all(|(expected, given)| match expected {
            // Large integers, which not every parser keeps exactly.
            Value::String(text) if given.is_number() => line.contains(text.as_str()),
            Value::Number(number) if number.is_f64() => {
                let (expected, given) = (number.as_f64().unwrap(), given.as_f64().unwrap());
                expected == given || expected as f32 == given as f32
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => expected == given,
            _ => true,
        })
}

fn cat(scratch: &Scratch, path: &str) -> Ended {
    scratch.run(["cat", "--json", path])
}

/// The note about an intact block that is not where its number says.
const MOVED: &str = ", where another block should; it was read";

#[test]
fn every_file_is_given_and_judged() {
    let scratch = Scratch::new();
    let mut judged = 0;
    for vector in vectors() {
        for path in paths(&vector) {
            let ended = cat(&scratch, &path);
            let (code, words) = match vector["verdict"].as_str().unwrap() {
                "ok" => (0, ""),
                "cut" => (0, ": cut at byte "),
                "damaged" if ended.err.contains(" missing") => (3, " missing"),
                "damaged" if ended.err.contains(MOVED) => (3, MOVED),
                "damaged" => (3, ": damaged "),
                "not a trace file" => (4, ": not a trace file"),
                other => panic!("{other}"),
            };
            assert_eq!(ended.code(), Some(code), "{path}: {ended:?}");
            assert!(ended.err.contains(words), "{path}: {ended:?}");
            let is_whole =
                !["cut at", "damaged", "missing", MOVED].iter().any(|word| ended.err.contains(word));
            assert_eq!(is_whole, matches!(code, 0 | 4) && words != ": cut at byte ", "{path}: {ended:?}");
            judged += 1;
            let Some(records) = vector["records"].as_array() else { continue };
            let mut lines: HashMap<Key, Vec<&str>> = HashMap::new();
            for line in ended.out.lines() {
                lines.entry(key_of_line(line)).or_default().push(line);
            }
            assert_eq!(
                records.iter().filter(|record| has_line(record)).count(),
                ended.out.lines().count(),
                "{path}"
            );
            for record in records.iter().filter(|record| has_line(record)) {
                let given = lines.get(&key_of_record(record)).map_or(&[][..], Vec::as_slice);
                let is_control = record["site"].as_u64() < Some(16);
                let is_there = given.iter().any(|line| is_control || same_values(&record["args"], line));
                assert!(is_there, "{path}: {record}: {given:?}");
            }
        }
    }
    assert!(judged > 80, "{judged}");
}

/// A block of a file: where it begins, its payload, and where that ends.
struct Block {
    at: usize,
    payload: usize,
    end: usize,
    header: BlockHeader,
    /// What it gives.
    keys: Vec<Key>,
}

/// The blocks of a file that is whole, with the records that each gives; and whether records occur in several.
fn blocks(bytes: &[u8], records: &[Value]) -> (Vec<Block>, bool) {
    let (mut blocks, mut at, mut given, mut repeats) = (Vec::new(), 0, 0, false);
    let mut read: HashMap<(u32, u32), u64> = HashMap::new();
    while at < bytes.len() {
        let header = BlockHeader::decode(&bytes[at..]).unwrap();
        let payload = at + usize::from(header.header_size);
        let mut keys = Vec::new();
        if header.kind == BlockKind::RECORDS {
            let read = read.entry((header.session, header.stream)).or_default();
            if header.ring_end > *read || header.ring_begin == header.ring_end {
                *read = header.ring_end;
                let own = &records[given..given + header.records as usize];
                keys = own.iter().filter(|record| has_line(record)).map(key_of_record).collect();
                given += header.records as usize;
            } else {
                repeats = true;
            }
        }
        blocks.push(Block { at, payload, end: payload + header.stored_size as usize, header, keys });
        at += header.block_size() as usize;
    }
    assert_eq!(given, records.len());
    (blocks, repeats)
}

/// One file of the vectors, and what is known of it.
struct Case {
    path: String,
    vector: Value,
    bytes: Vec<u8>,
    blocks: Vec<Block>,
    repeats: bool,
    whole: Ended,
}

impl Case {
    fn lines(&self) -> Vec<&str> {
        self.whole.out.lines().collect()
    }

    fn is_damaged(&self) -> bool {
        self.vector["verdict"] == "damaged"
    }

    /// Cut at a byte of a block, or at its first: the blocks before it are given, and nothing else.
    fn cut(&self, scratch: &Scratch, number: usize, block: &Block, at: usize) {
        let name = format!("{number}.silver");
        fs::write(scratch.path(&name), &self.bytes[..at]).unwrap();
        let ended = cat(scratch, &name);
        let what = format!("{} cut at {at}: {ended:?}", self.path);
        if block.at == 0 {
            assert_eq!((ended.code(), ended.out.as_str()), (Some(4), ""), "{what}");
            assert!(ended.err.contains(": not a trace file"), "{what}");
        } else {
            assert_eq!(ended.code(), Some(if self.is_damaged() { 3 } else { 0 }), "{what}");
            let told = format!(": cut at byte {}: {} bytes", block.at, at - block.at);
            assert_eq!(ended.err.contains(&told), at > block.at, "{what}");
            let before = self.blocks.iter().take_while(|other| other.at < block.at);
            let expected = sorted(before.flat_map(|block| block.keys.clone()));
            assert_eq!(sorted(ended.out.lines().map(key_of_line)), expected, "{what}");
            assert!(ended.out.lines().all(|line| self.lines().contains(&line)), "{what}");
        }
        fs::remove_file(scratch.path(&name)).unwrap();
    }

    /// A bit flipped in a block: it is named, and all others are given.
    fn flip(&self, scratch: &Scratch, number: usize, block: &Block, at: usize) {
        let name = format!("{number}.silver");
        let mut bytes = self.bytes.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(scratch.path(&name), bytes).unwrap();
        let ended = cat(scratch, &name);
        let what = format!("{} flipped at {at}: {ended:?}", self.path);
        let is_records = block.header.kind == BlockKind::RECORDS;
        let is_known = self.vector["index"] == "true" && at < block.payload;
        if ended.code() == Some(0) {
            // Nothing that is needed is missing: an index has the header too, an index is not believed, or another block has the records. `verify` tells it.
            assert!(
                is_known || block.header.kind == BlockKind::INDEX || (is_records && self.repeats),
                "{what}"
            );
            assert_eq!(ended.out, self.whole.out, "{what}");
            assert_eq!(scratch.run(["verify", &name]).code(), Some(3), "{what}");
        } else {
            assert_eq!(ended.code(), Some(3), "{what}");
            let told = [format!(": damaged at byte {}:", block.at), format!(" at byte {}: ", block.at)];
            assert!(told.iter().any(|told| ended.err.contains(told)), "{what}");
            self.what_is_left(&ended, block, &what);
        }
        fs::remove_file(scratch.path(&name)).unwrap();
    }

    fn what_is_left(&self, ended: &Ended, block: &Block, what: &str) {
        let given = ended.out.lines();
        match block.header.kind {
            BlockKind::RECORDS if self.repeats => {
                assert!(given.count() + block.keys.len() >= self.lines().len(), "{what}")
            }
            BlockKind::RECORDS => {
                let others = self.blocks.iter().filter(|other| other.at != block.at);
                let expected = sorted(others.flat_map(|block| block.keys.clone()));
                assert_eq!(sorted(given.map(key_of_line)), expected, "{what}");
            }
            // Raw records need no signature to be counted; compact ones do.
            BlockKind::SITES if self.path.contains(".raw.") => {
                assert_eq!(given.count(), self.lines().len(), "{what}")
            }
            BlockKind::SITES => assert!(given.count() <= self.lines().len(), "{what}"),
            // Who and when are not known, what is.
            BlockKind::SESSION | BlockKind::STREAMS | BlockKind::ANCHORS => {
                let message = |line: &str| {
                    let line: Value = serde_json::from_str(line).unwrap();
                    line["message"].as_str().unwrap_or_default().to_owned()
                };
                assert_eq!(sorted(given.map(message)), sorted(self.whole.out.lines().map(message)), "{what}");
            }
            _ => assert_eq!(ended.out, self.whole.out, "{what}"),
        }
    }
}

#[test]
fn every_file_cut_and_flipped_in_each_block_gives_what_is_intact() {
    let scratch = Scratch::new();
    let mut cases = Vec::new();
    for vector in vectors() {
        let Some(records) = vector["records"].as_array() else { continue };
        for path in paths(&vector) {
            let bytes = fs::read(&path).unwrap();
            let (blocks, repeats) = blocks(&bytes, records);
            let whole = cat(&scratch, &path);
            let path = Path::new(&path).file_name().unwrap().to_str().unwrap().to_owned();
            cases.push(Case { path, vector: vector.clone(), bytes, blocks, repeats, whole });
        }
    }
    // Encodings concern records alone.
    let is_job = |(case, block): &(&Case, &Block)| {
        case.path.contains(".raw.") || block.header.kind == BlockKind::RECORDS
    };
    let all = cases.iter().flat_map(|case| case.blocks.iter().map(move |block| (case, block)));
    let jobs: Vec<(&Case, &Block)> = all.filter(is_job).collect();
    assert!(jobs.len() > 250, "{}", jobs.len());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some((case, block)) = jobs.get(number) else { break };
                    // In the header of one block, in the payload of the next.
                    let inside =
                        if number.is_multiple_of(2) { block.at + 1 + number % 95 } else { block.end - 1 };
                    for at in [block.at, inside] {
                        case.cut(&scratch, number, block, at);
                    }
                    case.flip(&scratch, number, block, block.at + 8 + number % 88);
                    if block.end > block.payload {
                        let at = block.payload + number * 7 % (block.end - block.payload);
                        case.flip(&scratch, number, block, at);
                    }
                }
            });
        }
    });
}
