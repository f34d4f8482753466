//! Why a collector cannot begin, or a session cannot be recovered.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use silverpoint_shm::observer::ObserveError;

/// Why a collector cannot begin. Later errors are retried, or cost one session or ring, and are reported as
/// messages.
#[derive(Debug)]
pub enum CollectError {
    /// The trace file cannot be used.
    Output {
        /// Which.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// There is a file that is not a trace file.
    NotATraceFile(PathBuf),
    /// There is a file, and the configuration says to refuse then.
    Exists(PathBuf),
    /// Another collector writes into it.
    Busy(PathBuf),
    /// A session cannot be used.
    Session {
        /// Its name.
        name: String,
        /// Why.
        source: ObserveError,
    },
    /// Somebody has removed the trace file while it was written.
    Removed {
        /// Where it was.
        path: PathBuf,
        /// Records that went with it.
        records: u64,
    },
    /// The session lives, or another collector has it.
    InUse(String),
}

/// What was tried when what is stored may not survive a loss of power.
pub(crate) const SYNCING: &str = "syncing it (its contents may not survive a loss of power)";

impl CollectError {
    pub(crate) fn output(path: &Path, what: &'static str, source: impl Into<io::Error>) -> Self {
        Self::Output { path: path.to_owned(), what, source: source.into() }
    }
}

impl fmt::Display for CollectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output { path, what, source } => write!(f, "{}: {what}: {source}", path.display()),
            Self::NotATraceFile(path) => {
                write!(
                    f,
                    "{}: it exists and is not a trace file; it is not overwritten: name another file",
                    path.display()
                )
            }
            Self::Exists(path) => write!(f, "{}: it already exists", path.display()),
            Self::Busy(path) => write!(f, "{}: another collector writes into it", path.display()),
            Self::Removed { path, records } => {
                write!(
                    f,
                    "{}: it was removed while it was written, and {records} records with it",
                    path.display()
                )
            }
            Self::Session { name, source } => write!(f, "session {name}: {source}"),
            Self::InUse(name) => write!(f, "session {name} lives or is being collected"),
        }
    }
}

impl std::error::Error for CollectError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Output { source, .. } => Some(source),
            Self::Session { source, .. } => Some(source),
            _ => None,
        }
    }
}
