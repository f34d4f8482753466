//! Wall time as text: of a record, and as a person types it.
//!
//! Consecutive records usually fall into the same second. So the text up to the second is kept, and only the
//! fraction is written again; the time zone is used once a second.

pub use jiff::tz::TimeZone;
use jiff::{Timestamp, civil};

use crate::units::nanoseconds;

const NS_PER_S: i64 = 1_000_000_000;

/// How a record's time is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// `19:02:11.123456789`
    #[default]
    TimeOfDay,
    /// `2026-11-20T19:02:11.123456789+01:00`
    Full,
    /// Seconds since the first record written: `+12.345678901`.
    Relative,
    /// Seconds since the record written before: `+0.000001234`.
    Delta,
    /// Not at all.
    None,
}

/// The local time zone, or UTC when it cannot be determined.
pub fn local_zone() -> TimeZone {
    TimeZone::try_system().unwrap_or(TimeZone::UTC)
}

/// Coordinated universal time.
pub fn utc_zone() -> TimeZone {
    TimeZone::UTC
}

/// `local`, `utc`, or a name of the time zone database (`Europe/Berlin`).
///
/// # Errors
/// An invalid name, or one that this machine does not have.
pub fn named_zone(name: &str) -> Result<TimeZone, String> {
    match name.to_ascii_lowercase().as_str() {
        "local" => Ok(local_zone()),
        "utc" => Ok(TimeZone::UTC),
        _ => TimeZone::get(name).map_err(|error| {
            format!("{name:?}: {error}; valid are local, utc, or a name such as Europe/Berlin")
        }),
    }
}

/// A recurring moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// The full hour.
    Hour,
    /// Midnight.
    Day,
}

impl Boundary {
    /// The first such moment after `unix_ns`, by the clocks of a zone; `None` beyond the year 2262.
    pub fn after(self, unix_ns: i64, zone: &TimeZone) -> Option<i64> {
        let stamp = Timestamp::from_nanosecond(i128::from(unix_ns)).ok()?;
        let local = zone.to_datetime(stamp);
        let next = match self {
            Self::Hour => {
                let seconds = i64::from(local.minute()) * 60 + i64::from(local.second());
                // By the second: a zone's offset has no fraction of one.
                Timestamp::new(stamp.as_second() - seconds + 3600, 0).ok()?
            }
            // A day begins at another hour where the clocks jump over midnight.
            Self::Day => local.date().tomorrow().ok()?.to_zoned(zone.clone()).ok()?.timestamp(),
        };
        i64::try_from(next.as_nanosecond()).ok()
    }

    /// The hour or the day that `unix_ns` lies in, by the clocks of a zone: `2026-11-20T13`, `2026-11-20`; `None` beyond the years 0 to 9999.
    pub fn stamp(self, unix_ns: i64, zone: &TimeZone) -> Option<String> {
        let local = zone.to_datetime(Timestamp::from_nanosecond(i128::from(unix_ns)).ok()?);
        let form = match self {
            Self::Hour => "%Y-%m-%dT%H",
            Self::Day => "%Y-%m-%d",
        };
        (0..=9999).contains(&local.year()).then(|| local.strftime(form).to_string())
    }
}

/// Writes times in one style. Not shared between threads: it remembers what it wrote.
#[derive(Clone, Debug)]
pub struct TimeText {
    style: Style,
    zone: TimeZone,
    /// Digits of the fraction, at most 9.
    digits: usize,
    /// The second that `head` and `tail` are the text of.
    second: Option<i64>,
    /// Up to the second.
    head: String,
    /// After the fraction: the offset.
    tail: String,
    /// What `Relative` and `Delta` count from.
    origin_ns: Option<i64>,
}

impl TimeText {
    /// `digits` of the second's fraction, 0 to 9.
    pub fn new(style: Style, zone: TimeZone, digits: u8) -> Self {
        Self {
            style,
            zone,
            digits: usize::from(digits.min(9)),
            second: None,
            head: String::new(),
            tail: String::new(),
            origin_ns: None,
        }
    }

    /// The style JSON uses: full, UTC, nanoseconds.
    pub fn rfc3339_utc() -> Self {
        Self::new(Style::Full, TimeZone::UTC, 9)
    }

    /// Appends `wall_ns` (since 1970-01-01T00:00Z). Returns false when the style shows nothing.
    #[inline]
    pub fn push(&mut self, out: &mut String, wall_ns: i64) -> bool {
        match self.style {
            Style::None => return false,
            Style::TimeOfDay | Style::Full => {
                let second = wall_ns.div_euclid(NS_PER_S);
                if self.second != Some(second) {
                    self.enter_second(second);
                }
                out.push_str(&self.head);
                push_fraction(out, wall_ns.rem_euclid(NS_PER_S) as u32, self.digits);
                out.push_str(&self.tail);
            }
            Style::Relative | Style::Delta => {
                let origin = *self.origin_ns.get_or_insert(wall_ns);
                let span = i128::from(wall_ns) - i128::from(origin);
                out.push(if span < 0 { '-' } else { '+' });
                let ns = span.unsigned_abs();
                out.push_str(itoa::Buffer::new().format((ns / NS_PER_S as u128) as u64));
                push_fraction(out, (ns % NS_PER_S as u128) as u32, self.digits);
                if self.style == Style::Delta {
                    self.origin_ns = Some(wall_ns);
                }
            }
        }
        true
    }

    #[cold]
    fn enter_second(&mut self, second: i64) {
        use std::fmt::Write;
        self.second = Some(second);
        self.head.clear();
        self.tail.clear();
        // Every i64 of nanoseconds lies between the years 1677 and 2262, which jiff can express.
        let Ok(timestamp) = Timestamp::new(second, 0) else { return };
        let offset = self.zone.to_offset(timestamp);
        let local = offset.to_datetime(timestamp);
        let (hour, minute, seconds) = (local.hour(), local.minute(), local.second());
        if self.style == Style::Full {
            let _ = write!(self.head, "{:04}-{:02}-{:02}T", local.year(), local.month(), local.day());
            if self.zone == TimeZone::UTC {
                self.tail.push('Z');
            } else {
                let s = offset.seconds();
                let sign = if s < 0 { '-' } else { '+' };
                let s = s.unsigned_abs();
                let _ = write!(self.tail, "{sign}{:02}:{:02}", s / 3600, s / 60 % 60);
            }
        }
        let _ = write!(self.head, "{hour:02}:{minute:02}:{seconds:02}");
    }
}

/// `.` and the first `digits` of nine.
#[inline]
fn push_fraction(out: &mut String, ns: u32, digits: usize) {
    if digits == 0 {
        return;
    }
    // With a digit before them there are always nine.
    let mut buffer = itoa::Buffer::new();
    let text = buffer.format(1_000_000_000 + ns);
    out.push('.');
    out.push_str(text.get(1..=digits).unwrap_or_default());
}

/// Appends a length of time in the unit that suits it: `812 ns`, `1.234 ms`, `12.345 s`, `1h02m03s`.
pub fn push_duration(out: &mut String, ns: u64) {
    use std::fmt::Write;
    let (unit, name) = match ns {
        0..1_000 => {
            let _ = write!(out, "{ns} ns");
            return;
        }
        1_000..1_000_000 => (1_000, "µs"),
        1_000_000..1_000_000_000 => (1_000_000, "ms"),
        1_000_000_000..3_600_000_000_000 => (1_000_000_000, "s"),
        _ => {
            let s = ns / 1_000_000_000;
            let _ = write!(out, "{}h{:02}m{:02}s", s / 3600, s / 60 % 60, s % 60);
            return;
        }
    };
    let _ = write!(out, "{}.{:03} {name}", ns / unit, ns % unit / (unit / 1000));
}

/// Appends a length of time exactly, in the unit that suits it: `1.234567 ms`, `-5 s`.
pub fn push_exact_duration(out: &mut String, ns: i64) {
    if ns < 0 {
        out.push('-');
    }
    let magnitude = ns.unsigned_abs();
    let (digits, name) = match magnitude {
        0..1_000 => (0, " ns"),
        1_000..1_000_000 => (3, " µs"),
        1_000_000..1_000_000_000 => (6, " ms"),
        _ => (9, " s"),
    };
    let unit = 10u64.pow(digits as u32);
    out.push_str(itoa::Buffer::new().format(magnitude / unit));
    // The nine digits of the fraction, of which the last `digits` count.
    let mut fraction = String::new();
    push_fraction(&mut fraction, (magnitude % unit) as u32, 9);
    let fraction = fraction[10 - digits..].trim_end_matches('0');
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out.push_str(name);
}

/// A point of time as a person gives it.
#[derive(Clone, Debug, PartialEq)]
pub enum When {
    /// Nanoseconds since 1970-01-01T00:00Z.
    Absolute(i64),
    /// A time of day, of the day on which the trace ends.
    TimeOfDay(civil::Time),
    /// Nanoseconds after the trace's beginning (`+5s`).
    AfterBegin(i64),
    /// Nanoseconds before the trace's end (`-5s`).
    BeforeEnd(i64),
}

/// A text that cannot be read as a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeError(String);

impl std::fmt::Display for TimeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "'{}' is not a time: expected 2026-11-20T19:02:11.5Z, 2026-11-20 19:02, 19:02:11.5, or -5s, +1.5m \
             (units ns, us, ms, s, m, h, d)",
            self.0
        )
    }
}

impl std::error::Error for TimeError {}

impl When {
    /// Reads a time; one without an offset is in `zone`.
    ///
    /// # Errors
    /// What is neither a time nor a relative duration, or lies outside the years 1677 to 2262.
    pub fn parse(text: &str, zone: &TimeZone) -> Result<Self, TimeError> {
        let fail = || TimeError(text.to_owned());
        let trimmed = text.trim();
        if let Some(rest) = trimmed.strip_prefix('-') {
            return nanoseconds(rest).map(Self::BeforeEnd).map_err(|_| fail());
        }
        if let Some(rest) = trimmed.strip_prefix('+') {
            return nanoseconds(rest).map(Self::AfterBegin).map_err(|_| fail());
        }
        let ns = |t: Timestamp| i64::try_from(t.as_nanosecond()).map(Self::Absolute).map_err(|_| fail());
        if let Ok(timestamp) = trimmed.parse::<Timestamp>() {
            return ns(timestamp);
        }
        if let Ok(local) = trimmed.parse::<civil::DateTime>() {
            return ns(zone.to_timestamp(local).map_err(|_| fail())?);
        }
        trimmed.parse::<civil::Time>().map(Self::TimeOfDay).map_err(|_| fail())
    }

    /// The absolute time, in a trace from `begin_ns` to `end_ns`.
    pub fn resolve(&self, begin_ns: i64, end_ns: i64, zone: &TimeZone) -> i64 {
        match self {
            Self::Absolute(ns) => *ns,
            Self::AfterBegin(ns) => begin_ns.saturating_add(*ns),
            Self::BeforeEnd(ns) => end_ns.saturating_sub(*ns),
            Self::TimeOfDay(time) => {
                let end = Timestamp::from_nanosecond(i128::from(end_ns)).unwrap_or_default();
                let day = zone.to_datetime(end).date();
                zone.to_timestamp(day.to_datetime(*time))
                    .ok()
                    .and_then(|t| i64::try_from(t.as_nanosecond()).ok())
                    .unwrap_or(end_ns)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(hours: i8) -> TimeZone {
        TimeZone::fixed(jiff::tz::offset(hours))
    }

    #[test]
    fn hours_and_days_begin_by_the_clocks_of_the_zone() {
        let berlin = named_zone("Europe/Berlin").unwrap();
        let at = |text: &str| text.parse::<Timestamp>().unwrap().as_nanosecond() as i64;
        let after = |boundary: Boundary, text: &str, zone: &TimeZone| {
            Timestamp::from_nanosecond(boundary.after(at(text), zone).unwrap().into()).unwrap().to_string()
        };
        let utc = named_zone("UTC").unwrap();
        assert_eq!(after(Boundary::Hour, "2026-11-20T19:02:11.5Z", &utc), "2026-11-20T20:00:00Z");
        assert_eq!(after(Boundary::Hour, "2026-11-20T19:00:00Z", &utc), "2026-11-20T20:00:00Z");
        assert_eq!(after(Boundary::Day, "2026-11-20T19:02:11Z", &utc), "2026-11-21T00:00:00Z");
        assert_eq!(after(Boundary::Day, "2026-11-20T22:59:59Z", &berlin), "2026-11-20T23:00:00Z");
        assert_eq!(after(Boundary::Day, "2026-11-20T23:00:00Z", &berlin), "2026-11-21T23:00:00Z");
        // A day of 25 hours.
        assert_eq!(after(Boundary::Day, "2026-10-24T22:00:00Z", &berlin), "2026-10-25T23:00:00Z");
        let kolkata = named_zone("Asia/Kolkata").unwrap();
        assert_eq!(after(Boundary::Hour, "2026-11-20T19:02:11Z", &kolkata), "2026-11-20T19:30:00Z");
        assert!(named_zone("Nowhere").unwrap_err().contains("Europe/Berlin"));
        assert_eq!(Boundary::Day.after(i64::MAX, &utc), None);
    }

    #[test]
    fn styles() {
        let at = 1_795_201_331_123_456_789;
        let mut out = String::new();
        for (style, digits) in
            [(Style::TimeOfDay, 9), (Style::TimeOfDay, 3), (Style::TimeOfDay, 0), (Style::Full, 6)]
        {
            TimeText::new(style, zone(2), digits).push(&mut out, at);
            out.push(' ');
        }
        TimeText::rfc3339_utc().push(&mut out, -1);
        assert_eq!(
            out,
            "21:02:11.123456789 21:02:11.123 21:02:11 2026-11-20T21:02:11.123456+02:00 \
             1969-12-31T23:59:59.999999999Z"
        );
        let mut relative = TimeText::new(Style::Relative, TimeZone::UTC, 9);
        let mut delta = TimeText::new(Style::Delta, TimeZone::UTC, 3);
        out.clear();
        for ns in [i64::MIN, i64::MAX, 0] {
            relative.push(&mut out, ns);
            delta.push(&mut out, ns);
        }
        assert_eq!(
            out,
            "+0.000000000+0.000+18446744073.709551615+18446744073.709+9223372036.854775808-9223372036.854"
        );
    }

    #[test]
    fn times_as_typed() {
        let zone = zone(1);
        let second = NS_PER_S;
        assert_eq!(When::parse("1970-01-01T00:00:01Z", &zone), Ok(When::Absolute(second)));
        assert_eq!(When::parse("1970-01-01 01:00:01", &zone), Ok(When::Absolute(second)));
        assert_eq!(When::parse("1970-01-01", &zone), Ok(When::Absolute(-3600 * second)));
        assert_eq!(When::parse("-5s", &zone), Ok(When::BeforeEnd(5 * second)));
        assert_eq!(When::parse("+1.5m", &zone), Ok(When::AfterBegin(90 * second)));
        let day = 86_400 * second;
        let time = When::parse("01:00:02.5", &zone).unwrap();
        assert_eq!(time.resolve(0, day + second, &zone), day + 2 * second + second / 2);
        for wrong in ["", "-", "5x", "noon", "-1.2.3s", "9999-01-01T00:00:00Z"] {
            assert!(When::parse(wrong, &zone).is_err(), "{wrong}");
        }
    }

    #[test]
    fn durations() {
        let mut exact = String::new();
        for ns in [0, -812, 1_000, 1_234_560, -5_000_000_000, 60_000_000_001, i64::MIN] {
            push_exact_duration(&mut exact, ns);
            exact.push(',');
        }
        assert_eq!(exact, "0 ns,-812 ns,1 µs,1.23456 ms,-5 s,60.000000001 s,-9223372036.854775808 s,");
        let mut out = String::new();
        for ns in [0, 812, 1_234, 999_999, 1_234_567, 12_345_678_901, 3_723_000_000_000, u64::MAX] {
            push_duration(&mut out, ns);
            out.push(',');
        }
        assert_eq!(out, "0 ns,812 ns,1.234 µs,999.999 µs,1.234 ms,12.345 s,1h02m03s,5124095h34m33s,");
    }
}
