//! Records of a text alone, which is formatted once, beside the ring: code of the program's may run meanwhile.
//!
//! ```text
//!  text ─▶ memory of the stack ─▶ length known ─▶ room in the ring ─▶ one copy
//!     └──▶ a Scratch, where it is longer
//! ```

use std::fmt;
use std::mem::MaybeUninit;

use crate::copy::{COPY_MAX, copy, copy_any};
use crate::dynamic::Arguments;
use crate::header::{HEADER, header};
use crate::platform::owner::{self, ALWAYS_FITS, Cause, Owned, Reservation};
use crate::scratch::Unfinished;
use crate::seldom::seldom;
use crate::writer::Long;

/// Bytes of a text's length.
const LENGTH: usize = 4;
/// Bytes of a text that is not long: every ring has room for its record.
const NEAR: usize = ALWAYS_FITS - HEADER - LENGTH - 8;

/// Bytes of the record of a text of so many.
#[inline(always)]
fn total(len: usize) -> usize {
    (HEADER + LENGTH + len + 7) & !7
}

/// [`TextAlone::len`], beyond any length: it is in `long`.
const LONG: usize = 1 << 28;
/// The same: no text has come, or more than one.
const NOTHING: usize = 2 << 28;
const SEVERAL: usize = 3 << 28;

/// The argument of a record that has only one, a text (code `s`).
pub struct TextAlone {
    /// Bytes of it in `near`, or one of the numbers above.
    len: usize,
    near: [MaybeUninit<u8>; NEAR],
    /// There only where `len` is [`LONG`].
    long: MaybeUninit<(Arguments, Long)>,
}

impl TextAlone {
    /// Nothing yet.
    #[allow(clippy::new_without_default)]
    #[inline(always)]
    pub fn new() -> Self {
        Self { len: NOTHING, near: [MaybeUninit::uninit(); NEAR], long: MaybeUninit::uninit() }
    }

    /// Formats it. A second one is not looked at; [`TextAlone::record`] then records nothing. Where `text` unwinds, a record is counted as lost.
    #[inline(always)]
    pub fn format(&mut self, text: fmt::Arguments<'_>) {
        if self.len != NOTHING {
            return self.refuse();
        }
        self.len = 0;
        let unfinished = Unfinished;
        // An error of a Display implementation ends the text where it is.
        let _ = fmt::write(self, text);
        unfinished.finish();
    }

    /// Takes it as it is; as [`TextAlone::format`].
    #[inline(always)]
    pub fn text(&mut self, text: &str) {
        if self.len != NOTHING {
            return self.refuse();
        }
        self.len = 0;
        let _ = fmt::Write::write_str(self, text);
    }

    /// Something else has come: [`TextAlone::record`] will record nothing.
    #[cold]
    #[inline(never)]
    pub fn refuse(&mut self) {
        self.forget_long();
        self.len = SEVERAL;
    }

    /// Records the text; false where not exactly one has come. `level` decides by the session's policy what happens when the ring is full.
    #[inline(always)]
    pub fn record(&mut self, site: u32, level: impl FnOnce() -> u8) -> bool {
        let len = self.len;
        if len > COPY_MAX {
            seldom();
            return self.record_otherwise(site, level());
        }
        match owner::reserve(total(len)) {
            // SAFETY: there is room for so many bytes, and the text has no more than `COPY_MAX`.
            Ok(room) => unsafe { self.put(room, len, site, |from, to, len| copy(from, to, len)) },
            Err(owned) => self.record_later(site, level(), owned),
        }
        true
    }

    /// # Safety
    /// There is room for the record of the text, which has `len` bytes, and `copy` may be called with so many.
    #[inline(always)]
    unsafe fn put(
        &self,
        room: Reservation,
        len: usize,
        site: u32,
        copy: impl FnOnce(*const u8, *mut u8, usize),
    ) {
        let (at, ticks, total) = (room.at(), room.ticks(), total(len));
        // SAFETY: by the caller.
        unsafe {
            // The tail is zero behind the text.
            at.add(total - 8).cast::<u64>().write_unaligned(0);
            at.add(HEADER).cast::<u32>().write_unaligned((len as u32).to_le());
            copy(self.near.as_ptr().cast(), at.add(HEADER + LENGTH), len);
            header(at, total, 0, site, ticks);
            room.commit(total);
        }
    }

    /// One that is copied by a call, or none.
    #[inline(never)]
    fn record_otherwise(&mut self, site: u32, level: u8) -> bool {
        if self.len <= NEAR {
            match owner::reserve(total(self.len)) {
                // SAFETY: there is room for so many bytes, and any number of them may be copied.
                Ok(room) => unsafe {
                    self.put(room, self.len, site, |from, to, len| copy_any(from, to, len))
                },
                Err(owned) => self.record_later(site, level, owned),
            }
        } else if self.len == LONG {
            // SAFETY: so it is there.
            let (arguments, text) = unsafe { self.long.assume_init_mut() };
            arguments.end_text(text);
            let _ = arguments.record(level, site);
        } else {
            return false;
        }
        true
    }

    #[cold]
    #[inline(never)]
    fn record_later(&self, site: u32, level: u8, owned: Owned) {
        match owner::reserve_slowly(total(self.len), level, owned) {
            // SAFETY: there is room for so many bytes, and any number of them may be copied.
            Some(room) if room.room() >= total(self.len) => unsafe {
                self.put(room, self.len, site, |from, to, len| copy_any(from, to, len));
            },
            Some(room) => room.lose(Cause::TooLarge),
            None => {}
        }
    }

    /// A piece that is copied by a call, or with which the text is long.
    #[inline(never)]
    fn write_otherwise(&mut self, text: &str) -> fmt::Result {
        if self.len + text.len() <= NEAR {
            // SAFETY: there is room for so many behind what was written.
            unsafe { copy_any(text.as_ptr(), self.near.as_mut_ptr().add(self.len).cast(), text.len()) };
            self.len += text.len();
            return Ok(());
        }
        if self.len != LONG {
            let (arguments, long) = self.long.write((Arguments::new(), Long::new()));
            // SAFETY: so many bytes were written, all of them of texts, whole ones.
            let before = unsafe {
                std::str::from_utf8_unchecked(std::slice::from_raw_parts(self.near.as_ptr().cast(), self.len))
            };
            long.put(arguments.scratch(), before);
            self.len = LONG;
        }
        // SAFETY: so it is there.
        let (arguments, long) = unsafe { self.long.assume_init_mut() };
        long.put(arguments.scratch(), text);
        Ok(())
    }

    #[inline(always)]
    fn forget_long(&mut self) {
        if self.len == LONG {
            // SAFETY: so it is there, and is not looked at any more.
            unsafe { self.long.assume_init_drop() };
            self.len = NOTHING;
        }
    }
}

impl fmt::Write for TextAlone {
    // A text that has to be cut gives no error: not every Display implementation can handle one.
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if text.len() > COPY_MAX || self.len + text.len() > NEAR {
            seldom();
            return self.write_otherwise(text);
        }
        // SAFETY: there is room for so many behind what was written.
        unsafe { copy(text.as_ptr(), self.near.as_mut_ptr().add(self.len).cast(), text.len()) };
        self.len += text.len();
        Ok(())
    }
}

impl Drop for TextAlone {
    #[inline(always)]
    fn drop(&mut self) {
        self.forget_long();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text that has come.
    fn taken(text: &mut TextAlone) -> Option<String> {
        let bytes = match text.len {
            len @ ..=NEAR => {
                // SAFETY: so many bytes were written.
                unsafe { std::slice::from_raw_parts(text.near.as_ptr().cast::<u8>(), len) }.to_vec()
            }
            LONG => {
                // SAFETY: so it is there.
                let (arguments, long) = unsafe { text.long.assume_init_mut() };
                arguments.end_text(long);
                arguments.bytes()?.split_at_checked(LENGTH)?.1.to_vec()
            }
            _ => return None,
        };
        String::from_utf8(bytes).ok()
    }

    #[test]
    fn texts_of_all_lengths_come_in_any_pieces() {
        let all = "ab\u{e4}cdefg".repeat(50);
        for length in [0, 1, 2, 7, 8, 16, 33, 127, 128, 129, 227, 228, 229, 230, 300, 449] {
            let length = (0..=length).rev().find(|at| all.is_char_boundary(*at)).unwrap();
            for cut in [0, 1, 5, 100, 128, 200, 230] {
                let cut = (0..=cut.min(length)).rev().find(|at| all.is_char_boundary(*at)).unwrap();
                let mut text = TextAlone::new();
                text.format(format_args!("{}{}", &all[..cut], &all[cut..length]));
                assert_eq!(taken(&mut text).as_deref(), Some(&all[..length]), "{length} {cut}");
            }
            let mut text = TextAlone::new();
            text.text(&all[..length]);
            assert_eq!(taken(&mut text).as_deref(), Some(&all[..length]));
        }
    }

    #[test]
    fn not_one_text_is_none() {
        let mut text = TextAlone::new();
        assert!(taken(&mut text).is_none() && !text.record(1, || 0));
        for first in ["a".to_owned(), "a".repeat(NEAR + 1)] {
            let mut text = TextAlone::new();
            text.text(&first);
            text.text("b");
            assert!(taken(&mut text).is_none() && !text.record(1, || 0));
            text.format(format_args!("c{}", 1));
            assert!(!text.record(1, || 0));
            text.refuse();
            assert!(!text.record(1, || 0));
        }
    }

    #[test]
    fn a_text_that_unwinds_leaves_nothing() {
        struct Unwinds;
        impl fmt::Display for Unwinds {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&"x".repeat(NEAR + 1))?;
                std::panic::resume_unwind(Box::new(()))
            }
        }
        let unwound = std::panic::catch_unwind(|| TextAlone::new().format(format_args!("{Unwinds}")));
        assert!(unwound.is_err());
    }
}
