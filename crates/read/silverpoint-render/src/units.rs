//! Sizes and durations as people write them.

use std::time::Duration;

/// `64M`, `1GiB`, `500000`: bytes; K, M, G are powers of 1024.
pub fn size(text: &str) -> Result<u64, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = text[..digits].parse().map_err(|_| format!("'{text}': expected a size such as 64M"))?;
    let shift = match text[digits..].to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return Err(format!("'{text}': expected a size in bytes, or with K, M or G")),
    };
    number.checked_mul(1 << shift).ok_or_else(|| format!("'{text}': too large"))
}

/// `10s`, `1.5m`, `1h`, `200ms`, `1d`; a bare number is seconds. Callers count in milliseconds: a shorter one is an error, not zero.
pub fn duration(text: &str) -> Result<Duration, String> {
    let ns = nanoseconds(text)?.unsigned_abs();
    if (1..1_000_000).contains(&ns) {
        return Err(format!("'{text}': shorter than a millisecond"));
    }
    Ok(Duration::from_nanos(ns))
}

/// The same, of any length: `1us`, `0.5ns` (which is 0). Never negative.
pub fn nanoseconds(text: &str) -> Result<i64, String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return Err(format!("'{text}': expected a duration such as 10s"));
    }
    let unit_ns: i64 = match unit {
        "ns" => 1,
        "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "" | "s" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return Err(format!("'{text}': expected a duration in ns, us, ms, s, m, h or d")),
    };
    let mut fraction_ns = 0;
    let mut place = unit_ns;
    for digit in fraction.bytes() {
        place /= 10;
        fraction_ns += i64::from(digit - b'0') * place;
    }
    let whole: Option<i64> = if whole.is_empty() { Some(0) } else { whole.parse().ok() };
    let ns = whole.and_then(|whole| whole.checked_mul(unit_ns)?.checked_add(fraction_ns));
    ns.ok_or_else(|| format!("'{text}': too long; a duration is at most 292 years"))
}

/// Bytes for people: `1.5 MiB`.
pub fn show_bytes(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{value:.1} {}", units[unit]) }
}

/// A count with thousands separated: `1,234,567`.
pub fn show_count(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun: `1 record`, `1,234 records`.
pub fn show_number(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", show_count(count), if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read() {
        assert_eq!(size("64M"), Ok(64 << 20));
        assert_eq!(size("1GiB"), Ok(1 << 30));
        assert_eq!(size("12"), Ok(12));
        for bad in ["", "M", "-1", "1T2", "99999999999999999999", "18446744073709551615K"] {
            assert!(size(bad).is_err(), "{bad}");
        }
        assert_eq!(duration("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        assert_eq!(duration("0"), Ok(Duration::ZERO));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("1000us"), Ok(Duration::from_millis(1)));
        for (wrong, why) in [
            ("soon", "such as 10s"),
            ("", "such as 10s"),
            (".s", "such as 10s"),
            ("1.2.3s", "such as 10s"),
            ("-1s", "such as 10s"),
            ("5x", "in ns, us, ms, s, m, h or d"),
            ("999us", "shorter than a millisecond"),
            ("9223372037s", "too long"),
            ("99999999999999999999ns", "too long"),
        ] {
            let error = duration(wrong).unwrap_err();
            assert!(error.starts_with(&format!("'{wrong}': ")) && error.contains(why), "{error}");
        }
        assert_eq!(nanoseconds("2.0000000015s"), Ok(2_000_000_001));
        assert_eq!(nanoseconds(".5µs"), Ok(500));
        assert_eq!(nanoseconds("9223372036854775807ns"), Ok(i64::MAX));
    }

    #[test]
    fn units_are_shown() {
        assert_eq!(show_bytes(17), "17 B");
        assert_eq!(show_bytes(1_572_864), "1.5 MiB");
        assert_eq!(show_count(0), "0");
        assert_eq!(show_count(1_234_567), "1,234,567");
        assert_eq!(show_number(1, "record"), "1 record");
        assert_eq!(show_number(2000, "record"), "2,000 records");
    }
}
