//! Spans of threads that are open: begins are kept until their ends come.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound::{Excluded, Unbounded};

/// Spans of one thread that begin together, among which an end looks for its begin.
const NEAR_MOST: usize = 1024;
/// Other threads of a process in which an end looks for its begin.
const ELSEWHERE_MOST: usize = 256;

/// Open spans of all threads, with what is kept of each. A thread is named by the number of its process, and
/// by what tells it from others there.
pub struct OpenSpans<I, T> {
    threads: BTreeMap<(usize, I), Thread<T>>,
    count: usize,
}

/// The open spans of a thread, in the order of their begins. It has at least one.
struct Thread<T> {
    open: VecDeque<Open<T>>,
    /// How often records of it were lost: ends may be among them.
    losses: u64,
}

impl<T> Thread<T> {
    /// Place of the innermost of the nearest that are asked for and began then, up to `rounding`.
    fn find(&self, begin: u64, rounding: u64, is_it: impl Fn(usize, &T) -> bool) -> Option<usize> {
        let from = self.open.partition_point(|open| open.begin < begin.saturating_sub(rounding));
        let to = self.open.partition_point(|open| open.begin <= begin.saturating_add(rounding));
        let near = self.open.range(from..to).enumerate().rev().take(NEAR_MOST);
        let same = near.filter(|(_, open)| is_it(open.site, &open.kept));
        same.min_by_key(|(_, open)| open.begin.abs_diff(begin)).map(|(at, _)| from + at)
    }
}

struct Open<T> {
    begin: u64,
    site: usize,
    /// How often the thread had lost records when it began.
    losses: u64,
    kept: T,
}

/// Where an open span is, until something begins or ends.
#[derive(Clone, Copy, Debug)]
pub struct Place<I> {
    /// Its thread.
    pub thread: (usize, I),
    at: usize,
}

impl<I, T> Default for OpenSpans<I, T> {
    fn default() -> Self {
        Self { threads: BTreeMap::new(), count: 0 }
    }
}

impl<I: Copy + Ord, T> OpenSpans<I, T> {
    /// How many are open.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether none is open.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The open spans of a thread, the outermost first.
    pub fn of(&self, thread: (usize, I)) -> impl DoubleEndedIterator<Item = &T> {
        self.threads.get(&thread).into_iter().flat_map(|thread| &thread.open).map(|open| &open.kept)
    }

    /// The innermost open span of a thread.
    pub fn innermost(&self, thread: (usize, I)) -> Option<&T> {
        Some(&self.threads.get(&thread)?.open.back()?.kept)
    }

    /// A span has begun. `begin` orders it in its thread: a time, ticks, or a number that ascends.
    pub fn begin(&mut self, thread: (usize, I), site: usize, begin: u64, kept: T) {
        let thread =
            self.threads.entry(thread).or_insert_with(|| Thread { open: VecDeque::new(), losses: 0 });
        let at = thread.open.partition_point(|open| open.begin <= begin);
        thread.open.insert(at, Open { begin, site, losses: thread.losses, kept });
        self.count += 1;
    }

    /// The span of a site that began then has ended: gives what was kept. `None` when its begin was not seen.
    /// It is one of this thread or else, as spans may end in another thread than their own, of its process.
    pub fn end(&mut self, thread: (usize, I), site: usize, begin: u64) -> Option<T> {
        let place = self.find(thread, begin, 0, |of, _| of == site)?;
        self.remove(place)
    }

    /// The span that is asked for, by its site and what is kept of it, and that began then. The begin may be
    /// known up to `rounding`: then it is the nearest, and of these the innermost. Threads as for `end`.
    pub fn find(
        &self,
        thread: (usize, I),
        begin: u64,
        rounding: u64,
        is_it: impl Fn(usize, &T) -> bool,
    ) -> Option<Place<I>> {
        let own = self.threads.get_key_value(&thread);
        let behind = self.threads.range((Excluded(thread), Unbounded));
        let before = self.threads.range(..thread).rev();
        let is_of_process = |((process, _), _): &(&(usize, I), &Thread<T>)| *process == thread.0;
        let others = behind.take_while(is_of_process).chain(before.take_while(is_of_process));
        let mut threads = own.into_iter().chain(others.take(ELSEWHERE_MOST));
        threads.find_map(|(thread, open)| {
            Some(Place { thread: *thread, at: open.find(begin, rounding, &is_it)? })
        })
    }

    /// The last open span of a thread that is asked for, by its site and what is kept of it.
    pub fn last(&self, thread: (usize, I), is_it: impl Fn(usize, &T) -> bool) -> Option<Place<I>> {
        let open = &self.threads.get(&thread)?.open;
        let at = open.iter().rposition(|open| is_it(open.site, &open.kept))?;
        Some(Place { thread, at })
    }

    /// Of the spans of a thread that began then, the first that is not `before` the one that is asked for. What is kept must be in that order.
    pub fn first_at(
        &self,
        thread: (usize, I),
        begin: u64,
        before: impl Fn(&T) -> bool,
    ) -> Option<(Place<I>, &T)> {
        let open = &self.threads.get(&thread)?.open;
        let is_before = |open: &Open<T>| open.begin < begin || (open.begin == begin && before(&open.kept));
        let at = open.partition_point(is_before);
        let found = open.get(at).filter(|open| open.begin == begin)?;
        Some((Place { thread, at }, &found.kept))
    }

    /// An open span of a process that began then, in any of its threads.
    pub fn begun_at(&mut self, process: usize, begin: u64) -> Option<&mut T> {
        let mut threads = self.threads.iter_mut().filter(|((of, _), _)| *of == process);
        threads.find_map(|(_, thread)| {
            let at = thread.find(begin, 0, |_, _| true)?;
            Some(&mut thread.open.get_mut(at)?.kept)
        })
    }

    /// What is kept of a span.
    pub fn get_mut(&mut self, place: Place<I>) -> Option<&mut T> {
        self.threads.get_mut(&place.thread)?.open.get_mut(place.at).map(|open| &mut open.kept)
    }

    /// How many spans lie within one.
    pub fn within(&self, place: Place<I>) -> usize {
        self.threads.get(&place.thread).map_or(0, |thread| thread.open.len().saturating_sub(place.at + 1))
    }

    /// A span has ended: gives what was kept.
    pub fn remove(&mut self, place: Place<I>) -> Option<T> {
        let open = &mut self.threads.get_mut(&place.thread)?.open;
        let ended = open.remove(place.at)?;
        self.count -= 1;
        if open.is_empty() {
            self.threads.remove(&place.thread);
        }
        Some(ended.kept)
    }

    /// A span has ended. `stays` decides about each within it, the outermost first; it is given whether the
    /// end of that one may be among lost records.
    pub fn end_with(&mut self, place: Place<I>, mut stays: impl FnMut(&T, bool) -> bool) -> Option<T> {
        let Thread { open, losses } = self.threads.get_mut(&place.thread)?;
        if place.at >= open.len() {
            return None;
        }
        let before = open.len();
        let within = open.split_off(place.at + 1);
        let ended = open.pop_back()?;
        open.extend(within.into_iter().filter(|inner| stays(&inner.kept, inner.losses != *losses)));
        self.count -= before - open.len();
        if open.is_empty() {
            self.threads.remove(&place.thread);
        }
        Some(ended.kept)
    }

    /// Records of a thread were lost.
    pub fn lost(&mut self, thread: (usize, I)) {
        // A thread without open spans has nothing to lose.
        if let Some(thread) = self.threads.get_mut(&thread) {
            thread.losses += 1;
        }
    }

    /// Takes all that have not ended.
    pub fn take(&mut self) -> impl Iterator<Item = T> + use<I, T> {
        self.count = 0;
        std::mem::take(&mut self.threads).into_values().flat_map(|thread| thread.open).map(|open| open.kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_find_their_begins_in_any_order() {
        let mut spans = OpenSpans::default();
        for (site, ticks) in [(1, 10), (2, 20), (3, 20), (1, 30)] {
            spans.begin((0, 0), site, ticks, (site, ticks));
        }
        assert_eq!(spans.innermost((0, 0)), Some(&(1, 30)));
        assert_eq!(spans.end((0, 0), 2, 20), Some((2, 20)));
        assert_eq!(spans.end((0, 0), 2, 20), None);
        assert_eq!(spans.end((1, 0), 3, 20), None);
        assert_eq!(spans.end((0, 0), 1, 30), Some((1, 30)));
        assert_eq!(spans.innermost((0, 0)), Some(&(3, 20)));
        assert_eq!(spans.take().collect::<Vec<_>>(), [(1, 10), (3, 20)]);
        assert_eq!((spans.innermost((0, 0)), spans.count()), (None, 0));
    }

    #[test]
    fn a_span_ends_in_another_thread_of_its_process() {
        let mut spans = OpenSpans::default();
        for (process, thread) in [(0, 5), (1, 2), (1, 4), (1, 6), (2, 1)] {
            spans.begin((process, thread), 1, 10, (process, thread));
        }
        // Its own comes first.
        assert_eq!(spans.end((1, 4), 1, 10), Some((1, 4)));
        let mut ended = [spans.end((1, 4), 1, 10), spans.end((1, 4), 1, 10)];
        ended.sort();
        assert_eq!(ended, [Some((1, 2)), Some((1, 6))]);
        // Those of other processes never.
        assert_eq!(spans.end((1, 4), 1, 10), None);
        assert_eq!(spans.end((2, 9), 1, 11), None);
        assert_eq!(spans.begun_at(2, 10), Some(&mut (2, 1)));
        assert_eq!(spans.begun_at(1, 10), None);
        assert_eq!(spans.count(), 2);
    }

    #[test]
    fn of_those_that_began_together_each_is_found() {
        let mut spans = OpenSpans::default();
        for number in 0..3000 {
            spans.begin((0, 0), 1, 10, number);
        }
        let first_at =
            |begin, from| spans.first_at((0, 0), begin, |number| *number < from).map(|(_, number)| *number);
        assert_eq!((first_at(10, 0), first_at(10, 1234), first_at(10, 3000)), (Some(0), Some(1234), None));
        assert_eq!((first_at(9, 0), first_at(11, 0)), (None, None));
    }

    #[test]
    fn a_rounded_begin_is_the_nearest_and_of_these_the_innermost() {
        let mut spans = OpenSpans::default();
        for (number, ticks) in [100, 130, 130, 170].into_iter().enumerate() {
            spans.begin((0, 0), 1, ticks, number);
        }
        let mut end_near = |site: usize, begin, rounding| {
            let place = spans.find((0, 0), begin, rounding, |of, _| of == site)?;
            spans.remove(place)
        };
        assert_eq!(end_near(1, 128, 10), Some(2));
        assert_eq!(end_near(1, 128, 64), Some(1));
        assert_eq!(end_near(2, 100, 64), None);
        assert_eq!(end_near(1, 0, u64::MAX), Some(0));
        assert_eq!(end_near(1, 300, 64), None);
        assert_eq!(spans.count(), 1);
    }

    #[test]
    fn those_within_may_have_ended_unseen_where_records_were_lost_after_their_begins() {
        let thread = (0, 0);
        let mut spans = OpenSpans::default();
        for round in 0..2 {
            spans.begin(thread, 1, 10, 'a');
            spans.begin(thread, 2, 20, 'b');
            if round == 1 {
                spans.lost(thread);
            }
            spans.begin(thread, 3, 30, 'c');
            let outer = spans.last(thread, |site, _| site == 1).unwrap();
            assert_eq!(spans.within(outer), 2);
            let mut seen = Vec::new();
            let ended = spans.end_with(outer, |kept, is_lost| {
                seen.push((*kept, is_lost));
                !is_lost
            });
            assert_eq!((ended, seen), (Some('a'), vec![('b', round == 1), ('c', false)]));
            assert_eq!(spans.end(thread, 2, 20).is_some(), round == 0);
            let last = spans.last(thread, |_, _| true).unwrap();
            assert_eq!(spans.get_mut(last), Some(&mut 'c'));
            assert_eq!(spans.begun_at(0, 30), Some(&mut 'c'));
            assert_eq!(spans.end_with(last, |_, _| true), Some('c'));
            assert!(spans.is_empty() && spans.threads.is_empty());
            assert_eq!(spans.end_with(last, |_, _| true), None);
        }
    }
}
