//! Why a session cannot be observed.

use std::fmt;
use std::io;

/// Why a session, or a part of it, cannot be read. Names the part.
#[derive(Debug)]
pub enum ObserveError {
    /// The system refused.
    Io {
        /// What was tried.
        what: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// It does not meet the rules for a session: a link, another user's file, a pipe, a header that
    /// contradicts itself or the files.
    Refused {
        /// Which part.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// A file ends before what its header promises: somebody has cut it.
    Cut {
        /// Which file.
        what: &'static str,
        /// Where bytes are missing.
        offset: u64,
    },
    /// The session is gone.
    Gone,
}

impl ObserveError {
    pub(crate) fn io(what: &'static str, source: impl Into<io::Error>) -> Self {
        let source = source.into();
        if source.kind() == io::ErrorKind::NotFound { Self::Gone } else { Self::Io { what, source } }
    }

    pub(crate) fn refused(what: &'static str, why: impl Into<String>) -> Self {
        Self::Refused { what, why: why.into() }
    }
}

impl fmt::Display for ObserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { what, source } => write!(f, "{what}: {source}"),
            Self::Refused { what, why } => write!(f, "{what} is refused: {why}"),
            Self::Cut { what, offset } => write!(f, "{what} was cut: no bytes at offset {offset}"),
            Self::Gone => f.write_str("the session is gone"),
        }
    }
}

impl std::error::Error for ObserveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
