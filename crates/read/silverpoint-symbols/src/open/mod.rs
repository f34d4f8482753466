//! How a file is opened of which only the name is known: `unix.rs` and `windows.rs`.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::at_once;
#[cfg(windows)]
pub(crate) use windows::at_once;
