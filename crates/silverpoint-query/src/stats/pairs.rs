//! Async spans: a begin and the next end of the same session, category, name and id, in any thread.
//!
//! Streams are read one after the other, so ends are seen before their begins. All are kept, 32 bytes each,
//! and paired by time at the end. Beyond [`MOST`] they are paired early: those without a partner stay as long
//! as there is room.

use std::collections::{BTreeMap, HashMap};

use super::Histogram;

/// Begins and ends that are held at once: 32 MiB.
const MOST: usize = 1 << 20;

/// Begins and ends that have been seen.
#[derive(Default)]
pub(super) struct Pairs {
    /// Numbers for what is the same in a begin and its end, but for the id.
    groups: HashMap<(usize, String, String), u32>,
    /// The same by session and site number.
    by_site: HashMap<(usize, usize), u32>,
    seen: Vec<Half>,
    /// Begins and ends that found no partner.
    alone: u64,
}

/// One begin or end; compared in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Half {
    id: u64,
    group: u32,
    ticks: u64,
    /// Of equal ticks the begin comes first.
    is_end: bool,
    /// Site number of the begin; unused for an end.
    site: u32,
}

impl Pairs {
    /// A begin (`is_end` false) or end of session `session` whose site has this category and name. Adds durations in ticks to `found` when the room is used up.
    pub(super) fn add(
        &mut self,
        session: usize,
        (category, name): (&str, &str),
        (site, id, ticks, is_end): (usize, u64, u64, bool),
        found: &mut Found,
    ) {
        let group = *self.by_site.entry((session, site)).or_insert_with(|| {
            let next = self.groups.len() as u32;
            *self.groups.entry((session, category.to_owned(), name.to_owned())).or_insert(next)
        });
        self.seen.push(Half { id, group, ticks, is_end, site: site as u32 });
        if self.seen.len() >= MOST {
            self.pair(found);
            if self.seen.len() > MOST / 2 {
                self.alone += self.seen.len() as u64;
                self.seen.clear();
            }
        }
    }

    /// Pairs the rest; counts those without a partner.
    pub(super) fn finish(&mut self, found: &mut Found) {
        self.pair(found);
        self.alone += self.seen.len() as u64;
        self.seen.clear();
        found.alone += std::mem::take(&mut self.alone);
    }

    fn pair(&mut self, found: &mut Found) {
        self.seen.sort_unstable();
        let mut left = Vec::new();
        // Begins of the id at hand that have no end yet; an end closes the last of them.
        let mut open: Vec<Half> = Vec::new();
        for half in self.seen.drain(..) {
            if open.last().is_some_and(|begin| (begin.id, begin.group) != (half.id, half.group)) {
                left.append(&mut open);
            }
            match (half.is_end, open.pop()) {
                (false, begin) => open.extend(begin.into_iter().chain([half])),
                (true, Some(begin)) => found.pair(begin.site as usize, begin.ticks, half.ticks),
                (true, None) => left.push(half),
            }
        }
        left.append(&mut open);
        self.seen = left;
    }
}

/// What pairing yields.
pub(super) struct Found<'s> {
    pub(super) spans: &'s mut BTreeMap<usize, Histogram>,
    pub(super) alone: u64,
    /// Nanoseconds between two ticks of the session.
    pub(super) duration: &'s dyn Fn(u64, u64) -> i128,
}

impl Found<'_> {
    fn pair(&mut self, site: usize, begin: u64, end: u64) {
        if let Ok(ns) = u64::try_from((self.duration)(begin, end)) {
            self.spans.entry(site).or_default().add(ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Durations by begin site, and how many halves stayed alone.
    fn pairs(halves: &[(u64, u64, bool)]) -> (Vec<u64>, u64) {
        let (mut pairs, mut spans) = (Pairs::default(), BTreeMap::new());
        let mut found =
            Found { spans: &mut spans, alone: 0, duration: &|a, b| i128::from(b) - i128::from(a) };
        for (id, ticks, is_end) in halves {
            pairs.add(0, ("net", "fetch"), (1, *id, *ticks, *is_end), &mut found);
        }
        pairs.finish(&mut found);
        let alone = found.alone;
        (spans.get(&1).map_or(vec![], |h| vec![h.count(), h.sum() as u64]), alone)
    }

    #[test]
    fn an_end_is_paired_with_a_begin_that_is_read_later() {
        assert_eq!(pairs(&[(7, 50, true), (8, 10, false), (7, 20, false)]), (vec![1, 30], 1));
    }

    #[test]
    fn an_id_may_be_used_again() {
        assert_eq!(pairs(&[(7, 1, false), (7, 3, true), (7, 10, false), (7, 14, true)]), (vec![2, 6], 0));
    }

    #[test]
    fn an_end_before_its_begin_stays_alone() {
        assert_eq!(pairs(&[(7, 5, true), (7, 9, false)]), (vec![], 2));
    }

    #[test]
    fn more_than_are_held_are_paired_early() {
        let halves: Vec<_> =
            (0..MOST as u64 + 10).flat_map(|id| [(id, id, false), (id, id + 2, true)]).collect();
        assert_eq!(pairs(&halves), (vec![MOST as u64 + 10, 2 * (MOST as u64 + 10)], 0));
    }

    #[test]
    fn what_never_ends_does_not_pile_up() {
        let halves: Vec<_> = (0..MOST as u64 + 10).map(|id| (id, id, false)).collect();
        assert_eq!(pairs(&halves), (vec![], MOST as u64 + 10));
    }
}
