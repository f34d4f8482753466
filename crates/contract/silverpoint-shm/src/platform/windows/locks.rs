//! Locks of one byte, which belong to the open file, and end with the process at the latest.
//!
//! Others cannot read or write a byte that is locked alone; mappings are not affected. So a trace file's writer
//! locks a byte that no file has.

use std::io;

use windows_sys::Win32::Foundation::{ERROR_LOCK_VIOLATION, ERROR_NOT_LOCKED};
use windows_sys::Win32::Storage::FileSystem::{
    LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, UnlockFileEx,
};

use super::files::{AsDescriptor, handle_of, place_of};

/// The byte of a trace file that its writer locks. Readers are not hindered.
pub const WRITER_BYTE: u64 = 1 << 62;

/// What a lock admits beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// Others may hold read locks on the same byte.
    Shared,
    /// No other lock on the same byte.
    Exclusive,
}

/// Takes the lock on `byte`. `Ok(false)`: somebody holds a lock that conflicts.
pub fn try_lock(file: impl AsDescriptor, byte: u64, lock: Lock) -> io::Result<bool> {
    let alone = if lock == Lock::Exclusive { LOCKFILE_EXCLUSIVE_LOCK } else { 0 };
    let mut place = place_of(byte);
    // SAFETY: the place lives until the call returns, which is at once.
    let locked =
        unsafe { LockFileEx(handle_of(&file), alone | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &raw mut place) };
    match (locked, io::Error::last_os_error()) {
        (0, error) if error.raw_os_error() == Some(ERROR_LOCK_VIOLATION as i32) => Ok(false),
        (0, error) => Err(error),
        _ => Ok(true),
    }
}

/// Gives the lock on `byte` back.
pub fn unlock(file: impl AsDescriptor, byte: u64) -> io::Result<()> {
    let mut place = place_of(byte);
    // SAFETY: as in try_lock.
    match (unsafe { UnlockFileEx(handle_of(&file), 0, 1, 0, &raw mut place) }, io::Error::last_os_error()) {
        (0, error) if error.raw_os_error() != Some(ERROR_NOT_LOCKED as i32) => Err(error),
        _ => Ok(()),
    }
}

/// Tells whether somebody else (another handle) holds a lock on `byte` that conflicts with `lock`. The only way to
/// know is to take it for a moment: who is refused then tries again.
pub fn is_locked_against(file: impl AsDescriptor, byte: u64, lock: Lock) -> io::Result<bool> {
    if !try_lock(&file, byte, lock)? {
        return Ok(true);
    }
    unlock(file, byte)?;
    Ok(false)
}
