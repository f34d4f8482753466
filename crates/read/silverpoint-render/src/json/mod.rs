//! JSON: values, and one object a line for each event.

mod begin;
mod digits;
mod join;
mod line;
mod plain;
mod value;

#[cfg(test)]
pub(crate) use digits::push_number;
pub use digits::{push_f32, push_f64, push_hex};
pub use join::{join_objects, without_first};
pub use line::{Lines, Options, ProcessJson, SiteJson, Writer, push_args};
pub use plain::{push_plain, push_plain_item, unquote};
pub use silverpoint_wire::json::push_string;
pub use value::{JsonVisitor, Stack};
