//! Memory and disk space of a file.

use rustix::fs::FallocateFlags;

use super::files::AsDescriptor;

/// `f_type` of a file system in memory.
const TMPFS: u32 = 0x0102_1994;

/// Whether so many bytes more are never the last of the room: others need it more than a thread that may not come.
pub(crate) fn is_plenty(file: impl AsDescriptor, bytes: u64) -> bool {
    rustix::fs::fstatvfs(file).is_ok_and(|stat| {
        let free = stat.f_bavail.saturating_mul(stat.f_frsize);
        free >= 1 << 30 || (stat.f_bavail >= stat.f_blocks / 4 && free / 16 >= bytes)
    })
}

/// Takes bytes of a file from the others' room. False: it cannot.
pub(crate) fn reserve(file: impl AsDescriptor, at: u64, bytes: u64) -> bool {
    rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, at, bytes).is_ok()
}

/// Gives bytes of a file back, which are zero afterwards. False: it cannot.
pub(crate) fn give_back(file: impl AsDescriptor, at: u64, bytes: u64) -> bool {
    rustix::fs::fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, at, bytes).is_ok()
}

/// Whether pages that are there stay there.
pub(crate) fn is_in_memory(file: impl AsDescriptor) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|stat| stat.f_type as u32 == TMPFS)
}
