//! What the victims and the judge of the kill test share: how many tracepoints returned, thread by thread.
//!
//! **The invariant** that `scripts/kill-test` checks: each record whose tracepoint returned is in the trace file exactly once. So a
//! victim counts in a mapped file after each tracepoint, and the kernel keeps that file after any death.
//!
//! ```
//! use silverpoint_killtest::counts::{Counts, SIZE};
//!
//! # fn main() -> std::io::Result<()> {
//! # let folder = tempfile::tempdir()?;
//! let path = folder.path().join("counts");
//! std::fs::File::create(&path)?.set_len(SIZE)?;
//! let (victim, judge) = (Counts::open(&path)?, Counts::open(&path)?);
//! victim.set_pid(std::process::id());
//! while !victim.is_stopped() {
//!     // A tracepoint, and then its count.
//!     victim.add(0);
//!     if victim.get(0) == 3 {
//!         judge.stop();
//!     }
//! }
//! assert_eq!((judge.pid(), judge.get(0), judge.get(1)), (std::process::id(), 3, 0));
//! # Ok(())
//! # }
//! ```

pub mod counts;
pub mod facade;
