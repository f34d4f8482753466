//! Own types from and to JSON and CBOR: one description serves tracing and this (`spec/bind.md`).
//!
//! **The invariant.** What is read may be anything: nothing panics, and no memory is taken that the input's
//! own size does not justify.
//!
//! ```
//! use silverpoint_bind::{Bind, from_json, to_json};
//!
//! #[derive(Bind, Debug, PartialEq)]
//! struct Order {
//!     id: u64,
//!     price: f64,
//!     note: Option<String>,
//!     #[bind(default = 1)]
//!     quantity: u32,
//! }
//!
//! let order: Order = from_json(br#"{"price": 101.25, "id": 7}"#)?;
//! assert_eq!(to_json(&order), r#"{"id":7,"price":101.25,"note":null,"quantity":1}"#);
//! let wrong = from_json::<Order>(b"{\"id\":7,\n\"price\":\"x\"}").unwrap_err();
//! assert_eq!(wrong.to_string(), "byte 17 (line 2, column 9), in .price: found the text \"x\", expected a number");
//! # Ok::<(), silverpoint_bind::Error>(())
//! ```
//!
//! ```text
//! your type ─ Put ─▶ Sink: JsonSink, CborSink          Source: JsonSource, CborSource ─ Take ─▶ your type
//!                      ▲                                  │
//!                      └────────────── copy ──────────────┘        without a type in between
//! ```
//!
//! `#[derive(Bind)]` makes both, [`Put`] and [`Take`].
#![forbid(unsafe_code)]

// The derived code of this crate's own tests and examples names it, too.
extern crate self as silverpoint_bind;

mod any;
mod base64;
mod cbor_sink;
mod cbor_source;
mod copy;
mod error;
mod json_sink;
mod json_source;
mod sink;
mod source;
mod time;
mod values;

pub use any::{Any, Rest};
pub use cbor_sink::CborSink;
pub use cbor_source::CborSource;
pub use copy::copy;
pub use error::Error;
pub use json_sink::JsonSink;
pub use json_source::JsonSource;
pub use silverpoint_derive::Bind;
pub use sink::{Key, Put, Sink};
pub use source::{Integer, Kind, Source, Take};
pub use values::{Bytes, Uuid};

/// For derived code alone.
#[doc(hidden)]
pub mod __private {
    pub use crate::source::one_of;
}

/// A value as JSON.
pub fn to_json<T: Put + ?Sized>(value: &T) -> String {
    let mut sink = JsonSink::new(String::new());
    value.put(&mut sink);
    sink.into_text()
}

/// A value as CBOR.
pub fn to_cbor<T: Put + ?Sized>(value: &T) -> Vec<u8> {
    let mut sink = CborSink::new(Vec::new());
    value.put(&mut sink);
    sink.into_bytes()
}

/// A value of JSON, after which only white space may come.
///
/// # Errors
/// What is not as it should be, and where.
pub fn from_json<T: Take>(json: &[u8]) -> Result<T, Error> {
    let mut source = JsonSource::new(json);
    let value = T::take(&mut source)?;
    source.finish()?;
    Ok(value)
}

/// A value of CBOR, after which nothing may come.
///
/// # Errors
/// What is not as it should be, and where.
pub fn from_cbor<T: Take>(cbor: &[u8]) -> Result<T, Error> {
    let mut source = CborSource::new(cbor);
    let value = T::take(&mut source)?;
    source.finish()?;
    Ok(value)
}
