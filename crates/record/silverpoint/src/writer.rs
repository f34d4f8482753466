//! Where values write themselves: straight into the ring.
//!
//! A record's size is known before its room is reserved. Still every store is checked against the room. Where
//! sizes are constants, so is the check, and the compiler removes it; where they are not, it is a comparison
//! beside a copy. So a wrong [`Trace::size`](crate::Trace::size) costs its record, never memory.

mod formatted;

use std::marker::PhantomData;
use std::ptr;

use silverpoint_wire::layout::signature::{CUT, ZERO_SIZED_MAX};

use crate::copy::{COPY_MAX, copy};
use crate::item::{self, Fill, Written};
use crate::scratch::Scratch;
use crate::seldom::seldom;

pub(crate) use formatted::{Long, formatted_len};

/// Bytes of a length and of the number of what is missing.
const CUT_HEADER: usize = 8;
/// Whether values were checked one by one, before some were checked together.
pub(crate) struct Checked(bool);

/// The room of one record's arguments.
pub struct Writer<'a> {
    at: *mut u8,
    end: *mut u8,
    /// When cutting: what is left to share among values that can be cut, beyond the least that all values need.
    slack: usize,
    cutting: bool,
    /// Whether stores are checked against the room: not when the sizes are known to be right.
    checked: bool,
    /// Whether the whole record is small, at most [`COPY_MAX`] bytes of arguments: then copies make no call, and everything stays in registers.
    small: bool,
    cut: bool,
    overrun: bool,
    /// What the room is of, where it may become larger; null: it is all that there is.
    scratch: *mut Scratch,
    room: PhantomData<&'a mut [u8]>,
}

impl<'a> Writer<'a> {
    /// Room in which every value fits whole.
    ///
    /// # Safety
    /// `at .. end` may be written for `'a`, and nothing else uses it meanwhile. When not `checked`, what is written is known to fit;
    /// `small` are those of at most [`COPY_MAX`] bytes.
    #[inline(always)]
    pub(crate) unsafe fn whole(at: *mut u8, end: *mut u8, checked: bool, small: bool) -> Self {
        Self {
            at,
            end,
            slack: 0,
            cutting: false,
            checked,
            small,
            cut: false,
            overrun: false,
            scratch: ptr::null_mut(),
            room: PhantomData,
        }
    }

    /// Room for less than the values are: beyond their least sizes there are `slack` bytes.
    ///
    /// # Safety
    /// As for `whole`.
    pub(crate) unsafe fn cutting(at: *mut u8, end: *mut u8, slack: usize) -> Self {
        Self {
            at,
            end,
            slack,
            cutting: true,
            checked: true,
            small: false,
            cut: false,
            overrun: false,
            scratch: ptr::null_mut(),
            room: PhantomData,
        }
    }

    /// Room that becomes larger when it is used up, to what a record can have: from then on values are cut.
    ///
    /// # Safety
    /// As for `whole`, where `at .. end` are the scratch's.
    #[inline(always)]
    unsafe fn capturing(at: *mut u8, end: *mut u8, scratch: *mut Scratch) -> Self {
        Self {
            at,
            end,
            slack: 0,
            cutting: false,
            checked: true,
            small: false,
            cut: false,
            overrun: false,
            scratch,
            room: PhantomData,
        }
    }

    /// Room of a scratch, for arguments that need `least` bytes when everything is cut.
    #[inline(always)]
    pub(crate) fn into_scratch(scratch: &'a mut Scratch, least: usize) -> Self {
        scratch.set_least(least);
        // SAFETY: the memory is the scratch's, which is lent for as long as the writer lives.
        unsafe { Self::capturing(scratch.start(), scratch.end(), scratch) }
    }

    /// Says that there are fewer than `bytes` left: true when there are more now.
    #[inline(always)]
    fn finds_room(&mut self, bytes: usize) -> bool {
        seldom();
        // (Known where the code is compiled: so a writer whose room is fixed stays in registers.)
        if self.scratch.is_null() {
            self.overrun = true;
            return false;
        }
        *self = Self { ..*self }.widened(bytes);
        self.left() >= bytes
    }

    #[cold]
    #[inline(never)]
    fn widened(mut self, bytes: usize) -> Self {
        self.widen();
        self.overrun |= self.left() < bytes;
        self
    }

    /// Goes on in the pages of the scratch.
    fn widen(&mut self) {
        // SAFETY: the scratch outlives its writer, and nobody else uses it meanwhile.
        if let Some(scratch) = unsafe { self.scratch.as_mut() }.filter(|_| !self.cutting) {
            let used = self.at as usize - scratch.start() as usize;
            scratch.widen(used);
            self.follow(used);
        }
    }

    /// The scratch has other memory than before, or there is none: `used` bytes of it are written.
    fn follow(&mut self, used: usize) {
        // SAFETY: as in `widen`; so many bytes lie behind its start.
        if let Some(scratch) = unsafe { self.scratch.as_mut() } {
            self.at = scratch.start().wrapping_add(used);
            self.end = scratch.end();
            if !self.cutting {
                self.cutting = true;
                self.slack = scratch.slack(used);
            }
        }
    }

    /// Whether a value of this many bytes may have to be cut. It is so in the pages of a scratch, where the
    /// record continues now if it does not fit otherwise.
    #[inline(always)]
    fn may_cut(&mut self, bytes: usize) -> bool {
        if !self.scratch.is_null() && !self.cutting && self.left() < bytes {
            seldom();
            *self = Self { ..*self }.widened(0);
        }
        self.cutting
    }

    /// Bytes that were written; of a scratch's writer only.
    #[inline(always)]
    pub(crate) fn used(&self) -> usize {
        // SAFETY: as in `widened`.
        unsafe { self.scratch.as_mut() }.map_or(0, |scratch| self.at as usize - scratch.start() as usize)
    }

    /// Where the next byte goes.
    #[inline(always)]
    pub(crate) fn position(&self) -> *mut u8 {
        self.at
    }

    /// Whether a value was cut.
    #[inline(always)]
    pub(crate) fn was_cut(&self) -> bool {
        self.cut
    }

    /// Whether values did not keep to their sizes: then the record is nothing.
    #[inline(always)]
    pub(crate) fn has_overrun(&self) -> bool {
        self.overrun
    }

    #[inline(always)]
    fn left(&self) -> usize {
        self.end as usize - self.at as usize
    }

    /// Checks once whether there is room for several values, and makes it where it can be made. They are not checked one by one then, until
    /// [`apart`](Self::apart) is called with the result. Without room it gives nothing, and they must not be
    /// written. (No closure: it might not be inlined, and then the writer would not stay in registers.)
    ///
    /// # Safety
    /// What is written until then takes at most `bytes` when nothing has to be cut.
    #[inline(always)]
    pub(crate) unsafe fn together(&mut self, bytes: usize) -> Option<Checked> {
        if self.checked && !self.cutting && self.left() < bytes && !self.finds_room(bytes) {
            return None;
        }
        let before = Checked(self.checked);
        self.checked &= self.cutting;
        Some(before)
    }

    /// Each value is looked at again, if it was before.
    #[inline(always)]
    pub(crate) fn apart(&mut self, before: Checked) {
        self.checked = before.0;
    }

    /// Bytes of a number in little-endian order.
    #[inline(always)]
    pub fn bytes<const N: usize>(&mut self, bytes: [u8; N]) {
        if self.checked && self.left() < N && !self.finds_room(N) {
            return;
        }
        // SAFETY: there are N bytes between `at` and `end`, as was checked or is known.
        unsafe {
            self.at.cast::<[u8; N]>().write_unaligned(bytes);
            self.at = self.at.add(N);
        }
    }

    /// Bytes as they are, without a length.
    #[inline(always)]
    pub fn raw(&mut self, bytes: &[u8]) {
        if self.checked && self.left() < bytes.len() && !self.finds_room(bytes.len()) {
            return;
        }
        // SAFETY: there are as many bytes between `at` and `end`, as was checked or is known, and they are not the caller's.
        unsafe {
            if self.small || bytes.len() <= COPY_MAX {
                copy(bytes.as_ptr(), self.at, bytes.len());
            } else {
                ptr::copy_nonoverlapping(bytes.as_ptr(), self.at, bytes.len());
            }
            self.at = self.at.add(bytes.len());
        }
    }

    /// A length or a count.
    #[inline(always)]
    pub fn length(&mut self, length: usize) {
        self.bytes((length as u32).to_le_bytes());
    }

    /// A text with its length: UTF-8, or what a system calls text.
    #[inline(always)]
    pub fn text(&mut self, text: &[u8]) {
        if self.may_cut(4 + text.len()) {
            *self = Self { ..*self }.text_cut(text);
            return;
        }
        // SAFETY: a length and the text, and a text is never so long that the sum overflows.
        if let Some(before) = unsafe { self.together(4 + text.len()) } {
            self.length(text.len());
            self.raw(text);
            self.apart(before);
        }
    }

    // Functions that are not inlined take and give the writer as a value. If its address were passed on, the
    // writer would live in memory on the hot path too.

    #[cold]
    #[inline(never)]
    fn text_cut(mut self, text: &[u8]) -> Self {
        self.note_text();
        let kept = self.keep(text.len(), 1);
        // Not within a character, as far as there are characters.
        let mut end = kept;
        while kept < text.len() && end > 0 && kept - end < 4 && text[end] & 0xC0 == 0x80 {
            end -= 1;
        }
        let end = if kept < text.len() && text[end] & 0xC0 == 0x80 { kept } else { end };
        self.slack += kept - end;
        self.lengths(end, text.len());
        self.raw(&text[..end]);
        self
    }

    /// The length of a sequence of elements that have `element` bytes each. Gives how many of them are to be written.
    #[inline(always)]
    pub fn sequence(&mut self, count: usize, element: usize) -> usize {
        if self.may_cut(count.saturating_mul(element).saturating_add(4)) || element == 0 {
            let kept;
            (*self, kept) = Self { ..*self }.sequence_cut(count, element);
            return kept;
        }
        self.length(count);
        count
    }

    #[cold]
    #[inline(never)]
    fn sequence_cut(mut self, count: usize, element: usize) -> (Self, usize) {
        let kept = self.keep(count, element);
        self.lengths(kept, count);
        (self, kept)
    }

    /// How many of `count` units can be kept; takes them from the slack.
    fn keep(&mut self, count: usize, unit: usize) -> usize {
        if unit == 0 {
            return count.min(ZERO_SIZED_MAX);
        }
        let whole = count.saturating_mul(unit).saturating_add(4);
        let extra = whole.saturating_sub(CUT_HEADER.min(whole));
        if !self.cutting || extra <= self.slack {
            self.slack = self.slack.saturating_sub(extra);
            return count;
        }
        let kept = (self.slack / unit).min(count);
        self.slack -= kept * unit;
        kept
    }

    fn lengths(&mut self, kept: usize, count: usize) {
        if kept == count {
            return self.length(count);
        }
        self.cut = true;
        self.bytes((kept as u32 | CUT).to_le_bytes());
        self.bytes(u32::try_from(count - kept).unwrap_or(u32::MAX).to_le_bytes());
    }

    /// One CBOR item with its length: less of the value where there is no room for all of it.
    pub(crate) fn item(&mut self, fill: Fill<'_>) {
        *self = Self { ..*self }.with_item(fill);
    }

    #[inline(never)]
    fn with_item(mut self, fill: Fill<'_>) -> Self {
        if self.left() < item::LEAST && !self.finds_room(item::LEAST) {
            return self;
        }
        let used = self.used();
        // SAFETY: as in `widen`.
        let most = match unsafe { self.scratch.as_mut() } {
            Some(scratch) if !self.cutting => item::LEAST + scratch.slack(used),
            _ if self.cutting => item::LEAST + self.slack,
            _ => self.left(),
        };
        let room = (most - 4).min(item::MOST);
        let end = self.end;
        // SAFETY: so many bytes as are left lie between `at` and `end`; of a scratch's the item follows when there are more.
        let written = unsafe {
            let near = self.left() - 4;
            item::write(self.at.add(4), room, near, self.scratch, fill)
        };
        // SAFETY: as in `widen`.
        if unsafe { self.scratch.as_mut() }.is_some_and(|scratch| scratch.end() != end) {
            self.follow(used);
        }
        match written {
            Some(Written { len, whole }) => {
                self.length(len);
                // SAFETY: `len <= room` bytes were written there.
                self.at = unsafe { self.at.add(len) };
                self.cut |= !whole;
                if self.cutting {
                    self.slack -= (4 + len).saturating_sub(item::LEAST).min(self.slack);
                }
            }
            None => self.overrun = true,
        }
        self
    }

    /// A text that begins here may be cut afterwards.
    #[inline(always)]
    fn note_text(&mut self) {
        // SAFETY: as in `widened`.
        if let Some(scratch) = unsafe { self.scratch.as_mut() } {
            let start = scratch.start() as usize;
            scratch.note_text(self.at as usize - start);
        }
    }

    /// A text of an argument of a dynamic record: as [`Writer::text`], where most are not cut.
    #[inline(always)]
    pub(crate) fn text_once(&mut self, text: &[u8], is_text: bool) {
        // (As long as it fits its length is less than what is left, which is no more than memory.)
        if self.cutting || 4 + text.len() > self.left() {
            seldom();
            return if is_text { self.text(text) } else { self.bytes_cut(text) };
        }
        self.checked = false;
        self.length(text.len());
        self.raw(text);
        self.checked = true;
    }

    #[cold]
    #[inline(never)]
    fn bytes_cut(&mut self, bytes: &[u8]) {
        let kept = self.sequence(bytes.len(), 1);
        self.raw(&bytes[..kept]);
    }
}
