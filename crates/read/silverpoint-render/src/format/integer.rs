//! Integers, and what can be shown as one: bool, characters, pointers.

use super::pad::{pad_number, pad_written};
use super::{Align, Spec, float64, text};

/// Appends a signed integer.
#[inline]
pub fn signed(out: &mut String, value: i64, spec: &Spec) {
    if spec.is_default() {
        out.push_str(itoa::Buffer::new().format(value));
    } else {
        integer(out, value < 0, u128::from(value.unsigned_abs()), spec);
    }
}

/// Appends an unsigned integer.
#[inline]
pub fn unsigned(out: &mut String, value: u64, spec: &Spec) {
    if spec.is_default() {
        out.push_str(itoa::Buffer::new().format(value));
    } else {
        integer(out, false, u128::from(value), spec);
    }
}

/// Appends an integer of any width, given as sign and magnitude.
pub fn integer(out: &mut String, negative: bool, magnitude: u128, spec: &Spec) {
    match spec.ty {
        b'c' => return code(out, negative, magnitude, spec),
        b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => {
            let value = magnitude as f64;
            return float64(out, if negative { -value } else { value }, spec);
        }
        _ => {}
    }
    let start = out.len();
    spec.sign.push(out, negative);
    if spec.alternate {
        out.push_str(match spec.ty {
            b'b' => "0b",
            b'B' => "0B",
            b'x' | b'p' => "0x",
            b'X' => "0X",
            b'o' if magnitude != 0 => "0",
            _ => "",
        });
    }
    let digits_at = out.len();
    match spec.ty {
        b'b' | b'B' => power_of_two(out, magnitude, 1, b'a'),
        b'o' => power_of_two(out, magnitude, 3, b'a'),
        b'x' | b'p' => power_of_two(out, magnitude, 4, b'a'),
        b'X' => power_of_two(out, magnitude, 4, b'A'),
        _ => match u64::try_from(magnitude) {
            Ok(small) => out.push_str(itoa::Buffer::new().format(small)),
            Err(_) => out.push_str(itoa::Buffer::new().format(magnitude)),
        },
    }
    pad_number(out, start, digits_at, spec);
}

/// Digits of a base that is a power of two; `ten` is the digit for ten.
fn power_of_two(out: &mut String, mut value: u128, bits: u32, ten: u8) {
    let mut digits = [0u8; 128];
    let mut at = digits.len();
    loop {
        at -= 1;
        let digit = (value as u8) & ((1u8 << bits) - 1);
        digits[at] = if digit < 10 { b'0' + digit } else { ten + digit - 10 };
        value >>= bits;
        if value == 0 {
            break;
        }
    }
    out.extend(digits[at..].iter().map(|&d| char::from(d)));
}

/// An integer as the character that it is the code of (`{:c}`).
fn code(out: &mut String, negative: bool, magnitude: u128, spec: &Spec) {
    let c = u32::try_from(magnitude).ok().filter(|_| !negative).and_then(char::from_u32);
    character(out, c.unwrap_or(char::REPLACEMENT_CHARACTER), spec);
}

/// Appends `true` or `false`, or 1 or 0 when the presentation is one of integers.
pub fn boolean(out: &mut String, value: bool, spec: &Spec) {
    match spec.ty {
        b'b' | b'B' | b'd' | b'o' | b'x' | b'X' => integer(out, false, u128::from(value), spec),
        _ => {
            let word = if value { "true" } else { "false" };
            let start = out.len();
            out.push_str(word);
            pad_written(out, start, word.len(), spec, Align::Left);
        }
    }
}

/// Appends a character as text, or its code when the presentation is one of integers. A control character is escaped, and
/// `?` quotes it.
pub fn character(out: &mut String, value: char, spec: &Spec) {
    match spec.ty {
        b'b' | b'B' | b'd' | b'o' | b'x' | b'X' => {
            integer(out, false, u128::from(u32::from(value)), spec);
        }
        b'?' => {
            let start = out.len();
            silverpoint_trace::escape::push_quoted_char(out, value);
            let columns = text::columns(&out[start..]);
            pad_written(out, start, columns, spec, Align::Left);
        }
        _ => {
            let mut utf8 = [0; 4];
            text::text(out, value.encode_utf8(&mut utf8), &Spec { precision: None, ..*spec });
        }
    }
}

/// Appends an address: `0x`, then hexadecimal digits. Integer presentations are obeyed.
pub fn pointer(out: &mut String, value: u64, spec: &Spec) {
    let ty = match spec.ty {
        ty @ (b'b' | b'B' | b'd' | b'o' | b'X') => ty,
        _ => b'x',
    };
    integer(out, false, u128::from(value), &Spec { ty, alternate: ty != b'd', ..*spec });
}
