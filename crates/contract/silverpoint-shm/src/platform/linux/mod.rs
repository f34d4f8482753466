//! Answers of Linux.

pub mod ending;
pub mod files;
pub(crate) mod inherited;
pub(crate) mod leftover;
pub mod locks;
pub(crate) mod opened;
pub(crate) mod process;
pub(crate) mod room;
pub mod root;
pub(crate) mod time;
pub(crate) mod waiting;
