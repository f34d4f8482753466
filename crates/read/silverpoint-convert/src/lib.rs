//! Records from any format to any other: one [`Reader`] and one [`Writer`] a format, and one [`Record`] between them.
//!
//! **The invariant.** No input makes it panic. Memory is that of the largest record, and of the distinct sites
//! and processes.
//!
//! ```
//! use silverpoint_convert::json::JsonReader;
//! use silverpoint_convert::tsv::TsvWriter;
//! use silverpoint_convert::{Input, copy};
//!
//! let line = r#"{"time":"2026-11-20T19:02:11Z","level":"warn","template":"slow","args":{"ms":17}}"#;
//! let mut reader = JsonReader::new(Input::new(Box::new(line.as_bytes())), 0);
//! let mut table = Vec::new();
//! let written = copy::<Box<dyn std::error::Error>>(&mut reader, &mut TsvWriter::new(&mut table), |damage| Err(damage.into()));
//! assert_eq!(written.unwrap(), 1);
//! assert!(String::from_utf8(table).unwrap().contains("\t\"warn\"\t"));
//! ```
//!
//! ```text
//! Reader ─▶ Record: who, when, what ─▶ Writer          silver, json, tsv, cbor …: one module a format
//!           and packed arguments, which a writer sees through one value visitor (silverpoint_wire::value)
//! ```
//!
//! Text and CBOR formats share one way of reading. The format's parser puts one record at a time into a flat
//! [`scratch`](scratch::Scratch), and `interpret` makes head, site and arguments of it. They share one way of
//! writing too: [`document`] drives a visitor with the record. No tree is built.
//!
//! A custom format implements [`Reader`] or [`Writer`] and joins [`Formats`]: see `examples/own-format`.
#![forbid(unsafe_code)]

mod atrace;
mod begun;
mod cells;
pub mod document;
mod error;
mod exact;
mod fast;
mod filtered;
mod foreign;
mod formats;
mod heads;
mod input;
mod interned;
mod interpret;
mod merge;
mod nesting;
mod own;
mod pack;
mod record;
pub mod scratch;
mod waiting;

pub mod cbor;
pub mod chrome;
pub mod csv;
pub mod ctf;
pub mod etl;
pub mod json;
pub mod otlp;
pub mod perfetto;
pub mod silver;
pub mod systrace;
pub mod tsv;
pub mod xml;

pub use error::{Place, ReadError, WriteError};
pub use filtered::Filtered;
pub use formats::{Format, Formats, MakeReader, MakeWriter, SILVER, WriteOptions};
pub use input::Input;
pub use interned::Interned;
pub use interpret::Parsed;
pub use merge::Merge;
pub use record::{Process, Reader, Writer, copy};
pub use silverpoint_trace::Record;
