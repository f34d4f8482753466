//! How many records there were when: the time of a trace in equal parts.

use std::collections::BTreeMap;

/// Records by part of the time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// Wall time at which the first part begins.
    pub begin_ns: i64,
    /// Length of each part, at least 1.
    pub part_ns: u64,
    /// Of all sites together, one number a part.
    pub total: Vec<u64>,
    /// By the trace's site numbers.
    pub sites: BTreeMap<usize, Vec<u64>>,
}

impl Rates {
    /// From `begin_ns` to `end_ns` (inclusive) in at most `parts`, at least one.
    pub(super) fn new((begin_ns, end_ns): (i64, i64), parts: usize) -> Self {
        let parts = parts.clamp(1, 10_000);
        let length = (i128::from(end_ns) - i128::from(begin_ns)).max(0) as u128 + 1;
        let part_ns = length.div_ceil(parts as u128).max(1) as u64;
        let used = length.div_ceil(u128::from(part_ns)) as usize;
        Self { begin_ns, part_ns, total: vec![0; used], sites: BTreeMap::new() }
    }

    /// Counts one record; one outside counts in the nearest part.
    #[inline]
    pub(super) fn add(&mut self, site: Option<usize>, wall_ns: i64) {
        let since = (i128::from(wall_ns) - i128::from(self.begin_ns)).max(0) as u128;
        let parts = self.total.len();
        let part = ((since / u128::from(self.part_ns)) as usize).min(parts - 1);
        self.total[part] += 1;
        if let Some(site) = site {
            self.sites.entry(site).or_insert_with(|| vec![0; parts])[part] += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_time() {
        let mut rates = Rates::new((100, 199), 10);
        assert_eq!((rates.part_ns, rates.total.len()), (10, 10));
        for at in [i64::MIN, 100, 109, 110, 199, i64::MAX] {
            rates.add(Some(3), at);
        }
        assert_eq!(rates.total, [3, 1, 0, 0, 0, 0, 0, 0, 0, 2]);
        assert_eq!(rates.sites[&3], rates.total);
        let instant = Rates::new((5, 5), 50);
        assert_eq!((instant.part_ns, instant.total.len()), (1, 1));
        let ever = Rates::new((i64::MIN, i64::MAX), 3);
        assert_eq!(ever.total.len(), 3);
    }
}
