//! Records of a filter and a range, read once more for one question.
//!
//! This happens a slice of time after the other, and only while somebody asks for the result.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use silverpoint_read::Batch;
use silverpoint_trace::Event;

use crate::counts::Counts;
use crate::flame::Flame;
use crate::interest::Interest;
use crate::slice::Slice;
use crate::texts::{Matches, Values};
use crate::view::View;

/// A question that nobody has asked again for so long is not worked on: its page has gone.
const INTEREST: Duration = Duration::from_secs(3);
/// Records that are read at once where their texts are needed.
const BATCH: usize = 128;
/// Records between two looks at the clock.
const STEP: u64 = 64;

/// What is asked for: equal questions share one passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The filter's line.
    pub filter: String,
    /// From this time on, and before that one.
    pub range: (i64, i64),
    /// Only what stands in this file, by its number.
    pub file: Option<usize>,
    /// What is made of the records.
    pub kind: Kind,
}

/// What is made of the records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A tree of spans.
    Flame,
    /// Numbers.
    Counts,
    /// Values of this argument.
    Values(String),
    /// Records that contain this text.
    Matches(String),
}

/// What has been made of them so far.
pub enum Made {
    /// A tree of spans.
    Flame(Box<Flame>),
    /// Numbers.
    Counts(Box<Counts>),
    /// Values of an argument.
    Values(Values),
    /// Records that contain a text.
    Matches(Matches),
}

/// See the module.
pub struct Scan {
    /// What was asked for.
    pub question: Question,
    /// What has been made so far.
    pub made: Made,
    /// It is worked on while this lasts.
    pub interest: Interest,
    /// The first record, once it is known.
    first: Option<u64>,
    /// The record to go on with.
    next: u64,
    /// The first record behind the range, once it is known.
    behind: Option<u64>,
    /// Nothing more will come.
    is_finished: bool,
    batch: Batch,
}

impl Scan {
    /// Nothing is read yet.
    pub fn new(question: Question) -> Self {
        let made = match &question.kind {
            Kind::Flame => Made::Flame(Box::new(Flame::new(question.range))),
            Kind::Counts => Made::Counts(Box::default()),
            Kind::Values(path) => Made::Values(Values::new(path)),
            Kind::Matches(text) => Made::Matches(Matches::new(text)),
        };
        Self {
            question,
            made,
            first: None,
            next: 0,
            behind: None,
            is_finished: false,
            interest: Interest::new(INTEREST),
            batch: Batch::default(),
        }
    }

    /// Whether it is to be worked on.
    pub fn is_wanted(&self) -> bool {
        !self.is_finished && self.interest.lasts()
    }

    /// Reads on; whether there is more at once.
    pub fn work(&mut self, view: &mut View, slice: &Slice) -> bool {
        let (from, to) = self.question.range;
        let is_known = |at: i64| !view.has_more() || view.counts.range.is_some_and(|(_, end)| end >= at);
        let (knows_first, knows_behind) = (is_known(from), is_known(to));
        let first = match self.first {
            Some(first) => first,
            None if knows_first => {
                if let Made::Flame(flame) = &mut self.made {
                    flame.seed(&view.timeline);
                }
                let first = view.number_at(from);
                (self.first, self.next) = (Some(first), first);
                first
            }
            None => return false,
        };
        if self.behind.is_none() && knows_behind {
            self.behind = Some(view.number_at(to).max(first));
        }
        let end = self.behind.unwrap_or(view.counts.records);
        let mut is_enough = false;
        if self.next < end && matches!(self.made, Made::Values(_) | Made::Matches(_)) {
            is_enough = self.read(view, end, slice);
        } else if self.next < end {
            let Self { question, made, next, .. } = self;
            // To begin costs a time that grows with the streams: it must not take the place of the reading itself.
            let mut begin = None;
            view.reader.visit(*next, |_, number, event| {
                let is_inside = event.wall_ns >= from && event.wall_ns < to;
                if is_inside && question.file.is_none_or(|file| file == event.file) {
                    take(made, event);
                }
                *next = number + 1;
                let begin = begin.get_or_insert_with(Instant::now);
                is_enough = number % STEP == 0 && slice.is_over(*begin);
                !is_enough && *next < end
            });
            if !is_enough && self.next < end {
                // The view says what is wrong with the file.
                self.behind = Some(self.next);
            }
        }
        if self.behind.is_some_and(|behind| self.next >= behind) {
            self.is_finished = true;
            if let Made::Flame(flame) = &mut self.made {
                flame.finish(view.counts.range.map_or(to, |(_, end)| end));
            }
        }
        is_enough
    }

    /// Reads texts, too; whether the time is over.
    fn read(&mut self, view: &mut View, end: u64, slice: &Slice) -> bool {
        let begin = Instant::now();
        let (from, to) = self.question.range;
        while self.next < end {
            let count = BATCH.min(usize::try_from(end - self.next).unwrap_or(BATCH));
            if view.reader.read(self.next, count, &mut self.batch).is_err() || self.batch.rows().is_empty() {
                // The view says what is wrong with the file.
                self.behind = Some(self.next);
                return false;
            }
            for row in self.batch.rows().iter().filter(|row| row.wall_ns >= from && row.wall_ns < to) {
                match &mut self.made {
                    Made::Values(values) => values.add(&self.batch, row),
                    Made::Matches(matches) => matches.add(&self.batch, row),
                    Made::Flame(_) | Made::Counts(_) => {}
                }
            }
            self.next += self.batch.rows().len() as u64;
            if slice.is_over(begin) {
                return self.next < end;
            }
        }
        false
    }

    /// How far it is.
    pub fn progress(&self) -> Value {
        let first = self.first.unwrap_or(0);
        let done = self.next - first;
        let all = self.behind.map(|behind| behind.saturating_sub(first));
        let fraction = all.map(|all| if all == 0 { 1.0 } else { done as f64 / all as f64 });
        json!({
            "state": if self.is_finished { "finished" } else { "reading" },
            "records": done.to_string(),
            "fraction": fraction,
            "problem": null,
        })
    }
}

fn take(made: &mut Made, event: &Event<'_>) {
    match made {
        Made::Flame(flame) => flame.add(event),
        Made::Counts(counts) => counts.add(event),
        // These need texts: see `read`.
        Made::Values(_) | Made::Matches(_) => {}
    }
}
