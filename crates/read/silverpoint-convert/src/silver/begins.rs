//! When spans began, by the clock of the file that is written.
//!
//! A trace file names the begin of a span by its ticks, which are nanoseconds here. Time less duration is not
//! exactly that: both are rounded, and clocks are corrected in between.

use silverpoint_query::spans::{OpenSpans, RecentBegins};
use silverpoint_query::tree::{Part, part};
use silverpoint_trace::Site;

use crate::Record;
use crate::begun::{Begun, nameable_ticks, order, thread};

/// Spans that are open at once. Ends of others name what their durations say.
const MOST: usize = 1 << 16;

/// See the module.
#[derive(Default)]
pub(super) struct Begins {
    open: OpenSpans<u32, Open>,
    /// Nanoseconds, by process and ticks.
    recent: RecentBegins<(usize, u64), u64>,
}

struct Open {
    ns: u64,
    ticks: Option<u64>,
}

impl Begins {
    /// A span of a thread begins.
    pub(super) fn begin(&mut self, record: &Record<'_>, site: &Site, number: usize, ns: u64) {
        if self.open.count() < MOST {
            self.open.begin(thread(record), number, order(record.wall_ns), Open { ns, ticks: record.ticks });
        }
        if let Some(ticks) = nameable_ticks(record, site) {
            self.recent.begin((record.process_number, ticks), ns);
        }
    }

    /// When the span began that ends, if that is known.
    pub(super) fn end(&mut self, record: &Record<'_>, site: usize) -> Option<u64> {
        let begun = Begun::of(record)?;
        let place = begun.find(&self.open, thread(record), |of, _| of == site, |open| open.ticks)?;
        Some(self.open.remove(place)?.ns)
    }

    /// The begin of an async span that was a span of a thread until now names the ticks of that one.
    pub(super) fn translate(&self, record: &Record<'_>, site: &Site, args: &mut [u8]) {
        if let Some(Part::Late(ticks)) = part(site, args)
            && let Some(ns) = self.recent.get(&(record.process_number, ticks))
            && let Some(word) = args.get_mut(8..16)
        {
            word.copy_from_slice(&ns.to_le_bytes());
        }
    }
}
