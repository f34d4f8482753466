//! Builds records whose values may be written only once. It does so beside the ring, so that no lane is held
//! while code of the program runs.
//!
//! ```text
//!  values ─▶ Scratch: memory of the stack, then pages ─▶ length known ─▶ room in the ring ─▶ one copy
//! ```
//!
//! That code may panic, unwind, fork, record something itself, or never return. In all cases no ring is
//! touched: the record is whole afterwards, or is counted as lost.

use std::mem::MaybeUninit;

use crate::platform::owner::{self, Cause, Pages, Reservation};
use silverpoint_wire::layout::signature::CUT;

use crate::copy::copy_any;
use crate::header::{HEADER, Made, TRUNCATED, header};
use crate::seldom::seldom;

/// Bytes that need no pages.
const NEAR: usize = 512;
/// Bytes before the arguments, for one that is known only when they are written.
const BEFORE: usize = 8;
/// Bytes of a text's length.
const LENGTH: usize = 4;
/// Texts that can be cut afterwards.
const TEXTS: usize = 8;
/// Texts of fewer bytes are not worth a cut.
const WORTH: usize = 64;

/// Memory for the arguments of one record, [`BEFORE`] bytes behind its begin. Not to be moved while it is written to.
pub(crate) struct Scratch {
    /// Bytes that they need when everything is cut.
    least: usize,
    pages: Option<Pages>,
    /// Where texts begin that may be cut, from `start`.
    texts: [MaybeUninit<u32>; TEXTS],
    texts_len: usize,
    near: [MaybeUninit<u64>; NEAR / 8],
}

/// Bytes that a record's arguments may have.
fn most() -> usize {
    owner::largest_record() - HEADER
}

impl Scratch {
    /// Bytes for arguments in a new one.
    pub(crate) const ROOM: usize = NEAR - BEFORE;

    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self {
            least: 0,
            pages: None,
            texts: [const { MaybeUninit::uninit() }; TEXTS],
            texts_len: 0,
            near: [const { MaybeUninit::uninit() }; NEAR / 8],
        }
    }

    /// The arguments need `least` bytes when everything is cut.
    #[inline(always)]
    pub(crate) fn set_least(&mut self, least: usize) {
        self.least = least;
    }

    /// What is left, behind `used` bytes, to share among values that can be cut.
    pub(crate) fn slack(&self, used: usize) -> usize {
        most().saturating_sub(used + self.least)
    }

    /// Where the arguments begin.
    #[inline(always)]
    pub(crate) fn start(&mut self) -> *mut u8 {
        match &self.pages {
            None => self.near.as_mut_ptr().cast::<u8>().wrapping_add(BEFORE),
            Some(pages) => {
                seldom();
                pages.address().wrapping_add(BEFORE)
            }
        }
    }

    #[inline(always)]
    pub(crate) fn end(&mut self) -> *mut u8 {
        match &self.pages {
            None => self.near.as_mut_ptr().cast::<u8>().wrapping_add(NEAR),
            Some(pages) => pages.address().wrapping_add(BEFORE + most()),
        }
    }

    /// As much memory as a record can have, with the first `used` bytes as they are. False: there is none, or it was given already.
    #[cold]
    #[inline(never)]
    pub(crate) fn widen(&mut self, used: usize) -> bool {
        if self.pages.is_some() {
            return false;
        }
        let Some(pages) = Pages::new(BEFORE + most()) else { return false };
        // SAFETY: `used` bytes were written at the start, and both are larger than that.
        unsafe { std::ptr::copy_nonoverlapping(self.start(), pages.address().add(BEFORE), used) };
        self.pages = Some(pages);
        true
    }

    /// A text begins `at` bytes behind the start.
    #[inline(always)]
    pub(crate) fn note_text(&mut self, at: usize) {
        if let Some(place) = self.texts.get_mut(self.texts_len) {
            place.write(at as u32);
            self.texts_len += 1;
        }
    }

    /// The first `len` bytes of the arguments.
    ///
    /// # Safety
    /// So many were written.
    pub(crate) unsafe fn bytes(&mut self, len: usize) -> &[u8] {
        // SAFETY: by the caller.
        unsafe { std::slice::from_raw_parts(self.start(), len) }
    }

    /// The same; behind a number, where there is one.
    ///
    /// # Safety
    /// So many were written.
    pub(crate) unsafe fn bytes_behind(&mut self, before: Option<u64>, len: usize) -> &[u8] {
        let Some(number) = before else {
            // SAFETY: by the caller.
            return unsafe { self.bytes(len) };
        };
        // SAFETY: there are `BEFORE` bytes before the start; then by the caller.
        unsafe {
            let from = self.start().sub(BEFORE);
            from.cast::<u64>().write_unaligned(number.to_le());
            std::slice::from_raw_parts(from, BEFORE + len)
        }
    }

    /// Records the first `len` bytes; behind a number, where there is one.
    ///
    /// # Safety
    /// So many were written, and are the arguments of the site.
    #[inline(always)]
    pub(crate) unsafe fn record(
        &mut self,
        level: u8,
        id: u32,
        before: Option<u64>,
        len: usize,
        is_cut: bool,
    ) -> Made {
        let (mut from, mut len) = (self.start(), len);
        if let Some(number) = before {
            // SAFETY: there are `BEFORE` bytes before the start.
            unsafe {
                from = from.sub(BEFORE);
                from.cast::<u64>().write_unaligned(number.to_le());
            }
            len += BEFORE;
        }
        let total = (HEADER + len + 7) & !7;
        let flags = if is_cut { TRUNCATED } else { 0 };
        match owner::reserve(total) {
            // SAFETY: there is room for `total` bytes, and by the caller.
            Ok(room) => unsafe { put(room, total, id, from, len, flags) },
            Err(owned) => match owner::reserve_slowly(total, level, owned) {
                // SAFETY: as above.
                Some(room) if room.room() >= total => unsafe { put(room, total, id, from, len, flags) },
                // SAFETY: by the caller.
                Some(room) => unsafe { self.cut_into(room, id, from, len) },
                None => Made::LOST,
            },
        }
    }

    /// Where no ring can have the record as it is: the longest of its texts are cut, or it is lost.
    ///
    /// # Safety
    /// `len` bytes at `from`, which is the start or [`BEFORE`] it, were written.
    #[cold]
    #[inline(never)]
    unsafe fn cut_into(&mut self, room: Reservation, id: u32, from: *mut u8, len: usize) -> Made {
        let mut left = len;
        let start = self.start();
        let fits = |left: usize| (HEADER + left + 7) & !7 <= room.room();
        // From the last to the first, so that what lies behind moves only once.
        for at in self.texts[..self.texts_len].iter().rev() {
            if fits(left) {
                break;
            }
            // SAFETY: it was written, as one of `texts_len`; a text lies there, within the `left` bytes at `from`.
            left -= unsafe {
                let text = start.add(at.assume_init() as usize);
                let behind = from.add(left) as usize - text as usize;
                shorten(text, behind, HEADER + left + 7 - room.room())
            };
        }
        if !fits(left) {
            room.lose(Cause::TooLarge);
            return Made::LOST;
        }
        let total = (HEADER + left + 7) & !7;
        // SAFETY: there is room for `total` bytes.
        unsafe { put(room, total, id, from, left, TRUNCATED) }
    }
}

/// Takes up to `wanted` bytes off a text, with its length first; gives how many.
///
/// # Safety
/// `whole` bytes at `text` were written, and begin with a text.
unsafe fn shorten(text: *mut u8, whole: usize, wanted: usize) -> usize {
    // SAFETY: by the caller; what is read and moved lies within the text and what is behind it.
    unsafe {
        let word = |at: usize| u32::from_le(text.add(at).cast::<u32>().read_unaligned());
        let len = (word(0) & !CUT) as usize;
        let (begin, missing) = if word(0) & CUT == 0 { (4, 0) } else { (8, word(4)) };
        if len < WORTH {
            return 0;
        }
        let mut kept = len.saturating_sub(wanted + (8 - begin));
        let is_inner = |at: usize| text.add(begin + at).read() & 0xC0 == 0x80;
        while kept > 0 && len.min(kept + 4) > kept && is_inner(kept) {
            kept -= 1;
        }
        let gone = missing.saturating_add((len - kept) as u32);
        std::ptr::copy(text.add(begin), text.add(8), kept);
        text.cast::<u32>().write_unaligned((kept as u32 | CUT).to_le());
        text.add(4).cast::<u32>().write_unaligned(gone.to_le());
        let end = begin + len;
        std::ptr::copy(text.add(end), text.add(8 + kept), whole - end);
        end - (8 + kept)
    }
}

/// # Safety
/// `total` bytes are reserved, which are a multiple of 8 and enough for `len` bytes of arguments at `from` behind a header.
#[inline(always)]
unsafe fn put(room: Reservation, total: usize, id: u32, from: *const u8, len: usize, flags: u32) -> Made {
    let (at, ticks) = (room.at(), room.ticks());
    // SAFETY: by the caller; every store lies within the `total` bytes.
    unsafe {
        // The tail is zero beyond the arguments.
        at.add(total - 8).cast::<u64>().write_unaligned(0);
        let to = at.add(HEADER);
        if len < LENGTH {
            copy_any(from, to, len);
        } else {
            // Apart from what follows, most often a text: what is loaded in the pieces in which it was stored waits for nothing.
            to.cast::<u32>().write_unaligned(from.cast::<u32>().read_unaligned());
            copy_any(from.add(LENGTH), to.add(LENGTH), len - LENGTH);
        }
        header(at, total, flags, id, ticks);
        room.commit(total);
    }
    Made { id, ticks }
}

/// Counts a record as lost when it is dropped: code of the program's has left it by unwinding.
pub(crate) struct Unfinished;

impl Unfinished {
    /// The record is written, or counted otherwise.
    #[inline(always)]
    pub(crate) fn finish(self) {
        std::mem::forget(self);
    }
}

impl Drop for Unfinished {
    #[cold]
    fn drop(&mut self) {
        owner::lose_other();
    }
}
