//! A directory that is complete or not there, as [`crate::newfile`] is of one file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use silverpoint_trace::newfile::{begun, ended, temporary};

use crate::exit::{Failed, failure};
use crate::newfile::EXISTS;
use crate::platform::directories;

/// A directory under a temporary name. Dropped before it is finished it leaves nothing.
pub struct NewDirectory {
    path: PathBuf,
    temporary: PathBuf,
    force: bool,
}

impl NewDirectory {
    /// Begins a directory that will be `path`. An existing one is refused. With `force`, an empty directory
    /// and one for which `is_such` is true are replaced, with all that they contain.
    pub fn create(path: &Path, force: bool, is_such: fn(&Path) -> bool) -> Result<Self, Failed> {
        // `out.ctf/` is the same as `out.ctf`.
        let path: PathBuf = path.components().collect();
        let other = || {
            failure(format!(
                "{}: it exists, and --force replaces only an empty directory or an earlier output; choose another name",
                path.display()
            ))
        };
        match fs::symlink_metadata(&path) {
            Err(_) => {}
            Ok(_) if !force => return Err(failure(format!("{}: {EXISTS}", path.display()))),
            Ok(found) if !found.is_dir() => return Err(other()),
            Ok(_) => {
                let is_empty = fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_none());
                if !is_empty && !is_such(&path) {
                    return Err(other());
                }
            }
        }
        let temporary = temporary(&path);
        begun(&temporary, &path, || directories::private(&temporary))
            .map_err(|error| failure(format!("{}: {error}", temporary.display())))?;
        Ok(Self { path, temporary, force })
    }

    /// Where it is meanwhile.
    pub fn meanwhile(&self) -> &Path {
        &self.temporary
    }

    /// Makes its entries durable, and gives it its name. The files' bytes must be durable already.
    ///
    /// # Errors
    /// Those of renaming; without `force` also when something of that name has appeared meanwhile.
    pub fn finish(self) -> io::Result<()> {
        directories::sync(&self.temporary)?;
        ended(&self.temporary, || self.publish())
    }

    fn publish(&self) -> io::Result<()> {
        directories::publish(&self.temporary, &self.path, self.force).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => io::Error::new(error.kind(), EXISTS),
            _ => error,
        })
    }
}

impl Drop for NewDirectory {
    fn drop(&mut self) {
        // There no more when it was renamed; or what it has replaced.
        let _ = ended(&self.temporary, || fs::remove_dir_all(&self.temporary));
    }
}
