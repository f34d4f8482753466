//! ```text
//!  browser      what shows a page
//!  commands     what `run` runs
//!  detached     the collector's process, apart from the command's
//!  directories  new ones: private, durable, and named at the end
//!  doctor       what is examined
//!  interrupts   signals while a file is made
//!  ending       signals that ask to end, and how a child ended
//!  keys         pressed while lines are printed
//!  messages     what programs give to the system's debug output: nothing here
//!  pipes        a program beside this one, which reads and writes at once
//!  processes    which live, and belong to a run
//!  terminal     what standard input and output are
//! ```

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
