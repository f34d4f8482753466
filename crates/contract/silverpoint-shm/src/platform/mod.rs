//! What the observer and collectors ask of the operating system: `linux/` and `windows/` answer, a file for each
//! concern. Producers of Rust exist on Linux alone, and call it themselves.
//!
//! ```text
//!  status     what the system knows of a file: the same for all systems
//!  files      files and directories by descriptor (on Windows, by handle): opened, examined, listed, renamed, removed
//!  opened     a session's directory and files, with the checks of spec/wire.md, section 2
//!  locks      locks of one byte, which belong to the open file
//!  inherited  what a forked child must not have
//!  leftover   a directory whose files were removed while they were open
//!  waiting    sleeping until a word of a file changes
//!  room       memory and disk space of a file, before it is used and afterwards
//!  time       clocks
//!  process    threads, and the start of the machine
//!  root       which directory holds the sessions, and that it is the user's own
//!  ending     processes that are about to end, and what they still hold
//! ```

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
mod status;
#[cfg(windows)]
mod windows;

#[cfg(any(target_os = "linux", target_os = "android"))]
pub use linux::*;
#[cfg(windows)]
pub use windows::*;
