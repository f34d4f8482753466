//! Events and values as text and as JSON: templates, formats of numbers and times, lines and messages.
//!
//! **The invariant.** Nothing here opens a file. Everything appends to a `String` of the caller; a record
//! allocates nothing once the room has grown.
//!
//! ```
//! use silverpoint_render::time::{TimeText, push_duration};
//!
//! let mut line = String::new();
//! TimeText::rfc3339_utc().push(&mut line, 1_795_201_331_123_456_789);
//! line.push(' ');
//! push_duration(&mut line, 1_234_567);
//! assert_eq!(line, "2026-11-20T19:02:11.123456789Z 1.234 ms");
//! ```
//!
//! ```text
//! text, json   an event as one line         system   as a message of syslog or the journal
//! Renderer     a record's message           format   numbers, padding, texts by a specification
//! time         points and lengths of time   table    tables for people
//! ```
//!
//! Names of a crash's addresses come from `silverpoint-symbols`, where the caller asks for them.
#![forbid(unsafe_code)]

mod context;
mod crash;
pub mod format;
pub mod json;
mod marks;
mod number;
mod render;
pub mod system;
pub mod table;
pub mod text;
pub mod time;
pub mod units;

pub use context::ShowContext;
pub use render::{Dialect, Part, Quoting, Renderer, Stack, TextVisitor, push_uuid};
