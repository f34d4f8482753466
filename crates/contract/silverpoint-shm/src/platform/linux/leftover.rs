//! What is left of a directory when its files are removed while they are open: nothing.

use std::ffi::OsStr;
use std::io;

use super::files::AsDescriptor;

/// Of no directory.
#[derive(Debug)]
pub(crate) struct Leftover;

impl Leftover {
    /// None.
    pub(crate) fn new() -> Self {
        Self
    }

    /// Names of open files are free at once: the error has another cause.
    pub(crate) fn keep(&self, _: impl AsDescriptor, _: &OsStr, error: io::Error) -> io::Result<()> {
        Err(error)
    }
}
