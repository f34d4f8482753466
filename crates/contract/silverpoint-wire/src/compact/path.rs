//! Arguments that are a few numbers, scalars and texts, as most are: passed over and expanded step by step, without a look at their types.

use super::error::ExpandError;
use super::number::{mask, push_le};
use super::pack::{Shape, shape};
use super::unpack::Input;
use crate::bytes::round_up_8;
use crate::layout::record::HEADER_SIZE;
use crate::record::RecordHeader;
use crate::signature::Type;

/// One step over packed arguments.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A varint: by how much a number of so many bytes differs from that of the site's record before.
    Number(u8, bool),
    /// Bytes as they are.
    Bytes(u32),
    /// A length, and so many units of this size.
    Units(u32),
}

/// The way through the arguments of a site.
#[derive(Clone, Debug)]
pub(super) struct Path {
    steps: Box<[Step]>,
    /// Raw bytes of the arguments, but for the units.
    fixed: usize,
    /// All records of the site have the same size.
    is_fixed: bool,
}

const MORE: &str = "more comes out than the block states";

impl Path {
    /// `None` for signatures with optionals and containers: these are unpacked.
    pub(super) fn new(types: &[Type]) -> Option<Path> {
        let mut steps: Vec<Step> = Vec::new();
        let mut fixed = 0;
        for ty in types {
            let step = match shape(ty) {
                Shape::Number(size, signed) => {
                    fixed += size;
                    Step::Number(size as u8, signed)
                }
                Shape::Scalar(size) => {
                    fixed += size;
                    if let Some(Step::Bytes(bytes)) = steps.last_mut() {
                        *bytes += size as u32;
                        continue;
                    }
                    Step::Bytes(size as u32)
                }
                Shape::Units(unit) => {
                    fixed += 4;
                    Step::Units(unit as u32)
                }
                Shape::Other(_) => return None,
            };
            steps.push(step);
        }
        let is_fixed = !steps.iter().any(|step| matches!(step, Step::Units(_)));
        Some(Path { steps: steps.into(), fixed, is_fixed })
    }

    /// Passes over the arguments; gives their raw bytes.
    #[inline(always)] // It has one caller, whose every record goes through it.
    pub(super) fn pass(&self, input: &mut Input<'_>) -> Result<usize, ExpandError> {
        let mut raw = self.fixed;
        for step in &self.steps {
            match *step {
                Step::Number(..) => input.skip_varint()?,
                Step::Bytes(bytes) => input.skip(bytes as usize)?,
                Step::Units(unit) => {
                    let bytes = units(input, unit)?.1;
                    input.skip(bytes)?;
                    raw += bytes;
                }
            }
        }
        Ok(raw)
    }

    /// Appends a record whose arguments come next, its size found. `last` are the numbers of the site's record before, and then those of this one.
    #[inline]
    pub(super) fn expand(
        &self,
        header: RecordHeader,
        last: &mut [u64],
        input: &mut Input<'_>,
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), ExpandError> {
        if self.is_fixed {
            self.expand_fixed(header, last, input, limit, out)
        } else {
            self.expand_any(header, last, input, limit, out)
        }
    }

    #[inline]
    fn expand_fixed(
        &self,
        header: RecordHeader,
        last: &mut [u64],
        input: &mut Input<'_>,
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), ExpandError> {
        let begin = out.len();
        let size = round_up_8(HEADER_SIZE + self.fixed);
        if size > limit.saturating_sub(begin) {
            return Err(input.error(MORE));
        }
        out.resize(begin + size, 0);
        let record = &mut out[begin..];
        record[..HEADER_SIZE].copy_from_slice(&RecordHeader { size: size as u32, ..header }.encode());
        // Invariant: the steps' bytes end at `HEADER_SIZE + fixed`, within the record.
        let mut at = HEADER_SIZE;
        let mut last = last.iter_mut();
        for step in &self.steps {
            match *step {
                Step::Number(size, signed) => {
                    let value = number(input, usize::from(size), signed, last.next())?;
                    match size {
                        8 => record[at..at + 8].copy_from_slice(&value.to_le_bytes()),
                        4 => record[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes()),
                        _ => record[at..at + 2].copy_from_slice(&(value as u16).to_le_bytes()),
                    }
                    at += usize::from(size);
                }
                Step::Bytes(bytes) => {
                    let bytes = bytes as usize;
                    let to = &mut record[at..at + bytes];
                    // One number's worth is no call.
                    match <&mut [u8; 8]>::try_from(&mut *to) {
                        Ok(eight) => *eight = input.array()?,
                        Err(_) => to.copy_from_slice(input.take(bytes)?),
                    }
                    at += bytes;
                }
                // Then it is not fixed.
                Step::Units(_) => return Err(input.error(MORE)),
            }
        }
        Ok(())
    }

    fn expand_any(
        &self,
        header: RecordHeader,
        last: &mut [u64],
        input: &mut Input<'_>,
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), ExpandError> {
        let begin = out.len();
        out.extend_from_slice(&header.encode());
        let mut last = last.iter_mut();
        for step in &self.steps {
            match *step {
                Step::Number(size, signed) => {
                    let size = usize::from(size);
                    push_le(number(input, size, signed, last.next())?, size, out);
                }
                Step::Bytes(bytes) => out.extend_from_slice(input.take(bytes as usize)?),
                Step::Units(unit) => {
                    let (len, bytes) = units(input, unit)?;
                    out.extend_from_slice(&len.to_le_bytes());
                    out.extend_from_slice(input.take(bytes)?);
                }
            }
            if out.len() > limit {
                return Err(input.error(MORE));
            }
        }
        let size = round_up_8(out.len() - begin);
        out.resize(begin + size, 0);
        if out.len() > limit {
            return Err(input.error(MORE));
        }
        out[begin..begin + 4].copy_from_slice(&(size as u32).to_le_bytes());
        Ok(())
    }
}

/// The number of a record; `last` is that of the record before.
#[inline]
fn number(
    input: &mut Input<'_>,
    size: usize,
    signed: bool,
    last: Option<&mut u64>,
) -> Result<u64, ExpandError> {
    let difference = input.number(signed)?;
    let Some(last) = last else { return Ok(difference & mask(size)) };
    *last = difference.wrapping_add(*last) & mask(size);
    Ok(*last)
}

/// A length, and how many bytes so many units are.
#[inline]
fn units(input: &mut Input<'_>, unit: u32) -> Result<(u32, usize), ExpandError> {
    let len = input.checked_length()?;
    let bytes = (len as usize).checked_mul(unit as usize);
    Ok((len, bytes.ok_or_else(|| input.error("a length is impossible"))?))
}
