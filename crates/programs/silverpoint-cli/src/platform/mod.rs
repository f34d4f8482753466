//! What the program asks of the operating system for itself: `unix/` and `windows/` answer, a file for each concern.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{Pipes, directories, interrupts, terminal};
#[cfg(windows)]
pub use windows::{Pipes, absent, directories, interrupts, terminal};
