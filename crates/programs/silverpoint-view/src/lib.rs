//! A server that shows traces in a browser. `API.md` states what its page may ask.
//!
//! **The invariant.** Everything of a request and of a trace is hostile: bounded, and never interpreted as
//! HTML. All that is ever written is which sites of living processes are on.
//!
//! ```
//! use std::sync::atomic::{AtomicBool, Ordering};
//!
//! use silverpoint_view::{Options, Source, Views, serve};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let file = "../../../spec/vectors/files/many-records.raw.silver";
//! let views = Views::open(Source::Files { paths: vec![file.into()], options: Default::default() })?;
//! let options = Options { listen: "127.0.0.1:0".parse()?, idle: None };
//! let stop = AtomicBool::new(false);
//! serve(views, options, &stop, |address| {
//!     assert!(address.starts_with("http://127.0.0.1:") && address.contains("/?token="));
//!     stop.store(true, Ordering::Relaxed); // else it serves until `idle` has passed
//! })?;
//! # Ok(())
//! # }
//! ```
//!
//! ```text
//! browser ── server ── http ── guard        who may ask: host, origin, token, cookie
//!                       ├ page              files that are part of the program
//!                       ├ answers ── worker a thread: reads on, and answers from the records of a filter
//!                       │             ├ view ── timeline (lanes), counts (moments)    in bounded memory (merging)
//!                       │             │   ├ outline    from headers of blocks, until they are read
//!                       │             │   └ refine     what is in sight, read once more where the timeline is too coarse
//!                       │             └ scan ── flame, counts, texts    of a range, read once more
//!                       │               (interest: both go on while somebody asks)
//!                       ├ sql               a thread for queries
//!                       └ switches          sites of living processes: all that is ever written
//! ```
#![forbid(unsafe_code)]

mod answers;
#[cfg(test)]
#[allow(dead_code)]
#[path = "../../../read/silverpoint-trace/examples/make_trace/builder.rs"]
mod builder;
mod counts;
mod flame;
mod guard;
mod http;
mod interest;
mod io;
mod lanes;
mod levels;
mod merging;
mod moments;
mod outline;
mod page;
mod params;
mod pieces;
mod refine;
mod scan;
mod server;
mod slice;
mod source;
mod sql;
mod switches;
#[cfg(test)]
mod tests;
mod texts;
mod timeline;
mod view;
mod worker;

pub use server::{Options, serve};
pub use source::Source;
pub use worker::Views;
