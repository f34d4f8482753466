//! Rectangles of one row of the timeline, in bounded memory: near ones are merged as memory runs short.

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
    /// Nanoseconds since the beginning of the trace. Of several: of the longest.
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

impl Entry {
    fn join(&mut self, other: &Self) {
        let weight = |entry: &Self| (entry.duration, entry.marks & (LOSS | STALL), entry.level);
        let (count, level, marks) =
            (self.count.saturating_add(other.count), self.level.max(other.level), self.marks | other.marks);
        if weight(other) > weight(self) {
            *self = *other;
        }
        (self.count, self.level, self.marks) = (count, level, marks);
    }

    fn end(&self) -> i64 {
        self.begin.saturating_add_unsigned(self.duration)
    }
}

/// The rectangles of one row, by their begins. No two of them overlap, except where they were merged.
#[derive(Debug, Default)]
pub struct Lane(Vec<Entry>);

impl Lane {
    /// Adds one; those that begin in the same 2^`shift` nanoseconds are one afterwards. Gives how many entries more there are.
    pub fn add(&mut self, entry: Entry, shift: u32) -> usize {
        let bucket = entry.begin >> shift;
        let list = &mut self.0;
        let at = match list.last() {
            Some(last) if last.begin >> shift < bucket => list.len(),
            Some(_) => list.partition_point(|other| other.begin >> shift < bucket),
            None => 0,
        };
        match list.get_mut(at) {
            Some(other) if other.begin >> shift == bucket => {
                other.join(&entry);
                0
            }
            _ => {
                list.insert(at, entry);
                1
            }
        }
    }

    /// Merges those that begin in the same 2^`shift` nanoseconds. Gives how many are left.
    pub fn merge(&mut self, shift: u32) -> usize {
        self.0.dedup_by(|next, kept| {
            let is_same = next.begin >> shift == kept.begin >> shift;
            if is_same {
                kept.join(next);
            }
            is_same
        });
        if self.0.capacity() > 2 * self.0.len() + 8 {
            self.0.shrink_to(self.0.len() + self.0.len() / 2);
        }
        self.0.len()
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The one that began then.
    pub fn at(&self, begin: i64) -> Option<&Entry> {
        let at = self.0.partition_point(|entry| entry.begin < begin);
        self.0.get(at).filter(|entry| entry.begin == begin)
    }

    /// The one that began before a time and lasts beyond it.
    pub fn covering(&self, at: i64) -> Option<&Entry> {
        let before = self.0[..self.0.partition_point(|entry| entry.begin < at)].last()?;
        (before.end() > at).then_some(before)
    }

    /// Gives what lies in a range, at most one rectangle for each `pixel` nanoseconds in which one begins.
    pub fn fold(&self, from: i64, to: i64, pixel: u64, mut give: impl FnMut(Entry)) {
        let first = self.0.partition_point(|entry| entry.begin < from);
        if let Some(before) = self.covering(from) {
            give(Entry { count: 1, ..*before });
        }
        let pixel = i64::try_from(pixel.max(1)).unwrap_or(i64::MAX);
        let mut open: Option<(i64, Entry)> = None;
        for entry in self.0[first..].iter().take_while(|entry| entry.begin < to) {
            let at = entry.begin.saturating_sub(from) / pixel;
            match &mut open {
                Some((same, joined)) if *same == at => joined.join(entry),
                _ => {
                    if let Some((_, joined)) = open.replace((at, *entry)) {
                        give(joined);
                    }
                }
            }
        }
        if let Some((_, joined)) = open {
            give(joined);
        }
    }

    /// How many begin in a range, and whether any entry there stands for several.
    pub fn count(&self, from: i64, to: i64) -> (u64, bool) {
        let first = self.0.partition_point(|entry| entry.begin < from);
        let within = self.0[first..].iter().take_while(|entry| entry.begin < to);
        within.fold((0, false), |(sum, any), entry| (sum + u64::from(entry.count), any || entry.count > 1))
    }
}

/// Values of a counter, or several that are near one another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Nanoseconds since the beginning of the trace, of the last.
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

impl Point {
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
pub struct Points(Vec<Point>);

impl Points {
    /// As [`Lane::add`].
    pub fn add(&mut self, point: Point, shift: u32) -> usize {
        let bucket = point.at >> shift;
        let at = match self.0.last() {
            Some(last) if last.at >> shift < bucket => self.0.len(),
            _ => self.0.partition_point(|other| other.at >> shift < bucket),
        };
        match self.0.get_mut(at) {
            Some(other) if other.at >> shift == bucket => {
                other.join(&point);
                0
            }
            _ => {
                self.0.insert(at, point);
                1
            }
        }
    }

    /// As [`Lane::merge`].
    pub fn merge(&mut self, shift: u32) -> usize {
        self.0.dedup_by(|next, kept| {
            let is_same = next.at >> shift == kept.at >> shift;
            if is_same {
                kept.join(next);
            }
            is_same
        });
        self.0.len()
    }

    /// As [`Lane::fold`]; the value before the range comes first.
    pub fn fold(&self, from: i64, to: i64, pixel: u64, mut give: impl FnMut(Point)) {
        let first = self.0.partition_point(|point| point.at < from);
        if let Some(before) = first.checked_sub(1).and_then(|at| self.0.get(at)) {
            give(*before);
        }
        let pixel = i64::try_from(pixel.max(1)).unwrap_or(i64::MAX);
        let mut open: Option<(i64, Point)> = None;
        for point in self.0[first..].iter().take_while(|point| point.at < to) {
            let at = point.at.saturating_sub(from) / pixel;
            match &mut open {
                Some((same, joined)) if *same == at => joined.join(point),
                _ => {
                    if let Some((_, joined)) = open.replace((at, *point)) {
                        give(joined);
                    }
                }
            }
        }
        if let Some((_, joined)) = open {
            give(joined);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(begin: i64, duration: u64) -> Entry {
        Entry { begin, duration, site: begin as u32, count: 1, level: 2, marks: 0 }
    }

    fn folded(lane: &Lane, from: i64, to: i64, pixel: u64) -> Vec<Entry> {
        let mut found = Vec::new();
        lane.fold(from, to, pixel, |entry| found.push(entry));
        found
    }

    #[test]
    fn nothing_is_lost_by_merging_and_the_longest_stays() {
        let mut lane = Lane::default();
        for number in 0..10_000 {
            lane.add(entry(number * 10, if number == 777 { 9 } else { 3 }), 0);
        }
        for shift in [4, 8, 12] {
            let left = lane.merge(shift);
            assert!(left <= (100_000 >> shift) + 1, "{left}");
            assert_eq!(lane.count(0, 100_000).0, 10_000);
        }
        assert!(folded(&lane, 0, 100_000, 1).iter().any(|entry| entry.begin == 7770 && entry.duration == 9));
    }

    #[test]
    fn there_is_at_most_one_rectangle_a_pixel() {
        let mut lane = Lane::default();
        for number in 0..100_000 {
            lane.add(entry(number, 1), 0);
        }
        let found = folded(&lane, 0, 100_000, 100);
        assert_eq!(found.len(), 1000);
        assert!(found.iter().all(|entry| entry.count == 100));
    }

    #[test]
    fn what_began_before_the_range_and_lasts_is_given() {
        let mut lane = Lane::default();
        lane.add(entry(0, 1000), 0);
        lane.add(entry(2000, 10), 0);
        assert_eq!(folded(&lane, 500, 600, 1), [entry(0, 1000)]);
        assert_eq!(folded(&lane, 1500, 1600, 1), []);
        // Late ones find their place.
        lane.add(entry(1200, 5), 0);
        assert_eq!(folded(&lane, 1100, 3000, 1), [entry(1200, 5), entry(2000, 10)]);
    }

    #[test]
    fn points_keep_their_extremes_and_the_last() {
        let mut points = Points::default();
        for number in 0..100 {
            let value = if number == 50 { 1e9 } else { f64::from(number) };
            points.add(Point { at: i64::from(number), min: value, max: value, last: value, count: 1 }, 0);
        }
        points.merge(7);
        let mut found = Vec::new();
        points.fold(0, 200, 1, |point| found.push(point));
        assert_eq!(found, [Point { at: 99, min: 0.0, max: 1e9, last: 99.0, count: 100 }]);
    }
}
