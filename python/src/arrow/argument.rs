//! Arguments as columns of their own types.

use std::convert::Infallible;

use silverpoint_query::columns::{Kind, micros};
use silverpoint_render::json::{JsonVisitor, Stack};
use silverpoint_wire::signature::Type;
use silverpoint_wire::value::{Sequence, Text, Visitor, WalkError, walk};

use super::column::Column;

/// What a column is in which sites have values of both.
pub(crate) fn common(one: Kind, other: Kind) -> Kind {
    match (one, other) {
        _ if one == other => one,
        (Kind::Float, Kind::Int) | (Kind::Int, Kind::Float) => Kind::Float,
        _ => Kind::Text,
    }
}

/// Whether the value itself is a text, which needs no notation of JSON.
fn is_text(ty: &Type) -> bool {
    match ty {
        Type::Text8
        | Type::Text16
        | Type::Text32
        | Type::Char8
        | Type::Char16
        | Type::Char32
        | Type::Uuid
        | Type::Pointer => true,
        Type::Optional(inner) | Type::Meta(_, _, inner) => is_text(inner),
        _ => false,
    }
}

/// Room that is reused.
#[derive(Default)]
pub(crate) struct Room {
    text: String,
    stack: Stack,
}

/// Puts the value at `at` into a column; gives the offset after it. `None`: the bytes contradict the type, and the column has a null.
pub(crate) fn push(
    column: &mut Column,
    kind: Kind,
    ty: &Type,
    bytes: &[u8],
    at: usize,
    room: &mut Room,
) -> Option<usize> {
    if kind == Kind::Json || kind == Kind::Text && !is_text(ty) {
        room.text.clear();
        let walked: Result<usize, WalkError<Infallible>> =
            walk(ty, bytes, at, &mut JsonVisitor::new(&mut room.text, &mut room.stack));
        match walked {
            Ok(_) if room.text == "null" => column.null(),
            Ok(_) => column.text(&room.text),
            Err(_) => column.null(),
        }
        return walked.ok();
    }
    let before = column.len();
    let walked = walk(ty, bytes, at, &mut Cell { column, kind, is_put: false });
    if column.len() == before {
        column.null();
    }
    walked.ok()
}

/// Takes one value.
struct Cell<'c> {
    column: &'c mut Column,
    kind: Kind,
    is_put: bool,
}

impl Cell<'_> {
    /// For the first value only: a cell has one.
    fn put(&mut self, put: impl FnOnce(&mut Column, Kind)) -> Result<(), Infallible> {
        if !std::mem::replace(&mut self.is_put, true) {
            put(self.column, self.kind);
        }
        Ok(())
    }
}

impl Visitor for Cell<'_> {
    type Error = Infallible;

    fn null(&mut self) -> Result<(), Infallible> {
        self.put(|column, _| column.null())
    }

    fn bool(&mut self, value: bool) -> Result<(), Infallible> {
        self.put(|column, _| column.bool(value))
    }

    fn i64(&mut self, value: i64) -> Result<(), Infallible> {
        self.put(|column, kind| match kind {
            Kind::Float => column.bits((value as f64).to_bits()),
            _ => column.int(value),
        })
    }

    fn u64(&mut self, value: u64) -> Result<(), Infallible> {
        self.put(|column, kind| match kind {
            Kind::Float => column.bits((value as f64).to_bits()),
            _ => column.unsigned(value),
        })
    }

    fn i128(&mut self, _value: i128) -> Result<(), Infallible> {
        Ok(())
    }

    fn u128(&mut self, _value: u128) -> Result<(), Infallible> {
        Ok(())
    }

    fn f32(&mut self, value: f32) -> Result<(), Infallible> {
        self.f64(value.into())
    }

    fn f64(&mut self, value: f64) -> Result<(), Infallible> {
        self.put(|column, _| column.bits(value.to_bits()))
    }

    fn char(&mut self, value: char) -> Result<(), Infallible> {
        self.put(|column, _| column.text(value.encode_utf8(&mut [0; 4])))
    }

    fn pointer(&mut self, value: u64) -> Result<(), Infallible> {
        self.put(|column, _| column.text(&format!("0x{value:x}")))
    }

    fn text(&mut self, text: Text<'_>, _missing: u32) -> Result<(), Infallible> {
        self.put(|column, _| match text.as_str() {
            Some(valid) => column.text(valid),
            None => column.text(&text.chars().collect::<String>()),
        })
    }

    fn bytes(&mut self, bytes: &[u8], _missing: u32) -> Result<(), Infallible> {
        self.put(|column, _| column.octets(bytes))
    }

    fn uuid(&mut self, uuid: [u8; 16]) -> Result<(), Infallible> {
        let mut text = String::new();
        silverpoint_render::push_uuid(&mut text, &uuid);
        self.put(|column, _| column.text(&text))
    }

    fn time(&mut self, unix_ns: i64) -> Result<(), Infallible> {
        self.put(|column, kind| match kind {
            Kind::Time => column.int(micros(unix_ns)),
            _ => column.int(unix_ns),
        })
    }

    fn duration(&mut self, ns: i64) -> Result<(), Infallible> {
        self.i64(ns)
    }

    fn any(&mut self, _cbor: &[u8]) -> Result<(), Infallible> {
        Ok(())
    }

    fn none(&mut self) -> Result<(), Infallible> {
        self.null()
    }

    fn begin_sequence(&mut self, _kind: Sequence, _len: u32, _missing: u32) -> Result<(), Infallible> {
        Ok(())
    }

    fn begin_map(&mut self, _len: u32) -> Result<(), Infallible> {
        Ok(())
    }

    fn begin_record(&mut self, _name: &str, _fields: usize) -> Result<(), Infallible> {
        Ok(())
    }

    fn field(&mut self, _name: &str) -> Result<(), Infallible> {
        Ok(())
    }

    fn end(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn enumeration(&mut self, _name: &str, label: Option<&str>, value: i64) -> Result<(), Infallible> {
        self.put(|column, _| match label {
            Some(label) => column.word(label),
            None => column.word(&value.to_string()),
        })
    }
}
