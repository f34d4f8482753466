//! A thread's way into its rings: the hot path, and who comes in when it does not suffice.
//!
//! A lane's `ready` is the only mutual exclusion between a thread and its own signal handlers. The handler's
//! record finds it busy, and takes the next lane. The order is: mark busy, then read anything else; publish,
//! then unmark.

use std::marker::PhantomData;
use std::sync::atomic::{Ordering, compiler_fence};

use super::cause::Cause;
use super::giving;
use super::lane::{self, LANES, Lane};
use super::local::{self, Local};
use super::session::Session;
use super::slot::{EMPTY, PRODUCER, slot};
use crate::clock;
use crate::lasting::Lasting;
use crate::lines::{self, AHEAD};
use crate::ring::{BUSY, GIVEN, HOT, Machine, Producer};
use crate::sys::ErrnoGuard;

/// The level fatal.
const MAX_LEVEL: u8 = 5;

/// Room for one record in this thread's ring. Dropped without [`Reservation::commit`] it leaves nothing.
pub struct Reservation {
    producer: &'static Producer<Machine>,
    at: *mut u8,
    position: u64,
    ticks: u64,
    room: usize,
    /// What `ready` becomes.
    ready: u32,
}

/// Whether the hot path has marked the thread's lane busy before it gave up.
#[derive(Clone, Copy)]
pub struct Owned(Option<&'static Producer<Machine>>);

impl Owned {
    /// Nothing is recorded: the lane is as it was.
    pub fn give_up(self) {
        if let Some(producer) = self.0 {
            producer.ready().store(HOT, Ordering::Relaxed);
        }
    }
}

/// Reserves `size` bytes (a multiple of 8, at least 16) for a record, if that takes only a few instructions.
/// That is always, except at every quarter of the ring (an eighth, where records are overwritten). Otherwise
/// [`reserve_slowly`] continues with the result of this.
#[inline(always)]
pub fn reserve(size: usize) -> Result<Reservation, Owned> {
    reserve_up_to(size, size)
}

/// As [`reserve`], of which the record will have no more than `most` bytes.
#[inline(always)]
pub fn reserve_up_to(size: usize, most: usize) -> Result<Reservation, Owned> {
    reserve_in(PRODUCER.get().get(), size, most)
}

#[inline(always)]
fn reserve_in(producer: &'static Producer<Machine>, size: usize, most: usize) -> Result<Reservation, Owned> {
    if producer.ready().load(Ordering::Relaxed) != HOT {
        return Err(Owned(None));
    }
    producer.ready().store(BUSY, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    if !producer.fits(size) {
        return Err(Owned(Some(producer)));
    }
    // Before the clock: compilers would load it again behind it.
    let position = producer.position();
    // The clock before what follows, so that it does not wait for the lines asked for below.
    let ticks = clock::counter();
    let at = producer.here().wrapping_add(position as usize);
    if producer.reaches(position, AHEAD + most) {
        lines::take(at.wrapping_add(AHEAD), most);
    }
    Ok(Reservation { producer, at, position, ticks, room: size, ready: HOT })
}

/// Where the calling thread records. It stays there once it has a ring: so who has memory of the thread's own keeps it, and need not look for it.
#[derive(Clone, Copy)]
pub struct Here(Lasting<Producer<Machine>>, PhantomData<*const ()>);

impl Here {
    /// Where nothing is recorded at once.
    pub const NOWHERE: Self = Self(Lasting::new(&EMPTY.0), PhantomData);

    /// That of the calling thread now.
    #[inline(always)]
    pub fn find() -> Self {
        Self(PRODUCER.get(), PhantomData)
    }

    /// As [`reserve`].
    #[inline(always)]
    pub fn reserve(self, size: usize) -> Result<Reservation, Owned> {
        reserve_in(self.0.get(), size, size)
    }
}

/// As [`reserve`], but all the room that there is without asking: at least `least` bytes. The caller says with [`Reservation::commit_ahead`] how many it used.
#[inline(always)]
pub fn reserve_rest(least: usize) -> Result<Reservation, Owned> {
    let producer = PRODUCER.get().get();
    if producer.ready().load(Ordering::Relaxed) != HOT {
        return Err(Owned(None));
    }
    producer.ready().store(BUSY, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    let Some(room) = producer.left(least) else { return Err(Owned(Some(producer))) };
    let position = producer.position();
    let at = producer.here().wrapping_add(position as usize);
    Ok(Reservation { producer, at, position, ticks: clock::counter(), room, ready: HOT })
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
        self.producer.commit(self.position, size);
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
        if self.producer.reaches(self.position, AHEAD + size) {
            lines::take(self.at.wrapping_add(AHEAD), size);
        }
        // SAFETY: by the caller.
        unsafe { self.commit(size) };
    }

    /// Gives the room back and stays the lane's one user: [`reserve_slowly`] goes on.
    #[inline(always)]
    pub fn keep(self) -> Owned {
        let owned = Owned(Some(self.producer));
        std::mem::forget(self);
        owned
    }

    /// Gives the room back: nothing was recorded, and that is counted.
    #[cold]
    pub fn lose(self, cause: Cause) {
        if let Some(session) = local::existing() {
            // SAFETY: every producer that is reserved is the first field of a lane.
            let lane = unsafe { &*std::ptr::from_ref(self.producer).cast::<Lane>() };
            lane.lose(session, cause);
        }
    }
}

impl Drop for Reservation {
    #[inline(always)]
    fn drop(&mut self) {
        compiler_fence(Ordering::SeqCst);
        self.producer.ready().store(self.ready, Ordering::Relaxed);
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
/// ring can have such a record; up to [`ALWAYS_FITS`](super::ALWAYS_FITS) bytes there is not.
#[cold]
#[inline(never)]
pub fn reserve_slowly(size: usize, level: u8, owned: Owned) -> Option<Reservation> {
    let _errno = ErrnoGuard::new();
    let level = level.min(MAX_LEVEL);
    let Some((session, local)) = local::session() else {
        owned.give_up();
        return None;
    };
    let (lane, number) = match owned.0 {
        // SAFETY: every producer that is not EMPTY is the first field of a lane, and EMPTY is never owned.
        Some(producer) => (unsafe { &*std::ptr::from_ref(producer).cast::<Lane>() }, 0),
        None => enter(session, local)?,
    };
    match lane.room_in_context(session, local, number, size, level) {
        Ok(room) => {
            let producer = &lane.producer;
            let position = producer.position();
            let at = producer.here().wrapping_add(position as usize);
            Some(Reservation {
                producer,
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
