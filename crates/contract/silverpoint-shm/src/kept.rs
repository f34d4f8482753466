//! A descriptor that lives in a program which may close it.
//!
//! A program that becomes a daemon closes every descriptor that it does not know (`closefrom`, a loop up to
//! 1023). Then it opens files of its own, which get the same numbers. Code that writes to a kept number then
//! writes into the program's file, and closes it at the end. So the identity of the opened file is
//! remembered, and compared before a batch of writes and before closing.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;

use crate::platform::files::{self, AccessOfFile, AsDescriptor, Descriptor};

/// Device and inode.
pub type Identity = (u64, u64);

/// A descriptor, and the identity of its file when it was opened.
#[derive(Debug)]
pub struct KeptFd {
    fd: ManuallyDrop<Descriptor>,
    identity: Identity,
}

impl KeptFd {
    /// Of what is open now.
    pub fn new(fd: impl Into<Descriptor>) -> Self {
        let fd = fd.into();
        // What cannot be asked is not ours either: it is never written, nor closed.
        let identity = identity(&fd).unwrap_or_default();
        Self { fd: ManuallyDrop::new(fd), identity }
    }

    /// What was opened.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// What is open under its number, whether that is the same file or not.
    pub(crate) fn descriptor(&self) -> &Descriptor {
        &self.fd
    }

    /// Whether it still stands for that.
    pub fn is_intact(&self) -> bool {
        identity(&*self.fd).is_some_and(|now| now == self.identity)
    }

    /// An error where it does not.
    ///
    /// # Errors
    /// `NotConnected`, in words.
    pub fn check(&self) -> io::Result<()> {
        if self.is_intact() { Ok(()) } else { Err(closed()) }
    }
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the program has closed the descriptor of this file")
}

fn identity(fd: impl AsDescriptor) -> Option<Identity> {
    files::status(fd).ok().map(|found| (found.device, found.inode))
}

impl Drop for KeptFd {
    fn drop(&mut self) {
        if self.is_intact() {
            // SAFETY: it is not used after this.
            unsafe { ManuallyDrop::drop(&mut self.fd) };
        }
    }
}

/// The same of a file. A descriptor of the same file with other access does not count. A reader of the process
/// may have got the number, and a writer would fail there for ever.
#[derive(Debug)]
pub struct KeptFile {
    file: ManuallyDrop<File>,
    identity: Identity,
    /// `None` when it could not be asked.
    access: Option<AccessOfFile>,
}

impl KeptFile {
    /// Of what is open now.
    pub fn new(file: File) -> Self {
        let identity = identity(&file).unwrap_or_default();
        let access = files::access(&file);
        Self { file: ManuallyDrop::new(file), identity, access }
    }

    /// What was opened.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// Whether the descriptor still stands for the file, and permits what it did.
    pub fn is_intact(&self) -> bool {
        identity(&*self.file).is_some_and(|now| now == self.identity)
            && files::access(&self.file) == self.access
    }

    /// The file, if the descriptor still stands for it. To be called before each batch of writes.
    ///
    /// # Errors
    /// `NotConnected`, in words.
    pub fn get(&self) -> io::Result<&File> {
        if self.is_intact() { Ok(&self.file) } else { Err(closed()) }
    }

    /// The file, for reading what is judged afterwards.
    pub fn unchecked(&self) -> &File {
        &self.file
    }
}

impl Drop for KeptFile {
    fn drop(&mut self) {
        if self.is_intact() {
            // SAFETY: it is not used after this.
            unsafe { ManuallyDrop::drop(&mut self.file) };
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Write;
    use std::os::fd::{AsRawFd, FromRawFd};

    use super::*;

    /// A descriptor of another file under the number of a kept one.
    #[test]
    fn what_another_file_has_is_neither_written_nor_closed() {
        let folder = tempfile::TempDir::with_prefix("silverpoint-kept-").unwrap();
        let (ours, theirs) = (folder.path().join("ours"), folder.path().join("theirs"));
        let kept = KeptFile::new(File::create(&ours).unwrap());
        kept.get().unwrap().write_all(b"ours").unwrap();
        let number = kept.unchecked().as_raw_fd();
        let other = File::create(&theirs).unwrap();
        // SAFETY: both are open; the number is that of the other file from here on.
        assert_eq!(unsafe { libc::dup3(other.as_raw_fd(), number, libc::O_CLOEXEC) }, number);
        assert_eq!(kept.get().unwrap_err().kind(), io::ErrorKind::NotConnected);
        drop(kept);
        // SAFETY: it is still open, and nothing else owns the number.
        let mut still_open = unsafe { File::from_raw_fd(number) };
        still_open.write_all(b"theirs").unwrap();
        drop(still_open);
        let read = [&ours, &theirs].map(|path| std::fs::read_to_string(path).unwrap());
        assert_eq!(read, ["ours", "theirs"]);
    }

    /// Two threads of a logger read what a third one writes; all three open the file again in any order.
    #[test]
    fn a_reader_of_the_same_file_is_not_taken_for_the_writer() {
        let folder = tempfile::TempDir::with_prefix("silverpoint-kept-").unwrap();
        let path = folder.path().join("file");
        let kept = KeptFile::new(File::create(&path).unwrap());
        let number = kept.unchecked().as_raw_fd();
        let reader = File::open(&path).unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { libc::dup3(reader.as_raw_fd(), number, libc::O_CLOEXEC) }, number);
        assert_eq!(kept.get().unwrap_err().kind(), io::ErrorKind::NotConnected);
        drop(kept);
        // SAFETY: as above.
        let still_open = unsafe { File::from_raw_fd(number) };
        assert!(still_open.metadata().is_ok());
    }
}
