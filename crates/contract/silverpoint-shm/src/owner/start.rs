//! The session, before anything is recorded.

use super::local;
use crate::sys::ErrnoGuard;

/// Joins or makes the session now, rather than at the first record: a program that records nothing yet can then be switched on from outside. True when
/// there is one.
pub fn start() -> bool {
    let _errno = ErrnoGuard::new();
    local::session().is_some()
}

/// The session's directory and this copy's number in it, for tests and messages.
pub fn session_name() -> Option<(std::path::PathBuf, u16)> {
    use std::os::unix::ffi::OsStrExt;
    let session = local::existing()?;
    let name = std::ffi::OsStr::from_bytes(session.name.as_bytes());
    Some((session.root.as_path().join(name), session.copy))
}
