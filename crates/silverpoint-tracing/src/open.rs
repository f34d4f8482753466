//! Spans that are open in each thread: the innermost apart, the others in a stack.

use std::cell::{Cell, RefCell};

use crate::slots::Slot;

/// A span that is open in a thread.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) id: u64,
    pub(crate) slot: Option<&'static Slot>,
    pub(crate) begun: u64,
    pub(crate) what: What,
}

/// What its record was: the site in the low half (0: nothing was recorded), then the level, then whether the span was made in this thread, and entered
/// for the first time. One word, as all of a frame: what is stored in smaller pieces than it is loaded in the processor waits for.
#[derive(Clone, Copy)]
pub(crate) struct What(u64);

impl What {
    pub(crate) const NOTHING: Self = Self(0);

    #[inline(always)]
    pub(crate) fn new(site: u32, level: u8, is_first: bool) -> Self {
        Self(u64::from(site) | u64::from(level) << 32 | u64::from(is_first) << 40)
    }

    #[inline(always)]
    pub(crate) fn site(self) -> u32 {
        self.0 as u32
    }

    #[inline(always)]
    pub(crate) fn level(self) -> u8 {
        (self.0 >> 32) as u8
    }

    #[inline(always)]
    pub(crate) fn is_first(self) -> bool {
        self.0 >> 40 != 0
    }
}

/// The innermost span that is open in a thread: a frame, each part for itself.
struct Inner {
    /// 0: there is none.
    id: Cell<u64>,
    slot: Cell<Option<&'static Slot>>,
    begun: Cell<u64>,
    what: Cell<What>,
}

impl Inner {
    #[inline(always)]
    fn get(&self) -> Frame {
        Frame { id: self.id.get(), slot: self.slot.get(), begun: self.begun.get(), what: self.what.get() }
    }

    #[inline(always)]
    fn set(&self, frame: Frame) {
        self.id.set(frame.id);
        self.slot.set(frame.slot);
        self.begun.set(frame.begun);
        self.what.set(frame.what);
    }
}

thread_local! {
    static INNER: Inner = const {
        Inner { id: Cell::new(0), slot: Cell::new(None), begun: Cell::new(0), what: Cell::new(What::NOTHING) }
    };
    /// Spans around it, the outermost first; and how many they are.
    static OUTER: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) };
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// The innermost span that is open in this thread; 0: none.
#[inline(always)]
pub(crate) fn current() -> u64 {
    INNER.with(|inner| inner.id.get())
}

/// Its slot.
#[inline(always)]
pub(crate) fn slot_of_current() -> Option<&'static Slot> {
    INNER.with(|inner| inner.slot.get())
}

/// A span is open from here on, within whatever is.
#[inline(always)]
pub(crate) fn open(frame: Frame) {
    INNER.with(|inner| {
        if inner.id.get() != 0 {
            keep_outer(inner.get());
        }
        inner.set(frame);
    });
}

#[inline(never)]
fn keep_outer(outer: Frame) {
    let _ = OUTER.try_with(|frames| {
        let mut frames = frames.borrow_mut();
        frames.push(outer);
        DEPTH.set(frames.len());
    });
}

/// The frame of a span that is open, which is so no longer.
#[inline(always)]
pub(crate) fn leave(id: u64) -> Option<Frame> {
    INNER.with(|inner| {
        if inner.id.get() != id {
            return leave_outer(id);
        }
        let frame = inner.get();
        inner.id.set(0);
        if DEPTH.get() != 0 {
            last_outer(inner);
        }
        Some(frame)
    })
}

#[inline(never)]
fn last_outer(inner: &Inner) {
    let _ = OUTER.try_with(|frames| {
        let mut frames = frames.borrow_mut();
        if let Some(last) = frames.pop() {
            inner.set(last);
        }
        DEPTH.set(frames.len());
    });
}

/// Spans are mostly left in the order in which they were entered, but need not be.
#[cold]
fn leave_outer(id: u64) -> Option<Frame> {
    let found = OUTER.try_with(|frames| {
        let mut frames = frames.borrow_mut();
        let place = frames.iter().rposition(|frame| frame.id == id)?;
        let found = frames.remove(place);
        DEPTH.set(frames.len());
        Some(found)
    });
    found.ok().flatten()
}
