//! A long list by time, in pieces of bounded size. Growing moves no items, so that memory is what they take and no more.

use crate::levels::Item;

/// Items of a piece.
const PIECE: usize = 1024;

/// See the module. No piece is empty.
///
/// Merging goes on in steps (`merge_on`). What has been merged has longer intervals than the rest:
///
/// ```text
///   one item in 2^`coming` ns │ one item in 2^`shift` ns
///                          `merged`, where an interval of both begins
/// ```
#[derive(Clone, Debug)]
pub struct Pieces<T> {
    pieces: Vec<Vec<T>>,
    count: usize,
    shift: u32,
    coming: u32,
    merged: i64,
}

/// Where an item is, or would be: piece, and place in it.
type Place = (usize, usize);

impl<T> Default for Pieces<T> {
    fn default() -> Self {
        Self { pieces: Vec::new(), count: 0, shift: 0, coming: 0, merged: i64::MIN }
    }
}

impl<T: Item> Pieces<T> {
    /// How many items.
    pub fn count(&self) -> usize {
        self.count
    }

    /// All that are not before a time.
    pub fn since(&self, at: i64) -> impl Iterator<Item = &T> {
        let (piece, place) = self.place(|item| item.at() < at);
        self.pieces[piece..].iter().flatten().skip(place)
    }

    /// The last one before a time.
    pub fn before(&self, at: i64) -> Option<&T> {
        match self.place(|item| item.at() < at) {
            (0, 0) => None,
            (piece, 0) => self.pieces[piece - 1].last(),
            (piece, place) => self.pieces[piece].get(place - 1),
        }
    }

    /// How long its intervals are, everywhere: 2^`shift` nanoseconds at least.
    pub fn shift(&self) -> u32 {
        self.shift
    }

    /// The same at most: more than [`Self::shift`] while merging goes on.
    pub fn shift_max(&self) -> u32 {
        if self.merged == i64::MIN { self.shift } else { self.coming }
    }

    /// Adds one; those of the same interval are one afterwards. Intervals of an empty list are 2^`shift` nanoseconds from now on.
    /// Gives how many items more there are.
    pub fn add(&mut self, item: T, shift: u32) -> usize {
        if self.count == 0 {
            (self.shift, self.merged) = (shift, i64::MIN);
        }
        let shift = if item.at() < self.merged { self.coming } else { self.shift };
        let interval = item.at() >> shift;
        let last = self.pieces.last().and_then(|piece| piece.last());
        let at = match last.map(|last| last.at() >> shift) {
            Some(last) if last < interval => (self.pieces.len(), 0),
            Some(last) if last == interval => {
                (self.pieces.len() - 1, self.pieces.last().map_or(0, |piece| piece.len() - 1))
            }
            _ => self.place(|other| other.at() >> shift < interval),
        };
        match self.pieces.get_mut(at.0).and_then(|piece| piece.get_mut(at.1)) {
            Some(other) if other.at() >> shift == interval => {
                other.join(&item);
                0
            }
            _ => {
                self.insert(at, item);
                1
            }
        }
    }

    /// Goes on with making one of those of the same 2^`shift` nanoseconds, which are longer intervals than before, by so many pieces.
    /// When it has come to the end, [`Self::shift`] is this one. Gives how many items fewer there are.
    pub fn merge_on(&mut self, shift: u32, pieces: usize) -> usize {
        if shift != self.coming {
            (self.coming, self.merged) = (shift, i64::MIN);
        }
        let before = self.merged;
        let (first, place) = self.place(|item| item.at() < before);
        // The last piece that has been merged may have room.
        let from = first - usize::from(place == 0 && first > 0);
        // Its last item may be of the interval that comes next: with it alone merging would not go on.
        let end = self.pieces.len().min(first.saturating_add(pieces).saturating_add(1));
        let mut old: Vec<Vec<T>> = self.pieces.drain(from..end).collect();
        let mut merged: Vec<Vec<T>> = Vec::new();
        if from < first {
            merged.push(old.remove(0));
        } else if place > 0 {
            let rest = old[0].split_off(place);
            merged.push(std::mem::replace(&mut old[0], rest));
        }
        let mut gone = 0;
        // The memory of each piece is free before that of a further one is needed.
        for item in old.into_iter().flatten() {
            match merged.last_mut() {
                Some(piece) if piece.last().is_some_and(|last| last.at() >> shift == item.at() >> shift) => {
                    piece.last_mut().into_iter().for_each(|last| last.join(&item));
                    gone += 1;
                }
                Some(piece) if piece.len() < PIECE => piece.push(item),
                _ => {
                    let mut piece = Vec::with_capacity(PIECE);
                    piece.push(item);
                    merged.push(piece);
                }
            }
        }
        let next = from + merged.len();
        self.pieces.splice(from..from, merged);
        self.count -= gone;
        (self.shift, self.coming, self.merged) = match self.pieces.get(next).and_then(|piece| piece.first()) {
            Some(item) => (self.shift, shift, item.at() >> shift << shift),
            None => (shift, shift, i64::MIN),
        };
        gone
    }

    /// Gives of each item of so many pieces from which intervals on it and the one before are one: of 2^`n` nanoseconds.
    /// Gives the next piece, if there is one.
    pub fn neighbours(&self, piece: usize, pieces: usize, mut give: impl FnMut(u32)) -> Option<usize> {
        let end = self.pieces.len().min(piece.saturating_add(pieces));
        let mut last = piece.checked_sub(1).and_then(|before| self.pieces.get(before)?.last()).map(Item::at);
        for item in self.pieces.get(piece..end).unwrap_or_default().iter().flatten() {
            // The highest bit in which they differ must not count.
            give(
                last.map_or(u64::BITS, |last| u64::BITS - (last ^ item.at()).cast_unsigned().leading_zeros()),
            );
            last = Some(item.at());
        }
        (end < self.pieces.len()).then_some(end)
    }

    /// The first for which it does not hold; it holds for those before.
    fn place(&self, is_before: impl Fn(&T) -> bool) -> Place {
        let piece = self.pieces.partition_point(|piece| piece.last().is_some_and(&is_before));
        (piece, self.pieces.get(piece).map_or(0, |piece| piece.partition_point(&is_before)))
    }

    fn insert(&mut self, (mut piece, mut place): Place, item: T) {
        self.count += 1;
        if piece == self.pieces.len() && piece > 0 {
            (piece, place) = (piece - 1, self.pieces[piece - 1].len());
        }
        let Some(list) = self.pieces.get_mut(piece) else {
            self.pieces.push(vec![item]);
            return;
        };
        if list.len() < PIECE {
            list.insert(place, item);
            return;
        }
        let mut next = Vec::with_capacity(PIECE);
        if place == PIECE {
            next.push(item);
        } else {
            next.extend(list.drain(PIECE / 2..));
            let (to, place) = if place <= PIECE / 2 { (list, place) } else { (&mut next, place - PIECE / 2) };
            to.insert(place, item);
        }
        self.pieces.insert(piece + 1, next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many, at the time of the last.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Many(i64, u32);

    impl Item for Many {
        fn at(&self) -> i64 {
            self.0
        }

        fn join(&mut self, other: &Self) {
            (self.0, self.1) = (self.0.max(other.0), self.1 + other.1);
        }
    }

    #[test]
    fn items_lie_in_order_in_whichever_order_they_come() {
        for step in [1i64, 7, 4999] {
            let mut pieces = Pieces::default();
            let times: Vec<i64> = (0..5000).map(|number| number * step % 5000).collect();
            for at in &times {
                assert_eq!(pieces.add(Many(at * 2, 1), 0), 1);
            }
            assert_eq!(pieces.add(Many(5000, 2), 0), 0);
            assert_eq!(pieces.count(), 5000);
            let found: Vec<i64> = pieces.since(i64::MIN).map(|item| item.0).collect();
            assert_eq!(found, (0..5000).map(|number| number * 2).collect::<Vec<_>>(), "{step}");
            assert!(pieces.pieces.iter().all(|piece| !piece.is_empty() && piece.len() <= PIECE));
            for at in [-1, 0, 1, 2047, 2048, 2049, 2050, 5000, 9998, 9999, 20_000] {
                let before = times.iter().map(|time| time * 2).filter(|time| *time < at).max();
                assert_eq!(pieces.before(at).map(|item| item.0), before, "{step} {at}");
                let since = times.iter().map(|time| time * 2).filter(|time| *time >= at).min();
                assert_eq!(pieces.since(at).next().map(|item| item.0), since, "{step} {at}");
            }
            let mut expected = 0;
            assert_eq!(pieces.neighbours(0, usize::MAX, |from| expected += usize::from(from > 5)), None);
            assert_eq!((pieces.merge_on(5, usize::MAX), pieces.count(), expected), (5000 - 313, 313, 313));
            let sums: Vec<u32> = pieces.since(i64::MIN).map(|item| item.1).collect();
            assert_eq!((sums[0], sums.iter().sum::<u32>()), (16, 5002), "{step}");
        }
    }

    #[test]
    fn merging_in_steps_is_merging_at_once_with_all_that_comes_in_between() {
        let at = |number: i64| number * 37 + number * number % 61;
        for pieces in [1, 2, 5] {
            let (mut whole, mut steps) = (Pieces::default(), Pieces::default());
            let mut sum = 0;
            for number in 0..20_000 {
                steps.add(Many(at(number), 1), 3);
                whole.add(Many(at(number), 1), 3);
            }
            let count = steps.count();
            let mut gone = 0;
            for turn in 0.. {
                let merged = steps.merge_on(9, pieces);
                assert!(merged <= (pieces + 2) * PIECE, "{merged}");
                gone += merged;
                // Late ones before, near and behind the place, and one at the end.
                for late in [
                    turn * 999 % 19_000 * 37,
                    steps.merged.max(0) - 1,
                    steps.merged.max(0),
                    at(20_000 + turn),
                ] {
                    sum += steps.add(Many(late, 1), 9);
                    whole.add(Many(late, 1), 3);
                }
                let times: Vec<i64> = steps.since(i64::MIN).map(Item::at).collect();
                assert!(times.is_sorted());
                assert_eq!(steps.count(), times.len());
                assert_eq!(steps.count(), count + sum - gone);
                if steps.shift() == 9 {
                    break;
                }
            }
            whole.merge_on(9, usize::MAX);
            let all = |pieces: &Pieces<Many>| pieces.since(i64::MIN).copied().collect::<Vec<Many>>();
            assert_eq!(all(&steps), all(&whole));
            assert!(steps.pieces.iter().all(|piece| !piece.is_empty() && piece.len() <= PIECE));
        }
    }
}
