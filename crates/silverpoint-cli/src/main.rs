//! The silverpoint program.

fn main() {}
