//! Nothing is asked for ahead: what that gains was not measured.

use std::fs::File;

/// Not on Windows.
pub(crate) fn is_ext4(_: &File) -> bool {
    false
}

/// Not known.
pub(crate) fn has_room(_: &File, _: u64) -> bool {
    false
}

/// It cannot.
pub(crate) fn reserve(_: &File, _: u64, _: u64) -> bool {
    false
}
