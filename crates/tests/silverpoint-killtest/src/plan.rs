//! What one round does.

use std::fmt;

use silverpoint_collect::fault;
use silverpoint_killtest::facade::{Facade, OF_CPP, OF_RUST};

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
    Collector { times: u64, pause_ms: u64, program_too: bool },
    /// Program and collector at the same moment.
    Both { after_ms: u64 },
    /// Program, collector and supervisor: `recover` finishes it.
    Everything { after_ms: u64 },
    /// The collector by itself at a named place, at the n-th passing; the program goes on, or is killed the moment after.
    CollectorAt { place: &'static str, nth: u64, program_too: bool },
    /// The program, while the collector is at a named place, where it halts until then.
    ProgramAt { place: &'static str, nth: u64 },
    /// The program itself. The C++ one dies between the stores of a record and its publication, the Rust one
    /// when a value has written half of its text.
    MidRecord { nth: u64 },
    /// The same of the C++ one without a collector, so that memory can be looked at before `recover` does.
    MidRecordAlone { nth: u64 },
}

/// A place that only a collector passes that follows one that died.
const AFTER_A_DEATH: &str = "mid-takeover";
/// The end of a file. Without rotation there is one, behind the last record.
const END: &str = "mid-end";
/// Places that need a file that is rotated.
const ROTATION: [&str; 5] = ["before-rename", "after-create", "after-link", "after-rename", "after-rotation"];

impl Target {
    /// For `SILVERPOINT_FAULT`: where the first, the second … collector dies.
    pub fn faults(&self) -> Option<String> {
        match self {
            Target::CollectorAt { place, nth, .. } if *place == AFTER_A_DEATH => {
                Some(format!("after-write:{nth},{place}:1"))
            }
            Target::CollectorAt { place, nth, .. } => Some(format!("{place}:{nth}")),
            Target::ProgramAt { place, nth } => Some(format!("{place}:{nth}:halt")),
            _ => None,
        }
    }

    /// Deaths of collectors that must have happened by then.
    pub fn deaths(&self) -> usize {
        match self {
            Target::CollectorAt { .. } => self.faults().map_or(0, |faults| faults.split(',').count()),
            _ => 0,
        }
    }

    /// Whether the place is reached only after a burst that used further rings, and a silence.
    pub fn needs_burst(&self) -> bool {
        matches!(self, Target::CollectorAt { place, .. } | Target::ProgramAt { place, .. } if *place == fault::GIVING_BACK)
    }

    /// Whether the place is not reached in a file that is not rotated.
    fn needs_rotation(&self) -> bool {
        matches!(self, Target::CollectorAt { place, nth, .. } if ROTATION.contains(place) || (*place == END && *nth > 1))
    }

    /// Whether rings can be filled by halting the collector first.
    fn may_be_full(&self) -> bool {
        matches!(self, Target::Program { .. } | Target::Both { .. } | Target::Everything { .. })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Program { .. } => f.write_str("program"),
            Target::Collector { program_too: false, .. } => f.write_str("collector, several times"),
            Target::Collector { program_too: true, .. } => {
                f.write_str("collector, several times, then program")
            }
            Target::Both { .. } => f.write_str("program and collector at once"),
            Target::Everything { .. } => f.write_str("program, collector and supervisor"),
            Target::CollectorAt { place, program_too: false, .. } => write!(f, "collector at {place}"),
            Target::CollectorAt { place, program_too: true, .. } => {
                write!(f, "collector at {place}, and program")
            }
            Target::ProgramAt { place, .. } => write!(f, "program, the collector at {place}"),
            Target::MidRecord { .. } => f.write_str("program at mid-record"),
            Target::MidRecordAlone { .. } => f.write_str("program at mid-record, nobody collecting"),
        }
    }
}

/// One round.
#[derive(Clone, Debug)]
pub struct Plan {
    pub target: Target,
    pub cpp: bool,
    /// By what it records.
    pub facade: Facade,
    pub threads: u64,
    /// Records each thread traces at most.
    pub records: u64,
    pub compact: bool,
    pub rotate: bool,
    /// A small ring file: rings are full all the time.
    pub small: bool,
    /// The collector is halted first, until every ring is full and every thread waits.
    pub full: bool,
}

/// Records of all threads together, at most: a bound on what a round stores and counts.
const RECORDS: u64 = 1_000_000;
/// Records of a thread in a burst that fills more than its largest ring, so that it goes on in a further one.
pub const BURST: u64 = 60_000;
/// How often a collector passes the place while it gives back the memory of one ring.
const PIECES: u64 = 17;

impl Plan {
    /// The kinds of targets in turn, everything else at random.
    pub fn of_round(number: u32, random: &mut Random, has_cpp: bool) -> Plan {
        let after_ms = random.between(1, 60);
        // The rounds at a place go through all of them, with and without the program by turns.
        let turn = (number / 8 * 2 + u32::from(number % 8 == 6)) as usize;
        let place = fault::NAMES[turn % fault::NAMES.len()];
        let program_too = (turn % fault::NAMES.len() + turn / fault::NAMES.len()) % 2 == 1;
        // The first write is the file's own block, before any program is there.
        let nth = match place {
            "mid-write" => random.between(2, 5),
            fault::GIVING_BACK => random.between(1, PIECES),
            _ => random.between(1, 4),
        };
        let target = match number % 8 {
            0 => Target::Program { after_ms },
            1 => Target::Collector {
                times: random.between(1, 4),
                pause_ms: random.between(1, 25),
                program_too: random.one_in(2),
            },
            2 => Target::Both { after_ms },
            7 if number % 16 == 15 => {
                Target::ProgramAt { place: fault::GIVING_BACK, nth: random.between(1, PIECES) }
            }
            3 | 7 => Target::Everything { after_ms },
            4 | 6 => Target::CollectorAt { place, nth, program_too },
            _ if has_cpp && number % 16 >= 8 => Target::MidRecordAlone { nth: random.between(1, 3_000) },
            _ => Target::MidRecord { nth: random.between(1, 50_000) },
        };
        let cpp = has_cpp && (matches!(target, Target::MidRecordAlone { .. }) || random.one_in(2));
        // Every one of them dies in every way.
        let facades: &[Facade] = if cpp { &OF_CPP } else { &OF_RUST };
        let facade = match target {
            // Who looks at a record that is not published knows those of the frontend alone; and in Rust these alone have a value that dies.
            Target::MidRecordAlone { .. } => Facade::Native,
            Target::MidRecord { .. } if !cpp => Facade::Native,
            _ => facades[random.between(0, facades.len() as u64 - 1) as usize],
        };
        let needs_rotation = target.needs_rotation();
        // Between the releases of two rings there must be two rings.
        let least = if matches!(target, Target::CollectorAt { .. }) { 2 } else { 1 };
        let threads = random.between(least, 8);
        Plan {
            full: target.may_be_full() && random.one_in(2),
            // In small rings nothing is given back.
            small: random.one_in(2) && !target.needs_burst(),
            target,
            cpp,
            facade,
            threads,
            records: RECORDS / threads,
            compact: random.one_in(3),
            rotate: needs_rotation || random.one_in(3),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?}, {} victim by {}, {} threads{}{}{}{}",
            self.target,
            if self.cpp { "C++" } else { "Rust" },
            self.facade,
            self.threads,
            if self.compact { ", compact" } else { "" },
            if self.rotate { ", rotating" } else { "" },
            if self.small { ", small rings" } else { "" },
            if self.full { ", rings full" } else { "" }
        )
    }
}
