//! Which records are wanted.

mod evaluate;
mod expression;
mod glob;
