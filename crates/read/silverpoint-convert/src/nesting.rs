//! Spans of threads, for formats whose ends have no name: there an end always ends the span that began last.
//! When another span ends, those within it are ended too and begin again at once. So each moment shows the
//! spans that were open, and every end belongs to its begin.

use silverpoint_query::spans::OpenSpans;

use crate::Record;
use crate::begun::{Begun, Beyond, order, thread};

/// Spans that are open at once; what is beyond them is taken as it comes.
const MOST: usize = 1 << 16;
/// Most spans within one that end and begin again with it. Otherwise a thousand spans that end in the order
/// of their begins would become a million events.
const AROUND_MOST: usize = 64;

/// See the module. `P` is what begins a span again.
pub(crate) struct Nesting<P> {
    spans: OpenSpans<u32, Open<P>>,
    /// Begins that are not known, as there are too many.
    beyond: Beyond,
}

struct Open<P> {
    again: P,
    /// Of its begin.
    ticks: Option<u64>,
    /// It has ended, and waits until it is the innermost.
    is_over: bool,
}

/// What an end comes to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct End<P> {
    /// The thread that it is shown in: that of its begin, where that is known.
    pub tid: u32,
    /// The spans that end, the innermost first. None: one of which nothing is known, unless `is_moment`.
    pub ends: Vec<P>,
    /// Those of them that begin again, the outermost first.
    pub again: Vec<P>,
    /// It cannot be shown as an end: its begin is not known while others are open, or too many are within it.
    pub is_moment: bool,
}

impl<P> End<P> {
    fn unknown(record: &Record<'_>, is_moment: bool) -> Self {
        Self { tid: record.tid, ends: Vec::new(), again: Vec::new(), is_moment }
    }
}

impl<P> Default for Nesting<P> {
    fn default() -> Self {
        Self { spans: OpenSpans::default(), beyond: Beyond::default() }
    }
}

impl<P: Clone> Nesting<P> {
    /// A span begins.
    pub fn begin(&mut self, record: &Record<'_>, site: usize, again: P) {
        if self.spans.count() >= MOST {
            self.beyond.begin(thread(record));
            return;
        }
        let open = Open { again, ticks: record.ticks, is_over: false };
        self.spans.begin(thread(record), site, order(record.wall_ns), open);
    }

    /// Records of a thread were lost.
    pub fn lost(&mut self, record: &Record<'_>) {
        self.spans.lost(thread(record));
    }

    /// A span of a site ends; without one, the innermost.
    pub fn end(&mut self, record: &Record<'_>, site: Option<usize>) -> End<P> {
        let thread = thread(record);
        let is_it = |of: usize, open: &Open<P>| !open.is_over && site.is_none_or(|site| of == site);
        let begun = Begun::of(record).filter(|_| site.is_some());
        let known = begun.and_then(|begun| begun.find(&self.spans, thread, is_it, |open| open.ticks));
        let place = match known {
            Some(place) => place,
            None if self.beyond.end(thread) => return End::unknown(record, false),
            None => {
                let last = self.spans.last(thread, is_it).filter(|_| !begun.is_some_and(Begun::is_exact));
                let Some(place) = last else {
                    return End::unknown(record, self.spans.innermost(thread).is_some());
                };
                place
            }
        };
        let thread = place.thread;
        if self.spans.within(place) >= AROUND_MOST {
            if let Some(open) = self.spans.get_mut(place) {
                open.is_over = true;
            }
            return End::unknown(record, true);
        }
        let (mut ends, mut again) = (Vec::new(), Vec::new());
        let ended = self.spans.end_with(place, |open, may_have_ended| {
            ends.push(open.again.clone());
            let stays = !may_have_ended && !open.is_over;
            if stays {
                again.push(open.again.clone());
            }
            stays
        });
        ends.reverse();
        ends.extend(ended.map(|open| open.again));
        // Those around it that have ended already were waiting for it.
        while again.is_empty() && self.spans.innermost(thread).is_some_and(|open| open.is_over) {
            let over = self.spans.last(thread, |_, _| true).and_then(|last| self.spans.remove(last));
            ends.extend(over.map(|open| open.again));
        }
        End { tid: thread.1, ends, again, is_moment: false }
    }
}
