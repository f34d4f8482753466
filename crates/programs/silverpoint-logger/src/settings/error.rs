//! Mistakes in configurations.

use std::fmt;

/// A mistake in a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    /// The file, or the variable of the environment.
    pub source: String,
    /// The line, from 1; 0: none.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub text: String,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.source, self.text),
            line => write!(f, "{}:{line}: {}", self.source, self.text),
        }
    }
}

impl std::error::Error for SettingsError {}
