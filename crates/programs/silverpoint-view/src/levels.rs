//! A list by time in levels of detail. In the finest one near items are joined as memory runs short, and in each further one more coarsely.
//!
//! Intervals are powers of two of nanoseconds since 1970, so those of a level are parts of those of the next.
//! What is joined in two steps is the same as what is joined in one. So a level gives what the items themselves would.

use crate::pieces::Pieces;

/// Each level has intervals of 2^`STEP` times those of the one before.
const STEP: u32 = 3;
/// Levels above the finest. It may be that long that without them a picture would cost what its length costs.
const COARSER: usize = 3;
/// Items from which on there are coarser levels.
const COARSE_MIN: usize = 4096;
/// Nanoseconds of a time have fewer bits.
pub const SHIFT_MAX: u32 = 62;

/// What lies at a time, or several of these that are near one another.
pub trait Item: Copy {
    /// In which interval it lies: one of those that it stands for has this time.
    fn at(&self) -> i64;
    /// Stands for another one, too. In which order several are joined does not matter.
    fn join(&mut self, other: &Self);
}

/// See the module.
#[derive(Debug)]
pub struct Levels<T> {
    finest: Pieces<T>,
    /// None, or all of them.
    coarser: Vec<Pieces<T>>,
}

impl<T> Default for Levels<T> {
    fn default() -> Self {
        Self { finest: Pieces::default(), coarser: Vec::new() }
    }
}

/// Intervals of level `level`, where those of the finest are 2^`shift` long.
fn shift_of(level: usize, shift: u32) -> u32 {
    (shift + STEP * level as u32).min(SHIFT_MAX)
}

impl<T: Item> Levels<T> {
    /// Adds one; those of the same 2^`shift` nanoseconds are one afterwards. Gives how many items more there are.
    pub fn add(&mut self, item: T, shift: u32) -> usize {
        let mut more = self.finest.add(item, shift);
        for (list, level) in self.coarser.iter_mut().zip(1..) {
            more += list.add(item, shift_of(level, shift));
        }
        if self.coarser.is_empty() && self.finest.count() >= COARSE_MIN {
            for level in 1..=COARSER {
                let mut list = self.coarser.last().unwrap_or(&self.finest).clone();
                more += list.merge(shift_of(level, shift));
                self.coarser.push(list);
            }
        }
        more
    }

    /// Makes one of those of the same 2^`shift` nanoseconds. Gives how many items are left.
    pub fn merge(&mut self, shift: u32) -> usize {
        let coarser = self.coarser.iter_mut().zip(1..);
        self.finest.merge(shift)
            + coarser.map(|(list, level)| list.merge(shift_of(level, shift))).sum::<usize>()
    }

    /// How many items there would be.
    pub fn count(&self, shift: u32) -> usize {
        let coarser = 1..=self.coarser.len();
        let coarser = coarser.map(|level| self.coarser[level - 1].intervals(shift_of(level, shift)));
        self.finest.intervals(shift) + coarser.sum::<usize>()
    }

    /// All of them, as finely as they are known.
    pub fn finest(&self) -> &Pieces<T> {
        &self.finest
    }

    /// The same for a picture whose pixels are 2^`pixel` nanoseconds: not more than a few items a pixel, where there are so coarse ones.
    pub fn list(&self, pixel: u32, shift: u32) -> &Pieces<T> {
        let coarse_enough = (1..=self.coarser.len()).rev().find(|level| shift_of(*level, shift) <= pixel);
        coarse_enough.map_or(&self.finest, |level| &self.coarser[level - 1])
    }

    /// Gives what lies in a range, one for each 2^`pixel` nanoseconds. The range must begin and end between two of these.
    pub fn fold(&self, (from, to): (i64, i64), pixel: u32, shift: u32, mut give: impl FnMut(T)) {
        let mut open: Option<T> = None;
        for item in self.list(pixel, shift).since(from).take_while(|item| item.at() < to) {
            match &mut open {
                Some(joined) if joined.at() >> pixel == item.at() >> pixel => joined.join(item),
                _ => open.replace(*item).into_iter().for_each(&mut give),
            }
        }
        open.into_iter().for_each(give);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many, and the greatest.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Many {
        at: i64,
        count: u32,
    }

    impl Item for Many {
        fn at(&self) -> i64 {
            self.at
        }

        fn join(&mut self, other: &Self) {
            (self.at, self.count) = (self.at.max(other.at), self.count + other.count);
        }
    }

    fn folded(levels: &Levels<Many>, range: (i64, i64), pixel: u32, shift: u32) -> Vec<Many> {
        let mut found = Vec::new();
        levels.fold(range, pixel, shift, |item| found.push(item));
        found
    }

    #[test]
    fn each_level_gives_what_the_items_give() {
        let times = || (0..50_000i64).map(|number| number * 7 + number * number % 5);
        let (mut fine, mut merged) = (Levels::default(), Levels::default());
        let mut items = 0;
        for at in times() {
            fine.finest.add(Many { at, count: 1 }, 0);
            items += merged.add(Many { at, count: 1 }, 3);
        }
        assert_eq!(items, merged.finest.count() + merged.coarser.iter().map(Pieces::count).sum::<usize>());
        // Late ones find their place in every level.
        for at in [5, 77_777, 300_001] {
            fine.add(Many { at, count: 1 }, 0);
            merged.add(Many { at, count: 1 }, 3);
        }
        for shift in 3..8 {
            merged.merge(shift);
            for pixel in shift..22 {
                let range = (3 << pixel, 40 << pixel);
                assert_eq!(
                    folded(&merged, range, pixel, shift),
                    folded(&fine, range, pixel, 0),
                    "{shift} {pixel}"
                );
            }
        }
    }

    #[test]
    fn a_picture_looks_at_few_items_a_pixel() {
        let mut levels = Levels::default();
        for number in 0..1_000_000 {
            levels.add(Many { at: number * 10, count: 1 }, 4);
        }
        for (pixel, most) in
            [(4, 1_000_000), (7, 80_000), (10, 80_000 >> 3), (13, 80_000 >> 6), (16, 80_000 >> 6)]
        {
            assert!(levels.list(pixel, 4).count() <= most, "{pixel}: {}", levels.list(pixel, 4).count());
        }
        assert_eq!(levels.finest.intervals(7), levels.list(7, 4).count());
    }

    #[test]
    fn short_lists_have_one_level() {
        let mut levels = Levels::default();
        for number in 0..1000 {
            levels.add(Many { at: number, count: 1 }, 0);
        }
        assert!(levels.coarser.is_empty());
        assert_eq!(
            folded(&levels, (0, 1024), 9, 0),
            [Many { at: 511, count: 512 }, Many { at: 999, count: 488 }]
        );
    }
}
