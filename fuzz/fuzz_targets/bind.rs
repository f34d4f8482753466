//! Readers of bound types: what is taken is written, and read again as the same.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use silverpoint_bind::{Any, Bind, Bytes, Rest, from_cbor, from_json, to_cbor, to_json};

#[derive(Bind, Debug, PartialEq)]
enum Shape {
    Circle(f64),
    Rect { from: (i32, i32), to: Option<Box<Shape>> },
    Empty,
}

#[derive(Bind, Debug, PartialEq)]
struct Order {
    id: u64,
    #[bind(default)]
    wide: i128,
    note: Option<String>,
    shapes: Option<Vec<Shape>>,
    #[bind(default)]
    names: BTreeMap<String, [u8; 2]>,
    #[bind(default)]
    codes: BTreeMap<i8, char>,
    blob: Option<Bytes>,
    when: Option<std::time::SystemTime>,
    #[bind(rest)]
    rest: Rest,
}

/// JSON has all digits of a bignum. Read without a type, one beyond 128 bits is a float, or refused where 64 bits do not hold it (spec/bind.md).
fn may_exceed_128_bits(json: &str) -> bool {
    json.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() >= 39)
}

fuzz_target!(|input: &[u8]| {
    let Some((which, bytes)) = input.split_first() else { return };
    let is_json = *which == b'j';
    let any = if is_json { from_json::<Any>(bytes) } else { from_cbor::<Any>(bytes) };
    match &any {
        Ok(any) => {
            // NaN is null in JSON and has one form in CBOR: the second writing is that of the first.
            let cbor = to_cbor(any);
            assert_eq!(&from_cbor::<Any>(&cbor).expect("what was written").as_cbor(), &any.as_cbor());
            let json = to_json(any);
            match from_json::<Any>(json.as_bytes()) {
                Ok(again) if may_exceed_128_bits(&json) => {
                    let json = to_json(&again);
                    let again = from_json::<Any>(json.as_bytes()).expect("what was written");
                    assert_eq!(to_json(&again), json);
                }
                Ok(again) => assert_eq!(to_json(&again), json),
                Err(error) => {
                    // A map with keys that are no texts has one level in CBOR, and two in JSON.
                    let is_deeper = !is_json && error.expected() == "at most 128 levels";
                    assert!(is_deeper || may_exceed_128_bits(&json), "what was written is refused: {error}");
                }
            }
        }
        Err(error) => assert!(error.offset() <= bytes.len()),
    }
    let order = if is_json { from_json::<Order>(bytes) } else { from_cbor::<Order>(bytes) };
    match order {
        Ok(order) => {
            assert!(any.is_ok() || !is_json, "a type was read from invalid JSON");
            let cbor = to_cbor(&order);
            assert_eq!(to_cbor(&from_cbor::<Order>(&cbor).expect("what was written")), cbor);
        }
        Err(error) => assert!(error.offset() <= bytes.len()),
    }
});
