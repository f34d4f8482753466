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

/// `10s`, `5m`, `1h`, `200ms`, `1d`; a bare number is seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit()).count();
    let number: u64 =
        text[..digits].parse().map_err(|_| format!("'{text}': expected a duration such as 10s"))?;
    let ms = match &text[digits..] {
        "ms" => 1,
        "" | "s" => 1000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(format!("'{text}': expected a duration in ms, s, m, h or d")),
    };
    number.checked_mul(ms).map(Duration::from_millis).ok_or_else(|| format!("'{text}': too long"))
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
        assert!(duration("soon").is_err());
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
