//! How long to sleep between two passes: such that rings are about a tenth full at the next one.
//!
//! Passing over a busy session too often costs processor time that its threads need; too seldom makes them
//! wait. The fullest ring of a pass, and the time since records were found before, give the time to the aim.
//! It decreases at once and increases slowly. A pass that finds nothing does not change it, since it may lie
//! between two bursts. The sleep is the longer one of that time and three quarters of the time in which
//! nothing has come. So it grows in silence, up to 100 ms, and no two bursts come into it.
//!
//! From 5 ms on the doorbell is used: producers ring it, by a system call, when they have filled a quarter.
//! That is more than twice the aim. So at a steady rate the collector comes before a thread rings. It may
//! wake late by a quarter of its sleep, and find a burst of an eighth in addition. The same holds for bursts
//! at intervals. If they fill a quarter by themselves, the collector sleeps less than 5 ms between them. Only
//! a burst out of silence rings.

use std::time::{Duration, Instant};

/// The longest sleep: the heartbeat must be seen 5 times a second.
const LONGEST: Duration = Duration::from_millis(100);
/// The shortest sleep: below, sleeping costs more than it saves.
const SHORTEST: Duration = Duration::from_micros(30);
/// From here on producers are asked to ring.
const RING_FROM: Duration = Duration::from_millis(5);
/// The longest sleep in which they are not.
const LONGEST_NAP: Duration = Duration::from_micros(4_900);
/// As above while something is to be looked at again soon.
const SOON: Duration = Duration::from_millis(1);
/// How full a ring is when its producer rings the doorbell (spec/wire.md, section 4), in 256ths.
const RINGS_AT: u32 = 64;
/// How full the fullest ring should be when it is looked at, in 256ths.
const TARGET: u32 = RINGS_AT * 3 / 8;
/// A burst that fills so much may ring the next time.
const LARGE: u32 = RINGS_AT * 7 / 8;
/// For so long after a large burst another one is expected, and after a pause another one.
const EXPECTED: Duration = Duration::from_millis(500);

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
    /// In this time the fullest ring is filled to the target.
    until_target: Duration,
    /// Since records were found last.
    quiet: Duration,
    /// Since nothing was found although something could have been: records come in bursts. `None`: they do not.
    paused: Option<Duration>,
    /// Since a large burst; `None`: none is expected.
    large: Option<Duration>,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Self {
            passed: Instant::now(),
            until_target: SHORTEST,
            quiet: Duration::ZERO,
            paused: None,
            large: None,
        }
    }

    /// After a pass that found the fullest ring `fullest` 256ths full.
    pub(crate) fn rest(&mut self, fullest: u32, has_stored: bool, is_urgent: bool) -> Rest {
        let since = self.passed.elapsed();
        self.passed = Instant::now();
        self.rest_after(since, fullest, has_stored, is_urgent)
    }

    fn rest_after(&mut self, since: Duration, fullest: u32, has_stored: bool, is_urgent: bool) -> Rest {
        self.quiet += since;
        for time in [&mut self.paused, &mut self.large] {
            *time = time.map(|time| time + since).filter(|time| *time < EXPECTED);
        }
        if fullest >= LARGE {
            self.large = Some(Duration::ZERO);
        }
        // Less than a 256th counts as one.
        match fullest.max(u32::from(has_stored)) {
            0 if since >= self.until_target / 2 => self.paused = Some(Duration::ZERO),
            0 => {}
            found => self.learn(found),
        }
        if fullest >= RINGS_AT {
            return Rest::None;
        }
        let longest = match (is_urgent, self.large) {
            (true, _) => SOON,
            (false, Some(_)) => LONGEST_NAP,
            (false, None) => LONGEST,
        };
        let sleep = self.until_target.max(self.quiet * 3 / 4).clamp(SHORTEST, longest);
        if sleep < RING_FROM { Rest::Nap(sleep) } else { Rest::Doze(sleep) }
    }

    /// From records that fill `found` 256ths, and have come since the last ones were found.
    fn learn(&mut self, found: u32) {
        let interval = std::mem::take(&mut self.quiet);
        let mut until_target = interval.saturating_mul(TARGET) / found;
        if self.paused.is_some() && found >= TARGET {
            // Two of these bursts would ring: they must not come into one sleep.
            until_target = until_target.min(interval / 2);
        }
        if found >= RINGS_AT {
            until_target = SHORTEST;
        }
        self.until_target = if until_target < self.until_target {
            until_target
        } else {
            self.until_target + (until_target - self.until_target) / 4
        }
        .clamp(SHORTEST, LONGEST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of two numbers.
    const RECORD: u64 = 32;
    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn busy_rings_are_looked_at_again_at_once() {
        let mut pace = Pace::new();
        assert_eq!(pace.rest_after(Duration::from_micros(10), 64, true, false), Rest::None);
        assert_eq!(pace.rest_after(Duration::from_micros(10), 256, true, false), Rest::None);
        // What comes soon afterwards finds the collector there.
        assert_eq!(pace.rest_after(Duration::from_micros(10), 0, false, false), Rest::Nap(SHORTEST));
    }

    /// How late the collector wakes from a sleep.
    type Late = fn(Duration, u64) -> Duration;

    fn never(_: Duration, _: u64) -> Duration {
        Duration::ZERO
    }
    fn always(sleep: Duration, _: u64) -> Duration {
        sleep / 4 + Duration::from_micros(50)
    }
    fn sometimes(sleep: Duration, pass: u64) -> Duration {
        // By the digits of a multiple of the golden ratio.
        sleep * (pass.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u32 / 1024 + Duration::from_micros(5)
    }

    /// What a thread and its collector do, from the second second to the tenth.
    #[derive(Default)]
    struct Seen {
        rung: u32,
        passes: u32,
        dozes: u32,
        /// How full the ring was when it was looked at, in 256ths.
        fullest: Vec<u64>,
    }

    /// A thread records `bytes` every `interval`, in a ring of `capacity`, from `begin` until `end`.
    struct Thread {
        bytes: u64,
        interval: Duration,
        capacity: u64,
        begin: Duration,
        end: Duration,
    }

    impl Thread {
        fn with(bytes: u64, interval: Duration, capacity: u64) -> Self {
            Self { bytes, interval, capacity: capacity - 256, begin: Duration::ZERO, end: 10 * SECOND }
        }

        fn run(&self, late: Late) -> Seen {
            const PASS: Duration = Duration::from_micros(10);
            let mut pace = Pace::new();
            let (mut now, mut last, mut next) = (Duration::ZERO, Duration::ZERO, self.begin);
            let (mut used, mut is_asleep) = (0, false);
            let mut seen = Seen::default();
            for pass in 0.. {
                now += PASS;
                while next <= now && next < self.end {
                    used += self.bytes;
                    next += self.interval;
                }
                let fullest = (used * 256 / self.capacity).min(256);
                let rest = pace.rest_after(now - last, fullest as u32, std::mem::take(&mut used) > 0, false);
                last = now;
                let is_measured = now >= SECOND;
                if is_measured {
                    seen.passes += 1;
                    seen.fullest.push(fullest);
                }
                let sleep = match rest {
                    Rest::None => Duration::ZERO,
                    Rest::Nap(sleep) | Rest::Doze(sleep) => sleep + late(sleep, pass),
                };
                // When it begins to doze, it looks once more.
                let was_asleep = std::mem::replace(&mut is_asleep, matches!(rest, Rest::Doze(_)));
                let sleep = if is_asleep && !was_asleep { Duration::ZERO } else { sleep };
                seen.dozes += u32::from(is_measured && is_asleep && was_asleep);
                let end = now + sleep;
                while next <= end && next < self.end {
                    used += self.bytes;
                    now = next;
                    next += self.interval;
                    if is_asleep && used * 4 >= self.capacity {
                        seen.rung += u32::from(is_measured);
                        break;
                    }
                }
                if !(is_asleep && used * 4 >= self.capacity) {
                    now = end;
                }
                if now >= 10 * SECOND {
                    break;
                }
            }
            seen
        }
    }

    #[test]
    fn silence_leads_to_the_doorbell_and_few_wake_ups() {
        for late in [never as Late, always, sometimes] {
            // Before the measurement the thread records much.
            let mut thread = Thread::with(100 * RECORD, Duration::from_millis(1), 128 << 10);
            thread.end = SECOND / 4;
            let seen = thread.run(late);
            assert!(seen.passes <= 92, "{} passes in nine seconds", seen.passes);
            assert_eq!(seen.dozes, seen.passes, "the doorbell is used all the time");
        }
    }

    #[test]
    fn a_burst_out_of_silence_rings_once() {
        let mut thread = Thread::with(1000 * RECORD, Duration::from_millis(100), 32 << 10);
        thread.begin = 5 * SECOND;
        for late in [never as Late, always, sometimes] {
            assert_eq!(thread.run(late).rung, 1);
        }
    }

    #[test]
    fn at_a_steady_rate_the_collector_comes_before_a_thread_rings() {
        // Records a second, in the ring that such a thread has grown to.
        for (records, capacity) in
            [(1_000, 16 << 10), (10_000, 128 << 10), (100_000, 128 << 10), (1_000_000, 128 << 10)]
        {
            for late in [never as Late, always, sometimes] {
                let seen = Thread::with(RECORD, SECOND / records, capacity).run(late);
                assert_eq!(seen.rung, 0, "{records} a second");
                let most = *seen.fullest.iter().max().unwrap();
                assert!(most < u64::from(RINGS_AT), "{records} a second: {most} 256ths");
                // It does not come for nothing either.
                let mean = seen.fullest.iter().sum::<u64>() / seen.fullest.len() as u64;
                assert!(mean >= u64::from(TARGET) / 2, "{records} a second: {mean} 256ths");
            }
        }
    }

    #[test]
    fn bursts_at_intervals_do_not_ring() {
        // Records, and microseconds between two bursts; at full speed, and with pauses between two programs.
        let bursts = [(100, 1_000), (1_000, 100_000), (20, 1_500), (200, 20_000), (50, 300), (3, 10_000)];
        for (records, micros) in bursts {
            for capacity in [16 << 10, 128 << 10, 1 << 20] {
                if 2 * records * RECORD > capacity - 256 {
                    continue; // it would not stay in that ring
                }
                for late in [never as Late, always, sometimes] {
                    let interval = Duration::from_micros(micros);
                    let seen = Thread::with(records * RECORD, interval, capacity).run(late);
                    let of = format!("{records} every {micros} us in {capacity} bytes");
                    assert_eq!(seen.rung, 0, "{of}");
                    // A few passes for a burst, or the shortest sleeps that a doorbell is used in.
                    let most = 6 * (9_000_000 / micros).max(9_000 / 5);
                    assert!(u64::from(seen.passes) < most, "{of}: {} passes, not {most}", seen.passes);
                }
            }
        }
    }

    #[test]
    fn bursts_of_any_size_at_any_interval_do_not_ring() {
        let capacity = 128 << 10;
        // In 256ths of the ring, up to half of it.
        for size in [1, 7, 15, 23, 25, 31, 32, 33, 40, 55, 56, 62, 64, 100, 126] {
            for micros in [1_900, 4_900, 5_300, 9_700, 23_000, 77_000, 99_000, 230_000] {
                for late in [never as Late, always, sometimes] {
                    let bytes = capacity / 256 * size;
                    let seen = Thread::with(bytes, Duration::from_micros(micros), capacity).run(late);
                    assert_eq!(seen.rung, 0, "{bytes} bytes every {micros} us");
                }
            }
        }
    }

    #[test]
    fn what_is_urgent_is_looked_at_soon() {
        let mut pace = Pace::new();
        assert_eq!(pace.rest_after(LONGEST, 0, false, true), Rest::Nap(SOON));
    }
}
