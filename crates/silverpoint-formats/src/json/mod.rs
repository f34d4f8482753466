//! JSON lines.

mod escape;
mod value;

pub use escape::{push_hex, push_string};
pub use value::{JsonVisitor, Stack};
