//! Values as text: a visitor that appends to a `String`, by `spec/templates.md`.

mod cut;
mod looked;
mod stack;
mod uuid;

use std::convert::Infallible;

use silverpoint_trace::{cbor, escape};
use silverpoint_wire::value::{Sequence, Text, Visitor};

pub(crate) use self::cut::push_missing;
use self::cut::{SHORT_CHARACTERS, shortened};
pub use self::stack::Stack;
use self::stack::{Container, Frame, SHORT_ELEMENTS};
pub use self::uuid::push_uuid;
use super::look::Look;
use super::qdebug;
use crate::format::{self, Align, Spec};
use crate::marks::SECRET;
use crate::time;

/// Whether text that stands alone (not inside a container) is quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quoting {
    /// Never: arguments of a template.
    Never,
    /// When it holds spaces, quotes, `=` or nothing: `key=value` of events.
    WhenAmbiguous,
    /// Always: what a stream of Qt's does with its texts.
    Always,
}

/// How values look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// As spec/templates.md says: `[1, 2]`, `{"a": 1}`, `Point{x: 1, y: 2}`.
    #[default]
    Plain,
    /// As Qt's debug stream writes them: `(1, 2)`, `(("a", 1))`, `Point(1,2)`, six digits of a number, texts of a stream in quotes.
    QDebug,
    /// As [`Dialect::Plain`], but short: the first 4 elements of a container, the first 60 characters of a text, and how much there is besides.
    Summary,
}

/// Bytes of a value's text after which names from its signature are not written any more. Names are repeated
/// for each element, and a few bytes may be very many elements.
const NAMES_END: usize = 16 << 20;

/// Appends one value (an argument) to `out`. The specification applies to the value, or to every element of a container.
pub struct TextVisitor<'o> {
    out: &'o mut String,
    spec: Spec,
    quoting: Quoting,
    /// The open containers. A signature nests 32 deep, an item of CBOR inside it as much again.
    stack: &'o mut Stack,
    /// The outermost sequence holds the pieces of a stream.
    pieces: bool,
    dialect: Dialect,
    /// The value that is being written has a look: what follows it, and whether its text is quoted.
    look: Option<(Look, bool)>,
    /// Where in the output names are not written any more.
    names_end: usize,
}

type Done = Result<(), Infallible>;

impl<'o> TextVisitor<'o> {
    /// A visitor for one argument.
    #[inline]
    pub fn new(out: &'o mut String, stack: &'o mut Stack, spec: Spec, quoting: Quoting) -> Self {
        stack.frames.clear();
        stack.marks.clear();
        stack.looks.clear();
        let names_end = out.len().saturating_add(NAMES_END);
        Self { out, spec, quoting, stack, pieces: false, dialect: Dialect::Plain, look: None, names_end }
    }

    /// Writes values as another dialect does.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Takes the outermost sequence for the pieces of a stream.
    pub(super) fn pieces(mut self) -> Self {
        self.pieces = true;
        self
    }

    /// Containers that are open and shown as such.
    fn nesting(&self) -> usize {
        self.depth() - usize::from(self.pieces && self.depth() > 0)
    }

    /// Containers that are open.
    #[inline]
    fn depth(&self) -> usize {
        self.stack.frames.len()
    }

    /// A name that the signature gives, or a mark in its place.
    #[inline]
    fn name<'n>(&self, name: &'n str) -> &'n str {
        if self.out.len() < self.names_end { name } else { "…" }
    }

    /// Writes the separator between values, and what precedes a value.
    #[inline]
    fn before_value(&mut self) {
        self.before_container();
        if !self.stack.marks.is_empty() {
            self.begin_look();
        }
    }

    /// Writes the separator between values.
    #[inline]
    fn before_container(&mut self) {
        if !self.stack.frames.is_empty() {
            self.separate();
        }
        if !self.stack.marks.is_empty() {
            let depth = self.depth();
            self.stack.marks.begin(depth, self.out.len());
        }
    }

    /// Writes what follows a value.
    #[inline]
    fn after_value(&mut self) -> Done {
        if !self.stack.marks.is_empty() {
            if let Some((look, _)) = self.look.take() {
                self.end_look(look);
            }
            self.close_marks(true);
        }
        Ok(())
    }

    #[cold]
    fn close_marks(&mut self, units: bool) {
        let depth = self.depth();
        self.stack.marks.close(self.out, depth, units, SECRET);
    }

    /// Writes the names of the bits of a value of flags, unless another presentation is asked for.
    #[cold]
    fn push_flags(&mut self, value: u64) -> bool {
        if matches!(self.spec.ty, b'b' | b'B' | b'd' | b'o' | b'x' | b'X') {
            return false;
        }
        let Some(names) = self.stack.marks.flags(self.depth(), value) else { return false };
        self.before_value();
        let spec = Spec { ty: 0, ..self.spec };
        format::text(self.out, &names, &spec);
        self.close_marks(true);
        true
    }

    fn separate(&mut self) {
        let Some(frame) = self.stack.frames.last_mut() else { return };
        let is_qdebug = self.dialect == Dialect::QDebug;
        match frame.kind {
            Container::Record => return,
            Container::Looked | Container::LookedMap => return self.separate_look(),
            Container::Map if frame.value_next => {
                frame.value_next = false;
                self.out.push_str(if is_qdebug { ", " } else { ": " });
                return;
            }
            Container::Map => {
                frame.value_next = true;
                if is_qdebug {
                    self.out.push_str(if frame.begun { ")(" } else { "(" });
                    frame.begun = true;
                    return;
                }
            }
            Container::Pieces => {
                if frame.begun {
                    self.out.push(' ');
                }
                frame.begun = true;
                return;
            }
            Container::List | Container::Set | Container::Tuple => {}
        }
        if self.dialect == Dialect::Summary {
            frame.element(self.out.len());
        }
        if frame.begun {
            self.out.push_str(", ");
        }
        frame.begun = true;
    }

    /// A number's fraction, as this dialect shows it when nothing else is asked for.
    #[inline]
    fn float_spec(&self) -> Spec {
        if self.dialect != Dialect::Plain && self.spec.ty == 0 && self.spec.precision.is_none() {
            return Spec { ty: b'g', precision: Some(6), ..self.spec };
        }
        self.spec
    }

    /// A number's specification: hexadecimal when metadata says so and nothing else was asked for.
    #[inline]
    fn number_spec(&self) -> Spec {
        if self.spec.ty == 0 && !self.stack.marks.is_empty() && self.stack.marks.hex() {
            return Spec { ty: b'x', alternate: true, ..self.spec };
        }
        self.spec
    }

    fn begin(&mut self, kind: Container, missing: u32) {
        let frame = Frame { kind, begun: false, value_next: false, missing, count: 0, short_end: None };
        self.stack.frames.push(frame);
    }

    /// Text that is already made, as a value: filled to the width.
    fn word(&mut self, start: usize) {
        let columns = format::columns(&self.out[start..]);
        format::pad_written(self.out, start, columns, &self.spec, Align::Left);
    }

    /// Whether text stands in quotes here.
    fn is_quoted(&self, text: &str) -> bool {
        match (&self.look, self.nesting(), self.quoting) {
            (Some((_, is_quoted)), _, _) => *is_quoted,
            (None, 0, Quoting::Never) => false,
            (None, 0, Quoting::WhenAmbiguous) => escape::needs_quotes(text),
            (None, 0, Quoting::Always) => !self.pieces,
            _ => true,
        }
    }

    fn push_text(&mut self, text: &str) -> u32 {
        let (text, cut) = match self.dialect {
            Dialect::Summary => shortened(text),
            _ => (text, 0),
        };
        let quoted = self.is_quoted(text);
        let spec = self.spec;
        if quoted {
            format::text(self.out, text, &Spec { ty: b'?', ..spec });
        } else if spec.is_default() {
            escape::push_escaped(self.out, text);
        } else {
            format::text(self.out, text, &spec);
        }
        cut
    }
}

impl Visitor for TextVisitor<'_> {
    type Error = Infallible;

    fn null(&mut self) -> Done {
        self.before_value();
        let start = self.out.len();
        self.out.push_str("null");
        self.word(start);
        if !self.stack.marks.is_empty() {
            self.close_marks(false);
        }
        Ok(())
    }

    fn bool(&mut self, value: bool) -> Done {
        self.before_value();
        format::boolean(self.out, value, &self.spec);
        self.after_value()
    }

    #[inline]
    fn i64(&mut self, value: i64) -> Done {
        if !self.stack.marks.is_empty() && self.push_flags(value as u64) {
            return Ok(());
        }
        self.before_value();
        let spec = self.number_spec();
        format::signed(self.out, value, &spec);
        self.after_value()
    }

    #[inline]
    fn u64(&mut self, value: u64) -> Done {
        if !self.stack.marks.is_empty() && self.push_flags(value) {
            return Ok(());
        }
        self.before_value();
        let spec = self.number_spec();
        format::unsigned(self.out, value, &spec);
        self.after_value()
    }

    fn i128(&mut self, value: i128) -> Done {
        self.before_value();
        let spec = self.number_spec();
        format::integer(self.out, value < 0, value.unsigned_abs(), &spec);
        self.after_value()
    }

    fn u128(&mut self, value: u128) -> Done {
        self.before_value();
        let spec = self.number_spec();
        format::integer(self.out, false, value, &spec);
        self.after_value()
    }

    #[inline]
    fn f32(&mut self, value: f32) -> Done {
        if self.dialect == Dialect::QDebug {
            // Within six digits, those of the f64 are the same.
            return self.f64(f64::from(value));
        }
        self.before_value();
        let spec = self.float_spec();
        format::float32(self.out, value, &spec);
        self.after_value()
    }

    #[inline]
    fn f64(&mut self, value: f64) -> Done {
        self.before_value();
        let spec = self.float_spec();
        let value = match self.dialect {
            Dialect::QDebug if self.spec.ty == 0 && self.spec.precision.is_none() => {
                format::rounding_away(value, &spec)
            }
            _ => value,
        };
        format::float64(self.out, value, &spec);
        self.after_value()
    }

    fn char(&mut self, value: char) -> Done {
        self.before_value();
        let is_quoted = match &self.look {
            Some((_, is_quoted)) => *is_quoted,
            None => self.nesting() > 0 || self.quoting == Quoting::Always,
        };
        if is_quoted && self.dialect == Dialect::QDebug && self.spec.is_default() {
            qdebug::push_char(self.out, value);
            return self.after_value();
        }
        let spec = match (is_quoted, self.spec.ty) {
            (true, 0 | b'c' | b's') => Spec { ty: b'?', ..self.spec },
            _ => self.spec,
        };
        format::character(self.out, value, &spec);
        self.after_value()
    }

    fn pointer(&mut self, value: u64) -> Done {
        self.before_value();
        format::pointer(self.out, value, &self.spec);
        self.after_value()
    }

    fn text(&mut self, text: Text<'_>, missing: u32) -> Done {
        self.before_value();
        if self.dialect == Dialect::QDebug && self.spec.is_default() && self.is_quoted("") {
            qdebug::push_text(self.out, text);
            push_missing(self.out, missing);
            return self.after_value();
        }
        let cut = self.push_text(&text.to_string_lossy());
        push_missing(self.out, missing.saturating_add(cut));
        self.after_value()
    }

    fn bytes(&mut self, bytes: &[u8], missing: u32) -> Done {
        self.before_value();
        let start = self.out.len();
        let shown = match self.dialect {
            Dialect::Summary => bytes.get(..SHORT_CHARACTERS / 2).unwrap_or(bytes),
            _ => bytes,
        };
        if let Some((_, false)) = self.look {
            escape::push_escaped(self.out, &String::from_utf8_lossy(bytes));
        } else if self.dialect == Dialect::QDebug {
            qdebug::push_bytes(self.out, bytes);
        } else {
            self.out.push_str("0x");
            crate::json::push_hex(self.out, shown);
        }
        self.word(start);
        push_missing(self.out, missing.saturating_add((bytes.len() - shown.len()) as u32));
        self.after_value()
    }

    fn uuid(&mut self, uuid: [u8; 16]) -> Done {
        self.before_value();
        let start = self.out.len();
        if self.dialect == Dialect::QDebug {
            self.out.push_str("QUuid({");
            push_uuid(self.out, &uuid);
            self.out.push_str("})");
        } else {
            push_uuid(self.out, &uuid);
        }
        self.word(start);
        self.after_value()
    }

    fn time(&mut self, unix_ns: i64) -> Done {
        self.before_value();
        let start = self.out.len();
        if self.dialect == Dialect::QDebug {
            qdebug::push_time(self.out, unix_ns);
        } else {
            time::TimeText::rfc3339_utc().push(self.out, unix_ns);
        }
        self.word(start);
        self.after_value()
    }

    fn duration(&mut self, ns: i64) -> Done {
        self.before_value();
        let start = self.out.len();
        time::push_exact_duration(self.out, ns);
        self.word(start);
        self.after_value()
    }

    fn any(&mut self, item: &[u8]) -> Done {
        if cbor::check(item).is_ok() {
            return match cbor::visit(item, self) {
                Ok(()) | Err(cbor::Error::Malformed(_)) => Ok(()),
                Err(cbor::Error::Visitor(never)) => match never {},
            };
        }
        self.before_value();
        self.out.push_str("<malformed CBOR 0x");
        crate::json::push_hex(self.out, item);
        self.out.push('>');
        self.after_value()
    }

    fn none(&mut self) -> Done {
        self.before_value();
        let start = self.out.len();
        self.out.push_str("none");
        self.word(start);
        if !self.stack.marks.is_empty() {
            self.close_marks(false);
        }
        Ok(())
    }

    fn begin_sequence(&mut self, kind: Sequence, _len: u32, missing: u32) -> Done {
        if self.pieces && self.depth() == 0 {
            self.begin(Container::Pieces, 0);
            return Ok(());
        }
        self.before_container();
        if self.begin_looked(false, missing) {
            return Ok(());
        }
        let is_qdebug = self.dialect == Dialect::QDebug;
        let (mark, kind) = match kind {
            Sequence::List => ('[', Container::List),
            Sequence::Set => ('{', Container::Set),
            Sequence::Tuple => ('(', Container::Tuple),
        };
        self.out.push(if is_qdebug { '(' } else { mark });
        self.begin(kind, missing);
        Ok(())
    }

    fn begin_map(&mut self, _len: u32) -> Done {
        self.before_container();
        if self.begin_looked(true, 0) {
            return Ok(());
        }
        self.out.push(if self.dialect == Dialect::QDebug { '(' } else { '{' });
        self.begin(Container::Map, 0);
        Ok(())
    }

    fn begin_record(&mut self, name: &str, _fields: usize) -> Done {
        self.before_container();
        if self.begin_looked(false, 0) {
            return Ok(());
        }
        let name = self.name(name);
        escape::push_escaped(self.out, name);
        self.out.push(if self.dialect == Dialect::QDebug { '(' } else { '{' });
        self.begin(Container::Record, 0);
        Ok(())
    }

    fn field(&mut self, name: &str) -> Done {
        let is_qdebug = self.dialect == Dialect::QDebug;
        if let Some(frame) = self.stack.frames.last_mut() {
            if frame.kind == Container::Looked {
                return Ok(());
            }
            if self.dialect == Dialect::Summary {
                frame.element(self.out.len());
            }
            if frame.begun {
                self.out.push_str(if is_qdebug { "," } else { ", " });
            }
            frame.begun = true;
        }
        if !is_qdebug {
            let name = self.name(name);
            escape::push_escaped(self.out, name);
            self.out.push_str(": ");
        }
        Ok(())
    }

    fn end(&mut self) -> Done {
        let Some(mut frame) = self.stack.frames.pop() else { return Ok(()) };
        if let Some(end) = frame.short_end {
            self.out.truncate(end);
            frame.missing = frame.missing.saturating_add(frame.count - SHORT_ELEMENTS);
        }
        if matches!(frame.kind, Container::Looked | Container::LookedMap) {
            self.end_looked(frame);
            return self.after_value();
        }
        let is_qdebug = self.dialect == Dialect::QDebug;
        if is_qdebug && frame.kind == Container::Map && frame.begun {
            self.out.push(')');
        }
        if frame.missing > 0 {
            if frame.begun {
                self.out.push_str(", ");
            }
            push_missing(self.out, frame.missing);
        }
        self.out.push(match frame.kind {
            Container::Pieces => return self.after_value(),
            _ if is_qdebug => ')',
            Container::List => ']',
            Container::Tuple => ')',
            Container::Set
            | Container::Map
            | Container::Record
            | Container::Looked
            | Container::LookedMap => '}',
        });
        self.after_value()
    }

    fn enumeration(&mut self, name: &str, label: Option<&str>, value: i64) -> Done {
        if !self.stack.marks.is_empty() && self.push_flags(value as u64) {
            return Ok(());
        }
        match label {
            Some(label) if !matches!(self.spec.ty, b'b' | b'B' | b'd' | b'o' | b'x' | b'X') => {
                self.before_value();
                if self.dialect == Dialect::QDebug && !name.is_empty() {
                    let name = self.name(name);
                    escape::push_escaped(self.out, name);
                    self.out.push_str("::");
                }
                let (label, spec) = (self.name(label), Spec { ty: 0, ..self.spec });
                format::text(self.out, label, &spec);
                self.after_value()
            }
            _ => self.i64(value),
        }
    }

    fn meta(&mut self, key: &str, text: &str) -> Done {
        if key == "notation" && text == "qdebug" {
            self.dialect = Dialect::QDebug;
            self.quoting = Quoting::Always;
            return Ok(());
        }
        // As with names: a value that is no secret is shown without it.
        if self.out.len() >= self.names_end && matches!(key, "unit" | "flags" | "look") {
            return Ok(());
        }
        let depth = self.depth();
        self.stack.marks.open(key, text, depth);
        Ok(())
    }
}
