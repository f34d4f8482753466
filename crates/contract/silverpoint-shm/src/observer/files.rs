//! A session's files, read whole or not at all.

use std::io;

use super::ObserveError;
use crate::kept::KeptFd;
use crate::platform::files::{closed, read_at, write_at};

/// What may be done with a session's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Looking only: the system refuses every write.
    Read,
    /// Collecting and controlling.
    Write,
}

/// Fills the buffer from `offset`, or says where the file ends.
pub(super) fn read_exact(
    fd: &KeptFd,
    what: &'static str,
    mut buffer: &mut [u8],
    mut offset: u64,
) -> Result<(), ObserveError> {
    while !buffer.is_empty() {
        match read_at(fd, &mut *buffer, offset) {
            Ok(0) => return Err(ObserveError::Cut { what, offset }),
            Ok(n) => {
                buffer = &mut buffer[n..];
                offset += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
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
        return Err(ObserveError::io(what, closed()));
    }
    while !bytes.is_empty() {
        match write_at(fd, bytes, offset) {
            Ok(0) => return Err(ObserveError::Cut { what, offset }),
            Ok(n) => {
                bytes = &bytes[n..];
                offset += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
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
