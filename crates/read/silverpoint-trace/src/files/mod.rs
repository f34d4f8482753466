//! What the standard library has of files for one system alone: `unix.rs` and `windows.rs` answer.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{
    data_from, identity, identity_at, is_regular, open_at_once, private, read_at, read_exact_at, unnamed,
};
#[cfg(windows)]
pub use windows::{
    data_from, identity, identity_at, is_regular, open_at_once, private, read_at, read_exact_at, unnamed,
};
