//! The root of sessions: `%SILVERPOINT_DIR%`, else `%LOCALAPPDATA%\silverpoint` (spec/wire.md, section 2). It is a
//! directory of this user, and no link. Who else has access to it is not asked: what is in it must belong to this
//! user, too.

use std::ffi::OsStr;
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

use windows_sys::Win32::Storage::FileSystem::GetDiskFreeSpaceExW;

use super::files::{
    AsDescriptor, BorrowedDescriptor, Descriptor, open_directory_at, open_own_directory, status,
};
use super::user;
use crate::kept::KeptFd;

/// An opened and checked root of sessions.
#[derive(Debug)]
pub struct Root {
    directory: KeptFd,
    path: PathBuf,
}

impl Root {
    /// Opens the root of this user's sessions. The error is `NotFound` when there is no root yet. [`explained`] says
    /// for people what is wrong.
    pub fn open() -> io::Result<Self> {
        Self::open_directory(&place().ok_or(io::ErrorKind::NotFound)?)
    }

    /// As [`Root::open`], but makes the directory where it is missing.
    pub fn open_or_create() -> io::Result<Self> {
        let path = place().ok_or(io::ErrorKind::NotFound)?;
        match Self::open_directory(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match user::make_directory(&path) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
                    // The first process wins.
                    _ => Self::open_directory(&path),
                }
            }
            other => other,
        }
    }

    /// Makes a directory in this one that can be a root.
    ///
    /// # Errors
    /// Those of Windows; `AlreadyExists`.
    pub fn make_beneath(&self, name: &str) -> io::Result<()> {
        user::make_directory(&self.path.join(name))
    }

    /// Opens a given directory as the root of this user's sessions, with the same checks.
    pub fn open_directory(path: &Path) -> io::Result<Self> {
        Self::checked(open_own_directory(path)?, path.to_owned())
    }

    /// Opens a directory in this one as a root, with the same checks.
    pub fn open_beneath(&self, name: &OsStr) -> io::Result<Self> {
        Self::checked(open_directory_at(&self.directory, name)?, self.path.join(name))
    }

    fn checked(directory: Descriptor, path: PathBuf) -> io::Result<Self> {
        if !status(&directory)?.is_directory {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        if !user::owns(&directory)? {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(Self { directory: KeptFd::new(directory), path })
    }

    /// Whether the handle still stands for the directory.
    pub fn is_intact(&self) -> bool {
        self.directory.is_intact()
    }

    /// Bytes that this user may still use on the drive of the directory.
    ///
    /// # Errors
    /// Those of Windows.
    pub fn free_bytes(&self) -> io::Result<u64> {
        let path: Vec<u16> = self.path.as_os_str().encode_wide().chain([0]).collect();
        let mut free = 0;
        // SAFETY: the path ends with a zero; one number is written.
        let found = unsafe { GetDiskFreeSpaceExW(path.as_ptr(), &raw mut free, null_mut(), null_mut()) };
        if found == 0 { Err(io::Error::last_os_error()) } else { Ok(free) }
    }

    /// The handle of the directory.
    pub fn fd(&self) -> BorrowedDescriptor<'_> {
        self.directory.as_handle()
    }

    /// The path under which it was opened: for messages, and for files that must be opened again later.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn set(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Where this user's sessions are: what `SILVERPOINT_DIR` names, else a directory below `LOCALAPPDATA`.
pub fn place() -> Option<PathBuf> {
    named().or_else(|| Some(set("LOCALAPPDATA")?.join("silverpoint")))
}

/// What `SILVERPOINT_DIR` names, if it names anything.
pub fn named() -> Option<PathBuf> {
    set("SILVERPOINT_DIR")
}

/// The same error, with words for people: which directory, what is wrong with it, and what to do.
pub fn explained(error: io::Error) -> io::Error {
    let Some(path) = place() else {
        return io::Error::new(error.kind(), "set SILVERPOINT_DIR to a directory of your own");
    };
    let what = match error.kind() {
        io::ErrorKind::NotADirectory => "it is a link or no directory; name the directory itself".to_owned(),
        io::ErrorKind::PermissionDenied => "it belongs to another user, or access to it is denied".to_owned(),
        _ => error.to_string(),
    };
    io::Error::new(error.kind(), format!("{}: {what}", path.display()))
}
