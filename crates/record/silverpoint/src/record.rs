//! Recording: sizes, room, bytes, publication.

use std::marker::PhantomData;

use crate::platform::owner::{self, Cause, Owned, Reservation};

use crate::args::{Args, Borrower};
use crate::copy::COPY_MAX;
use crate::header::{HEADER, Made, TRUNCATED, header};
use crate::level::AtLevel;
use crate::probed::Probed;
use crate::scratch::{Scratch, Unfinished};
use crate::seldom::seldom;
use crate::site::{Meta, Site};
use crate::writer::Writer;

/// Up to this size a record of varying size is written in place, without a call.
const SMALL: usize = HEADER + COPY_MAX;

/// Records one execution of a site that is on. `state`: of the question whether it is.
#[inline(always)]
pub fn record<M: Meta, L: AtLevel, A: Args>(site: &'static Site, state: u8, arguments: &A) {
    #[cfg(usdt)]
    if crate::site::is_attached(state) {
        let _ = arguments.lend(crate::usdt::Hit::<M, L>(site, PhantomData));
        return;
    }
    #[cfg(not(usdt))]
    let _ = state;
    let _ = timed::<M, L, A>(site, arguments);
}

/// As [`record`]; gives the id and the ticks of the record.
///
/// The bytes are written at two places of the code: where room was to be had at once, and where it was not. So the first is straight, and small arguments stay
/// in registers, for their addresses go nowhere.
#[inline(always)]
pub(crate) fn timed<M: Meta, L: AtLevel, A: Args>(site: &'static Site, arguments: &A) -> Made {
    let id = if site.is_first::<A>() {
        site.first_id()
    } else {
        match site.other_id::<M, A>() {
            Ok(id) => id,
            Err(0) => return Made::LOST,
            Err(id) => return arguments.lend(Probed::<L>::new(site, id, M::KIND.is_span())),
        }
    };
    if const { A::ONCE } {
        return captured::<L, A>(id, arguments);
    }
    if const { A::DEAR } {
        return match write_within(id, arguments) {
            Ok(made) => made,
            Err(owned) => arguments.lend(Slowly::<L>(owned, id, PhantomData)),
        };
    }
    let size = match const { A::FIXED } {
        Some(fixed) => HEADER + fixed,
        None => HEADER + arguments.size(),
    };
    let total = (size + 7) & !7;
    if const { A::FIXED.is_none() } && total > SMALL {
        seldom();
        return arguments.lend(Large::<L>(total, id, PhantomData));
    }
    match owner::reserve(total) {
        Ok(room) => write(room, total, id, arguments, const { A::FIXED.is_none() }),
        Err(owned) if const { is_small::<A>() } => {
            // Such a record has its room in every ring.
            match owner::reserve_slowly(total, L::LEVEL, owned) {
                Some(room) => write(room, total, id, arguments, false),
                None => Made::LOST,
            }
        }
        Err(owned) => arguments.lend(Slowly::<L>(owned, id, PhantomData)),
    }
}

/// A record whose arguments may be written only once: beside the ring, then into it.
#[inline(never)]
fn captured<L: AtLevel, A: Args>(id: u32, arguments: &A) -> Made {
    let unfinished = Unfinished;
    let mut scratch = Scratch::new();
    let mut writer = Writer::into_scratch(&mut scratch, arguments.least());
    arguments.write(&mut writer);
    let (len, is_cut, has_overrun) = (writer.used(), writer.was_cut(), writer.has_overrun());
    unfinished.finish();
    if has_overrun {
        owner::lose(Cause::TooLarge);
        return Made::LOST;
    }
    // SAFETY: so many bytes were written, as the site's signature says.
    unsafe { scratch.record(L::LEVEL, id, None, len, is_cut) }
}

/// Whether such arguments never have to be cut.
const fn is_small<A: Args>() -> bool {
    match A::FIXED {
        Some(fixed) => HEADER + fixed + 7 <= owner::ALWAYS_FITS,
        None => false,
    }
}

/// A record whose bytes cost more than a call.
struct Large<L>(usize, u32, PhantomData<L>);

impl<L: AtLevel> Borrower for Large<L> {
    type Result = Made;
    #[inline(never)]
    fn take<A: Args>(self, arguments: &A) -> Self::Result {
        match owner::reserve(self.0) {
            Ok(room) => write(room, self.0, self.1, arguments, false),
            Err(owned) => Slowly::<L>(owned, self.1, PhantomData).take(arguments),
        }
    }
}

/// A record of arguments that a system tracer has got before. They may be written several times.
#[inline(always)]
pub(crate) fn behind_event<L: AtLevel, A: Args>(id: u32, arguments: &A) -> Made {
    let total = (HEADER + arguments.size() + 7) & !7;
    Large::<L>(total, id, PhantomData).take(arguments)
}

/// A record for which there was no room at once.
struct Slowly<L>(Owned, u32, PhantomData<L>);

impl<L: AtLevel> Borrower for Slowly<L> {
    type Result = Made;
    #[cold]
    #[inline(never)]
    fn take<A: Args>(self, arguments: &A) -> Self::Result {
        let total = (HEADER + arguments.size() + 7) & !7;
        let Some(room) = owner::reserve_slowly(total, L::LEVEL, self.0) else { return Made::LOST };
        if room.room() < total {
            cut(room, self.1, arguments)
        } else {
            write(room, total, self.1, arguments, false)
        }
    }
}

/// Writes a record whose size is known only then; gives the lane back when it does not fit before the bound.
#[inline(always)]
fn write_within<A: Args>(id: u32, arguments: &A) -> Result<Made, Owned> {
    /// Bytes of zeros behind the arguments.
    const TAIL: usize = 8;
    let room = owner::reserve_rest(HEADER + TAIL)?;
    let start = room.at();
    // SAFETY: as many bytes at `start` as there is room are reserved for this record. The writer checks each
    // store against the end, which leaves a tail.
    unsafe {
        let mut writer = Writer::whole(start.add(HEADER), start.add(room.room() - TAIL), true, false);
        arguments.write(&mut writer);
        if writer.has_overrun() {
            return Err(room.keep());
        }
        writer.position().cast::<u64>().write_unaligned(0);
        let end = (writer.position() as usize - start as usize).next_multiple_of(8);
        let ticks = room.ticks();
        header(start, end, if writer.was_cut() { TRUNCATED } else { 0 }, id, ticks);
        room.commit_ahead(end);
        Ok(Made { id, ticks })
    }
}

/// Writes a record for which there is room, and publishes it. `small`: it is at most [`SMALL`] bytes.
#[inline(always)]
fn write<A: Args>(room: Reservation, total: usize, id: u32, arguments: &A, small: bool) -> Made {
    let ticks = room.ticks();
    let start = room.at();
    // SAFETY: `total` bytes at `start` are reserved for this record; every store lies within them.
    unsafe {
        if const { !matches!(A::FIXED, Some(n) if n % 8 == 0) } {
            // The tail is zero beyond the arguments. (Of a record without any bytes of arguments these are
            // the ticks, stored below.)
            start.add(total - 8).cast::<u64>().write_unaligned(0);
        }
        if const { A::EXACT.is_so() } {
            // First, so that the ticks are out of the way of the arguments; the record is not read before it
            // is committed.
            header(start, total, 0, id, ticks);
        }
        let mut writer =
            Writer::whole(start.add(HEADER), start.add(total), const { !A::EXACT.is_so() }, small);
        arguments.write(&mut writer);
        if writer.has_overrun() {
            room.lose(Cause::Other);
            return Made::LOST;
        }
        if const { A::EXACT.is_so() } {
            room.commit(total);
        } else {
            let end = end_of(&writer, start, total);
            header(start, end, if writer.was_cut() { TRUNCATED } else { 0 }, id, ticks);
            room.commit(end);
        }
    }
    Made { id, ticks }
}

/// Where the record ends: before the end of its room when a value turned out to be smaller than its size. Zeros up to there.
///
/// # Safety
/// `total` bytes at `start` belong to the record, and the writer writes there.
#[inline(always)]
unsafe fn end_of(writer: &Writer<'_>, start: *mut u8, total: usize) -> usize {
    let used = writer.position() as usize - start as usize;
    let end = used.next_multiple_of(8);
    if end != total {
        // SAFETY: `end < total`, since the writer does not write beyond its room.
        unsafe { std::ptr::write_bytes(start.add(used), 0, end - used) };
    }
    end
}

/// A record that no ring can have whole.
fn cut<A: Args>(room: Reservation, id: u32, arguments: &A) -> Made {
    let ticks = room.ticks();
    let (start, total) = (room.at(), room.room());
    let Some(slack) = total.checked_sub(HEADER + arguments.least()) else {
        room.lose(Cause::TooLarge);
        return Made::LOST;
    };
    // SAFETY: `total` bytes at `start` are reserved for this record; every store lies within them.
    unsafe {
        let mut writer = Writer::cutting(start.add(HEADER), start.add(total), slack);
        arguments.write(&mut writer);
        if writer.has_overrun() {
            room.lose(Cause::TooLarge);
            return Made::LOST;
        }
        let used = writer.position() as usize - start as usize;
        let end = used.next_multiple_of(8);
        std::ptr::write_bytes(start.add(used), 0, end - used);
        header(start, end, if writer.was_cut() { TRUNCATED } else { 0 }, id, ticks);
        room.commit(end);
    }
    Made { id, ticks }
}
