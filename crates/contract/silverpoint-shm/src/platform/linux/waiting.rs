//! Waiting for a word of a producer's file, by a futex.
//!
//! The map is used only for its addresses: they name futexes, and pages that the kernel is to make. Nothing
//! is loaded or stored through it, and no reference into it is made. For a page that the producer has cut off
//! the kernel answers EFAULT.

use std::ffi::c_void;
use std::ptr::null;
use std::time::Duration;

use rustix::mm::{MapFlags, ProtFlags};

use crate::kept::KeptFd;
use crate::observer::Access;
use crate::sys;

/// The kernel waits for at most so many words at once.
const MAX_WORDS: usize = 128;
/// When there are more words than can be waited for, or the kernel cannot wait for several.
const POLL: Duration = Duration::from_millis(20);
/// `futex_waitv`: the word has 32 bits.
const FUTEX2_SIZE_U32: u32 = 2;

/// Addresses of a file's words.
#[derive(Debug)]
pub(crate) struct Words {
    address: *mut c_void,
    len: usize,
}

// SAFETY: the address is only handed to the kernel, which may be asked from any thread.
unsafe impl Send for Words {}
// SAFETY: as above; nothing is changed through a shared reference.
unsafe impl Sync for Words {}

impl Words {
    /// The first `len` bytes of a file. Pages are made with write access alone.
    pub(crate) fn new(fd: &KeptFd, len: u64, access: Access) -> Option<Self> {
        let access = match access {
            Access::Read => ProtFlags::READ,
            Access::Write => ProtFlags::READ | ProtFlags::WRITE,
        };
        let len = usize::try_from(len).ok().filter(|len| *len > 0)?;
        // SAFETY: a new mapping at an address of the kernel's choice; it is never dereferenced.
        let address =
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), len, access, MapFlags::SHARED, fd, 0) }.ok()?;
        Some(Self { address, len })
    }

    /// The address of the word at a file offset, a multiple of 4.
    fn word(&self, offset: u64) -> Option<*const u32> {
        let offset = usize::try_from(offset).ok().filter(|at| at % 4 == 0 && at + 4 <= self.len)?;
        Some(self.address.cast::<u8>().wrapping_add(offset).cast::<u32>().cast_const())
    }

    /// Makes the pages of some bytes, and clears them: a producer that comes there only enters them in its
    /// page tables. `None`: this kernel cannot (before 5.14). False: there is no room, or the producer has
    /// cut them off.
    pub(crate) fn make_pages(&self, from: u64, to: u64) -> Option<bool> {
        let (from, to) = (usize::try_from(from).ok()?, usize::try_from(to).ok()?);
        let from = from - from % sys::page_size();
        if from >= to || to > self.len {
            return Some(false);
        }
        // SAFETY: within the mapping, of which nobody else knows, and from the beginning of a page; nothing is changed but which pages there are.
        unsafe { sys::populate(self.address.cast::<u8>().wrapping_add(from), to - from) }
    }

    /// Wakes up to `count` waiters of the word.
    pub(crate) fn wake(&self, offset: u64, count: u32) {
        let Some(word) = self.word(offset) else { return };
        // SAFETY: FUTEX_WAKE takes an address as a name; the kernel does not write there.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word,
                libc::FUTEX_WAKE,
                count,
                null::<c_void>(),
                null::<c_void>(),
                0,
            )
        };
    }

    /// Sleeps while the word is `expected`, at most `timeout`.
    pub(crate) fn wait(&self, offset: u64, expected: u32, timeout: Duration) {
        let Some(word) = self.word(offset) else {
            std::thread::sleep(timeout.min(POLL));
            return;
        };
        let time = timespec(timeout);
        // SAFETY: the kernel reads the word and the time; a page that is gone is answered with EFAULT.
        let result = unsafe {
            libc::syscall(
                libc::SYS_futex,
                word,
                libc::FUTEX_WAIT,
                expected,
                &raw const time,
                null::<c_void>(),
                0,
            )
        };
        if result != 0 && errno() == libc::EFAULT {
            std::thread::sleep(timeout.min(POLL));
        }
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        // SAFETY: the mapping made in new, used by nobody else.
        let _ = unsafe { rustix::mm::munmap(self.address, self.len) };
    }
}

/// `struct futex_waitv` of the kernel.
#[repr(C)]
#[derive(Clone, Copy)]
struct WaitWord {
    value: u64,
    address: u64,
    flags: u32,
    reserved: u32,
}

/// Sleeps while each of these words has its value, at most `timeout`. May return early.
pub(crate) fn wait_for_any(of: &[(&Words, u64, u32)], timeout: Duration) {
    let timeout = if of.len() > MAX_WORDS { timeout.min(POLL) } else { timeout };
    let mut words = [WaitWord { value: 0, address: 0, flags: FUTEX2_SIZE_U32, reserved: 0 }; MAX_WORDS];
    let mut count = 0;
    for (map, offset, value) in of.iter().take(MAX_WORDS) {
        let Some(word) = map.word(*offset) else { continue };
        words[count] = WaitWord { value: (*value).into(), address: word as u64, ..words[count] };
        count += 1;
    }
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let until = timespec(Duration::new(now.tv_sec as u64, now.tv_nsec as u32) + timeout);
    // SAFETY: the kernel reads `count` entries, the words they name, and the time; pages that are gone are answered with EFAULT.
    let result = unsafe {
        libc::syscall(
            libc::SYS_futex_waitv,
            words.as_ptr(),
            count,
            0,
            &raw const until,
            libc::CLOCK_MONOTONIC,
        )
    };
    // No such call before 5.16, and sandboxes refuse it; a word that is gone refuses them all.
    if result < 0 && !matches!(errno(), libc::ETIMEDOUT | libc::EAGAIN | libc::EINTR) {
        std::thread::sleep(timeout.min(POLL));
    }
}

fn timespec(duration: Duration) -> libc::timespec {
    libc::timespec { tv_sec: duration.as_secs() as _, tv_nsec: duration.subsec_nanos() as _ }
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
