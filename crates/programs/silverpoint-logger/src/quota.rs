//! What the spool drops when it has grown beyond its quota. It counts the dropped records, so that sinks can
//! report those that they have not read.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use silverpoint_trace::{Trace, TraceFile};
use silverpoint_wire::about::PART;
use silverpoint_wire::process;

use crate::spool::Spool;

/// Parts whose numbers of records are remembered one by one.
const REMEMBERED: usize = 4096;

/// Keeps the spool's parts within a number of bytes.
#[derive(Debug)]
pub(crate) struct Quota {
    bytes: u64,
    /// Parts that had been begun at the last check.
    rotations: u64,
}

/// By number of a dropped part: its records. Of the oldest only sums are known.
pub(crate) type GivenUp = BTreeMap<u64, u64>;

impl Quota {
    pub(crate) fn new(bytes: u64) -> Self {
        Self { bytes, rotations: 0 }
    }

    /// Checks the size, once for each new part. Gives what it has removed.
    pub(crate) fn enforce(&mut self, spool: &Spool, rotations: u64) -> GivenUp {
        let mut removed = GivenUp::new();
        if std::mem::replace(&mut self.rotations, rotations) == rotations {
            return removed;
        }
        let size = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
        let parts = spool.parts();
        let mut total =
            size(&spool.file()) + parts.iter().map(|number| size(&spool.part(*number))).sum::<u64>();
        for number in parts {
            if total <= self.bytes {
                break;
            }
            let path = spool.part(number);
            let (records, bytes) = (records(&path), size(&path));
            if fs::remove_file(&path).is_ok() {
                total -= bytes;
                removed.insert(number, records);
            }
        }
        removed
    }
}

/// Adds what was removed to what is known.
pub(crate) fn add(known: &mut GivenUp, removed: GivenUp) {
    known.extend(removed);
    while known.len() > REMEMBERED {
        let first = known.pop_first();
        if let (Some((_, records)), Some(mut next)) = (first, known.first_entry()) {
            *next.get_mut() += records;
        }
    }
}

/// Records in a part; none of a part that cannot be read.
fn records(part: &Path) -> u64 {
    let Ok(trace) = Trace::open(&[part]) else { return 0 };
    let streams = trace.sessions.iter().flat_map(|session| &session.streams);
    streams.map(|stream| stream.records_stated()).sum()
}

/// Which parts a sink has opened, to know which it has missed.
#[derive(Debug, Default)]
pub(crate) struct Met {
    /// Files of the trace that were examined.
    files: usize,
    /// The greatest number of a part among them.
    last: u64,
}

impl Met {
    /// Examines the files that are new since the last time. Gives how many records lay in earlier parts that
    /// were dropped before this sink opened them.
    pub(crate) fn skipped(&mut self, trace: &Trace, given_up: impl FnOnce() -> GivenUp) -> u64 {
        let number = |file: &TraceFile| process::value(&file.about, PART)?.parse::<u64>().ok();
        let new: Vec<u64> = trace.files[self.files..].iter().filter_map(number).collect();
        let was_empty = std::mem::replace(&mut self.files, trace.files.len()) == 0;
        let Some(newest) = new.iter().copied().max().filter(|newest| *newest > self.last) else { return 0 };
        let before = std::mem::replace(&mut self.last, newest);
        // What was before the first is unknown here.
        if was_empty || new.len() as u64 == newest - before {
            return 0;
        }
        let between = given_up();
        let missed = between.range(before + 1..newest).filter(|(number, _)| !new.contains(number));
        missed.map(|(_, records)| records).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forgotten_part_by_part_stays_in_the_sum() {
        let mut known = GivenUp::new();
        for number in 1..=2 * REMEMBERED as u64 {
            add(&mut known, GivenUp::from([(number, number)]));
        }
        let last = 2 * REMEMBERED as u64;
        assert_eq!((known.len(), known.values().sum::<u64>()), (REMEMBERED, last * (last + 1) / 2));
    }
}
