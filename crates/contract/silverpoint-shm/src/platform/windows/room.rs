//! Memory and disk space of a file. Windows reserves no parts of a mapped file, and gives none back.

use super::files::AsDescriptor;

/// Nothing is made before it is used.
pub(crate) fn is_plenty(_: impl AsDescriptor, _: u64) -> bool {
    false
}

/// It cannot.
pub(crate) fn reserve(_: impl AsDescriptor, _: u64, _: u64) -> bool {
    false
}

/// It cannot.
pub(crate) fn give_back(_: impl AsDescriptor, _: u64, _: u64) -> bool {
    false
}

/// Files may be written to the disk at any time.
pub(crate) fn is_in_memory(_: impl AsDescriptor) -> bool {
    false
}
