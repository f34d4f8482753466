//! What a filter's records are, in numbers.

use silverpoint_query::stats::Histogram;
use silverpoint_trace::{Event, What};
use silverpoint_wire::layout::CAUSES;

use crate::moments::{Buckets, Samples};

/// Sites of which durations are counted: a histogram takes up to 15 KiB.
const HISTOGRAMS_MAX: usize = 1000;

/// Records of a site.
#[derive(Debug, Default)]
pub struct SiteCount {
    /// How many.
    pub records: u64,
    /// Their bytes as they lay in rings.
    pub bytes: u64,
    /// Durations of its spans.
    pub spans: Option<Box<Histogram>>,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Counts {
    /// All.
    pub records: u64,
    /// By the numbers of the trace.
    pub sites: Vec<SiteCount>,
    /// By level.
    pub levels: [u64; 6],
    /// By cause.
    pub losses: [u64; CAUSES],
    /// Waits.
    pub stalls: u64,
    /// How long they were together.
    pub stall_ns: u64,
    /// Time of the first and of the last record.
    pub range: Option<(i64, i64)>,
    /// When they were.
    pub buckets: Buckets,
    /// Where times are.
    pub samples: Samples,
    histograms: usize,
}

impl Counts {
    /// Adds the next record.
    pub fn add(&mut self, event: &Event<'_>) {
        let level = event.what.level() as u8;
        self.records += 1;
        self.levels[usize::from(level)] += 1;
        let at = event.wall_ns;
        let (begin, end) = self.range.unwrap_or((at, at));
        self.range = Some((begin.min(at), end.max(at)));
        self.buckets.add(at, level);
        self.samples.add(at, event.raw.len() as u64);
        match event.what {
            What::Record { site_number, .. } => {
                let bytes = event.raw.len() as u64;
                let site = self.site(site_number);
                (site.records, site.bytes) = (site.records + 1, site.bytes + bytes);
            }
            What::SpanEnd { site_number: Some(number), duration_ns: Some(duration), .. } => {
                let has_room = self.histograms < HISTOGRAMS_MAX;
                let site = self.site(number);
                if let Some(spans) = &mut site.spans {
                    spans.add(duration);
                } else if has_room {
                    site.spans.insert(Box::default()).add(duration);
                    self.histograms += 1;
                }
            }
            What::Loss { cause, count, .. } => {
                let cause = usize::from(cause).min(CAUSES - 1);
                self.losses[cause] = self.losses[cause].saturating_add(count);
            }
            What::Stall { duration_ns, .. } => {
                self.stalls += 1;
                self.stall_ns = self.stall_ns.saturating_add(duration_ns);
            }
            _ => {}
        }
    }

    fn site(&mut self, number: usize) -> &mut SiteCount {
        if number >= self.sites.len() {
            self.sites.resize_with(number + 1, SiteCount::default);
        }
        &mut self.sites[number]
    }
}
