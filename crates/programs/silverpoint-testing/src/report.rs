//! Failure messages: what was expected, what was recorded instead, and what may be missing.
//!
//! ```text
//! expected once, recorded not at all: event order.filled id=7 px=1.5
//! what has that name, with what differs marked !:
//!   event order.filled !id=8 (u64) px=1.5 (f64)  orders.rs:12
//!       id is 8, not 7
//! ```

use std::fmt;
use std::ops::RangeBounds;

use silverpoint_wire::level::{Kind, Level};

use crate::Record;
use crate::view::View;
use crate::wanted::{Times, Wanted};

/// Records that a message lists, at most.
const MOST: usize = 20;

/// The message of an expectation that is not met.
pub(crate) fn unmet(view: &View, wanted: &Wanted, times: Times, found: &[Record]) -> String {
    let mut out = format!("expected {times}, recorded {}: {}\n", often(found.len()), wanted.in_words());
    let named: Vec<&Record> = view.records.iter().filter(|record| wanted.is_named(record)).collect();
    let is_by_message = wanted.name.is_none() && wanted.message.is_some();
    if !found.is_empty() {
        out.push_str("these are:\n");
        list(&mut out, found.iter());
    } else if !named.is_empty() {
        let heading = if is_by_message {
            "these messages were recorded"
        } else {
            "with that name there is, what differs marked !"
        };
        out.push_str(&format!("{heading}:\n"));
        list_nearest(&mut out, wanted, &named, is_by_message);
    } else if view.records.is_empty() {
        out.push_str("nothing was recorded\n");
    } else {
        match wanted.name.as_ref().and_then(|name| similar(name, &view.records)) {
            Some(name) => {
                out.push_str(&format!("nothing is called that (is it {name}?); what was recorded:\n"))
            }
            None => out.push_str("nothing is called that; what was recorded:\n"),
        }
        list(&mut out, view.records.iter());
    }
    push_notes(&mut out, view, found.is_empty(), named.is_empty());
    out
}

/// The message when something is at levels where nothing should be.
pub(crate) fn none_of(view: &View, levels: &(impl RangeBounds<Level> + fmt::Debug)) -> Result<(), String> {
    let found: Vec<&Record> = view.records.iter().filter(|record| levels.contains(&record.level())).collect();
    if found.is_empty() && view.losses.is_none() && view.trouble.is_none() {
        return Ok(());
    }
    let levels: Vec<&str> =
        Level::ALL.iter().filter(|level| levels.contains(level)).map(|level| level.name()).collect();
    let mut out = format!("expected nothing at {}, recorded {}\n", levels.join(", "), often(found.len()));
    if !found.is_empty() {
        out.push_str("these are:\n");
        list(&mut out, found.iter().copied());
    }
    push_notes(&mut out, view, false, false);
    Err(out)
}

/// What may have kept the test from seeing what it expects: `is_missed`, nothing is as expected; `is_unheard_of`, nothing has its name either.
fn push_notes(out: &mut String, view: &View, is_missed: bool, is_unheard_of: bool) {
    if let Some(trouble) = &view.trouble {
        out.push_str(&format!("note: {trouble}\n"));
    }
    if !view.losses.is_none() {
        out.push_str(&format!("note: this is uncertain, because records were lost: {}\n", view.losses));
    }
    if !is_missed {
        return;
    }
    if let Some(directives) = &view.collected_by {
        out.push_str(&format!(
            "note: the process is collected, so that directives are not the capture's to change; they are {directives:?}\n"
        ));
    }
    if is_unheard_of && view.others_recorded {
        out.push_str("note: other threads have recorded; Capture::builder().all_threads() sees them too\n");
    }
}

/// The latest, one a line.
fn list<'r>(out: &mut String, records: impl ExactSizeIterator<Item = &'r Record>) {
    let before = records.len().saturating_sub(MOST);
    if before != 0 {
        out.push_str(&format!("  ({before} before)\n"));
    }
    for record in records.skip(before) {
        out.push_str(&format!("  {record}\n"));
    }
}

/// Those with the fewest differences, in order of time, with what differs.
fn list_nearest(out: &mut String, wanted: &Wanted, named: &[&Record], is_by_message: bool) {
    let mut ranked: Vec<(usize, Vec<String>)> =
        named.iter().enumerate().map(|(at, record)| (at, wanted.differences(record))).collect();
    match &wanted.message {
        Some(message) if is_by_message => {
            ranked.sort_by_key(|(at, _)| distance(message, named[*at].message()));
        }
        _ => ranked.sort_by_key(|(_, differences)| differences.len()),
    }
    let more = ranked.len().saturating_sub(MOST);
    ranked.truncate(MOST);
    ranked.sort_unstable_by_key(|(at, _)| *at);
    for (at, differences) in ranked {
        let record = named[at];
        out.push_str(&format!("  {}\n", record.line_marked(|number| wanted.refuses(record, number))));
        // That the message is another one is plain to see.
        let is_plain = is_by_message && wanted.message.as_deref() != Some(record.message());
        for difference in differences.iter().filter(|_| !is_plain || differences.len() > 1) {
            out.push_str(&format!("      {difference}\n"));
        }
    }
    if more != 0 {
        out.push_str(&format!("  (and {more} less like it)\n"));
    }
}

/// The name that is nearly the one wanted.
fn similar<'r>(wanted: &str, records: &'r [Record]) -> Option<&'r str> {
    let names = records.iter().filter(|record| record.kind() != Kind::Log).map(Record::name);
    let nearest = names.map(|name| (distance(wanted, name), name)).min()?;
    (nearest.0 * 3 <= wanted.chars().count()).then_some(nearest.1)
}

/// How many characters must be put in, taken out or exchanged to make one text of the other. Only the first 200 are looked at.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(200).collect(), b.chars().take(200).collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, to) in b.iter().enumerate() {
            let exchanged = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = exchanged.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

fn often(count: usize) -> String {
    match count {
        0 => "not at all".to_owned(),
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_editing() {
        for (a, b, steps) in
            [("", "", 0), ("abc", "", 3), ("kitten", "sitting", 3), ("order", "ordre", 2), ("ä", "a", 1)]
        {
            assert_eq!(distance(a, b), steps, "{a} {b}");
            assert_eq!(distance(b, a), steps, "{b} {a}");
        }
    }
}
