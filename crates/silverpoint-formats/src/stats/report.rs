//! Statistics as tables for people and as JSON for programs.

use std::fmt::Write;

use jiff::tz::TimeZone;
use silverpoint_wire::level::Level;

use super::{Count, Statistics};
use crate::json::{push_f64, push_string};
use crate::site::Site;
use crate::table::{Table, bytes, grouped};
use crate::time::{Style, TimeText, push_duration};
use crate::tracefile::{Trace, loss_causes, worst};

/// Appends tables. At most `top` sites, spans and counters each, those with the most records or time; 0: all. Times in `zone`.
pub fn push_text(out: &mut String, statistics: &Statistics, trace: &Trace, top: usize, zone: &TimeZone) {
    summary(out, statistics, trace, zone);
    let top = if top == 0 { usize::MAX } else { top };
    threads(out, statistics, trace);
    sites(out, statistics, trace, top);
    spans(out, statistics, trace, top);
    counters(out, statistics, trace, top);
}

fn summary(out: &mut String, s: &Statistics, trace: &Trace, zone: &TimeZone) {
    for file in &trace.files {
        out.push_str("file      ");
        crate::escape::push_escaped(out, &file.path.to_string_lossy());
        let _ = writeln!(out, "  {}, {} blocks", bytes(file.bytes), file.blocks);
    }
    let _ = writeln!(out, "verdict   {}", worst(&s.notes));
    if let Some((begin, end)) = s.time_range {
        let mut time = TimeText::new(Style::Full, zone.clone(), 6);
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
    if s.stalls > 0 {
        let _ = write!(out, "waits     {} for room, ", grouped(s.stalls));
        push_duration(out, s.stall_ns);
        out.push_str(" altogether\n");
    }
    if s.late_blocks > 0 {
        let _ =
            writeln!(out, "late      {} blocks came after a watermark beyond them", grouped(s.late_blocks));
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

fn threads(out: &mut String, s: &Statistics, trace: &Trace) {
    let mut table = Table::new("threads", &[">RECORDS", ">BYTES", "<PROCESS", ">TID", "<NAME"]);
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

/// Site numbers with records, most records first.
fn busiest(s: &Statistics) -> Vec<(usize, Count)> {
    let mut numbers: Vec<_> =
        s.sites.iter().copied().enumerate().filter(|(_, count)| count.records > 0).collect();
    numbers.sort_by(|a, b| b.1.records.cmp(&a.1.records).then(a.0.cmp(&b.0)));
    numbers
}

fn sites(out: &mut String, s: &Statistics, trace: &Trace, top: usize) {
    let all = busiest(s);
    let mut table = Table::new(
        "sites",
        &[">RECORDS", ">SHARE", ">BYTES", "<LEVEL", "<KIND", "<CATEGORY", "<PLACE", "<TEXT"],
    );
    for (number, count) in all.iter().take(top) {
        let site = &trace.sites[*number];
        table.row([
            grouped(count.records),
            format!("{:.1}%", count.records as f64 * 100.0 / s.records.max(1) as f64),
            bytes(count.bytes),
            site.level().to_string(),
            site.kind().name().to_owned(),
            site.description.category.clone(),
            site.place(),
            site.description.template.clone(),
        ]);
    }
    table.push(out);
    more(out, all.len(), top);
}

fn spans(out: &mut String, s: &Statistics, trace: &Trace, top: usize) {
    let mut all: Vec<_> = s.spans.iter().collect();
    all.sort_by_key(|(_, histogram)| std::cmp::Reverse(histogram.sum()));
    let columns = [">COUNT", ">TOTAL", ">MEAN", ">MIN", ">P50", ">P90", ">P99", ">MAX", "<NAME", "<PLACE"];
    let mut table = Table::new("spans", &columns);
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
            duration(h.max()),
            site.description.template.clone(),
            site.place(),
        ]);
    }
    table.push(out);
    more(out, all.len(), top);
}

fn counters(out: &mut String, s: &Statistics, trace: &Trace, top: usize) {
    let mut all: Vec<_> = s.counters.iter().collect();
    all.sort_by_key(|(_, counter)| std::cmp::Reverse(counter.records));
    let mut table = Table::new("counters", &[">RECORDS", ">MIN", ">MAX", ">LAST", "<NAME", "<PLACE"]);
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

/// Appends one JSON object: everything that [`Statistics`] holds, times as RFC 3339, durations in nanoseconds.
pub fn push_json(out: &mut String, s: &Statistics, trace: &Trace) {
    let mut object = Object::begin(out);
    object.text("verdict", worst(&s.notes).name());
    if let Some((begin, end)) = s.time_range {
        let mut time = TimeText::rfc3339_utc();
        for (key, ns) in [("begin", begin), ("end", end)] {
            let mut text = String::new();
            time.push(&mut text, ns);
            object.text(key, &text);
        }
    }
    object.number("duration_ns", s.duration_ns());
    object.float("records_per_second", s.rate());
    for (key, value) in [
        ("records", s.records),
        ("record_bytes", s.record_bytes),
        ("blocks", s.blocks),
        ("skipped_blocks", s.skipped_blocks),
        ("raw_bytes", s.raw_bytes),
        ("stored_bytes", s.stored_bytes),
        ("late_blocks", s.late_blocks),
        ("lost", s.lost()),
        ("stalls", s.stalls),
        ("stall_ns", s.stall_ns),
        ("gap_bytes", s.gap_bytes),
        ("unpaired_async", s.unpaired),
        ("unknown_site_records", s.unknown.iter().sum()),
    ] {
        object.number(key, value);
    }
    object.object("losses", |losses| loss_causes(&s.losses).for_each(|(cause, n)| losses.number(cause, n)));
    object.object("levels", |levels| {
        Level::ALL.into_iter().for_each(|level| levels.number(level.name(), s.levels[level as usize]));
    });
    object.list("files", trace.files.iter(), |file, object| {
        object.text("path", &file.path.to_string_lossy());
        object.number("bytes", file.bytes);
        object.number("blocks", file.blocks);
    });
    let threads = trace.sessions.iter().zip(&s.threads).flat_map(|(session, counts)| {
        session.threads.iter().zip(counts).map(move |(thread, count)| (session, thread, count))
    });
    object.list(
        "threads",
        threads.filter(|(_, _, count)| count.records > 0),
        |(session, thread, count), object| {
            object.text("process", &session.name);
            object.number("pid", u64::from(session.pid));
            object.number("tid", u64::from(thread.tid));
            object.text("thread", &thread.name);
            object.number("records", count.records);
            object.number("bytes", count.bytes);
        },
    );
    object.list("sites", busiest(s).into_iter(), |(number, count), object| {
        object.site(&trace.sites[number]);
        object.number("records", count.records);
        object.number("bytes", count.bytes);
    });
    object.list("spans", s.spans.iter(), |(number, h), object| {
        object.site(&trace.sites[*number]);
        for (key, value) in [
            ("count", h.count()),
            ("total_ns", u64::try_from(h.sum()).unwrap_or(u64::MAX)),
            ("mean_ns", h.mean()),
            ("min_ns", h.min()),
            ("p50_ns", h.quantile(500)),
            ("p90_ns", h.quantile(900)),
            ("p99_ns", h.quantile(990)),
            ("max_ns", h.max()),
        ] {
            object.number(key, value);
        }
    });
    object.list("counters", s.counters.iter(), |(number, counter), object| {
        object.site(&trace.sites[*number]);
        object.number("records", counter.records);
        object.float("min", counter.min);
        object.float("max", counter.max);
        object.float("last", counter.last);
    });
    object.list("notes", s.notes.iter(), |note, object| object.text("text", &note.to_string()));
    object.end();
    out.push('\n');
}

/// A JSON object that is being written.
struct Object<'o> {
    out: &'o mut String,
    begun: bool,
}

impl<'o> Object<'o> {
    fn begin(out: &'o mut String) -> Self {
        out.push('{');
        Self { out, begun: false }
    }

    fn end(self) {
        self.out.push('}');
    }

    fn key(&mut self, key: &str) {
        if self.begun {
            self.out.push(',');
        }
        self.begun = true;
        push_string(self.out, key);
        self.out.push(':');
    }

    fn text(&mut self, key: &str, value: &str) {
        self.key(key);
        push_string(self.out, value);
    }

    fn number(&mut self, key: &str, value: u64) {
        self.key(key);
        let _ = write!(self.out, "{value}");
    }

    fn float(&mut self, key: &str, value: f64) {
        self.key(key);
        push_f64(self.out, value);
    }

    fn object(&mut self, key: &str, fill: impl FnOnce(&mut Object<'_>)) {
        self.key(key);
        let mut inner = Object::begin(self.out);
        fill(&mut inner);
        inner.end();
    }

    fn list<T>(&mut self, key: &str, items: impl Iterator<Item = T>, fill: impl Fn(T, &mut Object<'_>)) {
        self.key(key);
        self.out.push('[');
        for (at, item) in items.enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            let mut inner = Object::begin(self.out);
            fill(item, &mut inner);
            inner.end();
        }
        self.out.push(']');
    }

    fn site(&mut self, site: &Site) {
        let description = &site.description;
        self.text("level", site.level().name());
        self.text("kind", site.kind().name());
        self.text("category", &description.category);
        self.text("file", &description.file);
        self.number("line", u64::from(description.line));
        self.text("function", site.function());
        self.text("template", &description.template);
    }
}

/// Appends one JSON object that describes a site of a process: with its records, or whether it is on.
pub fn push_site_json(
    out: &mut String,
    process: (&str, u32),
    site: &Site,
    id: u32,
    count: Option<Count>,
    is_on: Option<bool>,
) {
    let mut object = Object::begin(out);
    object.text("process", process.0);
    object.number("pid", u64::from(process.1));
    object.number("id", u64::from(id));
    object.site(site);
    object.key("names");
    object.out.push('[');
    for (at, name) in site.names.iter().enumerate() {
        if at > 0 {
            object.out.push(',');
        }
        push_string(object.out, name);
    }
    object.out.push(']');
    object.text("signature", &site.description.signature);
    if let Some(is_on) = is_on {
        object.key("on");
        object.out.push_str(if is_on { "true" } else { "false" });
    }
    if let Some(count) = count {
        object.number("records", count.records);
        object.number("bytes", count.bytes);
    }
    object.end();
    out.push('\n');
}
