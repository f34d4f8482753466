//! Tracepoints that cost what reading the clock costs, keep their arguments typed, and survive the death of their process.
//!
//! **The invariant.** A tracepoint allocates nothing and takes no lock, so it may be in a signal handler. One
//! that is off is two loads and a branch.
//!
//! ```
//! use silverpoint::{Trace, counter, debug, event, info, span, warn};
//!
//! #[derive(Trace)]
//! struct Order { id: u64, price: f64 }
//!
//! # let capture = silverpoint_testing::Capture::start();
//! let (order, user) = (Order { id: 7, price: 9.5 }, "ada");
//! info!("order {} at {:.2}", order.id, order.price);      // text with placeholders, as of format!, checked when compiled
//! info!("{user} has {}", order.id);                        // captures
//! info!(user, order, "filled");                            // fields: names and values beside the text
//! warn!(target: "net", %user, retries = 3, "slow");        // %: its Display text, ?: its Debug text; another category
//! event!("order.filled", order.id, venue = "XETR");        // a name and values
//! let _load = span!("load", user);                         // ends when the guard goes
//! counter!("queue", 17);
//! debug!("never evaluated when off: {}", { let expensive = 1; expensive });
//!
//! # assert_eq!(capture.messages().len(), 5);
//! // A test sees what was recorded: see `silverpoint-testing`.
//! capture.expect_message("order 7 at 9.50").once();
//! capture.expect_message("slow user=ada retries=3").category("net").with("user", "ada").with("retries", 3).once();
//! capture.expect_event("order.filled").with("order.id", 7).with("venue", "XETR").once();
//! capture.expect_counter("queue").value(17).within("load").once();
//! ```
//!
//! ```text
//!  info!, event!, span! … ─▶ site: is it on? ─▶ args: sizes, bytes ─▶ writer: the ring of this thread (silverpoint-shm)
//!                             │                  ├ scratch: values that run code of the program, before the ring
//!                             │                  └ probed: events of LTTng and other system tracers
//!                             └ sig: types of the arguments, at the first record
//!  dynamic: sites that are known only when the program runs, for `log`, `tracing` and ATrace
//! ```
//!
//! Fields of all records of a scope: `let _request = context!(request = id);` ([`context!`], [`Context`]).
//!
//! [`#[instrument]`](macro@instrument) makes a span of a function.
//!
//! Run the program under `silverpoint run -- ./app` and read with `silverpoint cat`. Without a collector and
//! without settings everything is off. `SILVERPOINT_FILTER=debug` records into memory from the start; another
//! process can switch every site at any time.
//!
//! **Levels.** Events have level info. Spans, counters, instants, flows and links have level debug, in every
//! language. `level: warn,` as the first argument changes that.
//!
//! Values that implement [`Trace`] may be recorded; types that contain themselves, too
//! (`#[trace(recursive)]`). Values recorded by `%` and `?` run their own formatting, and should not be used in a
//! signal handler. That runs once for each record, before the ring is used. It may panic (then the record is
//! counted as lost), fork, or record something itself.
//!
//! **Values of other crates** are recorded with their types by the features `chrono`, `time` and `uuid`. The
//! feature `serde` records every type that implements `Serialize`.
//!
//! **USDT.** With the feature `usdt` each tracepoint is a probe that bpftrace and perf find and read. While a
//! tracer is attached to any probe of the program, arguments are evaluated even where the site is off.
//!
//! **Levels that are not wanted at all** are left out by the features `max_level_off`, `max_level_fatal`, … `max_level_debug`.

// Code made by the derive names this crate.
extern crate self as silverpoint;

mod args;
mod atrace_call;
mod context;
mod copy;
pub mod crash;
pub mod dynamic;
mod few;
mod header;
mod item;
mod level;
mod limit;
mod located;
mod macros;
mod placed;
mod platform;
mod probed;
mod published;
mod record;
mod replay;
mod scratch;
mod section;
mod seldom;
mod shapes;
mod sig;
mod site;
mod span;
mod span_step;
mod text_alone;
mod trace_context;
#[cfg(usdt)]
mod usdt;
mod value;
mod wanted;
mod watch;
mod within;
mod words;
mod writer;

pub use silverpoint_derive::{Trace, instrument};

pub use crate::platform::owner::new_id;
pub use context::{Context, ContextScope, InContext};
pub use item::{Item, Nest};
pub use sig::{Class, Sig};
pub use span::{AsyncSpan, Id, Span};
pub use trace_context::{TraceContext, TraceContextError};
#[cfg(feature = "serde")]
pub use value::Serde;
pub use value::{Bytes, Causes, Hex, Secret, Trace, Unit, UnitName};
pub use within::Within;
pub use writer::Writer;

/// Prepares the calling thread, so that its first record costs what any other does (tens of nanoseconds instead of some microseconds). Worth a line where a thread
/// begins whose first record may come at a bad moment. Does nothing without a session.
///
/// ```
/// std::thread::spawn(|| {
///     silverpoint::prepare_thread();
///     silverpoint::info!("ready");
/// });
/// ```
pub fn prepare_thread() {
    crate::platform::owner::prepare();
}

/// What the macros' code names. No part of the interface.
#[doc(hidden)]
pub mod __private {
    pub use silverpoint_derive::site;

    pub use crate::args::{Args, Types};
    pub use crate::context::Fields;
    pub use crate::level::*;
    pub use crate::limit::Limit;
    pub use crate::placed::{ByFormat, ByNothing, ByTrace, Placed, PlacedDebug, is_trace};
    pub use crate::platform::RECORDS;
    pub use crate::record::record;
    pub use crate::sig::{Class, Sig, fixed_sum};
    pub use crate::site::{Kind, Meta, Piece, Site, is_on, state};
    pub use crate::span::{AsyncSites, AsyncSpan, Id, Span, inside, mention, once};
    pub use crate::value::recursive as item;
    pub use crate::value::{Debugged, Displayed};
}

/// The snippets of the guide, as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/guide/start-rust.md")]
#[doc = include_str!("../../../../docs/guide/rust-values.md")]
mod guide {}

#[cfg(all(doctest, feature = "chrono", feature = "serde", feature = "time", feature = "uuid"))]
#[doc = include_str!("../../../../docs/guide/rust-crates.md")]
mod guide_of_crates {}
