//! Session directories and rings: the only crate that maps memory.
//!
//! ```text
//!  root       which directory holds the sessions, and that it is the user's own
//!  owner      the producer's side of a session: make or join, register sites, claim slices, fork, leave, sweep
//!  ring       the producer's side of a ring: reserve, commit, wrap, overwrite, wait
//!  synchronous  functions that are given each record before its tracepoint returns
//!  crash      why the process ends, and where: one record, made in a signal handler
//!  ending     processes that are about to end, and what they still hold
//!  hangup     SIGHUP for who wants files opened anew, and as it was before when nobody does
//!  probe      what this kernel and this process allow
//!  observer   the collector's side: positions and data by pread, never through a map of a producer's file
//! ```
//!
//! The bytes are those of spec/wire.md. Invariants: `owner` and `ring` allocate nothing from the heap and take no lock, so that a tracepoint may
//! stand in a signal handler; `observer` trusts nothing that it reads.

pub mod clock;
pub mod crash;
pub mod ending;
pub mod hangup;
mod lines;
pub mod observer;
pub mod ofd;
pub mod owner;
pub mod probe;
pub mod ring;
pub mod root;
pub mod signal_mask;
pub mod synchronous;
mod sys;
