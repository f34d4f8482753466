//! Times of the crate `chrono`. Feature `chrono`.
//!
//! | type | recorded as |
//! |---|---|
//! | `DateTime<Utc>` | date-time, ns since 1970 |
//! | `DateTime` of another zone | a record of the date-time and its offset from UTC |
//! | `TimeDelta` | duration |
//! | dates, times of day, both without a zone, offsets, months, weekdays | text, formatted into its place |
//!
//! Nanoseconds saturate beyond the years 1677 to 2262.

use ::chrono::{
    DateTime, FixedOffset, Month, NaiveDate, NaiveDateTime, NaiveTime, Offset, TimeDelta, TimeZone, Weekday,
};

use super::calendar::{ZONED, write_zoned, zoned_item, zoned_size};
use super::scalar::as_number;
use super::text::formatted;
use super::{Known, Trace};
use crate::item::Item;
use crate::sig::Sig;
use crate::writer::Writer;

/// Whether the zone's offset is no value but known of the type, as that of `Utc`.
const fn is_utc<Tz: TimeZone>() -> bool {
    size_of::<Tz::Offset>() == 0
}

impl<Tz: TimeZone> Trace for DateTime<Tz> {
    const SIGNATURE: Sig = if is_utc::<Tz>() { Sig::Text("t") } else { ZONED };
    const FIXED: Option<usize> = if is_utc::<Tz>() { Some(8) } else { None };
    // A zone's offset is somebody else's code.
    const EXACT: Known<Self> = Known::when(is_utc::<Tz>());
    const ONCE: bool = !is_utc::<Tz>();

    #[inline(always)]
    fn trace_size(&self) -> usize {
        if is_utc::<Tz>() { 8 } else { zoned_size(self.offset().fix().local_minus_utc()) }
    }
    #[inline(always)]
    fn trace_write(&self, writer: &mut Writer<'_>) {
        let ns = nanoseconds(self);
        if is_utc::<Tz>() {
            ns.trace_write(writer);
        } else {
            write_zoned(ns, self.offset().fix().local_minus_utc(), writer);
        }
    }
    fn trace_item(&self, item: &mut Item<'_>) {
        if is_utc::<Tz>() {
            item.time(nanoseconds(self));
        } else {
            zoned_item(nanoseconds(self), self.offset().fix().local_minus_utc(), item);
        }
    }
}

fn nanoseconds<Tz: TimeZone>(time: &DateTime<Tz>) -> i64 {
    time.timestamp_nanos_opt().unwrap_or(if time.timestamp() < 0 { i64::MIN } else { i64::MAX })
}

as_number! {
    [] TimeDelta as i64, Other, Sig::Text("T"), self =>
        self.num_nanoseconds().unwrap_or(if self.num_seconds() < 0 { i64::MIN } else { i64::MAX });
}

formatted! {
    [] NaiveDate, self => format_args!("{self}");
    [] NaiveTime, self => format_args!("{self}");
    // `T` between date and time, as in texts of other languages.
    [] NaiveDateTime, self => format_args!("{self:?}");
    [] FixedOffset, self => format_args!("{self}");
    [] Weekday, self => format_args!("{self}");
    [] Month, self => format_args!("{}", self.name().get(..3).unwrap_or_default());
}
