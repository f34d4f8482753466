//! What can be wrong with a session.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// A session, or one of its files, that cannot be used.
#[derive(Debug)]
pub struct ObserveError {
    /// The file or directory.
    pub path: PathBuf,
    /// What is wrong with it.
    pub kind: ObserveErrorKind,
}

/// What is wrong.
#[derive(Debug)]
pub enum ObserveErrorKind {
    /// The system refused.
    Io(io::Error),
    /// Neither a regular file nor (for the session itself) a directory.
    Type,
    /// Somebody else's.
    Owner(u32),
    /// Open to others, or reachable under several names.
    Door,
    /// No control file of a session.
    Magic,
    /// A major version that this program does not know.
    Version(u16),
    /// The header contradicts itself or the file: the field, and its value.
    Header(&'static str, u64),
    /// The file ended before this offset: it was shrunk.
    Shrunk(u64),
    /// Somebody else holds the lock.
    Locked(&'static str),
}

impl ObserveError {
    pub(super) fn new(path: impl Into<PathBuf>, kind: ObserveErrorKind) -> ObserveError {
        ObserveError { path: path.into(), kind }
    }

    /// Whether the session is simply gone.
    pub fn is_gone(&self) -> bool {
        matches!(&self.kind, ObserveErrorKind::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

impl fmt::Display for ObserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.kind {
            ObserveErrorKind::Io(error) => write!(f, "{error}"),
            ObserveErrorKind::Type => f.write_str("not a regular file or directory; it is left alone"),
            ObserveErrorKind::Owner(uid) => {
                write!(f, "belongs to user {uid}, not to the owner of the sessions; refused")
            }
            ObserveErrorKind::Door => f.write_str("open to other users, or has several names; refused"),
            ObserveErrorKind::Magic => f.write_str("not the control file of a session"),
            ObserveErrorKind::Version(major) => {
                write!(f, "written in major version {major}; this program reads version 1: use a newer one")
            }
            ObserveErrorKind::Header(field, value) => {
                write!(f, "header field {field} has the impossible value {value}")
            }
            ObserveErrorKind::Shrunk(at) => {
                write!(f, "ends before offset {at}: the file was shrunk under its reader")
            }
            ObserveErrorKind::Locked(what) => write!(f, "{what} (locked by another process)"),
        }
    }
}

impl std::error::Error for ObserveError {}
