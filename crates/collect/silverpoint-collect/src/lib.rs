//! The collector: drains sessions into trace files, each record exactly once, no matter which process dies
//! and when.
//!
//! **The invariant.** Only stored records are released. The exception are kept records that were not
//! requested (module `keep`); the file counts them.
//!
//! ```
//! use silverpoint_collect::{AttachMode, Collector, Config, Filter, OutputConfig};
//! use silverpoint_shm::root::Root;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let scratch = silverpoint_tests::folder_in_memory();
//! # let file = scratch.path().join("app.silver");
//! # assert!(silverpoint_shm::owner::start());
//! let mut config = Config::new(Root::open()?.path(), OutputConfig::new(&file));
//! config.filter = Filter::pids([std::process::id()]); // here its own process, and mostly another
//! config.attach = Some(AttachMode { directives: Some("info".into()), ..AttachMode::default() });
//! let mut collector = Collector::new(config)?;
//! collector.pass(); // takes the session, and switches its sites on
//! for id in 0..20 {
//!     silverpoint::info!("order {}", id);
//! }
//! let pass = collector.pass(); // of a loop, with `rest` between two passes
//! assert_eq!(pass.sessions, 1);
//! assert!(pass.bytes > 0);
//! let stats = collector.leave();
//! assert_eq!(stats.records, 20);
//! assert!(std::fs::metadata(&file)?.len() >= pass.bytes);
//! # Ok(())
//! # }
//! ```
//!
//! ```text
//!  collector   discovers sessions, passes over them, sleeps          config, error, stats   what is asked for, what went wrong, what was done
//!  session     one session, of four parts:                           takeover               what a dead collector had stored
//!    observed (of silverpoint-shm), rings, keep, declared            attach                 what it changes in a session, and restores
//!  rings, ring the table of its rings, and what is known of one      sink                   the trace file, and what comes next
//!  declared    what the file has of a session beside records         store                  intent, write, release: in this order
//!  drain, look one ring's bytes: copy, judge, into the batch         recover, sweep         sessions that nobody collected
//!  trace       the file: blocks, appending, rotation, quota          keep                   leaves records in rings until a bad one comes
//!  onlooker    copies without collecting                             prepare                pages for threads to come
//!  platform    what it asks of Linux, and of Windows
//!  pace        how long to sleep                                     fault                  places where tests kill the process
//! ```
//!
//! **The promise.** Bytes are copied from a ring, checked, written, and only then released. Before each write
//! the *intent* states where it will stand. The successor of a dead collector reads the file from there, and
//! releases what valid blocks prove to be stored (module `takeover`). Nothing else has to survive.
//!
//! This crate knows no language, and no format but the trace file.
#![forbid(unsafe_code)]

mod attach;
mod collector;
mod config;
mod declared;
mod discover;
mod drain;
mod error;
pub mod fault;
mod give_back;
mod keep;
mod look;
mod onlooker;
mod pace;
mod platform;
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
