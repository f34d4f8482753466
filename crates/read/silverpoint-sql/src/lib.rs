//! SQL over trace files: virtual tables that read as far as a query needs, and databases that hold the same tables.
//!
//! **The invariant.** SQLite checks every row again itself, so a mistake in this crate can cost time but
//! cannot give a row too many. A [`Database`] cannot be changed: neither a query nor anything in a file can
//! write anywhere.
//!
//! ```no_run
//! use std::path::PathBuf;
//!
//! use silverpoint_sql::{Database, Limits, Rows, ValueRef};
//! use silverpoint_trace::Trace;
//!
//! struct Print;
//!
//! impl Rows for Print {
//!     fn begin(&mut self, columns: &[&str]) -> std::io::Result<()> {
//!         println!("{}", columns.join("\t"));
//!         Ok(())
//!     }
//!
//!     fn row(&mut self, values: &[ValueRef<'_>]) -> std::io::Result<()> {
//!         println!("{values:?}");
//!         Ok(())
//!     }
//!
//!     fn end(&mut self) -> std::io::Result<()> {
//!         Ok(())
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let trace = Trace::open(&[PathBuf::from("app.silver")])?;
//! let database = Database::new(trace, Limits::default())?;
//! database.run("SELECT category, count(*) FROM records GROUP BY category", &mut Print)?;
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
