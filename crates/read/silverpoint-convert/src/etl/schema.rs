//! Names and types of an event's fields, as TraceLogging has them:
//!
//! ```text
//! u16 size │ tag │ name NUL │ for each field: name NUL, in-type, out-type if the in-type has its highest bit
//! ```

use silverpoint_wire::bytes::floor_char_boundary;

use super::fields::{Field, Value, is_labelled};

/// Bytes of metadata and payload: with everything around them an event has less than 64 KiB then.
const MOST: usize = 64_000;
/// Fields, those of structures and of contexts too. Few tools read an event that has more.
const FIELDS_MOST: usize = 128;
/// Bytes of a field's name.
const NAME_MOST: usize = 180;

const BINARY: u8 = 14;
const COUNTED_TEXT: u8 = 23;
const STRUCTURE: u8 = 24;
const HAS_COUNT: u8 = 0x40;
const HAS_SHOWN: u8 = 0x80;
const JSON: u8 = 12;
const UTF8: u8 = 35;

/// Where the tag stands in metadata.
pub(super) const TAG_AT: usize = 2;

/// The metadata of an event.
#[derive(Debug)]
pub(super) struct Schema {
    /// Without the field for contexts, and with it.
    pub(super) plain: Vec<u8>,
    pub(super) with_context: Vec<u8>,
    /// Bytes for what may be cut: texts, and elements of arrays.
    pub(super) room: usize,
}

impl Schema {
    /// Of an event and its fields. `None`: there are too many, or their names are too long.
    pub(super) fn new<'f>(event: &str, fields: impl Iterator<Item = (&'f str, &'f Field)>) -> Option<Self> {
        let mut made = Maker { bytes: vec![0; TAG_AT + 1], least: 0, count: 0 };
        made.bytes.extend_from_slice(event.as_bytes());
        made.bytes.push(0);
        let mut names = Vec::new();
        for (name, field) in fields {
            made.field(&mut names, &fit(name), field);
        }
        let plain = sized(made.bytes.clone());
        made.text(&mut names, "context", JSON);
        let (count, least, with_context) = (made.count, made.least, made.bytes);
        let room = MOST.checked_sub(with_context.len() + least)?;
        (count <= FIELDS_MOST).then(|| Self { plain, with_context: sized(with_context), room })
    }
}

fn sized(mut bytes: Vec<u8>) -> Vec<u8> {
    let size = bytes.len() as u16;
    bytes[..2].copy_from_slice(&size.to_le_bytes());
    bytes
}

/// A name without what ends it or means something to tools.
fn fit(name: &str) -> String {
    let fit = |c| match c {
        ';' => ',',
        '\0'..'\x20' | '\x7f' => '_',
        c => c,
    };
    name[..floor_char_boundary(name, NAME_MOST)].chars().map(fit).collect()
}

struct Maker {
    bytes: Vec<u8>,
    /// Bytes of the payload, apart from what may be cut.
    least: usize,
    count: usize,
}

impl Maker {
    /// A field; `names` are those of its structure so far. Of equal ones the second is `NAME_2`.
    fn put(&mut self, names: &mut Vec<String>, name: &str, kind: u8, shown: u8, least: usize) {
        self.count += 1;
        self.least += least;
        if self.count > FIELDS_MOST {
            return;
        }
        let mut unique = name.to_owned();
        for number in 2.. {
            if !names.contains(&unique) {
                break;
            }
            unique = format!("{name}_{number}");
        }
        self.bytes.extend_from_slice(unique.as_bytes());
        self.bytes.push(0);
        names.push(unique);
        if shown == 0 {
            self.bytes.push(kind);
        } else {
            self.bytes.extend_from_slice(&[kind | HAS_SHOWN, shown]);
        }
    }

    fn value(&mut self, names: &mut Vec<String>, name: &str, value: Value) {
        self.put(names, name, value.kind, value.shown, value.size);
    }

    fn text(&mut self, names: &mut Vec<String>, name: &str, shown: u8) {
        self.put(names, name, COUNTED_TEXT, shown, 2);
    }

    fn field(&mut self, names: &mut Vec<String>, name: &str, field: &Field) {
        match field {
            Field::Nothing => {}
            Field::Value(value) => self.value(names, name, *value),
            Field::Text | Field::Made(_) => self.text(names, name, UTF8),
            Field::Json(_) => self.text(names, name, JSON),
            Field::Bytes => self.put(names, name, BINARY, 0, 2),
            Field::Number { value, of, .. } => {
                self.value(names, name, *value);
                if is_labelled(of) {
                    self.text(names, &format!("{name}_label"), UTF8);
                }
            }
            Field::Optional(inner) => {
                self.value(names, &format!("{name}_present"), Value::BOOLEAN);
                self.field(names, name, inner);
            }
            Field::Values(value, _) => self.put(names, name, value.kind | HAS_COUNT, value.shown, 2),
            Field::Texts(_) => self.put(names, name, COUNTED_TEXT | HAS_COUNT, UTF8, 2),
            Field::Structure(members) => {
                let count: usize = members.iter().map(|(_, field)| field.count()).sum();
                self.put(names, name, STRUCTURE, count as u8, 0);
                let mut inner = Vec::new();
                for (number, (name, field)) in members.iter().enumerate() {
                    let name = if name.is_empty() { number.to_string() } else { fit(name) };
                    self.field(&mut inner, &name, field);
                }
            }
        }
    }
}
