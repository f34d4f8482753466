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

use std::sync::atomic::{Ordering, compiler_fence};

use super::cause::Cause;
use super::contexts::{CONTEXT_BYTES, Contexts};
use super::lane::{LANES, Lane};
use super::local::{self, Local};
use super::remembered::Remembered;
use super::session::Session;
use super::{at, slot};
use crate::ring::EIGHTHS;
use crate::sys::ErrnoGuard;

/// Flag of a record in which a value was cut.
const TRUNCATED: u32 = 1 << 24;
/// How often a record is tried again because it is now in another ring, or another eighth of it.
const ATTEMPTS: u32 = 4;

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

/// The calling thread's, if scopes with fields are open. It does not ask for a slot, which a thread without scopes does not need.
#[inline(always)]
pub(super) fn open() -> Option<&'static Contexts> {
    let contexts =
        local::mapped().and_then(|local| slot::slot_of_mine(local).map(|slot| local.contexts(slot)));
    contexts.filter(|contexts| contexts.state() != 0)
}

/// The contexts of the calling thread.
fn mine() -> Option<(&'static Contexts, &'static Local, usize)> {
    let (_, local) = local::session()?;
    let slot = match slot::slot_of_mine(local) {
        Some(slot) => slot,
        None => slot::slot(local)?,
    };
    Some((local.contexts(slot), local, slot))
}

/// Brings the next record of each lane to the cold path.
fn ask(local: &'static Local, slot: usize) {
    compiler_fence(Ordering::SeqCst);
    for number in 0..LANES {
        local.lane(slot, number).producer.force_slow_path();
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
        let remembered = &local.remembered;
        let contexts = slot::slot_of_mine(local).map(|slot| local.contexts(slot));
        let Some(contexts) = contexts else { return self.room_for(session, remembered, number, size, level) };
        for _ in 0..ATTEMPTS {
            if self.is_due(contexts) {
                self.state_context(session, remembered, number, level, contexts)?;
            }
            let room = self.room_for(session, remembered, number, size, level)?;
            if !self.is_due(contexts) {
                return Ok(room);
            }
        }
        self.room_for(session, remembered, number, size, level)
    }

    fn is_due(&self, contexts: &Contexts) -> bool {
        // A signal handler that has interrupted a change: what was stated before holds.
        if contexts.busy.get() != 0 {
            return false;
        }
        let state = contexts.state();
        if !self.producer.has_ring() {
            return state != 0;
        }
        state != self.stated.state.get() || (state != 0 && self.eighth() != self.stated.eighth.get())
    }

    fn eighth(&self) -> u64 {
        self.producer.position() / (self.producer.capacity() as u64 / EIGHTHS)
    }

    /// Writes the record that says which fields those after it have.
    fn state_context(
        &self,
        session: &'static Session,
        remembered: &'static Remembered,
        number: usize,
        level: u8,
        contexts: &Contexts,
    ) -> Result<(), Cause> {
        /// Header, length, and the first and last byte of a map.
        const FRAME: usize = 16 + 4 + 2;
        let (written, _) = contexts.read(|pairs| {
            let total = (FRAME + pairs.len()).next_multiple_of(8);
            let room = self.room_for(session, remembered, number, total, level)?;
            let fits = room >= total;
            let pairs = if fits { pairs } else { &[] };
            let total = (FRAME + pairs.len()).next_multiple_of(8);
            let is_cut = contexts.is_cut() || !fits;
            let producer = total as u32 | if is_cut { TRUNCATED } else { 0 };
            let position = self.producer.position();
            let mut begin = [0u8; FRAME - 1];
            begin[..4].copy_from_slice(&producer.to_le_bytes());
            begin[4..8].copy_from_slice(&at::record::CONTEXT.to_le_bytes());
            begin[8..16].copy_from_slice(&session.source.now().to_le_bytes());
            begin[16..20].copy_from_slice(&(2 + pairs.len() as u32).to_le_bytes());
            begin[20] = 0xBF;
            // SAFETY: `total` bytes at the producer's position are free for this record, and the lane is this thread's; what is written is not more.
            unsafe {
                let to = self.producer.here().wrapping_add(position as usize);
                to.add(total - 8).cast::<u64>().write_unaligned(0);
                std::ptr::copy_nonoverlapping(begin.as_ptr(), to, begin.len());
                std::ptr::copy_nonoverlapping(pairs.as_ptr(), to.add(begin.len()), pairs.len());
                to.add(begin.len() + pairs.len()).write(0xFF);
            }
            self.stated.state.set(contexts.state());
            self.stated.eighth.set(self.eighth());
            self.producer.commit(position, total);
            Ok(())
        });
        written
    }
}
