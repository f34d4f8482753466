//! ```text
//!  absent       what needs the sessions of programs
//!  browser      what shows a page
//!  commands     what `run` runs
//!  detached     the collector's process, apart from the command's
//!  directories  new ones, named at the end
//!  doctor       what is examined
//!  interrupts   what remains of a file that was not finished
//!  ending       Ctrl-C, and how a child ended
//!  keys         pressed while lines are printed
//!  messages     what programs give to OutputDebugString
//!  pipes        a program beside this one
//!  processes    which live
//!  terminal     what standard input and output are
//! ```

pub mod absent;
pub mod browser;
pub mod commands;
pub mod detached;
pub mod directories;
pub mod doctor;
pub mod ending;
pub mod interrupts;
pub mod keys;
pub mod messages;
mod pipes;
pub mod processes;
pub mod terminal;

pub use pipes::Pipes;
