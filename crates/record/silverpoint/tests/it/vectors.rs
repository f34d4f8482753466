//! The records of spec/vectors/records.json: what this frontend writes is the same, byte for byte, but for the site's id and the ticks.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;
use silverpoint::{Trace, context, counter, debug_output, event, instant, span};

use crate::{Role, Scene, Test, reader};

pub const TESTS: &[Test] = &[("records_are_those_of_the_vectors", records_are_those_of_the_vectors)];
pub const ROLES: &[Role] = &[("vectors", vectors)];

#[derive(Trace, Clone, Copy)]
struct Point {
    x: i32,
    y: i32,
}

#[derive(Trace)]
#[allow(dead_code)]
enum Side {
    Buy,
    Sell = 7,
}

/// Each under the name of its vector.
fn vectors() {
    event!("literal only");
    event!("three numbers", a = -7i32, b = 2.5f64, c = u64::MAX);
    event!("text and two numbers", a = "Gr\u{fc}\u{df}e", b = 4_000_000_000u32, c = -2i16);
    event!("empty text", a = "");
    event!("bool and code point", a = true, b = false, c = '\u{1F600}');
    event!("float and small numbers", a = 0.1f32, b = i8::MIN, c = u16::MAX, d = i64::MIN);
    event!("numbers of 128 bits", a = i128::MIN, b = u128::MAX);
    event!("pointer", a = 0x1000 as *const u8);
    let date_time = UNIX_EPOCH + Duration::from_nanos(1_700_000_000_123_456_789);
    event!("duration and date-time", a = Duration::from_micros(5), b = date_time);
    let map = BTreeMap::from([("a", 1i32), ("b", 2), ("c", 3)]);
    event!("map of three and atoms", a = map, b = true, c = -1i64, d = "atom");
    let floats: Vec<f32> = (0..128u8).map(|i| f32::from(i) * 0.5 - 16.0).collect();
    event!("128 floats", a = floats);
    event!("optional both ways", a = Some(-7i32), b = None::<i32>, c = Some("x"));
    let pairs: Vec<Vec<(i32, &str)>> = vec![vec![(1, "one"), (-2, "")], vec![], vec![(3, "three")]];
    event!("nested sequence of pairs", a = pairs);
    event!("array", a = [1u16, 2, 3]);
    event!("set", a = BTreeSet::from([-1i32, 5]));
    event!("empty sequence and map", a = Vec::<i32>::new(), b = HashMap::<String, i32>::new());
    event!("sequence of bools", a = vec![true, false]);
    let point = Point { x: 1, y: -2 };
    event!("record", a = point);
    event!("sequence of records", a = vec![point, point]);
    event!("enumeration", a = Side::Sell);
    tails();
    event!("order", id = 42u64, venue = "XETR");
    drop(span!("load", file = "a.txt"));
    counter!("depth", 17i64);
    instant!("tick");
    debug_output!("na\u{ef}ve {}\n");
    {
        let _outer = context!(request = 7u32, user = "ada");
        event!("in the outer scope");
        let _inner = context!(ratio = 2.5f64, ok = true, delta = -2i16, request = 256u64);
        event!("in the inner scope");
    }
    event!("in no scope");
}

fn tails() {
    let [a, b, c, d, e, f, g, h] = [0xF1u8, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xF8];
    event!("tail 7", a);
    event!("tail 6", a, b);
    event!("tail 5", a, b, c);
    event!("tail 4", a, b, c, d);
    event!("tail 3", a, b, c, d, e);
    event!("tail 2", a, b, c, d, e, f);
    event!("tail 1", a, b, c, d, e, f, g);
    event!("tail 0", a, b, c, d, e, f, g, h);
}

fn records_are_those_of_the_vectors() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../spec/vectors/records.json");
    let vectors: Vec<Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let scene = Scene::new();
    scene.run("vectors", &[("SILVERPOINT_FILTER", "debug")]);
    let session = reader::only_session(scene.root());
    let records = session.records();
    let mut compared = 0;
    let mut contexts = records.iter().filter(|record| record.what == "context");
    for vector in vectors {
        let languages = vector["languages"].as_array().unwrap();
        if !languages.iter().any(|language| language == "Rust") {
            continue;
        }
        let name = vector["name"].as_str().unwrap();
        let description = &vector["description"];
        if name.starts_with("context") {
            // In the order of the vectors.
            let record = contexts.next().unwrap();
            let mut bytes = record.bytes.clone();
            bytes[8..16]
                .copy_from_slice(&vector["ticks"].as_str().unwrap().parse::<u64>().unwrap().to_le_bytes());
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(vector["hex"], digits, "{name}");
            compared += 1;
            continue;
        }
        // Events that stand for log sites of this category have the vector's name, the others their own.
        let is_renamed = description["kind"] == "log" && description["category"] == "vectors";
        let title = if is_renamed { name } else { description["template"].as_str().unwrap() };
        let site = session.site(title);
        assert_eq!(description["signature"], site.signature, "{name}");
        if !is_renamed && description["kind"] == "log" {
            assert_eq!(description["level"], site.level.name(), "{name}");
            assert_eq!(description["category"], site.category, "{name}");
            assert_eq!((site.kind.name(), &*site.names), ("log", ""), "{name}");
        }
        let found: Vec<_> = records.iter().filter(|record| record.what == title).collect();
        let [record] = found[..] else { panic!("{} records of {name}", found.len()) };
        let mut bytes = record.bytes.clone();
        let ticks: u64 = vector["ticks"].as_str().unwrap().parse().unwrap();
        bytes[4..8].copy_from_slice(&(vector["site"].as_u64().unwrap() as u32).to_le_bytes());
        bytes[8..16].copy_from_slice(&ticks.to_le_bytes());
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(vector["hex"], digits, "{name}");
        compared += 1;
    }
    assert_eq!((compared, contexts.count()), (36, 0));
}
