//! OTLP (OpenTelemetry protocol): logs and spans, as lines of JSON in a file, or by HTTP to a collector. Written only: `docs/formats.md` says what becomes what.
//!
//! ```text
//! Record ─▶ log record, or a part of a span ─▶ batch by process and category ─▶ request ─▶ line, or POST /v1/logs and /v1/traces
//! ```
//!
//! A span is sent when it ends; what is open waits, bounded. Memory is that, two batches, and a description of each process and site.

mod attributes;
mod batch;
mod http;
mod message;
mod resolve;
mod spans;
mod value;

use std::convert::Infallible;
use std::io::{self, Write};

use silverpoint_query::tree::{Part, part};
use silverpoint_render::json::{Stack, push_plain};
use silverpoint_render::{Renderer, text};
use silverpoint_trace::{Site, What, cause_name};
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::value::{WalkError, walk};

use crate::begun::{Begin, Begun, nameable_ticks, thread};
use crate::{Interned, Record, WriteError, Writer, atrace, document};
use attributes::{arguments, arguments_from, fields, keys, who};
pub use batch::Signal;
use batch::{Batch, Resources, attributes};
pub use http::{Patience, Refused, Sender};
use message::{Binary, Json, Message, fragment, join};
use spans::{Ended, Ids, Key, Span, Spans, begin_of};
use value::Values;

/// The name of the format.
pub const OTLP: &str = "otlp";
/// The category of what Silverpoint itself says.
const OWN: &str = "silverpoint";

/// Takes requests.
pub trait Export {
    /// Takes one with so many records.
    ///
    /// # Errors
    /// When it cannot be delivered.
    fn export(&mut self, signal: Signal, request: &[u8], records: u64) -> io::Result<()>;

    /// Nothing follows.
    ///
    /// # Errors
    /// Those of the output.
    fn finish(&mut self) -> io::Result<()>;
}

/// Requests as lines of JSON.
struct Lines<W> {
    out: W,
}

impl<W: Write> Export for Lines<W> {
    fn export(&mut self, _: Signal, request: &[u8], _: u64) -> io::Result<()> {
        self.out.write_all(request)?;
        self.out.write_all(b"\n")
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes lines of JSON, each an `ExportLogsServiceRequest` or an `ExportTraceServiceRequest`.
pub fn json_lines<'w>(out: impl Write + 'w) -> Box<dyn Writer + 'w> {
    Box::new(OtlpWriter::<Json, _>::new(Lines { out }))
}

/// Gives requests as protocol buffers to `export`: over HTTP that is a [`Sender`].
pub fn protobuf<'e>(export: impl Export + 'e) -> Box<dyn Writer + 'e> {
    Box::new(OtlpWriter::<Binary, _>::new(export))
}

struct OtlpWriter<M, E> {
    export: E,
    logs: Batch,
    traces: Batch,
    resources: Resources,
    spans: Spans,
    /// Names of arguments as keys of attributes, each once, by site.
    keys: Interned<Vec<String>>,
    renderer: Renderer,
    stack: Stack,
    text: String,
    /// Time of the record at hand; the end of what never ended.
    now: u64,
    encoding: std::marker::PhantomData<M>,
}

/// Fields of `LogRecord`.
mod log {
    pub(super) const TIME: u32 = 1;
    pub(super) const SEVERITY_NUMBER: u32 = 2;
    pub(super) const SEVERITY_TEXT: u32 = 3;
    pub(super) const BODY: u32 = 5;
    pub(super) const ATTRIBUTES: u32 = 6;
    pub(super) const TRACE_ID: u32 = 9;
    pub(super) const SPAN_ID: u32 = 10;
    pub(super) const OBSERVED_TIME: u32 = 11;
    pub(super) const EVENT_NAME: u32 = 12;
}

/// Fields of `Span`, and its kind.
mod span {
    pub(super) const TRACE_ID: u32 = 1;
    pub(super) const SPAN_ID: u32 = 2;
    pub(super) const PARENT: u32 = 4;
    pub(super) const NAME: u32 = 5;
    pub(super) const KIND: u32 = 6;
    pub(super) const BEGIN: u32 = 7;
    pub(super) const END: u32 = 8;
    pub(super) const ATTRIBUTES: u32 = 9;
    pub(super) const EVENTS: u32 = 11;
    pub(super) const LINKS: u32 = 13;

    pub(super) const INTERNAL: u32 = 1;
}

/// Fields of `Span.Event`.
mod moment {
    pub(super) const TIME: u32 = 1;
    pub(super) const NAME: u32 = 2;
    pub(super) const ATTRIBUTES: u32 = 3;
}

/// Fields of `Span.Link`.
mod came_from {
    pub(super) const TRACE_ID: u32 = 1;
    pub(super) const SPAN_ID: u32 = 2;
}

/// What a log record says of itself.
struct Log<'a> {
    ids: Option<Ids>,
    level: Level,
    category: &'a str,
    event: Option<&'a str>,
    body: &'a str,
    attributes: Vec<u8>,
}

fn severity(level: Level) -> u32 {
    4 * level as u32 + 1
}

impl<M: Message, E: Export> OtlpWriter<M, E> {
    fn new(export: E) -> Self {
        Self {
            export,
            logs: Batch::new(Signal::Logs),
            traces: Batch::new(Signal::Traces),
            resources: Resources::default(),
            spans: Spans::default(),
            keys: Interned::default(),
            renderer: Renderer::new(),
            stack: Stack::default(),
            text: String::new(),
            now: 0,
            encoding: std::marker::PhantomData,
        }
    }

    /// Ids of the request that a record belongs to, as W3C Trace Context says them.
    fn stated(record: &Record<'_>) -> Option<Ids> {
        let context = record.context?;
        Ids::parse(context.text_of("trace_id")?, context.text_of("span_id")?)
    }

    /// Where a record belongs: to the innermost span of its thread, unless a request has begun within that.
    fn place(&mut self, record: &Record<'_>) -> Option<Ids> {
        let open = self.spans.innermost(thread(record)).map(|span| span.ids);
        match (Self::stated(record), open) {
            (Some(stated), Some(open)) if stated.trace != open.trace => Some(stated),
            (stated, open) => open.or(stated),
        }
    }

    /// Attributes of a record at a site: what is known of its place, its arguments, its context.
    fn attributes(
        &mut self,
        field: u32,
        record: &Record<'_>,
        site: &Site,
        number: usize,
        args: &[u8],
        with_arguments: bool,
    ) -> Vec<u8> {
        let keys: &Vec<String> = self.keys.get(number, || keys(site));
        let (truncated, backtrace) =
            (matches!(record.what, What::Record { truncated: true, .. }), record.is_backtrace);
        attributes::<M>(field, |message| {
            who(message, record);
            let description = &site.description;
            for (key, text) in
                [("code.file.path", &description.file), ("code.function.name", &description.function)]
            {
                if !text.is_empty() {
                    value::text(message, key, text);
                }
            }
            if description.line > 0 {
                value::int(message, "code.line.number", description.line.into());
            }
            match site.kind() {
                Kind::Log | Kind::Stream => {
                    value::text(message, "silverpoint.template", &description.template)
                }
                kind => value::text(message, "silverpoint.kind", kind.name()),
            }
            if truncated {
                value::flag(message, "silverpoint.truncated");
            }
            if backtrace {
                value::flag(message, "silverpoint.backtrace");
            }
            // An item that is broken half-way must not be half in the message.
            if !document::is_exact(site, args) {
                value::bytes(message, "silverpoint.raw", args);
            } else if with_arguments {
                arguments(message, site, args, keys);
            }
            if let Some(context) = record.context.filter(|_| with_arguments) {
                fields(message, context);
            }
        })
    }

    /// A span's arguments behind the first `skipped`, each as an item of its attributes.
    fn fields(&mut self, site: &Site, number: usize, args: &[u8], skipped: usize) -> Vec<(String, Vec<u8>)> {
        if !document::is_exact(site, args) {
            return Vec::new();
        }
        let keys: &Vec<String> = self.keys.get(number, || keys(site));
        let mut at = 0;
        let arguments = site.types.iter().zip(keys).enumerate().map(|(number, (ty, key))| {
            let item = attributes::<M>(span::ATTRIBUTES, |message| {
                value::attribute(message, key, |message| {
                    let walked: Result<usize, WalkError<Infallible>> =
                        walk(ty, args, at, &mut Values::new(message));
                    at = walked.unwrap_or(args.len());
                });
            });
            (number, key.clone(), item)
        });
        let wanted = arguments.filter(|(number, ..)| *number >= skipped);
        wanted.map(|(_, key, item)| (key, item)).collect()
    }

    fn log(&mut self, record: &Record<'_>, log: Log<'_>) {
        let ids = log.ids;
        let item = fragment::<M>(Signal::Logs.list().0, |message| {
            message.fixed64(log::TIME, "timeUnixNano", self.now);
            message.choice(log::SEVERITY_NUMBER, "severityNumber", severity(log.level));
            message.text(log::SEVERITY_TEXT, "severityText", log.level.name());
            message.begin(log::BODY, "body");
            value::string(message, log.body);
            message.end();
            message.items(log::ATTRIBUTES, "attributes", &log.attributes);
            if let Some(ids) = ids {
                message.id(log::TRACE_ID, "traceId", &ids.trace);
                message.id(log::SPAN_ID, "spanId", &ids.span);
            }
            message.fixed64(log::OBSERVED_TIME, "observedTimeUnixNano", self.now);
            if let Some(name) = log.event {
                message.text(log::EVENT_NAME, "eventName", name);
            }
        });
        self.logs.add(record.process_number, log.category, item);
    }

    /// A span, with its identity and its parent.
    fn begun(&mut self, record: &Record<'_>, site: &Site, number: usize, args: &[u8], more: &str) -> Span {
        let (category, name) = (&site.description.category, &site.description.template);
        let around = self.place(record);
        let order = self.spans.next();
        let own = Ids::of(&format!(
            "{} {} {} {} {category}:{name} {more} {order}",
            record.process, record.pid, record.tid, self.now
        ));
        let mut span = Span::new(own, record.process_number, number, category, name, self.now);
        span.put_into(around);
        span.attributes = self.attributes(span::ATTRIBUTES, record, site, number, args, false);
        span.fields = self.fields(site, number, args, 0);
        if let Some(context) = record.context {
            span.last_attributes =
                batch::attributes::<M>(span::ATTRIBUTES, |message| fields(message, context));
        }
        span
    }

    /// A span is complete, or is given up.
    fn ended(&mut self, span: Span, end_ns: u64, is_finished: bool) {
        let mut attributes = span.attributes;
        span.fields.iter().for_each(|(_, item)| join::<M>(&mut attributes, item));
        join::<M>(&mut attributes, &span.last_attributes);
        if !is_finished {
            let unfinished = batch::attributes::<M>(span::ATTRIBUTES, |message| {
                value::flag(message, "silverpoint.unfinished")
            });
            join::<M>(&mut attributes, &unfinished);
        }
        let item = fragment::<M>(Signal::Traces.list().0, |message| {
            message.id(span::TRACE_ID, "traceId", &span.ids.trace);
            message.id(span::SPAN_ID, "spanId", &span.ids.span);
            if let Some(parent) = span.parent {
                message.id(span::PARENT, "parentSpanId", &parent);
            }
            message.text(span::NAME, "name", &span.name);
            message.choice(span::KIND, "kind", span::INTERNAL);
            message.fixed64(span::BEGIN, "startTimeUnixNano", span.begin_ns);
            message.fixed64(span::END, "endTimeUnixNano", end_ns.max(span.begin_ns));
            message.items(span::ATTRIBUTES, "attributes", &attributes);
            message.items(span::EVENTS, "events", &span.events);
            message.items(span::LINKS, "links", &span.links);
        });
        self.traces.add(span.process, &span.category, item);
    }

    /// An event within a span.
    fn moment(&mut self, record: &Record<'_>, site: &Site, number: usize, args: &[u8]) -> Vec<u8> {
        let attributes = self.attributes(moment::ATTRIBUTES, record, site, number, args, true);
        fragment::<M>(span::EVENTS, |message| {
            message.fixed64(moment::TIME, "timeUnixNano", self.now);
            message.text(moment::NAME, "name", &site.description.template);
            message.items(moment::ATTRIBUTES, "attributes", &attributes);
        })
    }

    /// What joins the records of an async span.
    fn key(&mut self, record: &Record<'_>, site: &Site, args: &[u8]) -> Key {
        let mut id = String::new();
        if let Some(ty) = site.types.first() {
            let _ = push_plain(&mut id, &mut self.stack, ty, args, 0);
        }
        (record.process_number, site.description.category.clone(), site.description.template.clone(), id)
    }

    /// What a link says of a span that is open; false: it is not, or there is nothing to say of it.
    fn link(&mut self, process: usize, part: Part) -> bool {
        match part {
            Part::Parent { from, to } => {
                let around = self.spans.of_id(process, from).map(|span| span.ids);
                let Some(span) = self.spans.of_id(process, to) else { return false };
                if around.is_some() || from == 0 {
                    span.put_into(around);
                }
                around.is_some() || from == 0
            }
            Part::CameFrom { from, to } => {
                let Some(from) = self.spans.of_id(process, from).map(|span| span.ids) else { return false };
                let item = fragment::<M>(span::LINKS, |message| {
                    message.id(came_from::TRACE_ID, "traceId", &from.trace);
                    message.id(came_from::SPAN_ID, "spanId", &from.span);
                });
                self.spans.add_link(process, to, |links| join::<M>(links, &item))
            }
            _ => false,
        }
    }

    /// The attributes that the end of an async span adds: its arguments but the id.
    fn attributes_of_end(&mut self, site: &Site, number: usize, args: &[u8]) -> Vec<u8> {
        let keys: &Vec<String> = self.keys.get(number, || keys(site));
        if site.types.len() < 2 || !document::is_exact(site, args) {
            return Vec::new();
        }
        let keys: Vec<String> = keys.iter().map(|key| format!("end.{key}")).collect();
        attributes::<M>(span::ATTRIBUTES, |message| arguments_from(message, site, args, &keys, 1))
    }

    fn record(&mut self, record: &Record<'_>, site: &Site, number: usize, args: &[u8]) {
        let named = atrace::named(site, args, &mut self.stack);
        let (site, args) = named.as_ref().map_or((site, args), |(site, args)| (site, *args));
        let said = part(site, args);
        match site.kind() {
            Kind::Span => {
                if let Some(Part::Stretch(_)) = said {
                    let key = self.key(record, site, args);
                    if self.spans.enter(Begin::of(record), number, &key) {
                        return;
                    }
                }
                let span = self.begun(record, site, number, args, "");
                let begin = nameable_ticks(record, site)
                    .map(|ticks| begin_of(span.process, &span.category, &span.name, ticks));
                self.spans.begin(Begin::of(record), span, begin);
                return;
            }
            Kind::AsyncBegin => {
                let key = self.key(record, site, args);
                let span = self.begun(record, site, number, args, &key.3);
                if let Some(Part::Late(ticks)) = said {
                    let begin = begin_of(span.process, &span.category, &span.name, ticks);
                    self.spans.begin_late(key, begin, span);
                } else {
                    self.spans.begin_async(key, span);
                }
                return;
            }
            Kind::AsyncEnd => {
                let key = self.key(record, site, args);
                if let Some(mut span) = self.spans.end_async(&key) {
                    let more = self.attributes_of_end(site, number, args);
                    join::<M>(&mut span.last_attributes, &more);
                    let now = self.now;
                    self.ended(span, now, true);
                    return;
                }
            }
            Kind::Link if said.is_some_and(|said| self.link(record.process_number, said)) => return,
            Kind::AsyncInstant => {
                let key = self.key(record, site, args);
                if let Some(Part::Fields(_)) = said {
                    let fields = self.fields(site, number, args, 1);
                    if self.spans.add_fields(&key, fields) {
                        return;
                    }
                }
                if self.spans.of_key(&key).is_some() {
                    let item = self.moment(record, site, number, args);
                    self.spans.add_event(|spans| spans.of_key(&key), |events| join::<M>(events, &item));
                    return;
                }
            }
            Kind::Instant => {
                let thread = thread(record);
                if self.spans.innermost(thread).is_some() {
                    let item = self.moment(record, site, number, args);
                    self.spans.add_event(|spans| spans.innermost(thread), |events| join::<M>(events, &item));
                    return;
                }
            }
            _ => {}
        }
        let mut body = std::mem::take(&mut self.text);
        body.clear();
        let _ = self.renderer.message(&mut body, site, args);
        let attributes = self.attributes(log::ATTRIBUTES, record, site, number, args, true);
        let is_log = matches!(site.kind(), Kind::Log | Kind::Stream);
        let event = (!is_log).then_some(site.description.template.as_str());
        let category = &site.description.category;
        let ids = match said {
            Some(Part::Of(0)) => None,
            Some(Part::Of(id)) => self.spans.of_id(record.process_number, id).map(|span| span.ids),
            _ => self.place(record),
        };
        self.log(record, Log { ids, level: site.level(), category, event, body: &body, attributes });
        self.text = body;
    }

    /// The end of a span.
    fn end(&mut self, record: &Record<'_>, site: Option<(&Site, usize)>, duration_ns: Option<u64>) {
        let mut unfinished = Vec::new();
        let ended = site
            .map(|(_, number)| self.spans.end(thread(record), number, Begun::of(record), &mut unfinished));
        let now = self.now;
        for span in unfinished {
            self.ended(span, now, false);
        }
        match ended {
            Some(Ended::Span(span)) => return self.ended(*span, now, true),
            Some(Ended::Stretch) => return,
            Some(Ended::Unknown) | None => {}
        }
        // Its begin is not among the records.
        let begin_ns = now.saturating_sub(duration_ns.unwrap_or(0));
        let span = match site {
            Some((site, number)) => {
                let mut span = self.begun(record, site, number, &[], "end");
                span.attributes = attributes::<M>(span::ATTRIBUTES, |message| who(message, record));
                span.begin_ns = begin_ns;
                span
            }
            None => {
                let ids = Ids::of(&format!("{} {} {now} end", record.pid, record.tid));
                let mut span = Span::new(ids, record.process_number, 0, OWN, "span", begin_ns);
                span.attributes = attributes::<M>(span::ATTRIBUTES, |message| who(message, record));
                span
            }
        };
        self.ended(span, now, true);
    }

    /// What Silverpoint itself says: losses, waits, records of unknown sites.
    fn own(&mut self, record: &Record<'_>, event: &str, more: impl FnOnce(&mut M)) {
        let mut body = std::mem::take(&mut self.text);
        body.clear();
        text::say(&mut self.renderer, &mut body, &record.what, record.thread);
        let attributes = attributes::<M>(log::ATTRIBUTES, |message| {
            who(message, record);
            more(message);
        });
        let level = record.what.level();
        let ids = self.place(record);
        self.log(record, Log { ids, level, category: OWN, event: Some(event), body: &body, attributes });
        self.text = body;
    }

    fn send(&mut self, is_last: bool) -> io::Result<()> {
        for (signal, batch) in [(Signal::Logs, &mut self.logs), (Signal::Traces, &mut self.traces)] {
            if (is_last || batch.is_full())
                && let Some((request, records)) = batch.take::<M>(&mut self.resources)
            {
                self.export.export(signal, &request, records)?;
            }
        }
        Ok(())
    }
}

impl<M: Message, E: Export> Writer for OtlpWriter<M, E> {
    fn write(&mut self, record: &Record<'_>) -> Result<(), WriteError> {
        let Ok(now) = u64::try_from(record.wall_ns) else {
            return Err(WriteError::CannotHold("OTLP holds no record from before 1970".into()));
        };
        self.now = now;
        self.resources.know::<M>(record);
        match record.what {
            What::Record { site, site_number, args, .. } => self.record(record, site, site_number, args),
            What::SpanEnd { site, site_number, duration_ns, .. } => {
                self.end(record, site.zip(site_number), duration_ns);
            }
            What::Loss { cause, count, span_ns } => {
                self.spans.lost(thread(record));
                self.own(record, "silverpoint.loss", |message| {
                    value::text(message, "silverpoint.cause", cause_name(cause));
                    value::unsigned(message, "silverpoint.count", count);
                    value::unsigned(message, "silverpoint.span_ns", span_ns);
                });
            }
            What::Stall { cause, duration_ns } => self.own(record, "silverpoint.stall", |message| {
                value::text(message, "silverpoint.cause", cause_name(cause));
                value::unsigned(message, "silverpoint.duration_ns", duration_ns);
            }),
            What::Unknown { site_id, args } => self.own(record, "silverpoint.unknown", |message| {
                value::int(message, "silverpoint.site", site_id.into());
                value::bytes(message, "silverpoint.raw", args);
            }),
            What::ThreadName | What::ThreadEnd | What::Context | What::OtherControl { .. } => {}
        }
        while let Some(span) = self.spans.too_many() {
            self.ended(span, now, false);
        }
        Ok(self.send(false)?)
    }

    fn finish(&mut self) -> io::Result<()> {
        while let Some(span) = self.spans.oldest() {
            let now = self.now;
            self.ended(span, now, false);
            self.send(false)?;
        }
        self.send(true)?;
        self.export.finish()
    }
}
