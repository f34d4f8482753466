//! Crash records: why the program ended, and where.
//!
//! ```
//! silverpoint::crash::install(&silverpoint::crash::Options::default());
//! ```
//!
//! On a fatal signal or a panic one record is made, of category `silverpoint.crash`. It has the cause, the
//! signal's details, the failing thread, and its stack. The stack is program counters with the build ids of
//! the modules (spec/crash.md); readers turn them into names. Then a logger inside the process
//! (`silverpoint-logger`, which installs this by itself) gets time to deliver everything. Without one the
//! record waits in the session, like all others. Then the earlier handler or hook is called, or the signal's
//! default action follows: core dump and exit status are as without this.
//!
//! The record does not depend on the directives. It is written by async-signal-safe means alone, on a stack
//! of its own and into a ring that is kept for it. So it is also made for a fault within a tracepoint, in
//! forked children, and after a stack overflow. (The latter only in threads that have recorded, or have
//! called [`prepare_thread`].)

pub use crate::platform::crash::{Options, install, prepare_thread};
