//! What this kernel and this process allow for sessions: used to explain why something does not work.

use std::ffi::c_void;

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use crate::sys;

/// What was tried, and whether it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Support {
    /// `MADV_POPULATE_WRITE` (Linux 5.14): memory is backed before it is written to. Without it `fallocate` does the same, more slowly.
    pub populate_write: bool,
    /// `MADV_WIPEONFORK` (Linux 4.14): a forked child is known by its wiped page. Without it there is no session.
    pub wipe_on_fork: bool,
    /// `AT_SECURE`: this process has more privileges than its caller, so that it makes no session and reads no environment.
    pub is_privileged: bool,
}

impl Support {
    /// Tries it on one page of memory of its own. Costs a few system calls.
    pub fn of_this_process() -> Self {
        Self {
            populate_write: is_accepted(Advice::LinuxPopulateWrite),
            wipe_on_fork: is_accepted(Advice::LinuxWipeOnFork),
            is_privileged: sys::is_privileged(),
        }
    }
}

/// Whether this process has more privileges than its caller (`AT_SECURE`: set-user-id, file capabilities): then nothing of the environment counts.
pub fn is_privileged() -> bool {
    sys::is_privileged()
}

/// Whether the kernel takes this advice for private anonymous memory.
fn is_accepted(advice: Advice) -> bool {
    const PAGE: usize = 4096;
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping wherever the kernel likes: it replaces none.
    let Ok(page) =
        (unsafe { mmap_anonymous(std::ptr::null_mut::<c_void>(), PAGE, protection, MapFlags::PRIVATE) })
    else {
        return false;
    };
    // SAFETY: the page was mapped above, and nothing refers to its content; both advices leave it readable.
    let answer: Result<(), Errno> = unsafe { madvise(page, PAGE, advice) };
    // SAFETY: the page was mapped above and nobody else knows its address.
    let _ = unsafe { munmap(page, PAGE) };
    answer.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel")]
    fn unknown_advice_is_not_accepted_and_known_is() {
        assert!(is_accepted(Advice::Normal));
        let support = Support::of_this_process();
        assert_eq!(support.is_privileged, sys::is_privileged());
        // Who has the newer one has the older one.
        assert!(support.wipe_on_fork || !support.populate_write);
    }
}
