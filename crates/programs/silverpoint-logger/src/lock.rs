//! A lock file that one process holds.
//!
//! Two locks are held, since neither suffices. A record lock (`fcntl`) belongs to the process alone: a forked
//! child that lives longer does not keep it. But it does not exclude the process itself, and it ends as soon
//! as the process closes any descriptor of the file. A lock of the open file (`flock`) excludes other loggers
//! of this process, even of a second copy of this library. But children inherit it, and a process keeps it
//! when it executes another program. So other processes decide by the first. This process decides by the
//! second, the text of the file, which names its owner, and its own descriptors.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags, fcntl_lock, flock};
use rustix::io::Errno;

use silverpoint_shm::ending::{await_end, started};
use silverpoint_shm::kept::KeptFile;

/// Most bytes of a lock file that are read.
const TEXT_MAX: u64 = 64;
/// Longest wait for the list of this process's locks. A child that was forked while another thread held it
/// would wait for ever.
const PATIENCE: Duration = Duration::from_secs(1);

/// Locks of this process: its number, device and inode. A child's list also contains the parent's locks,
/// under the parent's number.
static HELD: Mutex<Vec<Key>> = Mutex::new(Vec::new());
type Key = (u32, u64, u64);

/// Held while it lives.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    /// Until the end.
    file: Option<KeptFile>,
    key: Key,
}

/// What became of an attempt.
#[derive(Debug)]
pub(crate) enum Attempt {
    Taken(Lock),
    /// Another process has it.
    Others,
    /// The process that the file names had it, and has ended: try again.
    Ended,
    /// Something in this process has it.
    Own,
    /// The file was removed or replaced meanwhile: try again.
    Gone,
}

impl Lock {
    /// Tries to lock a file, and makes it if necessary. Does not wait.
    pub(crate) fn attempt(path: &Path) -> io::Result<Attempt> {
        let mut held = held();
        if let Ok(found) = std::fs::symlink_metadata(path) {
            if held.as_ref().is_some_and(|held| held.contains(&key(&found))) {
                // Not even opened: closing it again would end the held lock.
                return Ok(Attempt::Own);
            }
        }
        let options = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o600)
            .custom_flags(OFlags::NOFOLLOW.bits() as i32)
            .to_owned();
        let mut file = match options.open(path) {
            // A logger that has ended is just removing its directory.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Attempt::Gone),
            opened => opened?,
        };
        let is_free = match fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => true,
            Err(Errno::AGAIN | Errno::ACCESS) => false,
            // A file system without such locks: the other one decides alone.
            Err(Errno::NOLCK | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                    Ok(()) => true,
                    Err(Errno::WOULDBLOCK) => false,
                    Err(error) => return Err(error.into()),
                }
            }
            Err(error) => return Err(error.into()),
        };
        if !is_free {
            if !is_named(&file, path) {
                return Ok(Attempt::Gone);
            }
            return Ok(if is_of_ended(&file) { Attempt::Ended } else { Attempt::Others });
        }
        let own = format!("{} {}", std::process::id(), started().unwrap_or_default());
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                let mut text = String::new();
                let _ = (&file).take(TEXT_MAX).read_to_string(&mut text);
                if text == own && is_open_elsewhere(&file) {
                    // Another copy of this library: closing the file would end its lock against other processes.
                    std::mem::forget(file);
                    return Ok(Attempt::Own);
                }
                // A child of a dead owner, or of the program that this process ran before: it does nothing
                // with it.
            }
            Err(error) => return Err(error.into()),
        }
        if !is_named(&file, path) {
            return Ok(Attempt::Gone);
        }
        file.rewind()?;
        file.set_len(0)?;
        file.write_all(own.as_bytes())?;
        let key = key(&file.metadata()?);
        if let Some(held) = &mut held {
            held.push(key);
        }
        Ok(Attempt::Taken(Self { path: path.to_owned(), file: Some(KeptFile::new(file)), key }))
    }

    /// Locks the file again when the program has closed its descriptor, which has ended the lock. Must be
    /// called often: until then another process may take the lock.
    pub(crate) fn keep(&mut self) {
        if !self.is_own() || self.file.as_ref().is_none_or(KeptFile::is_intact) {
            return;
        }
        let _held = held();
        let options =
            OpenOptions::new().read(true).write(true).custom_flags(OFlags::NOFOLLOW.bits() as i32).to_owned();
        if let Ok(file) = options.open(&self.path) {
            if file.metadata().is_ok_and(|found| key(&found) == self.key) {
                let _ = fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive);
                let _ = flock(&file, FlockOperation::NonBlockingLockExclusive);
                self.file = Some(KeptFile::new(file));
            }
        }
    }

    /// Whether this process has taken it: not a child that has its memory.
    pub(crate) fn is_own(&self) -> bool {
        self.key.0 == std::process::id()
    }

    /// Removes the file: a process that has it open sees that it is no longer valid.
    pub(crate) fn remove_file(&self) -> io::Result<()> {
        match &self.file {
            Some(file) if self.is_own() && is_named(file.unchecked(), &self.path) => {
                std::fs::remove_file(&self.path)
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let Some(file) = self.file.take().filter(|_| self.is_own()) else { return };
        // Until the file is closed: a lock that was taken before would end with that.
        let mut held = held();
        // A child that keeps the descriptor must not be taken for this process.
        if let Ok(file) = file.get() {
            let _ = file.write_all_at(b"-", 0);
            let _ = flock(file, FlockOperation::Unlock);
        }
        drop(file);
        if let Some(held) = &mut held {
            held.retain(|key| *key != self.key);
        }
    }
}

/// Whether this process has another descriptor of a file. If that is unknown: yes, rather than two owners.
fn is_open_elsewhere(file: &File) -> bool {
    let (Ok(wanted), Ok(entries)) = (file.metadata(), std::fs::read_dir("/proc/thread-self/fd")) else {
        return true;
    };
    let descriptors = entries.flatten().filter(|entry| {
        entry.file_name().to_str().and_then(|name| name.parse().ok()) != Some(file.as_raw_fd())
    });
    // Links are followed: the open file may have lost its name.
    descriptors
        .filter_map(|entry| std::fs::metadata(entry.path()).ok())
        .any(|found| key(&found) == key(&wanted))
}

/// Whether the process that a lock file names has ended. Waits for its end if it is ending.
fn is_of_ended(file: &File) -> bool {
    let mut text = String::new();
    let _ = file.take(TEXT_MAX).read_to_string(&mut text);
    let owner = text.split_once(' ').and_then(|(pid, start)| Some((pid.parse().ok()?, start.parse().ok()?)));
    owner.is_some_and(|(pid, start)| await_end(pid, start))
}

/// `None` in a child that was forked while its parent changed the list; its contents are the parent's anyway.
fn held() -> Option<MutexGuard<'static, Vec<Key>>> {
    let until = Instant::now() + PATIENCE;
    loop {
        match HELD.try_lock() {
            Ok(held) => return Some(held),
            Err(TryLockError::Poisoned(held)) => return Some(held.into_inner()),
            Err(TryLockError::WouldBlock) if Instant::now() > until => return None,
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

fn key(found: &std::fs::Metadata) -> Key {
    (std::process::id(), found.dev(), found.ino())
}

/// Whether a file still has its name.
fn is_named(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => key(&open) == key(&named),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn scratch() -> TempDir {
        TempDir::with_prefix("silverpoint-lock-").unwrap()
    }

    fn taken(path: &Path) -> Lock {
        match Lock::attempt(path).unwrap() {
            Attempt::Taken(lock) => lock,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_process_has_a_lock_once_and_gives_it_back() {
        let directory = scratch();
        let path = directory.path().join("lock");
        let lock = taken(&path);
        assert!(matches!(Lock::attempt(&path).unwrap(), Attempt::Own));
        // Asking has not ended it: another open file would get it otherwise.
        assert!(matches!(Lock::attempt(&path).unwrap(), Attempt::Own));
        drop(lock);
        taken(&path).remove_file().unwrap();
        assert!(!path.exists());
        assert!(matches!(Lock::attempt(&directory.path().join("none/lock")).unwrap(), Attempt::Gone));
    }

    /// As a second copy of the library in the same process has it: the list does not name it.
    #[test]
    fn another_copy_in_the_process_is_seen() {
        let directory = scratch();
        let path = directory.path().join("lock");
        let lock = taken(&path);
        held().unwrap().retain(|key| *key != lock.key);
        assert!(matches!(Lock::attempt(&path).unwrap(), Attempt::Own));
        drop(lock);
    }

    /// A process that executes another program is still the owner in the file, but its descriptors are gone.
    /// A child keeps the lock of the open file.
    #[test]
    fn a_lock_of_the_program_that_the_process_was_before_is_nobodys() {
        let directory = scratch();
        let path = directory.path().join("lock");
        std::fs::write(&path, format!("{} {}", std::process::id(), started().unwrap_or_default())).unwrap();
        // As a child has it: this process has no descriptor of the file.
        let mut child = std::process::Command::new("flock")
            .args([path.as_os_str(), "-c".as_ref(), "echo; cat".as_ref()])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let busy = File::open(&path).unwrap();
        assert_eq!(flock(&busy, FlockOperation::NonBlockingLockExclusive), Err(Errno::WOULDBLOCK));
        drop(busy);
        let lock = taken(&path);
        drop(lock);
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    /// A descriptor that a child has inherited keeps the lock of the open file, and no more.
    #[test]
    fn a_child_that_lives_longer_does_not_keep_it() {
        let directory = scratch();
        let path = directory.path().join("lock");
        let mut heir = OpenOptions::new().create(true).truncate(true).write(true).open(&path).unwrap();
        heir.write_all(b"999999999 7").unwrap();
        flock(&heir, FlockOperation::LockExclusive).unwrap();
        let lock = taken(&path);
        held().unwrap().retain(|key| *key != lock.key);
        assert!(matches!(Lock::attempt(&path).unwrap(), Attempt::Own), "the text names its owner");
        drop(lock);
        drop(heir);
    }
}
