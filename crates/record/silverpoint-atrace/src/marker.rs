//! The file that messages for the kernel go to, and the descriptor that nothing else may be written through.
//!
//! A program that becomes a daemon closes all descriptors, and opens files of its own. None of them may get a
//! message. So the marker has a number that no other file can get: one beyond the program's limit of descriptors.
//! open(2), dup2(2) and the like give no such number. A write tells that the marker was closed.
//!
//! Where limits leave no room for that, the identity of the file is compared before each write.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{FlockOperation, FsWord, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit};
use silverpoint::dynamic;

use crate::message::Message;

/// Where messages for the kernel go.
pub(crate) struct Marker {
    path: PathBuf,
    /// The last one is written. A marker that the program has closed is opened again.
    files: [OnceLock<Opened>; REOPENED],
    current: AtomicUsize,
    identity: (u64, u64),
    /// It is not the kernel's: each message ends with a newline.
    is_file: bool,
}

/// How often the marker is opened at most.
const REOPENED: usize = 8;

struct Opened {
    descriptor: OwnedFd,
    /// No other file of the program can have its number.
    is_beyond: bool,
}

impl Marker {
    pub(crate) fn open(path: &Path) -> Option<Self> {
        let file = open_marker(path)?;
        let is_file = rustix::fs::fstatfs(&file).is_ok_and(|system| system.f_type != TRACEFS);
        let marker = Self {
            path: path.to_owned(),
            files: Default::default(),
            current: AtomicUsize::new(0),
            identity: identity(&file)?,
            is_file,
        };
        let _ = marker.files[0].set(Opened::new(file));
        Some(marker)
    }

    pub(crate) fn write<const N: usize>(&self, message: &mut Message<N>) {
        let current = self.current.load(Ordering::Acquire);
        let Some(opened) = self.files.get(current).and_then(OnceLock::get) else { return };
        let is_marker = opened.is_beyond || identity(&opened.descriptor) == Some(self.identity);
        if is_marker && self.write_to(opened, message) != Err(Errno::BADF) {
            return;
        }
        if let Some(opened) = self.reopen(current) {
            let _ = self.write_to(opened, message);
        }
    }

    fn write_to<const N: usize>(&self, opened: &Opened, message: &mut Message<N>) -> Result<usize, Errno> {
        if self.is_file {
            dynamic::without_sigpipe(|| rustix::io::write(&opened.descriptor, message.line()))
        } else {
            rustix::io::write(&opened.descriptor, message.bytes())
        }
    }

    /// The marker, opened again in place of this one.
    #[cold]
    fn reopen(&self, current: usize) -> Option<&Opened> {
        let again = open_marker(&self.path).filter(|again| identity(again) == Some(self.identity))?;
        // Of several threads one is the first.
        let opened = self.files.get(current + 1)?.get_or_init(|| Opened::new(again));
        let _ = self.current.compare_exchange(current, current + 1, Ordering::AcqRel, Ordering::Relaxed);
        Some(opened)
    }
}

impl Opened {
    fn new(file: OwnedFd) -> Self {
        match beyond_limit(&file) {
            Some(descriptor) => Self { descriptor, is_beyond: true },
            None => Self { descriptor: file, is_beyond: false },
        }
    }
}

/// Limits above this are left alone. The kernel's table of descriptors reaches up to the highest number, and each
/// fork copies it.
const HIGHEST: u64 = 4096;
/// How many numbers beyond the limit may be used: each copy of this library in the process needs its own.
const ROOM: u64 = 64;

/// The same file under a number that is not below the program's limit of descriptors, which is raised for that
/// moment. `None`: the limit cannot be raised, or is too high.
fn beyond_limit(file: &OwnedFd) -> Option<OwnedFd> {
    // One copy of this library at a time: none takes the raised limit for the program's.
    rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive).ok()?;
    let moved = move_beyond(file);
    let _ = rustix::fs::flock(file, FlockOperation::Unlock);
    moved
}

fn move_beyond(file: &OwnedFd) -> Option<OwnedFd> {
    let before = rustix::process::getrlimit(Resource::Nofile);
    let limit = before.current.filter(|limit| *limit <= HIGHEST)?;
    if before.maximum.is_some_and(|maximum| maximum < limit + ROOM) {
        return None;
    }
    let raised = Rlimit { current: Some(limit + ROOM), maximum: before.maximum };
    let set = |limits| rustix::process::prlimit(None, Resource::Nofile, limits);
    let replaced = set(raised).ok()?;
    let duplicate = || rustix::io::fcntl_dupfd_cloexec(file, limit as i32).ok();
    let moved = if replaced == before { duplicate() } else { None };
    // What another thread of the program has set meanwhile stays.
    if let Some(found) = set(replaced).ok().filter(|found| *found != raised) {
        let _ = set(found);
    }
    moved
}

fn open_marker(path: &Path) -> Option<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::APPEND | OFlags::NONBLOCK;
    rustix::fs::open(path, flags, Mode::empty()).ok()
}

fn identity(file: &OwnedFd) -> Option<(u64, u64)> {
    rustix::fs::fstat(file).ok().map(|found| (found.st_dev, found.st_ino))
}

/// Type of the kernel's file system.
const TRACEFS: FsWord = 0x7472_6163;
