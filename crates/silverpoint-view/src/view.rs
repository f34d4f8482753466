//! The records of one filter: numbered, counted and put on a timeline, a slice of time after the other.

use std::time::Duration;

use serde_json::{Value, json};
use silverpoint_read::{Reader, State};
use silverpoint_trace::{Event, Session, Trace};
use silverpoint_wire::layout::CAUSES;

use crate::counts::Counts;
use crate::outline::Outline;
use crate::params::Wrong;
use crate::timeline::{Timeline, Track};

/// Messages that are kept.
const MESSAGES_MAX: usize = 200;

/// See the module.
pub struct View {
    /// As the page gave it.
    pub filter: String,
    /// Its records by their numbers.
    pub reader: Reader,
    /// Their rectangles.
    pub timeline: Timeline,
    /// Their numbers.
    pub counts: Counts,
    /// What headers state of records that have not been read; of all records, not of a filter's.
    outline: Option<Outline>,
    /// What is missing or damaged.
    pub messages: Vec<String>,
    /// Messages that there was no room for.
    pub messages_more: u64,
    /// Why reading has stopped.
    problem: Option<String>,
    state: State,
    /// When it was asked for last: a count.
    pub used: u64,
}

impl View {
    /// Of a reader that has just been opened.
    ///
    /// # Errors
    /// What is wrong with the filter.
    pub fn new(mut reader: Reader, filter: &str) -> Result<Self, Wrong> {
        reader.filter(filter).map_err(Wrong::filter)?;
        let mut view = Self {
            filter: filter.to_owned(),
            reader,
            timeline: Timeline::default(),
            counts: Counts::default(),
            outline: None,
            messages: Vec::new(),
            messages_more: 0,
            problem: None,
            state: State::More,
            used: 0,
        };
        let notes: Vec<String> = view.reader.trace().notes().iter().map(ToString::to_string).collect();
        notes.into_iter().for_each(|note| view.tell(note));
        if filter.is_empty() {
            let trace = view.reader.trace();
            let outline = Outline::of(trace);
            view.timeline.expect(trace, outline.threads());
            view.outline = Some(outline);
        }
        Ok(view)
    }

    /// Begins again with another filter.
    ///
    /// # Errors
    /// What is wrong with the filter; then everything is as before.
    pub fn refilter(&mut self, filter: &str) -> Result<(), Wrong> {
        self.reader.filter(filter).map_err(Wrong::filter)?;
        self.filter = filter.to_owned();
        (self.timeline, self.counts, self.outline) = (Timeline::default(), Counts::default(), None);
        (self.problem, self.state) = (None, State::More);
        Ok(())
    }

    fn tell(&mut self, message: String) {
        if self.messages.len() >= MESSAGES_MAX {
            self.messages_more += 1;
        } else if !self.messages.contains(&message) {
            self.messages.push(message);
        }
    }

    /// Reads on for about so long.
    pub fn work(&mut self, most: Duration) {
        if self.problem.is_some() {
            return;
        }
        let Self { reader, timeline, counts, .. } = self;
        let grown = reader.grow_with(most, |trace, number, event| {
            timeline.add(trace, event);
            counts.add(number, event);
        });
        match grown {
            Ok(growth) => self.state = growth.state,
            Err(error) => self.problem = Some(error.to_string()),
        }
        self.reader.take_messages().into_iter().for_each(|message| self.tell(message));
        if !self.has_more() {
            self.outline = None;
        }
    }

    /// What headers state of records behind a time, up to which everything has been read; `None`: there are none.
    pub fn unread(&self) -> Option<(&Outline, i64)> {
        let read = self.counts.range.map_or(i64::MIN, |(_, end)| end);
        self.outline.as_ref().map(|outline| (outline, read))
    }

    /// The tracks that have records, read or not, with their numbers.
    pub fn tracks(&self) -> impl Iterator<Item = (u32, &Track)> {
        // What headers promise may be nothing that is shown.
        let is_shown = |track: &Track| track.records > 0 || self.outline.is_some();
        (0..).zip(self.timeline.tracks()).filter(move |(_, track)| is_shown(track))
    }

    /// Time of the first and of the last record, read or not.
    pub fn range(&self) -> Option<(i64, i64)> {
        let stated = self.outline.as_ref().and_then(Outline::range);
        let ranges = self.counts.range.into_iter().chain(stated);
        ranges.reduce(|(begin, end), (first, last)| (begin.min(first), end.max(last)))
    }

    /// Whether there is more to be read at once.
    pub fn has_more(&self) -> bool {
        self.problem.is_none() && self.state == State::More
    }

    /// Whether nothing will come.
    pub fn is_over(&self) -> bool {
        self.problem.is_some() || !self.has_more() && self.state == State::Finished
    }

    /// The first record at or after a time, as far as has been read; their count where there is none.
    pub fn number_at(&mut self, at: i64) -> u64 {
        let count = self.counts.records;
        let mut found = self.counts.samples.before(at);
        self.reader.visit(found, |_, number, event| {
            found = number;
            let is_before = number < count && event.wall_ns < at;
            if is_before {
                found += 1;
            }
            is_before
        });
        found.min(count)
    }

    /// Gives the records of a range of times, in the order of their numbers, unless they are more than `most`. Whether it did.
    pub fn within(
        &mut self,
        (from, to): (i64, i64),
        most: u64,
        mut take: impl FnMut(&Trace, &Event<'_>),
    ) -> bool {
        if self.counts.samples.estimate(from, to) > most {
            return false;
        }
        let (first, behind) = (self.number_at(from), self.number_at(to));
        if behind > first {
            self.reader.visit(first, |trace, number, event| {
                take(trace, event);
                number + 1 < behind
            });
        }
        true
    }

    /// Records lost, by cause: of a filter those that its records report, else all that programs and collectors have counted.
    pub fn losses(&self) -> [u64; CAUSES] {
        if !self.filter.is_empty() {
            return self.counts.losses;
        }
        let sessions = self.reader.trace().sessions.iter().map(Session::losses);
        sessions.fold([0; CAUSES], |mut sums, losses| {
            sums.iter_mut().zip(losses).for_each(|(sum, more)| *sum = sum.saturating_add(more));
            sums
        })
    }

    /// How far it is.
    pub fn progress(&self) -> Value {
        let state = match (self.has_more(), self.is_over()) {
            (true, _) => "reading",
            (_, true) => "finished",
            _ => "waiting",
        };
        json!({
            "state": state,
            "records": self.counts.records.to_string(),
            "fraction": self.fraction(),
            "problem": self.problem,
        })
    }

    /// By the records that headers of blocks state; of a filter nobody can say.
    fn fraction(&self) -> Option<f64> {
        if self.is_over() {
            return Some(1.0);
        }
        if !self.filter.is_empty() {
            return None;
        }
        let streams = self.reader.trace().sessions.iter().flat_map(|session| &session.streams);
        let stated: u64 = streams.map(silverpoint_trace::Stream::records_stated).sum();
        (stated > 0).then(|| (self.counts.records as f64 / stated as f64).min(1.0))
    }
}
