//! Times of the crate `time`. Feature `time`.
//!
//! | type | recorded as |
//! |---|---|
//! | `UtcDateTime` | date-time, ns since 1970 |
//! | `OffsetDateTime` | a record of the date-time and its offset from UTC |
//! | `Duration` | duration |
//! | dates, times of day, both without a zone, offsets, months, weekdays | text, formatted into its place |
//!
//! Nanoseconds saturate beyond the years 1677 to 2262.

use std::fmt;

use ::time::{
    Date, Duration, Month, OffsetDateTime, PrimitiveDateTime, Time, UtcDateTime, UtcOffset, Weekday,
};

use super::calendar::{ZONED, write_zoned, zoned_item, zoned_size};
use super::scalar::as_number;
use super::text::formatted;
use super::{Known, Trace};
use crate::item::Item;
use crate::sig::Sig;
use crate::writer::Writer;

impl Trace for OffsetDateTime {
    const SIGNATURE: Sig = ZONED;
    const FIXED: Option<usize> = None;
    const EXACT: Known<Self> = Known::when(true);
    const ONCE: bool = false;

    #[inline(always)]
    fn trace_size(&self) -> usize {
        zoned_size(self.offset().whole_seconds())
    }
    #[inline(always)]
    fn trace_write(&self, writer: &mut Writer<'_>) {
        write_zoned(saturated(self.unix_timestamp_nanos()), self.offset().whole_seconds(), writer);
    }
    fn trace_item(&self, item: &mut Item<'_>) {
        zoned_item(saturated(self.unix_timestamp_nanos()), self.offset().whole_seconds(), item);
    }
}

fn saturated(ns: i128) -> i64 {
    i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
}

as_number! {
    [] UtcDateTime as i64, Other, Sig::Text("t"), self => saturated(self.unix_timestamp_nanos());
    [] Duration as i64, Other, Sig::Text("T"), self => saturated(self.whole_nanoseconds());
}

fn day(date: Date) -> Day {
    Day(date.year(), u8::from(date.month()), date.day())
}

fn clock(time: Time) -> Clock {
    Clock(time.hour(), time.minute(), time.second(), time.nanosecond())
}

formatted! {
    [] Date, self => format_args!("{}", day(*self));
    [] Time, self => format_args!("{}", clock(*self));
    [] PrimitiveDateTime, self => format_args!("{}T{}", day(self.date()), clock(self.time()));
    [] UtcOffset, self => format_args!("{self}");
    [] Weekday, self => format_args!("{:.3}", self);
    [] Month, self => format_args!("{:.3}", self);
}

/// Shown as `2026-11-21`.
struct Day(i32, u8, u8);

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(year, month, day) = *self;
        let sign = if year < 0 { "-" } else { "" };
        write!(f, "{sign}{:04}-{month:02}-{day:02}", year.unsigned_abs())
    }
}

/// Shown as `03:04:05.678`: with three, six or nine digits of a fraction, if there is one.
struct Clock(u8, u8, u8, u32);

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(hour, minute, second, ns) = *self;
        write!(f, "{hour:02}:{minute:02}:{second:02}")?;
        match ns {
            0 => Ok(()),
            _ if ns % 1_000_000 == 0 => write!(f, ".{:03}", ns / 1_000_000),
            _ if ns % 1_000 == 0 => write!(f, ".{:06}", ns / 1_000),
            _ => write!(f, ".{ns:09}"),
        }
    }
}
