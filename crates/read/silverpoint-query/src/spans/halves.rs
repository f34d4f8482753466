//! Async spans whose begins and ends come in no order: where streams are read one after the other, ends are seen before their begins.
//!
//! All are kept, 32 bytes each, and paired by time at the end. Beyond [`MOST`] they are paired early: those without a partner stay as long
//! as there is room.

use std::collections::HashMap;

/// Begins and ends that are held at once: 32 MiB.
const MOST: usize = 1 << 20;

/// Begins and ends of async spans that have been seen.
#[derive(Default)]
pub struct Halves {
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

impl Halves {
    /// A begin (`is_end` false) or end of session `session` whose site has this category and name. Gives pairs to `found` when the room is used up: the site of the
    /// begin, and the ticks of both.
    pub fn add(
        &mut self,
        session: usize,
        (category, name): (&str, &str),
        (site, id, ticks, is_end): (usize, u64, u64, bool),
        found: &mut dyn FnMut(usize, u64, u64),
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

    /// Pairs the rest; counts those that found no partner since the last call.
    pub fn finish(&mut self, found: &mut dyn FnMut(usize, u64, u64)) -> u64 {
        self.pair(found);
        self.alone += self.seen.len() as u64;
        self.seen.clear();
        std::mem::take(&mut self.alone)
    }

    fn pair(&mut self, found: &mut dyn FnMut(usize, u64, u64)) {
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
                (true, Some(begin)) => found(begin.site as usize, begin.ticks, half.ticks),
                (true, None) => left.push(half),
            }
        }
        left.append(&mut open);
        self.seen = left;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many pairs were found and their durations together, and how many halves stayed alone.
    fn pairs(seen: &[(u64, u64, bool)]) -> (Vec<u64>, u64) {
        let (mut halves, mut count, mut sum) = (Halves::default(), 0, 0);
        let mut found = |site, begin, end| {
            assert_eq!(site, 1);
            (count, sum) = (count + 1, sum + end - begin);
        };
        for (id, ticks, is_end) in seen {
            halves.add(0, ("net", "fetch"), (1, *id, *ticks, *is_end), &mut found);
        }
        let alone = halves.finish(&mut found);
        (if count > 0 { vec![count, sum] } else { vec![] }, alone)
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
