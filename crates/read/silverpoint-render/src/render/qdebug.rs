//! Values that Qt's debug stream writes in a form of its own.

use std::fmt::Write;

use jiff::Timestamp;
use silverpoint_wire::value::Text;

/// Bytes as `QByteArray`: in quotes, those that are no printable ASCII as `\xNN`, which a further hexadecimal digit must not follow directly.
pub(super) fn push_bytes(out: &mut String, bytes: &[u8]) {
    out.push('"');
    let mut is_after_hex = false;
    for byte in bytes {
        if is_after_hex && byte.is_ascii_hexdigit() {
            // As two literals, which a compiler joins.
            out.push_str("\"\"");
        }
        is_after_hex = false;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            8 => out.push_str("\\b"),
            12 => out.push_str("\\f"),
            0x20..0x7F => out.push(char::from(*byte)),
            _ => {
                let _ = write!(out, "\\x{byte:02X}");
                is_after_hex = true;
            }
        }
    }
    out.push('"');
}

/// Text as `QString`: in quotes, what is not printable as `\\uNNNN` or `\\UNNNNNNNN`, a half of a pair too.
pub(super) fn push_text(out: &mut String, text: Text<'_>) {
    out.push('"');
    if let Text::Utf16(bytes) = text {
        let units = bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
        for unit in char::decode_utf16(units) {
            match unit {
                Ok(c) => push_char_of_text(out, c),
                Err(error) => {
                    let _ = write!(out, "\\u{:04X}", error.unpaired_surrogate());
                }
            }
        }
    } else {
        text.chars().for_each(|c| push_char_of_text(out, c));
    }
    out.push('"');
}

fn push_char_of_text(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if is_printable(c) => out.push(c),
        c if u32::from(c) < 0x10000 => {
            let _ = write!(out, "\\u{:04X}", u32::from(c));
        }
        c => {
            let _ = write!(out, "\\U{:08X}", u32::from(c));
        }
    }
}

/// Controls, format characters, those for private use and those that never will be any are not. (Characters without a meaning yet are
/// taken for printable; and what ends a line, which Qt prints, is not shown raw.)
fn is_printable(c: char) -> bool {
    !matches!(
        u32::from(c),
        0..0x20
            | 0x7F..0xA0
            | 0xAD
            | 0x600..0x606
            | 0x61C
            | 0x6DD
            | 0x70F
            | 0x890..0x892
            | 0x8E2
            | 0x180E
            | 0x200B..0x2010
            | 0x2028..0x202F
            | 0x2060..0x2070
            | 0xE000..0xF900
            | 0xFDD0..0xFDF0
            | 0xFEFF
            | 0xFFF0..0xFFFC
            | 0xFFFE..0x10000
            | 0x110BD
            | 0x110CD
            | 0x13430..0x13440
            | 0x1BCA0..0x1BCA4
            | 0x1D173..0x1D17B
            | 0xE0000..0xE0080
            | 0xF0000..
    )
}

/// A character as `QChar`: in single quotes, what is not ASCII as its code.
pub(super) fn push_char(out: &mut String, c: char) {
    let code = u32::from(c);
    let _ = match code {
        0..0x20 => write!(out, "'\\x{code:x}'"),
        0x20..0x80 => write!(out, "'{c}'"),
        0x80..0x10000 => write!(out, "'\\u{code:04x}'"),
        _ => write!(out, "'\\U{code:08x}'"),
    };
}

/// A moment as `QDateTime` in UTC: to the millisecond.
pub(super) fn push_time(out: &mut String, unix_ns: i64) {
    // Every i64 of nanoseconds can be expressed.
    let Ok(time) = Timestamp::from_nanosecond(i128::from(unix_ns.div_euclid(1_000_000)) * 1_000_000) else {
        return;
    };
    let time = jiff::tz::Offset::UTC.to_datetime(time);
    let _ = write!(
        out,
        "QDateTime({:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:03} UTC Qt::UTC)",
        time.year(),
        time.month(),
        time.day(),
        time.hour(),
        time.minute(),
        time.second(),
        time.millisecond()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_a_byte_array() {
        let shown = |bytes: &[u8]| {
            let mut out = String::new();
            push_bytes(&mut out, bytes);
            out
        };
        assert_eq!(shown(b"a\"b\\\n"), r#""a\"b\\\n""#);
        assert_eq!(shown(b"\xffg\x01a"), r#""\xFFg\x01""a""#);
    }

    #[test]
    fn moments_end_with_milliseconds_before_1970_too() {
        let shown = |ns| {
            let mut out = String::new();
            push_time(&mut out, ns);
            out
        };
        assert_eq!(shown(1_234_567_890), "QDateTime(1970-01-01 00:00:01.234 UTC Qt::UTC)");
        assert_eq!(shown(-1), "QDateTime(1969-12-31 23:59:59.999 UTC Qt::UTC)");
    }
}
