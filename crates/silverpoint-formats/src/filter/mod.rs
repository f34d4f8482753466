//! Which records are wanted.

mod expression;
mod glob;
