//! A part of the timeline in full detail: its records are read again, or ahead of all others, a slice of time after the other.
//!
//! For pictures of which the timeline in memory shows too little, and that have too many records to be read for one answer.

use std::time::{Duration, Instant};

use silverpoint_trace::Between;

use crate::counts::Counts;
use crate::interest::Interest;
use crate::slice::Slice;
use crate::timeline::Timeline;
use crate::view::View;

/// Records that are read for a picture: what takes about a second.
const RECORDS_MAX: u64 = 8_000_000;
/// Bytes of these, as they lay in rings.
const BYTES_MAX: u64 = 2 << 30;
/// A picture that has not been asked for again for so long is out of sight.
const INTEREST: Duration = Duration::from_secs(2);
/// Records between two looks at the clock.
const STEP: u64 = 64;

/// What is shown: from a time to another one, in pixels of 2^`pixel` nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    /// From here on.
    pub from: i64,
    /// And before this.
    pub to: i64,
    /// Logarithm of the length of a pixel.
    pub pixel: u32,
    /// Some of it has not been read yet.
    pub is_ahead: bool,
}

/// Where its records come from.
enum Way {
    /// Those that have been read, from a number on, up to a time.
    Again { next: u64, range: (i64, i64), has_begun: bool },
    /// By the headers of their blocks.
    Ahead(Box<Between>),
}

/// See the module.
pub struct Refined {
    /// What was asked for.
    pub picture: Picture,
    /// Its rectangles so far.
    pub timeline: Timeline,
    /// There is nothing more.
    pub is_finished: bool,
    /// It is worked on while this lasts.
    pub interest: Interest,
    way: Way,
}

impl Refined {
    /// Nothing is read yet; `None`: it has too many records.
    pub fn new(picture: Picture, view: &View) -> Option<Self> {
        let Picture { from, to, pixel, is_ahead } = picture;
        let (mut timeline, way) = if is_ahead {
            let between = Between::new(view.reader.trace(), (from, to), RECORDS_MAX)?;
            (detail_ahead(view, from), Way::Ahead(Box::new(between)))
        } else {
            let range = surroundings(view, picture);
            let Counts { samples, range: read, .. } = &view.counts;
            let (records, bytes) = samples.cost(range.0, range.1);
            // More may come where it is not over yet.
            let is_known = view.is_over() || read.is_some_and(|(_, end)| range.1 <= end);
            let next = samples.before(range.0);
            let again =
                || (view.timeline.detail_with_asyncs(range), Way::Again { next, range, has_begun: false });
            (is_known && records <= RECORDS_MAX && bytes <= BYTES_MAX).then(again)?
        };
        timeline.merge(pixel);
        Some(Self { picture, timeline, is_finished: false, interest: Interest::new(INTEREST), way })
    }

    /// Whether it is to be worked on.
    pub fn is_wanted(&self) -> bool {
        !self.is_finished && self.interest.lasts()
    }

    /// Up to where it is known.
    pub fn read_to(&self) -> i64 {
        match &self.way {
            Way::Ahead(between) if !self.is_finished => between.read_to(),
            _ => self.picture.to,
        }
    }

    /// Reads on.
    pub fn work(&mut self, view: &mut View, slice: &Slice) {
        let Self { timeline, way, .. } = self;
        match way {
            Way::Ahead(between) => {
                let trace = view.reader.trace();
                let begin = Instant::now();
                let is_over = || slice.is_over(begin);
                self.is_finished = !between.step(trace, is_over, |event| timeline.add(trace, event));
            }
            Way::Again { next, range: (from, to), has_begun } => {
                let (count, mut begin) = (view.counts.records, None);
                let mut is_enough = false;
                view.reader.visit(*next, |trace, number, event| {
                    if number >= count || event.wall_ns >= *to {
                        return false;
                    }
                    *has_begun |= event.wall_ns >= *from;
                    if *has_begun {
                        timeline.add(trace, event);
                    }
                    *next = number + 1;
                    is_enough = number % STEP == 0 && slice.is_over(*begin.get_or_insert_with(Instant::now));
                    !is_enough
                });
                self.is_finished = !is_enough;
            }
        }
    }
}

/// A range and what belongs to it of the time around it.
///
/// The timeline in memory has every span that lasts longer than its resolution. So the others that reach into the range begin and end in this.
pub fn surroundings(view: &View, picture: Picture) -> (i64, i64) {
    let merged = view.timeline.resolution();
    (picture.from.saturating_sub_unsigned(merged), picture.to.saturating_add_unsigned(merged))
}

/// To be filled with records of which some have not been read yet.
pub fn detail_ahead(view: &View, from: i64) -> Timeline {
    let is_known = view.counts.range.is_some_and(|(begin, end)| (begin..=end).contains(&from));
    if is_known { view.timeline.detail(from) } else { view.timeline.detail_of_unread() }
}
