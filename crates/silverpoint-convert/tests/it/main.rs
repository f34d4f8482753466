//! Conversions: there and back through every format, errors with their places, hostile inputs.

mod atrace;
mod ctf;
mod errors;
mod generated;
mod golden;
mod judges;
mod known;
mod otlp;
mod round_trip;
mod support;
mod systrace;
