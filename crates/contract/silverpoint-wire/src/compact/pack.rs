//! Arguments to compact bytes. Arguments that the rule would not restore exactly are refused, and the caller
//! writes them as they are.

use super::number::{push_number, push_varint};
use crate::bytes::{array, round_up_8};
use crate::layout::record::HEADER_SIZE;
use crate::layout::signature::{CUT, ZERO_SIZED_MAX};
use crate::signature::Type;

/// How a type is written.
pub(super) enum Shape<'a> {
    /// As a varint: bytes and sign.
    Number(usize, bool),
    /// As it is: bytes.
    Scalar(usize),
    /// Length as a varint, then units of so many bytes.
    Units(usize),
    /// Anything else.
    Other(&'a Type),
}

pub(super) fn shape(ty: &Type) -> Shape<'_> {
    match ty {
        Type::Int { bits: bits @ (16 | 32 | 64), signed } => Shape::Number(usize::from(*bits) / 8, *signed),
        Type::Enumeration(enumeration) => shape(enumeration.underlying()),
        Type::Meta(_, _, inner) => shape(inner),
        Type::Text8 | Type::Bytes | Type::Any => Shape::Units(1),
        Type::Text16 => Shape::Units(2),
        Type::Text32 => Shape::Units(4),
        Type::Null
        | Type::Bool
        | Type::Int { .. }
        | Type::Float32
        | Type::Float64
        | Type::Char8
        | Type::Char16
        | Type::Char32
        | Type::Pointer
        | Type::Uuid
        | Type::Time
        | Type::Duration => Shape::Scalar(ty.fixed_size().unwrap_or(0)),
        _ => Shape::Other(ty),
    }
}

/// Packs all arguments; false when the rule would not restore the bytes exactly. `previous` are the numbers of the site's record before, `fresh` takes
/// those of this one.
pub(super) fn pack_args(
    types: &[Type],
    args: &[u8],
    previous: &[u64],
    fresh: &mut Vec<u64>,
    out: &mut Vec<u8>,
) -> bool {
    let mut at = 0;
    let mut zero_sized_left = ZERO_SIZED_MAX;
    let mut previous = previous.iter();
    for ty in types {
        let packed = match shape(ty) {
            Shape::Number(size, signed) => read_number(args, at, size).map(|value| {
                let previous = previous.next().copied().unwrap_or(0);
                push_number(value.wrapping_sub(previous), size, signed, out);
                fresh.push(value);
                at + size
            }),
            _ => pack(ty, args, at, &mut zero_sized_left, out),
        };
        match packed {
            Some(end) => at = end,
            None => return false,
        }
    }
    let tail = &args[at..];
    tail.len() < 8
        && round_up_8(HEADER_SIZE + at) == HEADER_SIZE + args.len()
        && tail.iter().all(|byte| *byte == 0)
}

/// Packs one value; gives the offset after it, or `None` when it is irregular.
fn pack(ty: &Type, bytes: &[u8], at: usize, zero_sized_left: &mut usize, out: &mut Vec<u8>) -> Option<usize> {
    match shape(ty) {
        Shape::Number(size, signed) => {
            push_number(read_number(bytes, at, size)?, size, signed, out);
            Some(at + size)
        }
        Shape::Scalar(size) => {
            if size == 0 {
                *zero_sized_left = zero_sized_left.checked_sub(1)?;
            }
            out.extend_from_slice(bytes.get(at..at.checked_add(size)?)?);
            Some(at + size)
        }
        Shape::Units(unit) => {
            let len = read_length(bytes, at)?;
            let size = len.checked_mul(unit)?;
            push_varint(len as u64, out);
            out.extend_from_slice(bytes.get(at + 4..(at + 4).checked_add(size)?)?);
            Some(at + 4 + size)
        }
        Shape::Other(ty) => pack_container(ty, bytes, at, zero_sized_left, out),
    }
}

fn pack_container(
    ty: &Type,
    bytes: &[u8],
    mut at: usize,
    left: &mut usize,
    out: &mut Vec<u8>,
) -> Option<usize> {
    if is_nothing(ty) {
        *left = left.checked_sub(1)?;
    }
    match ty {
        Type::Optional(inner) => {
            let mark = *bytes.get(at)?;
            out.push(mark);
            match mark {
                0 => Some(at + 1),
                1 => pack(inner, bytes, at + 1, left, out),
                _ => None,
            }
        }
        Type::Sequence(element) | Type::Set(element) => {
            let len = read_length(bytes, at)?;
            push_varint(len as u64, out);
            pack_elements(&[element], len, bytes, at + 4, left, out)
        }
        Type::Map(key, value) => {
            let len = read_length(bytes, at)?;
            push_varint(len as u64, out);
            pack_elements(&[key, value], len, bytes, at + 4, left, out)
        }
        Type::Array(count, element) => pack_elements(&[element], *count as usize, bytes, at, left, out),
        Type::Tuple(tuple) => {
            for ty in tuple.types() {
                at = pack(ty, bytes, at, left, out)?;
            }
            Some(at)
        }
        Type::Record(record) => {
            for (_, ty) in record.fields() {
                at = pack(ty, bytes, at, left, out)?;
            }
            Some(at)
        }
        Type::Variant(types) => {
            let index = *bytes.get(at)?;
            out.push(index);
            if index == 255 {
                return Some(at + 1);
            }
            pack(types.get(usize::from(index))?, bytes, at + 1, left, out)
        }
        _ => None,
    }
}

/// Whether a value of this container is nothing at all: no bytes, no elements.
pub(super) fn is_nothing(ty: &Type) -> bool {
    match ty {
        Type::Array(count, _) => *count == 0,
        Type::Tuple(tuple) => tuple.types().is_empty(),
        Type::Record(record) => record.fields().is_empty(),
        _ => false,
    }
}

fn pack_elements(
    types: &[&Type],
    len: usize,
    bytes: &[u8],
    mut at: usize,
    left: &mut usize,
    out: &mut Vec<u8>,
) -> Option<usize> {
    if types.iter().all(|ty| ty.fixed_size() == Some(0)) && len > *left {
        return None;
    }
    for _ in 0..len {
        for ty in types {
            at = pack(ty, bytes, at, left, out)?;
        }
    }
    Some(at)
}

/// A length without the mark of a cut.
fn read_length(bytes: &[u8], at: usize) -> Option<usize> {
    let len = u32::from_le_bytes(array(bytes, at)?);
    (len & CUT == 0).then_some(len as usize)
}

/// The `size` bytes at `at` as an unsigned number.
fn read_number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    Some(match size {
        8 => u64::from_le_bytes(array(bytes, at)?),
        4 => u32::from_le_bytes(array(bytes, at)?).into(),
        _ => u16::from_le_bytes(array(bytes, at)?).into(),
    })
}
