//! Spans of threads, for formats whose ends have no name: there an end always ends the span that began last.
//! When another span ends, those within it are ended too and begin again at once. So each moment shows the
//! spans that were open, and every end belongs to its begin.

use std::collections::HashMap;

use crate::Record;

/// Spans that are open at once; what is beyond them is taken as it comes.
const MOST: usize = 1 << 16;
/// Most spans within one that end and begin again with it. Otherwise a thousand spans that end in the order
/// of their begins would become a million events.
const AROUND_MOST: usize = 64;

/// See the module. `P` is what begins a span again.
pub(crate) struct Nesting<P> {
    threads: HashMap<(usize, u32), Thread<P>>,
    open: usize,
}

struct Thread<P> {
    open: Vec<Open<P>>,
    /// How often records of it were lost: ends may be among them.
    losses: u64,
    /// Begins that are not known, as there are too many.
    beyond: usize,
}

struct Open<P> {
    site: usize,
    losses: u64,
    again: P,
    /// It has ended, and waits until it is the innermost.
    is_over: bool,
}

/// What an end comes to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct End<P> {
    /// The spans that end, the innermost first. None: one of which nothing is known, unless `is_moment`.
    pub ends: Vec<P>,
    /// Those of them that begin again, the outermost first.
    pub again: Vec<P>,
    /// It cannot be shown as an end: its begin is not known while others are open, or too many are within it.
    pub is_moment: bool,
}

impl<P> End<P> {
    fn unknown(is_moment: bool) -> Self {
        Self { ends: Vec::new(), again: Vec::new(), is_moment }
    }
}

impl<P> Default for Nesting<P> {
    fn default() -> Self {
        Self { threads: HashMap::new(), open: 0 }
    }
}

impl<P> Default for Thread<P> {
    fn default() -> Self {
        Self { open: Vec::new(), losses: 0, beyond: 0 }
    }
}

fn thread(record: &Record<'_>) -> (usize, u32) {
    (record.process_number, record.tid)
}

impl<P: Clone> Nesting<P> {
    /// A span begins.
    pub fn begin(&mut self, record: &Record<'_>, site: usize, again: P) {
        let state = self.threads.entry(thread(record)).or_default();
        if self.open >= MOST {
            state.beyond += 1;
            return;
        }
        self.open += 1;
        state.open.push(Open { site, losses: state.losses, again, is_over: false });
    }

    /// Records of a thread were lost.
    pub fn lost(&mut self, record: &Record<'_>) {
        if let Some(state) = self.threads.get_mut(&thread(record)) {
            state.losses += 1;
        }
    }

    /// A span of a site ends; without one, the innermost.
    pub fn end(&mut self, record: &Record<'_>, site: Option<usize>) -> End<P> {
        let Some(state) = self.threads.get_mut(&thread(record)) else { return End::unknown(false) };
        if state.beyond > 0 {
            state.beyond -= 1;
            return End::unknown(false);
        }
        let is_it = |open: &Open<P>| !open.is_over && site.is_none_or(|site| open.site == site);
        let Some(at) = state.open.iter().rposition(is_it) else {
            return End::unknown(!state.open.is_empty());
        };
        if state.open.len() - at > AROUND_MOST {
            state.open[at].is_over = true;
            return End::unknown(true);
        }
        let losses = state.losses;
        let mut within = state.open.split_off(at + 1);
        self.open -= within.len();
        let mut ends: Vec<P> = within.iter().rev().map(|open| open.again.clone()).collect();
        // The ends of those that began before a loss may be lost.
        within.retain(|open| open.losses == losses && !open.is_over);
        while let Some(ended) = state.open.pop() {
            self.open -= 1;
            ends.push(ended.again);
            let is_over = state.open.last().is_some_and(|open| open.is_over);
            if !is_over || !within.is_empty() {
                break;
            }
        }
        let again = within.iter().map(|open| open.again.clone()).collect();
        self.open += within.len();
        state.open.extend(within);
        if state.open.is_empty() {
            self.threads.remove(&thread(record));
        }
        End { ends, again, is_moment: false }
    }
}
