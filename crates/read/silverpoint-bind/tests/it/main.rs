//! Bound types: the vectors of `spec/bind.md`, errors with their places, hostile inputs, generated values.

mod types;
mod values;
mod vectors;
