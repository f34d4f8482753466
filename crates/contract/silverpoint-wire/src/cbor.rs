//! The parts of CBOR items (RFC 8949) that every reader and writer of them shares: heads and large integers. Values are read with `leaf` and
//! `value`.
//!
//! ```
//! use silverpoint_wire::cbor::{Head, head_at, push_head, push_i128};
//!
//! let mut out = Vec::new();
//! push_head(&mut out, 3, 300); // a text of 300 bytes
//! assert_eq!((head_at(&out, 0), &out[..]), (Ok((Head { major: 3, info: 25, number: 300 }, 3)), &[0x79, 1, 44][..]));
//! push_i128(&mut out, -1);
//! assert_eq!(out[3], 0x20);
//! ```

/// Without a length: the item ends with a mark.
pub const INDEFINITE: u8 = 31;

/// What an item begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The major type, 0 to 7.
    pub major: u8,
    /// The lower five bits of the first byte: the number, 24 to 27 for how many bytes have it, or [`INDEFINITE`].
    pub info: u8,
    /// The number; 0 if there is none.
    pub number: u64,
}

/// The head at an offset, and where it ends. Of major types 2 to 5 it may be without a length.
///
/// # Errors
/// The offset of the byte that is missing or begins no item.
#[inline]
pub fn head_at(bytes: &[u8], at: usize) -> Result<(Head, usize), usize> {
    let first = *bytes.get(at).ok_or(at)?;
    let (major, info) = (first >> 5, first & 31);
    let rest = &bytes[at + 1..];
    let (number, len) = match info {
        0..24 => (Some(u64::from(info)), 0),
        24 => (rest.first().map(|byte| u64::from(*byte)), 1),
        25 => (rest.first_chunk().map(|bytes| u64::from(u16::from_be_bytes(*bytes))), 2),
        26 => (rest.first_chunk().map(|bytes| u64::from(u32::from_be_bytes(*bytes))), 4),
        27 => (rest.first_chunk().map(|bytes| u64::from_be_bytes(*bytes)), 8),
        INDEFINITE if matches!(major, 2..=5) => (Some(0), 0),
        _ => return Err(at),
    };
    let number = number.ok_or(bytes.len())?;
    Ok((Head { major, info, number }, at + 1 + len))
}

/// The shortest head with this number, and how many of the bytes it has.
#[inline]
pub fn head(major: u8, number: u64) -> ([u8; 9], usize) {
    let mut head = [0; 9];
    let (info, len) = match number {
        0..24 => (number as u8, 0),
        24..0x100 => (24, 1),
        0x100..0x1_0000 => (25, 2),
        0x1_0000..0x1_0000_0000 => (26, 4),
        _ => (27, 8),
    };
    head[0] = major << 5 | info;
    head[1..=len].copy_from_slice(&number.to_be_bytes()[8 - len..]);
    (head, len + 1)
}

/// Appends the shortest head with this number.
#[inline]
pub fn push_head(out: &mut Vec<u8>, major: u8, number: u64) {
    let (head, len) = head(major, number);
    out.extend_from_slice(&head[..len]);
}

/// Appends an integer: beyond 64 bits a bignum.
pub fn push_u128(out: &mut Vec<u8>, value: u128) {
    push_magnitude(out, 0, value);
}

/// Appends an integer: beyond 64 bits a bignum.
pub fn push_i128(out: &mut Vec<u8>, value: i128) {
    match u128::try_from(value) {
        Ok(value) => push_magnitude(out, 0, value),
        Err(_) => push_magnitude(out, 1, !value as u128),
    }
}

fn push_magnitude(out: &mut Vec<u8>, major: u8, magnitude: u128) {
    match u64::try_from(magnitude) {
        Ok(number) => push_head(out, major, number),
        Err(_) => {
            // A bignum: tag 2 or 3, the shortest bytes.
            push_head(out, 6, 2 + u64::from(major));
            let bytes = magnitude.to_be_bytes();
            let from = magnitude.leading_zeros() as usize / 8;
            push_head(out, 2, (bytes.len() - from) as u64);
            out.extend_from_slice(&bytes[from..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Head, head_at, push_head, push_i128, push_u128};

    #[test]
    fn heads_are_as_short_as_can_be_and_read_back() {
        let sizes =
            [(0, 1), (23, 1), (24, 2), (255, 2), (256, 3), (65_535, 3), (65_536, 5), (u32::MAX.into(), 5)];
        for (number, size) in sizes.into_iter().chain([(1 << 32, 9), (u64::MAX, 9)]) {
            for major in 0..8 {
                let mut out = vec![0xAA];
                push_head(&mut out, major, number);
                let (head, end) = head_at(&out, 1).unwrap();
                assert_eq!((head.major, head.number, end, out.len()), (major, number, 1 + size, 1 + size));
                for cut in 2..out.len() {
                    assert_eq!(head_at(&out[..cut], 1), Err(cut), "{number} up to {cut}");
                }
            }
        }
        assert_eq!(head_at(&[0xAA], 1), Err(1));
    }

    #[test]
    fn what_begins_no_item_is_refused_at_its_place() {
        for first in 0..=255u8 {
            let bytes = [0, first, 0, 0, 0, 0, 0, 0, 0, 0];
            let is_one = match first & 31 {
                31 => matches!(first >> 5, 2..=5),
                info => info < 28,
            };
            assert_eq!(head_at(&bytes, 1).err(), (!is_one).then_some(1), "{first:#x}");
        }
        assert_eq!(head_at(&[0x9F], 0), Ok((Head { major: 4, info: 31, number: 0 }, 1)));
    }

    #[test]
    fn large_integers_have_the_shortest_bytes() {
        let made = |push: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            push(&mut out);
            out
        };
        assert_eq!(made(&|out| push_i128(out, -24)), [0x37]);
        assert_eq!(
            made(&|out| push_i128(out, i64::MIN.into())),
            [0x3B, 0x7F, 255, 255, 255, 255, 255, 255, 255]
        );
        assert_eq!(made(&|out| push_i128(out, -(1 << 64))), [0x3B, 255, 255, 255, 255, 255, 255, 255, 255]);
        assert_eq!(made(&|out| push_i128(out, -(1 << 64) - 1)), [0xC3, 0x49, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(made(&|out| push_u128(out, 1 << 64)), [0xC2, 0x49, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(
            made(&|out| push_u128(out, u64::MAX.into())),
            [0x1B, 255, 255, 255, 255, 255, 255, 255, 255]
        );
    }
}
