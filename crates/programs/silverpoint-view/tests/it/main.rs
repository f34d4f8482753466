//! What a browser gets, and what others do not.

#[allow(dead_code)]
#[path = "../../../../read/silverpoint-trace/examples/make_trace/builder.rs"]
mod builder;

mod access;
mod client;
mod hostile;
mod routes;
