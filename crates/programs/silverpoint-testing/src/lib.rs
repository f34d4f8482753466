//! For unit tests of programs that use Silverpoint: what did this call record?
//!
//! **The invariant.** A capture removes nothing that was recorded for others: a collector still gets every
//! record. What it has missed itself is counted, and expectations that may be wrong because of that fail.
//!
//! ```
//! use silverpoint_testing::{Capture, Level};
//!
//! fn place_order(id: u64) {
//!     let _place = silverpoint::span!("place", id);
//!     silverpoint::event!("order.filled", id, px = 1.5);
//!     silverpoint::info!("order {} at {:.2}", id, 1.5);
//!     silverpoint::counter!("orders", 1);
//! }
//!
//! let capture = Capture::start();
//! place_order(7);
//! capture.expect_event("order.filled").with("id", 7).with("px", 1.5).once();
//! capture.expect_event("order.rejected").never();
//! capture.expect_message("order 7 at 1.50").level(Level::Info).within("place").once();
//! capture.expect_counter("orders").value(1).at_least(1);
//! capture.none_of(Level::Warn..);
//! ```
//!
//! An expectation that is not met panics, at the test's line, with what was recorded instead:
//!
//! ```text
//! expected once, recorded not at all: event order.filled id=7 px=1.5
//! with that name there is, what differs marked !:
//!   event order.filled !id=8 (u64) px=1.5 (f64)  orders.rs:12
//!       id is 8, not 7
//! ```
//!
//! **Whose records.** A capture sees what its own thread records while it lives: tests that run in parallel do not see each other's. `all_threads()` of
//! [`Capture::builder`] sees those of every thread, other tests' included. Captures may be nested.
//!
//! **What is on.** While captures live every site records (levels that a feature has left out of the program
//! do not exist), or the sites that [`directives`](Builder::directives) select. When the last capture ends,
//! the earlier directives hold again. When the process is collected (`silverpoint run`), directives are left
//! alone: a capture sees what they select, and a message of failure says so.
//!
//! **What is seen.** Captures read the rings of their own process. A ring keeps only the latest records (about
//! a mebibyte of each thread, without a collector; less under one, which lets rings stay small). Each read
//! (`records()`, an expectation, `clear()`) keeps what it has found. Records that were overwritten before are
//! counted ([`Capture::losses`]).
//!
//! ```text
//!  capture ─▶ process: session, sites, directives ─▶ tail: new records of the rings ─▶ record, value
//!  view: all records, and spans ─▶ expectation ─▶ wanted, expected: one value ─▶ report: the message
//! ```
#![forbid(unsafe_code)]

mod brief;
mod capture;
mod expectation;
mod expected;
mod losses;
mod process;
mod record;
mod report;
mod tail;
mod types;
mod value;
mod view;
mod wanted;

pub use silverpoint_wire::level::{Kind, Level};

pub use capture::{Builder, Capture};
pub use expectation::Expectation;
pub use expected::{Expected, is};
pub use losses::Losses;
pub use record::{Field, Record};
pub use value::Value;
pub use view::Span;

/// The snippets of the guide, as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/guide/testing.md")]
mod guide {}
