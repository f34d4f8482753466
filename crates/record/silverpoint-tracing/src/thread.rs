//! What a thread remembers of its spans: all in one place, whose address is found once for each call.

use std::cell::Cell;

use silverpoint::dynamic::{Here, Lasting};

use crate::open::Open;
use crate::slots::{NOBODY, Slot};

/// One thread's. Nothing of it needs an end: what does is elsewhere ([`crate::slots`]).
pub(crate) struct Thread {
    /// Spans that are open.
    pub(crate) open: Open,
    /// Where it records, as far as it has been found.
    pub(crate) here: Cell<Here>,
    /// The span that the thread has made last, while it has not been entered; 0: none. And its slot.
    pub(crate) pending: Cell<u64>,
    pub(crate) pending_slot: Cell<Lasting<Slot>>,
    /// The span that it has left last, where it was made in this thread, was entered once, and no other was made in it. And its slot.
    pub(crate) left: Cell<u64>,
    pub(crate) left_slot: Cell<Lasting<Slot>>,
    /// The span that was looked for last, and its slot.
    pub(crate) found: Cell<u64>,
    pub(crate) found_slot: Cell<Lasting<Slot>>,
    /// The slot that was given back last: the low half of its span's id, or [`NONE`], or [`CLOSED`]. Where spans follow each other, they all live there.
    pub(crate) free: Cell<i32>,
    pub(crate) free_slot: Cell<Lasting<Slot>>,
}

/// [`Thread::free`]: there is none.
pub(crate) const NONE: i32 = -1;
/// [`Thread::free`]: there is none, and the thread may keep none: nobody would give it back when the thread ends.
pub(crate) const CLOSED: i32 = -2;

thread_local! {
    static THREAD: Thread = const {
        Thread {
            open: Open::new(),
            here: Cell::new(Here::NOWHERE),
            pending: Cell::new(0),
            pending_slot: Cell::new(Lasting::new(&NOBODY)),
            left: Cell::new(0),
            left_slot: Cell::new(Lasting::new(&NOBODY)),
            found: Cell::new(0),
            found_slot: Cell::new(Lasting::new(&NOBODY)),
            free: Cell::new(CLOSED),
            free_slot: Cell::new(Lasting::new(&NOBODY)),
        }
    };
}

/// Lends what the calling thread remembers.
#[inline(always)]
pub(crate) fn with<R>(look: impl FnOnce(&Thread) -> R) -> R {
    THREAD.with(look)
}
