//! Names of a log's old files: `app.1.log`, the newest by the smallest number; or by date, `app.2026-11-20.log`, `app.2026-11-20.1.log`, `app.2026-11-20T13.log`.
//!
//! A date is that of the last line, so that a log which is rotated at midnight has each day under its own
//! name. Further files of the same date have a growing number.

use std::cmp::Ordering;

use crate::config::Naming;

/// The distinguishing part of a name. The smallest is the newest: dates come before numbers, which exist when
/// a log had another naming before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Number(u32),
    Date {
        /// The date, with an hour or without.
        date: String,
        /// 0: no number.
        number: u32,
    },
}

impl Mark {
    /// Accepts `1`, but not `01` or `+1`: only marks that are made here. With numbers, dates are ignored:
    /// another program may have made them.
    pub(super) fn parse(text: &str, naming: Naming) -> Option<Self> {
        let mark = match text.parse() {
            Ok(number) if number < u32::MAX => (number > 0).then_some(Self::Number(number))?,
            _ if naming == Naming::Dates => {
                let (date, number) = text.split_once('.').unwrap_or((text, "0"));
                let number = number.parse().ok().filter(|number| *number < u32::MAX)?;
                is_date(date).then(|| Self::Date { date: date.to_owned(), number })?
            }
            _ => return None,
        };
        (mark.text() == text).then_some(mark)
    }

    pub(super) fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Date { date, number: 0 } => date.clone(),
            Self::Date { date, number } => format!("{date}.{number}"),
        }
    }
}

/// `2026-11-20`, `2026-11-20T13`: digits in their places.
fn is_date(text: &str) -> bool {
    let form = match text.len() {
        10 => "dddd-dd-dd",
        13 => "dddd-dd-ddTdd",
        _ => return false,
    };
    text.bytes().zip(form.bytes()).all(|(byte, form)| match form {
        b'd' => byte.is_ascii_digit(),
        form => byte == form,
    })
}

impl Ord for Mark {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(own), Self::Number(other)) => own.cmp(other),
            (Self::Date { date, number }, Self::Date { date: other, number: other_number }) => {
                (other, other_number).cmp(&(date, number))
            }
            (Self::Date { .. }, Self::Number(_)) => Ordering::Less,
            (Self::Number(_), Self::Date { .. }) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Mark {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_marks_that_are_given_here_are_read() {
        for good in ["1", "4294967294"] {
            assert_eq!(Mark::parse(good, Naming::Numbers).unwrap().text(), good);
            assert_eq!(Mark::parse(good, Naming::Dates).unwrap().text(), good);
        }
        for good in ["2026-11-20", "2026-11-20.1", "2026-11-20T13", "2026-11-20T13.17"] {
            assert_eq!(Mark::parse(good, Naming::Dates).unwrap().text(), good);
            assert_eq!(Mark::parse(good, Naming::Numbers), None);
        }
        for bad in [
            "",
            "0",
            "01",
            "+1",
            "4294967295",
            "2026-11-20.0",
            "2026-11-20.01",
            "2026-11-20.",
            "2026-1-20",
            "2026-11-20T1",
            "2026-11-20 13",
            "2026-11-2x",
            "2026-11-20.1.2",
            "٢026-11-2",
        ] {
            assert_eq!(Mark::parse(bad, Naming::Dates), None, "{bad}");
        }
    }

    #[test]
    fn the_newest_is_the_smallest() {
        let newest_first = [
            "2026-11-21",
            "2026-11-20T13.2",
            "2026-11-20T13",
            "2026-11-20.10",
            "2026-11-20.9",
            "2026-11-20",
            "1",
            "2",
        ];
        let marks = newest_first.map(|text| Mark::parse(text, Naming::Dates).unwrap());
        assert!(marks.is_sorted(), "{marks:?}");
    }
}
