//! One harness: the vectors of spec/vectors, and what must hold for any bytes.

mod anything;
mod decide;
mod files;
#[path = "../../examples/vectors/generate/mod.rs"]
#[allow(dead_code)]
mod generate;
mod reader;
mod records;
mod rings;
mod sites;
mod texts;
mod tree;
mod types;
mod values;
mod vectors;
