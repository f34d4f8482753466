//! Times in spdlog's forms.

/// Part of a time, as spdlog writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// `Thu`, `Thursday`
    Weekday(bool),
    /// `Aug`, `August`
    MonthName(bool),
    /// Digits.
    Year(usize),
    Month,
    Day,
    Hour24,
    Hour12,
    Minute,
    Second,
    /// Digits of the second's fraction: 3, 6 or 9.
    Fraction(usize),
    AmPm,
    /// `+02:00`
    Offset,
    /// Seconds since 1970.
    Epoch,
    /// `Thu Aug 3 15:35:46 2014`
    Whole,
    /// Since the line before, in units of so many nanoseconds.
    Since(i64),
}

impl Moment {
    /// Appends it. `before` is the time of the line before.
    pub(super) fn push(self, out: &mut String, wall_ns: i64, before: Option<i64>, zone: &jiff::tz::TimeZone) {
        // Every i64 of nanoseconds can be expressed.
        let Ok(stamp) = jiff::Timestamp::from_nanosecond(i128::from(wall_ns)) else { return };
        let offset = zone.to_offset(stamp);
        let time = offset.to_datetime(stamp);
        let weekday = || {
            let name = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
            name[time.weekday().to_monday_zero_offset() as usize % 7]
        };
        let month = || {
            const NAMES: [&str; 12] = [
                "January",
                "February",
                "March",
                "April",
                "May",
                "June",
                "July",
                "August",
                "September",
                "October",
                "November",
                "December",
            ];
            NAMES[(time.month() as usize + 11) % 12]
        };
        let cut = |name: &'static str, whole: bool| if whole { name } else { &name[..3] };
        match self {
            Self::Weekday(whole) => out.push_str(cut(weekday(), whole)),
            Self::MonthName(whole) => out.push_str(cut(month(), whole)),
            Self::Year(2) => number(out, i64::from(time.year()).rem_euclid(100), 2),
            Self::Year(digits) => number(out, time.year().into(), digits),
            Self::Month => number(out, time.month().into(), 2),
            Self::Day => number(out, time.day().into(), 2),
            Self::Hour24 => number(out, time.hour().into(), 2),
            Self::Hour12 => number(out, (i64::from(time.hour()) + 11) % 12 + 1, 2),
            Self::Minute => number(out, time.minute().into(), 2),
            Self::Second => number(out, time.second().into(), 2),
            Self::Fraction(digits) => {
                let unit = 10i64.pow(9u32.saturating_sub(digits as u32));
                number(out, i64::from(time.subsec_nanosecond()) / unit, digits);
            }
            Self::AmPm => out.push_str(if time.hour() < 12 { "AM" } else { "PM" }),
            Self::Offset => {
                let minutes = offset.seconds() / 60;
                out.push(if minutes < 0 { '-' } else { '+' });
                number(out, i64::from(minutes.abs() / 60), 2);
                out.push(':');
                number(out, i64::from(minutes.abs() % 60), 2);
            }
            Self::Epoch => number(out, wall_ns.div_euclid(1_000_000_000), 1),
            Self::Whole => {
                out.push_str(&format!("{} {} {} ", cut(weekday(), false), cut(month(), false), time.day()));
                out.push_str(&format!("{:02}:{:02}:{:02} ", time.hour(), time.minute(), time.second()));
                number(out, time.year().into(), 1);
            }
            Self::Since(unit) => {
                let since = wall_ns.saturating_sub(before.unwrap_or(wall_ns)).max(0);
                number(out, since / unit.max(1), if unit == 1_000_000_000 { 1 } else { 0 });
            }
        }
    }
}

fn number(out: &mut String, value: i64, digits: usize) {
    out.push_str(&format!("{value:0digits$}"));
}
