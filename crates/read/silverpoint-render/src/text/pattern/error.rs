//! Mistakes in patterns.

use std::fmt;

/// What is wrong with a pattern, and what is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError(String);

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PatternError {}

impl PatternError {
    pub(super) fn new(text: String) -> Self {
        Self(text)
    }
}
