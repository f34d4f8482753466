//! Numbers of the plain types, read straight from a record's arguments: most arguments are such, and need no visitor.

use silverpoint_wire::signature::Type;

/// A value of one of the types that are a number and nothing else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Signed(i64),
    Unsigned(u64),
    Float32(f32),
    Float64(f64),
}

impl Number {
    /// Of an integer's type.
    pub(crate) fn is_whole(self) -> bool {
        matches!(self, Self::Signed(_) | Self::Unsigned(_))
    }
}

/// The number at `at`, and where it ends. `None`: the type is another, or bytes are missing; a walk finds out
/// which.
#[inline]
pub(crate) fn read(ty: &Type, args: &[u8], at: usize) -> Option<(Number, usize)> {
    let rest = args.get(at..)?;
    let (number, size) = match ty {
        Type::Int { bits: 64, signed: true } => (Number::Signed(i64::from_le_bytes(*rest.first_chunk()?)), 8),
        Type::Int { bits: 64, signed: false } => {
            (Number::Unsigned(u64::from_le_bytes(*rest.first_chunk()?)), 8)
        }
        Type::Int { bits: 32, signed: true } => {
            (Number::Signed(i32::from_le_bytes(*rest.first_chunk()?).into()), 4)
        }
        Type::Int { bits: 32, signed: false } => {
            (Number::Unsigned(u32::from_le_bytes(*rest.first_chunk()?).into()), 4)
        }
        Type::Int { bits: 16, signed: true } => {
            (Number::Signed(i16::from_le_bytes(*rest.first_chunk()?).into()), 2)
        }
        Type::Int { bits: 16, signed: false } => {
            (Number::Unsigned(u16::from_le_bytes(*rest.first_chunk()?).into()), 2)
        }
        Type::Int { bits: 8, signed: true } => {
            (Number::Signed(i8::from_le_bytes(*rest.first_chunk()?).into()), 1)
        }
        Type::Int { bits: 8, signed: false } => (Number::Unsigned((*rest.first()?).into()), 1),
        Type::Float32 => (Number::Float32(f32::from_le_bytes(*rest.first_chunk()?)), 4),
        Type::Float64 => (Number::Float64(f64::from_le_bytes(*rest.first_chunk()?)), 8),
        _ => return None,
    };
    Some((number, at + size))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use silverpoint_wire::signature::Type;
    use silverpoint_wire::value::{WalkError, walk};

    use super::*;
    use crate::format::Spec;
    use crate::json::{JsonVisitor, Stack as JsonStack};
    use crate::render::{Quoting, Stack, TextVisitor};

    #[test]
    fn what_is_read_here_is_what_a_walk_shows() {
        let types = [8, 16, 32, 64]
            .into_iter()
            .flat_map(|bits| [true, false].into_iter().map(move |signed| Type::Int { bits, signed }));
        let types: Vec<Type> = types.chain([Type::Float32, Type::Float64]).collect();
        let patterns: [[u8; 8]; 7] = [
            [0; 8],
            [0xFF; 8],
            [1, 0, 0, 0, 0, 0, 0, 0],
            [0, 0, 0, 0, 0, 0, 0, 0x80],
            1.5f64.to_le_bytes(),
            [0, 0, 0xC0, 0x3F, 0, 0, 0xF0, 0x7F],
            [0, 0x80, 0x80, 0x7F, 1, 0, 0xF8, 0xFF],
        ];
        for ty in &types {
            for bytes in &patterns {
                let args = [&[7, 7][..], bytes].concat();
                let (number, end) = read(ty, &args, 2).expect("a number");
                let (mut short, mut long) = (String::new(), String::new());
                crate::format::number(&mut short, number);
                let mut stack = Stack::default();
                let mut visitor = TextVisitor::new(&mut long, &mut stack, Spec::default(), Quoting::Never);
                let walked: Result<usize, WalkError<Infallible>> = walk(ty, &args, 2, &mut visitor);
                assert_eq!(walked.ok(), Some(end), "{ty:?}");
                assert_eq!(short, long, "{ty:?} {bytes:?}");
                let (mut short, mut long) = (String::new(), String::new());
                crate::json::push_number(&mut short, number);
                let mut stack = JsonStack::default();
                let mut visitor = JsonVisitor::new(&mut long, &mut stack);
                let walked: Result<usize, WalkError<Infallible>> = walk(ty, &args, 2, &mut visitor);
                assert_eq!((walked.ok(), &short), (Some(end), &long), "{ty:?} {bytes:?}");
            }
            let size = read(ty, &[0; 16], 0).expect("a number").1;
            assert_eq!(read(ty, &[0; 16][..size - 1], 0), None, "{ty:?}: a byte is missing");
            assert_eq!(read(ty, &[0; 16], 17 - size), None, "{ty:?}: the last byte is missing");
            assert_eq!(read(ty, &[0; 16], 20), None, "{ty:?}: beyond the end");
        }
        assert_eq!(read(&Type::Bool, &[1], 0), None);
        assert_eq!(read(&Type::Int { bits: 128, signed: true }, &[0; 16], 0), None);
        assert_eq!(read(&Type::Meta("unit".into(), "ms".into(), Box::new(Type::Float64)), &[0; 8], 0), None);
    }
}
