//! Handles that no child has: those of Windows are not inherited unless that is asked for.

use crate::kept::KeptFd;

/// Nothing is to be done.
#[derive(Debug, Default)]
pub(crate) struct NotInherited {
    is_own: bool,
}

impl NotInherited {
    pub(crate) fn new(_: &KeptFd, _: &KeptFd) -> Self {
        Self { is_own: true }
    }

    /// Whether the handle may have locks.
    pub(crate) fn is_own(&self) -> bool {
        self.is_own
    }
}
