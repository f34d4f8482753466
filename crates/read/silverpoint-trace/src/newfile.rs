//! A file that is complete or does not exist. It is written under a temporary name beside its own,
//! `PATH.PID.part`, and gets its own name when it is complete.
//!
//! A process that dies meanwhile leaves a part, which no reader takes for the file. Durability is the
//! writer's task: [`std::fs::File::sync_data`] before [`Part::publish`].

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::files::private;

/// Temporary names that are tried: several writers of a process may make the same file, and a dead one may
/// have left its part.
const ATTEMPTS: u32 = 100;

/// The files that this process is making: the temporary and the final name of each.
static BEING_MADE: Mutex<Vec<(PathBuf, PathBuf)>> = Mutex::new(Vec::new());

fn being_made() -> MutexGuard<'static, Vec<(PathBuf, PathBuf)>> {
    BEING_MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `make`, which makes something (a file, or a directory) under its temporary name, and registers it for
/// [`abandon`]: that never comes between both.
///
/// # Errors
/// Those of making it.
pub fn begun<T>(temporary: &Path, path: &Path, make: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let mut all = being_made();
    let made = make()?;
    all.push((temporary.to_owned(), path.to_owned()));
    Ok(made)
}

/// Runs `last`, which gives the new file its name, or removes it; it is no longer registered then. Not
/// during, nor after, [`abandon`].
pub fn ended<T>(temporary: &Path, last: impl FnOnce() -> T) -> T {
    let mut all = being_made();
    let done = last();
    all.retain(|(known, _)| known != temporary);
    done
}

/// Removes all files that are being made: for a process that ends at this moment. Nothing gets its name any
/// more. Gives the final names.
pub fn abandon() -> Vec<PathBuf> {
    let mut all = being_made();
    let names = all.drain(..).map(|(temporary, path)| {
        if fs::remove_file(&temporary).is_err() {
            let _ = fs::remove_dir_all(&temporary);
        }
        path
    });
    let names = names.collect();
    std::mem::forget(all);
    names
}

/// A file without its final name. Dropped it leaves nothing.
#[derive(Debug)]
pub struct Part {
    path: PathBuf,
    temporary: PathBuf,
}

impl Part {
    /// Makes an empty file, for its owner alone, that will be `path`.
    ///
    /// # Errors
    /// Those of making it; they are about [`temporary`]`(path)`.
    pub fn create(path: &Path) -> io::Result<(Self, File)> {
        let mut temporary = temporary(path);
        for number in 1.. {
            let make = || private(File::options().write(true).create_new(true)).open(&temporary);
            match begun(&temporary, path, make) {
                Ok(file) => return Ok((Self { path: path.to_owned(), temporary }, file)),
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists || number == ATTEMPTS => {
                    return Err(error);
                }
                Err(_) => temporary = beside(path, &format!("{}-{number}", std::process::id())),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Its final name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its temporary name.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Gives it its name. An existing file of that name is replaced if `force` is given; otherwise it stays.
    ///
    /// # Errors
    /// Those of renaming; without `force` also [`io::ErrorKind::AlreadyExists`]. The part is gone then.
    pub fn publish(self, force: bool) -> io::Result<()> {
        ended(&self.temporary, || {
            if force {
                return fs::rename(&self.temporary, &self.path);
            }
            // A link never replaces anything. Where there are no links, a check must do.
            match fs::hard_link(&self.temporary, &self.path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
                Err(_) if fs::symlink_metadata(&self.path).is_ok() => {
                    Err(io::ErrorKind::AlreadyExists.into())
                }
                Err(_) => fs::rename(&self.temporary, &self.path),
                Ok(()) => Ok(()),
            }
        })
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // There no more when it was renamed.
        let _ = ended(&self.temporary, || fs::remove_file(&self.temporary));
    }
}

/// `PATH.PID.part`: the name of what will be `path` when it is whole.
pub fn temporary(path: &Path) -> PathBuf {
    beside(path, &std::process::id().to_string())
}

fn beside(path: &Path, number: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(format!(".{number}.part"));
    name.into()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use tempfile::TempDir;

    use super::*;

    /// A directory of its own, gone with its test.
    struct Scratch(TempDir);

    impl Scratch {
        fn new() -> Self {
            Self(TempDir::with_prefix("silverpoint-newfile-").unwrap())
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap();
            let mut names: Vec<_> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    #[test]
    fn it_has_its_name_when_it_is_published() {
        let scratch = Scratch::new();
        let path = scratch.0.path().join("new");
        let (part, mut file) = Part::create(&path).unwrap();
        assert_eq!((part.path(), part.temporary()), (&*path, &*temporary(&path)));
        assert_eq!(scratch.names(), [format!("new.{}.part", std::process::id())]);
        file.write_all(b"whole").unwrap();
        part.publish(false).unwrap();
        assert_eq!((scratch.names(), fs::read(&path).unwrap()), (vec!["new".into()], b"whole".into()));
    }

    #[test]
    fn dropped_it_leaves_nothing() {
        let scratch = Scratch::new();
        drop(Part::create(&scratch.0.path().join("new")).unwrap());
        assert!(scratch.names().is_empty());
    }

    #[test]
    fn what_has_the_name_stays_unless_it_is_forced() {
        let scratch = Scratch::new();
        let path = scratch.0.path().join("new");
        let (refused, _) = Part::create(&path).unwrap();
        let (forced, _) = Part::create(&path).unwrap();
        assert_eq!(scratch.names().len(), 2, "two parts of one file have names of their own");
        fs::write(&path, "mine").unwrap();
        let error = refused.publish(false).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"mine");
        forced.publish(true).unwrap();
        assert_eq!((scratch.names(), fs::read(&path).unwrap()), (vec!["new".into()], Vec::new()));
    }
}
