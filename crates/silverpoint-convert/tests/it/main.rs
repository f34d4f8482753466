//! Conversions: there and back through every format, errors with their places, hostile inputs.

mod errors;
mod golden;
mod round_trip;
mod support;
