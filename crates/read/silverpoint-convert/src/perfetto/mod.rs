//! Track events of Perfetto, as ui.perfetto.dev and its trace processor open them. Written only: `docs/formats.md` says what becomes what, and what is left out.

mod annotation;
mod names;
pub(crate) mod packet;
pub(crate) mod proto;
mod tracks;

use std::collections::HashMap;
use std::io::{self, Write};
use std::rc::Rc;

use silverpoint_query::tree::{Part, part};
use silverpoint_render::json::{Stack, push_plain};
use silverpoint_render::{Renderer, text};
use silverpoint_trace::{Site, What, cause_name};
use silverpoint_wire::level::Kind;
use silverpoint_wire::signature::Type;

use self::annotation::{Annotations, entry, interned, named, truth, unsigned};
use self::names::{Names, SiteNames};
use self::proto::Proto;
use self::tracks::{Tracks, hash, unit};
use crate::nesting::Nesting;
use crate::waiting::Waiting;
use crate::{Record, WriteError, Writer, atrace, document};

/// An async span: process, category, name and id.
type LaterKey = (usize, String, String, u64);

/// Async spans whose later fields are kept.
const LATER_MAX: usize = 1 << 16;

fn later_key(record: &Record<'_>, site: &Site, args: &[u8]) -> LaterKey {
    let description = &site.description;
    (record.process_number, description.category.clone(), description.template.clone(), id(args))
}

/// Fields of `TrackEvent`.
mod event {
    pub(super) const CATEGORY_IIDS: u32 = 3;
    pub(super) const DEBUG_ANNOTATIONS: u32 = 4;
    pub(super) const TYPE: u32 = 9;
    pub(super) const NAME_IID: u32 = 10;
    pub(super) const TRACK_UUID: u32 = 11;
    pub(super) const NAME: u32 = 23;
    pub(super) const COUNTER_VALUE: u32 = 30;
    pub(super) const SOURCE_LOCATION_IID: u32 = 34;
    pub(super) const DOUBLE_COUNTER_VALUE: u32 = 44;
    pub(super) const FLOW_IDS: u32 = 47;
    pub(super) const TERMINATING_FLOW_IDS: u32 = 48;

    pub(super) const SLICE_BEGIN: u64 = 1;
    pub(super) const SLICE_END: u64 = 2;
    pub(super) const INSTANT: u64 = 3;
    pub(super) const COUNTER: u64 = 4;
}

/// Writes one packet after the other.
pub struct PerfettoWriter<W> {
    out: W,
    /// Fields that async spans got after they had begun, as annotations. Their ends say them.
    later: HashMap<LaterKey, Vec<(String, Vec<u8>)>>,
    proto: Proto,
    /// Of the event that is being made.
    event: Proto,
    names: Names,
    tracks: Tracks,
    annotations: Annotations,
    renderer: Renderer,
    text: String,
    stack: Stack,
    begun: bool,
    /// Spans of threads that are open.
    spans: Nesting<(SpanName, SiteNames)>,
}

/// What a slice is called.
#[derive(Clone)]
enum SpanName {
    Interned,
    Text(Rc<str>),
}

impl<W: Write> PerfettoWriter<W> {
    /// Begins a trace.
    pub fn new(out: W) -> Self {
        Self {
            out,
            later: HashMap::new(),
            proto: Proto::default(),
            event: Proto::default(),
            names: Names::default(),
            tracks: Tracks::default(),
            annotations: Annotations::default(),
            renderer: Renderer::new(),
            text: String::new(),
            stack: Stack::default(),
            begun: false,
            spans: Nesting::default(),
        }
    }

    /// The first packets: time stamps are those of a clock that shows the time of day.
    fn begin(&mut self, ns: u64) {
        let packet = self.proto.begin(packet::PACKET);
        self.proto.number(packet::SEQUENCE, packet::THE_SEQUENCE);
        self.proto.number(packet::SEQUENCE_FLAGS, packet::BEGINS | packet::NEEDS);
        self.proto.number(packet::TIMESTAMP, ns);
        let snapshot = self.proto.begin(packet::CLOCK_SNAPSHOT);
        for clock in [packet::BOOTTIME, packet::REALTIME] {
            let open = self.proto.begin(1);
            self.proto.number(1, clock);
            self.proto.number(2, ns);
            self.proto.end(open);
        }
        self.proto.end(snapshot);
        self.proto.end(packet);
    }

    /// Begins an event.
    fn event(&mut self, sort: u64, track: u64) {
        self.event.bytes.clear();
        self.event.number(event::TYPE, sort);
        self.event.number(event::TRACK_UUID, track);
    }

    fn site(&mut self, names: SiteNames) {
        if names.category != 0 {
            self.event.number(event::CATEGORY_IIDS, names.category);
        }
        self.event.number(event::SOURCE_LOCATION_IID, names.location);
    }

    /// Writes the event as a packet, with the names that are new.
    fn packet(&mut self, ns: u64) -> Result<(), WriteError> {
        let start = self.proto.bytes.len();
        let packet = self.proto.begin(packet::PACKET);
        self.proto.number(packet::SEQUENCE, packet::THE_SEQUENCE);
        self.proto.number(packet::SEQUENCE_FLAGS, packet::NEEDS);
        self.proto.number(packet::TIMESTAMP, ns);
        if !self.names.new_ones().is_empty() {
            self.proto.bytes(packet::INTERNED_DATA, self.names.new_ones());
        }
        self.proto.bytes(packet::TRACK_EVENT, &self.event.bytes);
        if !self.proto.end(packet) {
            self.proto.bytes.truncate(start);
            return Err(WriteError::CannotHold("Perfetto holds no record of more than 256 MiB".into()));
        }
        self.names.written();
        Ok(())
    }

    /// An annotation that [`Proto::end`] ends.
    fn annotation(&mut self, name: &str) -> proto::Open {
        let open = self.event.begin(event::DEBUG_ANNOTATIONS);
        named(&mut self.event, &mut self.names, name);
        open
    }

    /// Level, arguments by name (those without by their number), context.
    fn arguments(&mut self, record: &Record<'_>, site: &Site, args: &[u8], truncated: bool) {
        let open = self.annotation("level");
        interned(&mut self.event, &mut self.names, site.level().name());
        self.event.end(open);
        if matches!(site.kind(), Kind::Log | Kind::Stream) {
            let open = self.annotation("template");
            interned(&mut self.event, &mut self.names, &site.description.template);
            self.event.end(open);
        }
        if document::is_exact(site, args) {
            let mut at = 0;
            for (index, ty) in site.types.iter().enumerate() {
                let open = match site.names.get(index) {
                    Some(name) => self.annotation(name),
                    None => self.annotation(itoa::Buffer::new().format(index)),
                };
                let end = self.annotations.value(&mut self.event, &mut self.names, ty, args, at);
                self.event.end(open);
                match end {
                    Ok(end) => at = end,
                    Err(_) => break,
                }
            }
        } else {
            self.raw(args);
        }
        if truncated {
            self.mark("truncated");
        }
        self.surroundings(record);
    }

    fn raw(&mut self, args: &[u8]) {
        let open = self.annotation("raw");
        self.text.clear();
        silverpoint_render::json::push_hex(&mut self.text, args);
        annotation::text(&mut self.event, &self.text);
        self.event.end(open);
    }

    fn mark(&mut self, name: &str) {
        let open = self.annotation(name);
        truth(&mut self.event, true);
        self.event.end(open);
    }

    fn count(&mut self, name: &str, value: u64) {
        let open = self.annotation(name);
        unsigned(&mut self.event, value);
        self.event.end(open);
    }

    /// What does not come from the site.
    fn surroundings(&mut self, record: &Record<'_>) {
        if record.is_backtrace {
            self.mark("backtrace");
        }
        if let Some(context) = record.context {
            let open = self.annotation("context");
            for (name, item) in context.fields() {
                let open = entry(&mut self.event, &mut self.names, name);
                self.annotations.item(&mut self.event, item);
                self.event.end(open);
            }
            self.event.end(open);
        }
    }

    fn record(&mut self, record: &Record<'_>, ns: u64, thread: u64) -> Result<(), WriteError> {
        let What::Record { site, site_number, args, truncated } = record.what else { return Ok(()) };
        let names = self.names.site(site_number, site);
        let named = atrace::named(site, args, &mut self.stack);
        let (site, args) = named.as_ref().map_or((site, args), |(site, args)| (site, *args));
        let kind = site.kind();
        let is_number = |ty: &Type| number(ty, &[0; 16]).is_some();
        if kind == Kind::Counter && site.types.iter().any(is_number) && document::is_exact(site, args) {
            return self.counter(record, ns, site, args, names);
        }
        if kind == Kind::Span {
            let name = match &named {
                Some((site, _)) => SpanName::Text(site.description.template.as_str().into()),
                None => SpanName::Interned,
            };
            self.spans.begin(record, site_number, (name, names));
        }
        let (sort, track) = match kind {
            Kind::Span => (event::SLICE_BEGIN, thread),
            Kind::AsyncBegin | Kind::AsyncInstant | Kind::AsyncEnd => {
                let id = id(args);
                let track = self.tracks.async_span(&mut self.proto, record, site, id, kind != Kind::AsyncEnd);
                let sort = match kind {
                    Kind::AsyncBegin => event::SLICE_BEGIN,
                    Kind::AsyncEnd => event::SLICE_END,
                    _ => event::INSTANT,
                };
                (sort, track)
            }
            _ => (event::INSTANT, thread),
        };
        self.keep_later_fields(record, site, args);
        self.event(sort, track);
        if matches!(kind, Kind::Log | Kind::Stream) {
            self.text.clear();
            text::say(&mut self.renderer, &mut self.text, &record.what, record.thread);
            self.event.bytes(event::NAME, self.text.as_bytes());
        } else if let Some(name) = atrace::on_track(site, args, &mut self.stack) {
            self.event.bytes(event::NAME, name.as_bytes());
        } else if named.is_some() {
            // One of very many: it is not remembered.
            self.event.bytes(event::NAME, site.description.template.as_bytes());
        } else {
            self.event.number(event::NAME_IID, names.name);
        }
        self.site(names);
        let flow = |id: u64| {
            let number = record.process_number as u64;
            hash(&[b"flow", &number.to_le_bytes(), site.description.template.as_bytes(), &id.to_le_bytes()])
        };
        match kind {
            Kind::FlowBegin | Kind::FlowStep => self.event.fixed(event::FLOW_IDS, flow(id(args))),
            Kind::FlowEnd => self.event.fixed(event::TERMINATING_FLOW_IDS, flow(id(args))),
            _ => {}
        }
        self.arguments(record, site, args, truncated);
        if kind == Kind::AsyncEnd
            && let Some(fields) = self.later.remove(&later_key(record, site, args))
        {
            fields.iter().for_each(|(_, annotation)| self.event.bytes.extend_from_slice(annotation));
        }
        self.packet(ns)
    }

    /// Keeps fields that an async span gets after it has begun, for its end.
    fn keep_later_fields(&mut self, record: &Record<'_>, site: &Site, args: &[u8]) {
        if !matches!(part(site, args), Some(Part::Fields(_))) || !document::is_exact(site, args) {
            return;
        }
        let key = later_key(record, site, args);
        if self.later.len() >= LATER_MAX && !self.later.contains_key(&key) {
            return;
        }
        let mut at = 0;
        for (index, ty) in site.types.iter().enumerate() {
            self.event.bytes.clear();
            let name = site.names.get(index).map_or("", String::as_str);
            let open = self.annotation(name);
            let end = self.annotations.value(&mut self.event, &mut self.names, ty, args, at);
            self.event.end(open);
            let Ok(end) = end else { break };
            at = end;
            // The first is the id.
            if index == 0 {
                continue;
            }
            let annotation = self.event.bytes.clone();
            let fields = self.later.entry(key.clone()).or_default();
            match fields.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => *known = annotation,
                None => fields.push((name.to_owned(), annotation)),
            }
        }
    }

    /// A counter whose arguments are as its signature says: each that is a number has a track.
    fn counter(
        &mut self,
        record: &Record<'_>,
        ns: u64,
        site: &Site,
        args: &[u8],
        names: SiteNames,
    ) -> Result<(), WriteError> {
        let mut at = 0;
        for (index, ty) in site.types.iter().enumerate() {
            self.text.clear();
            let end = push_plain(&mut self.text, &mut self.stack, ty, args, at);
            if let Some(value) = number(ty, &args[at..]) {
                let track = self.tracks.counter(&mut self.proto, record, site, index, unit(ty));
                self.event(event::COUNTER, track);
                self.site(names);
                match value {
                    Number::Whole(value) => self.event.number(event::COUNTER_VALUE, value.cast_unsigned()),
                    Number::Float(value) => self.event.double(event::DOUBLE_COUNTER_VALUE, value),
                }
                self.surroundings(record);
                self.packet(ns)?;
            }
            let Some(end) = end else { break };
            at = end;
        }
        Ok(())
    }

    fn span_end(&mut self, record: &Record<'_>, ns: u64, thread: u64) -> Result<(), WriteError> {
        let What::SpanEnd { site, site_number, .. } = record.what else { return Ok(()) };
        let end = self.spans.end(record, site_number);
        if end.is_moment {
            self.event(event::INSTANT, thread);
            let name = site.map_or("span", |site| &site.description.template);
            self.event.bytes(event::NAME, format!("{name} done").as_bytes());
            return self.packet(ns);
        }
        // It is shown in the thread of its begin.
        let thread = if end.tid == record.tid { thread } else { self.tracks.known_thread(record, end.tid) };
        for _ in 0..end.ends.len().max(1) {
            self.event(event::SLICE_END, thread);
            self.packet(ns)?;
        }
        for (name, names) in end.again {
            self.event(event::SLICE_BEGIN, thread);
            match name {
                SpanName::Interned => self.event.number(event::NAME_IID, names.name),
                SpanName::Text(name) => self.event.bytes(event::NAME, name.as_bytes()),
            }
            self.site(names);
            self.mark("continued");
            self.packet(ns)?;
        }
        Ok(())
    }

    /// A loss, a wait, a record that nobody describes.
    fn notice(&mut self, record: &Record<'_>, ns: u64, thread: u64) -> Result<(), WriteError> {
        self.event(event::INSTANT, thread);
        self.text.clear();
        text::say(&mut self.renderer, &mut self.text, &record.what, record.thread);
        self.event.bytes(event::NAME, self.text.as_bytes());
        let category = self.names.category("silverpoint");
        self.event.number(event::CATEGORY_IIDS, category);
        let cause = |writer: &mut Self, cause: u8| {
            let open = writer.annotation("cause");
            interned(&mut writer.event, &mut writer.names, cause_name(cause));
            writer.event.end(open);
        };
        match record.what {
            What::Loss { cause: why, count, span_ns } => {
                cause(self, why);
                self.count("count", count);
                self.count("span_ns", span_ns);
            }
            What::Stall { cause: why, duration_ns } => {
                cause(self, why);
                self.count("duration_ns", duration_ns);
            }
            What::Unknown { site_id, args } => {
                self.count("site", site_id.into());
                self.raw(args);
            }
            _ => {}
        }
        self.surroundings(record);
        self.packet(ns)
    }
}

/// The id of an async span or a flow; 0 where there is none.
fn id(args: &[u8]) -> u64 {
    args.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The value of a counter.
enum Number {
    Whole(i64),
    Float(f64),
}

/// The number that a value begins with; `None` of what is none.
fn number(ty: &Type, bytes: &[u8]) -> Option<Number> {
    Some(match ty.bare() {
        Type::Int { bits, signed } => {
            let size = usize::from(*bits) / 8;
            let mut wide = [0; 16];
            wide.get_mut(..size)?.copy_from_slice(bytes.get(..size)?);
            let unused = 128 - u32::from(*bits);
            let value = u128::from_le_bytes(wide) << unused;
            if *signed {
                let value = value.cast_signed() >> unused;
                i64::try_from(value).map_or(Number::Float(value as f64), Number::Whole)
            } else {
                let value = value >> unused;
                i64::try_from(value).map_or(Number::Float(value as f64), Number::Whole)
            }
        }
        Type::Duration => Number::Whole(i64::from_le_bytes(*bytes.first_chunk()?)),
        Type::Float32 => Number::Float(f32::from_le_bytes(*bytes.first_chunk()?).into()),
        Type::Float64 => Number::Float(f64::from_le_bytes(*bytes.first_chunk()?)),
        Type::Bool => Number::Whole((*bytes.first()?).into()),
        _ => return None,
    })
}

impl<W: Write> Writer for PerfettoWriter<W> {
    fn write(&mut self, record: &Record<'_>) -> Result<(), WriteError> {
        let Ok(ns) = u64::try_from(record.wall_ns) else {
            return Err(WriteError::CannotHold("Perfetto holds no record from before 1970".into()));
        };
        if !std::mem::replace(&mut self.begun, true) {
            self.begin(ns);
        }
        let thread = self.tracks.thread(&mut self.proto, record);
        match record.what {
            What::Record { .. } => self.record(record, ns, thread)?,
            What::SpanEnd { .. } => self.span_end(record, ns, thread)?,
            What::Loss { .. } | What::Stall { .. } | What::Unknown { .. } => {
                if matches!(record.what, What::Loss { .. }) {
                    self.spans.lost(record);
                }
                self.notice(record, ns, thread)?
            }
            What::ThreadName | What::ThreadEnd | What::Context | What::OtherControl { .. } => {}
        }
        Ok(self.proto.bytes.relieve(&mut self.out)?)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.proto.bytes.end(&mut self.out)
    }
}
