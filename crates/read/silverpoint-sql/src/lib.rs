//! SQL over trace files: virtual tables that read as far as a query needs, and databases that hold the same tables.
//!
//! **The invariant.** SQLite checks every row again itself, so a mistake in this crate can cost time but
//! cannot give a row too many. A [`Database`] cannot be changed: neither a query nor anything in a file can
//! write anywhere.
//!
//! ```
//! use silverpoint_sql::{Database, Limits, Rows, ValueRef};
//! use silverpoint_trace::Trace;
//!
//! #[derive(Default)]
//! struct Table(String);
//!
//! impl Rows for Table {
//!     fn begin(&mut self, columns: &[&str]) -> std::io::Result<()> {
//!         self.0 = columns.join(" ");
//!         Ok(())
//!     }
//!
//!     fn row(&mut self, values: &[ValueRef<'_>]) -> std::io::Result<()> {
//!         if let [ValueRef::Text(category), ValueRef::Integer(records)] = values {
//!             self.0 += &format!("\n{} {records}", String::from_utf8_lossy(category));
//!         }
//!         Ok(())
//!     }
//!
//!     fn end(&mut self) -> std::io::Result<()> {
//!         Ok(())
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let file = "../silverpoint-query/tests/data/versions/1.0/rust-raw.silver";
//! let database = Database::new(Trace::open(&[file])?, Limits::default())?;
//! let mut table = Table::default();
//! database.run("SELECT category, count(*) AS n FROM records GROUP BY category", &mut table)?;
//! assert_eq!(table.0, "category n\nkept::other 1\nkept_values 33");
//! # Ok(())
//! # }
//! ```
//!
//! ```text
//! Trace ─▶ records, spans     virtual tables: constraints ─▶ Picked ─▶ blocks that are read ─▶ rows, one at a time
//!       ─▶ sites, threads …   small tables, filled when the trace is opened
//!       ─▶ views              one for each event name, with a column for each argument
//! ```
//!
//! Constraints that SQLite pushes down only narrow what is read. [`write_database`] makes a database that can
//! be changed. [`SavedRecords`] reads the records of such a database back.
#![deny(unsafe_code)]

mod database;
mod error;
mod module;
mod names;
mod open_spans;
mod plan;
mod records;
mod row;
mod save;
mod saved;
mod small;
mod spans;
mod state;
mod views;

pub use database::{Database, Limits, Rows};
pub use error::Error;
pub use names::{KEYWORDS, is_keyword};
pub use rusqlite::InterruptHandle;
pub use rusqlite::types::ValueRef;
pub use save::{Saved, write_database};
pub use saved::{SavedError, SavedRecord, SavedRecords};
