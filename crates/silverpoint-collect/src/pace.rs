//! How long to sleep between two passes: such that rings are about an eighth full at the next one.
//!
//! Passing over a busy session too often costs processor time that its threads need; too seldom makes them
//! wait. The fullest ring of a pass and the time since the pass before give the rate; the sleep follows from
//! it. When nothing comes the sleep doubles up to 100 ms. From 5 ms on the doorbell is used: producers ring
//! it, by a system call, when they have filled a quarter. That is twice the aim. So at a steady rate the
//! collector comes before a thread rings, even if it wakes late. Only a burst out of silence rings.

use std::time::{Duration, Instant};

/// The longest sleep: the heartbeat must be seen 5 times a second.
const LONGEST: Duration = Duration::from_millis(100);
/// The shortest sleep: below, sleeping costs more than it saves.
const SHORTEST: Duration = Duration::from_micros(30);
/// From here on producers are asked to ring.
const RING_FROM: Duration = Duration::from_millis(5);
/// How full a ring is when its producer rings the doorbell (spec/wire.md, section 4), in 256ths.
const RINGS_AT: u64 = 64;
/// How full the fullest ring should be when it is looked at, in 256ths.
const TARGET: u64 = RINGS_AT / 2;

/// What to do until the next pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Nothing: go on.
    None,
    /// Sleep; producers need not ring.
    Nap(Duration),
    /// Sleep until a producer rings.
    Doze(Duration),
}

#[derive(Debug)]
pub(crate) struct Pace {
    passed: Instant,
    sleep: Duration,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Self { passed: Instant::now(), sleep: SHORTEST }
    }

    /// After a pass that found the fullest ring `fullest` 256ths full.
    pub(crate) fn rest(&mut self, fullest: u32, has_stored: bool, is_unsettled: bool) -> Rest {
        let since = self.passed.elapsed();
        self.passed = Instant::now();
        self.rest_after(since, fullest, has_stored, is_unsettled)
    }

    fn rest_after(&mut self, since: Duration, fullest: u32, has_stored: bool, is_unsettled: bool) -> Rest {
        if u64::from(fullest) >= RINGS_AT {
            self.sleep = SHORTEST;
            return Rest::None;
        }
        // At this rate the target is reached after this time. It is more when nothing came, but never much
        // more than before: the next burst comes without notice. It is less when this pass came late.
        let until_target = if fullest == 0 {
            LONGEST
        } else {
            Duration::from_nanos((since.as_nanos() as u64).saturating_mul(TARGET) / u64::from(fullest))
        };
        let cap = if is_unsettled { Duration::from_millis(1) } else { LONGEST };
        let growth = if has_stored { self.sleep * 2 } else { self.sleep * 4 };
        self.sleep = until_target.min(growth).clamp(SHORTEST, LONGEST).min(cap);
        if self.sleep < RING_FROM { Rest::Nap(self.sleep) } else { Rest::Doze(self.sleep) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_rings_are_looked_at_again_at_once() {
        let mut pace = Pace::new();
        assert_eq!(pace.rest_after(Duration::from_micros(10), 64, true, false), Rest::None);
        assert_eq!(pace.rest_after(Duration::from_micros(10), 256, true, false), Rest::None);
    }

    #[test]
    fn silence_leads_to_the_doorbell_and_a_burst_back() {
        let mut pace = Pace::new();
        let mut slept = Duration::ZERO;
        let mut naps = 0;
        loop {
            match pace.rest_after(Duration::from_millis(1), 0, false, false) {
                Rest::None => panic!("nothing came"),
                Rest::Nap(time) => {
                    naps += 1;
                    slept += time;
                }
                Rest::Doze(time) if time == LONGEST => break,
                Rest::Doze(time) => slept += time,
            }
        }
        assert!(naps < 8 && slept < Duration::from_millis(200), "{naps} naps, {slept:?}");
        // 10 ms for a sixteenth: an eighth takes 20.
        assert!(
            matches!(pace.rest_after(Duration::from_millis(10), 16, true, false), Rest::Doze(time) if time == Duration::from_millis(20))
        );
        assert_eq!(
            pace.rest_after(Duration::from_millis(10), 0, false, true),
            Rest::Nap(Duration::from_millis(1))
        );
    }

    /// How full the ring of a thread that records `rate` bytes a second is at each pass, once the pace has
    /// adapted. The collector wakes late: by a quarter of its sleep, and 50 microseconds.
    fn fullness_at(rate: u64, capacity: u64) -> Vec<u64> {
        let mut pace = Pace::new();
        let mut since = SHORTEST;
        let mut all = Vec::new();
        for _ in 0..400 {
            let bytes = since.as_nanos() as u64 * rate / 1_000_000_000;
            let fullest = (bytes * 256 / capacity).min(256);
            all.push(fullest);
            let sleep = match pace.rest_after(since, fullest as u32, bytes > 0, false) {
                Rest::None => Duration::ZERO,
                Rest::Nap(sleep) | Rest::Doze(sleep) => sleep + sleep / 4,
            };
            since = sleep + Duration::from_micros(50);
        }
        all.split_off(100)
    }

    #[test]
    fn at_a_steady_rate_the_collector_comes_before_a_thread_rings() {
        // Records of 32 bytes a second, in the ring that such a thread has grown to.
        for (records, capacity) in
            [(1_000, 16 << 10), (10_000, 128 << 10), (100_000, 128 << 10), (1_000_000, 128 << 10)]
        {
            let all = fullness_at(records * 32, capacity - 256);
            let most = *all.iter().max().unwrap();
            assert!(most < RINGS_AT, "{records} a second: {most} 256ths");
            // It does not come for nothing either.
            let mean = all.iter().sum::<u64>() / all.len() as u64;
            assert!(mean >= TARGET / 2, "{records} a second: {mean} 256ths");
        }
    }
}
