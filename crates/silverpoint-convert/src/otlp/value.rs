//! Values as `AnyValue`, from packed arguments and from items of CBOR.

use std::convert::Infallible;
use std::fmt::Write;

use silverpoint_render as render;
use silverpoint_render::time::TimeText;
use silverpoint_trace::cbor;
use silverpoint_wire::value::{Sequence, Text, Visitor};

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
        let _ = Values::new(message).u64(value);
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
    open: Vec<Container>,
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
enum Container {
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
        self.open.last() == Some(&Container::Key)
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
        if let Some(container) = self.open.last_mut() {
            *container = Container::Value;
        }
    }

    fn before(&mut self) {
        if self.open.last() == Some(&Container::Array) {
            self.message.item();
        }
    }

    fn after(&mut self) {
        match self.open.last_mut() {
            None | Some(Container::Key) => {}
            Some(Container::Array) => self.message.end_item(),
            Some(container) => {
                if *container == Container::Value {
                    *container = Container::Key;
                }
                self.message.end();
                self.message.end_item();
            }
        }
    }

    fn container(&mut self, container: Container) -> Done {
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
        match container {
            Container::Array => self.message.begin(any::ARRAY, "arrayValue"),
            _ => self.message.begin(any::KVLIST, "kvlistValue"),
        }
        self.message.begin_list(1, "values");
        self.open.push(container);
        Ok(())
    }
}

impl<M: Message> Visitor for Values<'_, M> {
    type Error = Infallible;

    fn null(&mut self) -> Done {
        self.scalar(|key| key.push_str("null"), |_| {})
    }

    fn bool(&mut self, value: bool) -> Done {
        self.scalar(
            |key| key.push_str(if value { "true" } else { "false" }),
            |message| message.bool(any::BOOL, "boolValue", value),
        )
    }

    fn i64(&mut self, value: i64) -> Done {
        self.scalar(
            |key| key.push_str(itoa::Buffer::new().format(value)),
            |message| message.int(any::INT, "intValue", value),
        )
    }

    fn u64(&mut self, value: u64) -> Done {
        match i64::try_from(value) {
            Ok(value) => self.i64(value),
            Err(_) => self.u128(value.into()),
        }
    }

    fn i128(&mut self, value: i128) -> Done {
        match i64::try_from(value) {
            Ok(value) => self.i64(value),
            Err(_) => self.plain(|text| text.push_str(itoa::Buffer::new().format(value))),
        }
    }

    fn u128(&mut self, value: u128) -> Done {
        match i64::try_from(value) {
            Ok(value) => self.i64(value),
            Err(_) => self.plain(|text| text.push_str(itoa::Buffer::new().format(value))),
        }
    }

    fn f32(&mut self, value: f32) -> Done {
        self.f64(value.into())
    }

    fn f64(&mut self, value: f64) -> Done {
        self.scalar(
            |key| silverpoint_render::json::push_f64(key, value),
            |message| message.double(any::DOUBLE, "doubleValue", value),
        )
    }

    fn char(&mut self, value: char) -> Done {
        self.plain(|text| text.push(value))
    }

    fn pointer(&mut self, value: u64) -> Done {
        self.plain(|text| {
            let _ = write!(text, "0x{value:x}");
        })
    }

    fn text(&mut self, text: Text<'_>, _: u32) -> Done {
        match text.as_str() {
            Some(text) => self.scalar(|key| key.push_str(text), |message| string(message, text)),
            None => self.plain(|out| out.extend(text.chars())),
        }
    }

    fn bytes(&mut self, bytes: &[u8], _: u32) -> Done {
        self.scalar(
            |key| silverpoint_render::json::push_hex(key, bytes),
            |message| message.bytes(any::BYTES, "bytesValue", bytes),
        )
    }

    fn uuid(&mut self, uuid: [u8; 16]) -> Done {
        self.plain(|text| render::push_uuid(text, &uuid))
    }

    fn time(&mut self, unix_ns: i64) -> Done {
        self.plain(|text| {
            TimeText::rfc3339_utc().push(text, unix_ns);
        })
    }

    fn duration(&mut self, ns: i64) -> Done {
        self.i64(ns)
    }

    fn any(&mut self, item: &[u8]) -> Done {
        // Looked through first: nothing of a broken item is given.
        if cbor::check(item).is_err() {
            return self.bytes(item, 0);
        }
        match cbor::visit(item, self) {
            Ok(()) | Err(cbor::Error::Malformed(_)) => Ok(()),
            Err(cbor::Error::Visitor(never)) => match never {},
        }
    }

    fn none(&mut self) -> Done {
        self.null()
    }

    fn begin_sequence(&mut self, _: Sequence, _: u32, _: u32) -> Done {
        self.container(Container::Array)
    }

    fn begin_map(&mut self, _: u32) -> Done {
        self.container(Container::Key)
    }

    fn begin_record(&mut self, _: &str, _: usize) -> Done {
        self.container(Container::Record)
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

    fn enumeration(&mut self, _: &str, label: Option<&str>, value: i64) -> Done {
        match label {
            Some(label) => self.scalar(|key| key.push_str(label), |message| string(message, label)),
            None => self.i64(value),
        }
    }

    fn meta(&mut self, key: &str, _: &str) -> Done {
        if key == "secret" && self.hidden == 0 {
            self.is_secret = true;
        }
        Ok(())
    }
}
