//! Trace files as events in order of time (`spec/file.md`), their verification, and their rewriting.
//!
//! **The invariant.** Nothing in a file is trusted: what cannot be read costs a [`Note`] and nothing else, and
//! only errors of the file system are errors. Memory is bounded by the number of blocks, streams and sites, and
//! by the blocks that are open at once.
//!
//! ```
//! use silverpoint_trace::{Everything, Trace, Verdict, with_parts};
//!
//! # fn main() -> Result<(), silverpoint_trace::OpenError> {
//! # let file = "../silverpoint-query/tests/data/versions/1.0/rust-raw.silver";
//! let trace = Trace::open(&with_parts(&[file.into()]))?;
//! let mut events = trace.select(&Everything);
//! let (mut count, mut last) = (0, i64::MIN);
//! while let Some(event) = events.next() {
//!     assert!(event.wall_ns >= last && event.tid == 11489);
//!     (count, last) = (count + 1, event.wall_ns);
//! }
//! assert_eq!((count, events.verdict()), (34, Verdict::Intact));
//! # Ok(())
//! # }
//! ```
//!
//! ```text
//! Source ── scan ──▶ Trace: sessions, sites, streams, and where their blocks lie ── events() ──▶ Event, in order of time
//! one file           all files together, the same session in several files is one       one open block a stream
//! ```
//!
//! - [`Follow`] and [`Rows`] read files that grow: the one each event once, the other any event by its number.
//! - [`Select`] is what an event must be to be read; filters of users are in `silverpoint-query`.
//! - [`verify`](mod@verify) reads everything that a trace has; [`rewrite`] makes new files of it.
//! - Text and JSON of an event are made in `silverpoint-render`, which keeps what it needs for a site in [`Site::made`].
#![forbid(unsafe_code)]

mod between;
mod blocks;
pub mod cbor;
mod context;
mod count;
mod cursor;
pub mod escape;
mod event;
mod extents;
pub mod files;
mod follow;
mod growing;
mod held;
mod index;
mod kept;
mod left_out;
mod made;
mod merge;
pub mod newfile;
mod parts;
mod patience;
mod picked;
mod place;
mod progress;
mod record;
pub mod rewrite;
mod rooms;
mod rows;
mod scan;
mod selection;
mod session;
mod site;
mod source;
mod tally;
mod told;
mod trace;
mod verdict;
pub mod verify;
mod walk;

pub use between::Between;
pub use blocks::{BlockCursor, BlockReader, NextBlock};
pub use context::Context;
pub use count::Counted;
pub use event::{Event, What, cause_name};
pub use follow::{Follow, Watcher};
pub use kept::{Kept, KeptEvent};
pub use made::{Keepsake, Made};
pub use merge::Events;
pub use parts::with_parts;
pub use picked::Picked;
pub use record::Record;
pub use rows::{Grown, Rows};
pub use scan::BlockRef;
pub use selection::{Controls, Everything, Select, Selection, ThreadTest, ValueTest, Wanted};
pub use session::{Session, Stream, Thread, loss_causes};
pub use site::Site;
pub use source::{Source, bytes_read};
pub use tally::{Tallied, Tally};
pub use trace::{OpenError, Trace, TraceFile, worst};
pub use verdict::{Matter, Note, Unknown, Verdict};
pub use walk::{Head, Walked};
