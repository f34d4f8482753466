//! Spans of threads that are open: begins are kept until their ends come.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// Spans of one thread that begin together, among which an end looks for its begin.
const NEAR_MOST: usize = 1024;

/// Open spans of all threads, with what is kept of each.
pub struct OpenSpans<K, T> {
    threads: HashMap<K, Thread<T>>,
    count: usize,
}

/// The open spans of a thread, in the order of their begins. It has at least one.
struct Thread<T> {
    open: VecDeque<Open<T>>,
    /// How often records of it were lost: ends may be among them.
    losses: u64,
}

struct Open<T> {
    begin: u64,
    site: usize,
    /// How often the thread had lost records when it began.
    losses: u64,
    kept: T,
}

impl<K, T> Default for OpenSpans<K, T> {
    fn default() -> Self {
        Self { threads: HashMap::new(), count: 0 }
    }
}

impl<K: Copy + Eq + Hash, T> OpenSpans<K, T> {
    /// How many are open.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether none is open.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The open spans of a thread, the outermost first.
    pub fn of(&self, thread: K) -> impl DoubleEndedIterator<Item = &T> {
        self.threads.get(&thread).into_iter().flat_map(|thread| &thread.open).map(|open| &open.kept)
    }

    /// The innermost open span of a thread.
    pub fn innermost(&self, thread: K) -> Option<&T> {
        Some(&self.threads.get(&thread)?.open.back()?.kept)
    }

    /// An open span that began then, of any of some threads.
    pub fn begun_at(&mut self, begin: u64, is_thread: impl Fn(&K) -> bool) -> Option<&mut T> {
        let threads = self.threads.iter_mut().filter(|(thread, _)| is_thread(thread));
        let mut open = threads.flat_map(|(_, thread)| &mut thread.open);
        open.find(|open| open.begin == begin).map(|open| &mut open.kept)
    }

    /// The last open span of a thread that is asked for, by its site and what is kept of it.
    pub fn last_mut(&mut self, thread: K, is_it: impl Fn(usize, &T) -> bool) -> Option<&mut T> {
        let mut open = self.threads.get_mut(&thread)?.open.iter_mut().rev();
        open.find(|open| is_it(open.site, &open.kept)).map(|open| &mut open.kept)
    }

    /// A span has begun. `begin` orders it in its thread: ticks, or a number that ascends.
    pub fn begin(&mut self, thread: K, site: usize, begin: u64, kept: T) {
        let thread =
            self.threads.entry(thread).or_insert_with(|| Thread { open: VecDeque::new(), losses: 0 });
        let at = thread.open.partition_point(|open| open.begin <= begin);
        thread.open.insert(at, Open { begin, site, losses: thread.losses, kept });
        self.count += 1;
    }

    /// The span of a site that began then has ended: gives what was kept. `None` when its begin was not seen.
    pub fn end(&mut self, thread: K, site: usize, begin: u64) -> Option<T> {
        self.end_near(thread, site, begin, 0)
    }

    /// The same where the begin is known up to `rounding`: ends the innermost of the nearest.
    pub fn end_near(&mut self, thread: K, site: usize, begin: u64, rounding: u64) -> Option<T> {
        let open = &mut self.threads.get_mut(&thread)?.open;
        let from = open.partition_point(|open| open.begin < begin.saturating_sub(rounding));
        let to = open.partition_point(|open| open.begin <= begin.saturating_add(rounding));
        let near = open.range(from..to).enumerate().rev().take(NEAR_MOST);
        let same = near.filter(|(_, open)| open.site == site);
        let (at, _) = same.min_by_key(|(_, open)| open.begin.abs_diff(begin))?;
        let ended = open.remove(from + at)?;
        self.count -= 1;
        if open.is_empty() {
            self.threads.remove(&thread);
        }
        Some(ended.kept)
    }

    /// The last span that is asked for, by its site and what is kept of it, has ended. `stays` decides about each within it, the outermost first; it is given whether the
    /// end of that one may be among lost records.
    pub fn end_last(
        &mut self,
        thread: K,
        is_it: impl Fn(usize, &T) -> bool,
        mut stays: impl FnMut(&T, bool) -> bool,
    ) -> Option<T> {
        let Thread { open, losses } = self.threads.get_mut(&thread)?;
        let at = open.iter().rposition(|open| is_it(open.site, &open.kept))?;
        let before = open.len();
        let within = open.split_off(at + 1);
        let ended = open.pop_back()?;
        open.extend(within.into_iter().filter(|inner| stays(&inner.kept, inner.losses != *losses)));
        self.count -= before - open.len();
        if open.is_empty() {
            self.threads.remove(&thread);
        }
        Some(ended.kept)
    }

    /// How many spans of a thread lie within the last that is asked for.
    pub fn within_last(&self, thread: K, is_it: impl Fn(usize, &T) -> bool) -> Option<usize> {
        let open = &self.threads.get(&thread)?.open;
        open.iter().rev().position(|open| is_it(open.site, &open.kept))
    }

    /// Records of a thread were lost.
    pub fn lost(&mut self, thread: K) {
        // A thread without open spans has nothing to lose.
        if let Some(thread) = self.threads.get_mut(&thread) {
            thread.losses += 1;
        }
    }

    /// Takes all that have not ended.
    pub fn take(&mut self) -> impl Iterator<Item = T> + use<K, T> {
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
        assert_eq!(spans.end((0, 1), 3, 20), None);
        assert_eq!(spans.end((0, 0), 1, 30), Some((1, 30)));
        assert_eq!(spans.innermost((0, 0)), Some(&(3, 20)));
        assert_eq!(spans.take().collect::<Vec<_>>(), [(1, 10), (3, 20)]);
        assert_eq!((spans.innermost((0, 0)), spans.count()), (None, 0));
    }

    #[test]
    fn a_rounded_begin_is_the_nearest_and_of_these_the_innermost() {
        let mut spans = OpenSpans::default();
        for (number, ticks) in [100, 130, 130, 170].into_iter().enumerate() {
            spans.begin(0, 1, ticks, number);
        }
        assert_eq!(spans.end_near(0, 1, 128, 10), Some(2));
        assert_eq!(spans.end_near(0, 1, 128, 64), Some(1));
        assert_eq!(spans.end_near(0, 2, 100, 64), None);
        assert_eq!(spans.end_near(0, 1, 0, u64::MAX), Some(0));
        assert_eq!(spans.end_near(0, 1, 300, 64), None);
        assert_eq!(spans.count(), 1);
    }

    #[test]
    fn those_within_may_have_ended_unseen_where_records_were_lost_after_their_begins() {
        let mut spans = OpenSpans::default();
        for round in 0..2 {
            spans.begin(0, 1, 10, 'a');
            spans.begin(0, 2, 20, 'b');
            if round == 1 {
                spans.lost(0);
            }
            spans.begin(0, 3, 30, 'c');
            assert_eq!(spans.within_last(0, |site, _| site == 1), Some(2));
            let mut seen = Vec::new();
            let ended = spans.end_last(
                0,
                |site, _| site == 1,
                |kept, is_lost| {
                    seen.push((*kept, is_lost));
                    !is_lost
                },
            );
            assert_eq!((ended, seen), (Some('a'), vec![('b', round == 1), ('c', false)]));
            assert_eq!(spans.end(0, 2, 20).is_some(), round == 0);
            assert_eq!(spans.last_mut(0, |_, _| true), Some(&mut 'c'));
            assert_eq!(spans.begun_at(30, |thread| *thread == 0), Some(&mut 'c'));
            assert_eq!(spans.end_last(0, |_, _| true, |_, _| true), Some('c'));
            assert!(spans.is_empty() && spans.threads.is_empty());
        }
    }
}
