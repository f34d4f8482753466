//! Date-times of RFC 3339.

use std::fmt::Write;

/// Seconds of 0000-01-01T00:00Z and of 10000-01-01T00:00Z: years have four digits.
const RANGE: std::ops::Range<i64> = -62_167_219_200..253_402_300_800;

/// Appends a date-time in UTC with nine digits of the second's fraction. Times beyond the years 0 to 9999 are
/// written as their first or last second.
pub fn push(out: &mut String, seconds: i64, nanoseconds: u32) {
    let seconds = seconds.clamp(RANGE.start, RANGE.end - 1);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let _ = write!(out, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanoseconds:09}Z");
}

/// Year, month and day of a day since 1970-01-01, in the Gregorian calendar.
fn civil(days: i64) -> (i64, i64, i64) {
    // Counted from March, leap days are the last of their years.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn month_len(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Seconds since 1970-01-01T00:00Z, and nanoseconds of the second.
pub fn parse(text: &str) -> Option<(i64, u32)> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = bytes.get(from..to)?;
        digits
            .iter()
            .try_fold(0, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0')))
    };
    let is = |at: usize, choices: &[u8]| bytes.get(at).filter(|byte| choices.contains(byte)).map(|_| ());
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    is(4, b"-")?;
    is(7, b"-")?;
    is(10, b"Tt ")?;
    is(13, b":")?;
    is(16, b":")?;
    let is_date = (1..=12).contains(&month) && (1..=month_len(year, month)).contains(&day);
    if !is_date || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let (mut at, mut nanoseconds) = (19, 0);
    if bytes.get(at) == Some(&b'.') {
        let len = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if !(1..=9).contains(&len) {
            return None;
        }
        nanoseconds = number(at + 1, at + 1 + len)? * 10_i64.pow(9 - len as u32);
        at += 1 + len;
    }
    let offset = match bytes.get(at)? {
        b'Z' | b'z' => {
            at += 1;
            0
        }
        sign @ (b'+' | b'-') => {
            let (hours, minutes) = (number(at + 1, at + 3)?, number(at + 4, at + 6)?);
            is(at + 3, b":")?;
            if hours > 23 || minutes > 59 {
                return None;
            }
            at += 6;
            (hours * 60 + minutes) * if *sign == b'-' { -60 } else { 60 }
        }
        _ => return None,
    };
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
    (at == bytes.len()).then_some((seconds, nanoseconds as u32))
}
