//! Parts that the kill test and its victims share.

pub mod counts;
