//! Records on their way to the functions of [`crate::synchronous`].

use std::sync::atomic::{Ordering, fence};

use super::contexts::CONTEXT_BYTES;
use super::lane;
use super::local;
use super::session::Session;
use super::{at, changes, sites, slot};
use crate::ring::GIVEN;
use crate::synchronous::{self, Made};
use crate::sys::{self, ErrnoGuard};

/// What becomes of a lane for which there is room now when its record is made: only those of the thread's own lane are given. Others are made within a function, or by
/// a signal handler that interrupts a record.
pub(super) fn ready(session: &Session, number: usize) -> u32 {
    // After setting how far the hot path may go; see `super::force_slow_path`.
    fence(Ordering::SeqCst);
    if number == 0 && synchronous::is_wanted() { GIVEN } else { lane::idle(session) }
}

/// Gives a record that is published, and whose lane is busy still.
///
/// # Safety
/// `size` bytes at `at`, 16 or more, are a whole record of the calling thread's, and stay so until this returns.
#[cold]
#[inline(never)]
pub(super) unsafe fn give(at: *const u8, size: usize) {
    let _errno = ErrnoGuard::new();
    let Some((session, local)) = local::session() else { return };
    // SAFETY: by the caller.
    let record = unsafe { std::slice::from_raw_parts(at, size) };
    let word = |from: usize| record.get(from..from + 4).and_then(|bytes| bytes.try_into().ok());
    let number = |from: usize| word(from).map_or(0, u32::from_le_bytes);
    let long = |from: usize| u64::from(number(from)) | u64::from(number(from + 4)) << 32;
    let is_end = number(4) == at::record::SPAN_END;
    let site = if is_end { number(16) } else { number(4) };
    if site < at::site_entry::FIRST_ID {
        return;
    }
    let duration_ns = is_end.then(|| long(8).checked_sub(long(20)).map(changes::ticks_to_ns)).flatten();
    // A copy: the function may enter and leave scopes.
    let mut pairs = [0; CONTEXT_BYTES];
    let len = slot::slot_of_mine(local).map_or(0, |slot| local.contexts(slot).copy(&mut pairs));
    synchronous::give(&Made {
        record,
        site,
        describe: &|out| sites::describe(session, site, out),
        context: &pairs[..len],
        tid: sys::thread_id(),
        duration_ns,
    });
}
