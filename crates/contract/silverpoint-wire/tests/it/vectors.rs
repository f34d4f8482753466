//! The vectors as they are committed.

use std::path::{Path, PathBuf};
use std::{fs, str};

use serde_json::Value;

use crate::generate;

/// A file below spec/vectors.
pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../spec/vectors").join(name)
}

/// The bytes of a file below spec/vectors.
pub fn bytes(name: &str) -> Vec<u8> {
    fs::read(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The vectors of a file.
pub fn load(name: &str) -> Vec<Value> {
    match serde_json::from_slice(&bytes(name)) {
        Ok(Value::Array(vectors)) if !vectors.is_empty() => vectors,
        other => panic!("{name} holds no array of vectors: {other:?}"),
    }
}

/// A field of a vector as text.
pub fn text<'a>(vector: &'a Value, key: &str) -> &'a str {
    vector[key].as_str().unwrap_or_else(|| panic!("no text {key} in {vector}"))
}

/// A field of a vector as a number, which may stand there as text.
pub fn number(vector: &Value, key: &str) -> u64 {
    let value = &vector[key];
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
    number.unwrap_or_else(|| panic!("no number {key} in {vector}"))
}

/// A field of a vector in hexadecimal digits.
pub fn hex(vector: &Value, key: &str) -> Vec<u8> {
    let digits = text(vector, key).as_bytes();
    assert!(digits.len() % 2 == 0, "an odd number of digits: {vector}");
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// A vector's verdict, or nothing when it is good.
pub fn refusal(vector: &Value) -> Option<&str> {
    Some(text(vector, "verdict")).filter(|verdict| *verdict != "ok")
}

#[test]
fn the_committed_vectors_are_those_of_the_generator() {
    let files = generate::all();
    for (name, contents) in &files {
        assert!(bytes(name) == *contents, "{name} is not what the generator makes; run the example vectors");
    }
    let size: usize = files.iter().map(|(_, contents)| contents.len()).sum();
    assert!(size < 600_000, "{size} bytes of vectors");
}

#[test]
fn names_are_given_once() {
    for (file, _) in generate::all().iter().filter(|(file, _)| file.ends_with(".json")) {
        let mut names: Vec<String> = load(file).iter().map(|vector| text(vector, "name").into()).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count, "{file}");
    }
}
