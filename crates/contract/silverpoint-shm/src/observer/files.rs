//! Opening a session's files beneath a directory without following links, and reading them whole or not at all.

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::ObserveError;
use crate::kept::KeptFd;

/// Opens `name` in `directory`. Nothing outside is reached, even if the name is replaced meanwhile.
fn open_beneath(directory: impl AsFd, name: &CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(&directory, name, flags, Mode::empty(), resolve) {
        // Older kernels, and sandboxes that do not know the call. A name is one component: O_NOFOLLOW says the same for it.
        Err(Errno::NOSYS | Errno::PERM) => rustix::fs::openat(&directory, name, flags, Mode::empty()),
        result => result,
    }
}

/// Opens a session's directory: the root owner's own, closed to others. Gives it with its owner.
pub(super) fn open_directory(root: impl AsFd, name: &CStr) -> Result<(OwnedFd, u32), ObserveError> {
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

/// What may be done with a session's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Looking only: the system refuses every write.
    Read,
    /// Collecting and controlling.
    Write,
}

/// Opens a session's file: regular, the owner's, with one name, closed to others. Gives it with its size.
pub(super) fn open_file(
    directory: impl AsFd,
    what: &'static str,
    name: &CStr,
    owner: u32,
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

/// Fills the buffer from `offset`, or says where the file ends.
pub(super) fn read_exact(
    fd: &KeptFd,
    what: &'static str,
    mut buffer: &mut [u8],
    mut offset: u64,
) -> Result<(), ObserveError> {
    while !buffer.is_empty() {
        match rustix::io::pread(fd, &mut *buffer, offset) {
            Ok(0) => return Err(ObserveError::Cut { what, offset }),
            Ok(n) => {
                buffer = &mut buffer[n..];
                offset += n as u64;
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(ObserveError::io(what, error)),
        }
    }
    Ok(())
}

/// Writes all bytes at `offset`. A file that was cut meanwhile would grow again; callers write only within what the header admits.
pub(super) fn write_all(
    fd: &KeptFd,
    what: &'static str,
    mut bytes: &[u8],
    mut offset: u64,
) -> Result<(), ObserveError> {
    if !fd.is_intact() {
        // The number may be that of a file of the program's by now.
        return Err(ObserveError::io(what, Errno::BADF));
    }
    while !bytes.is_empty() {
        match rustix::io::pwrite(fd, bytes, offset) {
            Ok(0) => return Err(ObserveError::Cut { what, offset }),
            Ok(n) => {
                bytes = &bytes[n..];
                offset += n as u64;
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(ObserveError::io(what, error)),
        }
    }
    Ok(())
}

/// The u32 at `offset`, in one read.
pub(super) fn read_u32(fd: &KeptFd, what: &'static str, offset: u64) -> Result<u32, ObserveError> {
    let mut bytes = [0; 4];
    read_exact(fd, what, &mut bytes, offset)?;
    Ok(u32::from_le_bytes(bytes))
}

/// The u64 at `offset`, in one read.
pub(super) fn read_u64(fd: &KeptFd, what: &'static str, offset: u64) -> Result<u64, ObserveError> {
    let mut bytes = [0; 8];
    read_exact(fd, what, &mut bytes, offset)?;
    Ok(u64::from_le_bytes(bytes))
}
