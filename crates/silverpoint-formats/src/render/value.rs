//! Values as text: a visitor that appends to a `String`, by `spec/templates.md`.

use std::convert::Infallible;

use silverpoint_wire::value::{Sequence, Text, Visitor};

use crate::format::{self, Align, Spec};
use crate::marks::{Marks, SECRET};
use crate::{cbor, escape, time};

/// Whether text that stands alone (not inside a container) is quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quoting {
    /// Never: arguments of a template.
    Never,
    /// When it holds spaces, quotes, `=` or nothing: `key=value` of events.
    WhenAmbiguous,
}

/// Appends one value (an argument) to `out`. The specification applies to the value, or to every element of a container.
pub struct TextVisitor<'o> {
    out: &'o mut String,
    spec: Spec,
    quoting: Quoting,
    /// The open containers. A signature nests 32 deep, an item of CBOR inside it as much again.
    stack: &'o mut Stack,
    /// The outermost sequence holds the pieces of a stream.
    pieces: bool,
}

/// Room for open containers, kept by the caller so that values cost no allocation.
#[derive(Debug, Default)]
pub struct Stack {
    frames: Vec<Frame>,
    marks: Marks,
}

/// An open container.
#[derive(Clone, Copy, Debug)]
struct Frame {
    kind: Container,
    /// Something has been written into it.
    begun: bool,
    /// A map's key has been written.
    value_next: bool,
    /// Elements that were cut.
    missing: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Container {
    /// The pieces of a stream: no marks, a space between.
    Pieces,
    List,
    Set,
    Tuple,
    Map,
    Record,
}

type Done = Result<(), Infallible>;

impl<'o> TextVisitor<'o> {
    /// A visitor for one argument.
    #[inline]
    pub fn new(out: &'o mut String, stack: &'o mut Stack, spec: Spec, quoting: Quoting) -> Self {
        stack.frames.clear();
        stack.marks.clear();
        Self { out, spec, quoting, stack, pieces: false }
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

    /// What stands between values.
    #[inline]
    fn before_value(&mut self) {
        if !self.stack.frames.is_empty() {
            self.separate();
        }
        if !self.stack.marks.is_empty() {
            let depth = self.depth();
            self.stack.marks.begin(depth, self.out.len());
        }
    }

    /// What stands behind a value.
    #[inline]
    fn after_value(&mut self) -> Done {
        if !self.stack.marks.is_empty() {
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
        match frame.kind {
            Container::Record => return,
            Container::Map if frame.value_next => {
                frame.value_next = false;
                self.out.push_str(": ");
                return;
            }
            Container::Map => frame.value_next = true,
            Container::Pieces => {
                if frame.begun {
                    self.out.push(' ');
                }
                frame.begun = true;
                return;
            }
            Container::List | Container::Set | Container::Tuple => {}
        }
        if frame.begun {
            self.out.push_str(", ");
        }
        frame.begun = true;
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
        self.stack.frames.push(Frame { kind, begun: false, value_next: false, missing });
    }

    /// Text that is already made, as a value: filled to the width.
    fn word(&mut self, start: usize) {
        let columns = format::columns(&self.out[start..]);
        format::pad_written(self.out, start, columns, &self.spec, Align::Left);
    }

    fn push_text(&mut self, text: &str) {
        let quoted = match (self.nesting(), self.quoting) {
            (0, Quoting::Never) => false,
            (0, Quoting::WhenAmbiguous) => escape::needs_quotes(text),
            _ => true,
        };
        let spec = self.spec;
        if quoted {
            format::text(self.out, text, &Spec { ty: b'?', ..spec });
        } else if spec.is_default() {
            escape::push_escaped(self.out, text);
        } else {
            format::text(self.out, text, &spec);
        }
    }
}

/// The mark of a cut value.
pub(super) fn push_missing(out: &mut String, missing: u32) {
    if missing > 0 {
        out.push_str("…(+");
        out.push_str(itoa::Buffer::new().format(missing));
        out.push(')');
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
        if !self.stack.marks.is_empty() && self.push_flags(value.cast_unsigned()) {
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
        self.before_value();
        format::float32(self.out, value, &self.spec);
        self.after_value()
    }

    #[inline]
    fn f64(&mut self, value: f64) -> Done {
        self.before_value();
        format::float64(self.out, value, &self.spec);
        self.after_value()
    }

    fn char(&mut self, value: char) -> Done {
        self.before_value();
        let spec = match (self.nesting(), self.spec.ty) {
            (1.., 0 | b'c' | b's') => Spec { ty: b'?', ..self.spec },
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
        match text.as_str() {
            Some(text) => self.push_text(text),
            // Texts of other encodings and invalid ones are rare enough to be converted first.
            None => self.push_text(&text.chars().collect::<String>()),
        }
        push_missing(self.out, missing);
        self.after_value()
    }

    fn bytes(&mut self, bytes: &[u8], missing: u32) -> Done {
        self.before_value();
        let start = self.out.len();
        self.out.push_str("0x");
        crate::json::push_hex(self.out, bytes);
        self.word(start);
        push_missing(self.out, missing);
        self.after_value()
    }

    fn uuid(&mut self, uuid: [u8; 16]) -> Done {
        self.before_value();
        let start = self.out.len();
        push_uuid(self.out, &uuid);
        self.word(start);
        self.after_value()
    }

    fn time(&mut self, unix_ns: i64) -> Done {
        self.before_value();
        let start = self.out.len();
        time::TimeText::rfc3339_utc().push(self.out, unix_ns);
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
        self.before_value();
        let (mark, kind) = match kind {
            Sequence::List => ('[', Container::List),
            Sequence::Set => ('{', Container::Set),
            Sequence::Tuple => ('(', Container::Tuple),
        };
        self.out.push(mark);
        self.begin(kind, missing);
        Ok(())
    }

    fn begin_map(&mut self, _len: u32) -> Done {
        self.before_value();
        self.out.push('{');
        self.begin(Container::Map, 0);
        Ok(())
    }

    fn begin_record(&mut self, name: &str, _fields: usize) -> Done {
        self.before_value();
        escape::push_escaped(self.out, name);
        self.out.push('{');
        self.begin(Container::Record, 0);
        Ok(())
    }

    fn field(&mut self, name: &str) -> Done {
        if let Some(frame) = self.stack.frames.last_mut() {
            if frame.begun {
                self.out.push_str(", ");
            }
            frame.begun = true;
        }
        escape::push_escaped(self.out, name);
        self.out.push_str(": ");
        Ok(())
    }

    fn end(&mut self) -> Done {
        let Some(frame) = self.stack.frames.pop() else { return Ok(()) };
        if frame.missing > 0 {
            if frame.begun {
                self.out.push_str(", ");
            }
            push_missing(self.out, frame.missing);
        }
        self.out.push(match frame.kind {
            Container::Pieces => return self.after_value(),
            Container::List => ']',
            Container::Tuple => ')',
            Container::Set | Container::Map | Container::Record => '}',
        });
        self.after_value()
    }

    fn enumeration(&mut self, _name: &str, label: Option<&str>, value: i64) -> Done {
        if !self.stack.marks.is_empty() && self.push_flags(value.cast_unsigned()) {
            return Ok(());
        }
        match label {
            Some(label) if !matches!(self.spec.ty, b'b' | b'B' | b'd' | b'o' | b'x' | b'X') => {
                self.before_value();
                let spec = Spec { ty: 0, ..self.spec };
                format::text(self.out, label, &spec);
                self.after_value()
            }
            _ => self.i64(value),
        }
    }

    fn meta(&mut self, key: &str, text: &str) -> Done {
        let depth = self.depth();
        self.stack.marks.open(key, text, depth);
        Ok(())
    }
}

/// Appends a UUID: 8-4-4-4-12 hexadecimal digits.
pub fn push_uuid(out: &mut String, uuid: &[u8; 16]) {
    for (i, part) in [&uuid[..4], &uuid[4..6], &uuid[6..8], &uuid[8..10], &uuid[10..]].into_iter().enumerate()
    {
        if i > 0 {
            out.push('-');
        }
        crate::json::push_hex(out, part);
    }
}
