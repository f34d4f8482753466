//! What programs and their crates record by `tracing`, recorded by Silverpoint: typed, in tens of nanoseconds, safe from the death of the process.
//!
//! **The invariant.** An event allocates nothing and takes no lock; each of its fields is read once, and copied
//! into the ring. No ring is held while code of the program runs.
//!
//! ```
//! silverpoint_tracing::init();                             // instead of tracing_subscriber::fmt::init()
//!
//! let capture = silverpoint_testing::Capture::start();
//! let load = tracing::info_span!("load", path = "a.txt").entered();
//! tracing::info!(bytes = 17, "loaded");
//! drop(load);
//! capture.expect_span("load").with("path", "a.txt").once();
//! capture.expect_message("loaded bytes=17").with("bytes", 17).within("load").once();
//! ```
//!
//! Run the program under `silverpoint run -- ./app`, or with a logger inside it. Events and spans of
//! `tracing` and those of Silverpoint's macros are one timeline and one tree. A span of either kind lies
//! within the innermost open span of its thread.
//!
//! **Silverpoint's directives** decide what is on. They may change while the program runs; what is off costs
//! what it costs in `tracing` itself. [`Subscriber`] is the fast way. [`layer`] goes beside other layers.
//!
//! ```text
//!  Subscriber, Layer ─▶ spans: their life · open: in each thread · slots: where they live ─▶ fields: into the record
//!                    ─▶ traced: what LTTng may want · usdt: what bpftrace and perf get
//!                    ─▶ table ─▶ callsite: state byte, and sites by shape and role · log_events: what comes from the log crate
//! ```
//!
//! **LTTng.** Events and spans are events of LTTng, too, if the program is asked to feed it
//! (`SILVERPOINT_PROBES=lttng`, `silverpoint ctl --probe`). Then every callsite is of interest to `tracing`, and
//! directives decide for the ring alone.
//!
//! **USDT.** With the feature `usdt` of the crate `silverpoint`, events are hits of the probe `silverpoint:message`
//! while a tracer is attached. Spans are hits of `silverpoint:span_begin`, `span_entry`, `span_exit` and `span_end`.
//! Every callsite then asks at each execution whether it is wanted.
//!
//! **Cost.** The first event of a callsite, and of each other combination of fields and types, registers a
//! site: some microseconds. For one callsite 262 combinations have sites of their own, as long as all such
//! sites take at most half of the session's table. Records of further combinations have their fields as one
//! argument, a map `fields`.
//!
//! **Formatting of values** may run any code: it may record something itself, fork, or panic. A record that was
//! abandoned by a panic is counted as lost.
//!
//! **Spans** that are entered once, where they were made, are two records, as of [`silverpoint::span!`].
//! Others (of futures, mostly) get an id. Their begin with its fields and their end with the fields `busy`
//! and `idle` are records of an async span. Their work in a thread is recorded as spans of that thread, and
//! links state their origin.
#![forbid(unsafe_code)]

#[cfg(all(feature = "atrace", any(target_os = "linux", target_os = "android")))]
pub mod atrace;
/// Others where every order of steps is tried (`tests/loom.rs`).
mod atomics {
    pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
}
mod callsite;
mod events;
mod fields;
mod free;
#[cfg(feature = "layer")]
mod layer;
mod links;
mod log_events;
mod numbers;
mod open;
#[cfg(feature = "layer")]
mod owned;
mod records;
mod role;
mod slots;
mod spans;
mod subscriber;
mod table;
mod thread;
mod traced;
mod usdt;
#[cfg(all(tracing_unstable, feature = "valuable"))]
mod values;
mod watch;

#[cfg(feature = "layer")]
pub use layer::{Filter, Layer, layer};
pub use subscriber::Subscriber;

/// Makes a [`Subscriber`] the program's.
///
/// # Panics
/// When the program has one.
pub fn init() {
    Subscriber::new().try_init().expect("the program has no other global subscriber");
}

/// The snippets of the guide, as tests.
#[cfg(all(doctest, feature = "layer", feature = "atrace"))]
mod guide {
    #[doc = include_str!("../../../../docs/guide/tracing.md")]
    mod keeping_tracing {}
    #[doc = include_str!("../../../../docs/guide/atrace.md")]
    mod atrace {}
}
