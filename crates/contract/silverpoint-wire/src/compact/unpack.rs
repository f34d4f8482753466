//! Compact bytes to arguments. Every length is checked before it is used; output is bounded by the raw size that the block states.

use super::error::ExpandError;
use super::number::{mask, push_le, unzigzag};
use super::pack::{Shape, is_nothing, shape};
use crate::bytes::array;
use crate::layout::signature::{CUT, ZERO_SIZED_MAX};
use crate::signature::Type;

/// Expands all arguments. `previous` are the numbers of the site's record before, `fresh` takes those of this one.
pub(super) fn unpack_args(
    types: &[Type],
    previous: &[u64],
    fresh: &mut Vec<u64>,
    input: &mut Input<'_>,
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<(), ExpandError> {
    input.zero_sized_left = ZERO_SIZED_MAX;
    let mut previous = previous.iter();
    for ty in types {
        match shape(ty) {
            Shape::Number(size, signed) => {
                let previous = previous.next().copied().unwrap_or(0);
                let value = input.number(signed)?.wrapping_add(previous) & mask(size);
                push_le(value, size, out);
                fresh.push(value);
            }
            _ => unpack(ty, input, limit, out)?,
        }
    }
    Ok(())
}

fn unpack(ty: &Type, input: &mut Input<'_>, limit: usize, out: &mut Vec<u8>) -> Result<(), ExpandError> {
    if out.len() > limit {
        return Err(input.error("more comes out than the block states"));
    }
    match shape(ty) {
        Shape::Number(size, signed) => {
            let value = input.number(signed)? & mask(size);
            push_le(value, size, out);
        }
        Shape::Scalar(size) => {
            if size == 0 {
                input.count_zero_sized()?;
            }
            out.extend_from_slice(input.take(size)?);
        }
        Shape::Other(ty) if is_nothing(ty) => input.count_zero_sized()?,
        Shape::Units(unit) => {
            let len = input.length(out)?;
            let size =
                (len as usize).checked_mul(unit).ok_or_else(|| input.error("a length is impossible"))?;
            out.extend_from_slice(input.take(size)?);
        }
        Shape::Other(Type::Optional(inner)) => {
            let [mark] = input.array()?;
            out.push(mark);
            match mark {
                0 => {}
                1 => unpack(inner, input, limit, out)?,
                _ => return Err(input.error("an optional's mark is neither 0 nor 1")),
            }
        }
        Shape::Other(Type::Sequence(element) | Type::Set(element)) => {
            let len = input.length(out)?;
            unpack_elements(&[element], len as usize, input, limit, out)?;
        }
        Shape::Other(Type::Map(key, value)) => {
            let len = input.length(out)?;
            unpack_elements(&[key, value], len as usize, input, limit, out)?;
        }
        Shape::Other(Type::Array(count, element)) => {
            unpack_elements(&[element], *count as usize, input, limit, out)?
        }
        Shape::Other(Type::Tuple(tuple)) => {
            tuple.types().iter().try_for_each(|ty| unpack(ty, input, limit, out))?;
        }
        Shape::Other(Type::Record(record)) => {
            record.fields().iter().try_for_each(|(_, ty)| unpack(ty, input, limit, out))?;
        }
        Shape::Other(Type::Variant(types)) => {
            let [index] = input.array()?;
            out.push(index);
            if index != 255 {
                let ty = types.get(usize::from(index));
                unpack(
                    ty.ok_or_else(|| input.error("a variant has no such alternative"))?,
                    input,
                    limit,
                    out,
                )?;
            }
        }
        Shape::Other(_) => return Err(input.error("a value of this type is never packed")),
    }
    Ok(())
}

fn unpack_elements(
    types: &[&Type],
    len: usize,
    input: &mut Input<'_>,
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<(), ExpandError> {
    if types.iter().all(|ty| ty.fixed_size() == Some(0)) {
        if len > input.zero_sized_left {
            return Err(input.error("too many values of zero size"));
        }
    } else if len > limit.saturating_sub(out.len()) {
        // Every other element has at least one byte.
        return Err(input.error("a length is impossible"));
    }
    for _ in 0..len {
        for ty in types {
            unpack(ty, input, limit, out)?;
        }
    }
    Ok(())
}

pub(super) struct Input<'a> {
    bytes: &'a [u8],
    /// Not beyond the bytes.
    at: usize,
    /// As in decoding: bounds the work that takes no bytes, per record.
    zero_sized_left: usize,
}

impl<'a> Input<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Input<'a> {
        Input { bytes, at: at.min(bytes.len()), zero_sized_left: ZERO_SIZED_MAX }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }

    #[cold]
    pub(super) fn error(&self, what: &'static str) -> ExpandError {
        ExpandError { at: self.at, what }
    }

    #[inline]
    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8], ExpandError> {
        let end = self.at.checked_add(len).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| self.error("it ends within a record"))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], ExpandError> {
        let taken = array(self.bytes, self.at).ok_or_else(|| self.error("it ends within a record"))?;
        self.at += N;
        Ok(taken)
    }

    pub(super) fn count_zero_sized(&mut self) -> Result<(), ExpandError> {
        let left = self.zero_sized_left.checked_sub(1);
        self.zero_sized_left = left.ok_or_else(|| self.error("too many values of zero size"))?;
        Ok(())
    }

    #[inline]
    pub(super) fn varint(&mut self) -> Result<u64, ExpandError> {
        let Some(word) = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk()) else {
            return self.long_varint();
        };
        let word = u64::from_le_bytes(*word);
        if word & 0x80 == 0 {
            self.at += 1;
            return Ok(word & 0x7F);
        }
        // The first byte without the mark that more follows is the last one.
        let ends = !word & 0x8080_8080_8080_8080;
        if ends == 0 {
            return self.long_varint();
        }
        let bits = ends.trailing_zeros() + 1;
        self.at += bits as usize / 8;
        // Groups of 7 bits moved together: two, four, eight.
        let word = word & u64::MAX >> (64 - bits);
        let word = word & 0x007F_007F_007F_007F | (word & 0x7F00_7F00_7F00_7F00) >> 1;
        let word = word & 0x0000_3FFF_0000_3FFF | (word & 0x3FFF_0000_3FFF_0000) >> 2;
        Ok(word & 0x0FFF_FFFF | (word & 0x0FFF_FFFF_0000_0000) >> 4)
    }

    /// Passes over a varint.
    #[inline]
    pub(super) fn skip_varint(&mut self) -> Result<(), ExpandError> {
        if let Some(word) = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk()) {
            let word = u64::from_le_bytes(*word);
            // A guess that is right spares what follows from waiting for this length.
            if word & 0x80 == 0 {
                self.at += 1;
                return Ok(());
            }
            let ends = !word & 0x8080_8080_8080_8080;
            if ends != 0 {
                self.at += ends.trailing_zeros() as usize / 8 + 1;
                return Ok(());
            }
        }
        self.long_varint().map(|_| ())
    }

    /// Passes over bytes.
    #[inline]
    pub(super) fn skip(&mut self, len: usize) -> Result<(), ExpandError> {
        // (No more than there are: `at` is not beyond them.)
        if len > self.bytes.len() - self.at {
            return Err(self.error("it ends within a record"));
        }
        self.at += len;
        Ok(())
    }

    #[cold]
    fn long_varint(&mut self) -> Result<u64, ExpandError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.error("a number has more than ten bytes"))
    }

    #[inline]
    pub(super) fn number(&mut self, signed: bool) -> Result<u64, ExpandError> {
        let word = self.varint()?;
        Ok(if signed { unzigzag(word) as u64 } else { word })
    }

    /// A length.
    #[inline]
    pub(super) fn checked_length(&mut self) -> Result<u32, ExpandError> {
        let len = self.varint()?;
        u32::try_from(len)
            .ok()
            .filter(|len| len & CUT == 0)
            .ok_or_else(|| self.error("a length is impossible"))
    }

    /// A length, which is appended as u32.
    pub(super) fn length(&mut self, out: &mut Vec<u8>) -> Result<u32, ExpandError> {
        let len = self.checked_length()?;
        out.extend_from_slice(&len.to_le_bytes());
        Ok(len)
    }
}
