//! Little-endian reads that cannot fail by panicking: `None` beyond the end. And where a text may be cut.

use crate::layout::signature::CUT;

/// The `N` bytes at `at`.
#[inline]
pub fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

macro_rules! readers {
    ($($name:ident: $type:ty),*) => {$(
        /// The little-endian integer at `at`.
        #[inline]
        pub fn $name(bytes: &[u8], at: usize) -> Option<$type> {
            array(bytes, at).map(<$type>::from_le_bytes)
        }
    )*};
}

readers!(u16_at: u16, u32_at: u32, u64_at: u64);

/// Where what follows the length of a text or a sequence begins, and that length. How much of it was cut is passed over (spec/wire.md, section 10).
#[inline]
pub fn length_at(bytes: &[u8], at: usize) -> Option<(usize, u32)> {
    let word = u32_at(bytes, at)?;
    let from = if word & CUT == 0 { at + 4 } else { at + 8 };
    Some((from, word & !CUT))
}

/// The next multiple of 8.
#[inline]
pub const fn round_up_8(size: usize) -> usize {
    (size + 7) & !7
}

/// The last boundary of characters of `text` that is not beyond `at`. (The standard library has this function since Rust 1.91.)
#[inline]
pub const fn floor_char_boundary(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    if at >= bytes.len() {
        return bytes.len();
    }
    // A byte within a character is 0b10xx_xxxx.
    while at > 0 && bytes[at] & 0xC0 == 0x80 {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        let text = "a\u{E4}\u{20AC}\u{1F600}z";
        for at in 0..text.len() + 3 {
            let last = (0..=at).rfind(|at| text.is_char_boundary(*at));
            assert_eq!(Some(floor_char_boundary(text, at)), last, "at {at}");
        }
        assert_eq!(floor_char_boundary("", 7), 0);
    }
}
