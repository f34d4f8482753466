//! Programs that log, ended in every way.

mod ends;
mod harness;
mod sinks;
mod system;
