//! Places from which reading goes on: all that is kept of the way to a record's number.

use std::sync::Arc;

use super::super::progress::{Names, Positions, Progress};
use crate::Context;

/// Events between two marks at first.
const SPACING: u64 = 4096;
/// Bytes of marks beyond which every second one is dropped.
const BYTES_MAX: usize = 32 << 20;

/// Session and stream.
type Key = (u32, u32);

/// A place between two events.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    /// Number of the event behind it.
    pub(super) first: u64,
    positions: Box<[(Key, (u64, bool))]>,
    /// Most marks have the same here as the one before.
    names: Arc<Names>,
    contexts: Arc<[(Key, Arc<Context>)]>,
    /// Events behind it are earlier than some before it: they must not be put in order together.
    is_break: bool,
}

impl Mark {
    fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.positions)
    }

    /// To go on from.
    pub(super) fn progress(&self) -> Progress {
        Progress {
            positions: self.limits(),
            names: Names::clone(&self.names),
            contexts: self.contexts.iter().cloned().collect(),
            ..Progress::default()
        }
    }

    /// To stop at.
    pub(super) fn limits(&self) -> Positions {
        self.positions.iter().copied().collect()
    }
}

/// The marks of a trace, in order. The first has number 0.
#[derive(Debug)]
pub(super) struct Marks {
    list: Vec<Mark>,
    bytes: usize,
    /// Events from one to the next.
    pub(super) spacing: u64,
}

impl Default for Marks {
    fn default() -> Self {
        let mut marks = Self { list: Vec::new(), bytes: 0, spacing: SPACING };
        let begin = marks.make(0, &Progress::default());
        marks.put(begin);
        marks
    }
}

impl Marks {
    /// A mark of this moment.
    pub(super) fn make(&self, first: u64, progress: &Progress) -> Mark {
        let before = self.list.last();
        let names = before.filter(|mark| *mark.names == progress.names).map(|mark| Arc::clone(&mark.names));
        let is_same = |mark: &&Mark| {
            mark.contexts.len() == progress.contexts.len()
                && mark.contexts.iter().all(|(stream, context)| {
                    progress.contexts.get(stream).is_some_and(|now| Arc::ptr_eq(now, context))
                })
        };
        let contexts = before.filter(is_same).map(|mark| Arc::clone(&mark.contexts));
        Mark {
            first,
            positions: progress.positions.iter().map(|(stream, place)| (*stream, *place)).collect(),
            names: names.unwrap_or_else(|| Arc::new(progress.names.clone())),
            contexts: contexts.unwrap_or_else(|| {
                progress.contexts.iter().map(|(stream, context)| (*stream, Arc::clone(context))).collect()
            }),
            is_break: false,
        }
    }

    /// Takes one that comes after all others. Without events between, it stands for the one before.
    pub(super) fn put(&mut self, mut mark: Mark) {
        if let Some(before) = self.list.last().filter(|before| before.first == mark.first) {
            self.bytes -= before.bytes();
            mark.is_break |= before.is_break;
            self.list.pop();
        }
        self.bytes += mark.bytes();
        self.list.push(mark);
        if self.bytes > BYTES_MAX {
            self.thin_out();
        }
    }

    /// The same, of one behind which there are earlier events.
    pub(super) fn put_break(&mut self, mark: Mark) {
        self.put(Mark { is_break: true, ..mark });
    }

    fn thin_out(&mut self) {
        self.spacing = self.spacing.saturating_mul(2);
        let mut at = 0usize;
        self.list.retain(|mark| {
            at += 1;
            mark.is_break || at % 2 == 1
        });
        self.bytes = self.list.iter().map(Mark::bytes).sum();
    }

    /// The number behind the last one.
    pub(super) fn last(&self) -> u64 {
        self.list.last().map_or(0, |mark| mark.first)
    }

    /// The last mark before an event, and the one after it.
    pub(super) fn around(&self, number: u64) -> (Option<&Mark>, Option<&Mark>) {
        let after = self.list.partition_point(|mark| mark.first <= number);
        (after.checked_sub(1).and_then(|at| self.list.get(at)), self.list.get(after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(position: u64, streams: u32) -> Progress {
        let positions = (0..streams).map(|stream| ((0, stream), (position, true))).collect();
        Progress { positions, ..Progress::default() }
    }

    #[test]
    fn marks_of_very_many_streams_take_bounded_room_and_every_break_stays() {
        let mut marks = Marks::default();
        let streams = 10_000;
        for number in 1..1000 {
            let mark = marks.make(number * SPACING, &at(number, streams));
            if number % 100 == 0 { marks.put_break(mark) } else { marks.put(mark) }
        }
        assert!(marks.bytes <= BYTES_MAX, "{}", marks.bytes);
        assert!(marks.spacing > SPACING);
        for number in 1..1000 {
            let (before, after) = marks.around(number * SPACING);
            let (before, after) = (before.unwrap().first, after.map_or(u64::MAX, |mark| mark.first));
            assert!(before <= number * SPACING && number * SPACING < after);
            assert!(before >= number / 100 * 100 * SPACING, "a break was passed over");
        }
        assert_eq!(marks.around(0).0.unwrap().first, 0);
    }

    #[test]
    fn a_mark_without_events_since_the_last_takes_its_place() {
        let mut marks = Marks::default();
        for position in 0..10 {
            let mark = marks.make(0, &at(position, 1));
            marks.put(mark);
        }
        assert_eq!(marks.list.len(), 1);
        assert_eq!(marks.around(5).0.unwrap().limits(), at(9, 1).positions);
    }
}
