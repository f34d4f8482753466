//! Rectangles of one row of the timeline, in bounded memory: near ones are merged as memory runs short.

use std::cmp::Reverse;

use crate::levels::{Item, Levels, Merge};
use crate::timeline::NO_SITE;

/// Records of that kind are in a rectangle.
pub const LOSS: u8 = 1;
/// The same for waits.
pub const STALL: u8 = 2;
/// It has no end that is known.
pub const OPEN: u8 = 4;
/// Its records are known from the headers of their blocks only.
pub const UNREAD: u8 = 8;

/// A rectangle, or several that begin near one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Nanoseconds since 1970. Of several: of the longest; of equally long ones of that with the highest level, then of the first.
    pub begin: i64,
    /// How long the longest lasted.
    pub duration: u64,
    /// Number of the site of the longest; [`u32::MAX`]: none.
    pub site: u32,
    /// How many they are.
    pub count: u32,
    /// The highest level.
    pub level: u8,
    /// [`LOSS`], [`STALL`], [`OPEN`], [`UNREAD`], of all of them.
    pub marks: u8,
}

impl Item for Entry {
    fn at(&self) -> i64 {
        self.begin
    }

    fn join(&mut self, other: &Self) {
        // The level is that of all: it is that of the one that is kept only where all last no time.
        let level = |entry: &Self| if entry.duration == 0 { entry.level } else { 0 };
        let weight = |entry: &Self| (entry.duration, level(entry), Reverse(entry.begin), Reverse(entry.site));
        let (count, level, marks) =
            (self.count.saturating_add(other.count), self.level.max(other.level), self.marks | other.marks);
        if weight(other) > weight(self) {
            *self = *other;
        }
        (self.count, self.level, self.marks) = (count, level, marks);
    }
}

impl Entry {
    /// When the longest ended.
    pub fn end(&self) -> i64 {
        self.begin.saturating_add_unsigned(self.duration)
    }
}

/// An entry as it lies in memory: there are millions.
#[derive(Clone, Copy, Debug)]
struct Packed {
    begin: i64,
    duration: u64,
    count: u32,
    /// From below: site, level, marks.
    rest: u32,
}

/// Bits of a site, and of a level.
const SITE_BITS: u32 = 24;
const LEVEL_BITS: u32 = 3;
/// None, or one of very many.
const NO_PACKED_SITE: u32 = (1 << SITE_BITS) - 1;

impl Packed {
    fn of(entry: &Entry) -> Self {
        let Entry { begin, duration, site, count, level, marks } = *entry;
        let above = u32::from(level) | u32::from(marks) << LEVEL_BITS;
        Self { begin, duration, count, rest: site.min(NO_PACKED_SITE) | above << SITE_BITS }
    }

    fn entry(&self) -> Entry {
        let (site, above) = (self.rest & NO_PACKED_SITE, self.rest >> SITE_BITS);
        Entry {
            begin: self.begin,
            duration: self.duration,
            site: if site == NO_PACKED_SITE { NO_SITE } else { site },
            count: self.count,
            level: (above & ((1 << LEVEL_BITS) - 1)) as u8,
            marks: (above >> LEVEL_BITS) as u8,
        }
    }
}

impl Item for Packed {
    fn at(&self) -> i64 {
        self.begin
    }

    fn join(&mut self, other: &Self) {
        let mut entry = self.entry();
        entry.join(&other.entry());
        *self = Self::of(&entry);
    }
}

/// The rectangles of one row, by their begins. No two of them overlap, except where they were merged.
#[derive(Debug, Default)]
pub struct Lane(Levels<Packed>);

impl Lane {
    /// Adds one; those that begin in the same interval are one afterwards. In an empty one these are 2^`shift` nanoseconds from now on.
    /// Gives how many bytes more there are.
    pub fn add(&mut self, entry: Entry, shift: u32) -> usize {
        self.0.add(Packed::of(&entry), shift) * size_of::<Packed>()
    }

    /// To be merged.
    pub fn list(&mut self) -> &mut dyn Merge {
        &mut self.0
    }

    /// The one that began then.
    pub fn at(&self, begin: i64) -> Option<Entry> {
        self.0.finest().since(begin).next().filter(|entry| entry.begin == begin).map(Packed::entry)
    }

    /// The one that began before a time and lasts beyond it.
    pub fn covering(&self, at: i64) -> Option<Entry> {
        let before = self.0.finest().before(at)?.entry();
        (before.end() > at).then_some(before)
    }

    /// Those that begin in a range.
    pub fn within(&self, from: i64, to: i64) -> impl Iterator<Item = Entry> {
        self.0.finest().since(from).map(Packed::entry).take_while(move |entry| entry.begin < to)
    }

    /// Gives what lies in a range, at most one rectangle for each 2^`pixel` nanoseconds in which one begins.
    /// Gives the one that lasts into the range, too. The range must begin and end between two pixels.
    pub fn fold(&self, range: (i64, i64), pixel: u32, mut give: impl FnMut(Entry)) {
        // What is shorter than a pixel may have been merged with others.
        if let Some(before) = self.covering(range.0).filter(|before| before.duration >> pixel > 0) {
            give(Entry { count: 1, ..before });
        }
        self.0.fold(range, pixel, |packed| give(packed.entry()));
    }
}

/// Values of a counter, or several that are near one another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Nanoseconds since 1970, of the last.
    pub at: i64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// The last.
    pub last: f64,
    /// How many.
    pub count: u32,
}

impl Item for Point {
    fn at(&self) -> i64 {
        self.at
    }

    fn join(&mut self, other: &Self) {
        (self.min, self.max) = (self.min.min(other.min), self.max.max(other.max));
        if other.at >= self.at {
            (self.at, self.last) = (other.at, other.last);
        }
        self.count = self.count.saturating_add(other.count);
    }
}

/// The values of one counter, by their times.
#[derive(Debug, Default)]
pub struct Points(Levels<Point>);

impl Points {
    /// As [`Lane::add`].
    pub fn add(&mut self, point: Point, shift: u32) -> usize {
        self.0.add(point, shift) * size_of::<Point>()
    }

    /// As [`Lane::list`].
    pub fn list(&mut self) -> &mut dyn Merge {
        &mut self.0
    }

    /// The last value before a time.
    pub fn before(&self, at: i64) -> Option<Point> {
        let Point { at, last, .. } = *self.0.finest().before(at)?;
        Some(Point { at, min: last, max: last, last, count: 1 })
    }

    /// As [`Lane::fold`], but only what lies in the range.
    pub fn fold(&self, range: (i64, i64), pixel: u32, give: impl FnMut(Point)) {
        self.0.fold(range, pixel, give);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(begin: i64, duration: u64) -> Entry {
        Entry { begin, duration, site: begin as u32, count: 1, level: 2, marks: 0 }
    }

    fn folded(lane: &Lane, range: (i64, i64), pixel: u32) -> Vec<Entry> {
        let mut found = Vec::new();
        lane.fold(range, pixel, |entry| found.push(entry));
        found
    }

    #[test]
    fn nothing_is_lost_by_merging_and_the_longest_stays() {
        let mut lane = Lane::default();
        for number in 0..10_000 {
            lane.add(entry(number * 10, if number == 777 { 9 } else { 3 }), 0);
        }
        for shift in [4, 8, 12] {
            while lane.list().merge_on(shift, 1).is_some() {}
            assert!(lane.0.finest().count() <= (100_000 >> shift) + 1);
            let sum: u32 = folded(&lane, (0, 131_072), 0).iter().map(|entry| entry.count).sum();
            assert_eq!(sum, 10_000);
        }
        assert!(
            folded(&lane, (0, 131_072), 0).iter().any(|entry| entry.begin == 7770 && entry.duration == 9)
        );
    }

    #[test]
    fn there_is_at_most_one_rectangle_a_pixel() {
        let mut lane = Lane::default();
        for number in 0..100_000 {
            lane.add(entry(number, 1), 0);
        }
        let found = folded(&lane, (0, 98_304), 7);
        assert_eq!(found.len(), 768);
        assert!(found.iter().all(|entry| entry.count == 128));
    }

    #[test]
    fn what_began_before_the_range_and_lasts_is_given() {
        let mut lane = Lane::default();
        lane.add(entry(0, 1000), 0);
        lane.add(entry(2000, 10), 0);
        assert_eq!(folded(&lane, (500, 600), 0), [entry(0, 1000)]);
        assert_eq!(folded(&lane, (1500, 1600), 0), []);
        // Late ones find their place.
        lane.add(entry(1200, 5), 0);
        assert_eq!(folded(&lane, (1100, 3000), 0), [entry(1200, 5), entry(2000, 10)]);
    }

    #[test]
    fn of_several_the_longest_is_shown_then_the_worst_then_the_first_in_whichever_order_they_come() {
        let long = |begin, level, marks| Entry { level, marks, ..entry(begin, 70) };
        let short = |begin, level, marks| Entry { level, marks, ..entry(begin, 0) };
        let all = [long(9, 0, 0), long(3, 2, 0), short(4, 5, LOSS), short(8, 5, 0), short(1, 1, STALL)];
        for first in 0..all.len() {
            let (mut whole, mut moments) = (Lane::default(), Lane::default());
            for entry in all.iter().cycle().skip(first).take(all.len()) {
                whole.add(*entry, 4);
                if entry.duration == 0 {
                    moments.add(*entry, 4);
                }
            }
            assert_eq!(
                folded(&whole, (0, 16), 4),
                [Entry { count: 5, level: 5, ..long(3, 5, LOSS | STALL) }]
            );
            assert_eq!(folded(&moments, (0, 16), 4), [Entry { count: 3, ..short(4, 5, LOSS | STALL) }]);
        }
        // What an entry has it has in memory, too.
        let none = Entry { site: NO_SITE, level: 5, marks: 15, ..entry(7, u64::MAX) };
        assert_eq!(Packed::of(&none).entry(), none);
    }

    #[test]
    fn points_keep_their_extremes_and_the_last() {
        let mut points = Points::default();
        for number in 0..100 {
            let value = if number == 50 { 1e9 } else { f64::from(number) };
            points.add(Point { at: i64::from(number), min: value, max: value, last: value, count: 1 }, 0);
        }
        while points.list().merge_on(7, 1).is_some() {}
        let mut found = Vec::new();
        points.fold((0, 200), 0, |point| found.push(point));
        assert_eq!(found, [Point { at: 99, min: 0.0, max: 1e9, last: 99.0, count: 100 }]);
        let before = Point { at: 99, min: 99.0, max: 99.0, last: 99.0, count: 1 };
        assert_eq!([99, 100].map(|at| points.before(at)), [None, Some(before)]);
    }
}
