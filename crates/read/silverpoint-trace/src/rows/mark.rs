//! Places from which reading goes on: all that is kept of the way to a record's number.
//!
//! Of very many streams few have records between two marks: only what moved from a mark to the next is kept.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use super::super::progress::{Move, Names, Positions, Progress};

/// Events between two marks at first.
const SPACING: u64 = 4096;
/// Bytes of marks beyond which every second one is dropped.
const BYTES_MAX: usize = 32 << 20;

/// A place between two events.
#[derive(Clone, Debug, Default)]
struct Mark {
    /// Number of the event behind it.
    first: u64,
    /// Up to the next mark; of the last one, what has moved since is elsewhere.
    moves: Box<[Move]>,
    /// Most marks have the same here as the one before.
    names: Arc<Names>,
    /// Events behind it are earlier than some before it: they must not be put in order together.
    is_break: bool,
}

impl Mark {
    fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.moves)
    }

    /// Takes what moved from the next mark on, which is dropped.
    fn join(&mut self, next: Self) {
        let mut joined: HashMap<_, Move> =
            std::mem::take(&mut self.moves).into_iter().map(|moved| (moved.stream, moved)).collect();
        for moved in next.moves {
            match joined.entry(moved.stream) {
                Entry::Occupied(known) => known.into_mut().to = moved.to,
                Entry::Vacant(unknown) => drop(unknown.insert(moved)),
            }
        }
        self.moves = joined.into_values().collect();
    }
}

/// Events between two marks.
#[derive(Debug)]
pub(super) struct Stretch {
    /// Number of the first.
    pub(super) first: u64,
    /// The number behind the last.
    pub(super) end: u64,
    moves: Vec<Move>,
    names: Arc<Names>,
}

impl Stretch {
    /// To go on from.
    pub(super) fn progress(&self) -> Progress {
        let starts = self.moves.iter().map(|moved| (moved.stream, &moved.from));
        let context = |moved: &Move| Some((moved.stream, Arc::clone(moved.from.context.as_ref()?)));
        Progress {
            positions: starts.map(|(stream, from)| (stream, (from.position, from.is_begun))).collect(),
            names: Names::clone(&self.names),
            contexts: self.moves.iter().filter_map(context).collect(),
            ..Progress::default()
        }
    }

    /// To stop at.
    pub(super) fn limits(&self) -> Positions {
        self.moves.iter().map(|moved| (moved.stream, (moved.to, true))).collect()
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
        let begin = Mark::default();
        Self { bytes: begin.bytes(), list: vec![begin], spacing: SPACING }
    }
}

impl Marks {
    /// Puts a mark behind all others: before event `first`, and behind what has moved since the one before it. Without events between, it stands for that one.
    pub(super) fn put(&mut self, first: u64, names: &Names, moves: Vec<Move>) {
        let Some(last) = self.list.last_mut() else { return };
        let names = if *last.names == *names { Arc::clone(&last.names) } else { Arc::new(names.clone()) };
        if last.first == first {
            last.names = names;
            return;
        }
        self.bytes += size_of_val(&*moves);
        last.moves = moves.into();
        let mark = Mark { first, names, ..Mark::default() };
        self.bytes += mark.bytes();
        self.list.push(mark);
        if self.bytes > BYTES_MAX {
            self.thin_out();
        }
    }

    /// The same; events behind it are earlier than some before it.
    pub(super) fn put_break(&mut self, first: u64, names: &Names, moves: Vec<Move>) {
        self.put(first, names, moves);
        self.list.iter_mut().next_back().into_iter().for_each(|last| last.is_break = true);
    }

    fn thin_out(&mut self) {
        self.spacing = self.spacing.saturating_mul(2);
        let last = self.list.len() - 1;
        let mut kept: Vec<Mark> = Vec::with_capacity(self.list.len() / 2 + 1);
        for (at, mark) in std::mem::take(&mut self.list).into_iter().enumerate() {
            match kept.last_mut() {
                Some(before) if at % 2 == 1 && at < last && !mark.is_break => before.join(mark),
                _ => kept.push(mark),
            }
        }
        self.list = kept;
        self.bytes = self.list.iter().map(Mark::bytes).sum();
    }

    /// The number behind the last one.
    pub(super) fn last(&self) -> u64 {
        self.list.last().map_or(0, |mark| mark.first)
    }

    /// Between which marks an event is: behind the last one are events up to `count`, whose way `progress` knows.
    pub(super) fn around(&self, number: u64, count: u64, progress: &Progress) -> Option<Stretch> {
        let after = self.list.partition_point(|mark| mark.first <= number);
        let mark = self.list.get(after.checked_sub(1)?)?;
        let (end, moves) = match self.list.get(after) {
            Some(next) => (next.first, mark.moves.to_vec()),
            None => (count, progress.moves()),
        };
        Some(Stretch { first: mark.first, end, moves, names: Arc::clone(&mark.names) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::progress::Start;
    use super::*;

    /// Streams that go on from a position to the next.
    fn moves(from: u64, streams: impl Iterator<Item = u32>) -> Vec<Move> {
        let start = Start { position: from, is_begun: true, context: None };
        streams.map(|stream| Move { stream: (0, stream), from: start.clone(), to: from + 1 }).collect()
    }

    #[test]
    fn marks_of_very_many_streams_take_bounded_room_and_every_break_stays() {
        let mut marks = Marks::default();
        let names = Names::new();
        for number in 1..1000 {
            let moves = moves(number - 1, 0..10_000);
            match number % 100 {
                0 => marks.put_break(number * SPACING, &names, moves),
                _ => marks.put(number * SPACING, &names, moves),
            }
        }
        assert!(marks.bytes <= BYTES_MAX, "{}", marks.bytes);
        assert!(marks.spacing > SPACING);
        for number in 1..999 {
            let stretch = marks.around(number * SPACING, 999 * SPACING, &Progress::default()).unwrap();
            assert!(stretch.first <= number * SPACING && number * SPACING < stretch.end);
            assert!(stretch.first >= number / 100 * 100 * SPACING, "a break was passed over");
            // What was joined goes from the first mark to the last.
            let (from, to) = (stretch.first / SPACING, stretch.end / SPACING);
            assert_eq!(stretch.progress().positions[&(0, 77)], (from, true));
            assert_eq!(stretch.limits()[&(0, 77)], (to, true));
        }
        assert_eq!(marks.around(0, 1, &Progress::default()).unwrap().first, 0);
    }

    #[test]
    fn streams_that_do_not_move_take_no_room() {
        let mut marks = Marks::default();
        for number in 1..20_000 {
            marks.put(number * SPACING, &Names::new(), moves(number, number as u32..number as u32 + 4));
        }
        assert_eq!(marks.spacing, SPACING);
        let stretch = marks.around(10_000 * SPACING, u64::MAX, &Progress::default()).unwrap();
        assert_eq!((stretch.end, stretch.limits().len()), (10_001 * SPACING, 4));
    }

    #[test]
    fn a_mark_without_events_since_the_last_takes_its_place() {
        let mut marks = Marks::default();
        for position in 0..10 {
            marks.put(0, &Names::new(), moves(position, 0..1));
        }
        assert_eq!(marks.list.len(), 1);
        let from = moves(9, 0..1).pop().map(|last| (last.stream, last.from));
        let positions = Positions::from([((0, 0), (12, true))]);
        let progress = Progress { positions, moved: Some(from.into_iter().collect()), ..Progress::default() };
        let stretch = marks.around(5, 8, &progress).unwrap();
        assert_eq!((stretch.first, stretch.end), (0, 8));
        assert_eq!(stretch.progress().positions, Positions::from([((0, 0), (9, true))]));
        assert_eq!(stretch.limits(), progress.positions);
    }
}
