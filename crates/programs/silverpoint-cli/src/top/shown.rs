//! How numbers and names of the table look, in text and on the screen alike.

use super::model::{Row, Total};
use crate::units::{show_bytes, show_count, show_number};

/// The columns of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cells<T> {
    /// Records a second.
    pub rate: T,
    /// Bytes a second.
    pub bytes: T,
    /// Records.
    pub records: T,
    /// Time waited.
    pub stalls: T,
    /// Records lost.
    pub lost: T,
}

/// A row's numbers. What is zero and should be is empty.
pub fn cells(row: &Row) -> Cells<String> {
    let unless_zero = |count: u64, text: String| if count == 0 { String::new() } else { text };
    Cells {
        rate: rate(row.rate),
        bytes: show_bytes(row.byte_rate as u64),
        records: show_count(row.counts.records),
        stalls: unless_zero(row.counts.stalls, duration(row.counts.stall_ns)),
        lost: unless_zero(row.counts.lost, show_count(row.counts.lost)),
    }
}

/// A site's text, its category and its place; a thread's name.
pub fn name(row: &Row) -> String {
    let mut text = row.name.clone();
    for part in [&row.category, &row.place].into_iter().filter(|part| !part.is_empty()) {
        text.push_str("  ");
        text.push_str(part);
    }
    text
}

/// The sums of all rows, in two lines.
pub fn summary(total: &Total) -> [String; 2] {
    let (sessions, threads, sites) = total.sizes;
    let counts = &total.counts;
    let number = |count: usize, noun: &str| show_number(count as u64, noun);
    let mut troubles =
        format!("{} waited {}", number(counts.stalls as usize, "time"), duration(counts.stall_ns));
    if counts.stalls == 0 {
        troubles = "no waits".to_owned();
    }
    troubles.push_str(", ");
    if total.losses.is_empty() {
        troubles.push_str(if total.missed.0 > 0 { "no losses counted" } else { "nothing lost" });
    } else {
        let causes: Vec<String> =
            total.losses.iter().map(|(cause, count)| format!("{} {cause}", show_count(*count))).collect();
        troubles.push_str("lost: ");
        troubles.push_str(&causes.join(", "));
    }
    let mut seen = format!("{} records/s", rate(total.rate));
    if total.missed.0 > 0 {
        troubles.push_str(&format!(
            "; {} were overwritten before they were seen: counts are of what was seen",
            show_bytes(total.missed.0)
        ));
        seen = format!("about {} records/s, {} of them seen", rate(total.estimated_rate()), rate(total.rate));
    }
    [
        format!(
            "{seen}, {}/s; {} in {}, {}, {}",
            show_bytes(total.byte_rate as u64),
            show_number(counts.records, "record"),
            number(sites, "site"),
            number(threads, "thread"),
            // `processes` is what it is called everywhere else.
            if sessions == 1 {
                "1 process".to_owned()
            } else {
                format!("{} processes", show_count(sessions as u64))
            },
        ),
        troubles,
    ]
}

/// `0.5`, `12`, `1,234,567`.
fn rate(rate: f64) -> String {
    if rate > 0.0 && rate < 10.0 { format!("{rate:.1}") } else { show_count(rate.round() as u64) }
}

/// `850 ns`, `12.3 ms`, `4.5 s`.
fn duration(ns: u64) -> String {
    let value = ns as f64;
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} us", value / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", value / 1e6),
        _ => format!("{:.1} s", value / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.0, 0.25, 9.94, 10.4, 1_234_567.0].map(rate), ["0", "0.2", "9.9", "10", "1,234,567"]);
        assert_eq!(
            [5, 1_500, 12_300_000, 4_500_000_000].map(duration),
            ["5 ns", "1.5 us", "12.3 ms", "4.5 s"]
        );
    }
}
