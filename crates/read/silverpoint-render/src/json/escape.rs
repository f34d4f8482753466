//! JSON strings and numbers.

use silverpoint_trace::escape::is_plain;

use crate::number::Number;

/// Appends a JSON string.
pub fn push_string(out: &mut String, text: &str) {
    out.push('"');
    push_string_inner(out, text);
    out.push('"');
}

/// Appends what stands between the quotes of a JSON string.
pub fn push_string_inner(out: &mut String, text: &str) {
    // Invariant: `done` is a character boundary, since only ASCII bytes are ever looked at.
    let mut done = 0;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at..].first_chunk().is_some_and(|eight| is_plain(*eight, true)) {
            at += 8;
            continue;
        }
        // The rest, when it is short: together with what stands before it.
        if bytes.len() - at < 8 && bytes.last_chunk().is_some_and(|eight| is_plain(*eight, true)) {
            break;
        }
        let byte = bytes[at];
        if ESCAPED[usize::from(byte)] {
            out.push_str(&text[done..at]);
            push_escape(out, byte);
            done = at + 1;
        }
        at += 1;
    }
    out.push_str(&text[done..]);
}

/// Whether a text is its own JSON, as far as that is seen at once: ASCII without anything that is escaped.
pub(super) fn is_plain_string(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut chunks = bytes.chunks_exact(8);
    let rest = chunks.remainder();
    let is_rest_plain = match bytes.last_chunk() {
        Some(last) => rest.is_empty() || is_plain(*last, true),
        None => rest.iter().all(|byte| byte.is_ascii() && !ESCAPED[usize::from(*byte)]),
    };
    is_rest_plain && chunks.all(|eight| eight.first_chunk().is_some_and(|eight| is_plain(*eight, true)))
}

/// Control characters (DEL too: terminals obey it), the quote, the backslash.
const ESCAPED: [bool; 256] = {
    let mut escaped = [false; 256];
    let mut i = 0;
    while i < 0x20 {
        escaped[i] = true;
        i += 1;
    }
    escaped[0x7F] = true;
    escaped[b'"' as usize] = true;
    escaped[b'\\' as usize] = true;
    escaped
};

#[cold]
fn push_escape(out: &mut String, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' => "\\\"",
        b'\\' => "\\\\",
        b'\n' => "\\n",
        b'\r' => "\\r",
        b'\t' => "\\t",
        8 => "\\b",
        12 => "\\f",
        _ => {
            out.push_str("\\u00");
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
            return;
        }
    };
    out.push_str(short);
}

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
