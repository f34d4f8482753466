//! Numbers of JSON, and bytes as digits.

use crate::number::Number;

/// Appends a float as a JSON number with the shortest digits. A value that is no number in JSON becomes a
/// string: `"nan"`, `"inf"`, `"-inf"`.
pub fn push_f64(out: &mut String, value: f64) {
    if value.is_finite() {
        out.push_str(zmij::Buffer::new().format_finite(value));
    } else {
        push_special(out, value.is_nan(), value.is_sign_negative());
    }
}

/// As [`push_f64`], with the shortest digits of an f32.
pub fn push_f32(out: &mut String, value: f32) {
    if value.is_finite() {
        out.push_str(zmij::Buffer::new().format_finite(value));
    } else {
        push_special(out, value.is_nan(), value.is_sign_negative());
    }
}

fn push_special(out: &mut String, nan: bool, negative: bool) {
    out.push_str(match (nan, negative) {
        (true, _) => "\"nan\"",
        (_, false) => "\"inf\"",
        (_, true) => "\"-inf\"",
    });
}

/// Appends a number of a plain type.
#[inline]
pub(crate) fn push_number(out: &mut String, number: Number) {
    match number {
        Number::Signed(value) => out.push_str(itoa::Buffer::new().format(value)),
        Number::Unsigned(value) => out.push_str(itoa::Buffer::new().format(value)),
        Number::Float32(value) => push_f32(out, value),
        Number::Float64(value) => push_f64(out, value),
    }
}

/// Appends bytes as lower-case hexadecimal digits.
pub fn push_hex(out: &mut String, bytes: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.reserve(bytes.len() * 2);
    for byte in bytes {
        out.push(char::from(HEX[usize::from(byte >> 4)]));
        out.push(char::from(HEX[usize::from(byte & 15)]));
    }
}
