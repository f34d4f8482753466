//! What the victims and the judge of the kill test share: how many tracepoints returned, thread by thread.
//!
//! **The invariant** that `scripts/kill-test` checks: each record whose tracepoint returned is in the trace file exactly once. So a
//! victim counts in a mapped file after each tracepoint, and the kernel keeps that file after any death.
//!
//! ```no_run
//! use silverpoint_killtest::counts::Counts;
//!
//! # fn main() -> std::io::Result<()> {
//! let counts = Counts::open("counts".as_ref())?;
//! counts.set_pid(std::process::id());
//! while !counts.is_stopped() {
//!     // A tracepoint, and then its count.
//! }
//! # Ok(())
//! # }
//! ```

pub mod counts;
pub mod facade;
