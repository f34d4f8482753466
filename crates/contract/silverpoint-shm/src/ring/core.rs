//! The producer's side of one ring: room, pads, commit, overwriting, waiting (spec/wire.md, section 4).
//!
//! ```text
//!                 free = max(base, consumed, oldest)      committed      bound
//!  positions  ─────────┬──────────────────────────────────────┬────────────┬──────▶
//!                      │◀──── may still be read ─────────────▶│◀ no check ▶│
//!                      └──────────────── at most one capacity ─────────────┘
//! ```
//!
//! Between `committed` and `bound` a record needs one comparison. `bound` is never beyond the next stride,
//! and never beyond `free + capacity`. So the cold path runs often enough to check the collector, the
//! doorbell and the policy. In the first lap after a claim, `bound` is not beyond the pages that are in the
//! page tables. The cold path enters them piece by piece, so that no call waits for many. A ring may be
//! claimed before all of its memory is there. Then the cold path's caller makes that, too, a page at a time.
//!
//! A stride is an eighth of the capacity where records are overwritten, so that the history is cut by no more
//! than that. Elsewhere it is a quarter: reading the collector's words costs as much as ten records.
//!
//! Who may write what: the producer `committed`, `oldest`, `waiting` and the data; the collector `consumed` and `wake`. A record becomes visible by
//! the one release store of `committed` in [`Producer::commit`], together with the pad before it.

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::platform::{Platform, Word32, Word64};

/// [`Producer::ready`]: a record of this lane is being written, or the lane has no ring.
pub const BUSY: u32 = 0;
/// [`Producer::ready`]: the hot path may go ahead.
pub const HOT: u32 = 1;
/// [`Producer::ready`]: idle, but each record takes the cold path (ticks come from the system's clock).
pub const COLD: u32 = 2;
/// [`Producer::ready`]: as [`COLD`]; what is recorded now is given to functions of the program's when it is published ([`crate::synchronous`]).
pub const GIVEN: u32 = 3;

/// Sub-buffers of a ring.
pub const EIGHTHS: u64 = 8;

/// Bytes of a pad that are written.
const PAD: u64 = 8;

/// One lane's private view of its ring. All zero is a lane without a ring; a fork wipes it to that.
///
/// Only the owning thread uses it, and signal handlers that interrupt this thread. Those see `ready` busy and
/// take the next lane, so that every other field has one user at a time.
#[repr(C, align(64))]
pub struct Producer<P: Platform> {
    // What the hot path touches: one cache line.
    ready: AtomicU32,
    /// 1 while a slice is being claimed for this lane.
    claiming: Cell<u32>,
    /// Position where the next record goes; a multiple of 8.
    cur: Cell<u64>,
    /// Position up to which records may be written without asking: within this lap, and not before `cur`. Or
    /// 0, which another thread may store at any time ([`Producer::force_slow_path_soon`]).
    bound: AtomicU64,
    /// The data, addressed by positions of this lap.
    here: Cell<P::Data>,
    committed: Cell<*const P::U64>,
    /// Position up to which lines may be asked for ahead: within this lap, and what the collector has freed.
    reach: Cell<u64>,

    // Cold.
    data: Cell<P::Data>,
    /// Bytes; a multiple of 64. 0: the lane has no ring.
    capacity: Cell<usize>,
    /// Position of the first byte of the data in this lap; a multiple of `capacity`.
    lap: Cell<u64>,
    /// Null pointers without a ring.
    shared: Cell<Shared<P>>,
    base: Cell<u64>,
    /// Position up to which pages are in the page tables, in the first lap after a claim; later the maximum.
    entered: Cell<u64>,
    /// Position up to which the ring has memory, in the first lap after a claim; later the maximum.
    there: Cell<u64>,
    /// Bytes of a lap that records may take: the capacity, or fewer where there was no memory for more.
    usable: Cell<u64>,
    /// Memory is missing, or laps are shorter.
    is_partial: Cell<bool>,
    /// Bytes at the beginning of the data that have memory in any case.
    first: Cell<u64>,
    /// Bytes of a stride: an eighth of the capacity, or a quarter of it. Not more than the largest record: [`Producer::fits`] compares with nothing else.
    stride: Cell<u64>,
    /// The last eighth (position / (capacity / 8)) that a record has begun in.
    marked: Cell<u64>,
    /// Entry n mod 8: position of the first record that began in eighth n or later, for the last eight n.
    marks: [Cell<u64>; EIGHTHS as usize],
}

/// The words of a ring's header that the core uses.
pub struct Shared<P: Platform> {
    /// Everything before it is whole.
    pub committed: *const P::U64,
    /// Everything before it may be overwritten.
    pub oldest: *const P::U64,
    /// Everything before it is stored elsewhere; written by the collector.
    pub consumed: *const P::U64,
    /// 1 while the producer waits.
    pub waiting: *const P::U32,
    /// The word the producer waits on.
    pub wake: *const P::U32,
}

impl<P: Platform> Clone for Shared<P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Platform> Copy for Shared<P> {}

/// What [`Producer::make_room`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// The record may be written at `cur`. `crossed`: it is the first one in another eighth.
    Ready {
        /// Time for what is done now and then: doorbell, growth, anchors.
        crossed: bool,
    },
    /// The collector has not yet consumed enough.
    Full,
}

impl<P: Platform> Producer<P> {
    /// A lane without a ring. `nowhere` is never used as an address.
    pub const fn new(nowhere: P::Data) -> Self {
        use std::ptr::null;
        Self {
            ready: AtomicU32::new(BUSY),
            claiming: Cell::new(0),
            cur: Cell::new(0),
            bound: AtomicU64::new(0),
            here: Cell::new(nowhere),
            committed: Cell::new(null()),
            reach: Cell::new(0),
            data: Cell::new(nowhere),
            capacity: Cell::new(0),
            lap: Cell::new(0),
            shared: Cell::new(Shared {
                committed: null(),
                oldest: null(),
                consumed: null(),
                waiting: null(),
                wake: null(),
            }),
            base: Cell::new(0),
            entered: Cell::new(0),
            there: Cell::new(0),
            usable: Cell::new(0),
            is_partial: Cell::new(false),
            first: Cell::new(0),
            stride: Cell::new(0),
            marked: Cell::new(0),
            marks: [const { Cell::new(0) }; EIGHTHS as usize],
        }
    }

    /// Puts the lane on a ring whose stream begins at `base`: nothing is in it, everything before is gone.
    ///
    /// # Safety
    /// `shared` and `data` point to one ring of `capacity` bytes (a multiple of 64). It stays mapped as long
    /// as the lane uses it, and no other producer uses it.
    pub unsafe fn attach(&self, shared: Shared<P>, data: P::Data, capacity: usize, base: u64) {
        let capacity_u64 = capacity as u64;
        self.cur.set(base);
        self.set_bound(base);
        self.reach.set(base);
        self.data.set(data);
        self.begin_lap(base - base % capacity_u64);
        self.committed.set(shared.committed);
        self.shared.set(shared);
        self.base.set(base);
        self.entered.set(base);
        self.there.set(u64::MAX);
        self.usable.set(capacity_u64);
        self.is_partial.set(false);
        self.stride.set(capacity_u64 / EIGHTHS);
        self.marked.set(base / (capacity_u64 / EIGHTHS));
        self.capacity.set(capacity);
    }

    /// All pages of the ring are in the page tables already.
    pub fn set_entered(&self) {
        self.entered.set(u64::MAX);
    }

    /// Not all of the ring has memory: it has up to the offset `to` of its data, beyond its base, and the first
    /// `first` bytes.
    pub fn set_there(&self, to: usize, first: usize) {
        self.there.set(self.lap.get() + to as u64);
        self.first.set(first as u64);
        self.is_partial.set(true);
    }

    /// Bytes of a lap that records may take.
    pub fn usable(&self) -> usize {
        self.usable.get() as usize
    }

    /// Offsets of the data between which memory is to be made before [`Producer::make_room`] for a record of `size` bytes. Behind the record
    /// there must be some for a pad: the lap may have to end there.
    #[inline(always)]
    pub fn missing(&self, size: usize) -> Option<Range<usize>> {
        if self.is_partial.get() { self.missing_now(size) } else { None }
    }

    #[cold]
    fn missing_now(&self, size: usize) -> Option<Range<usize>> {
        let there = self.there.get();
        if there == u64::MAX {
            return None;
        }
        let (lap, start) = self.start_of(size);
        let this_end = self.lap.get() + self.capacity.get() as u64;
        let end = start + size as u64 + PAD;
        let (lap, end, there) = if there < this_end {
            // A lap is whole when the next one begins.
            (self.lap.get(), end.min(this_end), there)
        } else {
            let there = there.max(lap + self.first.get());
            self.there.set(there);
            (lap, end.min(lap + self.capacity.get() as u64), there)
        };
        (end > there).then(|| (there - lap) as usize..(end - lap) as usize)
    }

    /// What [`Producer::missing`] has asked for is there, up to this offset. True: now all of the ring is.
    pub fn reaches_memory(&self, to: usize) -> bool {
        let there = self.lap_of_memory() + to as u64;
        let is_whole = there >= self.base.get() + self.capacity.get() as u64;
        self.there.set(if is_whole { u64::MAX } else { there });
        self.is_partial.set(!is_whole || self.usable() < self.capacity.get());
        !self.is_partial.get()
    }

    /// There is no memory for what [`Producer::missing`] has asked for. From now on laps end before that.
    pub fn refuse_memory(&self) {
        let lap = self.lap_of_memory();
        self.usable.set((self.there.get() - lap - PAD).min(self.usable.get()));
        // What lies before the base comes in the second lap.
        let is_last = lap >= self.base.get();
        self.there.set(if is_last { u64::MAX } else { lap + self.capacity.get() as u64 });
    }

    /// Position up to which records of this lap may come without a look at the memory. Behind them there is
    /// always some for a pad: the lap may have to end there.
    #[cold]
    fn end_of_memory(&self) -> u64 {
        let (lap, there) = (self.lap.get(), self.there.get());
        let last = lap + self.usable.get();
        if there < lap + self.capacity.get() as u64 { last.min(there - PAD) } else { last }
    }

    /// The lap for which memory is made: this one, or the next.
    fn lap_of_memory(&self) -> u64 {
        let next = self.lap.get() + self.capacity.get() as u64;
        if self.there.get() < next { self.lap.get() } else { next }
    }

    /// Whether records are overwritten: then the cold path must run at every eighth rather than at every
    /// quarter.
    pub fn set_overwritten(&self, is_overwritten: bool) {
        let eighth = self.capacity.get() as u64 / EIGHTHS;
        self.stride.set(if is_overwritten { eighth } else { eighth * EIGHTHS / 4 });
    }

    /// The next record does not fit, so that it takes the cold path.
    pub fn force_slow_path(&self) {
        self.set_bound(self.cur.get());
    }

    /// As [`Producer::force_slow_path`], for a lane of another thread. If that thread is in the cold path, the cold path
    /// must check the reason for the call, after a full fence following [`Producer::make_room`].
    pub fn force_slow_path_soon(&self) {
        self.set_bound(0);
    }

    fn set_bound(&self, bound: u64) {
        self.bound.store(bound, Ordering::Relaxed);
    }

    /// Leaves the ring: the lane has none afterwards.
    pub fn detach(&self) {
        self.capacity.set(0);
        self.cur.set(0);
        self.set_bound(0);
        self.reach.set(0);
    }

    /// Whether the lane has a ring.
    pub fn has_ring(&self) -> bool {
        self.capacity.get() != 0
    }

    /// Bytes of the ring's data, 0 without a ring.
    pub fn capacity(&self) -> usize {
        self.capacity.get()
    }

    /// Position at which this stream began.
    pub fn base(&self) -> u64 {
        self.base.get()
    }

    /// Position where the record for which there is room goes.
    #[inline(always)]
    pub fn position(&self) -> u64 {
        self.cur.get()
    }

    /// The ring's bytes, addressed by positions of this lap (see [`Platform::at_lap`]).
    #[inline(always)]
    pub fn here(&self) -> P::Data {
        self.here.get()
    }

    /// The ring's bytes as they were attached.
    pub fn data(&self) -> P::Data {
        self.data.get()
    }

    fn begin_lap(&self, lap: u64) {
        self.lap.set(lap);
        self.here.set(P::at_lap(self.data.get(), lap));
    }

    /// The busy mark; see [`BUSY`], [`HOT`], [`COLD`].
    #[inline(always)]
    pub fn ready(&self) -> &AtomicU32 {
        &self.ready
    }

    /// Set while a slice is being claimed for this lane: a signal handler then takes the next one.
    pub fn claiming(&self) -> &Cell<u32> {
        &self.claiming
    }

    /// The whole check of the hot path: is there room for `size` bytes before the bound?
    #[inline(always)]
    pub fn fits(&self, size: usize) -> bool {
        // Another thread may store 0 meanwhile. It is compared once, so that either value is right.
        // Compilers for x86 compare an atomic load no more with memory: that is an instruction more in every
        // tracepoint. A volatile load of an aligned word is neither left out nor repeated nor divided, either.
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: it is this lane's, and lies there as long as it is borrowed.
        let bound = unsafe { self.bound.as_ptr().read_volatile() };
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        let bound = self.bound.load(Ordering::Relaxed);
        self.cur.get() + size as u64 <= bound
    }

    /// Whether lines may be asked for up to so many bytes behind [`Producer::position`].
    #[inline(always)]
    pub fn reaches(&self, position: u64, size: usize) -> bool {
        position + size as u64 <= self.reach.get()
    }

    /// Publishes what was written at `position`, which is [`Producer::position`]: `size` bytes, and the pad before them. The caller holds the lane busy and
    /// had room for them.
    #[inline(always)]
    pub fn commit(&self, position: u64, size: usize) {
        debug_assert_eq!(position, self.position());
        let end = position + size as u64;
        self.cur.set(end);
        // SAFETY: set by attach, valid as long as the lane has its ring; the caller had room, so the lane has one.
        unsafe { (*self.committed.get()).store(end, Ordering::Release) };
    }

    /// Makes room for a record of `size` bytes (a multiple of 8, at most a quarter of the capacity), without waiting. The caller holds the lane busy.
    ///
    /// `overwrite`: what the collector has not consumed may be given up, oldest first.
    pub fn make_room(&self, size: usize, overwrite: bool) -> Room {
        let capacity = self.capacity.get();
        debug_assert!(size % 8 == 0 && size <= capacity / 4);
        let eighth = capacity as u64 / EIGHTHS;
        let next_lap = self.lap.get() + capacity as u64;
        let (lap, start) = self.start_of(size);
        let wraps = lap == next_lap;
        let end = start + size as u64;
        // As far as this lap and this stride go. A longer record extends to the end of the stride in which it
        // ends. Laps begin at multiples of the capacity, and so of strides.
        let goal = end.div_ceil(self.stride.get()) * self.stride.get();
        let mut free = self.free();
        if goal > free + capacity as u64 && overwrite {
            self.forget(goal - capacity as u64);
            free = self.free();
        }
        if end > free + capacity as u64 {
            return Room::Full;
        }
        if wraps {
            let pad = next_lap - self.position();
            if pad > 0 {
                // SAFETY: the pad goes to the end of the data, the bytes are free since `end` is, and the caller is the only producer.
                unsafe { P::put(self.here(), self.position(), pad) };
            }
            self.cur.set(next_lap);
            self.begin_lap(next_lap);
        }
        let reach = (free + capacity as u64).min(self.lap.get() + capacity as u64);
        self.reach.set(reach);
        self.set_bound(self.enter(end, goal.min(reach)));
        Room::Ready { crossed: self.mark(start, start / eighth) }
    }

    /// Where a record of `size` bytes begins, and the lap that it is in: this one, or the next.
    fn start_of(&self, size: usize) -> (u64, u64) {
        let lap = self.lap.get();
        if self.position() + size as u64 > lap + self.usable.get() {
            let next = lap + self.capacity.get() as u64;
            return (next, next);
        }
        (lap, self.position())
    }

    /// Enters pages into the page tables, as far as a record that ends at `end` needs them. To enter all up to
    /// `goal` at once would take long. Returns the bound, between both.
    fn enter(&self, end: u64, goal: u64) -> u64 {
        let lap = self.lap.get();
        let lap_end = lap + self.capacity.get() as u64;
        let mut entered = self.entered.get().max(lap);
        while entered < end {
            // SAFETY: a position of this lap, since records do not wrap. The ring is backed when it is
            // claimed, and the caller is the only producer.
            let bytes = unsafe { P::enter(self.here(), entered) };
            entered = entered.saturating_add(bytes).min(lap_end);
        }
        let is_whole = entered >= self.base.get() + self.capacity.get() as u64;
        self.entered.set(if is_whole { u64::MAX } else { entered });
        let bound = goal.min(entered);
        if self.is_partial.get() { bound.min(self.end_of_memory()) } else { bound }
    }

    fn shared(&self) -> Option<Shared<P>> {
        self.has_ring().then(|| self.shared.get())
    }

    /// Position up to which the collector's word and the producer's own have freed the ring.
    fn free(&self) -> u64 {
        let Some(shared) = self.shared() else { return self.base.get() };
        // SAFETY: set by attach, valid as long as the lane has its ring.
        let (consumed, oldest) =
            unsafe { ((*shared.consumed).load(Ordering::Acquire), (*shared.oldest).load(Ordering::Relaxed)) };
        // What others may have written is not trusted beyond what was recorded: it cannot make the producer overrun itself.
        consumed.max(oldest).min(self.position()).max(self.base.get())
    }

    /// How much of the ring is not consumed, in bytes.
    pub fn used(&self) -> u64 {
        self.position() - self.free()
    }

    /// Gives up everything before the first record that begins at or after the start of an eighth, `target`.
    ///
    /// The order is what readers rely on: `oldest` is seen before any byte that is written after it.
    fn forget(&self, target: u64) {
        let Some(shared) = self.shared() else { return };
        let eighth = self.capacity.get() as u64 / EIGHTHS;
        let number = target / eighth;
        // An eighth beyond the last mark has no record that begins in it: nothing before the current position is kept.
        let oldest = if number > self.marked.get() {
            self.position()
        } else {
            self.marks[(number % EIGHTHS) as usize].get()
        };
        // SAFETY: set by attach, valid as long as the lane has its ring.
        unsafe {
            // A record that was given up after a wrap leaves the position ahead of what is published; `oldest` never is.
            let committed = (*shared.committed).load(Ordering::Relaxed);
            (*shared.oldest).store(oldest.min(committed), Ordering::Relaxed);
        }
        P::full_fence();
    }

    /// Notes that a record begins at `start`, in eighth `number`; true when it is the first one there.
    fn mark(&self, start: u64, number: u64) -> bool {
        let last = self.marked.get();
        if number == last {
            return false;
        }
        for n in (last + 1).max(number.saturating_sub(EIGHTHS - 1))..=number {
            self.marks[(n % EIGHTHS) as usize].set(start);
        }
        self.marked.set(number);
        true
    }

    /// Sleeps until the collector has consumed something, at most `timeout_ns`. It does not sleep if there already is room for `size` bytes,
    /// or `elsewhere`: in a ring that the collector has emptied. May return early: the caller looks again.
    ///
    /// No wake-up is lost: either the collector sees `waiting` after it has stored `consumed`, or this sees `consumed`.
    pub fn wait_for_room(&self, size: usize, timeout_ns: u64, elsewhere: impl FnOnce() -> bool) {
        let Some(shared) = self.shared() else { return };
        // SAFETY: set by attach, valid as long as the lane has its ring.
        let (waiting, wake) = unsafe { (&*shared.waiting, &*shared.wake) };
        let before = wake.load(Ordering::Acquire);
        waiting.store(1, Ordering::Relaxed);
        P::full_fence();
        if !self.has_room(size) && !elsewhere() {
            P::wait(wake, before, timeout_ns);
        }
        waiting.store(0, Ordering::Relaxed);
    }

    /// Bytes up to which lines may be asked for, when the next record is the first of its lap: nobody has asked for them yet.
    pub fn ahead_in_new_lap(&self) -> Option<usize> {
        let begun = self.cur.get() - self.lap.get();
        (begun == 0).then(|| (self.reach.get() - self.cur.get()) as usize)
    }

    /// Bytes before the bound, when they are `least` or more. One look at the bound, which may be another the next time.
    #[inline(always)]
    pub fn left(&self, least: usize) -> Option<usize> {
        let (cur, bound) = (self.cur.get(), self.bound.load(Ordering::Relaxed));
        (cur + least as u64 <= bound).then(|| (bound - cur) as usize)
    }

    /// Whether the collector has left room for a record of `size` bytes.
    pub fn has_room(&self, size: usize) -> bool {
        let (_, start) = self.start_of(size);
        start + size as u64 <= self.free() + self.capacity.get() as u64
    }
}

/// Wakes a collector that sleeps. The fence pairs with the collector's between storing `sleeping` and looking at the rings: one of the two sees the other.
pub fn ring_doorbell<P: Platform>(sleeping: &P::U32, doorbell: &P::U32) {
    P::full_fence();
    if sleeping.load(Ordering::Relaxed) == 1 {
        doorbell.fetch_add(1, Ordering::Release);
        P::wake(doorbell);
    }
}
