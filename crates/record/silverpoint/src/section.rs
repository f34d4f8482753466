//! The section `silverpoint_sites`: what a program's tracepoints are, for readers of its file (spec/sites-section.md).
//!
//! An entry is made of constants, by the assembler, within the function that registers a site. Nothing runs,
//! and nothing is relocated when the program is loaded. What the linker leaves out of that function's users
//! is left out of the section, too. No constant has the function's name, so it is the mangled name of a
//! symbol, which readers decode.

// Where there is no section, nobody makes its entries.
#![cfg_attr(any(not(target_os = "linux"), miri, loom, feature = "no_site_section"), allow(dead_code))]

use std::marker::PhantomData;

use silverpoint_wire::bytes::floor_char_boundary;

use crate::args::Args;
use crate::sig::{Sig, decimal, escaped};
use crate::site::{Kind, Meta, wants_f};

/// Lists a site of this program. Costs nothing when the program runs.
#[inline(always)]
pub(crate) fn list<M: Meta, A: Args>() {
    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64"),
        not(any(miri, loom, feature = "no_site_section"))
    ))]
    emit::<M, A>();
}

/// Words of 16 bytes that an entry may have after its first 8 bytes.
const WORDS: usize = 64;
/// Bytes of them.
const MOST: usize = WORDS * 16;
/// Bytes of them before the texts.
const FIXED: usize = 56;

/// Flags of an entry (spec/sites-section.md).
const MANGLED: u8 = 8;
const CUT: u8 = 16;
const NAMED_AFTER_FUNCTION: u8 = 32;

/// An entry after its first 8 bytes.
struct Entry<M, A>(PhantomData<(M, A)>);

impl<M: Meta, A: Args> Entry<M, A> {
    const BYTES: Bytes = Bytes::of::<M, A>();
    const COUNT: usize = Self::BYTES.len.div_ceil(16);
    const WORDS: [u128; WORDS] = Self::BYTES.words();
    /// Version, kind, level, flags.
    const HEAD: u32 = u32::from_le_bytes([1, M::KIND.of_description(), M::LEVEL, {
        let mut flags = MANGLED;
        if Self::BYTES.cut {
            flags |= CUT;
        }
        if matches!(M::KIND, Kind::Scope) {
            flags |= NAMED_AFTER_FUNCTION;
        }
        flags
    }]);
}

/// Bytes that are put together when the program is compiled.
struct Bytes {
    bytes: [u8; MOST],
    len: usize,
    /// Something had no room.
    cut: bool,
}

impl Bytes {
    const fn of<M: Meta, A: Args>() -> Self {
        let mut all = Self { bytes: [0; MOST], len: FIXED, cut: false };
        all.set(0, M::LINE);
        all.set(4, 2);
        // What is most worth having comes first; order of the references: category, file, function, names, template, signature.
        let begin = all.len;
        all.put_signature(&A::SIGNATURE);
        if all.cut {
            all.len = begin;
        }
        all.refer(5, begin);
        let begin = all.len;
        all.put(M::CATEGORY.as_bytes());
        all.refer(0, begin);
        let begin = all.len;
        all.put(M::FILE.as_bytes());
        all.refer(1, begin);
        let begin = all.len;
        all.put(M::NAMES.as_bytes());
        all.refer(3, begin);
        let begin = all.len;
        all.put_template::<M, A>();
        all.refer(4, begin);
        // The function stands behind the words, up to a zero.
        let end = all.len.next_multiple_of(16);
        all.set(8 + 2 * 8, (end - (8 + 2 * 8)) as u32);
        all.set(8 + 2 * 8 + 4, u32::MAX);
        all
    }

    const fn set(&mut self, at: usize, value: u32) {
        copy(self.bytes.split_at_mut(at).1, &value.to_le_bytes());
    }

    /// A text's reference: from where it stands, and how long it is.
    const fn refer(&mut self, number: usize, begin: usize) {
        let at = 8 + number * 8;
        let len = self.len - begin;
        self.set(at, if len == 0 { 0 } else { (begin - at) as u32 });
        self.set(at + 4, len as u32);
    }

    /// Puts all of a text, or nothing.
    const fn put(&mut self, text: &[u8]) {
        if text.len() > MOST - self.len {
            self.cut = true;
            return;
        }
        copy(self.bytes.split_at_mut(self.len).1, text);
        self.len += text.len();
    }

    const fn put_signature(&mut self, sig: &Sig) {
        match sig {
            Sig::Text(text) => self.put(text.as_bytes()),
            Sig::Name(name) => {
                let name = name.as_bytes();
                let mut i = 0;
                while i < name.len() {
                    let (bytes, len) = escaped(name[i]);
                    self.put(bytes.split_at(len).0);
                    i += 1;
                }
            }
            Sig::Number(number) => self.put(decimal(*number).text()),
            Sig::List(parts) => {
                let mut i = 0;
                while i < parts.len() {
                    self.put_signature(&parts[i]);
                    i += 1;
                }
            }
        }
    }

    /// As the site's registration gives it. What has no room is left out, from one piece on.
    const fn put_template<M: Meta, A: Args>(&mut self) {
        let cut = self.cut;
        self.cut = false;
        let mut i = 0;
        while i < M::PIECES.len() && !self.cut {
            let piece = &M::PIECES[i];
            let begin = self.len;
            self.put(piece.before.as_bytes());
            self.put(b"{");
            if !M::IN_ORDER {
                self.put(decimal(piece.argument as i128).text());
            }
            if !piece.spec.is_empty() {
                self.put(b":");
                self.put(piece.spec.as_bytes());
                if wants_f::<A>(piece) {
                    self.put(b"f");
                }
            }
            self.put(b"}");
            if self.cut {
                self.len = begin;
            }
            i += 1;
        }
        if !self.cut {
            let fits = floor_char_boundary(M::TAIL, MOST - self.len);
            self.put(M::TAIL.as_bytes().split_at(fits).0);
            self.cut = fits < M::TAIL.len();
        }
        self.cut |= cut;
    }

    const fn words(&self) -> [u128; WORDS] {
        let mut words = [0; WORDS];
        let mut i = 0;
        while i * 16 < self.len {
            let Some(word) = self.bytes.split_at(i * 16).1.first_chunk() else { break };
            words[i] = u128::from_le_bytes(*word);
            i += 1;
        }
        words
    }
}

/// Puts bytes at the beginning of others. (In Rust 1.85 `copy_from_slice` is not for constants.)
const fn copy(to: &mut [u8], from: &[u8]) {
    assert!(from.len() <= to.len());
    // SAFETY: there is room for them, and what is written to is borrowed by nobody else.
    unsafe { to.as_mut_ptr().copy_from_nonoverlapping(from.as_ptr(), from.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::{Piece, Site};

    struct Long;

    impl Meta for Long {
        const KIND: Kind = Kind::Log;
        const LEVEL: u8 = 2;
        const CATEGORY: &'static str = "category";
        const FILE: &'static str = "src/file.rs";
        const LINE: u32 = 7;
        const PIECES: &'static [Piece] = &[];
        const TAIL: &'static str = include_str!("section.rs");
        const NAMES: &'static str = "value\n";
        const IN_ORDER: bool = true;
        fn site() -> &'static Site {
            static SITE: Site = Site::new();
            &SITE
        }
    }

    fn text(entry: &[u8], number: usize) -> &str {
        let at = 8 + number * 8;
        let word = |at: usize| u32::from_le_bytes(entry[at..at + 4].try_into().unwrap()) as usize;
        std::str::from_utf8(&entry[at + word(at)..][..word(at + 4)]).unwrap()
    }

    #[test]
    fn what_is_longer_than_an_entry_is_cut() {
        type Made = Entry<Long, (&'static u8, ())>;
        const { assert!(Made::BYTES.cut && Made::COUNT == WORDS) };
        assert_eq!(Made::HEAD.to_le_bytes(), [1, 0, 2, MANGLED | CUT]);
        let entry: Vec<u8> = Made::WORDS.iter().flat_map(|word| word.to_le_bytes()).collect();
        for (number, expected) in [(0, "category"), (1, "src/file.rs"), (3, "value\n"), (5, "A")] {
            assert_eq!(text(&entry, number), expected);
        }
        let template = text(&entry, 4);
        assert!(template.len() > 900 && Long::TAIL.starts_with(template));
    }
}

/// Makes [`emit`]: the words by number.
macro_rules! emit {
    ($($number:literal $word:ident)*) => {
        #[cfg(all(
            target_os = "linux",
            any(target_arch = "x86_64", target_arch = "aarch64"),
            not(any(miri, loom, feature = "no_site_section"))
        ))]
        #[inline(always)]
        fn emit<M: Meta, A: Args>() {
            // SAFETY: no instruction, only directives, which leave the current section as it was.
            unsafe {
                std::arch::asm!(
                    // In the link, as the code that registers the site: linked to it.
                    ".pushsection silverpoint_sites,\"ao\",@progbits,{first}",
                    ".balign 8",
                    "2: .long 3f - 2b",
                    ".long {head}",
                    $(
                        concat!(".if {count} > ", $number),
                        concat!(".octa {", stringify!($word), "}"),
                        ".endif",
                    )*
                    ".asciz \"{name}\"",
                    ".balign 8",
                    "3:",
                    ".popsection",
                    first = sym crate::site::first::<M, A>,
                    name = sym <M as Meta>::site,
                    head = const Entry::<M, A>::HEAD,
                    count = const Entry::<M, A>::COUNT,
                    $($word = const Entry::<M, A>::WORDS[$number],)*
                    options(nomem, nostack, preserves_flags)
                );
            }
        }
    };
}

emit! {
    0 w0 1 w1 2 w2 3 w3 4 w4 5 w5 6 w6 7 w7 8 w8 9 w9 10 w10 11 w11 12 w12 13 w13 14 w14 15 w15
    16 w16 17 w17 18 w18 19 w19 20 w20 21 w21 22 w22 23 w23 24 w24 25 w25 26 w26 27 w27 28 w28 29 w29 30 w30 31 w31
    32 w32 33 w33 34 w34 35 w35 36 w36 37 w37 38 w38 39 w39 40 w40 41 w41 42 w42 43 w43 44 w44 45 w45 46 w46 47 w47
    48 w48 49 w49 50 w50 51 w51 52 w52 53 w53 54 w54 55 w55 56 w56 57 w57 58 w58 59 w59 60 w60 61 w61 62 w62 63 w63
}
