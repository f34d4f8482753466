//! Records as elements.

use std::convert::Infallible;
use std::io::{self, Write};

use silverpoint_render::{Renderer, json::push_hex, push_uuid, text, time::TimeText};
use silverpoint_wire::value::{Sequence, Text, Visitor};

use crate::document;
use crate::heads::{Heads, SitePieces, argument, is_rest, plain};
use crate::waiting::Waiting;
use crate::{Record, WriteError, Writer};

type Done = Result<(), Infallible>;

/// Appends values as elements.
struct XmlVisitor<'o> {
    out: &'o mut String,
    /// Closing tags of the open elements.
    open: &'o mut Vec<&'static str>,
    name: &'o mut String,
    has_name: bool,
    time: &'o mut TimeText,
}

/// Whether XML 1.0 can have the text.
fn is_possible(text: &str) -> bool {
    text.chars().all(
        |c| !matches!(c, '\0'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}'),
    )
}

fn push_text(out: &mut String, text: &str) {
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escaped = match byte {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            // Parsers would make a space or a line break of them.
            b'\r' => "&#13;",
            b'\n' => "&#10;",
            b'\t' => "&#9;",
            _ => continue,
        };
        out.push_str(&text[from..at]);
        out.push_str(escaped);
        from = at + 1;
    }
    out.push_str(&text[from..]);
}

impl XmlVisitor<'_> {
    fn start(&mut self, tag: &str, more: &str) {
        self.out.push('<');
        self.out.push_str(tag);
        if std::mem::take(&mut self.has_name) {
            if is_possible(self.name) {
                self.out.push_str(" name=\"");
                push_text(self.out, self.name);
            } else {
                self.out.push_str(" hex-name=\"");
                push_hex(self.out, self.name.as_bytes());
            }
            self.out.push('"');
        }
        self.out.push_str(more);
        self.out.push('>');
    }

    fn element(&mut self, tag: &str, content: impl FnOnce(&mut String)) -> Done {
        self.start(tag, "");
        content(self.out);
        self.stop(tag);
        Ok(())
    }

    fn stop(&mut self, tag: &str) {
        self.out.push_str("</");
        self.out.push_str(tag);
        self.out.push('>');
    }

    fn put_text(&mut self, text: &str) -> Done {
        if is_possible(text) {
            return self.element("text", |out| push_text(out, text));
        }
        self.start("text", " hex=\"true\"");
        push_hex(self.out, text.as_bytes());
        self.stop("text");
        Ok(())
    }

    fn begin(&mut self, tag: &'static str) -> Done {
        self.start(tag, "");
        self.open.push(tag);
        Ok(())
    }

    fn float(&mut self, value: f64, shortest: impl FnOnce(&mut String)) -> Done {
        self.element("float", |out| match value {
            _ if value.is_nan() => out.push_str("nan"),
            _ if value.is_infinite() => out.push_str(if value > 0.0 { "inf" } else { "-inf" }),
            _ => shortest(out),
        })
    }
}

impl Visitor for XmlVisitor<'_> {
    type Error = Infallible;

    fn null(&mut self) -> Done {
        self.element("null", |_| ())
    }

    fn bool(&mut self, value: bool) -> Done {
        self.element("bool", |out| out.push_str(if value { "true" } else { "false" }))
    }

    fn i64(&mut self, value: i64) -> Done {
        self.element("int", |out| out.push_str(itoa::Buffer::new().format(value)))
    }

    fn u64(&mut self, value: u64) -> Done {
        self.element("int", |out| out.push_str(itoa::Buffer::new().format(value)))
    }

    fn i128(&mut self, value: i128) -> Done {
        self.element("int", |out| out.push_str(itoa::Buffer::new().format(value)))
    }

    fn u128(&mut self, value: u128) -> Done {
        self.element("int", |out| out.push_str(itoa::Buffer::new().format(value)))
    }

    fn f32(&mut self, value: f32) -> Done {
        self.float(value.into(), |out| silverpoint_render::json::push_f32(out, value))
    }

    fn f64(&mut self, value: f64) -> Done {
        self.float(value, |out| silverpoint_render::json::push_f64(out, value))
    }

    fn char(&mut self, value: char) -> Done {
        self.put_text(value.encode_utf8(&mut [0; 4]))
    }

    fn pointer(&mut self, value: u64) -> Done {
        self.u64(value)
    }

    fn text(&mut self, text: Text<'_>, _missing: u32) -> Done {
        self.put_text(&text.to_string_lossy())
    }

    fn bytes(&mut self, bytes: &[u8], _missing: u32) -> Done {
        self.element("bytes", |out| push_hex(out, bytes))
    }

    fn uuid(&mut self, uuid: [u8; 16]) -> Done {
        self.element("uuid", |out| push_uuid(out, &uuid))
    }

    fn time(&mut self, unix_ns: i64) -> Done {
        self.start("time", "");
        self.time.push(self.out, unix_ns);
        self.stop("time");
        Ok(())
    }

    fn duration(&mut self, ns: i64) -> Done {
        self.i64(ns)
    }

    fn any(&mut self, cbor: &[u8]) -> Done {
        self.bytes(cbor, 0)
    }

    fn none(&mut self) -> Done {
        self.null()
    }

    fn begin_sequence(&mut self, _kind: Sequence, _len: u32, _missing: u32) -> Done {
        self.begin("list")
    }

    fn begin_map(&mut self, _len: u32) -> Done {
        self.begin("list")
    }

    fn begin_record(&mut self, _name: &str, _fields: usize) -> Done {
        self.begin("record")
    }

    fn field(&mut self, name: &str) -> Done {
        self.name.clear();
        self.name.push_str(name);
        self.has_name = true;
        Ok(())
    }

    fn end(&mut self) -> Done {
        if let Some(tag) = self.open.pop() {
            self.stop(tag);
        }
        Ok(())
    }

    fn enumeration(&mut self, _name: &str, _label: Option<&str>, value: i64) -> Done {
        self.i64(value)
    }
}

/// Writes a document.
pub struct XmlWriter<W> {
    out: W,
    text: String,
    open: Vec<&'static str>,
    name: String,
    time: TimeText,
    renderer: Renderer,
    message: String,
    begun: bool,
    heads: Heads<String>,
}

impl<W: Write> XmlWriter<W> {
    /// Begins it.
    pub fn new(out: W) -> Self {
        Self {
            out,
            text: String::new(),
            open: Vec::new(),
            name: String::new(),
            time: TimeText::rfc3339_utc(),
            renderer: Renderer::new(),
            message: String::new(),
            begun: false,
            heads: Heads::default(),
        }
    }

    fn begin(&mut self) {
        if !std::mem::replace(&mut self.begun, true) {
            self.text.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<silverpoint version=\"1\">\n");
        }
    }
}

impl<W: Write> XmlWriter<W> {
    /// A record of known pieces; `None` and something unfinished where it is none.
    fn pieces(&mut self, record: &Record<'_>) -> Option<()> {
        let (site, number, args) = plain(record)?;
        let out = &mut self.text;
        out.push_str("<record><time name=\"time\">");
        self.time.push(out, record.wall_ns);
        out.push_str("</time>");
        if let Some(ticks) = record.ticks {
            out.push_str("<int name=\"ticks\">");
            out.push_str(itoa::Buffer::new().format(ticks));
            out.push_str("</int>");
        }
        out.push_str(self.heads.who(record, || members(|visitor| document::who(record, visitor))));
        let is_named = site.has_distinct_names();
        let pieces = self.heads.site(number, || SitePieces {
            place: members(|visitor| document::site(site, visitor)),
            before: vec![if is_named { "<record name=\"args\">" } else { "<list name=\"args\">" }.to_owned()],
            after: if is_named { "</record></record>\n" } else { "</list></record>\n" }.to_owned(),
        });
        out.push_str(&pieces.place);
        let mut visitor = XmlVisitor {
            out,
            open: &mut self.open,
            name: &mut self.name,
            has_name: false,
            time: &mut self.time,
        };
        if !self.message.is_empty() {
            let Ok(()) = visitor.field("message");
            let Ok(()) = visitor.put_text(&self.message);
        }
        visitor.out.push_str(pieces.before.first()?);
        let mut at = 0;
        for (index, ty) in site.types.iter().enumerate() {
            if let Some(name) = site.names.get(index).filter(|_| is_named) {
                let Ok(()) = visitor.field(name);
            }
            at = argument(ty, args, at, &mut visitor)?;
        }
        visitor.out.push_str(&pieces.after);
        is_rest(args, at).then_some(())
    }
}

/// Elements of a record.
fn members(visit: impl FnOnce(&mut XmlVisitor<'_>) -> Done) -> String {
    let (mut out, mut open, mut name, mut time) =
        (String::new(), Vec::new(), String::new(), TimeText::rfc3339_utc());
    let Ok(()) = visit(&mut XmlVisitor {
        out: &mut out,
        open: &mut open,
        name: &mut name,
        has_name: false,
        time: &mut time,
    });
    out
}

impl<W: Write> Writer for XmlWriter<W> {
    fn write(&mut self, record: &Record<'_>) -> Result<(), WriteError> {
        self.begin();
        self.message.clear();
        text::say(&mut self.renderer, &mut self.message, &record.what, record.thread);
        let begin = self.text.len();
        if self.pieces(record).is_none() {
            self.text.truncate(begin);
            self.open.clear();
            let mut visitor = XmlVisitor {
                out: &mut self.text,
                open: &mut self.open,
                name: &mut self.name,
                has_name: false,
                time: &mut self.time,
            };
            let Ok(()) = document::visit(record, &self.message, document::Options::default(), &mut visitor);
            self.text.push('\n');
        }
        Ok(self.text.relieve(&mut self.out)?)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.begin();
        self.text.push_str("</silverpoint>\n");
        self.text.end(&mut self.out)
    }
}
