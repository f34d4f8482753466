//! A collector's lock belongs to its process alone. But a lock of an open file belongs to the open file
//! description, which forked children share although they do not collect. While a child lived, no other
//! collector could take the records of its dead parent. So in a child the descriptor is replaced by another
//! one.
//!
//! A child that was made without the C library's `fork` (`_Fork`, a bare system call) keeps it. So does one
//! that is forked between the opening of the file and the next call. A child that executes another program
//! has closed it.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::kept::KeptFd;

/// As many at a time; more are inherited.
const MOST: usize = 256;
/// Each entry has the descriptor that a child gives up, and above it the one that it becomes a copy of. Both
/// are plus one; 0: none.
static GIVEN_UP: [AtomicU64; MOST] = [const { AtomicU64::new(0) }; MOST];
/// At the same places: the inodes of both, mixed. The program may have closed the descriptors and opened
/// files of its own under their numbers.
static INODES: [AtomicU64; MOST] = [const { AtomicU64::new(0) }; MOST];

/// Children do not inherit a descriptor as long as it lives. To be dropped before that is closed.
#[derive(Debug, Default)]
pub(crate) struct NotInherited {
    /// As in the table; 0: no entry.
    both: u64,
    process: u32,
}

impl NotInherited {
    /// From now on: in children `descriptor` is a copy of `instead`, which must live as long.
    pub(crate) fn new(descriptor: &KeptFd, instead: &KeptFd) -> Self {
        static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
        // (No lock: a child may be born while another thread is here.)
        if !IS_REGISTERED.swap(true, Ordering::Relaxed) {
            // SAFETY: the handler is a function of this library, and is forgotten when that is unloaded.
            let _ = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        }
        let (descriptor, instead) = (descriptor.as_fd(), instead.as_fd());
        let both = word(descriptor) | word(instead) << 32;
        if let Some(at) = replace_first(0, both) {
            // A child that is born in between gives up nothing.
            INODES[at].store(inodes(descriptor.as_raw_fd(), instead.as_raw_fd()), Ordering::Release);
        }
        Self { both, process: std::process::id() }
    }

    /// Whether the descriptor is this process's: not what its parent had.
    pub(crate) fn is_own(&self) -> bool {
        self.both != 0 && self.process == std::process::id()
    }
}

impl Drop for NotInherited {
    fn drop(&mut self) {
        if self.both != 0 {
            replace_first(self.both, 0);
        }
    }
}

/// In the table, where there is such a place.
fn replace_first(old: u64, new: u64) -> Option<usize> {
    let is_it =
        |place: &AtomicU64| place.compare_exchange(old, new, Ordering::Release, Ordering::Relaxed).is_ok();
    GIVEN_UP.iter().position(is_it)
}

/// Of two descriptors; never 0. In a child too: a system call each.
fn inodes(descriptor: libc::c_int, instead: libc::c_int) -> u64 {
    let inode = |fd| {
        let mut found = std::mem::MaybeUninit::<libc::stat>::zeroed();
        // SAFETY: there is room for what the system says; all zeros is such a structure too.
        let found = unsafe {
            libc::fstat(fd, found.as_mut_ptr());
            found.assume_init()
        };
        found.st_ino ^ found.st_dev.rotate_left(32)
    };
    (inode(descriptor) ^ inode(instead).rotate_left(17)) | 1
}

fn word(descriptor: BorrowedFd<'_>) -> u64 {
    // Never negative.
    u64::from(descriptor.as_raw_fd() as u32) + 1
}

/// Two descriptors of a word.
fn descriptors(both: u64) -> Option<(libc::c_int, libc::c_int)> {
    let part = |word: u64| libc::c_int::try_from(word & u64::from(u32::MAX)).ok()?.checked_sub(1);
    Some((part(both)?, part(both >> 32)?)).filter(|_| both != 0)
}

/// In a forked child: system calls alone, since any lock may be held by a thread that it has not.
extern "C" fn in_child() {
    for (place, known) in GIVEN_UP.iter().zip(&INODES) {
        if let Some((descriptor, instead)) = descriptors(place.swap(0, Ordering::Acquire)) {
            if inodes(descriptor, instead) == known.swap(0, Ordering::Acquire) {
                // SAFETY: the descriptors in the table are open, and their owner in this process's memory only
                // closes them.
                let _ = unsafe { libc::dup3(instead, descriptor, libc::O_CLOEXEC) };
            }
        }
    }
}
