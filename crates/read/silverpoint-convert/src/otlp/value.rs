//! Values as `AnyValue`, from packed arguments and from items of CBOR.

use std::convert::Infallible;
use std::fmt::Write;

use silverpoint_render as render;
use silverpoint_render::time::TimeText;
use silverpoint_trace::cbor;
use silverpoint_wire::leaf::{Container, Leaf, Pieces};

use super::message::Message;

/// What stands for a secret.
const SECRET: &str = "<secret>";

/// Fields of `AnyValue`.
mod any {
    pub(super) const STRING: u32 = 1;
    pub(super) const BOOL: u32 = 2;
    pub(super) const INT: u32 = 3;
    pub(super) const DOUBLE: u32 = 4;
    pub(super) const ARRAY: u32 = 5;
    pub(super) const KVLIST: u32 = 6;
    pub(super) const BYTES: u32 = 7;
}

/// An attribute: a `KeyValue` of a list that is open.
pub(super) fn attribute<M: Message>(message: &mut M, key: &str, value: impl FnOnce(&mut M)) {
    message.item();
    message.text(1, "key", key);
    message.begin(2, "value");
    value(message);
    message.end();
    message.end_item();
}

/// An attribute that is a text.
pub(super) fn text<M: Message>(message: &mut M, key: &str, value: &str) {
    attribute(message, key, |message| message.text(any::STRING, "stringValue", value));
}

/// An attribute that is a number.
pub(super) fn int<M: Message>(message: &mut M, key: &str, value: i64) {
    attribute(message, key, |message| message.int(any::INT, "intValue", value));
}

/// An attribute that is a number, or a text when 63 bits do not hold it.
pub(super) fn unsigned<M: Message>(message: &mut M, key: &str, value: u64) {
    attribute(message, key, |message| {
        let _ = Values::new(message).unsigned(value.into());
    });
}

/// An attribute that is true.
pub(super) fn flag<M: Message>(message: &mut M, key: &str) {
    attribute(message, key, |message| message.bool(any::BOOL, "boolValue", true));
}

/// An attribute that is bytes.
pub(super) fn bytes<M: Message>(message: &mut M, key: &str, value: &[u8]) {
    attribute(message, key, |message| message.bytes(any::BYTES, "bytesValue", value));
}

/// The text of an `AnyValue`.
pub(super) fn string<M: Message>(message: &mut M, value: &str) {
    message.text(any::STRING, "stringValue", value);
}

/// Writes the fields of one `AnyValue` that is open.
pub(super) struct Values<'m, M> {
    message: &'m mut M,
    open: Vec<Open>,
    /// The key of a map, while it comes: a text, or what a visitor says of something else.
    key: String,
    /// Containers open within the key.
    key_depth: usize,
    /// The next value is not to be shown.
    is_secret: bool,
    /// Containers open within something that is not shown.
    hidden: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Array,
    Record,
    /// A key comes next, or is coming.
    Key,
    /// A value comes next.
    Value,
}

type Done = Result<(), Infallible>;

impl<'m, M: Message> Values<'m, M> {
    pub(super) fn new(message: &'m mut M) -> Self {
        Self { message, open: Vec::new(), key: String::new(), key_depth: 0, is_secret: false, hidden: 0 }
    }

    fn is_key(&self) -> bool {
        self.open.last() == Some(&Open::Key)
    }

    fn scalar(&mut self, key: impl FnOnce(&mut String), write: impl FnOnce(&mut M)) -> Done {
        if self.hidden > 0 {
            return Ok(());
        }
        let is_secret = std::mem::take(&mut self.is_secret);
        if self.is_key() {
            if is_secret {
                self.key.push_str(SECRET)
            } else {
                key(&mut self.key)
            }
            self.key_part();
            return Ok(());
        }
        self.before();
        if is_secret {
            string(self.message, SECRET)
        } else {
            write(self.message)
        }
        self.after();
        Ok(())
    }

    /// A value that is a text.
    fn plain(&mut self, write: impl Fn(&mut String)) -> Done {
        let mut text = String::new();
        write(&mut text);
        self.scalar(|key| key.push_str(&text), |message| string(message, &text))
    }

    /// A part of a key is complete, or all of it.
    fn key_part(&mut self) {
        if self.key_depth > 0 {
            self.key.push(' ');
            return;
        }
        self.message.item();
        self.message.text(1, "key", &self.key);
        self.message.begin(2, "value");
        self.key.clear();
        if let Some(open) = self.open.last_mut() {
            *open = Open::Value;
        }
    }

    fn before(&mut self) {
        if self.open.last() == Some(&Open::Array) {
            self.message.item();
        }
    }

    fn after(&mut self) {
        match self.open.last_mut() {
            None | Some(Open::Key) => {}
            Some(Open::Array) => self.message.end_item(),
            Some(open) => {
                if *open == Open::Value {
                    *open = Open::Key;
                }
                self.message.end();
                self.message.end_item();
            }
        }
    }

    fn int(&mut self, value: i64) -> Done {
        self.scalar(
            |key| key.push_str(itoa::Buffer::new().format(value)),
            |message| message.int(any::INT, "intValue", value),
        )
    }

    fn unsigned(&mut self, value: u128) -> Done {
        match i64::try_from(value) {
            Ok(value) => self.int(value),
            Err(_) => self.plain(|text| text.push_str(itoa::Buffer::new().format(value))),
        }
    }

    fn float(&mut self, value: f64) -> Done {
        self.scalar(
            |key| silverpoint_render::json::push_f64(key, value),
            |message| message.double(any::DOUBLE, "doubleValue", value),
        )
    }

    fn text(&mut self, text: &str) -> Done {
        self.scalar(|key| key.push_str(text), |message| string(message, text))
    }

    fn bytes(&mut self, bytes: &[u8]) -> Done {
        self.scalar(
            |key| silverpoint_render::json::push_hex(key, bytes),
            |message| message.bytes(any::BYTES, "bytesValue", bytes),
        )
    }
}

impl<M: Message> Pieces for Values<'_, M> {
    type Error = Infallible;

    #[inline]
    fn leaf(&mut self, leaf: Leaf<'_>) -> Done {
        match leaf {
            Leaf::Null | Leaf::None => self.scalar(|key| key.push_str("null"), |_| {}),
            Leaf::Bool(value) => self.scalar(
                |key| key.push_str(if value { "true" } else { "false" }),
                |message| message.bool(any::BOOL, "boolValue", value),
            ),
            Leaf::I64(value) | Leaf::Duration(value) => self.int(value),
            Leaf::U64(value) => self.unsigned(value.into()),
            Leaf::I128(value) => match i64::try_from(value) {
                Ok(value) => self.int(value),
                Err(_) => self.plain(|text| text.push_str(itoa::Buffer::new().format(value))),
            },
            Leaf::U128(value) => self.unsigned(value),
            Leaf::F32(value) => self.float(value.into()),
            Leaf::F64(value) => self.float(value),
            Leaf::Char(value) => self.plain(|text| text.push(value)),
            Leaf::Pointer(value) => self.plain(|text| {
                let _ = write!(text, "0x{value:x}");
            }),
            Leaf::Text(text, _) => self.text(&text.to_string_lossy()),
            Leaf::Bytes(bytes, _) => self.bytes(bytes),
            Leaf::Uuid(uuid) => self.plain(|text| render::push_uuid(text, &uuid)),
            Leaf::Time(unix_ns) => self.plain(|text| {
                TimeText::rfc3339_utc().push(text, unix_ns);
            }),
            // Looked through first: nothing of a broken item is given.
            Leaf::Any(item) if cbor::check(item).is_err() => self.bytes(item),
            Leaf::Any(item) => match cbor::visit(item, self) {
                Ok(()) | Err(cbor::Error::Malformed(_)) => Ok(()),
                Err(cbor::Error::Visitor(never)) => match never {},
            },
            Leaf::Enumeration { label: Some(label), .. } => self.text(label),
            Leaf::Enumeration { label: None, value, .. } => self.int(value),
        }
    }

    fn begin(&mut self, container: Container<'_>) -> Done {
        if self.hidden > 0 {
            self.hidden += 1;
            return Ok(());
        }
        if self.is_secret {
            self.scalar(|_| {}, |_| {})?;
            self.hidden = 1;
            return Ok(());
        }
        if self.is_key() {
            self.key.push('(');
            self.key_depth += 1;
            return Ok(());
        }
        self.before();
        let open = match container {
            Container::Sequence { .. } => {
                self.message.begin(any::ARRAY, "arrayValue");
                Open::Array
            }
            Container::Map(_) | Container::Record { .. } => {
                self.message.begin(any::KVLIST, "kvlistValue");
                if matches!(container, Container::Map(_)) { Open::Key } else { Open::Record }
            }
        };
        self.message.begin_list(1, "values");
        self.open.push(open);
        Ok(())
    }

    fn field(&mut self, name: &str) -> Done {
        if self.hidden > 0 {
            return Ok(());
        }
        if self.is_key() {
            self.key.push_str(name);
            self.key.push('=');
            return Ok(());
        }
        self.message.item();
        self.message.text(1, "key", name);
        self.message.begin(2, "value");
        Ok(())
    }

    fn end(&mut self) -> Done {
        if self.hidden > 0 {
            self.hidden -= 1;
            return Ok(());
        }
        if self.key_depth > 0 {
            self.key_depth -= 1;
            self.key.truncate(self.key.trim_end_matches(' ').len());
            self.key.push(')');
            self.key_part();
            return Ok(());
        }
        self.message.end_list();
        self.message.end();
        self.open.pop();
        self.after();
        Ok(())
    }

    fn meta(&mut self, key: &str, _: &str) -> Done {
        if key == "secret" && self.hidden == 0 {
            self.is_secret = true;
        }
        Ok(())
    }
}
