//! A directory for what is copied from living sessions: the user's own, removed in the end.
//!
//! One whose program was killed is removed by the next that makes one.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::processes;

/// `silverpoint-look-<pid>-<n>`.
const PREFIX: &str = "silverpoint-look-";
/// The file's name without its ending.
const NAME: &str = "live";
/// Names that are tried.
const ATTEMPTS: u32 = 1000;

/// Removed when it goes.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes one in the directory of temporary files.
    pub fn new() -> io::Result<Self> {
        let parent = std::env::temp_dir();
        sweep(&parent);
        let mut attempt = 0;
        loop {
            let path = parent.join(format!("{PREFIX}{}-{attempt}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS => {
                    attempt += 1
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The trace file in it.
    pub fn file(&self) -> PathBuf {
        self.0.join(NAME).with_extension("silver")
    }

    /// Removes all parts but the newest: whoever reads them has them open.
    pub fn remove_parts_before(&self, newest: &Path) {
        let Ok(entries) = fs::read_dir(&self.0) else { return };
        for entry in entries.flatten() {
            if entry.path() != newest {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Removes the user's own directories of programs that are gone.
fn sweep(parent: &Path) {
    let own = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok());
        let Some(pid) = pid else { continue };
        let is_own = entry.metadata().is_ok_and(|found| found.is_dir() && found.uid() == own);
        if is_own && !processes::is_alive(pid) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_program_left_is_removed_and_what_a_living_one_has_is_not() {
        let own = Scratch::new().unwrap();
        fs::write(own.file(), "x").unwrap();
        fs::write(own.0.join("live.1.silver"), "x").unwrap();
        own.remove_parts_before(&own.file());
        assert!(own.file().exists() && !own.0.join("live.1.silver").exists());
        // No process has a number beyond the kernel's limit.
        let left = std::env::temp_dir().join(format!("{PREFIX}{}-0", 1 << 30));
        let _ = fs::create_dir(&left);
        let other = Scratch::new().unwrap();
        assert!(!left.exists() && own.file().exists() && other.0 != own.0);
        drop(other);
        let path = own.0.clone();
        drop(own);
        assert!(!path.exists());
    }
}
