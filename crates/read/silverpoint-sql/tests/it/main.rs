//! Tables over made traces and kept ones: what they hold, what is read for them, and the databases that are written.

#[path = "../../../silverpoint-trace/examples/make_trace/builder.rs"]
mod builder;
mod harness;
mod hostile;
mod narrowed;
mod read_back;
mod saved;
mod tables;
