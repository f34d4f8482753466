//! A session's directory and files, opened beneath a directory without following links. They belong to this user.

use std::ffi::OsStr;
use std::io;

use windows_sys::Wdk::Storage::FileSystem::FILE_OPEN;
use windows_sys::Win32::Storage::FileSystem::{FILE_GENERIC_READ, FILE_GENERIC_WRITE};

use super::files::{AsDescriptor, Descriptor, open_directory_at, status};
use super::{nt, user};
use crate::observer::{Access, ObserveError};

/// The user of this process alone.
pub(crate) type Owner = ();

fn check_user(what: &'static str, file: &Descriptor) -> Result<(), ObserveError> {
    match user::owns(file) {
        Ok(true) => Ok(()),
        Ok(false) => Err(ObserveError::refused(what, "it belongs to another user")),
        Err(error) => Err(ObserveError::io(what, error)),
    }
}

/// Opens a session's directory: this user's own. Gives it with its owner.
pub(crate) fn open_directory(
    root: impl AsDescriptor,
    name: &str,
) -> Result<(Descriptor, Owner), ObserveError> {
    const WHAT: &str = "session directory";
    let directory = match open_directory_at(root, OsStr::new(name)) {
        Ok(directory) => directory,
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(ObserveError::refused(WHAT, "it is a link or no directory"));
        }
        Err(error) => return Err(ObserveError::io(WHAT, error)),
    };
    if !status(&directory).map_err(|error| ObserveError::io(WHAT, error))?.is_directory {
        return Err(ObserveError::refused(WHAT, "it is a link or no directory"));
    }
    check_user(WHAT, &directory)?;
    Ok((directory, ()))
}

/// Opens a session's file: regular, this user's, with one name. Gives it with its size.
pub(crate) fn open_file(
    directory: impl AsDescriptor,
    what: &'static str,
    name: &str,
    (): Owner,
    access: Access,
) -> Result<(Descriptor, u64), ObserveError> {
    let access = match access {
        Access::Read => FILE_GENERIC_READ,
        Access::Write => FILE_GENERIC_READ | FILE_GENERIC_WRITE,
    };
    let file = nt::open(directory, OsStr::new(name), access, FILE_OPEN, 0)
        .map_err(|error| ObserveError::io(what, error))?;
    let status = status(&file).map_err(|error| ObserveError::io(what, error))?;
    if !status.is_file {
        return Err(ObserveError::refused(what, "it is no regular file"));
    }
    if status.names > 1 {
        return Err(ObserveError::refused(what, format!("it has {} names", status.names)));
    }
    check_user(what, &file)?;
    Ok((file, status.bytes))
}
