//! The selection for queries over many columns: sites, processes and threads that the caller picks one by
//! one, and a range of times.

use silverpoint_wire::layout::block::LEVELS_CONTROL;
use silverpoint_wire::layout::record::{LOSS, SPAN_END, STALL};
use silverpoint_wire::layout::site_entry::FIRST_ID;
use silverpoint_wire::level::Kind;

use super::Trace;
use super::selection::{Select, Wanted};

/// Which events are wanted, as far as blocks and records can be skipped by it. Other threads are not read at all.
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

impl Select for Picked {
    fn is_everything(&self) -> bool {
        false
    }

    fn wanted(&self, trace: &Trace) -> Wanted {
        let mut controls = [false; FIRST_ID as usize];
        for id in [LOSS, STALL] {
            controls[id as usize] = self.others;
        }
        let sites = self.sites.iter().zip(&trace.sites);
        let mut wanted = sites.clone().filter(|(wanted, _)| **wanted);
        controls[SPAN_END as usize] = self.others || wanted.any(|(_, site)| site.kind() == Kind::Span);
        let levels = sites
            .filter(|(wanted, _)| **wanted)
            .fold(LEVELS_CONTROL, |bits, (_, site)| bits | 1 << site.level() as u32);
        Wanted {
            sites: self.sites.clone(),
            sessions: self.sessions.clone(),
            tids: self.tids.clone(),
            threads: None,
            controls,
            unknown: self.others,
            // Records of unknown sites have levels of their own.
            levels: if self.others { u32::MAX } else { levels },
            from_ns: self.from_ns,
            until_ns: self.until_ns,
            values: None,
        }
    }

    fn absolute(&self, _trace: &Trace) -> Box<dyn Select> {
        Box::new(self.clone())
    }
}
