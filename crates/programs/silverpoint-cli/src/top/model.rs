//! What is counted, and in which order it is shown. Independent of the terminal.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use silverpoint_trace::{Stream, Tallied, Trace, escape::push_escaped, loss_causes};
use silverpoint_wire::level::Level;

/// What the rows are.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// Sites
    #[default]
    Sites,
    /// Threads
    Threads,
}

/// What the rows are ordered by.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Column {
    /// Records a second
    #[default]
    Rate,
    /// Bytes of rings a second
    Bytes,
    /// Records since the beginning
    Records,
    /// Time that threads waited for room
    Stalls,
    /// Records lost
    Lost,
    /// Name
    Name,
}

impl Column {
    /// From left to right.
    pub const ALL: [Self; 6] = [Self::Rate, Self::Bytes, Self::Records, Self::Stalls, Self::Lost, Self::Name];
}

/// What is counted of a site or a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Records.
    pub records: u64,
    /// Their bytes in rings.
    pub bytes: u64,
    /// How often a thread waited for room just before a record of it.
    pub stalls: u64,
    /// How long it waited.
    pub stall_ns: u64,
    /// Records lost just before a record of it; which sites they came from is not recorded.
    pub lost: u64,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.records += other.records;
        self.bytes += other.bytes;
        self.stalls += other.stalls;
        self.stall_ns = self.stall_ns.saturating_add(other.stall_ns);
        self.lost = self.lost.saturating_add(other.lost);
    }
}

/// Whose counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Who {
    /// Session and site; without a site: records without a description.
    Site(usize, Option<usize>),
    /// Session and thread.
    Thread(usize, usize),
}

/// A line of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Records a second in the last interval.
    pub rate: f64,
    /// Bytes a second in the last interval.
    pub byte_rate: f64,
    /// Since the beginning.
    pub counts: Counts,
    /// Of a site.
    pub level: Option<Level>,
    /// `name[pid]`.
    pub process: String,
    /// The site's category; empty of a thread.
    pub category: String,
    /// The site's text, or the thread's name and id.
    pub name: String,
    /// File and line; empty of a thread.
    pub place: String,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    total: Counts,
    /// Since the last sample.
    recent: Counts,
    /// Of the last complete interval.
    last: Counts,
}

/// The counts of everything that was read.
#[derive(Debug)]
pub struct Model {
    cells: HashMap<Who, Cell>,
    /// By session and stream: what came before the stream's next record.
    before: HashMap<(usize, u32), Counts>,
    sampled: Instant,
    interval: Duration,
    /// Bytes that were missed, by the last sample and the one before.
    missed: (u64, u64),
    /// What is shown.
    pub view: View,
    /// By what it is ordered.
    pub column: Column,
    /// The least first.
    pub reversed: bool,
    /// Rows must contain this text, in any letters' case, in one of their texts.
    pub pattern: String,
}

/// All rows together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Total {
    /// As of a row.
    pub rate: f64,
    /// As of a row.
    pub byte_rate: f64,
    /// As of a row.
    pub counts: Counts,
    /// Losses by cause, as the sessions count them from their own beginning.
    pub losses: Vec<(&'static str, u64)>,
    /// Sessions, threads, and sites that recorded.
    pub sizes: (usize, usize, usize),
    /// Bytes that were overwritten before they could be copied, in all and a second: what was seen is only a part.
    pub missed: (u64, f64),
}

impl Total {
    /// Records a second, including those that were overwritten unseen. It assumes that these are as large as
    /// the others.
    pub fn estimated_rate(&self) -> f64 {
        match self.byte_rate > 0.0 {
            true => self.rate * (1.0 + self.missed.1 / self.byte_rate),
            false => self.rate,
        }
    }
}

impl Model {
    /// Nothing yet; counts begin now.
    pub fn new(view: View, column: Column, now: Instant) -> Self {
        Self {
            cells: HashMap::new(),
            before: HashMap::new(),
            sampled: now,
            interval: Duration::ZERO,
            missed: (0, 0),
            view,
            column,
            reversed: false,
            pattern: String::new(),
        }
    }

    /// Adds the counts of a stream.
    pub fn count(&mut self, session: usize, stream: &Stream, found: Tallied) {
        let (site, bytes) = match found {
            Tallied::Record { site, bytes } => (site, bytes),
            Tallied::Stall { duration_ns } => {
                let before = self.before.entry((session, stream.number)).or_default();
                before.stalls += 1;
                before.stall_ns = before.stall_ns.saturating_add(duration_ns);
                return;
            }
            Tallied::Loss { count } => {
                let before = self.before.entry((session, stream.number)).or_default();
                before.lost = before.lost.saturating_add(count);
                return;
            }
        };
        let mut counts = Counts { records: 1, bytes: bytes.into(), ..Counts::default() };
        if !self.before.is_empty()
            && let Some(before) = self.before.remove(&(session, stream.number))
        {
            counts.add(&before);
        }
        self.cells.entry(Who::Site(session, site)).or_default().recent.add(&counts);
        self.cells.entry(Who::Thread(session, stream.thread)).or_default().recent.add(&counts);
    }

    /// What was counted so far happened before the first interval: it has no rate.
    pub fn begin(&mut self, now: Instant) {
        self.sample(now, self.missed.0);
        self.cells.values_mut().for_each(|cell| cell.last = Counts::default());
    }

    /// Ends an interval: rates are those of the time since the last call. `missed`: bytes so far that were overwritten before they could be copied.
    pub fn sample(&mut self, now: Instant, missed: u64) {
        self.missed = (missed, self.missed.0);
        self.interval = now.duration_since(self.sampled);
        self.sampled = now;
        for cell in self.cells.values_mut() {
            cell.last = std::mem::take(&mut cell.recent);
            cell.total.add(&cell.last);
        }
    }

    /// Totals begin at zero again.
    pub fn clear(&mut self) {
        self.cells.values_mut().for_each(|cell| cell.total = cell.last);
    }

    /// The rows of the view that the pattern admits, in order.
    pub fn rows(&self, trace: &Trace) -> Vec<Row> {
        let pattern = self.pattern.to_lowercase();
        let in_view = |who: &Who| matches!(who, Who::Site(..)) == (self.view == View::Sites);
        let mut rows: Vec<Row> = self
            .cells
            .iter()
            .filter(|(who, _)| in_view(who))
            .filter_map(|(who, cell)| self.row(trace, *who, cell))
            .filter(|row| pattern.is_empty() || row.contains(&pattern))
            .collect();
        rows.sort_by(|a, b| {
            let order = self.compare(a, b);
            let order = if self.reversed { order.reverse() } else { order };
            // Equal rows keep their order from one interval to the next.
            order.then_with(|| a.identity().cmp(&b.identity()))
        });
        rows
    }

    fn compare(&self, a: &Row, b: &Row) -> std::cmp::Ordering {
        match self.column {
            Column::Rate => b.rate.total_cmp(&a.rate),
            Column::Bytes => b.byte_rate.total_cmp(&a.byte_rate),
            Column::Records => b.counts.records.cmp(&a.counts.records),
            Column::Stalls => b.counts.stall_ns.cmp(&a.counts.stall_ns),
            Column::Lost => b.counts.lost.cmp(&a.counts.lost),
            Column::Name => a.identity().cmp(&b.identity()),
        }
    }

    /// All sites together.
    pub fn total(&self, trace: &Trace) -> Total {
        let mut total = Total::default();
        let mut last = Counts::default();
        for (who, cell) in &self.cells {
            match who {
                Who::Site(..) => {
                    total.counts.add(&cell.total);
                    last.add(&cell.last);
                    total.sizes.2 += 1;
                }
                Who::Thread(..) => total.sizes.1 += 1,
            }
        }
        total.sizes.0 = trace.sessions.len();
        (total.rate, total.byte_rate) = self.rates(&last);
        let mut losses = [0u64; silverpoint_wire::layout::CAUSES];
        for session in &trace.sessions {
            for (sum, lost) in losses.iter_mut().zip(session.losses()) {
                *sum = sum.saturating_add(lost);
            }
        }
        total.losses = loss_causes(&losses).collect();
        let (now, before) = self.missed;
        let seconds = self.interval.as_secs_f64();
        let rate = if seconds > 0.0 { now.saturating_sub(before) as f64 / seconds } else { 0.0 };
        total.missed = (now, rate);
        total
    }

    fn rates(&self, counts: &Counts) -> (f64, f64) {
        let seconds = self.interval.as_secs_f64();
        if seconds == 0.0 {
            return (0.0, 0.0);
        }
        (counts.records as f64 / seconds, counts.bytes as f64 / seconds)
    }

    fn row(&self, trace: &Trace, who: Who, cell: &Cell) -> Option<Row> {
        let (rate, byte_rate) = self.rates(&cell.last);
        let escaped = |text: &str| {
            let mut out = String::new();
            push_escaped(&mut out, text);
            out
        };
        let row = |session: usize| {
            Some(Row {
                rate,
                byte_rate,
                counts: cell.total,
                level: None,
                process: escaped(&trace.sessions.get(session)?.label()),
                category: String::new(),
                name: String::new(),
                place: String::new(),
            })
        };
        match who {
            Who::Site(session, Some(site)) => {
                let site = trace.sites.get(site)?;
                let name = match site.description.template.as_str() {
                    "" => site.function(),
                    template => template,
                };
                Some(Row {
                    level: Some(site.level()),
                    category: escaped(&site.description.category),
                    name: escaped(name),
                    place: escaped(&site.place()),
                    ..row(session)?
                })
            }
            Who::Site(session, None) => {
                Some(Row { name: "(sites without a description)".to_owned(), ..row(session)? })
            }
            Who::Thread(session, thread) => {
                let thread = trace.sessions.get(session)?.threads.get(thread)?;
                let name = format!("{} {}", escaped(&thread.name), thread.tid);
                Some(Row { name: name.trim_start().to_owned(), ..row(session)? })
            }
        }
    }
}

impl Row {
    fn identity(&self) -> (&str, &str, &str) {
        (&self.name, &self.place, &self.process)
    }

    /// Whether one of its texts contains a pattern, which is in lower case.
    fn contains(&self, pattern: &str) -> bool {
        let level = self.level.map_or("", Level::name);
        [&self.name, &self.place, &self.process, &self.category, level]
            .iter()
            .any(|text| text.to_lowercase().contains(pattern))
    }
}
