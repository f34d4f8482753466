//! Questions to a trace: which records, which spans, how many, how long, and when again.
//!
//! **The invariant.** A question reads a trace once, and memory grows with sites, threads and open spans, never
//! with records.
//!
//! ```
//! use silverpoint_query::filter::Filter;
//! use silverpoint_query::stats;
//! use silverpoint_trace::Trace;
//! use silverpoint_wire::level::Level;
//!
//! # fn main() -> Result<(), silverpoint_trace::OpenError> {
//! # let file = "tests/data/versions/1.0/rust-raw.silver";
//! let trace = Trace::open(&[file])?;
//! let bad = Filter { level: Some(Level::Warn), ..Filter::default() };
//! assert_eq!(trace.count(&bad).events, 3);
//! let statistics = stats::collect(&trace, &Filter::default());
//! assert_eq!((statistics.records, statistics.spans.len(), statistics.unpaired), (32, 3, 0));
//! # Ok(())
//! # }
//! ```
//!
//! ```text
//! filter    which records are wanted           stats    counts, spans, counters, losses
//! spans     which begin belongs to which end   tree     records of async spans in a tree
//! replay    events again, in time
//! columns   which columns a table of records has
//! ```
#![forbid(unsafe_code)]

pub mod columns;
pub mod filter;
pub mod replay;
pub mod spans;
pub mod stats;
pub mod tree;
