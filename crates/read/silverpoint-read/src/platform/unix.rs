use std::fs::{DirBuilder, File, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use silverpoint_shm::root::Root;

/// The root of sessions in which a process has its own: that of its user.
pub(crate) fn root_of(pid: u32) -> io::Result<Root> {
    match std::fs::metadata(format!("/proc/{pid}")).ok().map(|found| found.uid()) {
        Some(uid) if uid != rustix::process::geteuid().as_raw() => Root::open_of_user(uid),
        _ => Root::open(),
    }
}

/// Makes a directory for this user alone.
pub(crate) fn make_private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Makes a file for this user alone, to be written.
pub(crate) fn make_private_file(path: &Path) -> io::Result<File> {
    File::options().create_new(true).write(true).mode(0o600).open(path)
}

/// Opens a file for writing. A link is not followed, and a pipe is not waited for.
pub(crate) fn open_plain(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    File::options().write(true).custom_flags(flags).open(path)
}

/// Whether it belongs to this user.
pub(crate) fn is_own(found: &Metadata) -> bool {
    found.uid() == rustix::process::geteuid().as_raw()
}
