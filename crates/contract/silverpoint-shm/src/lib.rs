//! Session directories and rings: the only crate that maps memory.
//!
//! **The invariant.** `owner` and `ring` allocate nothing from the heap and take no lock, so that a tracepoint
//! may be in a signal handler. `observer` trusts nothing that it reads.
//!
//! ```
//! use silverpoint_shm::observer::{ObservedSession, list};
//! use silverpoint_shm::owner;
//! use silverpoint_shm::root::Root;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! assert!(owner::start()); // this process has a session now, as a producer
//! let root = Root::open()?;
//! let own = list(&root)?.into_iter().find(|name| name.pid == std::process::id()).ok_or("no session")?;
//! let session = ObservedSession::open_read_only(&root, own)?;
//! assert!(session.is_alive()? && !session.is_collected()?);
//! # Ok(())
//! # }
//! ```
//!
//! ```text
//!  root       which directory holds the sessions, and that it is the user's own
//!  owner      the producer's side of a session: make or join, register sites, claim slices, fork, leave, sweep
//!  ring       the producer's side of a ring: reserve, commit, wrap, overwrite, wait
//!  synchronous  functions that are given each record before its tracepoint returns
//!  crash      why the process ends, and where: one record, made in a signal handler
//!  ending     processes that are about to end, and what they still hold
//!  exit       what is called when the process ends in order
//!  lasting    references for constants
//!  memory     how much memory the rings of a session may take
//!  hangup     SIGHUP for who wants files opened anew, and as it was before when nobody does
//!  probe      what this kernel and this process allow
//!  platform   what the observer and collectors ask of Linux, and of Windows; with `root`, `locks` and `ending`
//!  observer   the collector's side: positions and data by pread, never through a map of a producer's file
//! ```
//!
//! The bytes are those of spec/wire.md.

#[cfg(not(any(target_os = "linux", target_os = "android", all(windows, feature = "windows"))))]
compile_error!(
    "This crate of Silverpoint needs Linux: its shared memory, futexes and file locks. Elsewhere the crates `silverpoint`, `silverpoint-log` and `silverpoint-tracing` have all tracepoints off; put others below `[target.'cfg(target_os = \"linux\")'.dependencies]`, and what uses them behind `#[cfg(target_os = \"linux\")]`."
);

#[cfg(any(target_os = "linux", target_os = "android", all(windows, feature = "windows")))]
pub mod clock;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub mod crash;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub mod exit;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub mod hangup;
#[cfg(any(target_os = "linux", target_os = "android", all(windows, feature = "windows")))]
pub mod kept;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub mod lasting;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod lines;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub mod memory;
#[cfg(any(target_os = "linux", target_os = "android", all(windows, feature = "windows")))]
pub mod observer;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub mod owner;
#[cfg(any(target_os = "linux", target_os = "android", all(windows, feature = "windows")))]
pub mod platform;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub mod probe;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub mod ring;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub mod signal_mask;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub mod synchronous;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod sys;

#[cfg(any(target_os = "linux", target_os = "android", all(windows, feature = "windows")))]
pub use platform::{ending, locks, root};
