//! Why something cannot be read.

use std::fmt;

/// What happened, where, what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// What was asked for makes no sense.
    Usage(String),
    /// There is no such session.
    NoSession(String),
    /// A file is no trace file, or one of another version.
    NotATraceFile(String),
    /// Files, directories or sessions refuse.
    Failed(String),
}

impl ReadError {
    /// Of any error.
    pub fn failed(error: impl fmt::Display) -> Self {
        Self::Failed(error.to_string())
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Usage(text) | Self::NoSession(text) | Self::NotATraceFile(text) | Self::Failed(text)) =
            self;
        f.write_str(text)
    }
}

impl std::error::Error for ReadError {}
