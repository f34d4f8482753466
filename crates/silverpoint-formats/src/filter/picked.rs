//! The selection for queries over many columns: sites, processes and threads that the caller picks one by
//! one, and a range of times.

use crate::tracefile::Trace;

/// Which events are wanted, as far as blocks and records can be skipped by it. See [`Trace::pick`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picked {
    /// By the numbers of [`Trace::sites`]: their records, and the ends of their spans.
    pub sites: Vec<bool>,
    /// By the numbers of [`Trace::sessions`].
    pub sessions: Vec<bool>,
    /// Threads with one of these ids; `None`: all.
    pub tids: Option<Vec<u32>>,
    /// Events without a site: losses, waits, records and ends of spans whose site has no description.
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
