//! The scopes that are open in a thread, and what a lane has stated of them.

use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{Ordering, compiler_fence};

/// Scopes that may be open at the same time in a thread; the fields of those beyond are not recorded.
pub(crate) const SCOPES_MAX: usize = 24;
/// Bytes of names and values of all open scopes of a thread.
pub const CONTEXT_BYTES: usize = 1424;

/// All zero is a thread without fields.
#[repr(C)]
pub(crate) struct Contexts {
    /// 1 while the scopes are being changed or read.
    pub(super) busy: Cell<u32>,
    /// Open scopes.
    count: Cell<u32>,
    /// Fields were left out for want of room, by scopes that are open.
    left_out: Cell<u32>,
    _zero: Cell<u32>,
    /// The last number that was given to a scope or a state.
    last: Cell<u64>,
    scopes: [Scope; SCOPES_MAX],
    /// Names and values as pairs of CBOR items, the outermost scope's first.
    bytes: UnsafeCell<[u8; CONTEXT_BYTES]>,
}

#[repr(C)]
struct Scope {
    /// Identifies it when it is left.
    number: Cell<u64>,
    /// Of the content up to here.
    state: Cell<u64>,
    /// Where its bytes end.
    end: Cell<u32>,
    /// 1: something of it was left out.
    is_cut: Cell<u32>,
}

impl Contexts {
    /// Those of a thread that has just begun.
    pub(crate) fn reset(&self) {
        for word in [&self.busy, &self.count, &self.left_out] {
            word.set(0);
        }
    }

    fn open(&self) -> &[Scope] {
        &self.scopes[..(self.count.get() as usize).min(SCOPES_MAX)]
    }

    pub(super) fn len(&self) -> usize {
        self.open().last().map_or(0, |scope| scope.end.get() as usize)
    }

    /// Of the content now; 0: no fields.
    pub(super) fn state(&self) -> u64 {
        self.open().last().map_or(0, |scope| scope.state.get())
    }

    pub(super) fn is_cut(&self) -> bool {
        self.open().iter().any(|scope| scope.is_cut.get() != 0)
    }

    fn next(&self) -> u64 {
        self.last.set(self.last.get() + 1);
        self.last.get()
    }

    /// Does something with the scopes that nobody else may do at the same time; `None` when this has interrupted such a thing.
    fn alone<R>(&self, work: impl FnOnce() -> R) -> Option<R> {
        if self.busy.get() != 0 {
            return None;
        }
        self.busy.set(1);
        compiler_fence(Ordering::SeqCst);
        let result = work();
        compiler_fence(Ordering::SeqCst);
        self.busy.set(0);
        Some(result)
    }

    pub(super) fn push(&self, pairs: &[u8], is_cut: bool) -> u64 {
        let pushed = self.alone(|| {
            let (count, len) = (self.count.get() as usize, self.len());
            let scope = self.scopes.get(count)?;
            let fits = pairs.len() <= CONTEXT_BYTES - len;
            let pairs = if fits { pairs } else { &[] };
            // SAFETY: within the bytes; this thread's, and nobody else uses them now.
            unsafe {
                let to = self.bytes.get().cast::<u8>().add(len);
                std::ptr::copy_nonoverlapping(pairs.as_ptr(), to, pairs.len());
            }
            let number = self.next();
            scope.number.set(number);
            scope.state.set(number);
            scope.end.set((len + pairs.len()) as u32);
            scope.is_cut.set(u32::from(is_cut || !fits));
            self.count.set(count as u32 + 1);
            Some(number)
        });
        pushed.flatten().unwrap_or(0)
    }

    pub(super) fn remove(&self, number: u64) -> bool {
        let removed = self.alone(|| {
            let open = self.open();
            let Some(place) = open.iter().rposition(|scope| scope.number.get() == number) else {
                return false;
            };
            let begin = place.checked_sub(1).map_or(0, |before| open[before].end.get());
            let (end, len) = (open[place].end.get(), self.len());
            // What lies upon it moves down.
            // SAFETY: `begin <= end <= len`, all within the bytes; nobody else uses them now.
            unsafe {
                let bytes = self.bytes.get().cast::<u8>();
                std::ptr::copy(bytes.add(end as usize), bytes.add(begin as usize), len - end as usize);
            }
            for at in place + 1..open.len() {
                let (to, from) = (&open[at - 1], &open[at]);
                to.number.set(from.number.get());
                to.state.set(self.next());
                to.end.set(from.end.get() - (end - begin));
                to.is_cut.set(from.is_cut.get());
            }
            self.count.set(open.len() as u32 - 1);
            true
        });
        removed.unwrap_or(false)
    }

    /// Copies the pairs; gives their length, 0 when this interrupts a change.
    pub(super) fn copy(&self, to: &mut [u8; CONTEXT_BYTES]) -> usize {
        if self.state() == 0 {
            return 0;
        }
        let copy = |pairs: &[u8]| {
            to[..pairs.len()].copy_from_slice(pairs);
            pairs.len()
        };
        self.read(copy).0
    }

    /// Lets the pairs be read; nothing is to be seen of them while they are being changed. True when they were.
    pub(super) fn read<R>(&self, take: impl FnOnce(&[u8]) -> R) -> (R, bool) {
        if self.busy.get() != 0 {
            return (take(&[]), false);
        }
        self.busy.set(1);
        compiler_fence(Ordering::SeqCst);
        // SAFETY: `len` bytes were written, and nobody changes them while the scopes are busy.
        let pairs = unsafe { std::slice::from_raw_parts(self.bytes.get().cast::<u8>(), self.len()) };
        let result = take(pairs);
        compiler_fence(Ordering::SeqCst);
        self.busy.set(0);
        (result, true)
    }
}

/// What a lane has stated. All zero: that there are no fields.
#[repr(C)]
pub(crate) struct Stated {
    pub(super) state: Cell<u64>,
    /// In which eighth of the ring (position / (capacity / 8)).
    pub(super) eighth: Cell<u64>,
}

impl Stated {
    /// A new stream: nothing was stated in it.
    pub(crate) fn forget(&self) {
        self.state.set(0);
        self.eighth.set(0);
    }
}
