//! Arguments that were encoded already, as a map of names and values: for records whose shape has no site of its own.

use std::mem::MaybeUninit;

use silverpoint_wire::layout::signature::CUT;

use crate::dynamic::Encoder;
use crate::item::Item;

/// Shows the names and codes of arguments, in the order of their bytes.
pub type Named<'n> = &'n dyn Fn(&mut dyn FnMut(&str, u8));

/// Reads arguments one after the other. What is not there is zero: the bytes are this process's own.
struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn take(&mut self, len: usize) -> &'b [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    fn word<const N: usize>(&mut self) -> [u8; N] {
        let mut word = [0; N];
        let taken = self.take(N);
        word[..taken.len()].copy_from_slice(taken);
        word
    }

    fn length(&mut self) -> usize {
        u32::from_le_bytes(self.word()) as usize
    }

    /// A text or bytes, and whether it was cut.
    fn block(&mut self) -> (&'b [u8], bool) {
        let length = self.length();
        let is_cut = length & CUT as usize != 0;
        if is_cut {
            self.length();
        }
        (self.take(length & !(CUT as usize)), is_cut)
    }

    fn text(&mut self, item: &mut Item<'_>) {
        let (text, is_cut) = self.block();
        match std::str::from_utf8(text) {
            Ok(text) if is_cut => item.formatted(format_args!("{text}…")),
            Ok(text) => item.text(text),
            Err(_) => item.text_lossy(text),
        }
    }

    fn value(&mut self, code: u8, item: &mut Item<'_>) {
        match code {
            b'b' => item.bool(self.word::<1>() != [0]),
            b'i' => item.integer(i32::from_le_bytes(self.word()).into()),
            b'I' => item.integer(u32::from_le_bytes(self.word()).into()),
            b'l' => item.integer(i64::from_le_bytes(self.word()).into()),
            b'L' => item.integer(u64::from_le_bytes(self.word()).into()),
            b'o' => item.integer(i128::from_le_bytes(self.word())),
            b'O' => item.unsigned(u128::from_le_bytes(self.word())),
            b'f' => item.f32(f32::from_le_bytes(self.word())),
            b'd' => item.f64(f64::from_le_bytes(self.word())),
            b'W' => match char::from_u32(u32::from_le_bytes(self.word())) {
                Some(character) => item.text(character.encode_utf8(&mut [0; 4])),
                None => item.null(),
            },
            b's' => self.text(item),
            b'y' => item.bytes(self.block().0),
            b'[' => {
                let mut nest = item.begin_list();
                for _ in 0..self.length().min(self.0.len()) {
                    if item.next(&mut nest) {
                        self.text(item);
                    } else {
                        self.block();
                    }
                }
                item.end(nest);
            }
            b'v' => item.whole(self.block().0),
            _ => item.null(),
        }
    }

    /// Passes over a value.
    fn skip(&mut self, code: u8) {
        match code {
            b'b' => _ = self.take(1),
            b'i' | b'I' | b'f' | b'W' => _ = self.take(4),
            b'l' | b'L' | b'd' => _ = self.take(8),
            b'o' | b'O' => _ = self.take(16),
            b's' | b'y' | b'v' => _ = self.block(),
            b'[' => (0..self.length().min(self.0.len())).for_each(|_| _ = self.block()),
            _ => {}
        }
    }
}

impl Encoder<'_> {
    /// Code `v`: a map of the names and values of arguments whose bytes are known ([`Arguments::bytes`](crate::dynamic::Arguments::bytes)), but for those without a name.
    pub fn map_of(&mut self, bytes: &[u8], named: Named<'_>) {
        self.item(&|item| {
            let mut bytes = Bytes(bytes);
            let mut nest = item.begin_map();
            named(&mut |name, code| {
                if !name.is_empty() && item.next(&mut nest) {
                    item.text(name);
                    bytes.value(code, item);
                } else {
                    bytes.skip(code);
                }
            });
            item.end(nest);
        });
    }

    /// Code `s`: the text among such arguments whose number this is; an empty one, if there is none.
    pub fn text_of(&mut self, bytes: &[u8], named: Named<'_>, wanted: usize) {
        let mut bytes = Bytes(bytes);
        let (mut number, mut text) = (0, &[][..]);
        named(&mut |_, code| {
            if number == wanted && code == b's' {
                text = bytes.block().0;
            } else {
                bytes.skip(code);
            }
            number += 1;
        });
        match std::str::from_utf8(text) {
            Ok(text) => self.text(text),
            Err(_) => self.text(""),
        }
    }
}

/// Numbers that say which arguments a record has, one after the other.
pub struct Marks {
    len: usize,
    words: [MaybeUninit<u32>; MARKS],
}

/// Most numbers of [`Marks`]: those of 250 arguments, and one more.
pub const MARKS: usize = 251;

impl Marks {
    /// One that stands before the others.
    #[inline(always)]
    pub fn new(first: u32) -> Self {
        let mut marks = Self { len: 1, words: [const { MaybeUninit::uninit() }; MARKS] };
        marks.words[0].write(first);
        marks
    }

    /// Adds one; false when there are too many.
    #[inline(always)]
    pub fn push(&mut self, mark: u32) -> bool {
        let Some(place) = self.words.get_mut(self.len) else { return false };
        place.write(mark);
        self.len += 1;
        true
    }

    /// Puts another in place of the first.
    pub fn set_first(&mut self, first: u32) {
        self.words[0].write(first);
    }

    /// All of them.
    #[inline(always)]
    pub fn all(&self) -> &[u32] {
        // SAFETY: the first `len` were written.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast::<u32>(), self.len) }
    }
}
