//! Which slots are free: a list through the slots themselves, without a lock and without an allocation.
//!
//! A thread may be anywhere in here when the process forks. The list in the child is then complete, except
//! for at most the slot in the thread's hands.

use crate::atomics::{AtomicU32, AtomicU64, Ordering};

/// The list. Slots are known by their numbers.
pub(crate) struct Free {
    /// The low half is 1 + the first slot, 0: none. The high half counts the changes: a compare-and-swap
    /// notices a list that was changed and changed back.
    first: AtomicU64,
}

const COUNT: u64 = 1 << 32;

impl Free {
    /// An empty list, whose word is 0.
    pub(crate) const fn new(first: AtomicU64) -> Self {
        Self { first }
    }

    /// Puts a slot into the list. `link` gives the place in a slot that says which one follows.
    pub(crate) fn push<'l>(&self, number: u32, link: impl Fn(u32) -> Option<&'l AtomicU32>) {
        let Some(next) = link(number) else { return };
        let mut first = self.first.load(Ordering::Relaxed);
        loop {
            next.store(first as u32, Ordering::Relaxed);
            let new = ((first & !(COUNT - 1)).wrapping_add(COUNT)) | u64::from(number + 1);
            match self.first.compare_exchange(first, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return,
                Err(other) => first = other,
            }
        }
    }

    /// Takes one out of it.
    pub(crate) fn pop<'l>(&self, link: impl Fn(u32) -> Option<&'l AtomicU32>) -> Option<u32> {
        let mut first = self.first.load(Ordering::Acquire);
        loop {
            let number = (first as u32).checked_sub(1)?;
            // Another thread may have taken it meanwhile, and put others on it: then this is of no use, and the count is another.
            let next = link(number)?.load(Ordering::Relaxed);
            let new = ((first & !(COUNT - 1)).wrapping_add(COUNT)) | u64::from(next);
            match self.first.compare_exchange(first, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(number),
                Err(other) => first = other,
            }
        }
    }
}
