//! Why a compact payload is refused.

use std::fmt;

/// Why a compact payload cannot be expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpandError {
    /// Offset in the compact payload.
    pub at: usize,
    /// What is wrong.
    pub what: &'static str,
}

impl fmt::Display for ExpandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "compact payload, byte {}: {}", self.at, self.what)
    }
}

impl std::error::Error for ExpandError {}
