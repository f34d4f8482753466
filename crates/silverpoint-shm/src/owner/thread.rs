//! A thread's way into its rings: the hot path, and who comes in when it does not suffice.
//!
//! ```text
//!  HEAD (thread-local pointer) ──▶ EMPTY                    a thread before its first record
//!                              ──▶ lane 0 of its slot       afterwards; all zero in a forked child
//! ```
//!
//! A lane's `ready` is the only mutual exclusion between a thread and its own signal handlers. The handler's
//! record finds it busy, and takes the next lane. The order is: mark busy, then read anything else; publish,
//! then unmark.

use std::cell::Cell;
use std::sync::atomic::{Ordering, compiler_fence};

use super::giving;
use super::lane::{self, FREE_SLOT, LANES, Lane};
use super::local::{self, Local, MAX_THREADS, SLOTS_USED};
use super::session::Session;
use super::{Cause, MAX_LEVEL};
use crate::clock;
use crate::lasting::Lasting;
use crate::lines::{self, AHEAD};
use crate::ring::{BUSY, GIVEN, HOT, Head, Machine};
use crate::sys::{self, ErrnoGuard};

/// Slots that a new thread examines for one of a dead thread before it takes an unused one: each is a call of
/// the kernel. At most a quarter as many slots of dead threads as living ones remain until they are found.
const LOOK_AT: u32 = 4;

/// A record of so many bytes can be had by a ring of the smallest size.
pub const ALWAYS_FITS: usize = (2048 - 1024) / 4;

struct Empty(Head<Machine>);
// SAFETY: nothing writes to it: the hot path stops at `ready`, the cold path takes it for no lane.
unsafe impl Sync for Empty {}
static EMPTY: Empty = Empty(Head::new(std::ptr::null_mut()));

thread_local! {
    static HEAD: Cell<Lasting<Head<Machine>>> = const { Cell::new(Lasting::new(&EMPTY.0)) };
}

/// Room for one record in this thread's ring. Dropped without [`Reservation::commit`] it leaves nothing.
pub struct Reservation {
    head: &'static Head<Machine>,
    at: *mut u8,
    position: u64,
    ticks: u64,
    room: usize,
    /// What `ready` becomes.
    ready: u32,
}

/// Whether the hot path has marked the thread's lane busy before it gave up.
#[derive(Clone, Copy)]
pub struct Owned(Option<&'static Head<Machine>>);

/// Reserves `size` bytes (a multiple of 8, at least 16) for a record, if that takes only a few instructions.
/// That is always, except at every quarter of the ring (an eighth, where records are overwritten). Otherwise
/// [`reserve_slowly`] continues with the result of this.
#[inline(always)]
pub fn reserve(size: usize) -> Result<Reservation, Owned> {
    let head = HEAD.get().get();
    if head.ready().load(Ordering::Relaxed) != HOT {
        return Err(Owned(None));
    }
    head.ready().store(BUSY, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    if !head.fits(size) {
        return Err(Owned(Some(head)));
    }
    // The clock first: what it waits for is not the lines asked for below.
    let ticks = clock::counter();
    let position = head.position();
    let at = head.here().wrapping_add(position as usize);
    if head.reaches(AHEAD + size) {
        lines::take(at.wrapping_add(AHEAD), size);
    }
    Ok(Reservation { head, at, position, ticks, room: size, ready: HOT })
}

/// As [`reserve`], but all the room that there is without asking: at least `least` bytes. The caller says with [`Reservation::commit_ahead`] how many it used.
#[inline(always)]
pub fn reserve_rest(least: usize) -> Result<Reservation, Owned> {
    let head = HEAD.get().get();
    if head.ready().load(Ordering::Relaxed) != HOT {
        return Err(Owned(None));
    }
    head.ready().store(BUSY, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    let Some(room) = head.left(least) else { return Err(Owned(Some(head))) };
    let position = head.position();
    let at = head.here().wrapping_add(position as usize);
    Ok(Reservation { head, at, position, ticks: clock::counter(), room, ready: HOT })
}

/// Gives the calling thread its ring now, and touches what its first record will, so that this costs what any other does. Nothing is recorded. Does nothing
/// without a session, or in a signal handler that interrupts a record.
pub fn prepare() {
    /// Bytes of a first record that are touched.
    const FIRST: usize = 64;
    let Err(owned) = reserve(FIRST) else { return };
    if let Some(room) = reserve_slowly(FIRST, MAX_LEVEL, owned) {
        // SAFETY: so many bytes are reserved for this thread; given back, they are nothing.
        unsafe { room.at().write_bytes(0, room.room().min(FIRST)) };
    }
}

impl Reservation {
    /// Where the record's bytes go. Not aligned to more than the ring is: 8.
    #[inline(always)]
    pub fn at(&self) -> *mut u8 {
        self.at
    }

    /// Bytes that may be written.
    #[inline(always)]
    pub fn room(&self) -> usize {
        self.room
    }

    /// When the record was made.
    #[inline(always)]
    pub fn ticks(&self) -> u64 {
        self.ticks
    }

    /// Publishes the record.
    ///
    /// # Safety
    /// `size` is a multiple of 8, at least 16 and at most [`Reservation::room`], and as many bytes at [`Reservation::at`] are a whole record.
    #[inline(always)]
    pub unsafe fn commit(self, size: usize) {
        self.head.commit(self.position, size);
        // Known where the code is compiled, on the hot path: there it never is.
        if self.ready == GIVEN {
            // SAFETY: by the caller.
            unsafe { giving::give(self.at, size) };
        }
        // Dropped here: the lane is idle again.
    }

    /// As [`Reservation::commit`], for a record whose size was not known when its room was reserved.
    ///
    /// # Safety
    /// As for `commit`.
    #[inline(always)]
    pub unsafe fn commit_ahead(self, size: usize) {
        if self.head.reaches(AHEAD + size) {
            lines::take(self.at.wrapping_add(AHEAD), size);
        }
        // SAFETY: by the caller.
        unsafe { self.commit(size) };
    }

    /// Gives the room back and stays the lane's one user: [`reserve_slowly`] goes on.
    #[inline(always)]
    pub fn keep(self) -> Owned {
        let owned = Owned(Some(self.head));
        std::mem::forget(self);
        owned
    }

    /// Gives the room back: nothing was recorded, and that is counted.
    #[cold]
    pub fn lose(self, cause: Cause) {
        if let Some(session) = local::existing() {
            // SAFETY: every head that is reserved is the first field of a lane.
            let lane = unsafe { &*std::ptr::from_ref(self.head).cast::<Lane>() };
            lane.lose(session, cause);
        }
    }
}

impl Drop for Reservation {
    #[inline(always)]
    fn drop(&mut self) {
        compiler_fence(Ordering::SeqCst);
        self.head.ready().store(self.ready, Ordering::Relaxed);
    }
}

/// Counts a record of a site for which the site table had no room.
#[cold]
pub fn lose_without_site() {
    lose(Cause::NoSite);
}

/// Counts a record that was not made, and for which no ring is held.
#[cold]
pub fn lose(cause: Cause) {
    if let Some((session, _)) = local::session() {
        lane::lose_in_session(session, cause);
    }
}

/// Counts a record that was not made, for a reason that has no name of its own.
#[cold]
pub fn lose_other() {
    lose(Cause::Other);
}

/// Everything but the common case: a thread's first record, a new eighth of the ring, a full ring, a forked child, a signal handler. `None`: the record was
/// lost, and is counted.
///
/// `level` is 0 trace to 5 fatal. May wait for the collector, by the session's policy. There may be less [room](Reservation::room) than was asked for, when no
/// ring can have such a record; up to [`ALWAYS_FITS`] bytes there is not.
#[cold]
#[inline(never)]
pub fn reserve_slowly(size: usize, level: u8, owned: Owned) -> Option<Reservation> {
    let _errno = ErrnoGuard::new();
    let level = level.min(MAX_LEVEL);
    let Some((session, local)) = local::session() else {
        if let Some(head) = owned.0 {
            head.ready().store(HOT, Ordering::Relaxed);
        }
        return None;
    };
    let (lane, number) = match owned.0 {
        // SAFETY: every head that is not EMPTY is the first field of a lane, and EMPTY is never owned.
        Some(head) => (unsafe { &*std::ptr::from_ref(head).cast::<Lane>() }, 0),
        None => enter(session, local)?,
    };
    match lane.room_in_context(session, local, number, size, level) {
        Ok(room) => {
            let head = &lane.head;
            let position = head.position();
            let at = head.here().wrapping_add(position as usize);
            Some(Reservation {
                head,
                at,
                position,
                ticks: session.source.now(),
                room,
                ready: giving::ready(session, number),
            })
        }
        Err(cause) => {
            lane.lose(session, cause);
            lane.leave(session);
            None
        }
    }
}

/// The first lane of this thread that no record is being made in.
fn enter(session: &'static Session, local: &'static Local) -> Option<(&'static Lane, usize)> {
    let Some(slot) = slot(local) else {
        lane::lose_in_session(session, Cause::NoMemory);
        return None;
    };
    for number in 0..LANES {
        let lane = local.lane(slot, number);
        if lane.enter() {
            return Some((lane, number));
        }
    }
    local.lane(slot, 0).lose_nested(session);
    None
}

/// The slot that this thread has.
pub(crate) fn slot_of_mine(local: &'static Local) -> Option<usize> {
    local.slot_of(std::ptr::from_ref(HEAD.get().get()).cast())
}

/// This thread's slot.
pub(crate) fn slot(local: &'static Local) -> Option<usize> {
    let head = HEAD.get().get();
    let tid = sys::thread_id();
    if let Some(slot) = local.slot_of(std::ptr::from_ref(head).cast()) {
        let owner = &local.lane(slot, 0).tid;
        // Wiped: this is the thread that forked. Nobody else takes its slot, since slots of the parent are not given out again.
        if owner.load(Ordering::Relaxed) == 0 {
            owner.store(tid, Ordering::Relaxed);
        }
        return Some(slot);
    }
    let slot = claim_slot(local, tid)?;
    let lane = local.lane(slot, 0);
    if !std::ptr::eq(HEAD.get().get(), head) {
        // A signal handler's record was quicker: the thread has a slot. It may be the same one, which was this thread's already.
        let mine = local.slot_of(std::ptr::from_ref(HEAD.get().get()).cast());
        if mine != Some(slot) {
            lane.tid.store(FREE_SLOT, Ordering::Release);
        }
        return mine;
    }
    HEAD.set(Lasting::new(&lane.head));
    crate::crash::on_first_record();
    Some(slot)
}

fn claim_slot(local: &'static Local, tid: u32) -> Option<usize> {
    if let Some(slot) = dead_slot(local, tid, LOOK_AT) {
        return Some(slot);
    }
    if SLOTS_USED.load(Ordering::Relaxed) < MAX_THREADS as u32 {
        let slot = SLOTS_USED.fetch_add(1, Ordering::AcqRel);
        if slot < MAX_THREADS as u32 {
            local.lane(slot as usize, 0).tid.store(tid, Ordering::Release);
            return Some(slot as usize);
        }
    }
    dead_slot(local, tid, MAX_THREADS as u32)
}

/// Takes over the slot of a thread that is gone. Its rings stay where they are until they are adopted.
fn dead_slot(local: &'static Local, tid: u32, look_at: u32) -> Option<usize> {
    let used = SLOTS_USED.load(Ordering::Acquire).min(MAX_THREADS as u32);
    if used == 0 {
        return None;
    }
    let start = local.slots_cursor.fetch_add(look_at.min(used), Ordering::Relaxed);
    for k in 0..look_at.min(used) {
        let slot = (start.wrapping_add(k) % used) as usize;
        let owner = &local.lane(slot, 0).tid;
        let before = owner.load(Ordering::Acquire);
        let dead = before == FREE_SLOT || (before != 0 && (before == tid || !sys::thread_exists(before)));
        if dead && owner.compare_exchange(before, tid, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            for number in 0..LANES {
                local.lane(slot, number).reset();
            }
            local.contexts(slot).reset();
            return Some(slot);
        }
    }
    None
}
