//! One harness for all integration tests of this crate.

mod numbers;
