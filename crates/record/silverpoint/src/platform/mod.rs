//! The sessions of this system: those of `silverpoint-shm`, or none.

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod none;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod start;

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) use none::{clock, crash, lasting, owner, probe, signal_mask};
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use silverpoint_shm::{clock, crash, lasting, owner, probe, signal_mask};

/// Whether anything can be recorded here. Where it cannot, no tracepoint is in the program.
pub const RECORDS: bool = cfg!(any(target_os = "linux", target_os = "android"));
