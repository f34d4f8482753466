//! The collector: drains sessions into trace files, each record exactly once, no matter which process dies
//! and when.
//!
//! ```text
//!  collector   discovers sessions, passes over them, sleeps          config, error, stats   what is asked for, what went wrong, what was done
//!  session     what the collector knows of one session               takeover               what a dead collector had stored
//!  ring, look  what it knows of one ring, and what a look finds      sink                   the trace file, and what comes next
//!  drain       one ring's bytes: copy, judge, into the batch         store                  intent, write, release: in this order
//!  trace       the file: blocks, appending, rotation, quota          recover, sweep         sessions that nobody collected
//!  onlooker    copies without collecting                             keep                   leaves records in rings until a bad one comes
//!  pace        how long to sleep                                     prepare                pages for threads to come
//!  fault       places where tests kill the process
//! ```
//!
//! **The promise.** Bytes are copied from a ring, checked, written, and only then released. Before each write
//! the *intent* states where it will stand. The successor of a dead collector reads the file from there, and
//! releases what valid blocks prove to be stored (module `takeover`). Nothing else has to survive.
//!
//! **The invariant.** Only stored records are released. The exception are kept records that were not
//! requested (module `keep`); the file counts them. This crate knows no language, and no format but the trace
//! file.
#![forbid(unsafe_code)]

mod attach;
mod collector;
mod config;
mod declared;
mod discover;
mod drain;
mod error;
pub mod fault;
mod keep;
mod look;
mod onlooker;
mod pace;
mod prepare;
mod recover;
mod ring;
mod rings;
mod session;
mod sink;
mod sites;
mod statement;
mod stats;
mod store;
mod sweep;
mod takeover;
mod trace;

pub use collector::{Collector, Pass};
pub use config::{
    AttachMode, Backtrace, Compression, Config, Encoding, Existing, Filter, Fsync, OutputConfig,
};
pub use error::CollectError;
pub use onlooker::{Left, Onlooker};
pub use recover::{Account, Loss, Recovery, has_stored_in, recover};
pub use stats::{Message, Stats};
pub use sweep::{Limits, Swept, has_uncollected, remove_left, sessions_of, sweep};
pub use trace::{Missing, ahead};
