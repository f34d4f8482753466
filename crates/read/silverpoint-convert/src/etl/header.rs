//! The first event of a file: `TRACE_LOGFILE_HEADER`, with the clock and what was lost.
//!
//! The clock is a counter of nanoseconds, as performance counters are: Windows's own time has steps of 100.

use super::buffers::BUFFER;

/// Steps of the clock in a second.
pub(super) const FREQUENCY: u64 = 1_000_000_000;
/// How long before the first record the counter begins, for records that are earlier than the first. Tools that compute with doubles have all digits of counters up to 2⁵³.
const BEFORE_NS: i128 = 4_500_000_000_000_000;
/// From 1601, where the time of Windows begins, to 1970.
const EPOCH_NS: i128 = 11_644_473_600 * 1_000_000_000;

/// What the counter says.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    /// Nanoseconds since 1970 when it was 0: a multiple of 100.
    zero: i128,
}

impl Clock {
    /// For records of which this is the first.
    pub(super) fn new(first_ns: i64) -> Self {
        Self { zero: i128::from(first_ns).div_euclid(100) * 100 - BEFORE_NS }
    }

    /// `None`: it is before the counter's begin.
    pub(super) fn at(self, ns: i64) -> Option<u64> {
        u64::try_from(i128::from(ns) - self.zero).ok()
    }

    /// In Windows's time: steps of 100 ns since 1601.
    fn file_time(self, counter: u64) -> u64 {
        u64::try_from((self.zero + i128::from(counter) + EPOCH_NS) / 100).unwrap_or(0)
    }
}

/// What a file holds.
pub(super) struct Summary {
    pub(super) clock: Clock,
    /// Of the earliest and the last event.
    pub(super) times: (u64, u64),
    pub(super) lost: u32,
    /// The file's.
    pub(super) name: String,
}

/// Bytes of a file's name that are kept.
const NAME_MOST: usize = 1000;

impl Summary {
    /// The counter at the begin, which is a whole step of Windows's time.
    pub(super) fn first(&self) -> u64 {
        self.times.0 / 100 * 100
    }

    /// `SYSTEM_TRACE_HEADER` and what follows it.
    pub(super) fn event(&self, buffers: u32, processors: u32) -> Vec<u8> {
        /// Version 2 of the header, of a system of 64 bits.
        const MARK: [u8; 4] = [2, 0, 2, 0xC0];
        let payload = self.payload(buffers, processors);
        let mut event = MARK.to_vec();
        event.extend_from_slice(&(payload.len() as u16 + 32).to_le_bytes());
        // Type and group 0: it describes the file. Thread and process are those of nobody.
        event.extend_from_slice(&[0; 2 + 4 + 4]);
        event.extend_from_slice(&self.first().to_le_bytes());
        event.extend_from_slice(&[0; 8]);
        event.extend(payload);
        event.resize(event.len().next_multiple_of(8), 0);
        event
    }

    fn payload(&self, buffers: u32, processors: u32) -> Vec<u8> {
        /// Windows 10, and version 5 of the log: what the structures here are of.
        const VERSION: u32 = u32::from_le_bytes([10, 0, 1, 5]);
        const BUILD: u32 = 19045;
        /// 15.6 ms, in steps of 100 ns.
        const TIMER: u32 = 156_250;
        const SEQUENTIAL: u32 = 1;
        const POINTER: u32 = 8;
        /// Of the processor, in MHz; as fast as the clock.
        const MHZ: u32 = 1000;
        /// Of the names, which follow instead.
        const POINTERS: usize = 16;
        /// `TIME_ZONE_INFORMATION`, and what aligns the times behind it: UTC.
        const ZONE: usize = 172 + 4;
        const COUNTER: u32 = 1;
        let mut out = Vec::new();
        let words =
            |out: &mut Vec<u8>, words: [u32; 4]| out.extend(words.into_iter().flat_map(u32::to_le_bytes));
        words(&mut out, [BUFFER as u32, VERSION, BUILD, processors]);
        // The last event is not beyond the end.
        out.extend_from_slice(&self.clock.file_time(self.times.1.saturating_add(99)).to_le_bytes());
        words(&mut out, [TIMER, 0, SEQUENTIAL, buffers]);
        words(&mut out, [1, POINTER, self.lost, MHZ]);
        out.resize(out.len() + POINTERS + ZONE, 0);
        let times = [self.clock.file_time(0), FREQUENCY, self.clock.file_time(self.first())];
        out.extend(times.into_iter().flat_map(u64::to_le_bytes));
        // No buffer is lost as a whole.
        out.extend([COUNTER, 0].into_iter().flat_map(u32::to_le_bytes));
        for name in ["silverpoint", &self.name] {
            let wide = name.encode_utf16().filter(|unit| *unit != 0).take(NAME_MOST);
            out.extend(wide.chain([0]).flat_map(u16::to_le_bytes));
        }
        out
    }
}
