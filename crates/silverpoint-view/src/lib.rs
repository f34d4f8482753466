//! Parts of a server that shows traces in a browser.
//!
//! ```text
//! guard   who may ask: host, origin, token, cookie
//! lanes   rectangles and values of the timeline, in bounded memory
//! ```
#![forbid(unsafe_code)]

pub mod guard;
pub mod lanes;
