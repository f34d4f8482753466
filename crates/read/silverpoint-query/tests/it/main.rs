//! One harness for all integration tests of this crate.

#[path = "../../../silverpoint-trace/examples/make_trace/builder.rs"]
mod builder;
mod contexts;
mod damage;
mod follow;
mod index;
mod looks;
mod memory;
mod numbers;
mod order;
mod parts;
mod percent;
mod removed_parts;
mod rewrite;
mod rows;
mod select;
mod split;
mod statistics;
mod trace;
mod trim;
mod values;
mod vectors;
mod verify;
mod versions;
