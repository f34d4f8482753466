//! A logger inside the process: what tracepoints record comes out on the console and in files, without another process.
//!
//! **The invariant.** Each accepted record is once in each text and JSON file, in order within its thread, no
//! matter which process dies and when. The console gets each record at most once.
//!
//! ```
//! use std::time::Duration;
//!
//! use silverpoint_logger::{Config, Flushed, Level, Logger, Sink};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let scratch = tempfile::TempDir::with_prefix("silverpoint-logger-")?;
//! # let folder = scratch.path();
//! let logger = Logger::start(
//!     Config::new("debug")
//!         .sink(Sink::stderr().level(Level::Warn))
//!         .sink(Sink::file(folder.join("app.log")).rotate(64 << 20, 5))
//!         .sink(Sink::file(folder.join("app.jsonl")).json()),
//! )?;
//! silverpoint::info!(user = 7, "ready");
//! assert_eq!(logger.flush(Duration::from_secs(60)), Flushed::Complete);
//! assert!(std::fs::read_to_string(folder.join("app.log"))?.contains("ready user=7"));
//! assert!(std::fs::read_to_string(folder.join("app.jsonl"))?.contains(r#""user":7"#));
//! # Ok(())
//! # }
//! ```
//!
//! In one line, with what the environment says (`SILVERPOINT=debug`, or `SILVERPOINT=/etc/app/log.toml`): `let logger = silverpoint_logger::init()?;`
//!
//! ```text
//!  tracepoints ──▶ rings ──▶ collector thread ──▶ spool (a trace file) ──▶ one thread a sink, each with a cursor of its own
//! ```
//! A tracepoint costs the same as under an outside collector: it waits for no formatting and no file. A sink
//! that is slow or fails holds up only itself: its records wait in the spool.
//!
//! **What survives.** Before each write, a *cursor* file announces it. The next logger with the same files
//! continues from there, and also delivers what the dead process had in its rings (modules `cursor`,
//! `spool`).
#![forbid(unsafe_code)]

mod after_crash;
mod backtrace;
mod begin;
mod collecting;
mod config;
mod control;
mod cursor;
mod deliver;
mod error;
mod exit;
mod feed;
mod flushing;
mod held;
mod idle;
mod lock;
mod logger;
mod message;
mod process;
mod quota;
mod settings;
mod shared;
mod spool;
mod synchronous;
mod syslog;
mod target;
mod unfinished;

pub use after_crash::drain as drain_after_crash;
pub use config::{Backtrace, Config, ConfigFile, Sink};
pub use control::reopen;
pub use error::{LoggerError, NoSession};
pub use feed::Feed;
pub use flushing::{Flush, Sync};
pub use idle::{has_kept, keep, leave_nothing_behind};
pub use logger::{Flushed, Logger};
pub use message::message;
pub use settings::SettingsError;
pub use silverpoint_query::filter::{Filter, category};
pub use silverpoint_render::ShowContext;
pub use silverpoint_render::text;
pub use silverpoint_render::time::Boundary;
pub use silverpoint_shm::crash::Options as CrashOptions;
/// For frontends in other languages: the way to the functions of [`SynchronousHandler`].
#[doc(hidden)]
pub use silverpoint_shm::synchronous::{Made, count as synchronous_handlers, give as give_synchronously};
pub use silverpoint_trace::{Event, What};
pub use silverpoint_wire::level::Level;
pub use synchronous::SynchronousHandler;
pub use syslog::{Facility, FacilityError, Syslog};
/// For frontends in other languages: lines of the console among lines of theirs.
#[doc(hidden)]
pub use target::{Share, Shared, share_standard_output};
pub use unfinished::Unfinished;

/// Starts a logger that writes level info and above to standard error, unless the environment sets something
/// else ([`Config::with_environment`]).
///
/// # Errors
/// As [`Logger::start`].
pub fn init() -> Result<Logger, LoggerError> {
    Logger::start(Config::default().with_environment()?)
}

/// The snippets of the guide, as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/guide/logger-rust.md")]
#[doc = include_str!("../../../../docs/guide/from-tracing.md")]
#[doc = include_str!("../../../../docs/guide/after-a-crash.md")]
mod guide {}
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/guide/sinks.md")]
mod sinks {}
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/guide/context.md")]
mod context {}
