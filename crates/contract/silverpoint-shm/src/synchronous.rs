//! Functions that are given each record by the thread that makes it, before its tracepoint returns.
//!
//! ```text
//!  add ─▶ the chain, the count ─▶ fence ─▶ every lane of every thread is asked to come by
//!                                              │ its next record: cold path (owner::thread), which looks at the count behind a fence of its own
//!                                              ▼
//!                        record ─▶ published ─▶ give: each function of the chain, in the order in which they were added ─▶ the lane is idle again
//! ```
//!
//! While there is a function every record takes the cold path; while there is none the hot path is what it always is.
//!
//! The chain only grows, except for its last place, which is reused. It has no lock: a process may be forked
//! while another of its threads adds a function.

use std::cell::{Cell, UnsafeCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::time::Duration;

use crate::{owner, sys};

/// A record as it was made.
#[derive(Clone, Copy)]
pub struct Made<'a> {
    /// Header, packed arguments, and zeros up to a multiple of 8.
    pub record: &'a [u8],
    /// Id of the site: of a span's end, that of the span.
    pub site: u32,
    /// Appends the site's description (spec/wire.md, section 7). Of an id it is always the same.
    pub describe: &'a dyn Fn(&mut Vec<u8>),
    /// Fields of the scopes that the thread is in: pairs of CBOR items, names and values.
    pub context: &'a [u8],
    /// The kernel's number of the thread.
    pub tid: u32,
    /// Of a span's end: how long it lasted.
    pub duration_ns: Option<u64>,
}

/// A function that is given records.
pub type Function = Box<dyn Fn(&Made<'_>) + Send + Sync>;

/// What a place of the chain is: being filled or emptied; with a function; without one, and free; never used again.
const BUSY: u32 = 0;
const ON: u32 = 1;
const FREE: u32 = 2;
const SPENT: u32 = 3;

struct Place {
    state: AtomicU32,
    /// Threads that look at it, or are in its function.
    inside: AtomicU32,
    /// The process that has filled it.
    process: AtomicU32,
    function: UnsafeCell<Option<Function>>,
    next: AtomicPtr<Place>,
}

// SAFETY: the function is written by the one thread that has made the place BUSY, when no thread is inside.
// Others read it while it is ON, and it may be called by any thread.
unsafe impl Sync for Place {}

static FIRST: AtomicPtr<Place> = AtomicPtr::new(null_mut());
/// Functions that there are.
static COUNT: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// Whether this thread is in a function: what it records there is given to none.
    static IS_GIVING: Cell<bool> = const { Cell::new(false) };
}

/// A function in the chain; dropped, it is taken out.
pub struct Added(&'static Place);

/// Adds a function to the end of the chain. From the return on, it gets each record that any thread of the
/// process begins to make.
pub fn add(function: Function) -> Added {
    let place = free_place().unwrap_or_else(new_place);
    place.process.store(std::process::id(), Ordering::Relaxed);
    // SAFETY: BUSY, and this thread has made it that; nobody is in a function of it, for there was none, or it was taken out.
    unsafe { *place.function.get() = Some(function) };
    place.state.store(ON, Ordering::SeqCst);
    COUNT.fetch_add(1, Ordering::SeqCst);
    owner::force_slow_path();
    Added(place)
}

/// Whether there is a function, for the cold path of a record. To be called after the cold path has set how
/// far the hot path may go, and after a full fence.
pub(crate) fn is_wanted() -> bool {
    COUNT.load(Ordering::Relaxed) != 0
}

/// How many functions there are, for frontends in other languages, which look at it as this crate's own does. It lives as long as the process.
pub fn count() -> &'static AtomicU32 {
    &COUNT
}

/// Gives a record to all functions; to none within one. Called with the thread's lane busy, so that what they record goes elsewhere.
pub fn give(made: &Made<'_>) {
    if IS_GIVING.replace(true) {
        return;
    }
    let mut next = FIRST.load(Ordering::Acquire);
    // SAFETY: null, or a place, which is never freed.
    while let Some(place) = unsafe { next.as_ref() } {
        place.give(made);
        next = place.next.load(Ordering::Acquire);
    }
    IS_GIVING.set(false);
}

/// The last place of the chain, if it is free.
fn free_place() -> Option<&'static Place> {
    let mut last: Option<&Place> = None;
    loop {
        let next = last.map_or(&FIRST, |place| &place.next).load(Ordering::Acquire);
        // SAFETY: as in `give`.
        match unsafe { next.as_ref() } {
            Some(place) => last = Some(place),
            None => break,
        }
    }
    last.filter(|place| place.state.compare_exchange(FREE, BUSY, Ordering::SeqCst, Ordering::Relaxed).is_ok())
}

fn new_place() -> &'static Place {
    let place: &'static Place = Box::leak(Box::new(Place {
        state: AtomicU32::new(BUSY),
        inside: AtomicU32::new(0),
        process: AtomicU32::new(0),
        function: UnsafeCell::new(None),
        next: AtomicPtr::new(null_mut()),
    }));
    let mut end: &AtomicPtr<Place> = &FIRST;
    while let Err(taken) = end.compare_exchange(
        null_mut(),
        std::ptr::from_ref(place).cast_mut(),
        Ordering::AcqRel,
        Ordering::Acquire,
    ) {
        // SAFETY: not null, so a place, which is never freed.
        end = unsafe { &(*taken).next };
    }
    place
}

impl Place {
    fn give(&self, made: &Made<'_>) {
        if self.state.load(Ordering::Relaxed) != ON {
            return;
        }
        // Before the state is read: the thread that removes the function changes the state, then reads this.
        self.inside.fetch_add(1, Ordering::SeqCst);
        if self.state.load(Ordering::SeqCst) == ON {
            // SAFETY: it is not changed while it is ON, nor as long as this thread is inside.
            let function = unsafe { (*self.function.get()).as_ref() };
            let given = function.map(|function| catch_unwind(AssertUnwindSafe(|| function(made))));
            if let Some(Err(panic)) = given {
                // What it carries may panic again when it is dropped.
                std::mem::forget(panic);
                if self.state.compare_exchange(ON, SPENT, Ordering::SeqCst, Ordering::Relaxed).is_ok() {
                    COUNT.fetch_sub(1, Ordering::SeqCst);
                    sys::warn(&[b"a function that receives records has panicked: it gets no more"]);
                }
            }
        }
        self.inside.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Added {
    /// Leaves it in the chain as long as the process lives.
    pub fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Added {
    /// Returns when no other thread is in the function. Within a function, and in a forked child of the process that has added it, nobody is waited for, and the function is not dropped.
    fn drop(&mut self) {
        let place = self.0;
        if place.state.compare_exchange(ON, BUSY, Ordering::SeqCst, Ordering::Relaxed).is_err() {
            return; // it has panicked
        }
        COUNT.fetch_sub(1, Ordering::SeqCst);
        // Threads that were inside at a fork are not there in the child to leave.
        if IS_GIVING.get() || place.process.load(Ordering::Relaxed) != std::process::id() {
            return place.state.store(SPENT, Ordering::SeqCst);
        }
        let mut rounds = 0u32;
        while place.inside.load(Ordering::SeqCst) != 0 {
            if rounds < 100 {
                std::thread::yield_now();
            } else {
                std::thread::sleep(Duration::from_micros(200));
            }
            rounds = rounds.saturating_add(1);
        }
        // SAFETY: BUSY by this thread, and nobody is inside, nor will be in this function.
        let function = unsafe { (*place.function.get()).take() };
        place.state.store(FREE, Ordering::SeqCst);
        drop(function);
    }
}
