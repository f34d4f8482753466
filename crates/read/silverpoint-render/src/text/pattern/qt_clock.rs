//! Times in Qt's forms.

/// A format of `QDateTime::toString`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Clock(Vec<Unit>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Unit {
    Text(String),
    /// Which, how many digits.
    Year(usize),
    Month(usize),
    Day(usize),
    /// Digits; of a clock with twelve hours.
    Hour(usize, bool),
    Minute(usize),
    Second(usize),
    /// `zzz` has always three digits, `z` no zeros at the end.
    Millisecond(usize),
    /// Upper case.
    AmPm(bool),
    Zone,
}

impl Clock {
    /// Every text is a format: characters without a meaning stand for themselves, and so does everything
    /// between `'`.
    pub(super) fn parse(format: &str) -> Self {
        let mut units: Vec<Unit> = Vec::new();
        let push_text = |units: &mut Vec<Unit>, c: char| match units.last_mut() {
            Some(Unit::Text(text)) => text.push(c),
            _ => units.push(Unit::Text(c.to_string())),
        };
        let mut rest = format;
        while let Some(c) = rest.chars().next() {
            let run = rest.len() - rest.trim_start_matches(c).len();
            let take = |most: usize| run.min(most);
            let (used, unit) = match c {
                '\'' => {
                    rest = quoted(&rest[1..], |c| push_text(&mut units, c));
                    continue;
                }
                'y' if run >= 4 => (4, Unit::Year(4)),
                'y' if run >= 2 => (2, Unit::Year(2)),
                'M' => (take(2), Unit::Month(take(2))),
                'd' => (take(2), Unit::Day(take(2))),
                'h' => (take(2), Unit::Hour(take(2), true)),
                'H' => (take(2), Unit::Hour(take(2), false)),
                'm' => (take(2), Unit::Minute(take(2))),
                's' => (take(2), Unit::Second(take(2))),
                'z' if run >= 3 => (3, Unit::Millisecond(3)),
                'z' => (1, Unit::Millisecond(1)),
                'A' if rest.starts_with("AP") => (2, Unit::AmPm(true)),
                'a' if rest.starts_with("ap") => (2, Unit::AmPm(false)),
                't' => (1, Unit::Zone),
                c => {
                    push_text(&mut units, c);
                    rest = &rest[c.len_utf8()..];
                    continue;
                }
            };
            units.push(unit);
            rest = &rest[used..];
        }
        // `h` goes to twelve only beside AM or PM.
        if !units.iter().any(|unit| matches!(unit, Unit::AmPm(_))) {
            for unit in &mut units {
                if let Unit::Hour(_, twelve) = unit {
                    *twelve = false;
                }
            }
        }
        Self(units)
    }

    /// Appends a time.
    pub(super) fn push(&self, out: &mut String, wall_ns: i64, zone: &jiff::tz::TimeZone) {
        // Every i64 of nanoseconds can be expressed.
        let Ok(stamp) = jiff::Timestamp::from_nanosecond(i128::from(wall_ns)) else { return };
        let info = zone.to_offset_info(stamp);
        let time = info.offset().to_datetime(stamp);
        for unit in &self.0 {
            match unit {
                Unit::Text(text) => out.push_str(text),
                Unit::Year(2) => number(out, i32::from(time.year()).rem_euclid(100), 2),
                Unit::Year(digits) => number(out, i32::from(time.year()), *digits),
                Unit::Month(digits) => number(out, i32::from(time.month()), *digits),
                Unit::Day(digits) => number(out, i32::from(time.day()), *digits),
                Unit::Hour(digits, false) => number(out, i32::from(time.hour()), *digits),
                Unit::Hour(digits, true) => number(out, (i32::from(time.hour()) + 11) % 12 + 1, *digits),
                Unit::Minute(digits) => number(out, i32::from(time.minute()), *digits),
                Unit::Second(digits) => number(out, i32::from(time.second()), *digits),
                Unit::Millisecond(digits) => {
                    let start = out.len();
                    number(out, i32::from(time.millisecond()), 3);
                    if *digits == 1 {
                        out.truncate(start + out[start..].trim_end_matches('0').len().max(1));
                    }
                }
                Unit::AmPm(is_upper) => out.push_str(match (time.hour() < 12, is_upper) {
                    (true, true) => "AM",
                    (true, false) => "am",
                    (false, true) => "PM",
                    (false, false) => "pm",
                }),
                Unit::Zone => out.push_str(info.abbreviation()),
            }
        }
    }
}

/// Gives the characters up to the next `'`, of which two stand for one, and what is behind it.
fn quoted(text: &str, mut give: impl FnMut(char)) -> &str {
    // `''` alone is one too.
    if let Some(rest) = text.strip_prefix('\'') {
        give('\'');
        return rest;
    }
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        if c != '\'' {
            give(c);
        } else if characters.next_if(|(_, next)| *next == '\'').is_some() {
            give('\'');
        } else {
            return &text[at + 1..];
        }
    }
    ""
}

/// Appends a number with zeros before it.
fn number(out: &mut String, value: i32, digits: usize) {
    let mut buffer = itoa::Buffer::new();
    let text = buffer.format(value);
    out.extend(std::iter::repeat_n('0', digits.saturating_sub(text.len())));
    out.push_str(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(format: &str) -> String {
        let mut out = String::new();
        // 2026-11-20T09:02:11.120Z
        Clock::parse(format).push(&mut out, 1_795_165_331_120_000_000, &jiff::tz::TimeZone::UTC);
        out
    }

    #[test]
    fn times_have_the_forms_of_qt() {
        assert_eq!(clock("yyyy-MM-ddTHH:mm:ss.zzz"), "2026-11-20T09:02:11.120");
        assert_eq!(clock("d.M.yy h:m:s.z"), "20.11.26 9:2:11.12");
        assert_eq!(clock("hh:mm AP 'o''clock' t"), "09:02 AM o'clock UTC");
        assert_eq!(clock("h 'h'"), "9 h");
        assert_eq!(clock("h'' 'h AP'"), "9' h AP");
        assert_eq!(clock("'open"), "open");
        assert_eq!(clock("y"), "y");
    }
}
