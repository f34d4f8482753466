//! What the program asks of the operating system for itself: `unix/` and `windows/` answer, a file for each concern.

mod errors;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{
    Pipes, browser, commands, detached, directories, doctor, ending, interrupts, keys, messages, processes,
    terminal,
};
#[cfg(windows)]
pub use windows::{
    Pipes, absent, browser, commands, detached, directories, doctor, ending, interrupts, keys, messages,
    processes, terminal,
};
