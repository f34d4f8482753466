//! Values of other crates, each behind its feature.

use chrono::{FixedOffset, NaiveDate, TimeDelta, TimeZone, Utc};
use time::{Date, Month, OffsetDateTime, PrimitiveDateTime, Time, UtcDateTime, UtcOffset};
use uuid::{NonNilUuid, Uuid};

use crate::{Role, Test};

pub const TESTS: &[Test] = &[("every_type_of_other_crates_reads_back", every_type_reads_back)];
pub const ROLES: &[Role] = &[("types_of_other_crates", types)];

const ID: Uuid = Uuid::from_u128(0x0011_2233_4455_6677_8899_aabb_ccdd_eeff);

fn naive() -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 11, 21).unwrap()
}

fn east() -> FixedOffset {
    FixedOffset::east_opt(5400).unwrap()
}

fn date() -> Date {
    Date::from_calendar_date(2026, Month::November, 21).unwrap()
}

fn clock(ns: u32) -> Time {
    Time::from_hms_nano(3, 4, 5, ns).unwrap()
}

fn offset(seconds: i32) -> UtcOffset {
    UtcOffset::from_whole_seconds(seconds).unwrap()
}

cases! { "types_of_other_crates":
    "uuid": ID => "u" "uuid 00112233445566778899aabbccddeeff";
    "uuid, some": Some(ID) => "?u" "uuid 00112233445566778899aabbccddeeff";
    "uuids": vec![ID, Uuid::nil()] => "[u" "[uuid 00112233445566778899aabbccddeeff, uuid 00000000000000000000000000000000]";
    "uuid, not nil": NonNilUuid::new(ID).unwrap() => "u" "uuid 00112233445566778899aabbccddeeff";

    "chrono UTC": Utc.timestamp_nanos(1_700_000_000_123_456_789) => "t" "t1700000000123456789";
    "chrono UTC, before 1970": Utc.timestamp_nanos(-7) => "t" "t-7";
    "chrono UTC, first": chrono::DateTime::<Utc>::MIN_UTC => "t" "t-9223372036854775808";
    "chrono UTC, last": chrono::DateTime::<Utc>::MAX_UTC => "t" "t9223372036854775807";
    "chrono zoned": Utc.timestamp_nanos(7).with_timezone(&east())
        => "<zoned_time|time:t,zone:s,>" r#"zoned_time{time: t7, zone: "+01:30"}"#;
    "chrono zoned, to the second": Utc.timestamp_nanos(7).with_timezone(&FixedOffset::west_opt(3661).unwrap())
        => "<zoned_time|time:t,zone:s,>" r#"zoned_time{time: t7, zone: "-01:01:01"}"#;
    "chrono delta": TimeDelta::nanoseconds(-1) => "T" "-1ns";
    "chrono delta, greatest": TimeDelta::MAX => "T" "9223372036854775807ns";
    "chrono delta, least": TimeDelta::MIN => "T" "-9223372036854775808ns";
    "chrono date": naive() => "s" "\"2026-11-21\"";
    "chrono time": naive().and_hms_milli_opt(3, 4, 5, 678).unwrap().time() => "s" "\"03:04:05.678\"";
    "chrono date and time": naive().and_hms_opt(3, 4, 5).unwrap() => "s" "\"2026-11-21T03:04:05\"";
    "chrono offset": east() => "s" "\"+01:30\"";
    "chrono weekday": chrono::Weekday::Sat => "s" "\"Sat\"";
    "chrono month": chrono::Month::November => "s" "\"Nov\"";

    "time UTC": UtcDateTime::from_unix_timestamp_nanos(-7).unwrap() => "t" "t-7";
    "time UTC, last": UtcDateTime::MAX => "t" "t9223372036854775807";
    "time zoned": OffsetDateTime::UNIX_EPOCH.to_offset(offset(-16_200))
        => "<zoned_time|time:t,zone:s,>" r#"zoned_time{time: t0, zone: "-04:30"}"#;
    "time zoned, to the second": OffsetDateTime::UNIX_EPOCH.to_offset(offset(5))
        => "<zoned_time|time:t,zone:s,>" r#"zoned_time{time: t0, zone: "+00:00:05"}"#;
    "time duration": time::Duration::nanoseconds(-5) => "T" "-5ns";
    "time duration, least": time::Duration::MIN => "T" "-9223372036854775808ns";
    "time date": date() => "s" "\"2026-11-21\"";
    "time date, before the year 1": Date::from_calendar_date(-44, Month::March, 15).unwrap() => "s" "\"-0044-03-15\"";
    "time of day": clock(0) => "s" "\"03:04:05\"";
    "time of day, ms": clock(678_000_000) => "s" "\"03:04:05.678\"";
    "time of day, us": clock(678_001_000) => "s" "\"03:04:05.678001\"";
    "time of day, ns": clock(1) => "s" "\"03:04:05.000000001\"";
    "time date and time": PrimitiveDateTime::new(date(), clock(0)) => "s" "\"2026-11-21T03:04:05\"";
    "time offset": offset(5400) => "s" "\"+01:30:00\"";
    "time weekday": time::Weekday::Saturday => "s" "\"Sat\"";
    "time month": Month::November => "s" "\"Nov\"";
}
