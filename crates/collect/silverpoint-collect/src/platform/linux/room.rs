use std::fs::File;

use rustix::fs::FallocateFlags;

/// The type of ext2, ext3 and ext4.
const EXT4: u64 = 0xEF53;

/// Whether asking ahead was measured on its file system.
pub(crate) fn is_ext4(file: &File) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|stat| stat.f_type as u64 == EXT4)
}

/// Whether it is such a file system, and so many bytes are free.
pub(crate) fn has_room(file: &File, bytes: u64) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|stat| {
        stat.f_type as u64 == EXT4 && stat.f_bavail.saturating_mul(stat.f_bsize as u64) >= bytes
    })
}

/// Reserves bytes of a file, whose size stays. False: it cannot.
pub(crate) fn reserve(file: &File, at: u64, bytes: u64) -> bool {
    rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, at, bytes).is_ok()
}
