//! A histogram of durations with a fixed size: exact count, sum, least and greatest; percentiles within 1/64 of the value.
//!
//! Buckets are log-linear: a power of two is divided into 32, so that a value's bucket is its leading six bits. Values below
//! 32 have a bucket each. Memory: made on first use of each power of two, at most 15 KiB.

/// Buckets to a power of two.
const SUB: u64 = 32;
const SUB_BITS: u32 = SUB.trailing_zeros();

/// Durations (or any u64), counted.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
    /// Invariant: its sum is `count`; grown up to the greatest bucket used.
    buckets: Vec<u64>,
}

impl Histogram {
    /// Counts one value.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        self.sum += u128::from(value);
        let bucket = bucket(value);
        if bucket >= self.buckets.len() {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
    }

    /// Values counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their sum.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The least; 0 when nothing was counted.
    pub fn min(&self) -> u64 {
        self.min
    }

    /// The greatest; 0 when nothing was counted.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The mean, rounded down; 0 when nothing was counted.
    pub fn mean(&self) -> u64 {
        match self.count {
            0 => 0,
            n => (self.sum / u128::from(n)) as u64,
        }
    }

    /// Counts by powers of two, from that of the least value to that of the greatest. Gives the least value
    /// of each, and its count.
    pub fn powers(&self) -> Vec<(u64, u64)> {
        if self.count == 0 {
            return Vec::new();
        }
        let power = |value: u64| value.checked_ilog2().unwrap_or(0);
        let (first, last) = (power(self.min), power(self.max));
        let low = |power: u32| if power == 0 { 0 } else { 1u64 << power };
        let mut powers: Vec<(u64, u64)> = (first..=last).map(|power| (low(power), 0)).collect();
        for (bucket, &n) in self.buckets.iter().enumerate().filter(|(_, n)| **n > 0) {
            // Buckets do not straddle powers of two.
            let at = power(middle(bucket)).clamp(first, last) - first;
            powers[at as usize].1 += n;
        }
        powers
    }

    /// The value below or at which `per_mille` of a thousand values lie: the middle of its bucket, within the exact extremes.
    pub fn quantile(&self, per_mille: u64) -> u64 {
        let wanted = (u128::from(self.count) * u128::from(per_mille)).div_ceil(1000).max(1) as u64;
        let mut seen = 0;
        for (bucket, &n) in self.buckets.iter().enumerate() {
            seen += n;
            if seen >= wanted {
                return middle(bucket).clamp(self.min, self.max);
            }
        }
        self.max
    }
}

#[inline]
fn bucket(value: u64) -> usize {
    if value < SUB {
        return value as usize;
    }
    let power = 63 - value.leading_zeros();
    let shift = power - SUB_BITS;
    ((u64::from(shift) + 1) * SUB + ((value >> shift) - SUB)) as usize
}

/// The middle of what falls into a bucket.
fn middle(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < SUB {
        return bucket;
    }
    let shift = (bucket / SUB - 1) as u32;
    let low = (SUB + bucket % SUB) << shift;
    low + ((1u64 << shift) - 1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_in_order_and_near() {
        let mut last = 0;
        for power in 0..64 {
            for offset in [0, 1, 3] {
                let value = (1u64 << power).saturating_add(offset << power >> 2);
                assert!(bucket(value) >= last, "{value}");
                last = bucket(value);
                let distance = middle(last).abs_diff(value);
                assert!(distance <= value / 64 + 1, "{value}: {}", middle(last));
            }
        }
        assert_eq!(middle(bucket(u64::MAX)).leading_zeros(), 0);
    }

    #[test]
    fn powers_hold_every_value_once() {
        assert!(Histogram::default().powers().is_empty());
        let mut h = Histogram::default();
        for value in [0, 1, 5, 7, 8, 1000, 1000] {
            h.add(value);
        }
        let powers = h.powers();
        assert_eq!(powers.first(), Some(&(0, 2)));
        assert_eq!(powers.last(), Some(&(512, 2)));
        assert_eq!(powers.iter().map(|(_, n)| n).sum::<u64>(), h.count());
        assert_eq!(powers.iter().find(|(low, _)| *low == 4), Some(&(4, 2)));
        let mut extremes = Histogram::default();
        extremes.add(u64::MAX);
        assert_eq!(extremes.powers(), [(1 << 63, 1)]);
    }

    #[test]
    fn quantiles() {
        let mut h = Histogram::default();
        assert_eq!((h.quantile(500), h.mean(), h.min()), (0, 0, 0));
        for value in 1..=1000 {
            h.add(value);
        }
        assert_eq!((h.count(), h.sum(), h.min(), h.max(), h.mean()), (1000, 500_500, 1, 1000, 500));
        for (per_mille, exact) in [(500u64, 500u64), (900, 900), (990, 990), (1000, 1000), (0, 1)] {
            assert!(
                h.quantile(per_mille).abs_diff(exact) <= exact / 64 + 1,
                "{per_mille}: {}",
                h.quantile(per_mille)
            );
        }
        let mut one = Histogram::default();
        one.add(u64::MAX);
        assert_eq!((one.quantile(1), one.quantile(999)), (u64::MAX, u64::MAX));
    }
}
