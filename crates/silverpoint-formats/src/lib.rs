//! Readers and writers of what was recorded.
#![forbid(unsafe_code)]

pub mod escape;
pub mod filter;
pub mod format;
pub mod stats;
pub mod time;
