//! Records of a few words, written without a writer: ends of spans, and arguments of 64 bits each.

use crate::platform::owner::{self, Cause, Here, Owned, Reservation};
use silverpoint_wire::layout::record::SPAN_END;

use crate::header::{HEADER, header};

/// Records the end of a span; gives the ticks of the end, 0 when it was lost.
pub(crate) fn span_end(level: u8, id: u32, begun: u64) -> u64 {
    span_end_at_once(Here::find(), id, begun).unwrap_or_else(|owned| span_end_later(owned, level, id, begun))
}

/// Bytes of the end of a span. A ring's limit is never less.
const SPAN_END_BYTES: usize = 32;

/// The same, where that takes a few instructions: otherwise [`span_end_later`] goes on with what this gives.
#[inline(always)]
pub(crate) fn span_end_at_once(here: Here, id: u32, begun: u64) -> Result<u64, Owned> {
    Ok(write_span_end(here.reserve(SPAN_END_BYTES)?, id, begun))
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
pub(crate) fn words_at_once<const N: usize>(here: Here, id: u32, words: [u64; N]) -> Result<u64, Owned> {
    let total = const {
        assert!(HEADER + 8 * N <= owner::ALWAYS_FITS, "such a record has its room in every ring");
        HEADER + 8 * N
    };
    let room = here.reserve(total)?;
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
