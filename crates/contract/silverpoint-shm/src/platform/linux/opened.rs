//! A session's directory and files, opened beneath a directory without following links.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::observer::{Access, ObserveError};

/// Whose files are expected.
pub(crate) type Owner = u32;

/// Opens `name` in `directory`. Nothing outside is reached, even if the name is replaced meanwhile.
fn open_beneath(directory: impl AsFd, name: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(&directory, name, flags, Mode::empty(), resolve) {
        // Older kernels, and sandboxes that do not know the call. A name is one component: O_NOFOLLOW says the same for it.
        Err(Errno::NOSYS | Errno::PERM) => rustix::fs::openat(&directory, name, flags, Mode::empty()),
        result => result,
    }
}

/// Opens a session's directory: the root owner's own, closed to others. Gives it with its owner.
pub(crate) fn open_directory(root: impl AsFd, name: &str) -> Result<(OwnedFd, Owner), ObserveError> {
    const WHAT: &str = "session directory";
    let owner = rustix::fs::fstat(&root).map_err(|error| ObserveError::io("root of sessions", error))?.st_uid;
    let directory = match open_beneath(root, name, OFlags::RDONLY | OFlags::DIRECTORY) {
        Ok(directory) => directory,
        Err(Errno::LOOP | Errno::NOTDIR) => {
            return Err(ObserveError::refused(WHAT, "it is a link or no directory"));
        }
        Err(error) => return Err(ObserveError::io(WHAT, error)),
    };
    let stat = rustix::fs::fstat(&directory).map_err(|error| ObserveError::io(WHAT, error))?;
    if stat.st_uid != owner {
        return Err(ObserveError::refused(WHAT, format!("it belongs to user {}", stat.st_uid)));
    }
    if stat.st_mode & 0o077 != 0 {
        return Err(ObserveError::refused(
            WHAT,
            format!("its mode {:o} gives others access", stat.st_mode & 0o777),
        ));
    }
    Ok((directory, owner))
}

/// Opens a session's file: regular, the owner's, with one name, closed to others. Gives it with its size.
pub(crate) fn open_file(
    directory: impl AsFd,
    what: &'static str,
    name: &str,
    owner: Owner,
    access: Access,
) -> Result<(OwnedFd, u64), ObserveError> {
    let flags = match access {
        Access::Read => OFlags::RDONLY,
        Access::Write => OFlags::RDWR,
    };
    let fd = match open_beneath(directory, name, flags) {
        Ok(fd) => fd,
        Err(Errno::LOOP) => return Err(ObserveError::refused(what, "it is a link")),
        Err(Errno::ISDIR | Errno::NXIO) => return Err(ObserveError::refused(what, "it is no regular file")),
        Err(error) => return Err(ObserveError::io(what, error)),
    };
    let stat = rustix::fs::fstat(&fd).map_err(|error| ObserveError::io(what, error))?;
    if stat.st_mode & libc::S_IFMT != libc::S_IFREG {
        return Err(ObserveError::refused(what, "it is no regular file"));
    }
    if stat.st_uid != owner {
        return Err(ObserveError::refused(what, format!("it belongs to user {}", stat.st_uid)));
    }
    if stat.st_nlink > 1 {
        return Err(ObserveError::refused(what, format!("it has {} names", stat.st_nlink)));
    }
    if stat.st_mode & 0o077 != 0 {
        return Err(ObserveError::refused(
            what,
            format!("its mode {:o} gives others access", stat.st_mode & 0o777),
        ));
    }
    // Standard descriptors may be closed: a message must not land in a session.
    if fd.as_raw_fd() > 2 {
        return Ok((fd, stat.st_size as u64));
    }
    let fd = rustix::io::fcntl_dupfd_cloexec(&fd, 3).map_err(|error| ObserveError::io(what, error))?;
    Ok((fd, stat.st_size as u64))
}
