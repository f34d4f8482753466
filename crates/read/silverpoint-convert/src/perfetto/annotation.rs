//! Arguments as debug annotations, typed and nested as far as Perfetto has types.

use std::convert::Infallible;

use silverpoint_render as render;
use silverpoint_render::json::{JsonVisitor, Stack, push_plain_item, unquote};
use silverpoint_render::time;
use silverpoint_trace::cbor;
use silverpoint_wire::leaf::{Container, Leaf, Pieces};
use silverpoint_wire::signature::Type;
use silverpoint_wire::value::{Visitor, WalkError, walk};

use super::names::Names;
use super::proto::{self, Proto};

/// Fields of `DebugAnnotation`.
const NAME_IID: u32 = 1;
const BOOL: u32 = 2;
const UINT: u32 = 3;
const INT: u32 = 4;
const DOUBLE: u32 = 5;
const STRING: u32 = 6;
const POINTER: u32 = 7;
const LEGACY_JSON: u32 = 9;
const NAME: u32 = 10;
const DICT: u32 = 11;
const ARRAY: u32 = 12;
const STRING_IID: u32 = 17;

/// Writes values; keeps room.
#[derive(Debug, Default)]
pub(crate) struct Annotations {
    text: String,
    stack: Stack,
    open: Vec<Open>,
}

impl Annotations {
    /// The content of an annotation: the value at `at`; gives the offset after it.
    pub(crate) fn value(
        &mut self,
        out: &mut Proto,
        names: &mut Names,
        ty: &Type,
        bytes: &[u8],
        at: usize,
    ) -> Result<usize, WalkError<Infallible>> {
        self.open.clear();
        walk(ty, bytes, at, &mut Values { room: self, out, names, plain: None })
    }

    /// The content of an annotation: an item of CBOR, which is JSON unless it has no parts.
    pub(crate) fn item(&mut self, out: &mut Proto, item: &[u8]) {
        let start = out.bytes.len();
        if cbor::visit(item, &mut Scalar { out }).is_ok() {
            return;
        }
        out.bytes.truncate(start);
        self.text.clear();
        push_plain_item(&mut self.text, &mut self.stack, item);
        let is_json = cbor::check(item).is_ok() && self.text.starts_with(['{', '[']);
        out.bytes(if is_json { LEGACY_JSON } else { STRING }, self.text.as_bytes());
    }
}

/// The name of an annotation that is interned.
pub(crate) fn named(out: &mut Proto, names: &mut Names, name: &str) {
    out.number(NAME_IID, names.annotation(name));
}

/// The content of an annotation: a text that comes again and again.
pub(crate) fn interned(out: &mut Proto, names: &mut Names, text: &str) {
    out.number(STRING_IID, names.text(text));
}

/// The content of an annotation.
pub(crate) fn text(out: &mut Proto, text: &str) {
    out.bytes(STRING, text.as_bytes());
}

/// The content of an annotation.
pub(crate) fn truth(out: &mut Proto, value: bool) {
    out.number(BOOL, value.into());
}

/// The content of an annotation.
pub(crate) fn unsigned(out: &mut Proto, value: u64) {
    out.number(UINT, value);
}

/// An entry of a dictionary, which [`Proto::end`] ends.
pub(crate) fn entry(out: &mut Proto, names: &mut Names, name: &str) -> super::proto::Open {
    let open = out.begin(DICT);
    named(out, names, name);
    open
}

/// A container that is being written.
#[derive(Debug)]
struct Open {
    kind: Kind,
    /// The message of the element that is being written.
    element: Option<proto::Open>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Elements,
    /// Of a record: its names come as [`Pieces::field`].
    Fields,
    /// Of a map: a key comes, and then what stands under it.
    Entries,
}

/// Writes one value.
struct Values<'w> {
    room: &'w mut Annotations,
    out: &'w mut Proto,
    names: &'w mut Names,
    /// Containers that are open in a value that becomes a text: a key, what is secret, bits.
    plain: Option<usize>,
}

impl Values<'_> {
    /// A value comes: begins the message of an element, or a key's text.
    fn before(&mut self) {
        let Some(open) = self.room.open.last_mut() else { return };
        match open.kind {
            Kind::Elements => open.element = Some(self.out.begin(ARRAY)),
            Kind::Entries if open.element.is_none() => self.begin_plain(),
            Kind::Fields | Kind::Entries => {}
        }
    }

    /// A value is complete.
    fn after(&mut self) {
        if let Some(element) = self.room.open.last_mut().and_then(|open| open.element.take()) {
            self.out.end(element);
        }
    }

    fn begin_plain(&mut self) {
        self.room.text.clear();
        // Empties the stack.
        JsonVisitor::new(&mut self.room.text, &mut self.room.stack);
        self.plain = Some(0);
    }

    /// Gives a piece of a value that becomes a text to the writer of JSON; `depth`: how many containers are open then.
    fn give_plain(&mut self, depth: usize, give: impl FnOnce(&mut JsonVisitor<'_>) -> Done) -> Done {
        give(&mut JsonVisitor::resume(&mut self.room.text, &mut self.room.stack))?;
        self.plain = Some(depth);
        if depth > 0 {
            return Ok(());
        }
        self.plain = None;
        unquote(&mut self.room.text, 0);
        match self.room.open.last_mut() {
            // A key: what stands under it follows in the same entry.
            Some(open) if open.kind == Kind::Entries && open.element.is_none() => {
                open.element = Some(self.out.begin(DICT));
                self.out.bytes(NAME, self.room.text.as_bytes());
            }
            _ => {
                self.out.bytes(STRING, self.room.text.as_bytes());
                self.after();
            }
        }
        Ok(())
    }
}

impl Pieces for Values<'_> {
    type Error = Infallible;

    fn leaf(&mut self, leaf: Leaf<'_>) -> Done {
        if self.plain.is_none() {
            self.before();
        }
        if let Some(depth) = self.plain {
            return self.give_plain(depth, |json| leaf.visit(json));
        }
        match leaf {
            Leaf::Any(item) => self.room.item(self.out, item),
            _ => {
                // It has no parts.
                let _ = Scalar { out: self.out }.leaf(leaf);
            }
        }
        self.after();
        Ok(())
    }

    fn begin(&mut self, container: Container<'_>) -> Done {
        if self.plain.is_none() {
            self.before();
        }
        if let Some(depth) = self.plain {
            return self.give_plain(depth + 1, |json| container.visit(json));
        }
        let kind = match container {
            Container::Sequence { .. } => Kind::Elements,
            Container::Map(_) => Kind::Entries,
            Container::Record { .. } => Kind::Fields,
        };
        self.room.open.push(Open { kind, element: None });
        Ok(())
    }

    fn end(&mut self) -> Done {
        if let Some(depth) = self.plain {
            return self.give_plain(depth.saturating_sub(1), |json| json.end());
        }
        self.room.open.pop();
        self.after();
        Ok(())
    }

    fn field(&mut self, name: &str) -> Done {
        if self.plain.is_some() {
            return JsonVisitor::resume(&mut self.room.text, &mut self.room.stack).field(name);
        }
        if let Some(open) = self.room.open.last_mut() {
            open.element = Some(entry(self.out, self.names, name));
        }
        Ok(())
    }

    fn meta(&mut self, key: &str, text: &str) -> Done {
        // What is secret is not shown; bits are shown by their names.
        if self.plain.is_none() && matches!(key, "secret" | "flags") {
            self.before();
            if self.plain.is_none() {
                self.begin_plain();
            }
        }
        match self.plain {
            Some(_) => JsonVisitor::resume(&mut self.room.text, &mut self.room.stack).meta(key, text),
            None => Ok(()),
        }
    }
}

/// Takes a value without parts; stops at another one.
struct Scalar<'o> {
    out: &'o mut Proto,
}

/// The value has parts, or metadata, which in an item of CBOR may say that the value is secret. JSON knows how that is shown.
struct HasParts;

type Done = Result<(), Infallible>;

impl Pieces for Scalar<'_> {
    type Error = HasParts;

    fn leaf(&mut self, leaf: Leaf<'_>) -> Result<(), HasParts> {
        let out = &mut *self.out;
        match leaf {
            Leaf::Null | Leaf::None => text(out, "null"),
            Leaf::Bool(value) => truth(out, value),
            Leaf::I64(value) | Leaf::Duration(value) => out.number(INT, value.cast_unsigned()),
            Leaf::U64(value) => unsigned(out, value),
            Leaf::I128(value) => match i64::try_from(value) {
                Ok(value) => out.number(INT, value.cast_unsigned()),
                Err(_) => text(out, itoa::Buffer::new().format(value)),
            },
            Leaf::U128(value) => match u64::try_from(value) {
                Ok(value) => unsigned(out, value),
                Err(_) => text(out, itoa::Buffer::new().format(value)),
            },
            Leaf::F32(value) => out.double(DOUBLE, value.into()),
            Leaf::F64(value) => out.double(DOUBLE, value),
            Leaf::Char(value) => text(out, value.encode_utf8(&mut [0; 4])),
            Leaf::Pointer(value) => out.number(POINTER, value),
            Leaf::Text(value, _) => text(out, &value.to_string_lossy()),
            Leaf::Bytes(bytes, _) => made(out, |text| silverpoint_render::json::push_hex(text, bytes)),
            Leaf::Uuid(uuid) => made(out, |text| render::push_uuid(text, &uuid)),
            Leaf::Time(unix_ns) => made(out, |text| {
                time::TimeText::rfc3339_utc().push(text, unix_ns);
            }),
            Leaf::Enumeration { label: Some(label), .. } => text(out, label),
            Leaf::Enumeration { label: None, value, .. } => out.number(INT, value.cast_unsigned()),
            Leaf::Any(_) => return Err(HasParts),
        }
        Ok(())
    }

    fn begin(&mut self, _: Container<'_>) -> Result<(), HasParts> {
        Err(HasParts)
    }

    fn end(&mut self) -> Result<(), HasParts> {
        Ok(())
    }

    fn meta(&mut self, _: &str, _: &str) -> Result<(), HasParts> {
        Err(HasParts)
    }
}

/// A text that is made of the value.
fn made(out: &mut Proto, push: impl FnOnce(&mut String)) {
    let mut value = String::new();
    push(&mut value);
    text(out, &value);
}
