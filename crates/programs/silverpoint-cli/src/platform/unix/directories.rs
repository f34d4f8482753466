use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

/// Makes a directory for its owner alone.
pub fn private(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Makes the entries of a directory durable.
pub fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Gives a directory its final name. With `force` it takes the place of what has that name, which then has the
/// temporary one.
///
/// # Errors
/// Those of renaming; without `force` [`io::ErrorKind::AlreadyExists`] where something has that name.
pub fn publish(temporary: &Path, path: &Path, force: bool) -> io::Result<()> {
    let rename = |flags| renameat_with(CWD, temporary, CWD, path, flags);
    if force {
        match rename(RenameFlags::EXCHANGE) {
            // Nothing is there; or the file system cannot exchange, which matters only where something is.
            Err(Errno::NOENT | Errno::INVAL | Errno::NOSYS) => {}
            other => return Ok(other?),
        }
    }
    match rename(RenameFlags::NOREPLACE) {
        // A file system without such renames: a check must do.
        Err(Errno::INVAL | Errno::NOSYS) if fs::symlink_metadata(path).is_err() => {
            fs::rename(temporary, path)
        }
        other => Ok(other?),
    }
}
