//! JSON: lines (one object a record) and one array of all records.

mod parse;
mod write;

pub use parse::{JsonParser, JsonReader};
pub(crate) use parse::{put_number, skip_space, unexpected};
pub use write::{JsonWriter, Shape};
