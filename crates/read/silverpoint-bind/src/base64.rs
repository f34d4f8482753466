//! Base64 (RFC 4648, section 4).

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends bytes, with `=` up to a multiple of four digits.
pub fn push(out: &mut String, bytes: &[u8]) {
    out.reserve(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let mut word = [0; 4];
        word[1..=three.len()].copy_from_slice(three);
        let word = u32::from_be_bytes(word);
        for digit in 0..4 {
            out.push(match digit <= three.len() {
                true => char::from(DIGITS[(word >> (18 - 6 * digit) & 63) as usize]),
                false => '=',
            });
        }
    }
}

/// The bytes; the `=` may be missing, bits that are left over must be zero.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.as_bytes();
    let digits = match text.len() % 4 {
        0 => text.strip_suffix(b"==").or(text.strip_suffix(b"=")).unwrap_or(text),
        _ => text,
    };
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for four in digits.chunks(4) {
        let mut word = 0_u32;
        for digit in four {
            let value = match digit {
                b'A'..=b'Z' => digit - b'A',
                b'a'..=b'z' => digit - b'a' + 26,
                b'0'..=b'9' => digit - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            word = word << 6 | u32::from(value);
        }
        word <<= 6 * (4 - four.len());
        let whole = match four.len() {
            4 => 3,
            3 if word & 0xFF == 0 => 2,
            2 if word & 0xFFFF == 0 => 1,
            _ => return None,
        };
        bytes.extend_from_slice(&word.to_be_bytes()[1..=whole]);
    }
    Some(bytes)
}
