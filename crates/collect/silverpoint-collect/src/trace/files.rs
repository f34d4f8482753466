//! Files of a trace in their directory: found, made, locked, renamed. None is ever renamed over another.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use silverpoint_shm::observer::Intent;
use silverpoint_shm::ofd::{self, Lock};
use silverpoint_wire::layout::block::SYNC;

use crate::config::{Existing, OutputConfig};
use crate::error::CollectError;

/// The directory, the absolute path and the name.
pub(super) fn resolve(path: &Path) -> io::Result<(OwnedFd, PathBuf, OsString)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let parent = parent.canonicalize()?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::open(&parent, flags, Mode::empty())?;
    let path = parent.join(&name);
    if !Intent::admits(&path) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "invalid filename"));
    }
    Ok((directory, path, name))
}

/// The file that is there, if the configuration says to go on in it; locked. Removes what is to be replaced.
pub(super) fn find(
    directory: impl AsFd + Copy,
    name: &OsStr,
    config: &OutputConfig,
) -> Result<Option<File>, CollectError> {
    let path = &config.path;
    let stat = match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(CollectError::output(path, "looking for it", error)),
    };
    // Looked at before it is opened: a device or a pipe may act when it is.
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(CollectError::NotATraceFile(path.clone()));
    }
    if config.existing == Existing::Refuse && stat.st_size > 0 {
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
    rustix::fs::unlinkat(directory, name, AtFlags::empty())
        .map_err(|error| CollectError::output(path, "replacing it", error))?;
    Ok(None)
}

pub(super) fn open(directory: impl AsFd + Copy, name: &OsStr) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(rustix::fs::openat(directory, name, flags, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

pub(super) fn create(directory: impl AsFd + Copy, name: &OsStr) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(directory, name, flags, Mode::RUSR | Mode::WUSR)?);
    lock(&file);
    Ok(file)
}

/// Becomes the file's writer; false: another is. File systems without such locks have one writer by agreement.
pub(super) fn lock(file: &File) -> bool {
    ofd::try_lock(file.as_fd(), 0, Lock::Exclusive).unwrap_or(true)
}

/// Empty, or beginning with (a part of) the sync mark.
fn begins_like_a_trace(file: &File) -> io::Result<bool> {
    let mut start = [0; SYNC.len()];
    let read = file.read_at(&mut start, 0)?;
    Ok(start[..read] == SYNC[..read])
}

pub(super) fn is_trace(directory: impl AsFd + Copy, name: &OsStr) -> bool {
    open(directory, name).and_then(|file| begins_like_a_trace(&file)).unwrap_or(false)
}

pub(super) fn identity(file: &File) -> io::Result<(u64, u64)> {
    file.metadata().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Renames within the directory, never over something.
pub(super) fn rename(directory: impl AsFd + Copy, from: &OsStr, to: &OsStr) -> io::Result<()> {
    match rustix::fs::renameat_with(directory, from, directory, to, RenameFlags::NOREPLACE) {
        // File systems that do not know the flag.
        Err(Errno::INVAL | Errno::NOSYS) => {
            if rustix::fs::statat(directory, to, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            Ok(rustix::fs::renameat(directory, from, directory, to)?)
        }
        result => Ok(result?),
    }
}
