//! Types and values of arguments in CTF: what a field is declared as, and the bytes that then stand in the packet.
//!
//! | type | in CTF |
//! |---|---|
//! | integer of at most 64 bits, duration (nanoseconds), address | integer of that width and sign, an address with base 16 |
//! | float | floating point |
//! | bool, enumeration | enumeration over an integer of its width |
//! | text, and as text: character, UUID, date-time, integers of 128 bits, items of CBOR (JSON), secrets | string |
//! | bytes | sequence of bytes, with base 16 |
//! | sequence, set, array | sequence, its length before it |
//! | map | sequence of structures of key and value |
//! | tuple, record | structure |
//! | optional, variant | variant, its tag before it |
//! | null | structure without fields |
//!
//! Everything is aligned to bytes and little-endian, as it is packed in a record.

use std::collections::HashSet;
use std::fmt::Write;

use silverpoint_render::json::{Stack, push_plain};
use silverpoint_wire::bytes::length_at;
use silverpoint_wire::signature::{Enumeration, Type};

/// The alternative of an optional or a variant that has none; the number is that of the wire.
const NONE: u8 = 255;
/// The alternative of an optional that has a value.
const SOME: u8 = 0;
/// What stands for a secret.
const SECRET: &str = "<secret>";

/// A type as CTF sees it.
enum Shape<'t> {
    /// Takes as many bytes as in a record, and the same ones.
    Plain(&'static str),
    Enumeration(&'t Enumeration),
    Bool,
    /// A string that is made of the value.
    Text,
    /// Not shown.
    Secret,
    Bytes,
    /// Elements; of an array the number, which the record does not say.
    List(&'t Type, Option<u32>),
    Map(&'t Type, &'t Type),
    Tuple(&'t [Type]),
    Record(&'t [(String, Type)]),
    Optional(&'t Type),
    Variant(&'t [Type]),
    Null,
}

fn shape(ty: &Type) -> Shape<'_> {
    match ty {
        Type::Null => Shape::Null,
        Type::Bool => Shape::Bool,
        Type::Int { bits, signed } => match integer(*bits, *signed) {
            Some(name) => Shape::Plain(name),
            None => Shape::Text,
        },
        Type::Float32 => Shape::Plain("f32"),
        Type::Float64 => Shape::Plain("f64"),
        Type::Pointer => Shape::Plain("address"),
        Type::Duration => Shape::Plain("i64"),
        Type::Char8
        | Type::Char16
        | Type::Char32
        | Type::Text8
        | Type::Text16
        | Type::Text32
        | Type::Uuid
        | Type::Time
        | Type::Any => Shape::Text,
        Type::Bytes => Shape::Bytes,
        Type::Optional(inner) => Shape::Optional(inner),
        Type::Sequence(element) | Type::Set(element) => Shape::List(element, None),
        Type::Array(count, element) => Shape::List(element, Some(*count)),
        Type::Map(key, value) => Shape::Map(key, value),
        Type::Tuple(tuple) => Shape::Tuple(tuple.types()),
        Type::Record(record) => Shape::Record(record.fields()),
        Type::Enumeration(enumeration) => Shape::Enumeration(enumeration),
        Type::Variant(types) => Shape::Variant(types),
        Type::Meta(key, _, _) if key == "secret" => Shape::Secret,
        Type::Meta(_, _, inner) => shape(inner),
    }
}

/// The alias of an integer; none of 128 bits.
fn integer(bits: u8, signed: bool) -> Option<&'static str> {
    Some(match (bits, signed) {
        (8, false) => "u8",
        (16, false) => "u16",
        (32, false) => "u32",
        (64, false) => "u64",
        (8, true) => "i8",
        (16, true) => "i16",
        (32, true) => "i32",
        (64, true) => "i64",
        _ => return None,
    })
}

/// The aliases that declarations use.
pub(super) fn push_aliases(out: &mut String) {
    for bits in [8, 16, 32, 64] {
        for (sign, signed) in [('u', false), ('i', true)] {
            let _ = writeln!(
                out,
                "typealias integer {{ size = {bits}; align = 8; signed = {signed}; byte_order = le; }} := {sign}{bits};"
            );
        }
    }
    out.push_str(concat!(
        "typealias integer { size = 8; align = 8; signed = false; base = 16; } := byte;\n",
        "typealias integer { size = 64; align = 8; signed = false; byte_order = le; base = 16; } := address;\n",
        "typealias floating_point { exp_dig = 8; mant_dig = 24; align = 8; byte_order = le; } := f32;\n",
        "typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; byte_order = le; } := f64;\n",
    ));
}

/// A string literal. What TSDL has no escape for, and no tool shows, becomes a space.
pub(super) fn push_literal(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Names of one structure's fields, each once. All begin with an underscore, which readers of CTF take away: so none is a keyword.
#[derive(Default)]
pub(super) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// An identifier for a name; what identifiers may not have becomes an underscore.
    fn take(&mut self, name: &str) -> String {
        let mut wanted = String::from("_");
        wanted.extend(name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }));
        let mut found = wanted.clone();
        let mut number = 1_u32;
        // A field brings the name of its length or tag along.
        let ends = ["", "_length", "_tag"];
        while ends.iter().any(|end| self.taken.contains(&format!("{found}{end}"))) {
            number += 1;
            found = format!("{wanted}_{number}");
        }
        self.taken.extend(ends.iter().map(|end| format!("{found}{end}")));
        found
    }
}

/// Declares a field of a structure; those of its length or tag before it.
pub(super) fn push_field(out: &mut String, names: &mut Names, name: &str, ty: &Type) {
    let name = names.take(name);
    let length = |out: &mut String| {
        let _ = write!(out, "u32 {name}_length; ");
    };
    match shape(ty) {
        Shape::Bytes => {
            length(out);
            let _ = write!(out, "byte {name}[{name}_length]; ");
        }
        Shape::List(element, _) => {
            length(out);
            push_specifier(out, element);
            let _ = write!(out, " {name}[{name}_length]; ");
        }
        Shape::Map(key, value) => {
            length(out);
            push_struct(out, [("key", key), ("value", value)].into_iter());
            let _ = write!(out, " {name}[{name}_length]; ");
        }
        Shape::Optional(inner) => push_variant(out, &name, std::slice::from_ref(inner)),
        Shape::Variant(types) => push_variant(out, &name, types),
        _ => {
            push_specifier(out, ty);
            let _ = write!(out, " {name}; ");
        }
    }
}

/// A tag and a variant. The alternatives are `a0`, `a1` … and `none`.
fn push_variant(out: &mut String, name: &str, types: &[Type]) {
    out.push_str("enum : u8 { ");
    for number in 0..types.len() {
        let _ = write!(out, "a{number} = {number}, ");
    }
    let _ = write!(out, "none = {NONE} }} {name}_tag; variant <{name}_tag> {{ ");
    for (number, ty) in types.iter().enumerate() {
        push_specifier(out, ty);
        let _ = write!(out, " a{number}; ");
    }
    let _ = write!(out, "struct {{ }} none; }} {name}; ");
}

fn push_struct<'t>(out: &mut String, fields: impl Iterator<Item = (&'t str, &'t Type)>) {
    let mut names = Names::default();
    out.push_str("struct { ");
    for (name, ty) in fields {
        push_field(out, &mut names, name, ty);
    }
    out.push('}');
}

/// A type where it stands alone: one that needs a length or a tag is a structure of both.
fn push_specifier(out: &mut String, ty: &Type) {
    match shape(ty) {
        Shape::Plain(name) => out.push_str(name),
        Shape::Bool => out.push_str("enum : u8 { \"false\" = 0, \"true\" = 1 }"),
        Shape::Enumeration(enumeration) => push_enumeration(out, enumeration),
        Shape::Text | Shape::Secret => out.push_str("string"),
        Shape::Null => out.push_str("struct { }"),
        Shape::Tuple(types) => {
            let names: Vec<String> = (0..types.len()).map(|number| number.to_string()).collect();
            push_struct(out, names.iter().map(String::as_str).zip(types));
        }
        Shape::Record(fields) => push_struct(out, fields.iter().map(|(name, ty)| (name.as_str(), ty))),
        Shape::Bytes | Shape::List(..) | Shape::Map(..) | Shape::Optional(_) | Shape::Variant(_) => {
            push_struct(out, std::iter::once(("value", ty)));
        }
    }
}

/// An enumeration; one without labels, and one over a type that is no integer of CTF, is its number.
fn push_enumeration(out: &mut String, enumeration: &Enumeration) {
    let underlying = enumeration.underlying();
    let bits = underlying.fixed_size().unwrap_or(1) as u8 * 8;
    let signed = matches!(underlying, Type::Int { signed: true, .. });
    let name = integer(bits, signed).unwrap_or("u8");
    let room = 64 - u32::from(bits.min(64));
    let mut last = None;
    let start = out.len();
    let _ = write!(out, "enum : {name} {{ ");
    for (value, label) in enumeration.labels() {
        // The first label of a value counts; a label of a number that the type cannot have says nothing.
        let fits = if signed {
            value << room >> room == value
        } else {
            room == 0 || value as u64 >> (64 - room) == 0
        };
        if last.replace(value) == Some(value) || !fits {
            continue;
        }
        push_literal(out, label);
        let _ = if signed { write!(out, " = {value}, ") } else { write!(out, " = {}, ", value as u64) };
    }
    if out.ends_with("{ ") {
        out.truncate(start);
        out.push_str(name);
        return;
    }
    out.truncate(out.len() - 2);
    out.push_str(" }");
}

/// Appends values to a packet. Holds only room that is reused.
#[derive(Default)]
pub(super) struct Encoder {
    text: String,
    stack: Stack,
}

impl Encoder {
    /// Appends the value of type `ty` that begins at `at`; gives where it ends. `None` when the bytes contradict the type: then something may have been appended.
    pub(super) fn push(&mut self, out: &mut Vec<u8>, ty: &Type, bytes: &[u8], at: usize) -> Option<usize> {
        match shape(ty) {
            Shape::Null => Some(at),
            Shape::Enumeration(of) if matches!(of.underlying(), Type::Bool) => {
                out.push(mark(bytes, at)?.into());
                Some(at + 1)
            }
            Shape::Plain(_) | Shape::Enumeration(_) => {
                let end = at.checked_add(ty.fixed_size()?)?;
                out.extend_from_slice(bytes.get(at..end)?);
                Some(end)
            }
            Shape::Bool => {
                let mark = mark(bytes, at)?;
                out.push(mark.into());
                Some(at + 1)
            }
            Shape::Secret => {
                push_text(out, SECRET);
                silverpoint_wire::value::skip(ty, bytes, at).ok()
            }
            Shape::Text => self.text(out, ty, bytes, at),
            Shape::Bytes => {
                let (from, len) = length_at(bytes, at)?;
                let end = from.checked_add(len as usize)?;
                let units = bytes.get(from..end)?;
                out.extend_from_slice(&len.to_le_bytes());
                out.extend_from_slice(units);
                Some(end)
            }
            Shape::List(element, count) => {
                let (mut end, len) = match count {
                    Some(count) => (at, count),
                    None => length_at(bytes, at)?,
                };
                out.extend_from_slice(&len.to_le_bytes());
                for _ in 0..len {
                    end = self.push(out, element, bytes, end)?;
                }
                Some(end)
            }
            Shape::Map(key, value) => {
                let (mut end, len) = length_at(bytes, at)?;
                out.extend_from_slice(&len.to_le_bytes());
                for _ in 0..len {
                    end = self.push(out, key, bytes, end)?;
                    end = self.push(out, value, bytes, end)?;
                }
                Some(end)
            }
            Shape::Tuple(types) => types.iter().try_fold(at, |at, ty| self.push(out, ty, bytes, at)),
            Shape::Record(fields) => fields.iter().try_fold(at, |at, (_, ty)| self.push(out, ty, bytes, at)),
            Shape::Optional(inner) => {
                let is_there = mark(bytes, at)?;
                out.push(if is_there { SOME } else { NONE });
                if is_there { self.push(out, inner, bytes, at + 1) } else { Some(at + 1) }
            }
            Shape::Variant(types) => {
                let index = *bytes.get(at)?;
                out.push(index);
                if index == NONE {
                    return Some(at + 1);
                }
                self.push(out, types.get(usize::from(index))?, bytes, at + 1)
            }
        }
    }

    fn text(&mut self, out: &mut Vec<u8>, ty: &Type, bytes: &[u8], at: usize) -> Option<usize> {
        if matches!(ty.bare(), Type::Text8) {
            let (from, len) = length_at(bytes, at)?;
            let end = from.checked_add(len as usize)?;
            if let Ok(text) = std::str::from_utf8(bytes.get(from..end)?) {
                push_text(out, text);
                return Some(end);
            }
        }
        self.text.clear();
        let end = push_plain(&mut self.text, &mut self.stack, ty, bytes, at)?;
        push_text(out, &self.text);
        Some(end)
    }
}

/// A string, which a zero byte ends: one within it is shown by its picture.
pub(super) fn push_text(out: &mut Vec<u8>, text: &str) {
    let mut parts = text.split('\0');
    out.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        out.extend_from_slice("\u{2400}".as_bytes());
        out.extend_from_slice(part.as_bytes());
    }
    out.push(0);
}

fn mark(bytes: &[u8], at: usize) -> Option<bool> {
    match bytes.get(at)? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}
