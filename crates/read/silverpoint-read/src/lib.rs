//! Records for programs that show them: of trace files, and of programs that live.
//!
//! **The invariant.** Nothing but directives is written into a session, on request alone. For any file, memory
//! is that of marks, blocks, and of the requested batch.
//!
//! ```
//! use std::time::Duration;
//!
//! use silverpoint_read::{Batch, OpenOptions, Reader};
//!
//! # fn main() -> Result<(), silverpoint_read::ReadError> {
//! # let file = "../silverpoint-query/tests/data/versions/1.0/rust-raw.silver";
//! let mut reader = Reader::open(&[file.into()], OpenOptions::default())?;
//! reader.filter("-l warn")?;
//! let count = reader.grow(Duration::from_secs(60))?.count;
//! let mut batch = Batch::default();
//! reader.read(count.saturating_sub(2), 2, &mut batch)?;
//! let texts: Vec<_> = batch.rows().iter().map(|row| (row.number, batch.text(row.message))).collect();
//! assert_eq!(texts, [(1, "error 2"), (2, "warning 3 user=7")]);
//! # Ok(())
//! # }
//! ```
//!
//! ```text
//! sessions, targets   which processes are meant, and where their sessions are      scratch   a directory for what is copied
//! live                the files in which living sessions can be read
//! reader              records by their numbers, of files and of living sessions
//! direct, switch      which sites of a session record, once and while somebody looks
//! platform            what Linux and Windows are asked
//! batch, tree         records with everything that is known about them; arguments as trees of typed values
//! ```
//!
//! Nothing is printed.
#![forbid(unsafe_code)]

mod batch;
mod direct;
mod error;
mod live;
mod platform;
mod reader;
mod scratch;
pub mod sessions;
mod switch;
mod targets;
mod tree;

pub use batch::{BATCH_BYTES, Batch, Row, RowKind};
pub use error::ReadError;
pub use live::Live;
pub use reader::{Growth, OpenOptions, Reader, State};
pub use scratch::Scratch;
pub use targets::Targets;
pub use tree::{NODES_MAX, Node, NodeKind, Span};
