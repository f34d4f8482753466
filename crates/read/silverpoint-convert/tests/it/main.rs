//! Conversions: there and back through every format, errors with their places, hostile inputs.

mod atrace;
#[path = "../../../silverpoint-trace/examples/make_trace/builder.rs"]
mod builder;
mod ctf;
mod errors;
mod etl;
mod foreign;
mod generated;
mod golden;
mod judges;
mod known;
mod moved;
mod nesting;
mod order;
mod otlp;
mod round_trip;
mod support;
mod systrace;
mod xml;
