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
    /// Adds one; those of the same interval are one afterwards. An empty list has intervals of 2^`shift` nanoseconds from now on.
    /// Gives how many items more there are.
    pub fn add(&mut self, item: T, shift: u32) -> usize {
        let mut more = self.finest.add(item, shift);
        for (list, level) in self.coarser.iter_mut().zip(1..) {
            more += list.add(item, shift_of(level, shift));
        }
        if self.coarser.is_empty() && self.finest.count() >= COARSE_MIN {
            for level in 1..=COARSER {
                let mut list = self.coarser.last().unwrap_or(&self.finest).clone();
                list.merge_on(shift_of(level, shift), usize::MAX);
                more += list.count();
                self.coarser.push(list);
            }
        }
        more
    }

    /// All of them, as finely as they are known.
    pub fn finest(&self) -> &Pieces<T> {
        &self.finest
    }

    /// The same for a picture whose pixels are 2^`pixel` nanoseconds: not more than a few items a pixel, where there are so coarse ones.
    pub fn list(&self, pixel: u32) -> &Pieces<T> {
        self.coarser.iter().rev().find(|list| list.shift_max() <= pixel).unwrap_or(&self.finest)
    }

    /// Gives what lies in a range, one for each 2^`pixel` nanoseconds. The range must begin and end between two of these.
    pub fn fold(&self, (from, to): (i64, i64), pixel: u32, mut give: impl FnMut(T)) {
        let mut open: Option<T> = None;
        for item in self.list(pixel).since(from).take_while(|item| item.at() < to) {
            match &mut open {
                Some(joined) if joined.at() >> pixel == item.at() >> pixel => joined.join(item),
                _ => open.replace(*item).into_iter().for_each(&mut give),
            }
        }
        open.into_iter().for_each(give);
    }
}

/// Where counting has come to: a level, and a piece of it.
pub type Place = (usize, usize);

/// A list of items of any kind, whose intervals become longer in steps.
pub trait Merge {
    /// Items, of all levels.
    fn count(&self) -> usize;

    /// Gives, of each item in so many pieces, its bytes and from which `shift` on it is one with the one before. [`u64::BITS`]: it never is.
    /// Gives where to go on, if there are more.
    fn neighbours(&self, place: Place, pieces: usize, give: &mut dyn FnMut(u32, usize)) -> Option<Place>;

    /// Goes on with making one of the items of the same 2^`shift` nanoseconds, by so many pieces. Gives how many bytes fewer there are;
    /// `None`: all has been merged.
    fn merge_on(&mut self, shift: u32, pieces: usize) -> Option<usize>;
}

impl<T: Item> Merge for Levels<T> {
    fn count(&self) -> usize {
        self.finest.count() + self.coarser.iter().map(Pieces::count).sum::<usize>()
    }

    fn neighbours(
        &self,
        (level, piece): Place,
        pieces: usize,
        give: &mut dyn FnMut(u32, usize),
    ) -> Option<Place> {
        let list = if level == 0 { &self.finest } else { self.coarser.get(level - 1)? };
        let shorter = shift_of(level, 0);
        let next = list.neighbours(piece, pieces, |from| {
            give(if from > SHIFT_MAX { u64::BITS } else { from.saturating_sub(shorter) }, size_of::<T>());
        });
        match next {
            Some(piece) => Some((level, piece)),
            None => (level < self.coarser.len()).then_some((level + 1, 0)),
        }
    }

    fn merge_on(&mut self, shift: u32, pieces: usize) -> Option<usize> {
        let lists = std::iter::once(&mut self.finest).chain(&mut self.coarser).zip(0..);
        let mut lists = lists.map(|(list, level)| (list, shift_of(level, shift)));
        let (list, shift) = lists.find(|(list, shift)| list.shift() < *shift)?;
        Some(list.merge_on(shift, pieces) * size_of::<T>())
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

    fn folded(levels: &Levels<Many>, range: (i64, i64), pixel: u32) -> Vec<Many> {
        let mut found = Vec::new();
        levels.fold(range, pixel, |item| found.push(item));
        found
    }

    /// How many items there would be with such intervals.
    fn count_at(levels: &Levels<Many>, shift: u32, pieces: usize) -> usize {
        let (mut count, mut place) = (0, Some((0, 0)));
        while let Some(at) = place {
            place = levels.neighbours(at, pieces, &mut |from, _| count += usize::from(from > shift));
        }
        count
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
        assert_eq!(items, merged.count());
        // Late ones find their place in every level.
        for at in [5, 77_777, 300_001] {
            fine.add(Many { at, count: 1 }, 0);
            merged.add(Many { at, count: 1 }, 3);
        }
        for shift in 4..8 {
            let expected = [1, 7, usize::MAX].map(|pieces| count_at(&merged, shift, pieces));
            // In each state on the way, too.
            loop {
                for pixel in shift..22 {
                    let range = (3 << pixel, 40 << pixel);
                    assert_eq!(folded(&merged, range, pixel), folded(&fine, range, pixel), "{shift} {pixel}");
                }
                if merged.merge_on(shift, 16).is_none() {
                    break;
                }
            }
            assert_eq!(expected, [merged.count(); 3]);
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
            assert!(levels.list(pixel).count() <= most, "{pixel}: {}", levels.list(pixel).count());
        }
    }

    #[test]
    fn short_lists_have_one_level() {
        let mut levels = Levels::default();
        for number in 0..1000 {
            levels.add(Many { at: number, count: 1 }, 0);
        }
        assert!(levels.coarser.is_empty());
        assert_eq!(
            folded(&levels, (0, 1024), 9),
            [Many { at: 511, count: 512 }, Many { at: 999, count: 488 }]
        );
    }
}
