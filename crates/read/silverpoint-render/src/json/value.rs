//! Values as JSON: a visitor that appends to a `String`.
//!
//! | value | JSON |
//! |---|---|
//! | integers of every width | numbers, all digits |
//! | floats | numbers with the shortest digits; `"nan"`, `"inf"`, `"-inf"` |
//! | text, character | string; what is not valid Unicode becomes U+FFFD |
//! | bytes | string of hexadecimal digits |
//! | pointer | string `"0x…"` |
//! | UUID, date-time | strings, date-time as RFC 3339 in UTC |
//! | duration | number of nanoseconds |
//! | enumeration | its label, else its number |
//! | with metadata `flags` | string of the names of its bits, `"read|write"` |
//! | with metadata `secret` | `"<secret>"` |
//! | none, null | `null` |
//! | sequence, set, array, tuple | array |
//! | record | object |
//! | map | object; a key that is no text is the string of its JSON, the second of equal ones gets `_2` behind it |

use std::collections::HashSet;
use std::convert::Infallible;
use std::hash::{DefaultHasher, Hasher};

use silverpoint_trace::cbor;
use silverpoint_wire::json;
use silverpoint_wire::value::{Sequence, Text, Visitor};

use super::digits;
use crate::marks::{Marks, SECRET};
use crate::time;

/// Appends one value. The result is one JSON value for any input, in any order of a walk.
pub struct JsonVisitor<'o> {
    out: &'o mut String,
    /// The open containers.
    stack: &'o mut Stack,
}

/// Room for open containers, kept by the caller so that values cost no allocation.
#[derive(Debug, Default)]
pub struct Stack {
    frames: Vec<Frame>,
    marks: Marks,
    /// Hashes of the keys of the open maps, the outermost first, and room of those that are closed.
    keys: Vec<HashSet<u64>>,
    maps: usize,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    kind: Container,
    /// Something has been written into it.
    begun: bool,
    /// In a map: a key comes next, or is being written.
    key: bool,
    /// In a map: where the key begins.
    key_at: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Container {
    Array,
    Record,
    Map,
}

type Done = Result<(), Infallible>;

impl<'o> JsonVisitor<'o> {
    /// A visitor for one value.
    pub fn new(out: &'o mut String, stack: &'o mut Stack) -> Self {
        stack.frames.clear();
        stack.marks.clear();
        stack.maps = 0;
        Self { out, stack }
    }

    /// The visitor of a value that another one with this room has begun.
    pub fn resume(out: &'o mut String, stack: &'o mut Stack) -> Self {
        Self { out, stack }
    }

    /// One value without parts.
    #[inline]
    fn scalar(&mut self, write: impl FnOnce(&mut String)) -> Done {
        if self.stack.frames.is_empty() && self.stack.marks.is_empty() {
            write(self.out);
        } else {
            self.before();
            write(self.out);
            self.after();
        }
        Ok(())
    }

    fn before(&mut self) {
        self.separate();
        if !self.stack.marks.is_empty() {
            self.stack.marks.begin(self.stack.frames.len(), self.out.len());
        }
    }

    fn separate(&mut self) {
        let Some(frame) = self.stack.frames.last_mut() else { return };
        if frame.kind == Container::Record || (frame.kind == Container::Map && !frame.key) {
            return;
        }
        if frame.begun {
            self.out.push(',');
        }
        frame.begun = true;
        frame.key_at = self.out.len();
    }

    fn after(&mut self) {
        if !self.stack.marks.is_empty() {
            self.stack.marks.close(self.out, self.stack.frames.len(), false, &format!("\"{SECRET}\""));
        }
        let Some(frame) = self.stack.frames.last_mut() else { return };
        if frame.kind != Container::Map {
            return;
        }
        if frame.key {
            if !self.out[frame.key_at..].starts_with('"') {
                let key = self.out.split_off(frame.key_at);
                json::push_string(self.out, &key);
            }
            let maps = self.stack.maps;
            if let Some(keys) = maps.checked_sub(1).and_then(|map| self.stack.keys.get_mut(map)) {
                distinct(self.out, frame.key_at, keys);
            }
            self.out.push(':');
        }
        frame.key = !frame.key;
    }

    /// The names of a value's bits, when metadata says so.
    #[inline]
    fn flags(&self, value: u64) -> Option<String> {
        if self.stack.marks.is_empty() {
            return None;
        }
        self.stack.marks.flags(self.stack.frames.len(), value)
    }

    fn begin(&mut self, kind: Container) -> Done {
        self.before();
        self.out.push(if kind == Container::Array { '[' } else { '{' });
        if kind == Container::Map {
            match self.stack.keys.get_mut(self.stack.maps) {
                Some(keys) => keys.clear(),
                None => self.stack.keys.push(HashSet::new()),
            }
            self.stack.maps += 1;
        }
        self.stack.frames.push(Frame { kind, begun: false, key: kind == Container::Map, key_at: 0 });
        Ok(())
    }
}

/// Readers of JSON keep one of equal keys: the second of them gets a number before its closing quote.
fn distinct(out: &mut String, key_at: usize, keys: &mut HashSet<u64>) {
    let hash = |key: &str| {
        let mut hasher = DefaultHasher::new();
        hasher.write(key.as_bytes());
        hasher.finish()
    };
    if keys.insert(hash(&out[key_at..])) {
        return;
    }
    out.pop();
    let end = out.len();
    // A few in turn, then numbers that no other key can have yet: a thousand equal keys cost a thousand
    // steps.
    for number in (2..10).chain(keys.len() as u64 + 9..) {
        out.truncate(end);
        out.push('_');
        out.push_str(itoa::Buffer::new().format(number));
        out.push('"');
        if keys.insert(hash(&out[key_at..])) {
            return;
        }
    }
}

impl Visitor for JsonVisitor<'_> {
    type Error = Infallible;

    fn null(&mut self) -> Done {
        self.scalar(|out| out.push_str("null"))
    }

    fn bool(&mut self, value: bool) -> Done {
        self.scalar(|out| out.push_str(if value { "true" } else { "false" }))
    }

    #[inline]
    fn i64(&mut self, value: i64) -> Done {
        if let Some(names) = self.flags(value as u64) {
            return self.scalar(|out| json::push_string(out, &names));
        }
        self.scalar(|out| out.push_str(itoa::Buffer::new().format(value)))
    }

    #[inline]
    fn u64(&mut self, value: u64) -> Done {
        if let Some(names) = self.flags(value) {
            return self.scalar(|out| json::push_string(out, &names));
        }
        self.scalar(|out| out.push_str(itoa::Buffer::new().format(value)))
    }

    fn i128(&mut self, value: i128) -> Done {
        self.scalar(|out| out.push_str(itoa::Buffer::new().format(value)))
    }

    fn u128(&mut self, value: u128) -> Done {
        self.scalar(|out| out.push_str(itoa::Buffer::new().format(value)))
    }

    #[inline]
    fn f32(&mut self, value: f32) -> Done {
        self.scalar(|out| digits::push_f32(out, value))
    }

    #[inline]
    fn f64(&mut self, value: f64) -> Done {
        self.scalar(|out| digits::push_f64(out, value))
    }

    fn char(&mut self, value: char) -> Done {
        self.scalar(|out| json::push_string(out, value.encode_utf8(&mut [0; 4])))
    }

    fn pointer(&mut self, value: u64) -> Done {
        use std::fmt::Write;
        self.scalar(|out| {
            let _ = write!(out, "\"0x{value:x}\"");
        })
    }

    fn text(&mut self, text: Text<'_>, _missing: u32) -> Done {
        self.scalar(|out| match text.as_str() {
            Some(text) => json::push_string(out, text),
            None => {
                out.push('"');
                for c in text.chars() {
                    json::push_string_inner(out, c.encode_utf8(&mut [0; 4]));
                }
                out.push('"');
            }
        })
    }

    fn bytes(&mut self, bytes: &[u8], _missing: u32) -> Done {
        self.scalar(|out| {
            out.push('"');
            digits::push_hex(out, bytes);
            out.push('"');
        })
    }

    fn uuid(&mut self, uuid: [u8; 16]) -> Done {
        self.scalar(|out| {
            out.push('"');
            crate::render::push_uuid(out, &uuid);
            out.push('"');
        })
    }

    fn time(&mut self, unix_ns: i64) -> Done {
        self.scalar(|out| {
            out.push('"');
            time::TimeText::rfc3339_utc().push(out, unix_ns);
            out.push('"');
        })
    }

    fn duration(&mut self, ns: i64) -> Done {
        self.i64(ns)
    }

    fn any(&mut self, item: &[u8]) -> Done {
        if cbor::check(item).is_ok() {
            return match cbor::visit(item, self) {
                Ok(()) | Err(cbor::Error::Malformed(_)) => Ok(()),
                Err(cbor::Error::Visitor(never)) => match never {},
            };
        }
        self.scalar(|out| {
            out.push_str("\"<malformed CBOR 0x");
            digits::push_hex(out, item);
            out.push_str(">\"");
        })
    }

    fn none(&mut self) -> Done {
        self.null()
    }

    fn begin_sequence(&mut self, _kind: Sequence, _len: u32, _missing: u32) -> Done {
        self.begin(Container::Array)
    }

    fn begin_map(&mut self, _len: u32) -> Done {
        self.begin(Container::Map)
    }

    fn begin_record(&mut self, _name: &str, _fields: usize) -> Done {
        self.begin(Container::Record)
    }

    fn field(&mut self, name: &str) -> Done {
        if let Some(frame) = self.stack.frames.last_mut() {
            if frame.begun {
                self.out.push(',');
            }
            frame.begun = true;
        }
        json::push_string(self.out, name);
        self.out.push(':');
        Ok(())
    }

    fn end(&mut self) -> Done {
        if let Some(frame) = self.stack.frames.pop() {
            self.out.push(if frame.kind == Container::Array { ']' } else { '}' });
            if frame.kind == Container::Map {
                self.stack.maps = self.stack.maps.saturating_sub(1);
            }
        }
        self.after();
        Ok(())
    }

    fn enumeration(&mut self, _name: &str, label: Option<&str>, value: i64) -> Done {
        if let Some(names) = self.flags(value as u64) {
            return self.scalar(|out| json::push_string(out, &names));
        }
        match label {
            Some(label) => self.scalar(|out| json::push_string(out, label)),
            None => self.i64(value),
        }
    }

    fn meta(&mut self, key: &str, text: &str) -> Done {
        self.stack.marks.open(key, text, self.stack.frames.len());
        Ok(())
    }
}
