//! A thread's context: the fields of all its records at this moment, and how they get into its rings
//! (spec/wire.md, section 6, Contexts).
//!
//! ```text
//!  enter ─▶ bytes of the thread's slot ─▶ every lane is asked to come by        a tracepoint inside costs what it costs outside
//!                                              │ its next record: cold path
//!                                              ▼
//!                     stated already? ── no ──▶ a context record, then the record
//! ```
//!
//! Scopes form a stack in memory of the thread's slot, which a fork wipes. Each content has a *state*, a
//! number that is never used again in the thread. A lane remembers which one it has stated last, and in which
//! eighth of its ring. Leaving a scope restores the state before it: a scope without records leaves nothing
//! in a ring.
//!
//! A signal handler may enter and leave scopes, too. One that interrupts a change finds the scopes busy, and its own is not recorded.

use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{Ordering, compiler_fence};

use super::lane::{LANES, Lane};
use super::local::{self, Local};
use super::session::Session;
use super::{Cause, at, thread};
use crate::ring::EIGHTHS;
use crate::sys::ErrnoGuard;

/// Scopes that may be open at the same time in a thread; the fields of those beyond are not recorded.
pub(crate) const SCOPES_MAX: usize = 24;
/// Bytes of names and values of all open scopes of a thread.
pub const CONTEXT_BYTES: usize = 1424;

/// Flag of a record in which a value was cut.
const TRUNCATED: u32 = 1 << 24;
/// How often a record is tried again because it is now in another ring, or another eighth of it.
const ATTEMPTS: u32 = 4;

/// All zero is a thread without fields.
#[repr(C)]
pub(crate) struct Contexts {
    /// 1 while the scopes are being changed or read.
    busy: Cell<u32>,
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

/// Opens a scope with pairs of CBOR items, a name and a value each. Gives the number for [`leave_context`], 0
/// when it could not be opened. `is_cut`: the pairs are incomplete. Pairs for which there is no
/// [room](context_room) are left out altogether.
///
/// Belongs to the calling thread. Some nanoseconds, and the next record of the thread takes the cold path.
pub fn enter_context(pairs: &[u8], is_cut: bool) -> u64 {
    let _errno = ErrnoGuard::new();
    let Some((contexts, local, slot)) = mine() else { return 0 };
    let number = contexts.push(pairs, is_cut);
    if number != 0 {
        ask(local, slot);
    }
    number
}

/// Closes a scope that [`enter_context`] opened in this thread, even if others were opened since. It does
/// nothing when the scope is not open, or 0.
pub fn leave_context(number: u64) {
    if number == 0 {
        return;
    }
    let _errno = ErrnoGuard::new();
    if let Some((contexts, local, slot)) = mine() {
        if contexts.remove(number) {
            ask(local, slot);
        }
    }
}

/// Bytes of pairs that another scope may have.
pub fn context_room() -> usize {
    mine().map_or(0, |(contexts, ..)| CONTEXT_BYTES - contexts.len())
}

/// Gives the pairs of all open scopes of this thread to `take`, the outermost first, and whether some are missing.
pub fn with_context<R>(take: impl FnOnce(&[u8], bool) -> R) -> R {
    match mine() {
        Some((contexts, ..)) => contexts.read(|pairs| take(pairs, contexts.is_cut())).0,
        None => take(&[], false),
    }
}

/// The same without asking for a slot, which a thread without scopes does not need.
pub(super) fn with_pairs<R>(take: impl FnOnce(&[u8]) -> R) -> R {
    let contexts =
        local::mapped().and_then(|local| thread::slot_of_mine(local).map(|slot| local.contexts(slot)));
    match contexts.filter(|contexts| contexts.state() != 0) {
        Some(contexts) => contexts.read(take).0,
        None => take(&[]),
    }
}

/// The contexts of the calling thread.
fn mine() -> Option<(&'static Contexts, &'static Local, usize)> {
    let (_, local) = local::session()?;
    let slot = match thread::slot_of_mine(local) {
        Some(slot) => slot,
        None => thread::slot(local)?,
    };
    Some((local.contexts(slot), local, slot))
}

/// Brings the next record of each lane to the cold path.
fn ask(local: &'static Local, slot: usize) {
    compiler_fence(Ordering::SeqCst);
    for number in 0..LANES {
        local.lane(slot, number).head.come_by();
    }
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

    fn len(&self) -> usize {
        self.open().last().map_or(0, |scope| scope.end.get() as usize)
    }

    /// Of the content now; 0: no fields.
    fn state(&self) -> u64 {
        self.open().last().map_or(0, |scope| scope.state.get())
    }

    fn is_cut(&self) -> bool {
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

    fn push(&self, pairs: &[u8], is_cut: bool) -> u64 {
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

    fn remove(&self, number: u64) -> bool {
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
    fn read<R>(&self, take: impl FnOnce(&[u8]) -> R) -> (R, bool) {
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
    state: Cell<u64>,
    /// In which eighth of the ring (position / (capacity / 8)).
    eighth: Cell<u64>,
}

impl Stated {
    /// A new stream: nothing was stated in it.
    pub(crate) fn forget(&self) {
        self.state.set(0);
        self.eighth.set(0);
    }
}

impl Lane {
    /// As [`Lane::room_for`], behind a statement of the context where one is due.
    pub(crate) fn room_in_context(
        &self,
        session: &'static Session,
        local: &'static Local,
        number: usize,
        size: usize,
        level: u8,
    ) -> Result<usize, Cause> {
        let contexts = thread::slot_of_mine(local).map(|slot| local.contexts(slot));
        let Some(contexts) = contexts else { return self.room_for(session, local, number, size, level) };
        for _ in 0..ATTEMPTS {
            if self.is_due(contexts) {
                self.state_context(session, local, number, level, contexts)?;
            }
            let room = self.room_for(session, local, number, size, level)?;
            if !self.is_due(contexts) {
                return Ok(room);
            }
        }
        self.room_for(session, local, number, size, level)
    }

    fn is_due(&self, contexts: &Contexts) -> bool {
        // A signal handler that has interrupted a change: what was stated before holds.
        if contexts.busy.get() != 0 {
            return false;
        }
        let state = contexts.state();
        if !self.head.has_ring() {
            return state != 0;
        }
        state != self.stated.state.get() || (state != 0 && self.eighth() != self.stated.eighth.get())
    }

    fn eighth(&self) -> u64 {
        self.head.position() / (self.head.capacity() as u64 / EIGHTHS)
    }

    /// Writes the record that says which fields those after it have.
    fn state_context(
        &self,
        session: &'static Session,
        local: &'static Local,
        number: usize,
        level: u8,
        contexts: &Contexts,
    ) -> Result<(), Cause> {
        /// Header, length, and the first and last byte of a map.
        const FRAME: usize = 16 + 4 + 2;
        let (written, _) = contexts.read(|pairs| {
            let total = (FRAME + pairs.len()).next_multiple_of(8);
            let room = self.room_for(session, local, number, total, level)?;
            let fits = room >= total;
            let pairs = if fits { pairs } else { &[] };
            let total = (FRAME + pairs.len()).next_multiple_of(8);
            let is_cut = contexts.is_cut() || !fits;
            let head = total as u32 | if is_cut { TRUNCATED } else { 0 };
            let position = self.head.position();
            let mut begin = [0u8; FRAME - 1];
            begin[..4].copy_from_slice(&head.to_le_bytes());
            begin[4..8].copy_from_slice(&at::record::CONTEXT.to_le_bytes());
            begin[8..16].copy_from_slice(&session.source.now().to_le_bytes());
            begin[16..20].copy_from_slice(&(2 + pairs.len() as u32).to_le_bytes());
            begin[20] = 0xBF;
            // SAFETY: `total` bytes at the head's position are free for this record, and the lane is this thread's; what is written is not more.
            unsafe {
                let to = self.head.here().wrapping_add(position as usize);
                to.add(total - 8).cast::<u64>().write_unaligned(0);
                std::ptr::copy_nonoverlapping(begin.as_ptr(), to, begin.len());
                std::ptr::copy_nonoverlapping(pairs.as_ptr(), to.add(begin.len()), pairs.len());
                to.add(begin.len() + pairs.len()).write(0xFF);
            }
            self.stated.state.set(contexts.state());
            self.stated.eighth.set(self.eighth());
            self.head.commit(position, total);
            Ok(())
        });
        written
    }
}
