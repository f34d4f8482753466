//! What `recover` was asked for.

use std::path::Path;

/// Where what is recovered goes.
pub struct How<'a> {
    /// The trace file to make.
    pub output: Option<&'a Path>,
    /// The sessions stay where they are.
    pub keep: bool,
    /// An existing file is replaced.
    pub force: bool,
}
