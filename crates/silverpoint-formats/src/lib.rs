//! Readers and writers of what was recorded.
#![forbid(unsafe_code)]

pub mod escape;
pub mod format;
pub mod time;
