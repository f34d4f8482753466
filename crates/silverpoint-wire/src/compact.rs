//! Payloads of records made small, and expanded again byte for byte (spec/file.md section 3).

use std::collections::HashMap;
use std::fmt;

use crate::bytes::{array, round_up_8, u64_at};
use crate::layout::block::PAYLOAD_MAX;
use crate::layout::record::{HEADER_SIZE, PAD, PAD_MIN};
use crate::layout::signature::{CUT, ZERO_SIZED_MAX};
use crate::record::{RecordError, RecordHeader, Records};
use crate::signature::{self, SignatureError, Type};

/// The argument types of sites by id, control records included.
#[derive(Clone, Debug)]
pub struct Signatures {
    sites: HashMap<u32, Vec<Type>>,
}

impl Default for Signatures {
    fn default() -> Signatures {
        Signatures::new()
    }
}

impl Signatures {
    /// Knows the control records alone.
    pub fn new() -> Signatures {
        let control = [(1, "ALLL"), (2, "AL"), (3, "IL"), (4, "s"), (5, "")];
        let sites = control
            .into_iter()
            .filter_map(|(site, text)| Some((site, signature::parse(text).ok()?)))
            .collect();
        Signatures { sites }
    }

    /// Adds a site.
    pub fn insert(&mut self, site: u32, signature: &str) -> Result<(), SignatureError> {
        self.sites.insert(site, signature::parse(signature)?);
        Ok(())
    }

    /// The types of a site's arguments.
    pub fn get(&self, site: u32) -> Option<&[Type]> {
        self.sites.get(&site).map(Vec::as_slice)
    }
}

/// Why a compact payload cannot be expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpandError {
    /// Offset in the compact payload.
    pub at: usize,
    /// What is wrong.
    pub what: &'static str,
}

impl fmt::Display for ExpandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "compact payload, byte {}: {}", self.at, self.what)
    }
}

impl std::error::Error for ExpandError {}

/// Appends the compact form of a raw payload, which must be a sequence of records; a site without signature is written as it is.
pub fn compact(raw: &[u8], signatures: &Signatures, out: &mut Vec<u8>) -> Result<(), RecordError> {
    let first = Records::new(raw).without_pads().next().transpose()?.map_or(0, |record| record.header.ticks);
    out.extend_from_slice(&first.to_le_bytes());
    let mut state = State::new(first);
    let mut args = Vec::new();
    let mut values = Vec::new();
    for record in Records::new(raw) {
        let record = record?;
        let RecordHeader { size, flags, site, ticks } = record.header;
        args.clear();
        values.clear();
        let regular = site != PAD
            && flags == 0
            && signatures.get(site).is_some_and(|types| {
                pack_args(types, record.args, state.previous(site), &mut values, &mut args)
            });
        state.push_site(site, !regular, out);
        if site != PAD {
            state.push_ticks(ticks, out);
        }
        if regular {
            out.extend_from_slice(&args);
            state.remember(site, &values);
        } else {
            push_varint(u64::from(size), out);
            if site != PAD {
                out.push((flags >> 24) as u8);
            }
            out.extend_from_slice(record.args);
        }
    }
    Ok(())
}

/// Appends the raw payload that `compact` was made from. At most `raw_size` bytes come out; the sum must agree.
pub fn expand(
    compact: &[u8],
    raw_size: usize,
    signatures: &Signatures,
    out: &mut Vec<u8>,
) -> Result<(), ExpandError> {
    let start = out.len();
    let limit = start + raw_size.min(PAYLOAD_MAX);
    let mut input = Input { bytes: compact, at: 8, zero_sized_left: ZERO_SIZED_MAX };
    let first = u64_at(compact, 0).ok_or(ExpandError { at: 0, what: "it ends within its first ticks" })?;
    let mut state = State::new(first);
    let mut values = Vec::new();
    while input.at < compact.len() {
        let (site, irregular) = state.read_site(&mut input)?;
        let ticks = if site == PAD { 0 } else { state.read_ticks(&mut input)? };
        let begin = out.len();
        if irregular {
            let size = usize::try_from(input.varint()?).unwrap_or(usize::MAX);
            let least = if site == PAD { PAD_MIN } else { HEADER_SIZE };
            if size < least || size % 8 != 0 || size > limit - begin.min(limit) {
                return Err(input.error("a record's size is impossible"));
            }
            let flags = if site == PAD { 0 } else { u32::from(input.array::<1>()?[0]) << 24 };
            push_header(RecordHeader { size: size as u32, flags, site, ticks }, out);
            out.extend_from_slice(input.take(size - least)?);
        } else {
            let types = signatures.get(site).ok_or_else(|| input.error("the site has no signature"))?;
            push_header(RecordHeader { size: 0, flags: 0, site, ticks }, out);
            values.clear();
            input.zero_sized_left = ZERO_SIZED_MAX;
            for (i, ty) in types.iter().enumerate() {
                let previous = state.previous(site).get(i).copied().unwrap_or(0);
                values.push(unpack_argument(ty, previous, &mut input, limit, out)?);
            }
            state.remember(site, &values);
            let size = round_up_8(out.len() - begin);
            out.resize(begin + size, 0);
            if out.len() > limit {
                return Err(input.error("more comes out than the block states"));
            }
            out[begin..begin + 4].copy_from_slice(&(size as u32).to_le_bytes());
        }
    }
    if out.len() != limit { Err(input.error("less comes out than the block states")) } else { Ok(()) }
}

fn push_header(header: RecordHeader, out: &mut Vec<u8>) {
    let bytes = header.encode();
    out.extend_from_slice(if header.site == PAD { &bytes[..PAD_MIN] } else { &bytes });
}

/// What one record tells the next.
struct State {
    site: u32,
    ticks: u64,
    values: HashMap<u32, Vec<u64>>,
}

impl State {
    fn new(first_ticks: u64) -> State {
        State { site: 0, ticks: first_ticks, values: HashMap::new() }
    }

    fn previous(&self, site: u32) -> &[u64] {
        self.values.get(&site).map_or(&[], Vec::as_slice)
    }

    fn remember(&mut self, site: u32, values: &[u64]) {
        let known = self.values.entry(site).or_default();
        known.clear();
        known.extend_from_slice(values);
    }

    fn push_site(&mut self, site: u32, irregular: bool, out: &mut Vec<u8>) {
        let difference = i64::from(site) - i64::from(self.site);
        push_varint(zigzag(difference) << 1 | u64::from(irregular), out);
        self.site = site;
    }

    fn read_site(&mut self, input: &mut Input<'_>) -> Result<(u32, bool), ExpandError> {
        let word = input.varint()?;
        let site = i64::from(self.site).wrapping_add(unzigzag(word >> 1));
        self.site = u32::try_from(site).map_err(|_| input.error("a site id is impossible"))?;
        Ok((self.site, word & 1 != 0))
    }

    fn push_ticks(&mut self, ticks: u64, out: &mut Vec<u8>) {
        push_varint(zigzag(ticks.wrapping_sub(self.ticks) as i64), out);
        self.ticks = ticks;
    }

    fn read_ticks(&mut self, input: &mut Input<'_>) -> Result<u64, ExpandError> {
        self.ticks = self.ticks.wrapping_add(unzigzag(input.varint()?) as u64);
        Ok(self.ticks)
    }
}

/// How a type is written.
enum Shape<'a> {
    /// As a varint: bytes and sign.
    Number(usize, bool),
    /// As it is: bytes.
    Scalar(usize),
    /// Length as a varint, then units of so many bytes.
    Units(usize),
    /// Anything else.
    Other(&'a Type),
}

fn shape(ty: &Type) -> Shape<'_> {
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

/// Packs all arguments; false when the rule would not restore the bytes exactly.
fn pack_args(
    types: &[Type],
    args: &[u8],
    previous: &[u64],
    values: &mut Vec<u64>,
    out: &mut Vec<u8>,
) -> bool {
    let mut at = 0;
    let mut zero_sized_left = ZERO_SIZED_MAX;
    for (i, ty) in types.iter().enumerate() {
        let packed = match shape(ty) {
            Shape::Number(size, signed) => read_number(args, at, size).map(|value| {
                push_number(value.wrapping_sub(previous.get(i).copied().unwrap_or(0)), size, signed, out);
                values.push(value);
                at + size
            }),
            _ => {
                values.push(0);
                pack(ty, args, at, &mut zero_sized_left, out)
            }
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
fn is_nothing(ty: &Type) -> bool {
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

/// Expands a top-level argument; gives the number that the next record's difference refers to.
fn unpack_argument(
    ty: &Type,
    previous: u64,
    input: &mut Input<'_>,
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<u64, ExpandError> {
    if let Shape::Number(size, signed) = shape(ty) {
        let value = input.number(signed)?.wrapping_add(previous) & mask(size);
        out.extend_from_slice(&value.to_le_bytes()[..size]);
        return Ok(value);
    }
    unpack(ty, input, limit, out)?;
    Ok(0)
}

fn unpack(ty: &Type, input: &mut Input<'_>, limit: usize, out: &mut Vec<u8>) -> Result<(), ExpandError> {
    if out.len() > limit {
        return Err(input.error("more comes out than the block states"));
    }
    match shape(ty) {
        Shape::Number(size, signed) => {
            let value = input.number(signed)? & mask(size);
            out.extend_from_slice(&value.to_le_bytes()[..size]);
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

struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
    /// As in decoding: bounds the work that takes no bytes, per record.
    zero_sized_left: usize,
}

impl<'a> Input<'a> {
    fn error(&self, what: &'static str) -> ExpandError {
        ExpandError { at: self.at, what }
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], ExpandError> {
        let end = self.at.checked_add(len).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| self.error("it ends within a record"))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ExpandError> {
        let taken = array(self.bytes, self.at).ok_or_else(|| self.error("it ends within a record"))?;
        self.at += N;
        Ok(taken)
    }

    fn count_zero_sized(&mut self) -> Result<(), ExpandError> {
        let left = self.zero_sized_left.checked_sub(1);
        self.zero_sized_left = left.ok_or_else(|| self.error("too many values of zero size"))?;
        Ok(())
    }

    fn varint(&mut self) -> Result<u64, ExpandError> {
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

    fn number(&mut self, signed: bool) -> Result<u64, ExpandError> {
        let word = self.varint()?;
        Ok(if signed { unzigzag(word) as u64 } else { word })
    }

    /// A length, which is appended as u32.
    fn length(&mut self, out: &mut Vec<u8>) -> Result<u32, ExpandError> {
        let len = self.varint()?;
        let len = u32::try_from(len)
            .ok()
            .filter(|len| len & CUT == 0)
            .ok_or_else(|| self.error("a length is impossible"))?;
        out.extend_from_slice(&len.to_le_bytes());
        Ok(len)
    }
}

/// A length without the mark of a cut.
fn read_length(bytes: &[u8], at: usize) -> Option<usize> {
    let len = u32::from_le_bytes(array(bytes, at)?);
    (len & CUT == 0).then_some(len as usize)
}

/// The `size` bytes at `at` as an unsigned number.
fn read_number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let mut word = [0; 8];
    word[..size].copy_from_slice(bytes.get(at..at.checked_add(size)?)?);
    Some(u64::from_le_bytes(word))
}

/// Appends a number of this width (higher bits do not count) so that small magnitudes are short.
fn push_number(value: u64, size: usize, signed: bool, out: &mut Vec<u8>) {
    let shift = 64 - 8 * size as u32;
    if signed {
        push_varint(zigzag((value << shift) as i64 >> shift), out);
    } else {
        push_varint(value & mask(size), out);
    }
}

fn mask(size: usize) -> u64 {
    u64::MAX >> (64 - 8 * size as u32)
}

fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

fn push_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(site: u32, ticks: u64, args: &[u8]) -> Vec<u8> {
        let size = round_up_8(HEADER_SIZE + args.len());
        let mut out = RecordHeader { size: size as u32, flags: 0, site, ticks }.encode().to_vec();
        out.extend_from_slice(args);
        out.resize(size, 0);
        out
    }

    #[test]
    fn three_numbers_take_at_most_16_bytes() {
        let mut raw = Vec::new();
        for i in 0..1000_u32 {
            let mut args = i.to_le_bytes().to_vec();
            args.extend_from_slice(&(f64::from(i) * 1.37).to_le_bytes());
            args.extend_from_slice(&(1000 + u64::from(i) * 3).to_le_bytes());
            raw.extend(record(17, 1 << 50 | u64::from(i * 97 + i % 13), &args));
        }
        let mut signatures = Signatures::new();
        signatures.insert(17, "idL").unwrap();
        let mut small = Vec::new();
        compact(&raw, &signatures, &mut small).unwrap();
        assert!(small.len() <= 16 * 1000, "{} bytes a record", small.len() as f64 / 1000.0);
        let mut back = Vec::new();
        expand(&small, raw.len(), &signatures, &mut back).unwrap();
        assert_eq!(back, raw);
    }

    proptest! {
        /// Whatever the bytes of the records, they come back.
        #[test]
        fn expansion_is_exact(records in prop::collection::vec((0_u32..24, any::<u64>(), prop::collection::vec(0_u8..4, 0..48)), 0..20)) {
            let mut signatures = Signatures::new();
            let kinds = ["idL", "s", "[i", "?l", "{si", "<P|x:h,y:$A,>", "/is|", "#2:(bn)", "eE|h|1=a,;", "@unit=ms;H"];
            for (i, kind) in kinds.iter().enumerate() {
                signatures.insert(i as u32 + 10, kind).unwrap();
            }
            let mut raw = Vec::new();
            for (site, ticks, args) in &records {
                if *site == PAD {
                    raw.extend_from_slice(&16_u32.to_le_bytes());
                    raw.extend_from_slice(&[0; 4]);
                    raw.extend_from_slice(&ticks.to_le_bytes());
                } else {
                    raw.extend(record(*site, *ticks, args));
                }
            }
            let mut small = Vec::new();
            compact(&raw, &signatures, &mut small).unwrap();
            let mut back = Vec::new();
            expand(&small, raw.len(), &signatures, &mut back).unwrap();
            prop_assert_eq!(back, raw);
        }

        /// Hostile bytes are refused, not obeyed.
        #[test]
        fn expansion_of_anything_is_bounded(bytes in prop::collection::vec(any::<u8>(), 0..200), size in 0_usize..4096) {
            let mut signatures = Signatures::new();
            for (i, kind) in ["[[#9:n", "s", "{[ii", "#65535:n"].iter().enumerate() {
                signatures.insert(i as u32 + 16, kind).unwrap();
            }
            let mut out = Vec::new();
            let _ = expand(&bytes, size, &signatures, &mut out);
            prop_assert!(out.len() <= size + 70_000);
        }
    }
}
