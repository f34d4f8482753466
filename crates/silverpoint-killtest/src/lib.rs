//! What the victims and the judge of the kill test share.

pub mod counts;
pub mod facade;
