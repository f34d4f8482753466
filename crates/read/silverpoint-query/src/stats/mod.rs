//! Statistics of a trace: numbers of records, durations of spans, values of counters, losses.

mod chart;
mod collect;
mod histogram;
mod json;
mod rates;
mod report;
mod trouble;

use std::collections::BTreeMap;

use silverpoint_trace::Note;
use silverpoint_wire::layout::CAUSES;

pub use chart::Signs;
pub use collect::{collect, collect_with, number_of};
pub use histogram::Histogram;
pub use json::{push_json, push_listed_site_json, push_site_json};
pub use rates::Rates;
pub use report::{TextOptions, push_text};
pub use trouble::{Trouble, Troubles};

/// What was counted.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Records of sites; control records are not among them.
    pub records: u64,
    /// Their bytes, headers included.
    pub record_bytes: u64,
    /// Blocks of records that were read.
    pub blocks: u64,
    /// Blocks that were not read, since no record in them could be wanted.
    pub skipped_blocks: u64,
    /// Bytes of the blocks of records that were read, as stored.
    pub stored_bytes: u64,
    /// The same when raw.
    pub raw_bytes: u64,
    /// Blocks with records earlier than a watermark that had been written.
    pub late_blocks: u64,
    /// Wall time of the first and the last record.
    pub time_range: Option<(i64, i64)>,
    /// By the trace's site numbers.
    pub sites: Vec<Count>,
    /// By level.
    pub levels: [u64; 6],
    /// By session and thread numbers.
    pub threads: Vec<Vec<Count>>,
    /// By session and thread numbers: losses, waits and the like.
    pub troubles: Vec<Vec<Troubles>>,
    /// By session number: losses of records that had no ring, and so no thread.
    pub session_losses: Vec<[u64; CAUSES]>,
    /// When records were made; only when it was asked for.
    pub rates: Option<Rates>,
    /// By session number: records of sites that no dictionary describes.
    pub unknown: Vec<u64>,
    /// Records lost, by cause, as counted by programs and collectors.
    pub losses: [u64; CAUSES],
    /// Waits for room.
    pub stalls: u64,
    /// How long altogether.
    pub stall_ns: u64,
    /// Ring bytes that could not be stored.
    pub gap_bytes: u64,
    /// Records that were kept back and dropped on purpose.
    pub forgotten: u64,
    /// There were more, uncounted.
    pub forgotten_more: bool,
    /// Durations of spans that ended, in nanoseconds, by site number: of async spans by that of the begin.
    pub spans: BTreeMap<usize, Histogram>,
    /// Begins and ends of async spans without the other.
    pub unpaired: u64,
    /// Counters, by site number.
    pub counters: BTreeMap<usize, Counter>,
    /// What could not be read.
    pub notes: Vec<Note>,
}

/// Records and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// How many.
    pub records: u64,
    /// Their bytes, headers included.
    pub bytes: u64,
}

impl Count {
    fn add(&mut self, other: Count) {
        self.records += other.records;
        self.bytes += other.bytes;
    }
}

/// The values of a counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counter {
    /// How often.
    pub records: u64,
    /// The least value.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// The last in time.
    pub last: f64,
    /// When that was, in the session's ticks.
    last_ticks: u64,
}

impl Counter {
    fn first(value: f64, ticks: u64) -> Self {
        Self { records: 1, min: value, max: value, last: value, last_ticks: ticks }
    }

    fn add(&mut self, value: f64, ticks: u64) {
        self.records += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        if ticks >= self.last_ticks {
            (self.last, self.last_ticks) = (value, ticks);
        }
    }
}

impl Statistics {
    /// Nanoseconds from the first to the last record.
    pub fn duration_ns(&self) -> u64 {
        self.time_range.map_or(0, |(begin, end)| (i128::from(end) - i128::from(begin)).max(0) as u64)
    }

    /// Records a second, over the time from the first to the last.
    pub fn rate(&self) -> f64 {
        match self.duration_ns() {
            0 => 0.0,
            ns => self.records as f64 * 1e9 / ns as f64,
        }
    }

    /// Records lost, of any cause.
    pub fn lost(&self) -> u64 {
        self.losses.iter().fold(0, |sum, n| sum.saturating_add(*n))
    }
}
