//! A directory for copies of living sessions: the user's own, removed at the end.
//!
//! If its program was killed, the next program that makes one removes it. A lock that ends with the program
//! shows that, not the number in the name: containers share directories, and each counts its own processes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use silverpoint_shm::platform::files;

use crate::platform;

/// `silverpoint-look-<pid>-<n>`; the number of the process is for people.
const PREFIX: &str = "silverpoint-look-";
/// The file's name without its ending.
const NAME: &str = "live";
/// The file whose lock the program holds.
const LOCK: &str = "lock";
/// Names that are tried.
const ATTEMPTS: u32 = 1000;

/// Removed when it goes.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    _lock: File,
}

impl Scratch {
    /// Makes one in the directory of temporary files.
    ///
    /// # Errors
    /// Those of the system.
    pub fn new() -> io::Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "programs that are gone have left theirs there")]
        Self::below(&std::env::temp_dir())
    }

    fn below(parent: &Path) -> io::Result<Self> {
        sweep(parent);
        for attempt in 0..ATTEMPTS {
            let path = parent.join(format!("{PREFIX}{}-{attempt}", std::process::id()));
            match platform::make_private_directory(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                result => result?,
            }
            let lock = platform::make_private_file(&path.join(LOCK))?;
            let is_locked = lock.try_lock().is_ok();
            // A sweep by another process between the two calls takes it for left behind.
            if is_locked && !files::status(&lock)?.is_removed {
                return Ok(Self { path, _lock: lock });
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{ATTEMPTS} names are taken")))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The trace file in it.
    pub fn file(&self) -> PathBuf {
        self.path.join(NAME).with_extension("silver")
    }

    /// Removes all parts but the newest: the reader has them open.
    pub fn remove_parts_before(&self, newest: &Path) {
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        for entry in entries.flatten() {
            if entry.path() != newest && entry.file_name() != LOCK {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes the user's own directories of programs that are gone.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        let is_own = || entry.metadata().is_ok_and(|found| found.is_dir() && platform::is_own(&found));
        if !is_named || !is_own() {
            continue;
        }
        // Without the file it is just being made.
        let Ok(lock) = platform::open_plain(&entry.path().join(LOCK)) else { continue };
        if lock.try_lock().is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// A child that another test forks this moment has a lock until it runs its program, and another sweep has it while it looks.
    fn wait_for_sweep_of(path: &Path) {
        let parent = path.parent().unwrap();
        let until = Instant::now() + Duration::from_secs(300);
        while path.exists() && Instant::now() < until {
            sweep(parent);
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(!path.exists());
    }

    #[test]
    fn what_a_killed_program_left_is_removed_and_what_a_living_one_has_is_not() {
        let folder = tempfile::TempDir::with_prefix("silverpoint-read-").unwrap();
        let own = Scratch::below(folder.path()).unwrap();
        fs::write(own.file(), "x").unwrap();
        fs::write(own.path.join("live.1.silver"), "x").unwrap();
        own.remove_parts_before(&own.file());
        assert!(own.file().exists() && !own.path.join("live.1.silver").exists());
        // Left behind: by this process's number, which says nothing, and nobody holds its lock.
        let named = |rest: &str| folder.path().join(format!("{PREFIX}{}-{rest}", std::process::id()));
        let left = named("left");
        fs::create_dir(&left).unwrap();
        fs::write(left.join("live.silver"), "x").unwrap();
        fs::write(left.join(LOCK), "").unwrap();
        // Of a program in another container: no process has a number beyond the kernel's limit.
        let elsewhere = folder.path().join(format!("{PREFIX}{}-0", 1 << 30));
        fs::create_dir(&elsewhere).unwrap();
        let lock = File::create(elsewhere.join("new")).unwrap();
        lock.try_lock().unwrap();
        fs::rename(elsewhere.join("new"), elsewhere.join(LOCK)).unwrap();
        // And one that is being made.
        let begun = named("begun");
        fs::create_dir(&begun).unwrap();

        let other = Scratch::below(folder.path()).unwrap();
        wait_for_sweep_of(&left);
        assert!(elsewhere.exists() && begun.exists());
        assert!(own.file().exists() && other.path != own.path);
        drop(lock);
        wait_for_sweep_of(&elsewhere);
        fs::remove_dir(begun).unwrap();
        drop(other);
        let path = own.path.clone();
        drop(own);
        assert!(!path.exists());
    }
}
