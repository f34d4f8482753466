//! One JSON object a line for each event.
//!
//! ```json
//! {"time":"2026-11-20T19:02:11.123456789Z","level":"info","process":"indexer","pid":4312,"tid":4313,"thread":"worker-2",
//!  "category":"net::tcp","file":"src/pump.cpp","line":88,"function":"Pump::start","kind":"log","template":"order {} at {:.2f}",
//!  "message":"order 7 at 3.14","args":[7,3.14159]}
//! ```
//!
//! `args` is an object when the arguments have names. `kind` is that of the site, or `span_end` (with `duration_ns`), `loss` (with `cause`, `count`),
//! `stall` (with `cause`, `duration_ns`), `unknown` (with `site`). `"truncated":true` where the program cut an argument, `"damaged":true` where the
//! arguments contradict the signature: those that cannot be read are null.
//!
//! `"backtrace":true` marks a record that was kept back until a worse one came.
//!
//! A record within a context ends with its fields, `"context":{"request":7}`; before it stand the texts `trace_id` and `span_id`, when these are among them.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};

use silverpoint_symbols::Symbols;
use silverpoint_trace::{Event, Record, Session, Site, Trace, What, cause_name};
use silverpoint_wire::json::{is_plain_string, push_string, push_string_inner};
use silverpoint_wire::value::{WalkError, walk};

use super::begin::{Begins, MESSAGE, push_begin};
use super::digits::push_number;
use super::value::{JsonVisitor, Stack};
use crate::ShowContext;
use crate::crash;
use crate::number;
use crate::render::Renderer;
use crate::text;
use crate::time::TimeText;

/// Fields of a context that stand in the object itself, too, where collectors of traces look for them.
const IDS: [(&str, &str); 2] = [("trace_id", ",\"trace_id\":"), ("span_id", ",\"span_id\":")];

/// What an object holds beyond the usual.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// `ticks`: the time in the session's own clock.
    pub ticks: bool,
}

/// Writes objects. Keeps what is the same for all records of a site or process, and room that is reused.
pub struct Writer {
    lines: Lines,
    /// By session number.
    processes: Vec<ProcessJson>,
    /// By site number.
    sites: Vec<SiteJson>,
}

/// Writes objects of anything that has the parts of a record. The caller keeps what all records of a site or
/// process share.
pub struct Lines {
    shows_ticks: bool,
    time: TimeText,
    renderer: Renderer,
    stack: Stack,
    message: String,
    /// Of the sites that were written last.
    begins: Begins,
    /// For the addresses of crashes.
    symbols: Symbols,
}

impl Default for Lines {
    fn default() -> Self {
        Self {
            shows_ticks: false,
            time: TimeText::rfc3339_utc(),
            renderer: Renderer::new(),
            stack: Stack::default(),
            message: String::new(),
            begins: Begins::default(),
            symbols: Symbols::new(),
        }
    }
}

/// `"process":…,"pid":…`.
#[derive(Clone, Debug)]
pub struct ProcessJson {
    pub(super) json: String,
    /// Unique.
    pub(super) number: u64,
}

impl ProcessJson {
    /// Of this process.
    pub fn new(name: &str, pid: u32) -> Self {
        let mut json = String::from("\"process\":");
        push_string(&mut json, name);
        json.push_str(",\"pid\":");
        json.push_str(itoa::Buffer::new().format(pid));
        Self { json, number: next_number() }
    }
}

/// `"category":… "template":…`, each with its keys.
#[derive(Clone, Debug)]
pub struct SiteJson {
    /// Category, file, line, function.
    pub(super) place: String,
    /// Kind and template.
    pub(super) kind: String,
    /// Unique.
    pub(super) number: u64,
}

impl Writer {
    /// A writer for one trace.
    pub fn new(options: Options, trace: &Trace) -> Self {
        let lines = Lines { shows_ticks: options.ticks, ..Lines::default() };
        let mut writer = Self { lines, processes: Vec::new(), sites: Vec::new() };
        writer.update(trace);
        writer
    }

    /// Adopts sites and sessions that are new in the trace.
    pub fn update(&mut self, trace: &Trace) {
        let process = |session: &Session| ProcessJson::new(&session.name, session.pid);
        self.processes = trace.sessions.iter().map(process).collect();
        self.sites = trace.sites.iter().map(SiteJson::new).collect();
    }

    /// Appends the object of an event and a newline. Names and ends of threads have none: then nothing is appended.
    pub fn line(&mut self, out: &mut String, event: &Event<'_>) {
        if !event.is_shown() {
            return;
        }
        let site = match event.what {
            What::Record { site_number, .. } => Some(site_number),
            What::SpanEnd { site_number, .. } => site_number,
            _ => None,
        };
        let site = site.and_then(|number| self.sites.get(number));
        self.lines.line(out, &event.record(), self.processes.get(event.session_number), site);
    }
}

impl Lines {
    /// Appends an object and a newline. `site` is that of a record or of a span's end.
    pub fn line(
        &mut self,
        out: &mut String,
        record: &Record<'_>,
        process: Option<&ProcessJson>,
        site: Option<&SiteJson>,
    ) {
        out.push_str("{\"time\":\"");
        self.time.push(out, record.wall_ns);
        out.push('"');
        if let Some(ticks) = record.ticks.filter(|_| self.shows_ticks) {
            key(out, "ticks", ticks);
        }
        match (record.what, process, site) {
            (What::Record { site: of, args, truncated, .. }, Some(process), Some(site)) => {
                self.begins.push(out, record, process, site);
                self.message(out, record);
                self.args(out, of, args, truncated);
            }
            _ => {
                push_begin(out, record, process);
                self.body(out, record, site);
            }
        }
        if record.is_backtrace {
            out.push_str(",\"backtrace\":true");
        }
        if let Some(context) = record.context {
            for (name, key) in IDS {
                if let Some(id) = context.text_of(name) {
                    out.push_str(key);
                    push_string(out, id);
                }
            }
            out.push_str(",\"context\":");
            out.push_str(context.json());
        }
        out.push_str("}\n");
    }

    fn body(&mut self, out: &mut String, record: &Record<'_>, json: Option<&SiteJson>) {
        match record.what {
            What::Record { site, args, truncated, .. } => {
                if let Some(json) = json {
                    out.push_str(&json.place);
                    out.push_str(&json.kind);
                }
                out.push_str(MESSAGE);
                self.message(out, record);
                return self.args(out, site, args, truncated);
            }
            What::SpanEnd { duration_ns, .. } => {
                if let Some(json) = json {
                    out.push_str(&json.place);
                }
                out.push_str(",\"kind\":\"span_end\",\"duration_ns\":");
                match duration_ns {
                    Some(ns) => out.push_str(itoa::Buffer::new().format(ns)),
                    None => out.push_str("null"),
                }
            }
            What::Loss { cause, count, .. } => {
                out.push_str(",\"kind\":\"loss\",\"cause\":");
                push_string(out, cause_name(cause));
                key(out, "count", count);
            }
            What::Stall { cause, duration_ns } => {
                out.push_str(",\"kind\":\"stall\",\"cause\":");
                push_string(out, cause_name(cause));
                key(out, "duration_ns", duration_ns);
            }
            What::Unknown { site_id, .. } => {
                out.push_str(",\"kind\":\"unknown\"");
                key(out, "site", u64::from(site_id));
            }
            What::ThreadName | What::ThreadEnd | What::Context | What::OtherControl { .. } => {}
        }
        out.push_str(MESSAGE);
        self.message(out, record);
    }

    /// Written in its place, and written again if something in it must be escaped.
    fn message(&mut self, out: &mut String, record: &Record<'_>) {
        out.push('"');
        let start = out.len();
        text::say(&mut self.renderer, out, &record.what, record.thread);
        if !is_plain_string(&out[start..]) {
            self.message.clear();
            self.message.push_str(&out[start..]);
            out.truncate(start);
            push_string_inner(out, &self.message);
        }
        out.push('"');
    }

    fn args(&mut self, out: &mut String, site: &Site, args: &[u8], truncated: bool) {
        out.push_str(",\"args\":");
        let damaged = push_args(out, &mut self.stack, site, args);
        out.push_str(if truncated { ",\"truncated\":true" } else { "" });
        out.push_str(if damaged { ",\"damaged\":true" } else { "" });
        if site.is_crash() {
            crash::push_json(out, &mut self.symbols, args);
        }
    }
}

/// Appends the arguments of a record: an object when they have names, else an array. True when not all could be read; those are null.
pub fn push_args(out: &mut String, stack: &mut Stack, site: &Site, args: &[u8]) -> bool {
    let named = !site.names.is_empty() || site.types.is_empty();
    out.push(if named { '{' } else { '[' });
    let mut at = Some(0);
    for (index, ty) in site.types.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        if let Some(name) = site.keys().get(index) {
            push_string(out, name);
            out.push(':');
        }
        if let Some((value, end)) = at.and_then(|at| number::read(ty, args, at)) {
            push_number(out, value);
            at = Some(end);
            continue;
        }
        let start = out.len();
        at = at.and_then(|at| {
            let mut visitor = JsonVisitor::new(out, stack);
            let walked: Result<usize, WalkError<Infallible>> = walk(ty, args, at, &mut visitor);
            walked.ok()
        });
        if at.is_none() {
            out.truncate(start);
            out.push_str("null");
        }
    }
    out.push(if named { '}' } else { ']' });
    at.is_none()
}

impl SiteJson {
    /// Of this site.
    pub fn new(site: &Site) -> Self {
        let description = &site.description;
        let mut place = String::from(",\"category\":");
        push_string(&mut place, &description.category);
        place.push_str(",\"file\":");
        push_string(&mut place, &description.file);
        key(&mut place, "line", u64::from(description.line));
        place.push_str(",\"function\":");
        push_string(&mut place, site.function());
        let mut kind = String::from(",\"kind\":");
        push_string(&mut kind, site.kind().name());
        kind.push_str(",\"template\":");
        push_string(&mut kind, &description.template);
        Self { place, kind, number: next_number() }
    }
}

/// The number of an object made here; a copy has the same contents and the same number.
fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

pub(super) fn key(out: &mut String, name: &str, value: u64) {
    out.push_str(",\"");
    out.push_str(name);
    out.push_str("\":");
    out.push_str(itoa::Buffer::new().format(value));
}
