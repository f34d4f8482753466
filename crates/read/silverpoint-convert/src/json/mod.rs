//! JSON: lines (one object a record) and one array of all records.

mod parse;
mod write;

pub(crate) use parse::{END, put_number, skip_mark, skip_space, unexpected};
pub use parse::{JsonParser, JsonReader};
pub use write::{JsonWriter, Shape};
