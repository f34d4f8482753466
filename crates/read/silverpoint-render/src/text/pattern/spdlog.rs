//! Patterns as spdlog's `set_pattern` takes them: `[%Y-%m-%d %H:%M:%S.%e] [%n] [%^%l%$] %v`, with widths (`%8l`, `%-8l`, `%=8l`, `%3!l`).
//!
//! `%n`, the logger's name, is the category. `%+` is spdlog's default pattern without the place in the source, which only its macros have. What a letter does not mean stands for
//! itself, as there.

use super::item::{Condition, Field, Item};
use super::spdlog_moment::Moment;
use crate::format::{Align, Spec};

/// Widths are cut to this, as in spdlog.
const WIDEST: u16 = 64;

/// The items of a pattern; every text is one.
pub(super) fn parse(text: &str) -> Vec<Item> {
    let mut items = Vec::new();
    push_all(&mut items, text);
    items
}

fn push_all(items: &mut Vec<Item>, text: &str) {
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '%' {
            literal(items, c);
            continue;
        }
        let spec = padding(&mut rest);
        match rest.next() {
            Some(flag) => push_flag(items, flag, spec),
            None => literal(items, '%'),
        }
    }
}

fn literal(items: &mut Vec<Item>, c: char) {
    match items.last_mut() {
        Some(Item::Literal(text)) => text.push(c),
        _ => items.push(Item::Literal(c.to_string())),
    }
}

/// `8`, `-8`, `=8`, `8!` before a flag.
fn padding(rest: &mut std::str::Chars<'_>) -> Spec {
    let mut ahead = rest.clone();
    let mut align = Align::Right;
    match ahead.clone().next() {
        Some('-') => align = Align::Left,
        Some('=') => align = Align::Centre,
        _ => {}
    }
    if align != Align::Right {
        ahead.next();
    }
    let mut width = None;
    while let Some(digit) = ahead.clone().next().and_then(|c| c.to_digit(10)) {
        width = Some((width.unwrap_or(0) * 10 + digit as u16).min(WIDEST));
        ahead.next();
    }
    let mut spec = Spec::default();
    if let Some(width) = width {
        spec.align = Some(align);
        spec.width = width;
        if ahead.clone().next() == Some('!') {
            spec.precision = Some(width);
            ahead.next();
        }
    }
    if width.is_some() || align != Align::Right {
        *rest = ahead;
    }
    spec
}

fn push_flag(items: &mut Vec<Item>, flag: char, spec: Spec) {
    use Moment::*;
    let moments = |items: &mut Vec<Item>, parts: &[(Moment, &str)]| {
        for (moment, after) in parts {
            items.push(Item::Moment(*moment, Spec::default()));
            after.chars().for_each(|c| literal(items, c));
        }
    };
    let item = match flag {
        'v' => Item::Field(Field::Message, spec),
        't' => Item::Field(Field::Tid, spec),
        'P' => Item::Field(Field::Pid, spec),
        'n' => Item::Field(Field::Category, spec),
        'l' => Item::Field(Field::SpdlogLevel, spec),
        'L' => Item::Field(Field::SpdlogLetter, spec),
        's' => Item::Field(Field::File, spec),
        'g' => Item::Field(Field::Path, spec),
        '#' => Item::Field(Field::Line, spec),
        '!' => Item::Field(Field::Function, spec),
        '^' => Item::Paint(true),
        '$' => Item::Paint(false),
        'a' => Item::Moment(Weekday(false), spec),
        'A' => Item::Moment(Weekday(true), spec),
        'b' | 'h' => Item::Moment(MonthName(false), spec),
        'B' => Item::Moment(MonthName(true), spec),
        'c' => Item::Moment(Whole, spec),
        'C' => Item::Moment(Year(2), spec),
        'Y' => Item::Moment(Year(4), spec),
        'm' => Item::Moment(Month, spec),
        'd' => Item::Moment(Day, spec),
        'H' => Item::Moment(Hour24, spec),
        'I' => Item::Moment(Hour12, spec),
        'M' => Item::Moment(Minute, spec),
        'S' => Item::Moment(Second, spec),
        'e' => Item::Moment(Fraction(3), spec),
        'f' => Item::Moment(Fraction(6), spec),
        'F' => Item::Moment(Fraction(9), spec),
        'p' => Item::Moment(AmPm, spec),
        'z' => Item::Moment(Offset, spec),
        'E' => Item::Moment(Epoch, spec),
        'o' => Item::Moment(Since(1_000_000), spec),
        'i' => Item::Moment(Since(1_000), spec),
        'u' => Item::Moment(Since(1), spec),
        'O' => Item::Moment(Since(1_000_000_000), spec),
        'D' | 'x' => return moments(items, &[(Month, "/"), (Day, "/"), (Year(2), "")]),
        'r' => return moments(items, &[(Hour12, ":"), (Minute, ":"), (Second, " "), (AmPm, "")]),
        'R' => return moments(items, &[(Hour24, ":"), (Minute, "")]),
        'T' | 'X' => return moments(items, &[(Hour24, ":"), (Minute, ":"), (Second, "")]),
        '@' => {
            items.push(Item::Field(Field::Path, Spec::default()));
            literal(items, ':');
            Item::Field(Field::Line, Spec::default())
        }
        '+' => {
            push_all(items, "[%Y-%m-%d %H:%M:%S.%e] ");
            items.push(Item::If(Condition::Named));
            push_all(items, "[%n] ");
            items.push(Item::EndIf);
            return push_all(items, "[%^%l%$] %v");
        }
        '%' => return literal(items, '%'),
        other => {
            literal(items, '%');
            return literal(items, other);
        }
    };
    items.push(item);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-08-06T15:04:05.012345678Z, a Thursday.
    const WALL: i64 = 1_786_028_645_012_345_678;

    fn moment(flag: &str) -> String {
        let items = parse(flag);
        let mut out = String::new();
        for item in &items {
            match item {
                Item::Literal(text) => out.push_str(text),
                Item::Moment(moment, _) => {
                    moment.push(&mut out, WALL, Some(WALL - 2_500_000), &jiff::tz::TimeZone::UTC);
                }
                other => panic!("{other:?}"),
            }
        }
        out
    }

    #[test]
    fn times_are_as_spdlog_writes_them() {
        for (flag, text) in [
            ("%a %A %b %B", "Thu Thursday Aug August"),
            ("%c", "Thu Aug 6 15:04:05 2026"),
            ("%Y-%m-%d %C", "2026-08-06 26"),
            ("%D %x", "08/06/26 08/06/26"),
            ("%H:%M:%S.%e", "15:04:05.012"),
            ("%f %F", "012345 012345678"),
            ("%I %p %r", "03 PM 03:04:05 PM"),
            ("%R %T %X", "15:04 15:04:05 15:04:05"),
            ("%z %E", "+00:00 1786028645"),
            ("%o %i %u %O", "2 2500 2500000 0"),
            ("100%% %q %", "100% %q %"),
        ] {
            assert_eq!(moment(flag), text, "{flag}");
        }
    }

    #[test]
    fn widths_align_and_cut() {
        let spec = |text: &str| {
            let items = parse(text);
            let [Item::Field(Field::SpdlogLevel, spec)] = items[..] else { panic!("{text}: {items:?}") };
            (spec.width, spec.align, spec.precision)
        };
        assert_eq!(spec("%l"), (0, None, None));
        assert_eq!(spec("%8l"), (8, Some(Align::Right), None));
        assert_eq!(spec("%-8l"), (8, Some(Align::Left), None));
        assert_eq!(spec("%=8l"), (8, Some(Align::Centre), None));
        assert_eq!(spec("%3!l"), (3, Some(Align::Right), Some(3)));
        assert_eq!(spec("%99999999l"), (64, Some(Align::Right), None));
    }

    #[test]
    fn the_default_has_a_name_where_there_is_one() {
        let items = parse("%+");
        assert!(items.contains(&Item::If(Condition::Named)) && items.contains(&Item::Paint(true)));
        assert_eq!(parse("[%n] %v"), parse("[%n] %v"));
        assert_ne!(parse("[%n] %v"), parse("[%n]%v"));
    }
}
