//! Formatting of single values by a format specification, with the meaning of C++20's standard format specification
//! (`spec/templates.md`).
//!
//! Everything is appended to a `String` that the caller reuses, so that a record costs no allocation. All functions are total:
//! a presentation type that does not suit a value (templates come from files) falls back to the value's default presentation.

mod float;
mod hexfloat;
mod integer;
mod pad;
mod plain;
mod spec;
mod text;

pub use float::{float32, float64, rounding_away};
pub use integer::{boolean, character, integer, pointer, signed, unsigned};
pub use pad::pad_written;
pub(crate) use plain::number;
pub use spec::{Align, Sign, Spec};
pub use text::{columns, text};
