//! Readers and writers of what was recorded.
#![forbid(unsafe_code)]

pub mod cbor;
pub mod escape;
pub mod filter;
pub mod format;
pub mod json;
pub mod render;
pub mod site;
pub mod stats;
pub mod time;
