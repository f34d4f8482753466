//! Records as JSON: the lines that `silverpoint cat --json` prints, or such as give everything back (`docs/formats.md`).

use std::convert::Infallible;
use std::io::{self, Write};

use silverpoint_render::json::{JsonVisitor, Lines, ProcessJson, SiteJson, Stack, push_string};
use silverpoint_render::{Renderer, text, time::TimeText};
use silverpoint_trace::What;
use silverpoint_wire::value::Visitor;

use crate::document;
use crate::fast::Json;
use crate::heads::{Heads, SitePieces, argument, is_rest, plain};
use crate::waiting::{FULL, Waiting};
use crate::{Interned, Record, WriteError, Writer};

/// How objects stand together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One a line.
    Lines,
    /// One array of all.
    Array,
}

/// See the module.
pub struct JsonWriter<W> {
    out: W,
    shape: Shape,
    is_lossless: bool,
    text: String,
    begun: bool,
    lines: Lines,
    sites: Interned<SiteJson>,
    processes: Interned<ProcessJson>,
    renderer: Renderer,
    message: String,
    stack: Stack,
    time: TimeText,
    heads: Heads<String>,
}

impl<W: Write> JsonWriter<W> {
    /// `is_lossless`: with signatures, and arguments in the exact form.
    pub fn new(out: W, shape: Shape, is_lossless: bool) -> Self {
        Self {
            out,
            shape,
            is_lossless,
            text: String::with_capacity(2 * FULL),
            begun: false,
            lines: Lines::default(),
            sites: Interned::default(),
            processes: Interned::default(),
            renderer: Renderer::new(),
            message: String::new(),
            stack: Stack::default(),
            time: TimeText::rfc3339_utc(),
            heads: Heads::default(),
        }
    }

    fn exact(&mut self, record: &Record<'_>) {
        self.message.clear();
        text::say(&mut self.renderer, &mut self.message, &record.what, record.thread);
        let begin = self.text.len();
        if self.pieces(record).is_some() {
            return;
        }
        self.text.truncate(begin);
        let mut visitor = JsonVisitor::new(&mut self.text, &mut self.stack);
        let done: Result<(), Infallible> =
            document::visit(record, &self.message, document::Options::default(), &mut visitor);
        match done {
            Ok(()) => self.text.push('\n'),
            Err(never) => match never {},
        }
    }

    /// A record of known pieces; `None` and something unfinished where it is none.
    fn pieces(&mut self, record: &Record<'_>) -> Option<()> {
        let (site, number, args) = plain(record)?;
        let out = &mut self.text;
        out.push_str("{\"time\":\"");
        self.time.push(out, record.wall_ns);
        out.push('"');
        if let Some(ticks) = record.ticks {
            out.push_str(",\"ticks\":");
            out.push_str(itoa::Buffer::new().format(ticks));
        }
        out.push_str(self.heads.who(record, || members(|visitor| document::who(record, visitor))));
        let pieces = self.heads.site(number, || {
            let place = members(|visitor| document::site(site, visitor));
            SitePieces::new::<Json>(site, place, |piece| String::from_utf8(piece).unwrap_or_default())
        });
        out.push_str(&pieces.place);
        if !self.message.is_empty() {
            out.push_str(",\"message\":");
            push_string(out, &self.message);
        }
        let mut at = 0;
        for (ty, before) in site.types.iter().zip(&pieces.before) {
            out.push_str(before);
            at = argument(ty, args, at, &mut JsonVisitor::new(out, &mut self.stack))?;
        }
        out.push_str(&pieces.after);
        out.push_str("}\n");
        is_rest(args, at).then_some(())
    }

    fn usual(&mut self, record: &Record<'_>) {
        let process =
            self.processes.get(record.process_number, || ProcessJson::new(record.process, record.pid));
        let site = match record.what {
            What::Record { site, site_number, .. } => Some((site, site_number)),
            What::SpanEnd { site: Some(site), site_number: Some(number), .. } => Some((site, number)),
            _ => None,
        };
        let site = site.map(|(site, number)| &*self.sites.get(number, || SiteJson::new(site)));
        self.lines.line(&mut self.text, record, Some(process), site);
    }
}

/// Members of an object, each with the comma before it.
fn members(visit: impl FnOnce(&mut JsonVisitor<'_>) -> Result<(), Infallible>) -> String {
    let (mut json, mut stack) = (String::new(), Stack::default());
    let mut visitor = JsonVisitor::new(&mut json, &mut stack);
    let done = visitor
        .begin_record("", 0)
        .and_then(|()| visitor.field("-"))
        .and_then(|()| visitor.null())
        .and_then(|()| visit(&mut visitor));
    match done {
        Ok(()) => json.split_off("{\"-\":null".len()),
        Err(never) => match never {},
    }
}

impl<W: Write> Writer for JsonWriter<W> {
    fn write(&mut self, record: &Record<'_>) -> Result<(), WriteError> {
        if self.shape == Shape::Array {
            self.text.push_str(if self.begun { "," } else { "[\n" });
        }
        self.begun = true;
        if self.is_lossless {
            self.exact(record);
        } else {
            self.usual(record);
        }
        Ok(self.text.relieve(&mut self.out)?)
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.shape == Shape::Array {
            self.text.push_str(if self.begun { "]\n" } else { "[]\n" });
        }
        self.text.end(&mut self.out)
    }
}
