//! A file that is whole or not there: it is written under a temporary name beside its own, `PATH.PID.part`, and gets its own when it is whole.
//!
//! What dies meanwhile leaves a part, which nobody takes for the file. Whether it is durable is the writer's matter: [`std::fs::File::sync_data`] before
//! [`Part::publish`] makes it so.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;

/// Names beside the final one that are tried: several writers of a process may be at the same file, and a dead one may have left its part.
const ATTEMPTS: u32 = 100;

/// What is being made by this process: the name that it has meanwhile, and the one that it is to have.
static BEING_MADE: Mutex<Vec<(PathBuf, PathBuf)>> = Mutex::new(Vec::new());

fn being_made() -> MutexGuard<'static, Vec<(PathBuf, PathBuf)>> {
    BEING_MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes something (a file, or a directory) for [`abandon`]. What it is called meanwhile is known to be free or its own.
pub fn begun(temporary: &Path, path: &Path) {
    being_made().push((temporary.to_owned(), path.to_owned()));
}

/// Runs `last`, which gives what is being made its name, or removes it; it is no longer noted then. Not while, nor after, [`abandon`].
pub fn ended<T>(temporary: &Path, last: impl FnOnce() -> T) -> T {
    let mut all = being_made();
    let done = last();
    all.retain(|(known, _)| known != temporary);
    done
}

/// Removes everything that is being made: for a process that ends this moment. Nothing gets its name any more. Gives the names that they were to have.
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

/// A file that has not got its name. Dropped it leaves nothing.
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
            match File::options().write(true).create_new(true).mode(0o600).open(&temporary) {
                Ok(file) => {
                    begun(&temporary, path);
                    return Ok((Self { path: path.to_owned(), temporary }, file));
                }
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists || number == ATTEMPTS => {
                    return Err(error);
                }
                Err(_) => temporary = beside(path, &format!("{}-{number}", std::process::id())),
            }
        }
        Err(Errno::EXIST.into())
    }

    /// The name that it is to have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name that it has meanwhile.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Gives it its name. What has that name already is replaced if `force` is given, and else stays what it is.
    ///
    /// # Errors
    /// Those of renaming; without `force` also [`io::ErrorKind::AlreadyExists`]. The part is gone then.
    pub fn publish(self, force: bool) -> io::Result<()> {
        ended(&self.temporary, || {
            if force {
                return fs::rename(&self.temporary, &self.path);
            }
            // A link never replaces anything. Where there are none, a look must do.
            match fs::hard_link(&self.temporary, &self.path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
                Err(_) if fs::symlink_metadata(&self.path).is_ok() => Err(Errno::EXIST.into()),
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

    use super::*;

    /// A directory of its own, gone with its test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path =
                std::env::temp_dir().join(format!("silverpoint-newfile-{name}-{}", std::process::id()));
            fs::create_dir(&path).unwrap();
            Self(path)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap();
            let mut names: Vec<_> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn it_has_its_name_when_it_is_published() {
        let scratch = Scratch::new("publish");
        let path = scratch.0.join("new");
        let (part, mut file) = Part::create(&path).unwrap();
        assert_eq!((part.path(), part.temporary()), (&*path, &*temporary(&path)));
        assert_eq!(scratch.names(), [format!("new.{}.part", std::process::id())]);
        file.write_all(b"whole").unwrap();
        part.publish(false).unwrap();
        assert_eq!((scratch.names(), fs::read(&path).unwrap()), (vec!["new".into()], b"whole".into()));
    }

    #[test]
    fn dropped_it_leaves_nothing() {
        let scratch = Scratch::new("drop");
        drop(Part::create(&scratch.0.join("new")).unwrap());
        assert!(scratch.names().is_empty());
    }

    #[test]
    fn what_has_the_name_stays_unless_it_is_forced() {
        let scratch = Scratch::new("taken");
        let path = scratch.0.join("new");
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
