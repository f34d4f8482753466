//! ```text
//!  absent       what needs the sessions of programs
//!  directories  new ones, named at the end
//!  interrupts   what remains of a file that was not finished
//!  pipes        a program beside this one
//!  terminal     what standard input and output are
//! ```

pub mod absent;
pub mod directories;
pub mod interrupts;
mod pipes;
pub mod terminal;

pub use pipes::Pipes;
