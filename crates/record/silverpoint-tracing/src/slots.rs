//! Where spans live while somebody has them: slots that are used again, so that a span allocates nothing.
//!
//! A span's id says its slot and the slot's generation: an id that outlived its span finds nothing. The id is what the slot's `life` is as long as it has one reference. Threads keep some free slots of their own.

use std::cell::RefCell;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use silverpoint::dynamic::{self, Encoder, FEW_WORDS, Lasting, Published};

use crate::free::Free;

use crate::open::What;
use crate::thread::{self, CLOSED, NONE, Thread};

/// Bytes of fields that a span keeps until it is entered; one that has more begins at once.
pub(crate) const FIELD_BYTES: usize = 96;
const FIELD_WORDS: usize = FIELD_BYTES / 8;

/// One span.
pub(crate) struct Slot {
    /// Generation in the high half (odd while it is used), the slot's number and references together in the low one; [`NUMBERED`]. So
    /// this is the span's id as long as it has one reference and no number.
    life: AtomicU64,
    /// Number of its callsite; with [`SILENT`] when nothing is recorded of it, or [`UNRECORDED`].
    callsite: AtomicU32,
    /// It has been entered.
    pub(crate) was_entered: AtomicBool,
    /// Its parent has been recorded by a link.
    pub(crate) is_linked: AtomicBool,
    /// The span that it was made in; 0: none.
    pub(crate) parent: AtomicU64,
    /// Id in the session, when it has begun with one; 0: not yet.
    pub(crate) number: AtomicU64,
    /// Ticks of its first record.
    pub(crate) created: AtomicU64,
    /// Ticks that it was entered for.
    pub(crate) busy: AtomicU64,
    /// When it was left for the first time, where it was a span of the thread that had made it: only that thread stores here. Before
    /// [`Slot::created`]: that was another span.
    pub(crate) first_left: AtomicU64,
    /// The begin without an id, as [`What`]; its arguments, while they wait. Valid while it has no number and
    /// is not silent.
    begin: AtomicU64,
    fields: [AtomicU64; FIELD_WORDS],
    /// In the list of free slots: the next one, as [`Free`] has it.
    next: AtomicU32,
}

/// Beside a callsite's number, which is far less: nothing is recorded of the span.
pub(crate) const SILENT: u32 = 1 << 31;

/// Beside it: the span is not in the ring. A system tracer may want it.
pub(crate) const UNRECORDED: u32 = 1 << 30;

/// In a slot's life: the span has a [number](Slot::number).
const NUMBERED: u64 = 1 << 31;

/// The slot of no span.
pub(crate) static NOBODY: Slot = Slot::new(0);

/// Of a span's life or id: the slot's number, and references.
#[inline(always)]
fn low(life: u64) -> u32 {
    (life & !NUMBERED) as u32
}

impl Slot {
    const fn new(number: u32) -> Self {
        Self {
            life: AtomicU64::new(number as u64),
            callsite: AtomicU32::new(SILENT),
            was_entered: AtomicBool::new(false),
            is_linked: AtomicBool::new(false),
            parent: AtomicU64::new(0),
            number: AtomicU64::new(0),
            created: AtomicU64::new(0),
            busy: AtomicU64::new(0),
            first_left: AtomicU64::new(0),
            begin: AtomicU64::new(0),
            fields: [const { AtomicU64::new(0) }; FIELD_WORDS],
            next: AtomicU32::new(0),
        }
    }

    /// How it begins without an id.
    #[inline(always)]
    pub(crate) fn begin(&self) -> What {
        What::from_bits(self.begin.load(Ordering::Relaxed))
    }

    /// Keeps that. Called, as what follows, before anybody else knows the span's id.
    #[inline(always)]
    pub(crate) fn set_begin(&self, what: What) {
        self.begin.store(what.bits(), Ordering::Relaxed);
    }

    /// Keeps an argument of the begin.
    #[inline(always)]
    pub(crate) fn set_word(&self, number: usize, word: u64) {
        // (So that nothing is compared: who asks has no more than [`FEW_WORDS`].)
        self.fields[number & 7].store(word, Ordering::Relaxed);
    }

    /// The arguments of the begin, where they are few numbers; then others.
    #[inline(always)]
    pub(crate) fn few(&self) -> [u64; FEW_WORDS] {
        std::array::from_fn(|number| self.fields[number].load(Ordering::Relaxed))
    }

    /// Keeps the arguments of the begin, as they are encoded.
    pub(crate) fn keep(&self, bytes: &[u8]) {
        for (word, bytes) in self.fields.iter().zip(bytes.chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_le_bytes(whole), Ordering::Relaxed);
        }
    }

    /// Puts the arguments of the begin, of which there are `len` bytes, into a record.
    #[inline]
    pub(crate) fn put(&self, encoder: &mut Encoder<'_>, len: usize) {
        let whole = (len / 8).min(FIELD_WORDS);
        for word in &self.fields[..whole] {
            encoder.u64(word.load(Ordering::Relaxed));
        }
        if let Some(last) = self.fields.get(whole) {
            if len % 8 != 0 {
                encoder.raw(&last.load(Ordering::Relaxed).to_le_bytes()[..len % 8]);
            }
        }
    }

    /// Number of its callsite.
    #[inline(always)]
    pub(crate) fn callsite(&self) -> u32 {
        self.callsite.load(Ordering::Relaxed) & !(SILENT | UNRECORDED)
    }

    /// Whether the ring has what is recorded of it.
    #[inline]
    pub(crate) fn is_recorded(&self) -> bool {
        self.callsite.load(Ordering::Relaxed) & (SILENT | UNRECORDED) == 0
    }

    /// Whether nothing is recorded of it.
    #[inline(always)]
    pub(crate) fn is_silent(&self) -> bool {
        self.callsite.load(Ordering::Relaxed) & SILENT != 0
    }

    /// One more has it.
    pub(crate) fn hold(&self) {
        self.life.fetch_add(1, Ordering::Relaxed);
    }

    /// One more has it, who had nothing that keeps it: false when nobody has it any more, or it is another span by now.
    pub(crate) fn try_hold(&self, id: u64) -> bool {
        let more = |life: u64| (life >> 32 == id >> 32 && low(life) >= low(id)).then_some(life + 1);
        self.life.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    /// One less has it; true when that was the last.
    pub(crate) fn let_go(&self, id: u64) -> bool {
        low(self.life.fetch_sub(1, Ordering::AcqRel)) == low(id)
    }

    /// As [`Slot::let_go`], of one who was given it by [`Slot::try_hold`]: it may be another span by now, if its last owner relied on [`Slot::is_alone`].
    pub(crate) fn let_go_again(&self, id: u64) -> bool {
        let less = |life: u64| (life >> 32 == id >> 32 && low(life) >= low(id)).then_some(life - 1);
        self.life
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, less)
            .is_ok_and(|life| low(life) == low(id))
    }

    /// The span with this id is about to get a number. (It may be another by now, as in [`Slot::let_go_again`].)
    pub(crate) fn begin_number(&self, id: u64) {
        let with = |life: u64| (life >> 32 == id >> 32).then_some(life | NUMBERED);
        let _ = self.life.fetch_update(Ordering::AcqRel, Ordering::Acquire, with);
    }

    /// Whether it is (still) the span with this id.
    #[inline(always)]
    pub(crate) fn is(&self, id: u64) -> bool {
        self.life.load(Ordering::Acquire) >> 32 == id >> 32
    }

    /// True under three conditions: it is (still) the span with this id, the caller has the only reference,
    /// and the span has no number.
    ///
    /// If no span was made in it, either, then no other thread knows it. It may be given back at once, without the
    /// locked instruction of [`Slot::let_go`], which costs as much as a record. A thread that has
    /// copied its id may ask for it at this moment: it finds it or not, and keeps nothing alive.
    #[inline(always)]
    pub(crate) fn is_alone(&self, id: u64) -> bool {
        self.life.load(Ordering::Acquire) == id
    }
}

/// Slots of the first chunk; each further one has twice as many.
const FIRST: u32 = 256;
const CHUNKS: usize = 20;

static SLOTS: [Published<Box<[Slot]>>; CHUNKS] = [const { Published::new() }; CHUNKS];

/// Slots that no thread keeps. Without a lock: a forked child has what its parent's other threads left in the middle of something.
static FREE: Free = Free::new(AtomicU64::new(0));
/// Slots ever used.
static USED: AtomicU32 = AtomicU32::new(0);

fn link(number: u32) -> Option<&'static AtomicU32> {
    at(number).map(|slot| &slot.next)
}

/// Free slots that a thread keeps, at most; half of them are taken or given at a time.
const KEPT: usize = 64;

/// Slots of one thread; given back when it ends.
struct Mine {
    slots: [u32; KEPT],
    len: usize,
}

impl Mine {
    fn push(&mut self, number: u32) {
        if self.len == KEPT {
            while self.len > KEPT / 2 {
                self.len -= 1;
                FREE.push(self.slots[self.len], link);
            }
        }
        self.slots[self.len] = number;
        self.len += 1;
    }

    fn pop(&mut self) -> Option<u32> {
        if self.len == 0 {
            while self.len < KEPT / 2 {
                let Some(number) = fetch() else { break };
                self.slots[self.len] = number;
                self.len += 1;
            }
        }
        self.len = self.len.checked_sub(1)?;
        Some(self.slots[self.len])
    }
}

impl Drop for Mine {
    fn drop(&mut self) {
        let last = thread::with(|thread| thread.free.replace(CLOSED));
        let last = u32::try_from(last).ok().map(number_of);
        self.slots[..self.len].iter().copied().chain(last).for_each(|number| FREE.push(number, link));
        self.len = 0;
    }
}

thread_local! {
    static MINE: RefCell<Mine> = const { RefCell::new(Mine { slots: [0; KEPT], len: 0 }) };
}

/// Chunk of a slot, and its place there.
#[inline(always)]
fn place_of(number: u32) -> (usize, usize) {
    let of_first = u64::from(number) + u64::from(FIRST);
    let chunk = of_first.ilog2() - FIRST.ilog2();
    (chunk as usize, (of_first - (u64::from(FIRST) << chunk)) as usize)
}

fn at(number: u32) -> Option<&'static Slot> {
    let (chunk, place) = place_of(number);
    SLOTS.get(chunk)?.get()?.get(place)
}

/// A free slot, or a new one. `None`: there are too many, or this thread is preparing something.
#[cold]
fn fetch() -> Option<u32> {
    if let Some(number) = FREE.pop(link) {
        return Some(number);
    }
    let mut number = USED.load(Ordering::Relaxed);
    loop {
        let (chunk, _) = place_of(number);
        let cell = SLOTS.get(chunk)?;
        if cell.get().is_none() {
            let first = (FIRST << chunk) - FIRST;
            let slots = || (first..first + (FIRST << chunk)).map(Slot::new).collect();
            dynamic::prepare(|| cell.get_or(slots))??;
        }
        match USED.compare_exchange(number, number + 1, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return Some(number),
            Err(other) => number = other,
        }
    }
}

/// The slot that this thread has given back last, with one reference: for a span of a callsite within a parent.
#[inline(always)]
pub(crate) fn claim_last(thread: &Thread, callsite: u32, parent: u64) -> Option<(NonZeroU64, &'static Slot)> {
    if thread.free.get() < 0 {
        return None;
    }
    thread.free.set(NONE);
    live(thread.free_slot.get().get(), callsite, parent)
}

/// Any slot. `None` when there are more than 200 million spans.
pub(crate) fn claim(thread: &Thread, callsite: u32, parent: u64) -> Option<(NonZeroU64, &'static Slot)> {
    if let Some(last) = claim_last(thread, callsite, parent) {
        return Some(last);
    }
    live(at(take()?)?, callsite, parent)
}

/// A span begins to live.
#[inline(always)]
fn live(slot: &'static Slot, callsite: u32, parent: u64) -> Option<(NonZeroU64, &'static Slot)> {
    // The next generation, which is odd, and one reference. (A free slot has none.)
    let life = slot.life.load(Ordering::Relaxed).wrapping_add(1 << 32 | 1);
    slot.callsite.store(callsite, Ordering::Relaxed);
    slot.was_entered.store(false, Ordering::Relaxed);
    slot.parent.store(parent, Ordering::Relaxed);
    slot.number.store(0, Ordering::Relaxed);
    slot.created.store(0, Ordering::Relaxed);
    slot.life.store(life, Ordering::Release);
    // (The generation is odd: said once more, so that nothing is compared.)
    Some((NonZeroU64::new(life | 1 << 32)?, slot))
}

/// Number of the slot that the low half of an id is of.
#[inline(always)]
fn number_of(id: u32) -> u32 {
    id.wrapping_sub(1)
}

/// What the life of a span's slot becomes when nobody has the span any more: the next generation, without a reference.
#[inline(always)]
fn freed(id: u64) -> u64 {
    id.wrapping_add((1 << 32) - 1)
}

/// A free slot of this thread.
#[inline(never)]
fn take() -> Option<u32> {
    let kept = MINE.try_with(|mine| {
        may_keep();
        mine.try_borrow_mut().ok()?.pop()
    });
    match kept {
        Ok(Some(number)) => Some(number),
        // The thread is at its end, or in the middle of this.
        _ => fetch(),
    }
}

/// Slots of this thread are given back when it ends: so one may be kept.
fn may_keep() {
    thread::with(|thread| {
        if thread.free.get() == CLOSED {
            thread.free.set(NONE);
        }
    });
}

/// The slot of a span that somebody has.
#[inline(always)]
pub(crate) fn get(id: u64) -> Option<&'static Slot> {
    thread::with(|thread| {
        let slot =
            if thread.found.get() == id { thread.found_slot.get().get() } else { look_for(thread, id)? };
        slot.is(id).then_some(slot)
    })
}

#[inline(never)]
fn look_for(thread: &Thread, id: u64) -> Option<&'static Slot> {
    let slot = at(number_of(id as u32))?;
    thread.found.set(id);
    thread.found_slot.set(Lasting::new(slot));
    Some(slot)
}

/// Whether a slot that this thread gives back may be [kept](keep_last).
#[inline(always)]
pub(crate) fn keeps_last(thread: &Thread) -> bool {
    thread.free.get() == NONE
}

/// Gives a slot back that nobody has any more, for the thread's next span. Nothing but its first stretch has come of that span ([`Slot::is_alone`]).
#[inline(always)]
pub(crate) fn keep_last(thread: &Thread, id: u64, slot: &'static Slot) {
    slot.life.store(freed(id), Ordering::Release);
    thread.free.set(id as i32);
    thread.free_slot.set(Lasting::new(slot));
}

/// Gives a slot back that nobody has any more.
pub(crate) fn give_back(thread: &Thread, id: u64, slot: &'static Slot) {
    slot.is_linked.store(false, Ordering::Relaxed);
    slot.busy.store(0, Ordering::Relaxed);
    if keeps_last(thread) {
        return keep_last(thread, id, slot);
    }
    slot.life.store(freed(id), Ordering::Release);
    give(number_of(id as u32));
}

#[inline(never)]
fn give(number: u32) {
    let kept = MINE.try_with(|mine| {
        may_keep();
        let Ok(mut mine) = mine.try_borrow_mut() else { return false };
        mine.push(number);
        true
    });
    if kept != Ok(true) {
        FREE.push(number, link);
    }
}

#[cfg(test)]
mod tests {
    use silverpoint::dynamic;

    use super::*;

    fn claim_one(callsite: u32, parent: u64) -> (u64, &'static Slot) {
        let (id, slot) = thread::with(|thread| claim(thread, callsite, parent)).unwrap();
        (id.get(), slot)
    }

    fn give_back_one(id: u64) {
        thread::with(|thread| give_back(thread, id, get(id).unwrap()));
    }

    #[test]
    fn ids_end_with_their_spans() {
        let (id, slot) = claim_one(3, 7);
        assert!(std::ptr::eq(get(id).unwrap(), slot));
        assert!(slot.is_alone(id));
        slot.hold();
        assert!(slot.try_hold(id) && !slot.is_alone(id));
        assert!(!slot.let_go(id) && !slot.let_go_again(id) && slot.is_alone(id));
        slot.begin_number(id);
        assert!(!slot.is_alone(id) && slot.try_hold(id) && !slot.let_go_again(id));
        assert!(slot.let_go(id));
        assert!(!slot.try_hold(id) && !slot.let_go_again(id));
        give_back_one(id);
        assert!(get(id).is_none());
        let (again, same) = claim_one(4, 0);
        assert!(std::ptr::eq(slot, same) && again != id);
        assert!(get(id).is_none() && get(u64::MAX).is_none());
        give_back_one(again);
    }

    #[test]
    fn generations_begin_again_after_the_last() {
        let (id, slot) = claim_one(3, 7);
        give_back_one(id);
        let number = slot.life.load(Ordering::Relaxed) & u64::from(u32::MAX);
        slot.life.store(u64::from(u32::MAX - 1) << 32 | number, Ordering::Relaxed);
        let (last, same) = claim_one(3, 7);
        assert!(std::ptr::eq(slot, same) && last >> 32 == u64::from(u32::MAX) && get(last).is_some());
        give_back_one(last);
        assert_eq!(slot.life.load(Ordering::Relaxed), number);
        let (next, same) = claim_one(3, 7);
        assert!(std::ptr::eq(slot, same) && next >> 32 == 1 && get(next).is_some() && get(last).is_none());
        give_back_one(next);
    }

    #[test]
    fn many_spans_at_once_have_a_slot_each() {
        let all: Vec<u64> = (0..3000).map(|n| claim_one(n, 0).0).collect();
        for (n, id) in all.iter().enumerate() {
            assert_eq!(get(*id).unwrap().callsite(), n as u32);
        }
        for id in &all {
            give_back_one(*id);
        }
        assert!(all.iter().all(|id| get(*id).is_none()));
        let other = std::thread::spawn(|| claim_one(1, 0).0).join().unwrap();
        assert!(get(other).is_some() && !all.contains(&other));
    }

    #[test]
    fn slots_of_threads_that_end_are_used_again() {
        let used = || {
            let of_thread = || {
                (0..10).map(|_| claim_one(1, 0).0).collect::<Vec<_>>().into_iter().for_each(give_back_one);
                let (id, _) = claim_one(1, 0);
                give_back_one(id);
            };
            std::thread::spawn(of_thread).join().unwrap();
        };
        // (Other tests take slots, too, but leave far fewer than would be lost.)
        used();
        let before = USED.load(Ordering::Relaxed);
        (0..1000).for_each(|_| used());
        assert!(USED.load(Ordering::Relaxed) < before + 20_000);
    }

    #[test]
    fn fields_are_kept_as_they_are() {
        let (id, slot) = claim_one(1, 0);
        let bytes: [u8; FIELD_BYTES] = std::array::from_fn(|n| n as u8);
        for len in [0, 1, 8, 9, FIELD_BYTES] {
            slot.keep(&bytes[..len]);
            let mut arguments = dynamic::Arguments::new();
            arguments.encode(|encoder| slot.put(encoder, len));
            assert_eq!(arguments.bytes(), Some(&bytes[..len]));
        }
        (0..FEW_WORDS).for_each(|n| slot.set_word(n, n as u64 + 100));
        assert_eq!(slot.few(), [100, 101, 102, 103, 104, 105]);
        give_back_one(id);
    }
}
