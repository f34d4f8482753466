//! Files of a trace in their directory: found, made, locked, renamed. None is ever renamed over another.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use silverpoint_shm::locks::{self, Lock, WRITER_BYTE};
use silverpoint_shm::observer::Intent;
use silverpoint_shm::platform::files::{self, AsDescriptor, Descriptor};
use silverpoint_wire::layout::block::SYNC;

use crate::config::{Existing, OutputConfig};
use crate::error::CollectError;

/// The directory, the absolute path and the name.
pub(super) fn resolve(path: &Path) -> io::Result<(Descriptor, PathBuf, OsString)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let parent = files::absolute_directory(parent)?;
    let directory = files::open_directory(&parent)?;
    let path = parent.join(&name);
    if !Intent::admits(&path) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "invalid filename"));
    }
    Ok((directory, path, name))
}

/// The file that is there, if the configuration says to go on in it; locked. Removes what is to be replaced.
pub(super) fn find(
    directory: impl AsDescriptor + Copy,
    name: &OsStr,
    config: &OutputConfig,
) -> Result<Option<File>, CollectError> {
    let path = &config.path;
    let status = match files::status_at(directory, name) {
        Ok(status) => status,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(CollectError::output(path, "looking for it", error)),
    };
    // Looked at before it is opened: a device or a pipe may act when it is.
    if !status.is_file {
        return Err(CollectError::NotATraceFile(path.clone()));
    }
    if config.existing == Existing::Refuse && status.bytes > 0 {
        return Err(CollectError::Exists(path.clone()));
    }
    let file = open(directory, name).map_err(|error| CollectError::output(path, "opening it", error))?;
    let is_trace =
        begins_like_a_trace(&file).map_err(|error| CollectError::output(path, "reading it", error))?;
    if !is_trace && !config.force {
        return Err(CollectError::NotATraceFile(path.clone()));
    }
    if !lock(&file) && !config.is_owned {
        return Err(CollectError::Busy(path.clone()));
    }
    if is_trace && config.existing != Existing::Replace {
        return Ok(Some(file));
    }
    // Removed, not cut: a reader of the old file keeps it, and intents with its inode do not refer to the new
    // one.
    files::remove_at(directory, name).map_err(|error| CollectError::output(path, "replacing it", error))?;
    Ok(None)
}

pub(super) fn open(directory: impl AsDescriptor + Copy, name: &OsStr) -> io::Result<File> {
    let file = files::open_at(directory, name)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

pub(super) fn create(directory: impl AsDescriptor + Copy, name: &OsStr) -> io::Result<File> {
    let file = files::create_at(directory, name)?;
    lock(&file);
    Ok(file)
}

/// Becomes the file's writer; false: another is. File systems without such locks have one writer by agreement.
pub(super) fn lock(file: &File) -> bool {
    locks::try_lock(file, WRITER_BYTE, Lock::Exclusive).unwrap_or(true)
}

/// Empty, or beginning with (a part of) the sync mark.
fn begins_like_a_trace(file: &File) -> io::Result<bool> {
    let mut start = [0; SYNC.len()];
    let read = files::read_at(file, &mut start, 0)?;
    Ok(start[..read] == SYNC[..read])
}

pub(super) fn is_trace(directory: impl AsDescriptor + Copy, name: &OsStr) -> bool {
    open(directory, name).and_then(|file| begins_like_a_trace(&file)).unwrap_or(false)
}

pub(super) fn identity(file: &File) -> io::Result<(u64, u64)> {
    files::status(file).map(|status| (status.device, status.inode))
}
