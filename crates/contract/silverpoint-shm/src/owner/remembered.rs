//! What this process image remembers of the session, so that cold paths need not ask again.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::session::Session;
use crate::sys;

/// Pages of a control file that are remembered as backed: those of the layouts that this version makes, and more.
const BACKED_WORDS: usize = 64;

/// All zero is its first state; a fork wipes it to that.
pub(crate) struct Remembered {
    /// Where the search for slices to adopt goes on, by size.
    pub(crate) slices_cursor: [AtomicU32; 4],
    /// CLOCK_MONOTONIC: until then no slice is searched again, since there was none.
    pub(crate) exhausted_until_ns: AtomicU64,
    /// The same, by size: until then the kernel is not asked for memory for a new slice, since it had none.
    pub(crate) no_memory_until_ns: [AtomicU64; 4],
    /// The same for a new site.
    pub(crate) no_site_memory_until_ns: AtomicU64,
    pub(crate) last_anchor_ns: AtomicU64,
    /// 1 after the warning that there is no memory.
    pub(crate) warned: AtomicU32,
    /// One bit a page of the control file: backed, as far as this copy knows.
    backed: [AtomicU64; BACKED_WORDS],
}

impl Remembered {
    /// Backs bytes of the control file, unless this copy has done so before.
    pub(crate) fn back_control(&self, session: &Session, at: usize, len: usize) -> bool {
        let page = sys::page_size();
        let (first, last) = (at / page, (at + len - 1) / page);
        let bit = |n: usize| (self.backed.get(n / 64), 1u64 << (n % 64));
        let known =
            |n: usize| matches!(bit(n), (Some(word), mask) if word.load(Ordering::Acquire) & mask != 0);
        if (first..=last).all(known) {
            return true;
        }
        if !session.back_control(at, len) {
            return false;
        }
        for n in first..=last {
            if let (Some(word), mask) = bit(n) {
                word.fetch_or(mask, Ordering::AcqRel);
            }
        }
        true
    }
}
