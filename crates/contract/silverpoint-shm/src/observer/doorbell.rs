//! Futex words in a producer's files: waiting for the doorbell, waking producers that wait for room.
//!
//! The map is used only for its addresses: they name futexes, and pages that the kernel is to make. Nothing
//! is loaded or stored through it, and no reference into it is made. For a page that the producer has cut off
//! the kernel answers EFAULT.

use std::ffi::c_void;
use std::ptr::null;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

use rustix::mm::{MapFlags, ProtFlags};
use silverpoint_wire::layout::control::{HEADER_SIZE, at};

use super::{ObserveError, ObservedSession};
use crate::kept::KeptFd;
use crate::sys;

/// The kernel waits for at most so many words at once.
const MAX_WORDS: usize = 128;
/// When there are more words than can be waited for, or the kernel cannot wait for several.
const POLL: Duration = Duration::from_millis(20);
/// `futex_waitv`: the word has 32 bits.
const FUTEX2_SIZE_U32: u32 = 2;

/// Addresses of a file's words.
#[derive(Debug)]
pub(super) struct FutexMap {
    address: *mut c_void,
    len: usize,
}

// SAFETY: the address is only handed to the kernel, which may be asked from any thread.
unsafe impl Send for FutexMap {}
// SAFETY: as above; nothing is changed through a shared reference.
unsafe impl Sync for FutexMap {}

impl FutexMap {
    fn new(fd: &KeptFd, len: u64, access: ProtFlags) -> Option<Self> {
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
    pub(super) fn make_pages(&self, from: u64, to: u64) -> Option<bool> {
        let (from, to) = (usize::try_from(from).ok()?, usize::try_from(to).ok()?);
        let from = from - from % sys::page_size();
        if from >= to || to > self.len {
            return Some(false);
        }
        // SAFETY: within the mapping, of which nobody else knows, and from the beginning of a page; nothing is changed but which pages there are.
        unsafe { sys::populate(self.address.cast::<u8>().wrapping_add(from), to - from) }
    }

    /// Wakes up to `count` waiters of the word.
    pub(super) fn wake(&self, offset: u64, count: u32) {
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
    fn wait(&self, offset: u64, expected: u32, timeout: Duration) {
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

impl Drop for FutexMap {
    fn drop(&mut self) {
        // SAFETY: the mapping made in new, used by nobody else.
        let _ = unsafe { rustix::mm::munmap(self.address, self.len) };
    }
}

/// Ends a collector's sleep on a session without ringing its doorbell. Outlives the session.
#[derive(Clone, Debug)]
pub struct Nudge(Arc<FutexMap>);

impl Nudge {
    /// Wakes a thread that sleeps on the doorbell now. One that is about to sleep is not woken: repeat the
    /// call until the expected change has happened.
    pub fn wake(&self) {
        self.0.wake(at::DOORBELL as u64, u32::MAX >> 1);
    }
}

/// A session that the collector is about to sleep on.
#[derive(Clone, Copy, Debug)]
pub struct Sleep<'a> {
    session: &'a ObservedSession,
    doorbell: u32,
}

impl ObservedSession {
    fn control_map(&self) -> Option<&Arc<FutexMap>> {
        let new = || FutexMap::new(&self.control, HEADER_SIZE as u64, ProtFlags::READ).map(Arc::new);
        self.control_map.get_or_init(new).as_ref()
    }

    /// For waking the session's collector from another thread of its process.
    pub fn nudge(&self) -> Option<Nudge> {
        self.control_map().map(|map| Nudge(Arc::clone(map)))
    }

    pub(super) fn rings_map(&self) -> Option<&FutexMap> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        self.rings_map.get_or_init(|| FutexMap::new(&self.rings, self.header.rings_size, access)).as_ref()
    }

    /// Sets whether the collector sleeps: then producers ring. After setting it, the collector must check the
    /// rings once more before it sleeps.
    pub fn set_sleeping(&self, sleeping: bool) -> Result<(), ObserveError> {
        self.put(at::COLLECTOR_SLEEPING, &u32::from(sleeping).to_le_bytes())?;
        // Pairs with the producer's fence between `committed` and its look at `collector_sleeping`: one of the two sees the other.
        fence(Ordering::SeqCst);
        Ok(())
    }

    /// What [`sleep_until_rung`] waits for: that the doorbell is no longer `doorbell`, its value before the last look at the rings.
    pub fn sleep_on(&self, doorbell: u32) -> Sleep<'_> {
        Sleep { session: self, doorbell }
    }

    /// Sleeps while a word of the header is `expected`, at most `timeout`.
    pub(super) fn wait_for_word(&self, offset: u64, expected: u32, timeout: Duration) {
        match self.control_map() {
            Some(map) => map.wait(offset, expected, timeout),
            None => std::thread::sleep(timeout),
        }
    }

    /// Wakes everybody who waits for other directives.
    pub(super) fn wake_watchers(&self) {
        if let Some(map) = self.control_map() {
            map.wake(at::GENERATION as u64, u32::MAX >> 1);
            // A tracer's library may follow the directives.
            map.wake(at::PROBES_WAKE as u64, u32::MAX >> 1);
        }
    }
}

/// Sleeps until one of the sessions rings its doorbell, at most `timeout`. May return early.
pub fn sleep_until_rung(sleeps: &[Sleep<'_>], timeout: Duration) {
    let doorbell = at::DOORBELL as u64;
    match sleeps {
        [] => std::thread::sleep(timeout),
        [one] => match one.session.control_map() {
            Some(map) => map.wait(doorbell, one.doorbell, timeout),
            None => std::thread::sleep(timeout.min(POLL)),
        },
        several => {
            let timeout = if several.len() > MAX_WORDS { timeout.min(POLL) } else { timeout };
            wait_for_any(&several[..several.len().min(MAX_WORDS)], timeout);
        }
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

fn wait_for_any(sleeps: &[Sleep<'_>], timeout: Duration) {
    let mut words = [WaitWord { value: 0, address: 0, flags: FUTEX2_SIZE_U32, reserved: 0 }; MAX_WORDS];
    let mut count = 0;
    for sleep in sleeps {
        let Some(word) = sleep.session.control_map().and_then(|map| map.word(at::DOORBELL as u64)) else {
            continue;
        };
        words[count] = WaitWord { value: sleep.doorbell.into(), address: word as u64, ..words[count] };
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
