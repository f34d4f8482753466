//! Statistics as tables for people.

use std::collections::HashMap;
use std::fmt::Write;

use silverpoint_render::time::TimeZone;
use silverpoint_trace::{Session, Thread, Trace, loss_causes, worst};
use silverpoint_wire::level::Level;
use silverpoint_wire::site::SiteDescription;

use super::chart::Scale;
use super::rates::Rates;
use super::{Count, Histogram, Signs, Statistics, Trouble, Troubles};
use silverpoint_render::table::{Table, bytes, grouped};
use silverpoint_render::time::{Style, TimeText, push_duration};

/// How the tables look.
#[derive(Clone, Debug)]
pub struct TextOptions {
    /// At most so many sites, spans and counters each, those with the most records or time; 0: all.
    pub top: usize,
    /// The zone of times.
    pub zone: TimeZone,
    /// Colours, by escape sequences.
    pub colour: bool,
    /// What charts are drawn with.
    pub signs: Signs,
    /// Columns of charts.
    pub width: usize,
    /// Whether the latencies of each span are drawn.
    pub histograms: bool,
}

impl Default for TextOptions {
    fn default() -> Self {
        let (signs, zone) = (Signs::Unicode, TimeZone::UTC);
        Self { top: 20, zone, colour: false, signs, width: 80, histograms: false }
    }
}

impl TextOptions {
    fn top(&self) -> usize {
        if self.top == 0 { usize::MAX } else { self.top }
    }

    fn table(&self, title: &'static str, headings: &[&'static str]) -> Table {
        Table::new(title, headings).coloured(self.colour)
    }
}

/// Appends tables.
pub fn push_text(out: &mut String, statistics: &Statistics, trace: &Trace, options: &TextOptions) {
    summary(out, statistics, trace, options);
    threads(out, statistics, trace, options);
    trouble(out, statistics, trace, options);
    sites(out, statistics, trace, options);
    spans(out, statistics, trace, options);
    counters(out, statistics, trace, options);
}

fn summary(out: &mut String, s: &Statistics, trace: &Trace, options: &TextOptions) {
    for file in &trace.files {
        out.push_str("file      ");
        silverpoint_trace::escape::push_escaped(out, &file.path.to_string_lossy());
        let _ = writeln!(out, "  {}, {} blocks", bytes(file.bytes), file.blocks);
        if let Some(selection) = file.trimmed() {
            out.push_str("trimmed   ");
            silverpoint_trace::escape::push_escaped(out, selection);
            out.push('\n');
        }
        if let Some(by) = file.split() {
            out.push_str("split     ");
            silverpoint_trace::escape::push_escaped(out, by);
            let _ = writeln!(out, ", part {}", file.part());
        }
    }
    let _ = writeln!(out, "verdict   {}", worst(&s.notes));
    if let Some((begin, end)) = s.time_range {
        let mut time = TimeText::new(Style::Full, options.zone.clone(), 6);
        out.push_str("time      ");
        time.push(out, begin);
        out.push_str(" to ");
        time.push(out, end);
        out.push_str("  (");
        push_duration(out, s.duration_ns());
        out.push_str(")\n");
    }
    let _ = write!(out, "records   {}", grouped(s.records));
    if s.rate() > 0.0 {
        let _ = write!(out, "  ({}/s)", grouped(s.rate() as u64));
    }
    let _ =
        write!(out, "  {} in {} blocks, {} as stored", bytes(s.raw_bytes), s.blocks, bytes(s.stored_bytes));
    if let (Some(each), Some(stored)) =
        (s.record_bytes.checked_div(s.records), s.stored_bytes.checked_div(s.records))
    {
        let _ = write!(out, "  ({each} bytes a record, {stored} as stored)");
    }
    out.push('\n');
    if s.skipped_blocks > 0 {
        let _ = writeln!(out, "skipped   {} blocks without anything that is wanted", s.skipped_blocks);
    }
    let _ = write!(out, "lost      {}", grouped(s.lost()));
    for (cause, n) in loss_causes(&s.losses) {
        let _ = write!(out, "  {cause} {}", grouped(n));
    }
    out.push('\n');
    if s.gap_bytes > 0 {
        let _ = writeln!(out, "gaps      {} of records could not be stored", bytes(s.gap_bytes));
    }
    if s.forgotten > 0 || s.forgotten_more {
        let number = count_text(s.forgotten, s.forgotten_more);
        let _ = writeln!(out, "forgotten {number} kept back and not asked for");
    }
    if s.stalls > 0 {
        let _ = write!(out, "waits     {} for room, ", grouped(s.stalls));
        push_duration(out, s.stall_ns);
        out.push_str(" altogether\n");
    }
    if s.late_blocks > 0 {
        let _ =
            writeln!(out, "late      {} blocks came after a watermark beyond them", grouped(s.late_blocks));
    }
    if let Some(rates) = &s.rates {
        let _ = write!(out, "rate      {}  (", options.signs.spark(&rates.total, Scale::Linear));
        push_duration(out, rates.part_ns);
        let greatest = rates.total.iter().max().copied().unwrap_or(0);
        let _ = writeln!(out, " a sign, at most {} records)", grouped(greatest));
    }
    out.push_str("levels   ");
    for level in Level::ALL {
        let n = s.levels[level as usize];
        if n > 0 {
            let _ = write!(out, " {level} {}", grouped(n));
        }
    }
    out.push('\n');
}

fn threads(out: &mut String, s: &Statistics, trace: &Trace, options: &TextOptions) {
    let mut table = options.table("threads", &[">RECORDS", ">BYTES", "<PROCESS", ">TID", "<NAME"]);
    for (session, counts) in trace.sessions.iter().zip(&s.threads) {
        for (thread, count) in session.threads.iter().zip(counts).filter(|(_, count)| count.records > 0) {
            table.row([
                grouped(count.records),
                bytes(count.bytes),
                session.label(),
                thread.tid.to_string(),
                thread.name.clone(),
            ]);
        }
    }
    table.push(out);
    let unknown: u64 = s.unknown.iter().sum();
    if unknown > 0 {
        let _ = writeln!(out, "{} records belong to sites without a description", grouped(unknown));
    }
}

/// Whose trouble it is: a thread's, or a session's where there was none.
pub(super) struct Who<'t> {
    pub(super) session: &'t Session,
    pub(super) thread: Option<&'t Thread>,
}

/// All that went wrong, process by process.
pub(super) fn troubles<'t>(s: &Statistics, trace: &'t Trace) -> Vec<(Who<'t>, Trouble)> {
    let mut all = Vec::new();
    for (number, session) in trace.sessions.iter().enumerate() {
        if let Some(losses) = s.session_losses.get(number) {
            let without_ring = Troubles { losses: *losses, ..Troubles::default() };
            all.extend(
                without_ring.list().into_iter().map(|trouble| (Who { session, thread: None }, trouble)),
            );
        }
        let threads = session.threads.iter().zip(s.troubles.get(number).into_iter().flatten());
        for (thread, troubles) in threads {
            let who = || Who { session, thread: Some(thread) };
            all.extend(troubles.list().into_iter().map(|trouble| (who(), trouble)));
        }
    }
    all
}

/// `1,234`, or `1,234 and more`.
fn count_text(count: u64, has_more: bool) -> String {
    let more = if has_more { " and more" } else { "" };
    grouped(count) + more
}

fn trouble(out: &mut String, s: &Statistics, trace: &Trace, options: &TextOptions) {
    let columns = [">COUNT", "<CAUSE", ">AMOUNT", "<PROCESS", ">TID", "<NAME", "<MEANING"];
    let mut table = options.table("losses, waits, late records", &columns);
    for (who, trouble) in troubles(s, trace) {
        let amount = match (trouble.cause, trouble.amount) {
            ("wait", Some(ns)) => duration(ns),
            (_, Some(amount)) => bytes(amount),
            (_, None) => String::new(),
        };
        table.row([
            count_text(trouble.count, trouble.has_more),
            trouble.cause.to_owned(),
            amount,
            who.session.label(),
            who.thread.map_or(String::new(), |thread| thread.tid.to_string()),
            who.thread.map_or(String::new(), |thread| thread.name.clone()),
            trouble.meaning.to_owned(),
        ]);
    }
    table.push(out);
}

/// Sites with records, most records first. Those of several processes that are described alike are one: its numbers.
pub(super) fn busiest(s: &Statistics, trace: &Trace) -> Vec<(Vec<usize>, Count)> {
    let mut merged: Vec<(Vec<usize>, Count)> = Vec::new();
    let mut known: HashMap<&SiteDescription, usize> = HashMap::new();
    for (number, count) in s.sites.iter().enumerate().filter(|(_, count)| count.records > 0) {
        let at = *known.entry(&trace.sites[number].description).or_insert_with(|| {
            merged.push((Vec::new(), Count::default()));
            merged.len() - 1
        });
        let (numbers, sum) = &mut merged[at];
        numbers.push(number);
        sum.records += count.records;
        sum.bytes += count.bytes;
    }
    merged.sort_by(|a, b| b.1.records.cmp(&a.1.records).then_with(|| a.0.cmp(&b.0)));
    merged
}

/// When records of these sites were made, together.
pub(super) fn rates_of(rates: &Rates, numbers: &[usize]) -> Vec<u64> {
    let mut sum: Vec<u64> = Vec::new();
    for counts in numbers.iter().filter_map(|number| rates.sites.get(number)) {
        sum.resize(sum.len().max(counts.len()), 0);
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    sum
}

fn sites(out: &mut String, s: &Statistics, trace: &Trace, options: &TextOptions) {
    let top = options.top();
    let all = busiest(s, trace);
    let mut headings = vec![">RECORDS", ">SHARE", ">BYTES"];
    headings.extend(s.rates.is_some().then_some("<RATE"));
    headings.extend(["<LEVEL", "<KIND", "<CATEGORY", "<PLACE", "<TEXT"]);
    let mut table = options.table("sites", &headings);
    for (numbers, count) in all.iter().take(top) {
        let site = &trace.sites[numbers[0]];
        let mut cells = vec![
            grouped(count.records),
            format!("{:.1}%", count.records as f64 * 100.0 / s.records.max(1) as f64),
            bytes(count.bytes),
        ];
        if let Some(rates) = &s.rates {
            cells.push(options.signs.spark(&rates_of(rates, numbers), Scale::Linear));
        }
        cells.extend([
            site.level().to_string(),
            site.kind().name().to_owned(),
            site.description.category.clone(),
            site.place(),
            site.description.template.clone(),
        ]);
        table.cells(&cells);
    }
    table.push(out);
    more(out, all.len(), top);
}

fn spans(out: &mut String, s: &Statistics, trace: &Trace, options: &TextOptions) {
    let top = options.top();
    let mut all: Vec<_> = s.spans.iter().collect();
    all.sort_by_key(|(_, histogram)| std::cmp::Reverse(histogram.sum()));
    let columns = [
        ">COUNT", ">TOTAL", ">MEAN", ">MIN", ">P50", ">P90", ">P99", ">P99.9", ">MAX", "<LATENCY", "<NAME",
        "<PLACE",
    ];
    let mut table = options.table("spans", &columns);
    for (number, h) in all.iter().take(top) {
        let site = &trace.sites[**number];
        let total = u64::try_from(h.sum()).unwrap_or(u64::MAX);
        table.row([
            grouped(h.count()),
            duration(total),
            duration(h.mean()),
            duration(h.min()),
            duration(h.quantile(500)),
            duration(h.quantile(900)),
            duration(h.quantile(990)),
            duration(h.quantile(999)),
            duration(h.max()),
            options.signs.spark(&h.powers().iter().map(|(_, n)| *n).collect::<Vec<_>>(), Scale::Logarithmic),
            site.description.template.clone(),
            site.place(),
        ]);
    }
    table.push(out);
    more(out, all.len(), top);
    if options.histograms {
        for (number, h) in all.iter().take(top) {
            let site = &trace.sites[**number];
            histogram(out, &format!("{} {}", site.description.template, site.place()), h, options);
        }
    }
}

/// The latencies of a span: one line a power of two, with a bar whose length is the logarithm of the count.
fn histogram(out: &mut String, title: &str, h: &Histogram, options: &TextOptions) {
    out.push_str("\nlatency of ");
    silverpoint_trace::escape::push_escaped(out, title);
    out.push_str(" (bars are logarithmic)\n");
    let powers = h.powers();
    let greatest = powers.iter().map(|(_, n)| *n).max().unwrap_or(0);
    // Beside the bar stand the duration, the count and the share, and the gaps between them.
    const BESIDE: usize = 40;
    let width = options.width.saturating_sub(BESIDE).clamp(10, 100);
    for (low, n) in powers {
        let bar = options.signs.bar(n, greatest, width, Scale::Logarithmic);
        let share = n as f64 * 100.0 / h.count() as f64;
        let line = format!("  {:>12}  {:>12}  {share:>5.1}%  {bar}", duration(low), grouped(n));
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

fn counters(out: &mut String, s: &Statistics, trace: &Trace, options: &TextOptions) {
    let top = options.top();
    let mut all: Vec<_> = s.counters.iter().collect();
    all.sort_by_key(|(_, counter)| std::cmp::Reverse(counter.records));
    let mut table = options.table("counters", &[">RECORDS", ">MIN", ">MAX", ">LAST", "<NAME", "<PLACE"]);
    for (number, counter) in all.iter().take(top) {
        let site = &trace.sites[**number];
        table.row([
            grouped(counter.records),
            counter.min.to_string(),
            counter.max.to_string(),
            counter.last.to_string(),
            site.description.template.clone(),
            site.place(),
        ]);
    }
    table.push(out);
    more(out, all.len(), top);
}

fn more(out: &mut String, all: usize, top: usize) {
    if all > top {
        let _ = writeln!(out, "… and {} more", all - top);
    }
}

fn duration(ns: u64) -> String {
    let mut text = String::new();
    push_duration(&mut text, ns);
    text
}
