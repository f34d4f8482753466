//! Where a configuration says something.

use std::path::Path;

use crate::settings::SettingsError;

/// A place in the text of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) source: String,
    /// From 1.
    pub(crate) line: usize,
}

impl Place {
    /// The error for a file that another place has named already.
    pub(super) fn twice(&self, path: &Path, first: &Self) -> SettingsError {
        let Self { source, line } = self.clone();
        let where_first = match first.source == source {
            true => format!("of line {}", first.line),
            false => format!("of {}:{}", first.source, first.line),
        };
        let text =
            format!("the sink {where_first} has the same file: {}; give each sink its own", path.display());
        SettingsError { source, line, text }
    }
}
