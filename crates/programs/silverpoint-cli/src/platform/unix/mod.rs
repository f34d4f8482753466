//! ```text
//!  directories  new ones: private, durable, and named at the end
//!  errors       those of crates that are for Unix alone
//!  interrupts   signals while a file is made
//!  pipes        a program beside this one, which reads and writes at once
//!  terminal     what standard input and output are
//! ```

pub mod directories;
mod errors;
pub mod interrupts;
mod pipes;
pub mod terminal;

pub use pipes::Pipes;
