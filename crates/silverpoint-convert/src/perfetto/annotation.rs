//! Arguments as debug annotations, typed and nested as far as Perfetto has types.

use std::convert::Infallible;

use silverpoint_render as render;
use silverpoint_render::json::{Stack, push_plain, push_plain_item};
use silverpoint_render::time;
use silverpoint_trace::cbor;
use silverpoint_wire::signature::Type;
use silverpoint_wire::value::{Sequence, Text, Visitor, WalkError, walk};

use super::names::Names;
use super::proto::Proto;
use crate::exact::{fixed, length};

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

type At = Result<usize, WalkError<Infallible>>;

/// Writes values; keeps room.
#[derive(Debug, Default)]
pub(crate) struct Annotations {
    text: String,
    stack: Stack,
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
    ) -> At {
        Ok(match ty {
            // What is secret is not shown; bits are shown by their names.
            Type::Meta(key, _, _) if matches!(key.as_str(), "secret" | "flags") => {
                let end = self.plain(ty, bytes, at)?;
                out.bytes(STRING, self.text.as_bytes());
                end
            }
            Type::Meta(_, _, inner) => return self.value(out, names, inner, bytes, at),
            Type::Optional(inner) => match fixed(bytes, at)? {
                [0] => return scalar(out, &Type::Null, bytes, at).map(|_| at + 1),
                [_] => return self.value(out, names, inner, bytes, at + 1),
            },
            Type::Variant(types) => {
                let [index] = fixed(bytes, at)?;
                match types.get(usize::from(index)) {
                    Some(ty) => return self.value(out, names, ty, bytes, at + 1),
                    None => return walk(ty, bytes, at, &mut Scalar { out, is_scalar: true }),
                }
            }
            Type::Sequence(element) | Type::Set(element) => {
                let (from, len, _) = length(bytes, at)?;
                self.elements(out, names, std::iter::repeat_n(&**element, len), bytes, from)?
            }
            Type::Array(count, element) => {
                self.elements(out, names, std::iter::repeat_n(&**element, *count as usize), bytes, at)?
            }
            Type::Tuple(tuple) => self.elements(out, names, tuple.types().iter(), bytes, at)?,
            Type::Map(key, value) => {
                let (mut end, len, _) = length(bytes, at)?;
                for _ in 0..len {
                    end = self.plain(key, bytes, end)?;
                    let open = out.begin(DICT);
                    out.bytes(NAME, self.text.as_bytes());
                    end = self.value(out, names, value, bytes, end)?;
                    out.end(open);
                }
                end
            }
            Type::Record(record) => {
                let mut end = at;
                for (name, ty) in record.fields() {
                    let open = out.begin(DICT);
                    out.number(NAME_IID, names.annotation(name));
                    end = self.value(out, names, ty, bytes, end)?;
                    out.end(open);
                }
                end
            }
            Type::Any => {
                let (from, len, _) = length(bytes, at)?;
                let end = from + len;
                if let Some(item) = bytes.get(from..end) {
                    self.item(out, item);
                }
                end
            }
            _ => return scalar(out, ty, bytes, at),
        })
    }

    fn elements<'t>(
        &mut self,
        out: &mut Proto,
        names: &mut Names,
        types: impl Iterator<Item = &'t Type>,
        bytes: &[u8],
        at: usize,
    ) -> At {
        let mut end = at;
        for ty in types {
            let open = out.begin(ARRAY);
            end = self.value(out, names, ty, bytes, end)?;
            out.end(open);
        }
        Ok(end)
    }

    /// The content of an annotation: an item of CBOR, which is JSON unless it has no parts.
    pub(crate) fn item(&mut self, out: &mut Proto, item: &[u8]) {
        let start = out.bytes.len();
        let mut scalar = Scalar { out, is_scalar: true };
        if cbor::visit(item, &mut scalar).is_ok() && scalar.is_scalar {
            return;
        }
        out.bytes.truncate(start);
        self.text.clear();
        push_plain_item(&mut self.text, &mut self.stack, item);
        let is_json = cbor::check(item).is_ok() && self.text.starts_with(['{', '[']);
        out.bytes(if is_json { LEGACY_JSON } else { STRING }, self.text.as_bytes());
    }

    /// A value as text.
    fn plain(&mut self, ty: &Type, bytes: &[u8], at: usize) -> At {
        self.text.clear();
        match push_plain(&mut self.text, &mut self.stack, ty, bytes, at) {
            Some(end) => Ok(end),
            // The same mistake as an error.
            None => walk(ty, bytes, at, &mut silverpoint_wire::value::Nobody),
        }
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

fn scalar(out: &mut Proto, ty: &Type, bytes: &[u8], at: usize) -> At {
    walk(ty, bytes, at, &mut Scalar { out, is_scalar: true })
}

/// Takes a value without parts.
struct Scalar<'o> {
    out: &'o mut Proto,
    is_scalar: bool,
}

type Done = Result<(), Infallible>;

impl Scalar<'_> {
    fn text(&mut self, text: &str) -> Done {
        self.out.bytes(STRING, text.as_bytes());
        Ok(())
    }

    fn parts(&mut self) -> Done {
        self.is_scalar = false;
        Ok(())
    }
}

impl Visitor for Scalar<'_> {
    type Error = Infallible;

    fn null(&mut self) -> Done {
        self.text("null")
    }

    fn bool(&mut self, value: bool) -> Done {
        self.out.number(BOOL, value.into());
        Ok(())
    }

    fn i64(&mut self, value: i64) -> Done {
        self.out.number(INT, value.cast_unsigned());
        Ok(())
    }

    fn u64(&mut self, value: u64) -> Done {
        self.out.number(UINT, value);
        Ok(())
    }

    fn i128(&mut self, value: i128) -> Done {
        match i64::try_from(value) {
            Ok(value) => self.i64(value),
            Err(_) => self.text(itoa::Buffer::new().format(value)),
        }
    }

    fn u128(&mut self, value: u128) -> Done {
        match u64::try_from(value) {
            Ok(value) => self.u64(value),
            Err(_) => self.text(itoa::Buffer::new().format(value)),
        }
    }

    fn f32(&mut self, value: f32) -> Done {
        self.f64(value.into())
    }

    fn f64(&mut self, value: f64) -> Done {
        self.out.double(DOUBLE, value);
        Ok(())
    }

    fn char(&mut self, value: char) -> Done {
        self.text(value.encode_utf8(&mut [0; 4]))
    }

    fn pointer(&mut self, value: u64) -> Done {
        self.out.number(POINTER, value);
        Ok(())
    }

    fn text(&mut self, text: Text<'_>, _missing: u32) -> Done {
        match text.as_str() {
            Some(text) => self.text(text),
            None => self.text(&text.chars().collect::<String>()),
        }
    }

    fn bytes(&mut self, bytes: &[u8], _missing: u32) -> Done {
        let mut text = String::with_capacity(bytes.len() * 2);
        silverpoint_render::json::push_hex(&mut text, bytes);
        self.text(&text)
    }

    fn uuid(&mut self, uuid: [u8; 16]) -> Done {
        let mut text = String::new();
        render::push_uuid(&mut text, &uuid);
        self.text(&text)
    }

    fn time(&mut self, unix_ns: i64) -> Done {
        let mut text = String::new();
        time::TimeText::rfc3339_utc().push(&mut text, unix_ns);
        self.text(&text)
    }

    fn duration(&mut self, ns: i64) -> Done {
        self.i64(ns)
    }

    fn any(&mut self, _cbor: &[u8]) -> Done {
        self.parts()
    }

    fn none(&mut self) -> Done {
        self.null()
    }

    fn begin_sequence(&mut self, _kind: Sequence, _len: u32, _missing: u32) -> Done {
        self.parts()
    }

    fn begin_map(&mut self, _len: u32) -> Done {
        self.parts()
    }

    fn begin_record(&mut self, _name: &str, _fields: usize) -> Done {
        self.parts()
    }

    fn field(&mut self, _name: &str) -> Done {
        Ok(())
    }

    fn end(&mut self) -> Done {
        Ok(())
    }

    fn enumeration(&mut self, _name: &str, label: Option<&str>, value: i64) -> Done {
        match label {
            Some(label) => self.text(label),
            None => self.i64(value),
        }
    }

    fn meta(&mut self, _key: &str, _text: &str) -> Done {
        // In an item of CBOR it may say that the value is secret: JSON knows how that is shown.
        self.parts()
    }
}
