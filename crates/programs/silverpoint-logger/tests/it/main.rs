//! Programs that log, ended in every way.

mod backtrace;
mod changed;
mod console;
mod crashed;
mod ends;
mod exits;
mod failing;
mod full;
mod harness;
mod reload;
mod rotation;
mod sinks;
mod system;
mod traces;
