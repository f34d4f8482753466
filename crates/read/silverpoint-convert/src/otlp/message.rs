//! Messages of OTLP in both of its encodings: protocol buffers, and JSON with hexadecimal ids and 64-bit numbers as strings.

use std::fmt::Write;

use silverpoint_render::json::push_string;

use crate::perfetto::proto::{Open, Proto};

/// Writes messages; each field has a number and a name. What is opened is closed in turn.
pub(super) trait Message: Default {
    /// What stands between two items of a list that are joined as bytes.
    const SEPARATOR: &'static [u8];
    /// A message as one field.
    fn begin(&mut self, field: u32, name: &str);
    fn end(&mut self);
    /// A repeated field of messages, each within [`Message::item`] and [`Message::end_item`].
    fn begin_list(&mut self, field: u32, name: &str);
    fn end_list(&mut self);
    fn item(&mut self);
    fn end_item(&mut self);
    /// Items that are there already, as [`fragment`] has made them.
    fn items(&mut self, field: u32, name: &str, items: &[u8]);
    fn text(&mut self, field: u32, name: &str, text: &str);
    fn bytes(&mut self, field: u32, name: &str, bytes: &[u8]);
    /// An id of a trace or span.
    fn id(&mut self, field: u32, name: &str, id: &[u8]);
    fn bool(&mut self, field: u32, name: &str, value: bool);
    fn int(&mut self, field: u32, name: &str, value: i64);
    fn double(&mut self, field: u32, name: &str, value: f64);
    fn fixed64(&mut self, field: u32, name: &str, value: u64);
    /// Of an enumeration.
    fn choice(&mut self, field: u32, name: &str, value: u32);
    /// The bytes, which are taken away.
    fn take(&mut self) -> Vec<u8>;
    /// A whole message.
    fn whole(&mut self, write: impl FnOnce(&mut Self));
    /// Items of this list follow, outside of any message.
    fn within_list(&mut self, field: u32);
}

/// One item of a list as bytes, to be joined with others.
pub(super) fn fragment<M: Message>(field: u32, write: impl FnOnce(&mut M)) -> Vec<u8> {
    let mut message = M::default();
    message.within_list(field);
    message.item();
    write(&mut message);
    message.end_item();
    message.take()
}

/// Joins items of a list.
pub(super) fn join<M: Message>(items: &mut Vec<u8>, item: &[u8]) {
    if !items.is_empty() && !item.is_empty() {
        items.extend_from_slice(M::SEPARATOR);
    }
    items.extend_from_slice(item);
}

/// Protocol buffers.
#[derive(Default)]
pub(super) struct Binary {
    out: Proto,
    open: Vec<Open>,
    lists: Vec<u32>,
}

impl Message for Binary {
    const SEPARATOR: &'static [u8] = b"";

    fn begin(&mut self, field: u32, _: &str) {
        let open = self.out.begin(field);
        self.open.push(open);
    }

    fn end(&mut self) {
        if let Some(open) = self.open.pop() {
            // Longer than 256 MiB it would be left out; a record has at most 64.
            let _ = self.out.end(open);
        }
    }

    fn begin_list(&mut self, field: u32, _: &str) {
        self.lists.push(field);
    }

    fn end_list(&mut self) {
        self.lists.pop();
    }

    fn item(&mut self) {
        let field = self.lists.last().copied().unwrap_or(1);
        self.begin(field, "");
    }

    fn end_item(&mut self) {
        self.end();
    }

    fn items(&mut self, _: u32, _: &str, items: &[u8]) {
        self.out.bytes.extend_from_slice(items);
    }

    fn text(&mut self, field: u32, _: &str, text: &str) {
        self.out.bytes(field, text.as_bytes());
    }

    fn bytes(&mut self, field: u32, _: &str, bytes: &[u8]) {
        self.out.bytes(field, bytes);
    }

    fn id(&mut self, field: u32, _: &str, id: &[u8]) {
        self.out.bytes(field, id);
    }

    fn bool(&mut self, field: u32, _: &str, value: bool) {
        self.out.number(field, value.into());
    }

    fn int(&mut self, field: u32, _: &str, value: i64) {
        self.out.number(field, value.cast_unsigned());
    }

    fn double(&mut self, field: u32, _: &str, value: f64) {
        self.out.double(field, value);
    }

    fn fixed64(&mut self, field: u32, _: &str, value: u64) {
        self.out.fixed(field, value);
    }

    fn choice(&mut self, field: u32, _: &str, value: u32) {
        self.out.number(field, value.into());
    }

    fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out.bytes)
    }

    fn whole(&mut self, write: impl FnOnce(&mut Self)) {
        write(self);
    }

    fn within_list(&mut self, field: u32) {
        self.lists.push(field);
    }
}

/// JSON.
#[derive(Default)]
pub(super) struct Json {
    out: String,
    /// Something stands before, in the same container.
    begun: bool,
}

impl Json {
    fn name(&mut self, name: &str) {
        self.comma();
        push_string(&mut self.out, name);
        self.out.push(':');
    }

    fn comma(&mut self) {
        if std::mem::replace(&mut self.begun, true) {
            self.out.push(',');
        }
    }

    fn open(&mut self, bracket: char) {
        self.out.push(bracket);
        self.begun = false;
    }

    fn close(&mut self, bracket: char) {
        self.out.push(bracket);
        self.begun = true;
    }

    /// A number of 64 bits.
    fn string(&mut self, name: &str, number: impl itoa::Integer) {
        self.name(name);
        self.out.push('"');
        self.out.push_str(itoa::Buffer::new().format(number));
        self.out.push('"');
    }
}

impl Message for Json {
    const SEPARATOR: &'static [u8] = b",";

    fn begin(&mut self, _: u32, name: &str) {
        self.name(name);
        self.open('{');
    }

    fn end(&mut self) {
        self.close('}');
    }

    fn begin_list(&mut self, _: u32, name: &str) {
        self.name(name);
        self.open('[');
    }

    fn end_list(&mut self) {
        self.close(']');
    }

    fn item(&mut self) {
        self.comma();
        self.open('{');
    }

    fn end_item(&mut self) {
        self.close('}');
    }

    fn items(&mut self, field: u32, name: &str, items: &[u8]) {
        self.begin_list(field, name);
        // They were made here.
        self.out.push_str(std::str::from_utf8(items).unwrap_or_default());
        self.end_list();
    }

    fn text(&mut self, _: u32, name: &str, text: &str) {
        self.name(name);
        push_string(&mut self.out, text);
    }

    fn bytes(&mut self, _: u32, name: &str, bytes: &[u8]) {
        self.name(name);
        self.out.push('"');
        push_base64(&mut self.out, bytes);
        self.out.push('"');
    }

    fn id(&mut self, _: u32, name: &str, id: &[u8]) {
        self.name(name);
        self.out.push('"');
        for byte in id {
            let _ = write!(self.out, "{byte:02x}");
        }
        self.out.push('"');
    }

    fn bool(&mut self, _: u32, name: &str, value: bool) {
        self.name(name);
        self.out.push_str(if value { "true" } else { "false" });
    }

    fn int(&mut self, _: u32, name: &str, value: i64) {
        self.string(name, value);
    }

    fn double(&mut self, _: u32, name: &str, value: f64) {
        self.name(name);
        // As the mapping of protocol buffers to JSON names them.
        match value {
            value if value.is_nan() => self.out.push_str("\"NaN\""),
            f64::INFINITY => self.out.push_str("\"Infinity\""),
            f64::NEG_INFINITY => self.out.push_str("\"-Infinity\""),
            value => silverpoint_render::json::push_f64(&mut self.out, value),
        }
    }

    fn fixed64(&mut self, _: u32, name: &str, value: u64) {
        self.string(name, value);
    }

    fn choice(&mut self, _: u32, name: &str, value: u32) {
        self.name(name);
        self.out.push_str(itoa::Buffer::new().format(value));
    }

    fn take(&mut self) -> Vec<u8> {
        self.begun = false;
        std::mem::take(&mut self.out).into_bytes()
    }

    fn whole(&mut self, write: impl FnOnce(&mut Self)) {
        self.open('{');
        write(self);
        self.close('}');
    }

    fn within_list(&mut self, _: u32) {}
}

fn push_base64(out: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let is_there = digit <= chunk.len();
            let value = bits >> (18 - 6 * digit) & 63;
            out.push(if is_there { char::from(DIGITS[value as usize]) } else { '=' });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::push_base64;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (bytes, wanted) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            let mut text = String::new();
            push_base64(&mut text, bytes.as_bytes());
            assert_eq!(text, wanted);
        }
    }
}
