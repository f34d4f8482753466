//! Conversions: there and back through every format, errors with their places, hostile inputs.

mod atrace;
mod ctf;
mod errors;
mod etl;
mod foreign;
mod generated;
mod golden;
mod judges;
mod known;
mod nesting;
mod order;
mod otlp;
mod round_trip;
mod support;
mod systrace;
mod xml;
