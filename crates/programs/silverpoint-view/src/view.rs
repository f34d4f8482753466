//! The records of one filter: numbered, counted and put on a timeline, a slice of time after the other.

use std::time::Instant;

use serde_json::{Value, json};
use silverpoint_read::{Reader, State};
use silverpoint_trace::{Event, Session, Trace};
use silverpoint_wire::layout::CAUSES;

use crate::counts::Counts;
use crate::outline::Outline;
use crate::params::Wrong;
use crate::refine::{Picture, Refined};
use crate::slice::Slice;
use crate::timeline::{Timeline, Track};

/// Messages that are kept.
const MESSAGES_MAX: usize = 200;
/// Bytes of rectangles of all records: they are shown first and longest, and of a filter there are fewer.
const RECTANGLES_MAX: usize = 48 << 20;
/// Pictures whose details are kept.
const PICTURES_MAX: usize = 2;
/// Bytes of records that are read again for one answer.
const WITHIN_BYTES_MAX: u64 = 32 << 20;

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
    /// What is looked at, in more detail than the timeline has.
    refined: Vec<Refined>,
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
            refined: Vec::new(),
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
            view.timeline = Timeline::with_room(RECTANGLES_MAX);
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
        self.refined.clear();
        Ok(())
    }

    fn tell(&mut self, message: String) {
        if self.messages.len() >= MESSAGES_MAX {
            self.messages_more += 1;
        } else if !self.messages.contains(&message) {
            self.messages.push(message);
        }
    }

    /// Reads on.
    pub fn work(&mut self, slice: &Slice) {
        if self.problem.is_some() {
            return;
        }
        let begin = Instant::now();
        let Self { reader, timeline, counts, .. } = self;
        let grown = reader.grow_with(
            || slice.is_over(begin),
            |trace, _, event| {
                timeline.add(trace, event);
                counts.add(event);
            },
        );
        match grown {
            Ok(growth) => self.state = growth.state,
            Err(error) => self.problem = Some(error.to_string()),
        }
        self.reader.take_messages().into_iter().for_each(|message| self.tell(message));
        if !self.has_more() {
            self.outline = None;
        }
    }

    /// A picture is wanted in full detail; whether more will be known of it than is now. Not where it has too many records.
    pub fn want(&mut self, picture: Picture) -> bool {
        if self.latest(picture).is_none() {
            let Some(refined) = Refined::new(picture, self) else { return false };
            if self.refined.len() >= PICTURES_MAX {
                let oldest = (0..PICTURES_MAX).min_by_key(|at| self.refined[*at].interest.asked());
                oldest.map(|at| self.refined.swap_remove(at));
            }
            self.refined.push(refined);
        }
        let known = self.refined.iter_mut().find(|refined| refined.picture == picture);
        known.is_some_and(|refined| {
            refined.interest.renew();
            !refined.is_finished
        })
    }

    /// What is known of a picture that is wanted.
    pub fn latest(&self, picture: Picture) -> Option<&Refined> {
        self.refined.iter().find(|refined| refined.picture == picture)
    }

    /// Whether there is a picture to be read on for.
    pub fn is_refining(&self) -> bool {
        self.refined.iter().any(Refined::is_wanted)
    }

    /// Reads on for the picture that was wanted last; whether there was something to be read.
    pub fn refine(&mut self, slice: &Slice) -> bool {
        let wanted = (0..self.refined.len()).filter(|at| self.refined[*at].is_wanted());
        let Some(at) = wanted.max_by_key(|at| self.refined[*at].interest.asked()) else { return false };
        let mut refined = self.refined.swap_remove(at);
        refined.work(self, slice);
        self.refined.push(refined);
        true
    }

    /// What headers state of records behind a time, up to which everything has been read; `None`: there are none.
    pub fn unread(&self) -> Option<(&Outline, i64)> {
        self.outline.as_ref().map(|outline| (outline, self.frontier()))
    }

    /// Up to where everything has been read; `None`: up to the end.
    pub fn read_to(&self) -> Option<i64> {
        self.has_more().then(|| self.frontier())
    }

    fn frontier(&self) -> i64 {
        self.counts.range.map_or(i64::MIN, |(_, end)| end)
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

    /// Gives the records of a range of times, in the order of their numbers, unless they are more than `most` or too many bytes. Whether it did.
    pub fn within(
        &mut self,
        (from, to): (i64, i64),
        most: u64,
        mut take: impl FnMut(&Trace, &Event<'_>),
    ) -> bool {
        let (records, bytes) = self.counts.samples.cost(from, to);
        if records > most || bytes > WITHIN_BYTES_MAX {
            return false;
        }
        let (first, count) = (self.counts.samples.before(from), self.counts.records);
        let mut has_begun = false;
        self.reader.visit(first, |trace, number, event| {
            let at = event.wall_ns;
            has_begun |= at >= from;
            let is_behind = number >= count || has_begun && at >= to;
            if has_begun && !is_behind {
                take(trace, event);
            }
            !is_behind
        });
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
        let stated = self.reader.trace().records_stated();
        (stated > 0).then(|| (self.counts.records as f64 / stated as f64).min(1.0))
    }
}
