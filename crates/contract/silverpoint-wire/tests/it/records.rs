//! records.json and records.tsv: whole records.

use serde_json::Value;
use silverpoint_wire::compact::{Signatures, compact, expand};
use silverpoint_wire::record::{RecordErrorKind, RecordHeader, Records};
use silverpoint_wire::signature;

use crate::tree::arguments;
use crate::vectors::{bytes, hex, load, number, text};

/// The signature of a record's arguments, one after the other.
fn types(vector: &Value) -> String {
    vector["args"].as_array().unwrap().iter().map(|arg| text(arg, "signature")).collect()
}

#[test]
fn records_read_back() {
    for vector in load("records.json") {
        let (name, bytes) = (text(&vector, "name"), hex(&vector, "hex"));
        let records: Vec<_> = Records::new(&bytes).collect::<Result<_, _>>().unwrap();
        let [record] = records[..] else { panic!("{name}: {} records", records.len()) };
        let header = RecordHeader {
            size: bytes.len() as u32,
            flags: if name.starts_with("cut") { 1 << 24 } else { 0 },
            site: number(&vector, "site") as u32,
            ticks: 0x0123_4567_89ab_cdef,
        };
        assert_eq!(record.header, header, "{name}");
        assert_eq!(number(&vector, "ticks"), header.ticks, "{name}");
        assert_eq!(header.encode(), bytes[..16], "{name}");
        let types = types(&vector);
        let (values, end) = arguments(&signature::parse(&types).unwrap(), record.args).unwrap();
        let expected: Vec<&Value> =
            vector["args"].as_array().unwrap().iter().map(|arg| &arg["json"]).collect();
        assert_eq!(values, serde_json::json!(expected), "{name}");
        assert!(record.args.len() - end < 8 && record.args[end..].iter().all(|byte| *byte == 0), "{name}");
        match &vector["description"] {
            Value::Null => {
                let known = Signatures::new().get(header.site).map(<[_]>::to_vec);
                assert_eq!(known, signature::parse(&types).ok(), "{name}");
            }
            description => assert_eq!(text(description, "signature"), types, "{name}"),
        }
    }
}

#[test]
fn the_table_holds_the_same_bytes() {
    let table = String::from_utf8(bytes("records.tsv")).unwrap();
    let lines: Vec<(&str, &str)> = table.lines().map(|line| line.split_once('\t').unwrap()).collect();
    let records = load("records.json");
    assert_eq!(lines.len(), records.len());
    for (line, vector) in lines.iter().zip(&records) {
        assert_eq!(*line, (text(vector, "name"), text(vector, "hex")));
    }
}

#[test]
fn a_start_of_a_record_is_none() {
    for vector in load("records.json") {
        let bytes = hex(&vector, "hex");
        for len in 1..bytes.len() {
            let outcome = Records::new(&bytes[..len]).next().unwrap().map_err(|error| error.kind);
            let size = bytes.len() as u32;
            let expected = if len < 8 { RecordErrorKind::Truncated } else { RecordErrorKind::Beyond(size) };
            assert_eq!(outcome, Err(expected), "{} cut at {len}", text(&vector, "name"));
        }
    }
}

#[test]
fn all_of_them_together_are_made_small_and_come_back() {
    let records = load("records.json");
    let mut signatures = Signatures::new();
    let mut raw = Vec::new();
    for vector in &records {
        signatures.insert(number(vector, "site") as u32, &types(vector)).unwrap();
        raw.extend(hex(vector, "hex"));
    }
    let mut small = Vec::new();
    compact(&raw, &signatures, &mut small).unwrap();
    assert!(small.len() < raw.len(), "{} of {} bytes", small.len(), raw.len());
    let mut back = Vec::new();
    expand(&small, raw.len(), &signatures, &mut back).unwrap();
    assert!(back == raw);
    for len in 0..small.len() {
        assert!(expand(&small[..len], raw.len(), &signatures, &mut Vec::new()).is_err(), "cut at {len}");
    }
}
