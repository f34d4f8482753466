//! Records as they are handed out: nothing borrowed, all texts in one place.

use std::collections::HashMap;

use silverpoint_render::{Renderer, text};
use silverpoint_trace::{Event, Trace, What, cause_name};

use crate::tree::{End, Node, NodeKind, Room, Span};

/// Bytes of a batch beyond which no more records are added.
pub const BATCH_BYTES: usize = 16 << 20;

/// What a record is, beyond what sites can be (0 to 12: `spec/wire.md`, section 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RowKind {
    /// A span has ended.
    SpanEnd = 32,
    /// Records were not recorded.
    Loss = 33,
    /// A thread waited for room.
    Stall = 34,
    /// A record of a site that nothing describes.
    Unknown = 35,
}

/// One record.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row {
    /// Its number.
    pub number: u64,
    /// Nanoseconds since 1970-01-01T00:00Z.
    pub wall_ns: i64,
    /// How long a span or a wait took.
    pub duration_ns: Option<u64>,
    /// 0 trace to 5 fatal.
    pub level: u8,
    /// Of its site (`spec/wire.md`, section 7), or a [`RowKind`].
    pub kind: u8,
    /// Process id.
    pub pid: u32,
    /// The kernel's number of the thread.
    pub tid: u32,
    /// 0: not known.
    pub line: u32,
    /// Something of it was cut by the program.
    pub is_truncated: bool,
    /// It was kept back until something happened that it helps to explain.
    pub is_backtrace: bool,
    /// Name of the process.
    pub process: Span,
    /// Name of the thread; may be empty.
    pub thread: Span,
    /// Of its site, as the following; may be empty.
    pub category: Span,
    /// Path of the source file.
    pub file: Span,
    /// Qualified name.
    pub function: Span,
    /// The template, or an event's name.
    pub template: Span,
    /// What it says.
    pub message: Span,
    /// The first of its nodes: those of arguments, then those of the fields of the scopes that the thread was in.
    pub nodes: usize,
    /// Arguments.
    pub arguments: u32,
    /// Fields.
    pub fields: u32,
}

/// Texts that many records have in common, once.
#[derive(Clone, Copy, Debug)]
struct SiteTexts {
    category: Span,
    file: Span,
    function: Span,
    template: Span,
}

/// Records that were read together. Filled again, it uses its room again.
#[derive(Debug, Default)]
pub struct Batch {
    rows: Vec<Row>,
    room: Room,
    sites: HashMap<usize, SiteTexts>,
    processes: HashMap<usize, Span>,
    /// By process and thread: the last name.
    threads: HashMap<(usize, u32), Span>,
    renderer: Renderer,
    message: String,
}

impl Batch {
    /// The records.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The values of all records.
    pub fn nodes(&self) -> &[Node] {
        &self.room.nodes
    }

    /// A text.
    pub fn text(&self, span: Span) -> &str {
        std::str::from_utf8(self.bytes(span)).unwrap_or_default()
    }

    /// Bytes.
    pub fn bytes(&self, span: Span) -> &[u8] {
        self.room.text.get(span.begin..).and_then(|from| from.get(..span.size)).unwrap_or_default()
    }

    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.room.clear();
        self.sites.clear();
        self.processes.clear();
        self.threads.clear();
    }

    /// Whether no more should be added.
    pub(crate) fn is_full(&self) -> bool {
        self.room.text.len() + self.room.nodes.len() * size_of::<Node>() >= BATCH_BYTES
    }

    /// Adds a record.
    pub(crate) fn add(&mut self, trace: &Trace, number: u64, event: &Event<'_>) {
        let mut row = Row {
            number,
            wall_ns: event.wall_ns,
            level: event.what.level() as u8,
            pid: event.session.pid,
            tid: event.tid,
            is_backtrace: event.is_backtrace,
            nodes: self.room.nodes.len(),
            ..Row::default()
        };
        let process = self.processes.get(&event.session_number).copied();
        row.process = process.unwrap_or_else(|| {
            let kept = self.room.keep(event.session.name.as_bytes());
            self.processes.insert(event.session_number, kept);
            kept
        });
        row.thread = self.thread((event.session_number, event.tid), event.thread_name);
        let end = self.room.end(event.raw.len());
        match event.what {
            What::Record { site_number, args, truncated, site } => {
                (row.kind, row.is_truncated) = (site.kind() as u8, truncated);
                self.site(&mut row, trace, site_number);
                self.arguments(&mut row, trace, site_number, args, end);
            }
            What::SpanEnd { site_number, duration_ns, .. } => {
                (row.kind, row.duration_ns) = (RowKind::SpanEnd as u8, duration_ns);
                if let Some(site_number) = site_number {
                    self.site(&mut row, trace, site_number);
                }
            }
            What::Loss { cause, count, span_ns } => {
                row.kind = RowKind::Loss as u8;
                self.number("count", count);
                self.number("span_ns", span_ns);
                self.cause(cause);
                row.arguments = 3;
            }
            What::Stall { cause, duration_ns } => {
                (row.kind, row.duration_ns) = (RowKind::Stall as u8, Some(duration_ns));
                self.cause(cause);
                row.arguments = 1;
            }
            What::Unknown { site_id, .. } => {
                row.kind = RowKind::Unknown as u8;
                self.number("site", u64::from(site_id));
                row.arguments = 1;
            }
            What::ThreadName | What::ThreadEnd | What::Context | What::OtherControl { .. } => return,
        }
        for (name, item) in event.context.iter().flat_map(|context| context.fields()) {
            self.room.item(name, item, end);
            row.fields += 1;
        }
        self.message.clear();
        text::say(&mut self.renderer, &mut self.message, &event.what, event.thread_name);
        row.message = self.room.keep(self.message.as_bytes());
        self.rows.push(row);
    }

    fn arguments(&mut self, row: &mut Row, trace: &Trace, site: usize, args: &[u8], end: End) {
        let Some(site) = trace.sites.get(site) else { return };
        let mut at = Some(0);
        for (index, ty) in site.types.iter().enumerate() {
            let name = site.names.get(index).map_or("", String::as_str);
            at = self.room.argument(name, ty, args, at, end);
            row.arguments += 1;
        }
    }

    fn site(&mut self, row: &mut Row, trace: &Trace, number: usize) {
        let Some(site) = trace.sites.get(number) else { return };
        let known = self.sites.get(&number).copied();
        let texts = known.unwrap_or_else(|| {
            let texts = SiteTexts {
                category: self.room.keep(site.description.category.as_bytes()),
                file: self.room.keep(site.description.file.as_bytes()),
                function: self.room.keep(site.function().as_bytes()),
                template: self.room.keep(site.description.template.as_bytes()),
            };
            self.sites.insert(number, texts);
            texts
        });
        row.line = site.description.line;
        (row.category, row.file) = (texts.category, texts.file);
        (row.function, row.template) = (texts.function, texts.template);
    }

    fn thread(&mut self, key: (usize, u32), name: &str) -> Span {
        if let Some(known) = self.threads.get(&key)
            && self.text(*known) == name
        {
            return *known;
        }
        let kept = self.room.keep(name.as_bytes());
        self.threads.insert(key, kept);
        kept
    }

    fn number(&mut self, name: &str, value: u64) {
        let (name, text) = (self.room.keep(name.as_bytes()), self.room.keep(value.to_string().as_bytes()));
        self.room.nodes.push(Node {
            kind: NodeKind::Uint,
            name,
            text,
            bits: value,
            size: 1,
            ..Node::default()
        });
    }

    fn cause(&mut self, cause: u8) {
        let (name, text) = (self.room.keep(b"cause"), self.room.keep(cause_name(cause).as_bytes()));
        self.room.nodes.push(Node { kind: NodeKind::Text, name, text, size: 1, ..Node::default() });
    }
}
