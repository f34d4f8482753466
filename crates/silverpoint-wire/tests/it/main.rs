//! One harness: the vectors of spec/vectors, and what must hold for any bytes.

#[path = "../../examples/vectors/generate/mod.rs"]
#[allow(dead_code)]
mod generate;
mod records;
mod rings;
mod sites;
mod texts;
mod tree;
mod values;
mod vectors;
