//! What the tests of all crates share: to say that a test, or part of it, cannot run here, and folders for sessions ([`folder_in_memory`]). And a reader of Event Trace
//! Logs ([`etl`]).
//!
//! **The invariant.** What cannot run is counted as skipped, never as passed.
//!
//! A test that returns early has passed, as far as its runner knows, and what it prints is shown only when it fails. So [`skipped!`] writes where nobody captures, and
//! `scripts/test` counts the test as skipped, not as passed.
//!
//! ```
//! use silverpoint_tests::{folder_in_memory, skipped};
//!
//! fn the_kernel_has_the_lines() {
//!     if !std::path::Path::new("/sys/kernel/tracing").exists() {
//!         return skipped!("there is no tracefs here");
//!     }
//! }
//! # the_kernel_has_the_lines();
//!
//! let folder = folder_in_memory();
//! let path = folder.path().to_owned();
//! assert!(path.is_dir());
//! drop(folder);
//! assert!(!path.exists());
//! ```
#![forbid(unsafe_code)]

pub mod etl;

use std::fmt;
use std::io::{self, Write as _};
use std::path::Path;
use std::thread;

use tempfile::{Builder, TempDir};

/// Says what of the calling test cannot run here, and why: arguments as those of `format!`.
#[macro_export]
macro_rules! skipped {
    ($($words:tt)+) => { $crate::say(::std::format_args!($($words)+)) };
}

/// What the macro calls.
#[doc(hidden)]
pub fn say(why: fmt::Arguments<'_>) {
    let thread = thread::current();
    let test = thread.name().unwrap_or("a thread of a test");
    // Lines of its own, and in one piece: other tests write at the same time, and runners dots without an end.
    let line = format!("\nSKIPPED: {test}: {why}\n");
    let _ = io::stderr().write_all(line.as_bytes());
}

/// A folder of this user alone that nothing else has, removed with the value: a root of sessions, or a place for one. It is in memory where the system has a place for that.
pub fn folder_in_memory() -> TempDir {
    let mut builder = Builder::new();
    builder.prefix("silverpoint-test-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { builder.tempdir_in(memory) } else { builder.tempdir() };
    made.expect("a folder")
}
