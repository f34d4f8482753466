//! Events by their numbers: any of millions, without all of them in memory.
//!
//! The trace is read once, and a *mark* is kept every few thousand events. It has the position of each
//! stream that moves up to the next mark, the names of threads, and the stream's fields. An event is found by reading from the last mark before it.
//! Between two marks each stream is read up to its position at the second. So late records are where they
//! were numbered, not where their time would put them.
//!
//! An event keeps its number while the files grow, with one exception. Events of *several* programs may
//! change places when they are closer together than their clocks are known, and a later anchor describes a
//! clock better.

mod mark;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::growing::Growing;
use super::patience::Patience;
use super::progress::Progress;
use super::rooms::Rooms;
use super::selection::{Everything, Select};
use super::told::Told;
use super::{Event, Events, Note, OpenError, Trace};
use mark::Marks;

/// Blocks that are read at a time, besides one of each stream.
const BLOCKS: u64 = 4;
/// Events between two looks whether it is enough, or as many as there are streams. Of very many streams marks are far apart, and it may be before the next.
const LOOK: u64 = 1024;

/// See the module.
#[derive(Debug)]
pub struct Rows {
    growing: Growing,
    wanted: Box<dyn Select>,
    /// Files grow; else what was there when they were opened is all.
    is_followed: bool,
    patience: Patience,
    /// When anything grew last.
    grown: Instant,
    /// Everything there has been numbered since the last growth.
    is_drained: bool,
    /// Something has come since the last event was numbered: it may be earlier.
    has_news: bool,
    /// Behind the last event.
    progress: Progress,
    /// The latest time that was numbered, in the common order.
    last_ns: Option<i64>,
    count: u64,
    marks: Marks,
    resumed: Option<Resumed>,
    told: Told,
}

/// What growing has brought.
#[derive(Clone, Debug)]
pub struct Grown {
    /// Events that have numbers.
    pub count: u64,
    /// There is more to be numbered at once.
    pub has_more: bool,
    /// Damage that was found since the last time.
    pub notes: Vec<Note>,
}

/// What ended a slice of work.
enum Slice {
    /// There is more.
    Full,
    /// What is left may still get something before it.
    Waits,
    /// There is nothing left.
    End,
}

impl Rows {
    /// The events of a trace that a filter selects. Followed, its files may grow and be rotated under the names `heads`.
    pub fn new(trace: Trace, heads: &[PathBuf], wanted: &dyn Select, is_followed: bool) -> Self {
        Self {
            wanted: wanted.absolute(&trace),
            growing: Growing::new(trace, heads),
            is_followed,
            patience: Patience::default(),
            grown: Instant::now(),
            is_drained: false,
            has_news: false,
            progress: from_the_beginning(),
            last_ns: None,
            count: 0,
            marks: Marks::default(),
            resumed: None,
            told: Told::default(),
        }
    }

    /// Follows files that are added later.
    pub fn nothing() -> Self {
        Self::new(Trace::empty(), &[], &Everything, true)
    }

    /// Adds a file that may grow, unless it is there. Any session may name it, so it must be a regular file.
    ///
    /// # Errors
    /// A file that cannot be opened or read, or is no regular file.
    pub fn add(&mut self, path: &Path) -> Result<(), OpenError> {
        self.growing.add_regular(path)?;
        self.see_news();
        Ok(())
    }

    /// How long a session without new records holds up what lies beyond its watermark: a compromise between
    /// order among threads and delay. The default is a second.
    pub fn set_patience(&mut self, patience: Duration) {
        self.patience.time = patience;
    }

    /// Numbers the events that another filter selects, from the beginning.
    pub fn set_filter(&mut self, wanted: &dyn Select) {
        self.wanted = wanted.absolute(&self.growing.trace);
        (self.count, self.last_ns, self.is_drained) = (0, None, false);
        (self.marks, self.progress) = (Marks::default(), from_the_beginning());
        self.resumed = None;
    }

    /// What has been found so far.
    pub fn trace(&self) -> &Trace {
        &self.growing.trace
    }

    /// Events that have numbers: from 0.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether everything there has its number, and nothing has come for a while.
    pub fn is_drained(&self) -> bool {
        self.is_drained && (!self.is_followed || self.grown.elapsed() >= self.patience.time)
    }

    /// Whether nothing can follow: the newest files have been closed and everything in them has its number.
    pub fn is_finished(&self) -> bool {
        self.is_drained() && (!self.is_followed || self.growing.is_closed())
    }

    /// Gives numbers to what comes next, for about so long, and at least once.
    ///
    /// # Errors
    /// Files that cannot be read any more.
    pub fn grow(&mut self, most: Duration) -> Result<Grown, OpenError> {
        let begin = Instant::now();
        self.grow_with(|| begin.elapsed() >= most, |_, _, _| {})
    }

    /// The same until it is enough, and gives each event with its number: a reader of all events needs no second way through them.
    ///
    /// # Errors
    /// As of [`Rows::grow`].
    pub fn grow_with(
        &mut self,
        is_enough: impl Fn() -> bool,
        mut take: impl FnMut(&Trace, u64, &Event<'_>),
    ) -> Result<Grown, OpenError> {
        if self.is_followed && self.growing.refresh()? {
            self.see_news();
        }
        let mut notes = Vec::new();
        let mut has_more = !self.is_drained;
        while has_more {
            has_more = match self.slice(&mut notes, &mut take, &is_enough) {
                Slice::Full => true,
                Slice::Waits => false,
                Slice::End => {
                    self.is_drained = true;
                    self.progress.rooms.rest();
                    false
                }
            };
            if is_enough() {
                break;
            }
        }
        self.told.take(&mut notes, &self.growing.trace);
        Ok(Grown { count: self.count, has_more, notes })
    }

    fn see_news(&mut self) {
        self.grown = Instant::now();
        (self.is_drained, self.has_news) = (false, true);
    }

    /// Numbers events until it is enough, or some blocks have been read.
    fn slice(
        &mut self,
        notes: &mut Vec<Note>,
        take: &mut impl FnMut(&Trace, u64, &Event<'_>),
        is_enough: &impl Fn() -> bool,
    ) -> Slice {
        let first = self.count;
        let bound_ns = if self.is_followed { self.patience.bound_ns(&self.growing.trace) } else { i64::MAX };
        let progress = std::mem::take(&mut self.progress);
        let trace = &self.growing.trace;
        let mut events =
            Events::resume(trace, self.wanted.selection(trace), progress, bound_ns).pause_after(BLOCKS);
        // A slice takes time for each stream, so it gives as many events.
        let look = LOOK.max(events.streams());
        let mut before = self.has_news.then(|| (events.names().clone(), events.take_moves()));
        let end = loop {
            let Some(mut event) = events.next() else {
                break match (events.is_paused(), bound_ns) {
                    (true, _) => Slice::Full,
                    (false, i64::MAX) => Slice::End,
                    (false, _) => Slice::Waits,
                };
            };
            if !event.is_shown() {
                continue;
            }
            let ns = event.session.order.wall_ns(event.ticks);
            if let Some((names, moves)) = before.take() {
                if self.last_ns.is_some_and(|last| ns <= last) {
                    self.marks.put_break(self.count, &names, moves);
                } else {
                    events.give_moves_back(moves);
                    let Some(again) = events.current() else { break Slice::End };
                    event = again;
                }
            }
            self.has_news = false;
            self.last_ns = self.last_ns.max(Some(ns));
            take(trace, self.count, &event);
            self.count += 1;
            if self.count - self.marks.last() >= self.marks.spacing {
                let moves = events.take_moves();
                self.marks.put(self.count, events.names(), moves);
            }
            if (self.count - first) % look == 0 && is_enough() {
                break Slice::Full;
            }
        };
        if let Some((_, moves)) = before {
            events.give_moves_back(moves);
        }
        if events.is_paused() {
            let moves = events.take_moves();
            self.marks.put(self.count, events.names(), moves);
        }
        let found;
        (self.progress, found) = events.stop();
        notes.extend(found);
        end
    }

    /// Gives events from a number on, each with its number, until `take` wants no more. Gives how many: fewer than there are when `take` has stopped, or when files have lost what they
    /// had.
    ///
    /// Costs what reading a few thousand events costs; less when it goes on where it stopped the last time.
    pub fn read(&mut self, from: u64, mut take: impl FnMut(&Trace, u64, &Event<'_>) -> bool) -> u64 {
        let trace = &self.growing.trace;
        let mut number = from;
        let mut rooms = Rooms::default();
        while number < self.count {
            let Some(stretch) = self.marks.around(number, self.count, &self.progress) else { break };
            let (end, limits) = (stretch.end, stretch.limits());
            // What was read up to a limit knows nothing of what its blocks hold behind it.
            let is_same = |resumed: &Resumed| resumed.next == number && resumed.end == end;
            let (mut at, progress) = match self.resumed.take().filter(is_same) {
                Some(resumed) => (resumed.next, resumed.progress),
                None => (stretch.first, Progress { rooms, ..stretch.progress() }),
            };
            let selection = self.wanted.selection(trace);
            let mut events = Events::within(trace, selection, progress, i64::MAX, Some(&limits));
            let mut is_enough = false;
            while at < end && !is_enough {
                let Some(event) = events.next() else { break };
                if event.is_shown() {
                    if at >= number {
                        is_enough = !take(trace, number, &event);
                        number += 1;
                    }
                    at += 1;
                }
            }
            let progress = events.stop().0;
            if is_enough {
                self.resumed = Some(Resumed { next: number, end, progress });
                break;
            }
            if at < end {
                break;
            }
            rooms = progress.rooms;
        }
        number - from
    }
}

/// Nothing has been given.
fn from_the_beginning() -> Progress {
    Progress { moved: Some(HashMap::new()), ..Progress::default() }
}

/// Where reading stopped.
#[derive(Debug)]
struct Resumed {
    /// Number of the next event.
    next: u64,
    /// The number up to which was read: blocks have been cut there.
    end: u64,
    /// How to go on.
    progress: Progress,
}
