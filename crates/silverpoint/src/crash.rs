//! Crash records: why the program ended, and where.
//!
//! ```
//! silverpoint::crash::install(&silverpoint::crash::Options::default());
//! ```
//!
//! On a fatal signal or a panic one record is made, of category `silverpoint.crash`: the cause, the signal's details, the failing thread, and its stack as program counters with the build ids of the modules
//! (spec/crash.md); who reads it makes names of them. Then a logger inside the process (`silverpoint-logger`, which installs this by itself) is given time to deliver everything. Without one the record waits in the
//! session, like all others. Then the handler or the hook that was there before is called, or what the signal does by default happens: core dump and exit status are what they would have been.
//!
//! The record is made whatever the directives say. It is written by async-signal-safe means alone, on a stack of its own and into a ring that is kept for it: also when a thread's stack is used up (of threads
//! that have recorded, or have called [`prepare_thread`]), when the fault is within a tracepoint, and in forked children.

pub use silverpoint_shm::crash::{Options, install, prepare_thread};
