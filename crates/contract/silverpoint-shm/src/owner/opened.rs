//! The mapping of the ring file: its addresses are reserved, and accessible as far as slabs are used.
//!
//! What is not accessible costs addresses only. `mlockall` makes no pages of it, whenever the program calls
//! that, and a core dump does not have it.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::io::Errno;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags};

use super::control::Shared;
use super::session::unmap;
use crate::memory::SMALL;

/// A session's ring file in this process.
pub(crate) struct Rings {
    mapping: Shared,
    size: u64,
    /// Accessible bytes from the start on.
    opened: AtomicU64,
}

impl Rings {
    /// Maps it, at an address of the kernel's choice or over an earlier mapping of this size.
    pub(crate) fn map(fd: &OwnedFd, size: u64, over: *mut u8) -> Result<Rings, Errno> {
        let flags = if over.is_null() { MapFlags::SHARED } else { MapFlags::SHARED | MapFlags::FIXED };
        // SAFETY: either a new mapping, or exactly over one of this size that the session has made itself.
        let address =
            unsafe { rustix::mm::mmap(over.cast(), size as usize, ProtFlags::empty(), flags, fd, 0)? };
        // SAFETY: the mapping just made.
        let mapping = unsafe { Shared::new(address.cast()) };
        let rings = Rings { mapping, size, opened: AtomicU64::new(0) };
        if let Err(error) = rings.open(1) {
            if over.is_null() {
                unmap(mapping.address(), size as usize);
            }
            return Err(error);
        }
        Ok(rings)
    }

    pub(crate) fn mapping(&self) -> Shared {
        self.mapping
    }

    /// Accessible bytes after making those before `end` accessible, in steps of [`SMALL`]. Fewer: the system
    /// refuses.
    pub(crate) fn opened_to(&self, end: u64) -> u64 {
        let opened = self.opened.load(Ordering::Acquire);
        if end <= opened {
            return opened;
        }
        self.open(end).unwrap_or(opened)
    }

    #[cold]
    fn open(&self, end: u64) -> Result<u64, Errno> {
        let end = end.next_multiple_of(SMALL).min(self.size);
        // SAFETY: within the mapping, whose content does not change.
        unsafe {
            let access = MprotectFlags::READ | MprotectFlags::WRITE;
            rustix::mm::mprotect(self.mapping.address().cast(), end as usize, access)?;
        }
        self.opened.fetch_max(end, Ordering::AcqRel);
        Ok(end)
    }

    /// Gives it back.
    ///
    /// # Safety
    /// Nobody in this copy uses a ring any more.
    pub(crate) unsafe fn unmap(&self) {
        unmap(self.mapping.address(), self.size as usize);
    }
}
