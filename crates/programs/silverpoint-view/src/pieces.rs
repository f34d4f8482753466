//! A long list by time, in pieces of bounded size. Growing moves no items, so that memory is what they take and no more.

use crate::levels::Item;

/// Items of a piece.
const PIECE: usize = 1024;

/// See the module. No piece is empty.
#[derive(Clone, Debug)]
pub struct Pieces<T> {
    pieces: Vec<Vec<T>>,
    count: usize,
}

/// Where an item is, or would be: piece, and place in it.
type Place = (usize, usize);

impl<T> Default for Pieces<T> {
    fn default() -> Self {
        Self { pieces: Vec::new(), count: 0 }
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

    /// Adds one; those of the same 2^`shift` nanoseconds are one afterwards. Gives how many items more there are.
    pub fn add(&mut self, item: T, shift: u32) -> usize {
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

    /// Makes one of those of the same 2^`shift` nanoseconds. Gives how many are left.
    pub fn merge(&mut self, shift: u32) -> usize {
        let mut merged = Self::default();
        for piece in std::mem::take(&mut self.pieces) {
            // The memory of each is free before that of a further one is needed.
            for item in piece {
                merged.add(item, shift);
            }
        }
        *self = merged;
        self.count
    }

    /// How many there are from one interval of 2^`shift` nanoseconds to the next, as one for each.
    pub fn intervals(&self, shift: u32) -> usize {
        let (mut count, mut last) = (0, None);
        for item in self.pieces.iter().flatten() {
            let interval = Some(item.at() >> shift);
            count += usize::from(interval != last);
            last = interval;
        }
        count
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
            let expected = pieces.intervals(5);
            assert_eq!((pieces.merge(5), pieces.count(), expected), (313, 313, 313));
            let sums: Vec<u32> = pieces.since(i64::MIN).map(|item| item.1).collect();
            assert_eq!((sums[0], sums.iter().sum::<u32>()), (16, 5002), "{step}");
        }
    }
}
