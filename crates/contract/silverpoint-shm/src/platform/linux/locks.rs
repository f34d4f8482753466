//! Open-file-description locks: one byte, never waiting.
//!
//! Sessions need locks that belong to the *open file description* (`F_OFD_SETLK`). They outlive the
//! descriptor as long as a mapping keeps the description. They are not dropped when another descriptor of the
//! same file is closed. They end with the process, however it dies. No call here allocates; `errno` is left
//! as it was.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use crate::sys::ErrnoGuard;

/// The byte of a trace file that its writer locks. Readers are not hindered.
pub const WRITER_BYTE: u64 = 0;

/// What a lock admits beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// Others may hold read locks on the same byte.
    Shared,
    /// No other lock on the same byte.
    Exclusive,
}

/// Takes the lock on `byte`. `Ok(false)`: somebody holds a lock that conflicts.
pub fn try_lock(fd: impl AsFd, byte: u64, lock: Lock) -> io::Result<bool> {
    let _errno = ErrnoGuard::new();
    let request = request(byte, kind_of(lock));
    // SAFETY: fd is open for the duration of the call and `request` is a valid flock structure that the call only reads.
    if unsafe { libc::fcntl(fd.as_fd().as_raw_fd(), libc::F_OFD_SETLK, &request) } == 0 {
        return Ok(true);
    }
    match io::Error::last_os_error() {
        e if matches!(e.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(false),
        e => Err(e),
    }
}

/// Gives the lock on `byte` back.
pub fn unlock(fd: impl AsFd, byte: u64) -> io::Result<()> {
    let _errno = ErrnoGuard::new();
    let request = request(byte, libc::F_UNLCK);
    // SAFETY: as in try_lock.
    if unsafe { libc::fcntl(fd.as_fd().as_raw_fd(), libc::F_OFD_SETLK, &request) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Tells whether somebody else (another open file description) holds a lock on `byte` that conflicts with `lock`.
pub fn is_locked_against(fd: impl AsFd, byte: u64, lock: Lock) -> io::Result<bool> {
    let _errno = ErrnoGuard::new();
    let mut request = request(byte, kind_of(lock));
    // SAFETY: fd is open for the duration of the call and `request` is a valid flock structure that the call fills.
    if unsafe { libc::fcntl(fd.as_fd().as_raw_fd(), libc::F_OFD_GETLK, &mut request) } == 0 {
        Ok(request.l_type as libc::c_int != libc::F_UNLCK)
    } else {
        Err(io::Error::last_os_error())
    }
}

fn kind_of(lock: Lock) -> libc::c_int {
    match lock {
        Lock::Shared => libc::F_RDLCK,
        Lock::Exclusive => libc::F_WRLCK,
    }
}

fn request(byte: u64, kind: libc::c_int) -> libc::flock {
    // SAFETY: flock is a plain C structure; zero is a valid value of each field (l_pid must be zero for F_OFD_*).
    let mut request: libc::flock = unsafe { std::mem::zeroed() };
    request.l_type = kind as _;
    request.l_whence = libc::SEEK_SET as _;
    request.l_start = byte as _;
    request.l_len = 1;
    request
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn two_descriptions() -> (File, File) {
        let named = tempfile::NamedTempFile::with_prefix("silverpoint-locks-").unwrap();
        (named.reopen().unwrap(), named.into_file())
    }

    #[test]
    fn locks_belong_to_the_description() {
        let (a, b) = two_descriptions();
        assert!(try_lock(&a, 0, Lock::Shared).unwrap());
        assert!(try_lock(&b, 0, Lock::Shared).unwrap(), "read locks go together");
        assert!(!try_lock(&b, 0, Lock::Exclusive).unwrap());
        assert!(is_locked_against(&b, 0, Lock::Exclusive).unwrap());
        assert!(!is_locked_against(&b, 1, Lock::Exclusive).unwrap(), "another byte is another lock");
        unlock(&a, 0).unwrap();
        assert!(!is_locked_against(&b, 0, Lock::Exclusive).unwrap());
        assert!(try_lock(&b, 0, Lock::Exclusive).unwrap());
    }
}
