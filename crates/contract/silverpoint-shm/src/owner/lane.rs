//! A lane: one ring of one thread, with its policy.
//!
//! ```text
//!            room              record
//!  make_room ────▶ Ready ───────────────────────────────▶ Reservation
//!      │ Full
//!      ├─ a larger slice is to be had, and others have enough ──▶ grow, again
//!      ├─ the same of a further slice of the largest size, unless records are overwritten ──▶ continue, again
//!      ├─ overwrite ──▶ the core forgets what is oldest
//!      ├─ drop ───────▶ counted: full
//!      └─ block ──────▶ wait; room: again; block_max passed: counted (collector_gone, sink_full) until the ring is half empty
//! ```

use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering, compiler_fence};

use silverpoint_wire::policy::WhenFull;

use super::anchors;
use super::at;
use super::cause::Cause;
use super::contexts::Stated;
use super::control::Shared;
use super::remembered::Remembered;
use super::session::Session;
use super::settings::LEVELS;
use super::slabs::{self, Claim, SIZES, Slice};
use super::{paged, prepared};
use crate::lines::{self, AHEAD};
use crate::ring::{self, COLD, HOT, Machine, Producer, Room};
use crate::{clock, sys};

/// Lanes of a thread: its own, and those of signal handlers that interrupt a record.
pub(crate) const LANES: usize = 4;

/// Index of the size up to which rings grow for comfort: 128 KiB.
const COMFORTABLE_SIZE: u32 = 2;
/// A ring that is filled twice before it is this old is too small.
const YOUNG_NS: u64 = 500_000_000;
/// After a larger slice was not to be had.
const GROWTH_PAUSE_NS: u64 = 100_000_000;
/// After a further slice was not to be had, where records are dropped: no search at each of them.
const FURTHER_PAUSE_NS: u64 = 1_000_000;
/// One sleep of a producer that waits for room; the collector wakes it earlier.
const WAIT_NS: u64 = 50_000_000;
/// A collector whose heartbeat stands still for so long makes no progress (it beats at least five times a second).
const HEARTBEAT_NS: u64 = 1_000_000_000;

/// All zero is a lane without a ring; a fork wipes it to that.
#[repr(C)]
pub(crate) struct Lane {
    pub(crate) producer: Producer<Machine>,
    /// Lane 0: the thread that has the slot; 0 never used in this process image, [`FREE_SLOT`] given back.
    pub(crate) tid: AtomicU32,
    /// Index of [`slabs::capacity_of`].
    size: Cell<u32>,
    slice: Cell<*mut u8>,
    stream: Cell<u32>,
    /// 1 when the ring has proved to be large enough.
    settled: Cell<u32>,
    claimed_ns: Cell<u64>,
    grow_after_ns: Cell<u64>,
    /// As `grow_after_ns`, of a growth that looked for what is at hand only: what a record needs does not wait for that.
    look_after_ns: Cell<u64>,
    /// As `grow_after_ns`, of a further slice of the largest size.
    continue_after_ns: Cell<u64>,
    /// 1 + cause, while records are dropped until the ring is half empty; else 0.
    degraded: Cell<u32>,
    /// 1 when `losses` or `stall_ns` are to be recorded.
    untold: Cell<u32>,
    stall_ns: Cell<u64>,
    stall_why: Cell<u32>,
    pub(super) stated: Stated,
    losses: [Loss; 8],
}

/// A slot that its thread gave back.
pub(crate) const FREE_SLOT: u32 = u32::MAX;

/// Lost records that no loss record has reported yet.
struct Loss {
    count: Cell<u64>,
    first_ticks: Cell<u64>,
    last_ticks: Cell<u64>,
}

impl Lane {
    /// Makes the lane one without a ring, from any state.
    pub(crate) fn reset(&self) {
        self.producer.detach();
        self.producer.ready().store(ring::BUSY, Ordering::Relaxed);
        self.producer.claiming().set(0);
        for word in [&self.size, &self.stream, &self.settled, &self.degraded, &self.untold, &self.stall_why] {
            word.set(0);
        }
        for word in [
            &self.claimed_ns,
            &self.grow_after_ns,
            &self.look_after_ns,
            &self.continue_after_ns,
            &self.stall_ns,
        ] {
            word.set(0);
        }
        self.slice.set(null_mut());
        self.stated.forget();
        self.losses.iter().for_each(Loss::clear);
    }

    /// Gives its ring back, when the lane cannot be used any more.
    pub(crate) fn retire(&self, session: &Session) {
        if self.producer.has_ring() {
            self.slice().set_state(session, at::ring::RETIRED);
        }
    }

    /// Tries to become the lane's one user; false when a record that this one interrupts is.
    pub(crate) fn enter(&self) -> bool {
        let ready = self.producer.ready();
        if ready.load(Ordering::Relaxed) != ring::BUSY {
            ready.store(ring::BUSY, Ordering::Relaxed);
            return true;
        }
        if self.producer.has_ring() || self.producer.claiming().get() != 0 {
            return false;
        }
        self.producer.claiming().set(1);
        compiler_fence(Ordering::SeqCst);
        // A signal handler that came in between has made the lane one with a ring: then it is entered as that.
        if ready.load(Ordering::Relaxed) != ring::BUSY {
            ready.store(ring::BUSY, Ordering::Relaxed);
            self.producer.claiming().set(0);
            return true;
        }
        true
    }

    /// Ends what `enter` began, without a record.
    pub(crate) fn leave(&self, session: &Session) {
        if self.producer.has_ring() {
            self.producer.ready().store(idle(session), Ordering::Relaxed);
        } else {
            self.producer.claiming().set(0);
        }
    }

    /// Makes room for a record of `size` bytes at the lane's position: for fewer, when a ring cannot have such a record. The caller has entered the lane.
    pub(crate) fn room_for(
        &self,
        session: &'static Session,
        remembered: &'static Remembered,
        number: usize,
        size: usize,
        level: u8,
    ) -> Result<usize, Cause> {
        if !self.producer.has_ring() && !self.claim(session, remembered, number, size) {
            return Err(Cause::NoMemory);
        }
        loop {
            let limit = (self.producer.usable() / 4 / 8 * 8).min(at::record::SIZE_MAX);
            if size > limit
                && limit < at::record::SIZE_MAX
                && self.grow(session, remembered, number, size, true)
            {
                continue;
            }
            let want = size.min(limit);
            let when_full = when_full(session, level);
            let overwrite = when_full == WhenFull::Overwrite;
            if self.degraded.get() != 0 {
                if !overwrite && self.producer.used() > self.producer.capacity() as u64 / 2 {
                    return Err(Cause::from_number(self.degraded.get() - 1));
                }
                self.degraded.set(0);
            }
            if self.untold.get() != 0 {
                self.tell(session, overwrite);
            }
            self.producer.set_overwritten(overwrite || overwrites(session));
            // A larger ring is better than a wait, a loss, or a shortened history. It comes from what is at
            // hand, or as long as there is plenty for others.
            if !paged::make(&self.producer, session, self.slice(), want) {
                continue;
            }
            let mut room = self.producer.make_room(want, false);
            if room == Room::Full
                && (self.grow(session, remembered, number, size, slabs::is_plenty(session, self.next_size()))
                    || (!overwrite && self.go_on(session, remembered, number, when_full == WhenFull::Drop)))
            {
                continue;
            }
            if room == Room::Full && overwrite {
                room = self.producer.make_room(want, true);
            }
            match room {
                Room::Ready { crossed } => {
                    if crossed {
                        if self.is_too_small(session)
                            && !prepared::is_being_prepared(session, self.next_size())
                            && self.grow(session, remembered, number, size, true)
                        {
                            continue;
                        }
                        self.now_and_then(session, remembered);
                    }
                    return Ok(want);
                }
                Room::Full => match when_full {
                    WhenFull::Drop => return Err(Cause::Full),
                    WhenFull::Block | WhenFull::Overwrite => {
                        self.wait(session, remembered, number, want, level)?
                    }
                },
            }
        }
    }

    /// Counts a record that was not recorded.
    pub(crate) fn lose(&self, session: &Session, cause: Cause) {
        if !self.producer.has_ring() {
            return lose_in_session(session, cause);
        }
        let number = cause as usize;
        self.slice().losses(session, number).fetch_add(1, Ordering::Relaxed);
        let now = session.source.now();
        let loss = &self.losses[number];
        if loss.count.get() == 0 {
            loss.first_ticks.set(now);
        }
        loss.last_ticks.set(now);
        loss.count.set(loss.count.get() + 1);
        self.untold.set(1);
    }

    /// Counts a record of a signal handler that found every lane taken. The lane is busy: only the shared counter may be touched.
    pub(crate) fn lose_nested(&self, session: &Session) {
        if self.producer.has_ring() {
            self.slice().losses(session, Cause::Nested as usize).fetch_add(1, Ordering::Relaxed);
        } else {
            lose_in_session(session, Cause::Nested);
        }
    }

    fn slice(&self) -> Slice {
        // SAFETY: set by `attach` with the address of a mapped slice; callers have a ring.
        Slice(unsafe { Shared::new(self.slice.get()) })
    }

    /// Claims the lane's first slice: the smallest that can have the record, a smaller one where that is not to be had.
    fn claim(
        &self,
        session: &'static Session,
        remembered: &'static Remembered,
        number: usize,
        size: usize,
    ) -> bool {
        let fitting = fitting(session, size);
        if (0..=fitting).rev().any(|at| self.attach(session, remembered, number, at, true)) {
            return true;
        }
        if remembered.warned.swap(1, Ordering::Relaxed) == 0 {
            sys::warn(&[b"no memory for another ring; records of threads without one are lost and counted"]);
        }
        false
    }

    /// The size that it grows to, if no record needs a larger one.
    fn next_size(&self) -> usize {
        self.size.get() as usize + 1
    }

    /// Moves to a larger slice: the next one, or the smallest that can have a record of `size` bytes. It is
    /// from a new slab only where that may be begun.
    fn grow(
        &self,
        session: &'static Session,
        remembered: &'static Remembered,
        number: usize,
        size: usize,
        may_begin_slab: bool,
    ) -> bool {
        let goal = fitting(session, size).max(self.next_size());
        if goal >= SIZES
            || slabs::capacity_of(session, goal).is_none_or(|capacity| capacity <= self.producer.capacity())
        {
            return false;
        }
        let time = clock::coarse_ns();
        let after_ns = if may_begin_slab { &self.grow_after_ns } else { &self.look_after_ns };
        if time < after_ns.get() {
            return false;
        }
        self.producer.claiming().set(1);
        if self.attach(session, remembered, number, goal, may_begin_slab) {
            return true;
        }
        self.producer.claiming().set(0);
        after_ns.set(time + GROWTH_PAUSE_NS);
        false
    }

    /// Continues in a further slice of the largest size, in place of a wait or a loss. An emptied slice comes
    /// first, then a new one as long as there is plenty for others. `may_pause`: not at each record.
    // Out of line, as `wait`: else `room_for` saves more registers at each call.
    #[cold]
    #[inline(never)]
    fn go_on(
        &self,
        session: &'static Session,
        remembered: &'static Remembered,
        number: usize,
        may_pause: bool,
    ) -> bool {
        let time = clock::coarse_ns();
        if !self.is_largest(session) || (may_pause && time < self.continue_after_ns.get()) {
            return false;
        }
        let size = self.size.get() as usize;
        self.producer.claiming().set(1);
        if self.attach(session, remembered, number, size, slabs::is_plenty(session, size)) {
            return true;
        }
        self.producer.claiming().set(0);
        self.continue_after_ns.set(time + FURTHER_PAUSE_NS);
        false
    }

    /// Whether the session has no larger rings.
    fn is_largest(&self, session: &Session) -> bool {
        slabs::capacity_of(session, self.next_size())
            .is_none_or(|capacity| capacity <= self.producer.capacity())
    }

    /// Puts the lane on a slice of that size, and retires the one it had. The lane is marked as claiming.
    fn attach(
        &self,
        session: &'static Session,
        remembered: &'static Remembered,
        number: usize,
        size: usize,
        may_begin_slab: bool,
    ) -> bool {
        if slabs::capacity_of(session, size).is_none() {
            return false;
        }
        let claim = self.claim_of(session, number, size, may_begin_slab);
        let Some(claimed) = slabs::claim(session, remembered, &claim) else { return false };
        if self.producer.has_ring() {
            self.slice().set_state(session, at::ring::RETIRED);
        }
        // SAFETY: the slice is this lane's alone since it was claimed, and stays mapped.
        unsafe {
            let data = claimed.slice.0.part(session.layout.ring_header_size as usize).address();
            self.producer.attach(claimed.slice.shared(session), data, claimed.capacity, claimed.base);
        }
        if !claimed.slice.is_there() {
            paged::attach(&self.producer, session, claimed.slice, claimed.there);
        } else if !prepared::is_prepared(session, claimed.slice) {
            self.producer.set_entered();
        }
        self.slice.set(claimed.slice.0.address());
        self.stream.set(claimed.stream);
        self.stated.forget();
        self.size.set(size as u32);
        self.claimed_ns.set(clock::coarse_ns());
        self.settled.set(0);
        self.degraded.set(0);
        self.producer.claiming().set(0);
        true
    }

    fn claim_of(&self, session: &Session, number: usize, size: usize, may_begin_slab: bool) -> Claim {
        Claim {
            size,
            lane: number,
            tid: sys::thread_id(),
            previous: self.stream.get(),
            may_forget: !session.is_collected(),
            may_begin_slab,
        }
    }

    /// Whether a larger ring is to be had, and this one was filled twice while it was young, or is half full.
    fn is_too_small(&self, session: &Session) -> bool {
        (self.producer.used() > self.producer.capacity() as u64 / 2 || self.is_filled_early())
            && slabs::is_plenty(session, self.next_size())
    }

    fn is_filled_early(&self) -> bool {
        // Larger rings than 128 KiB leave the processor's inner caches: they come with need alone.
        if self.settled.get() != 0 || self.size.get() >= COMFORTABLE_SIZE {
            return false;
        }
        if clock::coarse_ns().saturating_sub(self.claimed_ns.get()) >= YOUNG_NS {
            self.settled.set(1);
            return false;
        }
        self.producer.position() - self.producer.base() >= 2 * self.producer.capacity() as u64
    }

    /// What is due at every stride of the ring.
    fn now_and_then(&self, session: &Session, remembered: &Remembered) {
        // Below a quarter of the ring no collector needs to be woken.
        if self.producer.used() >= self.producer.capacity() as u64 / 4 {
            ring_doorbell(session);
        }
        anchors::add_now_and_then(session, remembered);
        if let Some(ahead) = self.producer.ahead_in_new_lap() {
            let at = self.producer.here().wrapping_add(self.producer.position() as usize);
            lines::take(at, ahead.min(AHEAD));
        }
    }

    /// Waits until the collector has left room for `size` bytes, here or in a further slice. It ends earlier
    /// with another policy, without a collector, or at the end of the patience.
    #[cold]
    #[inline(never)]
    fn wait(
        &self,
        session: &'static Session,
        remembered: &'static Remembered,
        number: usize,
        size: usize,
        level: u8,
    ) -> Result<(), Cause> {
        // SAFETY: the header is always backed.
        let (state, block_max, heartbeat) = unsafe {
            (
                session.control.u32(at::header::COLLECTOR_STATE),
                session.control.u32(at::header::BLOCK_MAX_MS),
                session.control.u64(at::header::HEARTBEAT),
            )
        };
        let start = clock::monotonic_ns();
        let mut beat = (heartbeat.load(Ordering::Relaxed), start);
        let claim = self.claim_of(session, number, self.size.get() as usize, false);
        let is_largest = self.is_largest(session);
        let result = loop {
            ring_doorbell(session);
            self.producer
                .wait_for_room(size, WAIT_NS, || is_largest && slabs::is_one_adoptable(session, &claim));
            if self.producer.has_room(size)
                || self.go_on(session, remembered, number, false)
                || when_full(session, level) != WhenFull::Block
            {
                break Ok(());
            }
            let now = clock::monotonic_ns();
            let beats = heartbeat.load(Ordering::Relaxed);
            if beats != beat.0 {
                beat = (beats, now);
            }
            let max_ms = block_max.load(Ordering::Relaxed);
            let patience = u64::from(max_ms) * 1_000_000;
            if max_ms != at::control::BLOCK_FOR_EVER
                && (now - start >= patience || now - beat.1 >= HEARTBEAT_NS)
            {
                let full = state.load(Ordering::Relaxed) == at::collector_state::SINK_FULL;
                break Err(if full { Cause::SinkFull } else { Cause::CollectorGone });
            }
        };
        let duration = clock::monotonic_ns() - start;
        self.slice().stalled(duration);
        self.stall_ns.set(self.stall_ns.get() + duration);
        self.stall_why.set(result.err().map_or(0, |cause: Cause| cause as u32));
        self.untold.set(1);
        if let Err(cause) = result {
            self.degraded.set(1 + cause as u32);
        }
        result
    }

    /// Writes the control records that are due, as far as there is room.
    fn tell(&self, session: &Session, overwrite: bool) {
        let ticks = session.source.now();
        if self.stall_ns.get() != 0 {
            let mut record = [0u8; 32];
            record[16] = self.stall_why.get() as u8;
            record[17..25].copy_from_slice(&self.stall_ns.get().to_le_bytes());
            if !self.put(session, &mut record, at::record::STALL, ticks, overwrite) {
                return;
            }
            self.stall_ns.set(0);
        }
        for (cause, loss) in self.losses.iter().enumerate().filter(|(_, loss)| loss.count.get() != 0) {
            let mut record = [0u8; 48];
            record[16] = cause as u8;
            record[17..25].copy_from_slice(&loss.count.get().to_le_bytes());
            record[25..33].copy_from_slice(&loss.first_ticks.get().to_le_bytes());
            record[33..41].copy_from_slice(&loss.last_ticks.get().to_le_bytes());
            if !self.put(session, &mut record, at::record::LOSS, ticks, overwrite) {
                return;
            }
            loss.clear();
        }
        self.untold.set(0);
    }

    fn put(&self, session: &Session, record: &mut [u8], site: u32, ticks: u64, overwrite: bool) -> bool {
        // Where there is no memory laps become shorter, but not that short.
        while !paged::make(&self.producer, session, self.slice(), record.len()) {}
        if self.producer.make_room(record.len(), overwrite) == Room::Full {
            return false;
        }
        let size = record.len() as u32;
        record[0..4].copy_from_slice(&size.to_le_bytes());
        record[4..8].copy_from_slice(&site.to_le_bytes());
        record[8..16].copy_from_slice(&ticks.to_le_bytes());
        let position = self.producer.position();
        // SAFETY: make_room has made room for these bytes at the producer's position, and the lane is this thread's.
        unsafe {
            let to = self.producer.here().wrapping_add(position as usize);
            std::ptr::copy_nonoverlapping(record.as_ptr(), to, record.len());
        }
        self.producer.commit(position, record.len());
        true
    }
}

impl Loss {
    fn clear(&self) {
        self.count.set(0);
        self.first_ticks.set(0);
        self.last_ticks.set(0);
    }
}

/// What an idle lane's `ready` is.
pub(crate) fn idle(session: &Session) -> u32 {
    if session.source.is_counter() { HOT } else { COLD }
}

/// The smallest size whose rings can have a record of `size` bytes, or the largest that there is.
fn fitting(session: &Session, size: usize) -> usize {
    let sizes = (0..SIZES).take_while(|at| slabs::capacity_of(session, *at).is_some()).count();
    (0..sizes).find(|at| slabs::capacity_of(session, *at).is_some_and(|c| size <= c / 4)).unwrap_or(sizes - 1)
}

/// Whether records of any level may be overwritten.
fn overwrites(session: &Session) -> bool {
    (0..LEVELS as u8).any(|level| when_full(session, level) == WhenFull::Overwrite)
}

fn when_full(session: &Session, level: u8) -> WhenFull {
    if !session.is_collected() {
        return WhenFull::Overwrite;
    }
    let level = usize::from(level).min(LEVELS - 1);
    // SAFETY: the header is always backed.
    WhenFull::from_u8(unsafe { session.control.u8(at::header::POLICY + level) }.load(Ordering::Relaxed))
}

pub(crate) fn ring_doorbell(session: &Session) {
    // SAFETY: the header is always backed.
    unsafe {
        ring::ring_doorbell::<Machine>(
            session.control.u32(at::header::COLLECTOR_SLEEPING),
            session.control.u32(at::header::DOORBELL),
        );
    }
}

/// Counts a record that had no ring.
pub(crate) fn lose_in_session(session: &Session, cause: Cause) {
    // SAFETY: the header is always backed.
    unsafe { session.control.u64(at::header::SESSION_LOSSES + 8 * cause as usize) }
        .fetch_add(1, Ordering::Relaxed);
}
