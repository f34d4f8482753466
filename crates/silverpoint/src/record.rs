//! Recording: sizes, room, bytes, publication.

use std::marker::PhantomData;

use silverpoint_shm::owner::{self, Cause, Owned, Reservation};

use crate::args::{Args, Borrower};
use crate::probed::Probed;
use crate::scratch::{Scratch, Unfinished};
use crate::site::{Meta, Site};
use crate::writer::{COPY_MAX, Writer, seldom};

/// Bytes before the arguments.
pub(crate) const HEADER: usize = 16;
/// Flag of a record in which a value was cut.
pub(crate) const TRUNCATED: u32 = 1 << 24;
/// Site id of the control record that ends a span.
const SPAN_END: u32 = 3;

/// Up to this size a record of varying size is written in place, without a call.
const SMALL: usize = HEADER + COPY_MAX;

/// Records one execution of a site that is on. `state`: of the question whether it is.
#[inline(always)]
pub fn record<M: Meta, L: AtLevel, A: Args>(site: &'static Site, state: u8, arguments: &A) {
    #[cfg(feature = "usdt")]
    if crate::site::is_attached(state) {
        let _ = arguments.lend(crate::usdt::Hit::<M, L>(site, PhantomData));
        return;
    }
    #[cfg(not(feature = "usdt"))]
    let _ = state;
    let _ = timed::<M, L, A>(site, arguments);
}

/// What became of a record. (Two words, which are returned in registers; an option of them would be stored.)
#[derive(Clone, Copy)]
pub(crate) struct Made {
    /// Of its site.
    pub(crate) id: u32,
    /// When; 0 when the record was lost.
    pub(crate) ticks: u64,
}

impl Made {
    pub(crate) const LOST: Self = Self { id: 0, ticks: 0 };
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
            Err(id) => return arguments.lend(Probed::<L>(id, M::KIND.is_span(), PhantomData)),
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
    let mut writer = scratch.writer(arguments.least());
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

/// # Safety
/// 16 bytes at `start` may be written.
#[inline(always)]
pub(crate) unsafe fn header(start: *mut u8, size: usize, flags: u32, id: u32, ticks: u64) {
    let head = u64::from(size as u32 | flags) | u64::from(id) << 32;
    // SAFETY: by the caller.
    unsafe {
        start.cast::<u64>().write_unaligned(head.to_le());
        start.add(8).cast::<u64>().write_unaligned(ticks.to_le());
    }
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

/// Records the end of a span; gives the ticks of the end, 0 when it was lost.
pub(crate) fn span_end(level: u8, id: u32, begun: u64) -> u64 {
    span_end_at_once(id, begun).unwrap_or_else(|owned| span_end_later(owned, level, id, begun))
}

/// Bytes of the end of a span. A ring's limit is never less.
const SPAN_END_BYTES: usize = 32;

/// The same, where that takes a few instructions: otherwise [`span_end_later`] goes on with what this gives.
#[inline(always)]
pub(crate) fn span_end_at_once(id: u32, begun: u64) -> Result<u64, Owned> {
    Ok(write_span_end(owner::reserve(SPAN_END_BYTES)?, id, begun))
}

#[cold]
#[inline(never)]
pub(crate) fn span_end_later(owned: Owned, level: u8, id: u32, begun: u64) -> u64 {
    let room = owner::reserve_slowly(SPAN_END_BYTES, level, owned);
    room.map_or(0, |room| write_span_end(room, id, begun))
}

#[inline(always)]
fn write_span_end(room: Reservation, id: u32, begun: u64) -> u64 {
    let (start, now) = (room.at(), room.ticks());
    // SAFETY: so many bytes at `start` are reserved.
    unsafe {
        start.add(SPAN_END_BYTES - 8).cast::<u64>().write_unaligned(0);
        start.add(HEADER).cast::<u32>().write_unaligned(id.to_le());
        start.add(HEADER + 4).cast::<u64>().write_unaligned(begun.to_le());
        header(start, SPAN_END_BYTES, 0, SPAN_END, now);
        room.commit(SPAN_END_BYTES);
    }
    now
}

/// Records arguments of 64 bits each, where that takes a few instructions; gives the ticks of the record. Otherwise [`words_later`] goes on with what this gives.
#[inline(always)]
pub(crate) fn words_at_once<const N: usize>(id: u32, words: [u64; N]) -> Result<u64, Owned> {
    let total = const {
        assert!(HEADER + 8 * N <= owner::ALWAYS_FITS, "such a record has its room in every ring");
        HEADER + 8 * N
    };
    let room = owner::reserve(total)?;
    let (start, ticks) = (room.at(), room.ticks());
    // SAFETY: `total` bytes at `start` are reserved for this record, and so many are written.
    unsafe {
        header(start, total, 0, id, ticks);
        put_words(start, &words);
        room.commit(total);
    }
    Ok(ticks)
}

/// Arguments of [`few_words_at_once`], at most.
pub(crate) const FEW: usize = 6;

/// As [`words_at_once`], of the first `count` words. All of them are written, without a look at their number; what is behind the record is free, and is written over by the next.
#[inline(always)]
pub(crate) fn few_words_at_once(id: u32, words: &[u64; FEW], count: usize) -> Result<u64, Owned> {
    let room = owner::reserve(HEADER + 8 * FEW)?;
    let (start, ticks, total) = (room.at(), room.ticks(), HEADER + 8 * count.min(FEW));
    // SAFETY: room for `FEW` words behind a header is reserved at `start`, and the record has no more than those.
    unsafe {
        header(start, total, 0, id, ticks);
        put_words(start, words);
        room.commit(total);
    }
    Ok(ticks)
}

/// Gives the ticks of the record, 0 when it was lost. Such a record, of at most [`FEW`] words or as many as [`words_at_once`] takes, has its room in every ring.
#[cold]
#[inline(never)]
pub(crate) fn words_later(owned: Owned, level: u8, id: u32, words: &[u64]) -> u64 {
    let total = HEADER + 8 * words.len();
    let Some(room) = owner::reserve_slowly(total, level, owned) else { return 0 };
    if room.room() < total {
        room.lose(Cause::TooLarge);
        return 0;
    }
    let (start, ticks) = (room.at(), room.ticks());
    // SAFETY: `total` bytes at `start` are reserved for this record, and so many are written.
    unsafe {
        header(start, total, 0, id, ticks);
        put_words(start, words);
        room.commit(total);
    }
    ticks
}

/// # Safety
/// A header and the words may be written at `start`.
#[inline(always)]
unsafe fn put_words(start: *mut u8, words: &[u64]) {
    for (number, word) in words.iter().enumerate() {
        // SAFETY: by the caller.
        unsafe { start.add(HEADER + 8 * number).cast::<u64>().write_unaligned(word.to_le()) };
    }
}

/// A level as a type, so that it is a constant where a record is made.
pub trait AtLevel {
    /// 0 trace to 5 fatal.
    const LEVEL: u8;
    /// Whether tracepoints of this level are compiled in.
    const COMPILED: bool;
}

/// The least level that is compiled in; 6: none.
const LEAST: u8 = if cfg!(feature = "max_level_off") {
    6
} else if cfg!(feature = "max_level_fatal") {
    5
} else if cfg!(feature = "max_level_error") {
    4
} else if cfg!(feature = "max_level_warn") {
    3
} else if cfg!(feature = "max_level_info") {
    2
} else if cfg!(feature = "max_level_debug") {
    1
} else {
    0
};

macro_rules! levels {
    ($($name:ident $number:literal;)*) => {$(
        /// The level of this name.
        pub enum $name {}
        impl AtLevel for $name {
            const LEVEL: u8 = $number;
            #[allow(clippy::absurd_extreme_comparisons, unused_comparisons)]
            const COMPILED: bool = $number >= LEAST;
        }
    )*};
}

/// The levels as types.
pub mod level {
    use super::{AtLevel, LEAST};

    levels! {
        Trace 0;
        Debug 1;
        Info 2;
        Warn 3;
        Error 4;
        Fatal 5;
    }
}
