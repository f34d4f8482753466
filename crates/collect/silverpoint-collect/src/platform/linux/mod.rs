//! ```text
//!  machine  its name, random numbers
//!  process  its end, its sleeps
//!  room     disk space of a file, before it is written
//!  watch    what appears in a directory
//! ```

mod machine;
mod process;
pub(crate) mod room;
pub(crate) mod watch;

pub(crate) use machine::{host, random};
#[cfg(feature = "fault-points")]
pub(crate) use process::halt;
pub(crate) use process::{be_punctual, kill};
