//! What a query over many columns needs: sites, processes and threads picked one by one by whoever asks, and a range of times.

use crate::tracefile::Trace;

/// Which events are wanted, as far as blocks and records can be passed over for it. See [`Trace::pick`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picked {
    /// By the numbers of [`Trace::sites`]: their records, and the ends of their spans.
    pub sites: Vec<bool>,
    /// By the numbers of [`Trace::sessions`].
    pub sessions: Vec<bool>,
    /// Threads with one of these ids; `None`: all.
    pub tids: Option<Vec<u32>>,
    /// What belongs to no site: losses, waits, records and ends of spans of sites that nobody describes.
    pub others: bool,
    /// From this time on, in nanoseconds since 1970-01-01T00:00Z.
    pub from_ns: i64,
    /// Up to and with this time.
    pub until_ns: i64,
}

impl Picked {
    /// Everything.
    pub fn all(trace: &Trace) -> Self {
        Self {
            sites: vec![true; trace.sites.len()],
            sessions: vec![true; trace.sessions.len()],
            tids: None,
            others: true,
            from_ns: i64::MIN,
            until_ns: i64::MAX,
        }
    }
}
