//! Where values write themselves: straight into the ring.
//!
//! A record's size is known before its room is reserved. Still every store is checked against the room: where sizes are constants, so is the check, and the
//! compiler leaves nothing of it; where they are not, it is a comparison beside a copy. So a wrong [`Trace::size`](crate::Trace::size) costs its record,
//! never memory.

use std::fmt;
use std::marker::PhantomData;
use std::ptr;

use crate::item::{self, Fill, Written};

/// Bit of a length: the value was cut, the number of missing units follows.
const CUT: u32 = 1 << 31;
/// Bytes of a length and of the number of what is missing.
const CUT_HEADER: usize = 8;
/// A text formatted twice may come out longer the second time, by so many bytes without being cut.
pub(crate) const FORMAT_SLACK: usize = 24;
/// Elements of no size that a sequence may have.
const MAX_ZERO_SIZED: usize = 65_536;

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
            room: PhantomData,
        }
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

    /// Looks once whether there is room for several values, which then are not looked at one by one until [`apart`](Self::apart) is called with what this gives;
    /// nothing, and they must not be written, when there is not. (No closure: it would not be sure to be inlined, and the writer not to stay in registers.)
    ///
    /// # Safety
    /// What is written until then takes at most `bytes` when nothing has to be cut.
    #[inline(always)]
    pub(crate) unsafe fn together(&mut self, bytes: usize) -> Option<Checked> {
        if self.checked && !self.cutting && self.left() < bytes {
            self.overrun = true;
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
        if self.checked && self.left() < N {
            self.overrun = true;
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
        if self.checked && self.left() < bytes.len() {
            self.overrun = true;
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
        if self.cutting {
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

    // Functions that are not inlined take and give the writer as a value: were its address given away, it would live in memory on the hot path too.

    #[cold]
    #[inline(never)]
    fn text_cut(mut self, text: &[u8]) -> Self {
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
        if self.cutting || element == 0 {
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
            return count.min(MAX_ZERO_SIZED);
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

    /// One CBOR item with its length: less of the value when cutting, or when no record holds it whole.
    pub(crate) fn item(&mut self, fill: Fill<'_>) {
        *self = Self { ..*self }.with_item(fill);
    }

    #[inline(never)]
    fn with_item(mut self, fill: Fill<'_>) -> Self {
        let mut budget = self.left();
        if self.cutting {
            let extra = (item::size(fill) - item::LEAST).min(self.slack);
            self.slack -= extra;
            budget = budget.min(item::LEAST + extra);
        }
        if budget < 4 {
            self.overrun = true;
            return self;
        }
        let room = (budget - 4).min(item::MOST);
        // SAFETY: `4 + room` bytes lie between `at` and `end`, here and below.
        let mut written = unsafe { item::write(self.at.add(4), room, self.cutting, fill) };
        // There may be more room elsewhere, or no record that holds it whole.
        if written.is_none() && item::size(fill) <= budget {
            // SAFETY: as above.
            written = unsafe { item::write(self.at.add(4), room, true, fill) };
        }
        match written {
            Some(Written { len, whole }) => {
                self.length(len);
                // SAFETY: `len <= room` bytes were written there.
                self.at = unsafe { self.at.add(len) };
                self.cut |= !whole;
                if self.cutting {
                    self.slack += room - len;
                }
            }
            None => self.overrun = true,
        }
        self
    }

    /// A text that is formatted into its place. It may have become longer since its size was taken: what then does not fit is cut.
    pub(crate) fn formatted(&mut self, text: fmt::Arguments<'_>, size: usize) {
        let least = CUT_HEADER.min(size);
        let extra = size - least;
        let budget = if self.cutting {
            let extra = extra.min(self.slack);
            self.slack -= extra;
            least + extra
        } else {
            size
        };
        let budget = budget.min(self.left());
        if budget < CUT_HEADER {
            self.overrun = true;
            return;
        }
        let start = self.at;
        // SAFETY: `budget` bytes lie between `at` and `end`; the text goes behind its length, and leaves four bytes for the count of what is missing.
        let (written, total) = unsafe {
            let mut sink = Bounded { at: start.add(4), left: budget - CUT_HEADER, written: 0, total: 0 };
            // An error of a Display implementation ends the text where it is.
            let _ = fmt::Write::write_fmt(&mut sink, text);
            (sink.written, sink.total)
        };
        // SAFETY: as above.
        unsafe {
            if written < total {
                ptr::copy(start.add(4), start.add(CUT_HEADER), written);
            }
        }
        self.lengths(written, total);
        // SAFETY: the text has been written, `written <= budget - CUT_HEADER`.
        self.at = unsafe { self.at.add(written) };
    }
}

/// What the writer of a record of dynamic types does: sizes are not known beforehand, and texts are cut at a limit.
impl Writer<'_> {
    /// A text, or bytes, of which at most `limit` bytes are kept.
    #[inline(always)]
    pub(crate) fn limited(&mut self, bytes: &[u8], limit: usize, is_text: bool) {
        if bytes.len() > limit {
            return self.limited_cut(bytes, limit, is_text);
        }
        self.length(bytes.len());
        self.raw(bytes);
    }

    #[cold]
    #[inline(never)]
    fn limited_cut(&mut self, bytes: &[u8], limit: usize, is_text: bool) {
        let mut kept = limit;
        while is_text && kept > 0 && limit - kept < 4 && bytes[kept] & 0xC0 == 0x80 {
            kept -= 1;
        }
        self.lengths(kept, bytes.len());
        self.raw(&bytes[..kept]);
    }

    /// A text that is formatted once, straight into its place; at most `limit` bytes of it are kept.
    pub(crate) fn formatted_once(&mut self, text: fmt::Arguments<'_>, limit: usize) {
        if self.left() < CUT_HEADER {
            self.overrun = true;
            return;
        }
        let room = self.left() - CUT_HEADER;
        let start = self.at;
        // SAFETY: `CUT_HEADER + room` bytes lie between `at` and `end`, of which the sink has `room`, behind a length; four are left for the count of what
        // is missing.
        let mut sink = unsafe { Bounded { at: start.add(4), left: room.min(limit), written: 0, total: 0 } };
        // An error of a Display implementation ends the text where it is.
        let _ = fmt::Write::write_fmt(&mut sink, text);
        let (written, total) = (sink.written, sink.total);
        if written < total {
            if room < limit {
                self.overrun = true;
                return;
            }
            // SAFETY: as above.
            unsafe { ptr::copy(start.add(4), start.add(CUT_HEADER), written) };
        }
        self.lengths(written, total);
        // SAFETY: the text has been written, `written <= room`.
        self.at = unsafe { self.at.add(written) };
    }

    /// One CBOR item with its length, as large as `limit` allows.
    pub(crate) fn item_once(&mut self, limit: usize, fill: Fill<'_>) {
        if self.left() < item::LEAST {
            self.overrun = true;
            return;
        }
        let room = (self.left() - 4).min(item::MOST);
        // SAFETY: `4 + room` bytes lie between `at` and `end`.
        let written =
            unsafe { item::write(self.at.add(4), room.min(limit.max(4)), limit < usize::MAX, fill) };
        match written {
            Some(Written { len, whole }) => {
                self.length(len);
                // SAFETY: `len <= room` bytes were written there.
                self.at = unsafe { self.at.add(len) };
                self.cut |= !whole;
            }
            None => self.overrun = true,
        }
    }
}

/// Takes what fits, counts the rest.
struct Bounded {
    at: *mut u8,
    left: usize,
    written: usize,
    total: usize,
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.total += text.len();
        let mut n = text.len().min(self.left);
        if n < text.len() {
            while !text.is_char_boundary(n) {
                n -= 1;
            }
            self.left = n; // nothing after the cut
        }
        // SAFETY: `left` bytes from `at` belong to the record, and `n` is at most that.
        unsafe {
            if n <= COPY_MAX {
                copy(text.as_ptr(), self.at, n);
            } else {
                ptr::copy_nonoverlapping(text.as_ptr(), self.at, n);
            }
            self.at = self.at.add(n);
        }
        self.left -= n;
        self.written += n;
        Ok(())
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

/// Says that it is seldom called: the compiler places what follows out of the way.
#[cold]
#[inline(always)]
pub(crate) fn seldom() {}

/// Longest piece that [`copy`] takes.
pub(crate) const COPY_MAX: usize = 128;

/// 16 bytes, in one register where there are such.
#[cfg(target_arch = "x86_64")]
type Sixteen = std::arch::x86_64::__m128i;
#[cfg(target_arch = "aarch64")]
type Sixteen = std::arch::aarch64::uint8x16_t;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
type Sixteen = u128;

/// A copy that makes no call and has no loop: most texts are short, and the call costs as much as their bytes.
///
/// # Safety
/// `len` bytes at `from` and at `to`, not the same ones; `len <= COPY_MAX`.
#[inline(always)]
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    /// The first and the last T: together all, when there are between one and two of it. Both are read before one is written.
    #[inline(always)]
    unsafe fn ends<T: Copy>(from: *const u8, to: *mut u8, len: usize) {
        let last = len - size_of::<T>();
        // SAFETY: by the caller, `len` is not less.
        unsafe {
            let head = from.cast::<T>().read_unaligned();
            let tail = from.add(last).cast::<T>().read_unaligned();
            to.cast::<T>().write_unaligned(head);
            to.add(last).cast::<T>().write_unaligned(tail);
        }
    }
    /// The same with two of T at each end. (Single values, for an array of them would be stored.)
    #[inline(always)]
    unsafe fn double_ends<T: Copy>(from: *const u8, to: *mut u8, len: usize) {
        let last = len - 2 * size_of::<T>();
        // SAFETY: by the caller, `len` is not less.
        unsafe {
            let (head, tail) = (from.cast::<T>(), from.add(last).cast::<T>());
            let (first, second) = (head.read_unaligned(), head.add(1).read_unaligned());
            let (third, fourth) = (tail.read_unaligned(), tail.add(1).read_unaligned());
            let (head, tail) = (to.cast::<T>(), to.add(last).cast::<T>());
            head.write_unaligned(first);
            head.add(1).write_unaligned(second);
            tail.write_unaligned(third);
            tail.add(1).write_unaligned(fourth);
        }
    }
    debug_assert!(len <= COPY_MAX);
    // SAFETY: by the caller and the comparisons.
    unsafe {
        if len > 32 {
            if len > 64 {
                seldom();
                double_ends::<Sixteen>(from, to, 64);
                double_ends::<Sixteen>(from.add(len - 64), to.add(len - 64), 64);
            } else {
                double_ends::<Sixteen>(from, to, len);
            }
        } else if len >= 16 {
            ends::<Sixteen>(from, to, len);
        } else if len >= 8 {
            ends::<u64>(from, to, len);
        } else if len >= 4 {
            ends::<u32>(from, to, len);
        } else {
            for at in 0..len {
                *to.add(at) = *from.add(at);
            }
        }
    }
}
