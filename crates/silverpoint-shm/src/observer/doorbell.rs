//! Futex words in files of a producer: waited on and woken, never dereferenced.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

use silverpoint_wire::layout::control::at;

use super::error::ObserveError;
use super::session::ObservedSession;

/// A map that exists for its addresses alone.
///
/// Invariant: nothing in user space reads or writes through it, so a file that is shrunk cannot raise SIGBUS here; the kernel answers a futex call on such an
/// address with EFAULT.
pub(super) struct FutexMap {
    address: *mut libc::c_void,
    /// 0 when there is no map: then calls do nothing and waiting is a sleep.
    len: usize,
}

// SAFETY: the address is only ever passed to the kernel, which may be done from any thread.
unsafe impl Send for FutexMap {}
// SAFETY: as above; there is no state in user space.
unsafe impl Sync for FutexMap {}

impl FutexMap {
    pub(super) fn new(file: &File, len: usize) -> FutexMap {
        // SAFETY: a fresh shared read-only map at an address of the kernel's choice; it is never dereferenced.
        let address = unsafe {
            libc::mmap(
                ptr::null_mut(),
                len,
                libc::PROT_READ,
                libc::MAP_SHARED | libc::MAP_NORESERVE,
                file.as_raw_fd(),
                0,
            )
        };
        if len == 0 || address == libc::MAP_FAILED {
            FutexMap { address: ptr::null_mut(), len: 0 }
        } else {
            FutexMap { address, len }
        }
    }

    fn word(&self, offset: u64) -> Option<u64> {
        let offset =
            usize::try_from(offset).ok().filter(|offset| offset + 4 <= self.len && offset % 4 == 0)?;
        Some(self.address as u64 + offset as u64)
    }

    /// Wakes all waiters of the word at `offset`.
    pub(super) fn wake(&self, offset: u64) {
        if let Some(word) = self.word(offset) {
            // SAFETY: FUTEX_WAKE only identifies the page; a bad address is EFAULT.
            unsafe { libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAKE, i32::MAX) };
        }
    }
}

impl Drop for FutexMap {
    fn drop(&mut self) {
        if self.len != 0 {
            // SAFETY: this map was made by mmap with this length and nobody has pointers into it.
            unsafe { libc::munmap(self.address, self.len) };
        }
    }
}

/// An entry of futex_waitv(2).
#[repr(C)]
struct WaitEntry {
    value: u64,
    address: u64,
    flags: u32,
    reserved: u32,
}

const FUTEX2_SIZE_U32: u32 = 2;
const SYS_FUTEX_WAITV: libc::c_long = 449;
/// Most words of one call.
const WAIT_MAX: usize = 128;

/// Sleeps until a producer of one of these sessions rings, or `timeout` has passed. `bells` are the values of the doorbells
/// ([`ObservedSession::doorbell`]) from *before* the rings were last looked at. Beyond 128 sessions the others are found at the timeout.
pub fn wait_for_any<'a>(sessions: impl Iterator<Item = (&'a ObservedSession, u32)>, timeout: Duration) {
    let sessions: Vec<(&ObservedSession, u32)> = sessions.take(WAIT_MAX).collect();
    let sleeping = |value: u32| {
        for (session, _) in &sessions {
            // A session that cannot be written any more is found out at the next pass.
            let _ = session.write_control(&value.to_le_bytes(), at::COLLECTOR_SLEEPING as u64);
        }
    };
    sleeping(1);
    // A producer stores its position, then looks at `collector_sleeping`; here it is the other way round.
    fence(Ordering::SeqCst);
    let rung = sessions.iter().any(|(session, bell)| session.doorbell().is_ok_and(|now| now != *bell));
    if !rung && !wait(&sessions, timeout) {
        std::thread::sleep(timeout.min(Duration::from_millis(1)));
    }
    sleeping(0);
}

/// False when the system cannot wait this way.
fn wait(sessions: &[(&ObservedSession, u32)], timeout: Duration) -> bool {
    let entries: Vec<WaitEntry> = sessions
        .iter()
        .filter_map(|(session, bell)| {
            let address = session.control_map.word(at::DOORBELL as u64)?;
            Some(WaitEntry { value: u64::from(*bell), address, flags: FUTEX2_SIZE_U32, reserved: 0 })
        })
        .collect();
    if entries.is_empty() {
        std::thread::sleep(timeout);
        return true;
    }
    let mut until = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fills the structure that it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut until) };
    let ns = until.tv_nsec as u64 + u64::from(timeout.subsec_nanos());
    until.tv_sec += timeout.as_secs() as libc::time_t + (ns / 1_000_000_000) as libc::time_t;
    until.tv_nsec = (ns % 1_000_000_000) as libc::c_long;
    // SAFETY: the entries and the time live during the call; bad addresses within the entries are EFAULT.
    let result = unsafe {
        libc::syscall(
            SYS_FUTEX_WAITV,
            entries.as_ptr(),
            entries.len() as u32,
            0,
            &raw const until,
            libc::CLOCK_MONOTONIC,
        )
    };
    // A wake-up, a changed word, the timeout and an interruption are all reasons to look again; a bad address or an old kernel is not.
    result >= 0
        || matches!(
            std::io::Error::last_os_error().raw_os_error(),
            Some(libc::EAGAIN | libc::ETIMEDOUT | libc::EINTR)
        )
}

impl ObservedSession {
    /// The doorbell's word as it is.
    pub fn doorbell(&self) -> Result<u32, ObserveError> {
        self.control_u32(at::DOORBELL)
    }
}
