//! Texts that are formatted straight into the ring or into a scratch.

use std::{fmt, ptr};

use silverpoint_wire::bytes::floor_char_boundary;

use super::{CUT_HEADER, Writer};
use crate::copy::{COPY_MAX, copy, copy_any};
use crate::scratch::Scratch;
use crate::seldom::seldom;

/// Texts of fewer bytes are not worth a cut afterwards.
const SHORT_TEXT: usize = 64;

impl<'a> Writer<'a> {
    /// A text that is formatted into its place, once. What does not fit is cut.
    #[inline(always)]
    pub(crate) fn formatted(&mut self, text: fmt::Arguments<'_>) {
        if self.left() < CUT_HEADER && !self.finds_room(CUT_HEADER) {
            return;
        }
        // The text goes behind its length, and leaves four bytes for the count of what is missing: so many lie between `at` and `end`.
        let begin = self.at.wrapping_add(4);
        let (mut left, mut whole) = (self.left() - CUT_HEADER, usize::MAX);
        if self.cutting {
            seldom();
            whole = self.slack.saturating_add(CUT_HEADER - 4);
            left = left.min(whole);
        }
        let end = begin.wrapping_add(left);
        let mut sink = Bounded { at: begin, end, begin, missing: 0, whole, scratch: self.scratch };
        // An error of a Display implementation ends the text where it is.
        let _ = fmt::Write::write_fmt(&mut sink, text);
        let written = (sink.at as usize).wrapping_sub(begin as usize);
        if written >= SHORT_TEXT || sink.whole != usize::MAX {
            seldom();
            return self.formatted_otherwise(&sink, begin);
        }
        // SAFETY: the length's four bytes lie before the text.
        unsafe { self.at.cast::<u32>().write_unaligned((written as u32).to_le()) };
        self.at = sink.at;
    }

    /// A writer behind a text that is all there is: what [`Long`] took.
    pub(crate) fn behind(scratch: &'a mut Scratch, least: usize, text: &Long) -> Self {
        let mut writer = Self::into_scratch(scratch, least);
        let begin = writer.at.wrapping_add(4);
        let (at, end) = (begin.wrapping_add(text.written), begin.wrapping_add(text.room));
        let Long { missing, whole, is_moved, .. } = *text;
        let sink = Bounded { at, end, begin, missing, whole, scratch: writer.scratch };
        writer.formatted_otherwise(&sink, if is_moved { ptr::null_mut() } else { begin });
        writer
    }

    /// A text that is long, was cut, or lies in other memory now.
    #[inline(never)]
    fn formatted_otherwise(&mut self, sink: &Bounded, begin: *mut u8) {
        let mut written = sink.at as usize - sink.begin as usize;
        let total = written + sink.missing;
        if sink.begin != begin {
            // SAFETY: as in `widen`.
            let start = unsafe { self.scratch.as_mut() }.map_or(sink.begin, Scratch::start);
            self.follow((sink.begin as usize - start as usize).saturating_sub(4));
        }
        self.note_text();
        if written < total {
            written = self.cut_formatted(written);
        }
        if self.cutting {
            let header = if written < total { CUT_HEADER } else { 4 };
            self.slack -= (header + written).saturating_sub(CUT_HEADER).min(self.slack);
        }
        self.lengths(written, total);
        // SAFETY: the text has been written there.
        self.at = unsafe { self.at.add(written) };
    }

    /// For a text that was written at the place after a length. This many bytes of it are kept, and moved to
    /// the place after the longer one.
    #[cold]
    #[inline(never)]
    fn cut_formatted(&mut self, written: usize) -> usize {
        // SAFETY: `written` bytes lie there, and four more may be written.
        unsafe {
            let text = self.at.add(4);
            let mut kept = if self.cutting { written.min(self.slack) } else { written };
            while kept > 0 && kept < written && text.add(kept).read() & 0xC0 == 0x80 {
                kept -= 1;
            }
            ptr::copy(text, self.at.add(CUT_HEADER), kept);
            kept
        }
    }
}

/// A text behind its length at the start of a scratch, which takes pieces of it. (Without an address: the scratch may be moved between two of them.)
pub(crate) struct Long {
    written: usize,
    /// As [`Bounded`] has them.
    room: usize,
    missing: usize,
    whole: usize,
    /// It has gone on in the pages of the scratch.
    is_moved: bool,
}

impl Long {
    /// Nothing yet, in a new scratch.
    pub(crate) const fn new() -> Self {
        Self { written: 0, room: Scratch::ROOM - CUT_HEADER, missing: 0, whole: usize::MAX, is_moved: false }
    }

    /// Takes a piece.
    pub(crate) fn put(&mut self, scratch: &mut Scratch, text: &str) {
        let scratch = ptr::from_mut(scratch);
        // SAFETY: it is borrowed, and the sink that has its address is used here alone.
        let begin = unsafe { (*scratch).start() }.wrapping_add(4);
        let (at, end) = (begin.wrapping_add(self.written), begin.wrapping_add(self.room));
        let Self { missing, whole, .. } = *self;
        let mut sink = Bounded { at, end, begin, missing, whole, scratch };
        let _ = fmt::Write::write_str(&mut sink, text);
        self.written = sink.at as usize - sink.begin as usize;
        self.room = sink.end as usize - sink.begin as usize;
        (self.missing, self.whole) = (sink.missing, sink.whole);
        self.is_moved |= sink.begin != begin;
    }
}

/// Takes what fits, counts the rest.
struct Bounded {
    at: *mut u8,
    end: *mut u8,
    begin: *mut u8,
    missing: usize,
    /// Bytes of a text that is not cut, at most. As many as there may be, as long as nothing was cut and the memory is what it was.
    whole: usize,
    scratch: *mut Scratch,
}

impl fmt::Write for Bounded {
    // A cut text gives no error: not every Display implementation can handle one.
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if text.len() > COPY_MAX || text.len() > self.end as usize - self.at as usize {
            seldom();
            return self.write_long(text);
        }
        // SAFETY: so many bytes from `at` belong to the record.
        unsafe {
            copy(text.as_ptr(), self.at, text.len());
            self.at = self.at.add(text.len());
        }
        Ok(())
    }
}

impl Bounded {
    /// # Safety
    /// There is room for them.
    #[inline(always)]
    unsafe fn put(&mut self, bytes: &[u8]) {
        // SAFETY: by the caller.
        unsafe {
            copy_any(bytes.as_ptr(), self.at, bytes.len());
            self.at = self.at.add(bytes.len());
        }
    }

    /// A piece for which there is no room, or that is copied by a call. (Apart: so others save no registers.)
    #[inline(never)]
    fn write_long(&mut self, text: &str) -> fmt::Result {
        if text.len() > self.end as usize - self.at as usize {
            self.write_otherwise(text);
        } else {
            // SAFETY: there is room.
            unsafe { self.put(text.as_bytes()) };
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn write_otherwise(&mut self, text: &str) {
        if self.missing == 0 {
            self.find_room();
        }
        let kept = floor_char_boundary(text, self.end as usize - self.at as usize);
        // SAFETY: that is no more than there is room.
        unsafe { self.put(&text.as_bytes()[..kept]) };
        self.missing += text.len() - kept;
        if kept < text.len() {
            // Nothing after the cut.
            (self.end, self.whole) = (self.at, 0);
        }
    }

    /// Goes on in the pages of the scratch.
    fn find_room(&mut self) {
        let written = self.at as usize - self.begin as usize;
        // SAFETY: the scratch outlives its writer, and nobody else uses it meanwhile.
        let Some(scratch) = (unsafe { self.scratch.as_mut() }) else { return };
        let begin = self.begin as usize - scratch.start() as usize;
        if self.whole == usize::MAX && scratch.widen(begin + written) {
            self.whole = scratch.slack(begin.saturating_sub(4)).saturating_add(CUT_HEADER - 4);
            self.begin = scratch.start().wrapping_add(begin);
            self.at = self.begin.wrapping_add(written);
            let room = (scratch.end() as usize - self.at as usize).saturating_sub(CUT_HEADER - 4);
            self.end = self.at.wrapping_add(room.min(self.whole.saturating_sub(written)));
        }
    }
}

/// Bytes of a value's text.
pub(crate) fn formatted_len(text: fmt::Arguments<'_>) -> usize {
    struct Count(usize);
    impl fmt::Write for Count {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 += text.len();
            Ok(())
        }
    }
    let mut count = Count(0);
    let _ = fmt::Write::write_fmt(&mut count, text);
    count.0
}
