//! Trace events of Chrome (JSON object format), as chrome://tracing, Perfetto and Speedscope open them. Written only: `docs/formats.md` says what is left out.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io::{self, Write};
use std::rc::Rc;

use silverpoint_query::tree::{Part, part};
use silverpoint_render::json::{
    JsonVisitor, Stack, join_objects, push_args, push_plain, push_string, without_first,
};
use silverpoint_render::{Renderer, text};
use silverpoint_trace::{Site, What};
use silverpoint_wire::level::Kind;
use silverpoint_wire::value::{WalkError, walk};

use crate::nesting::Nesting;
use crate::waiting::Waiting;
use crate::{Record, WriteError, Writer, atrace};

/// Writes one object with the array `traceEvents`.
pub struct ChromeWriter<W> {
    out: W,
    text: String,
    stack: Stack,
    renderer: Renderer,
    message: String,
    id: String,
    begun: bool,
    /// Last written names of threads, by process number and thread id.
    threads: HashMap<(usize, u32), String>,
    /// Whether a process has been named.
    processes: HashMap<usize, ()>,
    /// Fields that async spans got after they had begun, as JSON, by process, category, name and id. Their ends say them.
    later: HashMap<(usize, String, String, String), String>,
    /// Names and categories of spans that are open.
    spans: Nesting<(Rc<str>, Rc<str>)>,
}

/// Async spans whose later fields are kept.
const LATER_MAX: usize = 1 << 16;

impl<W: Write> ChromeWriter<W> {
    /// Begins the object.
    pub fn new(out: W) -> Self {
        Self {
            out,
            text: String::new(),
            stack: Stack::default(),
            renderer: Renderer::new(),
            message: String::new(),
            id: String::new(),
            begun: false,
            threads: HashMap::new(),
            processes: HashMap::new(),
            later: HashMap::new(),
            spans: Nesting::default(),
        }
    }

    fn event(&mut self) {
        self.text.push_str(if self.begun {
            ",\n"
        } else {
            "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
        });
        self.begun = true;
    }

    /// Names of process and thread, where they are new.
    fn names(&mut self, record: &Record<'_>) {
        if self.processes.insert(record.process_number, ()).is_none() {
            self.metadata("process_name", record, record.process);
        }
        let key = (record.process_number, record.tid);
        if self.threads.get(&key).map(String::as_str) != Some(record.thread) {
            self.threads.insert(key, record.thread.to_owned());
            if !record.thread.is_empty() {
                self.metadata("thread_name", record, record.thread);
            }
        }
    }

    fn metadata(&mut self, what: &str, record: &Record<'_>, name: &str) {
        self.event();
        self.text.push_str("{\"ph\":\"M\",\"name\":\"");
        self.text.push_str(what);
        self.text.push('"');
        self.who(record);
        self.text.push_str(",\"args\":{\"name\":");
        push_string(&mut self.text, name);
        self.text.push_str("}}");
    }

    fn who(&mut self, record: &Record<'_>) {
        self.number(",\"pid\":", record.pid.into());
        self.number(",\"tid\":", record.tid.into());
    }

    fn number(&mut self, key: &str, value: u64) {
        self.text.push_str(key);
        self.text.push_str(itoa::Buffer::new().format(value));
    }

    /// Phase, name (of an end, unless it is empty), category, place and time.
    fn begin(&mut self, record: &Record<'_>, phase: &str, name: &str, category: &str, wall_ns: i64) {
        self.event();
        self.text.push_str("{\"ph\":\"");
        self.text.push_str(phase);
        self.text.push('"');
        if phase != "E" || !name.is_empty() {
            self.text.push_str(",\"name\":");
            push_string(&mut self.text, name);
        }
        self.text.push_str(",\"cat\":");
        push_string(&mut self.text, category);
        self.who(record);
        self.text.push_str(",\"ts\":");
        micros(&mut self.text, wall_ns.unsigned_abs(), wall_ns < 0);
    }

    /// Arguments by name; those without by their number.
    fn args(&mut self, site: &Site, args: &[u8], more: &[(&str, &str)]) {
        self.text.push_str(",\"args\":{");
        for (at, (name, value)) in more.iter().enumerate() {
            self.text.push_str(if at > 0 { "," } else { "" });
            push_string(&mut self.text, name);
            self.text.push(':');
            push_string(&mut self.text, value);
        }
        let mut at = Some(0);
        for (index, ty) in site.types.iter().enumerate() {
            if index > 0 || !more.is_empty() {
                self.text.push(',');
            }
            match site.keys().get(index) {
                Some(name) => push_string(&mut self.text, name),
                None => push_string(&mut self.text, itoa::Buffer::new().format(index)),
            }
            self.text.push(':');
            let start = self.text.len();
            at = at.and_then(|at| {
                let mut visitor = JsonVisitor::new(&mut self.text, &mut self.stack);
                let walked: Result<usize, WalkError<Infallible>> = walk(ty, args, at, &mut visitor);
                walked.ok()
            });
            if at.is_none() {
                self.text.truncate(start);
                self.text.push_str("null");
            }
        }
        self.text.push('}');
    }

    /// Keeps fields that an async span gets after it has begun, and adds them to the arguments of its end, which begin at `start`.
    fn later_fields(&mut self, process: usize, site: &Site, args: &[u8], start: usize) {
        let is_end = site.kind() == Kind::AsyncEnd;
        let is_fields = matches!(part(site, args), Some(Part::Fields(_)));
        if !is_fields && (!is_end || self.later.is_empty()) {
            return;
        }
        let description = &site.description;
        let key = (process, description.category.clone(), description.template.clone(), self.id.clone());
        if is_end {
            const ARGS: &str = ",\"args\":";
            let begin = start + ARGS.len();
            if let Some(later) = self.later.remove(&key)
                && let Some(joined) = self.text.get(begin..).and_then(|args| join_objects(args, &later))
            {
                self.text.truncate(begin);
                self.text.push_str(&joined);
            }
            return;
        }
        let mut fields = String::new();
        push_args(&mut fields, &mut self.stack, site, args);
        without_first(&mut fields);
        if self.later.len() < LATER_MAX || self.later.contains_key(&key) {
            let known = self.later.entry(key).or_insert_with(|| "{}".to_owned());
            if let Some(joined) = join_objects(known, &fields) {
                *known = joined;
            }
        }
    }

    fn span_end(&mut self, record: &Record<'_>, site: Option<&Site>, number: Option<usize>) {
        // Which of the names that share a site it was is not known: that is the innermost of them.
        let end = self.spans.end(record, number);
        let name = match site {
            Some(site) if atrace::is_shared(site) => "",
            Some(site) => &site.description.template,
            None => "span",
        };
        let category = site.map_or("", |site| &site.description.category);
        if end.is_moment {
            self.begin(record, "i", &format!("{name} done"), category, record.wall_ns);
            self.text.push_str(",\"s\":\"t\"}");
        } else if end.ends.is_empty() {
            self.begin(record, "E", name, category, record.wall_ns);
            self.text.push('}');
        }
        // It is shown in the thread of its begin.
        let record = &Record { tid: end.tid, ..*record };
        for (name, category) in &end.ends {
            self.begin(record, "E", name, category, record.wall_ns);
            self.text.push('}');
        }
        for (name, category) in &end.again {
            self.begin(record, "B", name, category, record.wall_ns);
            self.text.push_str(",\"args\":{\"continued\":true}}");
        }
    }

    fn record(&mut self, record: &Record<'_>, site: &Site, args: &[u8]) {
        let named = atrace::named(site, args, &mut self.stack);
        let (site, args) = named.as_ref().map_or((site, args), |(site, args)| (site, *args));
        let category = &site.description.category;
        let name = &site.description.template;
        let phase = match site.kind() {
            Kind::Span => "B",
            Kind::Counter => "C",
            Kind::AsyncBegin => "b",
            Kind::AsyncEnd => "e",
            Kind::AsyncInstant => "n",
            Kind::FlowBegin => "s",
            Kind::FlowStep => "t",
            Kind::FlowEnd => "f",
            _ => "i",
        };
        self.message.clear();
        let _ = self.renderer.message(&mut self.message, site, args);
        let message = std::mem::take(&mut self.message);
        if let (Kind::Span, What::Record { site_number, .. }) = (site.kind(), record.what) {
            self.spans.begin(record, site_number, (name.as_str().into(), category.as_str().into()));
        }
        let shown = if matches!(site.kind(), Kind::Log | Kind::Stream) { &message } else { name };
        self.begin(record, phase, shown, category, record.wall_ns);
        match phase {
            "i" => self.text.push_str(",\"s\":\"t\""),
            "b" | "e" | "n" | "s" | "t" | "f" => {
                self.text.push_str(",\"id\":");
                // A string, for the numbers of JSON end at 2^53.
                self.id.clear();
                let first = site.types.first();
                let is_there = first.and_then(|ty| push_plain(&mut self.id, &mut self.stack, ty, args, 0));
                push_string(&mut self.text, if is_there.is_some() { &self.id } else { "0" });
                if phase == "f" {
                    self.text.push_str(",\"bp\":\"e\"");
                }
            }
            _ => {}
        }
        if phase == "C" && site.names.is_empty() && site.types.len() == 1 {
            self.text.push_str(",\"args\":{\"value\":");
            let walked: Result<usize, WalkError<Infallible>> =
                walk(&site.types[0], args, 0, &mut JsonVisitor::new(&mut self.text, &mut self.stack));
            self.text.push_str(if walked.is_err() { "null}" } else { "}" });
        } else if phase == "C" {
            self.args(site, args, &[]);
        } else {
            let line = format!("{}:{}", site.description.file, site.description.line);
            let place = [("level", site.level().name()), ("at", &line)];
            let start = self.text.len();
            self.args(site, args, &place);
            self.later_fields(record.process_number, site, args, start);
        }
        self.text.push('}');
        self.message = message;
    }
}

/// Microseconds with three digits of a fraction.
fn micros(out: &mut String, ns: u64, is_negative: bool) {
    use std::fmt::Write;
    let sign = if is_negative { "-" } else { "" };
    let _ = write!(out, "{sign}{}.{:03}", ns / 1000, ns % 1000);
}

impl<W: Write> Writer for ChromeWriter<W> {
    fn write(&mut self, record: &Record<'_>) -> Result<(), WriteError> {
        self.names(record);
        match record.what {
            What::Record { site, args, .. } => self.record(record, site, args),
            What::SpanEnd { site, site_number, .. } => self.span_end(record, site, site_number),
            What::Loss { .. } | What::Stall { .. } | What::Unknown { .. } => {
                if matches!(record.what, What::Loss { .. }) {
                    self.spans.lost(record);
                }
                self.message.clear();
                text::say(&mut self.renderer, &mut self.message, &record.what, record.thread);
                let message = std::mem::take(&mut self.message);
                self.begin(record, "i", &message, "silverpoint", record.wall_ns);
                self.text.push_str(",\"s\":\"t\"}");
                self.message = message;
            }
            What::ThreadName | What::ThreadEnd | What::Context | What::OtherControl { .. } => {}
        }
        Ok(self.text.relieve(&mut self.out)?)
    }

    fn finish(&mut self) -> io::Result<()> {
        if !self.begun {
            self.text.push_str("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
        }
        self.text.push_str("\n]}\n");
        self.text.end(&mut self.out)
    }
}
