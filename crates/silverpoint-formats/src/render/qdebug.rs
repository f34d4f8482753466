//! Values that Qt's debug stream writes in a form of its own.

use std::fmt::Write;

use jiff::Timestamp;

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
            0x20..0x7F => out.push(char::from(*byte)),
            _ => {
                let _ = write!(out, "\\x{byte:02X}");
                is_after_hex = true;
            }
        }
    }
    out.push('"');
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
