//! What is left of a directory when its files are removed while they are open. Where Windows (before 10) or Wine cannot
//! free their names at once, the directory is removed when they are closed.

use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::OnceLock;

use super::files::{AsDescriptor, Descriptor, remove_directory_at};

/// A directory that is removed when this is dropped: after the last of its files is closed. What still holds it back
/// leaves an empty directory, which the next sweep removes.
#[derive(Debug)]
pub(crate) struct Leftover(OnceLock<(Descriptor, OsString)>);

impl Leftover {
    /// None.
    pub(crate) fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The directory of this name could not be removed.
    pub(crate) fn keep(&self, parent: impl AsDescriptor, name: &OsStr, error: io::Error) -> io::Result<()> {
        if error.kind() != io::ErrorKind::DirectoryNotEmpty {
            return Err(error);
        }
        let parent = parent.as_handle().try_clone_to_owned()?;
        let _ = self.0.set((parent, name.to_owned()));
        Ok(())
    }
}

impl Drop for Leftover {
    fn drop(&mut self) {
        if let Some((parent, name)) = self.0.get() {
            let _ = remove_directory_at(parent, name);
        }
    }
}
