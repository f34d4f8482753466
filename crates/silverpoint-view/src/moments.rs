//! Where a time lies among the records, and how many there were when: both in fixed memory.

use std::collections::VecDeque;

/// Most samples.
const SAMPLES_MAX: usize = 8192;
/// Most intervals.
const PARTS_MAX: usize = 4096;

/// Times of some records, from which a search begins.
#[derive(Debug)]
pub struct Samples {
    /// Numbers of records, and the latest time before each.
    list: Vec<(u64, i64)>,
    /// Records between two samples.
    spacing: u64,
    latest: i64,
}

impl Default for Samples {
    fn default() -> Self {
        Self { list: Vec::new(), spacing: 256, latest: i64::MIN }
    }
}

impl Samples {
    /// The record of a number, in ascending order, has this time.
    pub fn add(&mut self, number: u64, at: i64) {
        if number.is_multiple_of(self.spacing) {
            self.list.push((number, self.latest));
            if self.list.len() >= SAMPLES_MAX {
                self.spacing *= 2;
                let spacing = self.spacing;
                self.list.retain(|(number, _)| number.is_multiple_of(spacing));
            }
        }
        self.latest = self.latest.max(at);
    }

    /// A number such that all records before it are earlier than this time, as late as is known.
    pub fn before(&self, at: i64) -> u64 {
        let behind = self.list.partition_point(|(_, latest)| *latest < at);
        behind.checked_sub(1).map_or(0, |index| self.list[index].0)
    }

    /// About how many records lie in a range.
    pub fn estimate(&self, from: i64, to: i64) -> u64 {
        (self.before(to) + self.spacing).saturating_sub(self.before(from))
    }
}

/// Records by level in equal intervals of time.
#[derive(Debug, Default)]
pub struct Buckets {
    /// Intervals are 2^`shift` nanoseconds long.
    shift: u32,
    /// Number of the first interval.
    first: i64,
    parts: VecDeque<[u64; 6]>,
}

impl Buckets {
    /// Counts one.
    pub fn add(&mut self, at: i64, level: u8) {
        if self.parts.is_empty() {
            self.first = at >> self.shift;
        }
        loop {
            let index = i128::from(at >> self.shift) - i128::from(self.first);
            let end = self.parts.len() as i128;
            if index.max(end - 1) - index.min(0) < PARTS_MAX as i128 {
                for _ in index..0 {
                    self.parts.push_front([0; 6]);
                    self.first -= 1;
                }
                for _ in end..=index {
                    self.parts.push_back([0; 6]);
                }
                self.parts[index.max(0) as usize][usize::from(level.min(5))] += 1;
                return;
            }
            self.widen();
        }
    }

    fn widen(&mut self) {
        let first = self.first >> 1;
        let mut parts: VecDeque<[u64; 6]> = VecDeque::new();
        for (index, part) in self.parts.iter().enumerate() {
            let at = (((self.first + index as i64) >> 1) - first) as usize;
            if at >= parts.len() {
                parts.push_back([0; 6]);
            }
            parts[at].iter_mut().zip(part).for_each(|(sum, count)| *sum += count);
        }
        (self.shift, self.first, self.parts) = (self.shift + 1, first, parts);
    }

    /// Length of an interval.
    pub fn resolution(&self) -> u64 {
        1 << self.shift
    }

    /// The intervals that begin in a range, and that in which it begins: the time at which each begins, and its counts.
    pub fn within(&self, from: i64, to: i64) -> impl Iterator<Item = (i64, &[u64; 6])> {
        let all = self.parts.iter().enumerate().map(|(index, counts)| (self.first + index as i64, counts));
        let (first, shift) = (from >> self.shift, self.shift);
        all.skip_while(move |(number, _)| *number < first)
            .map(move |(number, counts)| (number << shift, counts))
            .take_while(move |(begin, _)| *begin < to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_begins_before_the_time_and_not_far_away() {
        let mut samples = Samples::default();
        for number in 0..10_000_000u64 {
            samples.add(number, number as i64 * 10);
        }
        assert!(samples.list.len() < SAMPLES_MAX);
        for at in [0, 1, 55_555, 99_999_990, i64::MAX] {
            let (before, exact) = (samples.before(at), (at as u64).div_ceil(10).min(9_999_999));
            assert!(before <= exact && exact - before <= samples.spacing, "{at}: {before}");
        }
        assert_eq!(samples.before(i64::MIN), 0);
        // One that is late is found, as all before a sample count.
        samples.add(10_000_000, 5);
        assert!(samples.before(5) <= 10_000_000);
    }

    #[test]
    fn no_record_is_lost_however_far_apart() {
        let mut buckets = Buckets::default();
        for at in [0, 1, 1_000_000, -7, i64::MAX, i64::MIN, 5] {
            buckets.add(at, 2);
        }
        assert!(buckets.parts.len() <= PARTS_MAX);
        let sum = |from, to| buckets.within(from, to).map(|(_, counts)| counts[2]).sum::<u64>();
        assert_eq!(sum(i64::MIN, i64::MAX), 7);
    }

    #[test]
    fn near_records_have_intervals_of_their_own() {
        let mut buckets = Buckets::default();
        (0..4000).for_each(|at| buckets.add(1_000_000 + at, 0));
        assert_eq!(buckets.resolution(), 1);
        assert_eq!(
            buckets.within(1_000_010, 1_000_012).map(|(at, _)| at).collect::<Vec<_>>(),
            [1_000_010, 1_000_011]
        );
    }
}
