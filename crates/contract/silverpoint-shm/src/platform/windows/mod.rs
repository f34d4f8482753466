//! Answers of Windows.

mod directory;
pub mod ending;
pub mod files;
pub(crate) mod inherited;
pub(crate) mod leftover;
pub mod locks;
mod nt;
pub(crate) mod opened;
pub mod process;
pub(crate) mod room;
pub mod root;
pub(crate) mod time;
mod user;
pub(crate) mod waiting;
