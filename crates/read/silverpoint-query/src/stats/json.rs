//! Statistics as JSON for programs: equal in content to the tables.

use std::fmt::Write;

use silverpoint_render::time::TimeText;
use silverpoint_trace::{Site, Trace, loss_causes, worst};
use silverpoint_wire::level::Level;

use super::report::{busiest, rates_of, troubles};
use super::{Count, Statistics};
use silverpoint_render::json::{push_f64, push_string};

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
        ("forgotten", s.forgotten),
        ("unpaired_async", s.unpaired),
        ("unknown_site_records", s.unknown.iter().sum()),
    ] {
        object.number(key, value);
    }
    object.flag("forgotten_more", s.forgotten_more);
    object.object("losses", |losses| loss_causes(&s.losses).for_each(|(cause, n)| losses.number(cause, n)));
    object.object("levels", |levels| {
        Level::ALL.into_iter().for_each(|level| levels.number(level.name(), s.levels[level as usize]));
    });
    object.list("files", trace.files.iter(), |file, object| {
        object.text("path", &file.path.to_string_lossy());
        object.number("bytes", file.bytes);
        object.number("blocks", file.blocks);
        file.trimmed().into_iter().for_each(|selection| object.text("trimmed", selection));
        if let Some(by) = file.split() {
            object.text("split", by);
            object.number("part", file.part());
        }
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
    object.list("sites", busiest(s, trace).into_iter(), |(numbers, count), object| {
        object.site(&trace.sites[numbers[0]]);
        object.number("records", count.records);
        object.number("bytes", count.bytes);
        if let Some(rates) = &s.rates {
            object.numbers("rates", &rates_of(rates, &numbers));
        }
    });
    if let Some(rates) = &s.rates {
        object.object("rates", |object| {
            let mut begin = String::new();
            TimeText::rfc3339_utc().push(&mut begin, rates.begin_ns);
            object.text("begin", &begin);
            object.number("part_ns", rates.part_ns);
            object.numbers("records", &rates.total);
        });
    }
    object.list("troubles", troubles(s, trace).into_iter(), |(who, trouble), object| {
        object.text("cause", trouble.cause);
        object.number("count", trouble.count);
        match trouble.cause {
            "wait" => object.number("ns", trouble.amount.unwrap_or(0)),
            "overwritten" => object.number("bytes", trouble.amount.unwrap_or(0)),
            "forgotten" => object.flag("more", trouble.has_more),
            _ => {}
        }
        object.text("meaning", trouble.meaning);
        object.text("process", &who.session.name);
        object.number("pid", u64::from(who.session.pid));
        if let Some(thread) = who.thread {
            object.number("tid", u64::from(thread.tid));
            object.text("thread", &thread.name);
        }
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
            ("p999_ns", h.quantile(999)),
            ("max_ns", h.max()),
        ] {
            object.number(key, value);
        }
        object.list("histogram", h.powers().into_iter(), |(low, count), power| {
            power.number("from_ns", low);
            power.number("count", count);
        });
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

    fn flag(&mut self, key: &str, value: bool) {
        self.key(key);
        self.out.push_str(if value { "true" } else { "false" });
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

    fn numbers(&mut self, key: &str, numbers: &[u64]) {
        self.key(key);
        self.out.push('[');
        for (at, number) in numbers.iter().enumerate() {
            let _ = write!(self.out, "{}{number}", if at > 0 { "," } else { "" });
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

    fn names<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        self.key("names");
        self.out.push('[');
        for (at, name) in names.enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            push_string(self.out, name);
        }
        self.out.push(']');
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
    object.names(site.names.iter().map(String::as_str));
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

/// Appends one JSON object that describes a site of a program that did not run; without a signature where its arguments' types are not known.
pub fn push_listed_site_json(out: &mut String, program: &str, site: &Site) {
    let mut object = Object::begin(out);
    object.text("program", program);
    object.site(site);
    object.names(site.description.argument_names());
    if !site.description.is_pending() {
        object.text("signature", &site.description.signature);
    }
    object.end();
    out.push('\n');
}
