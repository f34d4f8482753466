//! Where spans live while somebody has them: slots that are used again, so that a span allocates nothing.
//!
//! A span's id says its slot and the slot's generation: an id that outlived its span finds nothing. Threads keep some free slots of their own.

use std::cell::{Cell, RefCell};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use tracing_core::span::Id;

/// Bytes of fields that a span keeps until it is entered; one that has more begins at once.
pub(crate) const FIELD_BYTES: usize = 96;
const FIELD_WORDS: usize = FIELD_BYTES / 8;

/// One span.
#[derive(Default)]
pub(crate) struct Slot {
    /// Generation in the high half (odd while it is used), references in the low one.
    life: AtomicU64,
    /// Number of its callsite.
    pub(crate) callsite: AtomicU32,
    /// Nothing is recorded of it.
    pub(crate) is_silent: AtomicBool,
    /// It has been entered.
    pub(crate) was_entered: AtomicBool,
    /// Its parent has been recorded by a link.
    pub(crate) is_linked: AtomicBool,
    /// Another span was made in it, which may ask for it from any thread.
    pub(crate) is_parent: AtomicBool,
    /// The span that it was made in; 0: none.
    pub(crate) parent: AtomicU64,
    /// Id in the session, when it has begun with one; 0: not yet.
    pub(crate) number: AtomicU64,
    /// Ticks of its first record.
    pub(crate) created: AtomicU64,
    /// Ticks that it was entered for.
    pub(crate) busy: AtomicU64,
    /// Of these those of the first time, where it was a span of the thread that had made it: only that thread stores here.
    pub(crate) first_busy: AtomicU64,
    /// Site of the begin without an id; its arguments, while they wait.
    pub(crate) begin: AtomicU32,
    len: AtomicU32,
    fields: [AtomicU64; FIELD_WORDS],
}

impl Slot {
    /// Keeps the arguments of the begin. Called before anybody else knows the span's id.
    #[inline(always)]
    pub(crate) fn keep(&self, begin: u32, bytes: &[u8; FIELD_BYTES], len: usize) {
        self.begin.store(begin, Ordering::Relaxed);
        self.len.store(len as u32, Ordering::Relaxed);
        let (words, _) = bytes.as_chunks::<8>();
        let words = &words[..FIELD_WORDS.min(len.div_ceil(8))];
        for (word, bytes) in self.fields.iter().zip(words) {
            word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
        }
    }

    /// Lends them.
    #[inline]
    pub(crate) fn kept<R>(&self, take: impl FnOnce(&[u8]) -> R) -> R {
        let mut bytes = [0u8; FIELD_BYTES];
        let len = (self.len.load(Ordering::Relaxed) as usize).min(FIELD_BYTES);
        let (words, _) = bytes.as_chunks_mut::<8>();
        for (word, bytes) in self.fields.iter().zip(words).take(len.div_ceil(8)) {
            *bytes = word.load(Ordering::Relaxed).to_ne_bytes();
        }
        take(&bytes[..len])
    }

    /// Whether nothing is recorded of it.
    #[inline(always)]
    pub(crate) fn is_silent(&self) -> bool {
        self.is_silent.load(Ordering::Relaxed)
    }

    /// One more has it.
    pub(crate) fn hold(&self) {
        self.life.fetch_add(1, Ordering::Relaxed);
    }

    /// One more has it, who had nothing that keeps it: false when nobody has it any more, or it is another span by now.
    pub(crate) fn try_hold(&self, id: u64) -> bool {
        let more = |life: u64| (life >> 32 == id >> 32 && life as u32 != 0).then_some(life + 1);
        self.life.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    /// One less has it; true when that was the last.
    pub(crate) fn let_go(&self) -> bool {
        self.life.fetch_sub(1, Ordering::AcqRel) as u32 == 1
    }

    /// As [`Slot::let_go`], of one who was given it by [`Slot::try_hold`]: it may be another span by now, if its last owner relied on [`Slot::is_alone`].
    pub(crate) fn let_go_again(&self, id: u64) -> bool {
        let less = |life: u64| (life >> 32 == id >> 32 && life as u32 != 0).then_some(life - 1);
        self.life.fetch_update(Ordering::AcqRel, Ordering::Acquire, less).is_ok_and(|life| life as u32 == 1)
    }

    /// Whether it is (still) the span with this id.
    #[inline(always)]
    pub(crate) fn is(&self, id: u64) -> bool {
        self.life.load(Ordering::Acquire) >> 32 == id >> 32
    }

    /// Whether the caller, who has it, is the only one who does, and no other thread was told of it by a span that was made in it. Then it may be given back at once,
    /// without the locked instruction of [`Slot::let_go`], which costs as much as a record. Somebody who has copied its id may ask for it at this moment:
    /// he finds it or does not, and keeps nothing alive.
    #[inline(always)]
    pub(crate) fn is_alone(&self, id: u64) -> bool {
        self.life.load(Ordering::Acquire) == (id >> 32 << 32 | 1)
            && !self.is_parent.load(Ordering::Relaxed)
            && self.number.load(Ordering::Relaxed) == 0
    }
}

/// Slots of the first chunk; each further one has twice as many.
const FIRST: u32 = 256;
const CHUNKS: usize = 20;

static SLOTS: [OnceLock<Box<[Slot]>>; CHUNKS] = [const { OnceLock::new() }; CHUNKS];
static FREE: Mutex<Free> = Mutex::new(Free { slots: Vec::new(), used: 0 });

/// Slots that no thread keeps.
struct Free {
    slots: Vec<u32>,
    /// Slots ever used.
    used: u32,
}

/// Free slots that a thread keeps, at most; half of them are taken or given at a time.
const KEPT: usize = 64;

/// Slots of one thread; given back when it ends.
struct Mine(Vec<u32>);

impl Drop for Mine {
    fn drop(&mut self) {
        HAS_ENDING.set(false);
        self.0.extend(LAST.take().map(|(number, _)| number));
        FREE.lock().unwrap_or_else(PoisonError::into_inner).slots.append(&mut self.0);
    }
}

thread_local! {
    static MINE: RefCell<Mine> = const { RefCell::new(Mine(Vec::new())) };
    /// The slot that was given back last, and its number. Where spans follow each other, they all live there.
    static LAST: Cell<Option<(u32, &'static Slot)>> = const { Cell::new(None) };
    /// Whether the thread's slots are given back when it ends.
    static HAS_ENDING: Cell<bool> = const { Cell::new(false) };
    /// The slot that was looked for last, by the id of its span.
    static FOUND: Cell<(u64, Option<&'static Slot>)> = const { Cell::new((0, None)) };
}

fn at(number: u32) -> Option<&'static Slot> {
    let of_first = u64::from(number) + u64::from(FIRST);
    let chunk = of_first.ilog2() - FIRST.ilog2();
    let place = of_first - (u64::from(FIRST) << chunk);
    SLOTS.get(chunk as usize)?.get()?.get(place as usize)
}

/// Takes so many free slots into `to`, making some if there are none.
#[cold]
fn fetch(to: &mut Vec<u32>, count: usize) {
    let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    let from = free.slots.len() - count.min(free.slots.len());
    to.extend(free.slots.drain(from..));
    while to.len() < count {
        let number = free.used;
        let chunk = ((u64::from(number) + u64::from(FIRST)).ilog2() - FIRST.ilog2()) as usize;
        let Some(cell) = SLOTS.get(chunk) else { return };
        cell.get_or_init(|| (0..FIRST << chunk).map(|_| Slot::default()).collect());
        free.used += 1;
        to.push(number);
    }
}

/// A slot of the caller's, with one reference. `None` when there are more than 200 million spans.
#[inline(always)]
pub(crate) fn claim(callsite: u32, is_silent: bool, parent: u64) -> Option<(Id, &'static Slot)> {
    let (number, slot) = match LAST.take() {
        Some(last) => last,
        None => take().and_then(|number| Some((number, at(number)?)))?,
    };
    let generation = ((slot.life.load(Ordering::Relaxed) >> 32) as u32).wrapping_add(1) | 1;
    slot.callsite.store(callsite, Ordering::Relaxed);
    slot.is_silent.store(is_silent, Ordering::Relaxed);
    slot.was_entered.store(false, Ordering::Relaxed);
    slot.is_linked.store(false, Ordering::Relaxed);
    slot.is_parent.store(false, Ordering::Relaxed);
    slot.parent.store(parent, Ordering::Relaxed);
    slot.number.store(0, Ordering::Relaxed);
    slot.created.store(0, Ordering::Relaxed);
    slot.busy.store(0, Ordering::Relaxed);
    slot.first_busy.store(0, Ordering::Relaxed);
    slot.begin.store(0, Ordering::Relaxed);
    slot.len.store(0, Ordering::Relaxed);
    slot.life.store(u64::from(generation) << 32 | 1, Ordering::Release);
    let id = NonZeroU64::new(u64::from(generation) << 32 | u64::from(number))?;
    FOUND.set((id.get(), Some(slot)));
    Some((Id::from_non_zero_u64(id), slot))
}

/// A free slot of this thread.
#[inline(never)]
fn take() -> Option<u32> {
    let kept = MINE.try_with(|mine| {
        HAS_ENDING.set(true);
        let mine = &mut mine.try_borrow_mut().ok()?.0;
        if mine.is_empty() {
            mine.reserve(KEPT);
            fetch(mine, KEPT / 2);
        }
        mine.pop()
    });
    match kept {
        Ok(Some(number)) => Some(number),
        // The thread is at its end, or in the middle of this.
        _ => {
            let mut one = Vec::with_capacity(1);
            fetch(&mut one, 1);
            one.pop()
        }
    }
}

/// The slot of a span that somebody has.
#[inline(always)]
pub(crate) fn get(id: u64) -> Option<&'static Slot> {
    let (found, slot) = FOUND.get();
    let slot = if found == id { slot? } else { look_for(id)? };
    slot.is(id).then_some(slot)
}

#[inline(never)]
fn look_for(id: u64) -> Option<&'static Slot> {
    let slot = at(id as u32)?;
    FOUND.set((id, Some(slot)));
    Some(slot)
}

/// Gives a slot back that nobody has any more.
#[inline(always)]
pub(crate) fn give_back(id: u64, slot: &'static Slot) {
    let generation = ((id >> 32) as u32).wrapping_add(1);
    slot.life.store(u64::from(generation) << 32, Ordering::Release);
    let number = id as u32;
    // A thread that has never taken a slot from the others' has none to end with.
    if LAST.get().is_none() && HAS_ENDING.get() {
        LAST.set(Some((number, slot)));
    } else {
        give(number);
    }
}

#[inline(never)]
fn give(number: u32) {
    let kept = MINE.try_with(|mine| {
        HAS_ENDING.set(true);
        let Ok(mut mine) = mine.try_borrow_mut() else { return false };
        if mine.0.len() == KEPT {
            let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
            free.slots.extend(mine.0.drain(KEPT / 2..));
        }
        mine.0.push(number);
        true
    });
    if kept != Ok(true) {
        FREE.lock().unwrap_or_else(PoisonError::into_inner).slots.push(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_end_with_their_spans() {
        let (id, slot) = claim(3, false, 7).unwrap();
        let id = id.into_u64();
        assert!(std::ptr::eq(get(id).unwrap(), slot));
        slot.hold();
        assert!(!slot.let_go());
        assert!(slot.let_go());
        give_back(id, slot);
        assert!(get(id).is_none());
        let (again, same) = claim(4, true, 0).unwrap();
        assert!(std::ptr::eq(slot, same) && again.into_u64() != id);
        assert!(get(id).is_none());
        give_back(again.into_u64(), same);
    }

    #[test]
    fn many_spans_at_once_have_a_slot_each() {
        let all: Vec<u64> = (0..3000).map(|n| claim(n, false, 0).unwrap().0.into_u64()).collect();
        for (n, id) in all.iter().enumerate() {
            assert_eq!(get(*id).unwrap().callsite.load(Ordering::Relaxed), n as u32);
        }
        for id in &all {
            give_back(*id, get(*id).unwrap());
        }
        assert!(all.iter().all(|id| get(*id).is_none()));
        let other = std::thread::spawn(|| claim(1, false, 0).unwrap().0.into_u64()).join().unwrap();
        assert!(get(other).is_some() && !all.contains(&other));
    }

    #[test]
    fn fields_are_kept_as_they_are() {
        let (id, slot) = claim(1, false, 0).unwrap();
        let bytes: [u8; FIELD_BYTES] = std::array::from_fn(|n| n as u8);
        for len in [0, 1, 8, 9, FIELD_BYTES] {
            slot.keep(9, &bytes, len);
            slot.kept(|kept| assert_eq!(kept, &bytes[..len]));
        }
        give_back(id.into_u64(), slot);
    }
}
