//! When each record is due.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::Clock;

/// How much faster than it happened.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Speed {
    /// As it happened.
    #[default]
    AsItWas,
    /// So many times as fast: more than 0.
    Times(f64),
    /// One after the other, without waiting.
    Max,
}

/// Least and most that can be asked for: a microsecond of the trace becomes a second, and the other way round.
const SLOWEST: f64 = 1e-6;
const FASTEST: f64 = 1e6;

/// An invalid speed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpeedError(String);

impl fmt::Display for SpeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no speed: a number from {SLOWEST} to {FASTEST}, or `max`", self.0)
    }
}

impl std::error::Error for SpeedError {}

impl Speed {
    /// So many times as fast as it was.
    ///
    /// # Errors
    /// Numbers below a millionth and above a million, and NaN.
    pub fn times(factor: f64) -> Result<Self, SpeedError> {
        match factor {
            1.0 => Ok(Self::AsItWas),
            SLOWEST..=FASTEST => Ok(Self::Times(factor)),
            other => Err(SpeedError(other.to_string())),
        }
    }
}

impl FromStr for Speed {
    type Err = SpeedError;

    /// `max`, or a number, also with an `x` after it.
    fn from_str(text: &str) -> Result<Self, SpeedError> {
        if text == "max" {
            return Ok(Self::Max);
        }
        let number = text.strip_suffix('x').unwrap_or(text).parse();
        number.ok().and_then(|factor| Self::times(factor).ok()).ok_or_else(|| SpeedError(text.into()))
    }
}

/// How times are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Schedule {
    /// How fast.
    pub speed: Speed,
    /// A pause between two records that is longer, in the time of the trace, is made so long.
    pub max_gap: Option<Duration>,
}

/// A record that is given later than this after it was due is late: that is more than sleeping and one record
/// take.
pub const LATE: Duration = Duration::from_millis(1);

/// The result of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Played {
    /// Records that were due and given.
    pub records: u64,
    /// Of these, given more than [`LATE`] after they were due.
    pub late: u64,
    /// The latest one, by so much.
    pub latest: Duration,
    /// Pauses that were shortened, and by how much of the time of the trace altogether.
    pub shortened: u64,
    /// See `shortened`.
    pub left_out: Duration,
    /// Wall time of the first and of the last of them, nanoseconds since 1970; 0 without any.
    pub first_ns: i64,
    /// See `first_ns`.
    pub last_ns: i64,
}

/// Determines when records are due, and waits for that. A record whose time goes back gets the time of the
/// one before.
#[derive(Clone, Debug)]
pub struct Pace {
    schedule: Schedule,
    /// By the clock: when the first record came.
    begin: Option<Duration>,
    /// Greatest wall time so far.
    at_ns: i64,
    /// Time of the trace since the first record, pauses shortened.
    passed: Duration,
    played: Played,
}

impl Pace {
    /// Begins with the first record.
    pub fn new(schedule: Schedule) -> Self {
        Self { schedule, begin: None, at_ns: 0, passed: Duration::ZERO, played: Played::default() }
    }

    /// Waits until the record of this time is due; gives how long after the first that is. `None`: the
    /// clock's sleep was interrupted, and the record does not count. `before` is called before it sleeps:
    /// pending output should not wait as long.
    pub fn wait(&mut self, wall_ns: i64, clock: &mut dyn Clock, before: impl FnOnce()) -> Option<Duration> {
        let begin = *self.begin.get_or_insert_with(|| {
            self.at_ns = wall_ns;
            self.played.first_ns = wall_ns;
            clock.now()
        });
        let after = self.after(wall_ns);
        if self.schedule.speed == Speed::Max {
            // A clock that is stopped stops this too.
            if !clock.sleep_until(Duration::ZERO) {
                return None;
            }
        } else {
            let due = begin.saturating_add(after);
            let now = clock.now();
            if now < due {
                before();
            }
            if !clock.sleep_until(due) {
                return None;
            }
            let late = now.saturating_sub(due);
            self.played.late += u64::from(late > LATE);
            self.played.latest = self.played.latest.max(late);
        }
        self.played.records += 1;
        self.played.last_ns = self.at_ns;
        Some(after)
    }

    /// How long after the first record one of this time is due. Each that follows must be asked for once.
    fn after(&mut self, wall_ns: i64) -> Duration {
        let gap = Duration::from_nanos(wall_ns.saturating_sub(self.at_ns).max(0).unsigned_abs());
        self.at_ns = self.at_ns.max(wall_ns);
        let kept = gap.min(self.schedule.max_gap.unwrap_or(Duration::MAX));
        if kept < gap {
            self.played.shortened += 1;
            self.played.left_out = self.played.left_out.saturating_add(gap - kept);
        }
        self.passed = self.passed.saturating_add(kept);
        match self.schedule.speed {
            Speed::AsItWas => self.passed,
            Speed::Times(factor) => {
                Duration::try_from_secs_f64(self.passed.as_secs_f64() / factor).unwrap_or(Duration::MAX)
            }
            Speed::Max => Duration::ZERO,
        }
    }

    /// So far.
    pub fn played(&self) -> Played {
        self.played
    }
}

#[cfg(test)]
mod tests {
    use super::super::Virtual;
    use super::*;

    const MS: i64 = 1_000_000;

    fn dues(schedule: Schedule, times: &[i64]) -> (Vec<u128>, Played, Duration) {
        let mut clock = Virtual { now: Duration::from_secs(100) };
        let mut pace = Pace::new(schedule);
        let due = |at: &i64| pace.wait(*at, &mut clock, || ()).unwrap().as_nanos();
        let dues = times.iter().map(due).collect();
        let played = pace.played();
        (dues, played, clock.now - Duration::from_secs(100))
    }

    #[test]
    fn due_times_are_exact_at_every_speed() {
        let times = [5_000 * MS, 5_000 * MS, 5_001 * MS, 5_250 * MS + 7];
        let as_it_was = dues(Schedule::default(), &times);
        assert_eq!(as_it_was.0, [0, 0, 1_000_000, 250_000_007]);
        assert_eq!(as_it_was.2, Duration::from_nanos(250_000_007));
        let quick = dues(Schedule { speed: "4x".parse().unwrap(), ..Schedule::default() }, &times[..3]);
        assert_eq!(quick.0, [0, 0, 250_000]);
        let slow = dues(Schedule { speed: Speed::times(0.5).unwrap(), ..Schedule::default() }, &times[..3]);
        assert_eq!(slow.0, [0, 0, 2_000_000]);
        let at_once = dues(Schedule { speed: Speed::Max, ..Schedule::default() }, &times);
        assert_eq!((at_once.0, at_once.2), (vec![0; 4], Duration::ZERO));
        assert_eq!((at_once.1.records, at_once.1.late), (4, 0));
        assert_eq!((at_once.1.first_ns, at_once.1.last_ns), (times[0], times[3]));
    }

    #[test]
    fn long_pauses_are_shortened_and_times_that_go_back_do_not_count() {
        let schedule = Schedule { max_gap: Some(Duration::from_millis(100)), ..Schedule::default() };
        let (dues, played, _) = dues(schedule, &[0, 50 * MS, 1_050 * MS, 1_000 * MS, 1_060 * MS, 9_000 * MS]);
        assert_eq!(dues, [0, 50, 150, 150, 160, 260].map(|ms| ms * 1_000_000));
        assert_eq!((played.shortened, played.left_out), (2, Duration::from_millis(900 + 7_840)));
    }

    #[test]
    fn who_is_late_catches_up_and_is_counted() {
        let mut clock = Virtual::default();
        let mut pace = Pace::new(Schedule::default());
        let mut given = Vec::new();
        for at in [0, 10, 20, 30, 40, 60] {
            pace.wait(at * MS, &mut clock, || ()).unwrap();
            given.push(clock.now.as_millis());
            // The second record takes 25 ms.
            if at == 10 {
                clock.now += Duration::from_millis(25);
            }
        }
        assert_eq!(given, [0, 10, 35, 35, 40, 60]);
        let played = pace.played();
        assert_eq!((played.records, played.late, played.latest), (6, 2, Duration::from_millis(15)));
    }

    #[test]
    fn a_stopped_clock_ends_it() {
        struct Stopped;
        impl Clock for Stopped {
            fn now(&mut self) -> Duration {
                Duration::ZERO
            }
            fn sleep_until(&mut self, _: Duration) -> bool {
                false
            }
        }
        for speed in [Speed::Max, Speed::AsItWas] {
            let mut pace = Pace::new(Schedule { speed, max_gap: None });
            assert_eq!(pace.wait(7, &mut Stopped, || ()), None);
            assert_eq!(pace.played().records, 0);
        }
    }

    #[test]
    fn speeds_that_make_no_sense_are_refused() {
        for text in ["0", "-1", "nan", "inf", "1e9", "fast", "", "x", "maximum"] {
            let error = text.parse::<Speed>().unwrap_err().to_string();
            assert!(error.contains("is no speed: a number from"), "{error}");
        }
        assert_eq!("max".parse(), Ok(Speed::Max));
        assert_eq!("1".parse(), Ok(Speed::AsItWas));
        assert_eq!("2.5".parse(), Ok(Speed::Times(2.5)));
        // Extremes neither overflow nor panic.
        let (dues, ..) =
            dues(Schedule { speed: Speed::times(1e-6).unwrap(), max_gap: None }, &[i64::MIN, i64::MAX, 0]);
        assert_eq!(dues.len(), 3);
    }
}
