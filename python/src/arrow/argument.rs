//! Arguments as columns of their own types.

use std::convert::Infallible;

use silverpoint_query::columns::{Kind, micros};
use silverpoint_render::json::{JsonVisitor, Stack};
use silverpoint_wire::leaf::{Container, Leaf, Pieces};
use silverpoint_wire::signature::Type;
use silverpoint_wire::value::{WalkError, walk};

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

impl Pieces for Cell<'_> {
    type Error = Infallible;

    fn leaf(&mut self, leaf: Leaf<'_>) -> Result<(), Infallible> {
        // Their column is JSON.
        if matches!(leaf, Leaf::I128(_) | Leaf::U128(_) | Leaf::Any(_)) {
            return Ok(());
        }
        // For the first value only: a cell has one.
        if std::mem::replace(&mut self.is_put, true) {
            return Ok(());
        }
        let (column, is_float) = (&mut *self.column, self.kind == Kind::Float);
        match leaf {
            Leaf::Null | Leaf::None | Leaf::I128(_) | Leaf::U128(_) | Leaf::Any(_) => column.null(),
            Leaf::Bool(value) => column.bool(value),
            Leaf::I64(value) | Leaf::Duration(value) if is_float => column.bits((value as f64).to_bits()),
            Leaf::I64(value) | Leaf::Duration(value) => column.int(value),
            Leaf::U64(value) if is_float => column.bits((value as f64).to_bits()),
            Leaf::U64(value) => column.unsigned(value),
            Leaf::F32(value) => column.bits(f64::from(value).to_bits()),
            Leaf::F64(value) => column.bits(value.to_bits()),
            Leaf::Char(value) => column.text(value.encode_utf8(&mut [0; 4])),
            Leaf::Pointer(value) => column.text(&format!("0x{value:x}")),
            Leaf::Text(text, _) => column.text(&text.to_string_lossy()),
            Leaf::Bytes(bytes, _) => column.octets(bytes),
            Leaf::Uuid(uuid) => {
                let mut text = String::new();
                silverpoint_render::push_uuid(&mut text, &uuid);
                column.text(&text);
            }
            Leaf::Time(unix_ns) if self.kind == Kind::Time => column.int(micros(unix_ns)),
            Leaf::Time(unix_ns) => column.int(unix_ns),
            Leaf::Enumeration { label: Some(label), .. } => column.word(label),
            Leaf::Enumeration { label: None, value, .. } => column.word(&value.to_string()),
        }
        Ok(())
    }

    fn begin(&mut self, _: Container<'_>) -> Result<(), Infallible> {
        Ok(())
    }

    fn end(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
