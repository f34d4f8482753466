//! Ticks to wall time (spec/file.md section 4).

/// One reading of three clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The session's ticks.
    pub ticks: u64,
    /// CLOCK_MONOTONIC.
    pub monotonic_ns: u64,
    /// CLOCK_REALTIME.
    pub wall_ns: u64,
}

/// Converts a session's ticks to nanoseconds since 1970-01-01T00:00Z.
#[derive(Clone, Debug)]
pub struct TickClock {
    /// Ascending in ticks, without equal ticks.
    anchors: Vec<Anchor>,
    /// Nanoseconds a tick, for what lies outside of two anchors that are far enough apart.
    ns_per_tick: f64,
}

/// Two anchors closer than this do not give a rate better than the stated one.
const LEAST_SPAN_NS: u64 = 1_000_000;

impl TickClock {
    /// From a session's anchors in any order (those of a control file or of the file's blocks) and its stated rate (0: unknown).
    /// Without anchors, time begins at 0 with one tick a nanosecond.
    pub fn new(anchors: &[Anchor], ticks_per_second: u64) -> TickClock {
        let mut sorted: Vec<Anchor> = anchors.to_vec();
        sorted.sort_by_key(|anchor| anchor.ticks);
        sorted.dedup_by_key(|anchor| anchor.ticks);
        // A rate needs a span: the outermost anchors give the best one.
        let measured = match (sorted.first(), sorted.last()) {
            (Some(first), Some(last))
                if last.monotonic_ns.saturating_sub(first.monotonic_ns) >= LEAST_SPAN_NS =>
            {
                Some((last.monotonic_ns - first.monotonic_ns) as f64 / (last.ticks - first.ticks) as f64)
            }
            _ => None,
        };
        let stated = (ticks_per_second != 0).then(|| 1e9 / ticks_per_second as f64);
        let ns_per_tick = if sorted.len() >= 2 { measured.or(stated) } else { stated }.unwrap_or(1.0);
        // Anchors too close to each other would turn their own noise into slopes.
        let mut anchors: Vec<Anchor> = Vec::with_capacity(sorted.len());
        for anchor in sorted {
            let near = anchors
                .last()
                .is_some_and(|last| anchor.monotonic_ns.saturating_sub(last.monotonic_ns) < LEAST_SPAN_NS);
            if !near {
                anchors.push(anchor);
            }
        }
        TickClock { anchors, ns_per_tick }
    }

    /// Nanoseconds a tick, averaged over the session.
    pub fn ns_per_tick(&self) -> f64 {
        self.ns_per_tick
    }

    /// Wall time of a moment; linear between anchors, extrapolated outside. Saturates.
    pub fn wall_ns(&self, ticks: u64) -> i64 {
        self.segment(ticks).wall_ns(ticks)
    }

    /// The stretch around a moment on which time is linear. A reader of many records keeps it while it [contains](Segment::contains) them,
    /// and is spared the search.
    pub fn segment(&self, ticks: u64) -> Segment {
        let after = self.anchors.partition_point(|anchor| anchor.ticks <= ticks);
        let (a, b) = (after.checked_sub(1).and_then(|i| self.anchors.get(i)), self.anchors.get(after));
        let (base_ticks, base_ns) = a.or(b).map_or((0, 0), |anchor| (anchor.ticks, wall(anchor)));
        let mut segment = Segment {
            first: a.map_or(0, |a| a.ticks),
            last: b.map_or(u64::MAX, |b| b.ticks - 1),
            base_ticks,
            base_ns,
            ns_per_tick: self.ns_per_tick,
            greatest: i64::MAX,
        };
        if let (Some(a), Some(b)) = (a, b) {
            segment.ns_per_tick =
                (i128::from(b.wall_ns) - i128::from(a.wall_ns)) as f64 / (b.ticks - a.ticks) as f64;
            // Rounding must not carry a moment beyond the next anchor: order would be lost there.
            segment.greatest = wall(a).max(wall(b));
        }
        segment
    }

    /// Nanoseconds between two moments.
    pub fn duration_ns(&self, begin: u64, end: u64) -> i64 {
        if end >= begin {
            ((end - begin) as f64 * self.ns_per_tick) as i64
        } else {
            -(((begin - end) as f64 * self.ns_per_tick) as i64)
        }
    }
}

/// A stretch of a session's time between two anchors, or before the first or after the last.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// Ticks from `first` to `last`, both included.
    first: u64,
    last: u64,
    base_ticks: u64,
    base_ns: i64,
    ns_per_tick: f64,
    greatest: i64,
}

impl Segment {
    /// Whether it holds for a moment.
    #[inline]
    pub fn contains(&self, ticks: u64) -> bool {
        self.first <= ticks && ticks <= self.last
    }

    /// Wall time of a moment within; never smaller for greater ticks unless the wall clock was set back. Saturates.
    #[inline]
    pub fn wall_ns(&self, ticks: u64) -> i64 {
        let distance = if ticks >= self.base_ticks {
            (ticks - self.base_ticks) as f64
        } else {
            -((self.base_ticks - ticks) as f64)
        };
        self.base_ns.saturating_add((distance * self.ns_per_tick) as i64).min(self.greatest)
    }
}

fn wall(anchor: &Anchor) -> i64 {
    i64::try_from(anchor.wall_ns).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Anchor = Anchor { ticks: 1_000, monotonic_ns: 0, wall_ns: 1_700_000_000_000_000_000 };
    const B: Anchor =
        Anchor { ticks: 3_000_001_000, monotonic_ns: 1_000_000_000, wall_ns: 1_700_000_001_000_000_000 };

    #[test]
    fn time_is_linear_between_anchors_and_goes_on_outside() {
        let clock = TickClock::new(&[B, A], 0);
        assert_eq!(clock.wall_ns(1_000), 1_700_000_000_000_000_000);
        assert_eq!(clock.wall_ns(1_500_001_000), 1_700_000_000_500_000_000);
        assert_eq!(clock.wall_ns(6_000_001_000), 1_700_000_002_000_000_000);
        assert_eq!(clock.duration_ns(0, 3), 1);
    }

    #[test]
    fn one_anchor_uses_the_stated_rate_and_none_starts_at_zero() {
        assert_eq!(TickClock::new(&[A], 1_000_000_000).wall_ns(1_500), 1_700_000_000_000_000_500);
        assert_eq!(TickClock::new(&[], 0).wall_ns(7), 7);
    }

    #[test]
    fn time_never_runs_back_across_an_anchor() {
        // A slope that no f64 holds exactly: the end of the segment may not pass its last anchor.
        let anchors: Vec<Anchor> = (0..50_u64)
            .map(|i| Anchor {
                ticks: i * 2_999_999_937,
                monotonic_ns: i * 1_000_000_003,
                wall_ns: 1_700_000_000_000_000_001 + i * 1_000_000_003,
            })
            .collect();
        let clock = TickClock::new(&anchors, 0);
        for anchor in &anchors[1..] {
            let times: Vec<i64> =
                (anchor.ticks - 5..anchor.ticks + 5).map(|ticks| clock.wall_ns(ticks)).collect();
            assert!(times.is_sorted(), "{times:?}");
            let segment = clock.segment(anchor.ticks);
            assert!(segment.contains(anchor.ticks) && !segment.contains(anchor.ticks - 1));
        }
    }

    #[test]
    fn hostile_anchors_do_not_panic() {
        let worst = Anchor { ticks: u64::MAX, monotonic_ns: 0, wall_ns: u64::MAX };
        let clock =
            TickClock::new(&[A, worst, B, Anchor { ticks: 0, monotonic_ns: u64::MAX, wall_ns: 0 }], 1);
        for ticks in [0, 1_000, u64::MAX / 2, u64::MAX] {
            clock.wall_ns(ticks);
        }
    }
}
