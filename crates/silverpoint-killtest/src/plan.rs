//! What one round does.

use std::fmt;

/// Small, repeatable pseudo-random numbers (splitmix64, Steele, Lea and Flood 2014).
pub struct Random(u64);

impl Random {
    /// The same seed gives the same rounds.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Anything.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.next().is_multiple_of(n)
    }
}

/// Who dies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The traced program, after so many milliseconds.
    Program { after_ms: u64 },
    /// The collector, so many times, with pauses; the program ends by itself or is killed at last.
    Collector { times: u64, pause_ms: u64 },
    /// Program and collector at the same moment.
    Both { after_ms: u64 },
    /// Program, collector and supervisor: `recover` finishes it.
    Everything { after_ms: u64 },
    /// The collector by itself at a named place, at the n-th passing.
    CollectorAt { point: &'static str, nth: u64 },
    /// The C++ program by itself, between the stores of a record and its publication.
    MidRecord { nth: u64 },
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Program { .. } => f.write_str("program"),
            Target::Collector { .. } => f.write_str("collector, several times"),
            Target::Both { .. } => f.write_str("program and collector"),
            Target::Everything { .. } => f.write_str("program, collector and supervisor"),
            Target::CollectorAt { point, .. } => write!(f, "collector at {point}"),
            Target::MidRecord { .. } => f.write_str("program at mid-record"),
        }
    }
}

/// One round.
#[derive(Clone, Debug)]
pub struct Plan {
    pub target: Target,
    pub cpp: bool,
    pub threads: u64,
    /// Records each thread would trace if nobody killed it.
    pub records: u64,
    pub compact: bool,
    pub rotate: bool,
    /// A small ring file: rings are full all the time.
    pub small: bool,
}

/// Where a collector can be told to die.
pub const POINTS: [&str; 6] =
    ["before-intent", "after-intent", "mid-write", "after-write", "mid-release", "mid-rotation"];

impl Plan {
    /// The targets in turn, everything else at random.
    pub fn of_round(number: u32, random: &mut Random, has_cpp: bool) -> Plan {
        let after_ms = random.between(1, 60);
        let point = POINTS[(number as usize / 6) % POINTS.len()];
        let target = match number % 6 {
            0 => Target::Program { after_ms },
            1 => Target::Collector { times: random.between(1, 4), pause_ms: random.between(2, 30) },
            2 => Target::Both { after_ms },
            3 => Target::Everything { after_ms },
            4 => Target::CollectorAt { point, nth: random.between(1, 6) },
            _ if has_cpp => Target::MidRecord { nth: random.between(1, 20_000) },
            _ => Target::Program { after_ms },
        };
        let cpp = has_cpp && (matches!(target, Target::MidRecord { .. }) || random.one_in(2));
        let rotate = matches!(target, Target::CollectorAt { point: "mid-rotation", .. }) || random.one_in(3);
        Plan {
            target,
            cpp,
            threads: random.between(1, 8),
            records: random.between(2_000, 40_000),
            compact: random.one_in(3),
            rotate,
            small: random.one_in(2),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?}, {} victim, {} threads x {} records{}{}{}",
            self.target,
            if self.cpp { "C++" } else { "Rust" },
            self.threads,
            self.records,
            if self.compact { ", compact" } else { "" },
            if self.rotate { ", rotating" } else { "" },
            if self.small { ", small rings" } else { "" }
        )
    }
}
