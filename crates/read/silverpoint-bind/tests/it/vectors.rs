//! The vectors of both languages.

use serde_json::Value;
use silverpoint_bind::{
    CborSink, CborSource, Error, JsonSink, JsonSource, Put, Take, copy, from_cbor, from_json, to_cbor,
    to_json,
};

use crate::types::{All, Defaults, Keeping, Order, Point, Shape, Strict};

fn vectors(file: &str) -> Vec<Value> {
    let path = format!("{}/../../../spec/vectors/bind/{file}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn text<'v>(vector: &'v Value, name: &str) -> &'v str {
    vector[name].as_str().unwrap_or_else(|| panic!("{vector}: no {name}"))
}

fn texts<'v>(vector: &'v Value, name: &str) -> impl Iterator<Item = &'v str> {
    vector[name].as_array().into_iter().flatten().map(|text| text.as_str().unwrap())
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Reads and writes a vector's texts as one type: all must come to the same.
fn check<T: Put + Take>(vector: &Value) {
    let (name, json, cbor) = (text(vector, "name"), text(vector, "json"), unhex(text(vector, "cbor")));
    let is_same = |value: &T, from: &str| {
        assert_eq!(to_json(value), json, "{name}: {from}");
        assert_eq!(to_cbor(value), cbor, "{name}: {from}");
    };
    for read in [json].into_iter().chain(texts(vector, "read_json")) {
        is_same(&from_json(read.as_bytes()).unwrap_or_else(|error| panic!("{name}: {read}: {error}")), read);
    }
    for read in [text(vector, "cbor")].into_iter().chain(texts(vector, "read_cbor")) {
        is_same(&from_cbor(&unhex(read)).unwrap_or_else(|error| panic!("{name}: {read}: {error}")), read);
    }
}

fn error<T: Take>(vector: &Value) -> Option<Error> {
    match vector["json"].as_str() {
        Some(json) => from_json::<T>(json.as_bytes()).err(),
        None => from_cbor::<T>(&unhex(text(vector, "cbor"))).err(),
    }
}

/// Calls a function of the type that a vector names.
macro_rules! typed {
    ($vector:expr, $function:ident) => {
        match text($vector, "type") {
            "Point" => $function::<Point>($vector),
            "list of Point" => $function::<Vec<Point>>($vector),
            "Order" => $function::<Order>($vector),
            "All" => $function::<All>($vector),
            "Defaults" => $function::<Defaults>($vector),
            "Strict" => $function::<Strict>($vector),
            "Keeping" => $function::<Keeping>($vector),
            "Shape" => $function::<Shape>($vector),
            "f64" => $function::<f64>($vector),
            "f32" => $function::<f32>($vector),
            other => panic!("no type {other}"),
        }
    };
}

#[test]
fn values_are_read_and_written() {
    for vector in &vectors("values.json") {
        typed!(vector, check);
    }
}

#[test]
fn errors_tell_where_and_what() {
    for vector in &vectors("errors.json") {
        let name = text(vector, "name");
        let error = typed!(vector, error).unwrap_or_else(|| panic!("{name}: was read"));
        let number = |name: &str| vector[name].as_u64().unwrap() as usize;
        assert_eq!(
            (error.offset(), error.line(), error.column(), error.path(), error.found(), error.expected()),
            (
                number("offset"),
                number("line"),
                number("column"),
                text(vector, "path"),
                text(vector, "found"),
                text(vector, "expected")
            ),
            "{name}"
        );
    }
}

/// Without a type nothing changes that the other format can say: as spec/bind.md has it in its table.
#[test]
fn values_without_a_type_are_the_same_in_both_languages() {
    fn copied<S: silverpoint_bind::Sink>(vector: &Value, sink: &mut S) -> Result<(), Error> {
        match vector["json"].as_str() {
            Some(json) => copy(&mut JsonSource::new(json.as_bytes()), sink),
            None => copy(&mut CborSource::new(&unhex(text(vector, "cbor"))), sink),
        }
    }
    for vector in &vectors("untyped.json") {
        let name = text(vector, "name");
        let (mut json, mut cbor) = (JsonSink::new(String::new()), CborSink::new(Vec::new()));
        let (to_json, to_cbor) = (copied(vector, &mut json), copied(vector, &mut cbor));
        let any: Result<silverpoint_bind::Any, Error> = match vector["json"].as_str() {
            Some(json) => from_json(json.as_bytes()),
            None => from_cbor(&unhex(text(vector, "cbor"))),
        };
        match vector["to_json"].as_str() {
            Some(expected) => {
                to_json.unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(json.into_text(), expected, "{name}");
            }
            None => assert_eq!(to_json.unwrap_err().to_string(), text(vector, "error"), "{name}"),
        }
        if let Some(error) = vector["error"].as_str() {
            assert_eq!(to_cbor.unwrap_err().to_string(), error, "{name}");
            assert_eq!(any.unwrap_err().to_string(), error, "{name}");
            continue;
        }
        to_cbor.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(cbor.into_bytes(), unhex(text(vector, "to_cbor")), "{name}");
        let any = any.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(to_cbor_of(&any), unhex(text(vector, "to_cbor")), "{name}");
        let again = vector["again"].as_str().unwrap_or_else(|| text(vector, "to_json"));
        assert_eq!(silverpoint_bind::to_json(&any), again, "{name}");
    }
}

fn to_cbor_of(any: &silverpoint_bind::Any) -> Vec<u8> {
    assert_eq!(to_cbor(any), any.as_cbor());
    to_cbor(any)
}

/// What JSON cannot say is refused when it is read: writing has no errors.
#[test]
fn an_integer_of_more_than_a_thousand_bytes_is_refused() {
    let bignum = |len: usize| [&[0xC2, 0x59][..], &(len as u16).to_be_bytes(), &vec![0xFF; len]].concat();
    let most: silverpoint_bind::Any = from_cbor(&bignum(1024)).unwrap();
    assert_eq!(to_json(&most).len(), 2467);
    let error = from_cbor::<silverpoint_bind::Any>(&bignum(1025)).unwrap_err();
    assert_eq!((error.found(), error.expected()), ("a bignum", "an integer of 128 bits"));
}

#[test]
fn a_reader_goes_to_a_writer_without_a_type() {
    for vector in &vectors("values.json") {
        let (json, cbor) = (text(vector, "json"), unhex(text(vector, "cbor")));
        let mut same = JsonSink::new(String::new());
        copy(&mut JsonSource::new(json.as_bytes()), &mut same).unwrap();
        assert_eq!(same.into_text(), json);
        let mut same = CborSink::new(Vec::new());
        copy(&mut CborSource::new(&cbor), &mut same).unwrap();
        assert_eq!(same.into_bytes(), cbor);
        // And what has the same types in both.
        if !matches!(text(vector, "type"), "All") && !text(vector, "name").contains("f32") && json != "null" {
            let mut other = CborSink::new(Vec::new());
            copy(&mut JsonSource::new(json.as_bytes()), &mut other).unwrap();
            assert_eq!(other.into_bytes(), cbor, "{json}");
        }
    }
}

/// No part of an input is read as a whole, and nothing that is damaged makes anything panic.
#[test]
fn what_is_cut_or_damaged_is_refused_or_read() {
    for vector in &vectors("values.json") {
        if matches!(text(vector, "type"), "f64" | "f32") {
            continue;
        }
        let (json, cbor) = (text(vector, "json").as_bytes(), unhex(text(vector, "cbor")));
        for len in 0..json.len() {
            assert!(from_json::<silverpoint_bind::Any>(&json[..len]).is_err());
        }
        for len in 0..cbor.len() {
            assert!(from_cbor::<silverpoint_bind::Any>(&cbor[..len]).is_err());
        }
        for at in 0..cbor.len() {
            for bit in 0..8 {
                let mut damaged = cbor.clone();
                damaged[at] ^= 1 << bit;
                let _ = from_cbor::<All>(&damaged);
                let _ = from_cbor::<silverpoint_bind::Any>(&damaged);
            }
        }
        for at in 0..json.len() {
            for byte in [b'"', b'\\', b'{', b']', b',', b'0', b'e', 0xFF, b' '] {
                let mut damaged = json.to_vec();
                damaged[at] = byte;
                let _ = from_json::<All>(&damaged);
                let _ = from_json::<silverpoint_bind::Any>(&damaged);
            }
        }
    }
}
