//! The vectors of both languages.

use serde_json::Value;
use silverpoint_bind::{
    CborSink, CborSource, Error, JsonSink, JsonSource, Put, Take, copy, from_cbor, from_json, to_cbor,
    to_json,
};

use crate::types::{All, Defaults, Keeping, Order, Point, Shape, Strict};

fn vectors(file: &str) -> Vec<Value> {
    let path = format!("{}/../../spec/vectors/bind/{file}", env!("CARGO_MANIFEST_DIR"));
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
