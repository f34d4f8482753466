//! Where a time lies among the records, and how many there were when: both in fixed memory.

use std::collections::VecDeque;

/// Most samples.
const SAMPLES_MAX: usize = 1 << 16;
/// Most intervals.
const PARTS_MAX: usize = 4096;

/// A place among the records.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    /// Number of the record behind it.
    number: u64,
    /// The latest time before it.
    latest: i64,
    /// Bytes of all records before it.
    bytes: u64,
}

/// Times of some records, from which a search begins.
#[derive(Debug)]
pub struct Samples {
    list: Vec<Sample>,
    /// Records and bytes between two samples.
    spacing: (u64, u64),
    /// Behind the last record.
    end: Sample,
}

impl Default for Samples {
    fn default() -> Self {
        let end = Sample { latest: i64::MIN, ..Sample::default() };
        Self { list: Vec::new(), spacing: (256, 64 << 10), end }
    }
}

impl Samples {
    /// The next record has this time and so many bytes.
    pub fn add(&mut self, at: i64, bytes: u64) {
        let end = self.end;
        // One before a large record, too: it is not read by those who look for what is before it.
        let is_due = |last: &Sample| {
            let bytes = end.bytes.saturating_add(bytes) - last.bytes;
            end.number - last.number >= self.spacing.0 || bytes >= self.spacing.1
        };
        if self.list.last().is_none_or(is_due) {
            self.list.push(end);
            if self.list.len() >= SAMPLES_MAX {
                self.spacing = (self.spacing.0 * 2, self.spacing.1 * 2);
                let mut number = 0usize;
                self.list.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
            }
        }
        let latest = end.latest.max(at);
        self.end = Sample { number: end.number + 1, latest, bytes: end.bytes.saturating_add(bytes) };
    }

    /// The last sample before which all records are earlier than a time, and the next one.
    fn around(&self, at: i64) -> (Sample, Sample) {
        let behind = self.list.partition_point(|sample| sample.latest < at);
        let before = behind.checked_sub(1).map(|index| self.list[index]);
        (before.unwrap_or_default(), self.list.get(behind).copied().unwrap_or(self.end))
    }

    /// A number such that all records before it are earlier than this time, as late as is known.
    pub fn before(&self, at: i64) -> u64 {
        self.around(at).0.number
    }

    /// At most how many records are read to have those of a range, and at most how many bytes these have.
    pub fn cost(&self, from: i64, to: i64) -> (u64, u64) {
        let (first, end) = (self.around(from).0, self.around(to).1);
        (end.number.saturating_sub(first.number), end.bytes.saturating_sub(first.bytes))
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
        for number in 0..30_000_000i64 {
            samples.add(number * 10, 1);
        }
        assert!(samples.list.len() < SAMPLES_MAX);
        let spacing = samples.spacing.0;
        for at in [0, 1, 55_555, 299_999_990, i64::MAX] {
            let (before, exact) = (samples.before(at), (at as u64).div_ceil(10).min(29_999_999));
            assert!(before <= exact && exact - before <= spacing, "{at}: {before}");
        }
        assert_eq!(samples.before(i64::MIN), 0);
        for (from, to) in [(0, 10), (0, 100_000), (77_777, 12_345_678), (i64::MIN, i64::MAX)] {
            let number = |at: i64| (at.clamp(0, 300_000_000) as u64).div_ceil(10);
            let within = number(to) - number(from);
            let (records, bytes) = samples.cost(from, to);
            assert!((within..=within + 2 * spacing).contains(&records), "{from} {to}: {records}");
            assert_eq!(bytes, records);
        }
        // One that is late is found, as all before a sample count.
        samples.add(5, 1);
        assert!(samples.before(5) <= 30_000_000);
    }

    #[test]
    fn few_large_records_have_samples_of_their_own() {
        let mut samples = Samples::default();
        for number in 0..1000 {
            samples.add(number * 10, if number % 10 == 9 { 10 << 20 } else { 100 });
        }
        // Between the large ones there is nothing to be read but the small ones.
        assert_eq!(samples.cost(9000, 9080), (9, 900));
        assert_eq!(samples.cost(9000, 9090), (10, 900 + (10 << 20)));
        assert!(samples.cost(0, 10_000).1 > 1000 << 20);
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
