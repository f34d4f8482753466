//! One line of text an event:
//!
//! ```text
//! 19:02:11.123456789 INFO  indexer[4312] worker-2 net::tcp  order 7 at 3.14   pump.cpp:88
//! ```
//!
//! A record of a backtrace, which was kept back until a worse one came, is marked: `[backtrace] order 7 at 3.14`.
//!
//! Fields of the record's context stand behind the message: `order 7 at 3.14 {request=12 user=ada}`.
//!
//! Columns are as wide as the entries of the trace's dictionaries, within limits, so that lines are aligned
//! from the first on. Control characters of every value and name are escaped: one event is one line.

mod level;
mod message;
mod options;
mod pattern;
mod writer;

pub use message::{message, say};
pub use options::{Look, Options};
pub use pattern::{Pattern, PatternError};
pub use writer::Writer;
