//! rings.json: images of slices.

use serde_json::{Value, json};
use silverpoint_wire::record::RecordErrorKind;
use silverpoint_wire::slice::{RingError, contents, judge_slice};

use crate::generate::json::hex;
use crate::vectors::{bytes, load, refusal, text};

/// The name of a contradiction, and the position of a record.
fn verdict(error: RingError) -> (&'static str, Option<u64>) {
    match error {
        RingError::Shape { .. } => ("shape", None),
        RingError::Unaligned(_) => ("unaligned", None),
        RingError::Positions { .. } => ("positions", None),
        RingError::Record(at, RecordErrorKind::Truncated) => ("truncated", Some(at)),
        RingError::Record(at, RecordErrorKind::Size(_)) => ("size", Some(at)),
        RingError::Record(at, RecordErrorKind::Beyond(_)) => ("beyond", Some(at)),
        RingError::Record(at, RecordErrorKind::Site(_)) => ("site", Some(at)),
    }
}

/// A 64-bit number as vectors write it.
fn number(value: u64) -> Value {
    if value < 1 << 53 { value.into() } else { value.to_string().into() }
}

#[test]
fn every_ring_gives_what_was_committed_and_ends_where_it_contradicts_itself() {
    for vector in load("rings.json") {
        let (name, image) = (text(&vector, "name"), bytes(text(&vector, "file")));
        let sites = vector["sites"].as_array().unwrap();
        let found = judge_slice(&image, |site| site < 16 || sites.contains(&site.into()));
        let records: Vec<Value> = found
            .records()
            .map(|(position, record)| {
                json!({
                    "position": number(position),
                    "site": record.header.site,
                    "ticks": number(record.header.ticks),
                    "args": hex(record.args),
                })
            })
            .collect();
        assert_eq!(Value::from(records), vector["records"], "{name}");
        let error = found.contradiction.map(verdict);
        assert_eq!(error.map(|(kind, _)| kind), refusal(&vector), "{name}");
        assert_eq!(json!(error.and_then(|(_, at)| at).map(number)), vector["at"], "{name}");
    }
}

#[test]
fn an_image_cut_or_flipped_anywhere_is_judged() {
    for vector in load("rings.json") {
        let image = bytes(text(&vector, "file"));
        for len in (0..image.len()).step_by(7) {
            let found = judge_slice(&image[..len], |_| true);
            assert!(found.records().count() <= 2048 / 16);
        }
        for at in (0..256).chain((256..image.len()).step_by(37)) {
            let mut flipped = image.clone();
            flipped[at] ^= 1 << (at % 8);
            let found = judge_slice(&flipped, |_| true);
            assert!(found.records().count() <= 2048 / 16);
            assert!(
                contents(&flipped).is_ok_and(|(_, bytes)| bytes.len() <= 2048) || contents(&flipped).is_err()
            );
        }
    }
}
