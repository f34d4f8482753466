//! Times of other programs: texts of many forms, and numbers of any usual unit.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use minicbor::Decoder;
use minicbor::data::Type as Item;

use crate::own::members;
use crate::pack::{Whole, whole};

/// Nanoseconds since 1970, and whether the text or number says all of it: what does not say its offset from UTC stays an argument.
pub(super) type Read = Option<(i64, bool)>;

const SECOND: i64 = 1_000_000_000;

/// What a number counts, by its size: a time between 1973 and 5138 in each unit.
fn unit(whole: u128) -> Option<i64> {
    Some(match whole {
        100_000_000..100_000_000_000 => SECOND,
        100_000_000_000..100_000_000_000_000 => 1_000_000,
        100_000_000_000_000..100_000_000_000_000_000 => 1000,
        100_000_000_000_000_000.. => 1,
        _ => return None,
    })
}

/// A number in decimal digits, which counts units of nanoseconds; without a unit its size says which. `is_small`: small ones are taken as seconds.
fn decimal(text: &str, given: Option<i64>, is_small: bool) -> Option<i64> {
    let (digits, is_negative) = match text.strip_prefix('-') {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 30 || !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let whole: u128 = whole.parse().ok()?;
    let unit = match given.or_else(|| unit(whole)) {
        Some(unit) => unit,
        None if is_small => SECOND,
        None => return None,
    };
    let mut ns = i128::try_from(whole).ok()?.checked_mul(unit.into())?;
    let mut part = i128::from(unit);
    for digit in fraction.bytes() {
        part /= 10;
        ns += part * i128::from(digit - b'0');
    }
    i64::try_from(if is_negative { -ns } else { ns }).ok()
}

/// A value as a time. `exact`: the digits of a float as they stood in the input, where the float does not hold them all.
pub(super) fn read(items: &mut Decoder<'_>, given: Option<i64>, exact: Option<&str>, is_small: bool) -> Read {
    let plain = |ns: Option<i64>| ns.map(|ns| (ns, true));
    match items.datatype().ok()? {
        Item::String => text(items.str().ok()?, given, is_small),
        Item::F16 | Item::F32 | Item::F64 => {
            let shortest = items.f64().ok().filter(|value| value.is_finite())?.to_string();
            plain(decimal(exact.unwrap_or(&shortest), given, is_small))
        }
        Item::Map | Item::MapIndef => plain(parts(items.input(), items.position())),
        Item::Tag if items.clone().tag().is_ok_and(|tag| tag.as_u64() == 0) => {
            items.tag().ok()?;
            text(items.str().ok()?, given, is_small)
        }
        Item::Tag if items.clone().tag().is_ok_and(|tag| tag.as_u64() == 1) => {
            items.tag().ok()?;
            read(items, Some(SECOND), None, true)
        }
        _ => plain(match whole(items)? {
            Whole::Unsigned(value) => decimal(&value.to_string(), given, is_small),
            Whole::Signed(value) => decimal(&value.to_string(), given, is_small),
        }),
    }
}

/// Seconds and nanoseconds side by side: log4j2, protocol buffers.
fn parts(bytes: &[u8], begin: usize) -> Option<i64> {
    let (mut seconds, mut ns) = (None, 0_i64);
    for (name, begin) in members(bytes, begin).ok()? {
        let value = || match whole(&mut crate::own::at(bytes, begin)) {
            Some(Whole::Unsigned(value)) => i64::try_from(value).ok(),
            Some(Whole::Signed(value)) => i64::try_from(value).ok(),
            None => None,
        };
        match name {
            "epochSecond" | "seconds" => seconds = Some(value()?),
            "nanoOfSecond" | "nanos" => ns = value()?,
            _ => return None,
        }
    }
    seconds?.checked_mul(SECOND)?.checked_add(ns)
}

/// A date-time of any usual form, or a number in quotes.
fn text(text: &str, given: Option<i64>, is_small: bool) -> Read {
    let text = text.trim();
    if text.len() > 80 {
        return None;
    }
    if let Some(ns) = decimal(text, given, is_small) {
        return Some((ns, true));
    }
    let ns = |time: Timestamp| i64::try_from(time.as_nanosecond()).ok();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some((ns(time)?, true));
    }
    if let Ok(zoned) = jiff::fmt::rfc2822::parse(text) {
        return Some((ns(zoned.timestamp())?, true));
    }
    if let Ok(zoned) = jiff::Zoned::strptime("%d/%b/%Y:%H:%M:%S %z", text) {
        return Some((ns(zoned.timestamp())?, true));
    }
    // Go's and Ruby's `2026-01-02 15:04:05.5 +0100 CET m=+0.1`, Go's `2026/01/02 15:04:05`, a comma before the fraction.
    let mut words = text.split_whitespace();
    let (first, second, third) = (words.next()?, words.next(), words.next());
    let date = first.replace('/', "-").replace(',', ".");
    if let (Some(time), Some(offset)) = (second, third) {
        let offset = if matches!(offset, "UTC" | "GMT" | "Z") { "Z" } else { offset };
        let joined = format!("{date}T{}{offset}", time.replace(',', "."));
        if let Ok(time) = joined.parse::<Timestamp>() {
            return Some((ns(time)?, true));
        }
    }
    let joined = match second {
        Some(time) => format!("{date}T{}", time.replace(',', ".")),
        None => date,
    };
    if let Ok(time) = joined.parse::<Timestamp>() {
        return Some((ns(time)?, true));
    }
    let civil = joined.parse::<DateTime>().or_else(|_| DateTime::strptime("%a %b %e %H:%M:%S %Y", text));
    let time = TimeZone::UTC.to_timestamp(civil.ok()?).ok()?;
    Some((ns(time)?, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: i64 = 1_767_366_245;

    fn of(given: &str) -> Read {
        text(given, None, false)
    }

    #[test]
    fn texts_of_many_forms_are_one_time() {
        for given in [
            "2026-01-02T15:04:05Z",
            "2026-01-02t15:04:05z",
            "2026-01-02 15:04:05Z",
            "2026-01-02T16:04:05+01:00",
            "2026-01-02T16:04:05+0100",
            "2026-01-02T16:04:05+01",
            "2026-01-02 16:04:05,000+0100",
            "2026-01-02 15:04:05 +0000 UTC",
            "2026-01-02 16:04:05 +0100 CET m=+0.1",
            "2026-01-02 15:04:05 UTC",
            "2026-01-02T16:04:05+01:00[Europe/Berlin]",
            "Fri, 02 Jan 2026 15:04:05 GMT",
            "Fri, 2 Jan 2026 16:04:05 +0100",
            "02/Jan/2026:16:04:05 +0100",
            "1767366245",
            "1767366245.000",
            "1767366245000",
            "1767366245000000",
            "1767366245000000000",
        ] {
            assert_eq!(of(given), Some((T * SECOND, true)), "{given}");
        }
        for given in [
            "2026-01-02T15:04:05",
            "2026-01-02 15:04:05",
            "2026-01-02 15:04:05,000",
            "2026/01/02 15:04:05.000",
            "Fri Jan  2 15:04:05 2026",
        ] {
            assert_eq!(of(given), Some((T * SECOND, false)), "{given}");
        }
        for given in ["", "yesterday", "12", "15:04:05", "2026-13-02T15:04:05Z", "x2026-01-02T15:04:05Z"] {
            assert_eq!(of(given), None, "{given}");
        }
    }

    #[test]
    fn fractions_are_exact_in_every_unit() {
        let exact = Some(T * SECOND + 123_456_789);
        assert_eq!(decimal("1767366245.123456789", None, false), exact);
        assert_eq!(decimal("1767366245123.456789", None, false), exact);
        assert_eq!(decimal("1767366245123456.789", None, false), exact);
        assert_eq!(decimal("1767366245123456789", None, false), exact);
        assert_eq!(decimal("-1.5", Some(SECOND), false), Some(-1_500_000_000));
        assert_eq!((decimal("12", None, false), decimal("12", None, true)), (None, Some(12 * SECOND)));
        assert_eq!(decimal("9".repeat(40).as_str(), None, true), None);
    }
}
