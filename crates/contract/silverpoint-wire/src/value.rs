//! The value model: one visitor, driven by packed bytes and a type. Every writer implements [`Visitor`]; [`walk`] is what every
//! reader of packed arguments calls.

use std::borrow::Cow;
use std::fmt;

use crate::bytes::array;
use crate::layout::signature::{CUT, ZERO_SIZED_MAX};
use crate::leaf::{Container, Leaf, Pieces};
use crate::signature::Type;

/// What a sequence was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// Elements in order.
    List,
    /// Elements of a set.
    Set,
    /// Values of different types.
    Tuple,
}

/// Text in the encoding of its source. `missing` units were cut at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text<'a> {
    /// UTF-8, not necessarily valid.
    Utf8(&'a [u8]),
    /// UTF-16, little-endian units, not necessarily valid.
    Utf16(&'a [u8]),
    /// UTF-32, little-endian units, not necessarily valid.
    Utf32(&'a [u8]),
}

impl<'a> Text<'a> {
    /// The characters; what is not valid becomes U+FFFD.
    pub fn chars(self) -> impl Iterator<Item = char> + 'a {
        let (utf8, utf16, utf32) = match self {
            Text::Utf8(bytes) => (bytes, &[][..], &[][..]),
            Text::Utf16(bytes) => (&[][..], bytes, &[][..]),
            Text::Utf32(bytes) => (&[][..], &[][..], bytes),
        };
        let from_8 = utf8.utf8_chunks().flat_map(|chunk| {
            chunk.valid().chars().chain((!chunk.invalid().is_empty()).then_some(char::REPLACEMENT_CHARACTER))
        });
        let units = utf16.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
        let from_16 = char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER));
        let from_32 = utf32.chunks_exact(4).map(|unit| {
            char::from_u32(u32::from_le_bytes([unit[0], unit[1], unit[2], unit[3]]))
                .unwrap_or(char::REPLACEMENT_CHARACTER)
        });
        from_8.chain(from_16).chain(from_32)
    }

    /// The text, copied where it is not valid UTF-8: what is not valid becomes U+FFFD.
    pub fn to_string_lossy(self) -> Cow<'a, str> {
        match self {
            Text::Utf8(bytes) => String::from_utf8_lossy(bytes),
            _ => Cow::Owned(self.chars().collect()),
        }
    }

    /// The text itself when it is valid UTF-8.
    pub fn as_str(self) -> Option<&'a str> {
        match self {
            Text::Utf8(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }
}

/// Receives a value piece by piece. Containers are bracketed by `begin_…` and `end`; between them come their contents, for maps key
/// and value in turn, for records [`Visitor::field`] before each value.
pub trait Visitor {
    /// What stops the visit.
    type Error;
    /// No value.
    fn null(&mut self) -> Result<(), Self::Error>;
    /// A truth value.
    fn bool(&mut self, value: bool) -> Result<(), Self::Error>;
    /// A signed integer of at most 64 bits.
    fn i64(&mut self, value: i64) -> Result<(), Self::Error>;
    /// An unsigned integer of at most 64 bits.
    fn u64(&mut self, value: u64) -> Result<(), Self::Error>;
    /// A signed integer of 128 bits.
    fn i128(&mut self, value: i128) -> Result<(), Self::Error>;
    /// An unsigned integer of 128 bits.
    fn u128(&mut self, value: u128) -> Result<(), Self::Error>;
    /// A float of 32 bits.
    fn f32(&mut self, value: f32) -> Result<(), Self::Error>;
    /// A float of 64 bits.
    fn f64(&mut self, value: f64) -> Result<(), Self::Error>;
    /// A character; a unit that is none alone is U+FFFD.
    fn char(&mut self, value: char) -> Result<(), Self::Error>;
    /// An address.
    fn pointer(&mut self, value: u64) -> Result<(), Self::Error>;
    /// Text; `missing` units were cut.
    fn text(&mut self, text: Text<'_>, missing: u32) -> Result<(), Self::Error>;
    /// Bytes; `missing` were cut.
    fn bytes(&mut self, bytes: &[u8], missing: u32) -> Result<(), Self::Error>;
    /// A UUID.
    fn uuid(&mut self, uuid: [u8; 16]) -> Result<(), Self::Error>;
    /// Nanoseconds since 1970-01-01T00:00Z.
    fn time(&mut self, unix_ns: i64) -> Result<(), Self::Error>;
    /// Nanoseconds.
    fn duration(&mut self, ns: i64) -> Result<(), Self::Error>;
    /// One CBOR item, as its bytes, not validated.
    fn any(&mut self, cbor: &[u8]) -> Result<(), Self::Error>;
    /// An optional without value.
    fn none(&mut self) -> Result<(), Self::Error>;
    /// An optional's value follows.
    fn some(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
    /// `len` elements follow; `missing` more were cut.
    fn begin_sequence(&mut self, kind: Sequence, len: u32, missing: u32) -> Result<(), Self::Error>;
    /// `len` pairs follow.
    fn begin_map(&mut self, len: u32) -> Result<(), Self::Error>;
    /// `fields` fields follow.
    fn begin_record(&mut self, name: &str, fields: usize) -> Result<(), Self::Error>;
    /// The next value is this field's.
    fn field(&mut self, name: &str) -> Result<(), Self::Error>;
    /// The innermost container is complete.
    fn end(&mut self) -> Result<(), Self::Error>;
    /// An enumeration's value, with its label if known. `value` is the underlying number, sign- or zero-extended.
    fn enumeration(&mut self, name: &str, label: Option<&str>, value: i64) -> Result<(), Self::Error>;
    /// The alternative `index` of a variant follows.
    fn variant(&mut self, index: u8) -> Result<(), Self::Error> {
        let _ = index;
        Ok(())
    }
    /// Metadata of the value that follows.
    fn meta(&mut self, key: &str, text: &str) -> Result<(), Self::Error> {
        let _ = (key, text);
        Ok(())
    }
}

/// Why packed bytes are no value of the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// Offset in the bytes.
    pub at: usize,
    /// What is wrong.
    pub kind: DecodeErrorKind,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeErrorKind {
    /// The bytes end within the value.
    Truncated,
    /// A length says more than remains.
    Length(u32),
    /// A bool, also that of an enumeration, or an optional's mark is neither 0 nor 1.
    Mark(u8),
    /// A variant has no such alternative.
    Alternative(u8),
    /// More than 65,536 values of zero size in one argument.
    ZeroSized(u32),
    /// A cut mark where the element has no fixed size.
    Cut,
}

impl DecodeErrorKind {
    /// Short name, as in the vectors.
    pub fn name(self) -> &'static str {
        match self {
            DecodeErrorKind::Truncated => "truncated",
            DecodeErrorKind::Length(_) => "length",
            DecodeErrorKind::Mark(_) => "mark",
            DecodeErrorKind::Alternative(_) => "alternative",
            DecodeErrorKind::ZeroSized(_) => "zero_sized",
            DecodeErrorKind::Cut => "cut",
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {} of the arguments: ", self.at)?;
        match self.kind {
            DecodeErrorKind::Truncated => f.write_str("the value is truncated"),
            DecodeErrorKind::Length(len) => write!(f, "the length {len} exceeds what remains"),
            DecodeErrorKind::Mark(mark) => write!(f, "{mark} stands where 0 or 1 must"),
            DecodeErrorKind::Alternative(index) => write!(f, "the variant has no alternative {index}"),
            DecodeErrorKind::ZeroSized(len) => {
                write!(f, "{len} values of zero size are more than an argument may have")
            }
            DecodeErrorKind::Cut => f.write_str("a value of this type cannot be cut"),
        }
    }
}

impl std::error::Error for DecodeError {}

/// What ended a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalkError<E> {
    /// The bytes are wrong.
    Decode(DecodeError),
    /// The visitor stopped.
    Visitor(E),
}

impl<E> From<DecodeError> for WalkError<E> {
    fn from(error: DecodeError) -> Self {
        WalkError::Decode(error)
    }
}

/// Drives `visitor` with the value of type `ty` that starts at `at` of `bytes`; gives the offset after it.
pub fn walk<V: Visitor>(
    ty: &Type,
    bytes: &[u8],
    at: usize,
    visitor: &mut V,
) -> Result<usize, WalkError<V::Error>> {
    let mut walker = Walker { bytes, at, zero_sized_left: ZERO_SIZED_MAX, visitor };
    walker.value(ty)?;
    Ok(walker.at)
}

/// The offset after the value of type `ty` that starts at `at`. Constant time for types of fixed size (whose bytes are not looked at).
pub fn skip(ty: &Type, bytes: &[u8], at: usize) -> Result<usize, DecodeError> {
    if let Some(size) = ty.fixed_size() {
        let end = at.checked_add(size).filter(|end| *end <= bytes.len());
        return end.ok_or(DecodeError { at, kind: DecodeErrorKind::Truncated });
    }
    match walk(ty, bytes, at, &mut Nobody) {
        Ok(end) => Ok(end),
        Err(WalkError::Decode(error)) => Err(error),
        Err(WalkError::Visitor(never)) => match never {},
    }
}

/// The size of every pair of a map, if it is always the same.
fn pair_size(key: &Type, value: &Type) -> Option<usize> {
    key.fixed_size()?.checked_add(value.fixed_size()?)
}

struct Walker<'a, V> {
    bytes: &'a [u8],
    at: usize,
    /// Values of zero size that may still be given out, wherever they stand: all others are bounded by the bytes that they take.
    zero_sized_left: usize,
    visitor: &'a mut V,
}

type Walked<V> = Result<(), WalkError<<V as Visitor>::Error>>;

impl<V: Visitor> Walker<'_, V> {
    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let bytes = array(self.bytes, self.at)
            .ok_or(DecodeError { at: self.at, kind: DecodeErrorKind::Truncated })?;
        self.at += N;
        Ok(bytes)
    }

    /// A length in units of `unit` bytes and how much is missing; what remains suffices for it.
    fn length(&mut self, unit: Option<usize>, may_be_cut: bool) -> Result<(u32, u32), DecodeError> {
        let at = self.at;
        let word = u32::from_le_bytes(self.fixed()?);
        let len = word & !CUT;
        let missing = if word & CUT != 0 {
            if !may_be_cut {
                return Err(DecodeError { at, kind: DecodeErrorKind::Cut });
            }
            u32::from_le_bytes(self.fixed()?)
        } else {
            0
        };
        let remain = self.bytes.len() - self.at;
        match unit {
            Some(unit) if (len as usize).checked_mul(unit).is_none_or(|size| size > remain) => {
                Err(DecodeError { at, kind: DecodeErrorKind::Length(len) })
            }
            // Elements without a fixed size have at least one byte each.
            None if len as usize > remain => Err(DecodeError { at, kind: DecodeErrorKind::Length(len) }),
            _ => Ok((len, missing)),
        }
    }

    fn text(&mut self, unit: usize) -> Walked<V> {
        let (len, missing) = self.length(Some(unit), true)?;
        let bytes = &self.bytes[self.at..self.at + len as usize * unit];
        self.at += bytes.len();
        let text = match unit {
            1 => Text::Utf8(bytes),
            2 => Text::Utf16(bytes),
            _ => Text::Utf32(bytes),
        };
        self.visitor.text(text, missing).map_err(WalkError::Visitor)
    }

    fn mark(&mut self) -> Result<bool, DecodeError> {
        let at = self.at;
        match self.fixed::<1>()? {
            [0] => Ok(false),
            [1] => Ok(true),
            [mark] => Err(DecodeError { at, kind: DecodeErrorKind::Mark(mark) }),
        }
    }

    /// Refuses at once more elements of zero size than may still come; `at` is where their number stands.
    fn check_zero_sized(&self, at: usize, size: Option<usize>, len: u32) -> Result<(), DecodeError> {
        if size == Some(0) && len as usize > self.zero_sized_left {
            return Err(DecodeError { at, kind: DecodeErrorKind::ZeroSized(len) });
        }
        Ok(())
    }

    /// Counts a value that takes no bytes.
    fn count_zero_sized(&mut self) -> Result<(), DecodeError> {
        let left = self.zero_sized_left.checked_sub(1);
        self.zero_sized_left =
            left.ok_or(DecodeError { at: self.at, kind: DecodeErrorKind::ZeroSized(1) })?;
        Ok(())
    }

    fn elements(&mut self, kind: Sequence, element: &Type, len: u32, missing: u32) -> Walked<V> {
        self.visitor.begin_sequence(kind, len, missing).map_err(WalkError::Visitor)?;
        for _ in 0..len {
            self.value(element)?;
        }
        self.visitor.end().map_err(WalkError::Visitor)
    }

    /// An integer, bool or character as a number of 64 bits.
    fn number(&mut self, ty: &Type) -> Result<i64, DecodeError> {
        Ok(match ty {
            Type::Int { bits: 8, signed: true } => i8::from_le_bytes(self.fixed()?).into(),
            Type::Int { bits: 16, signed: true } => i16::from_le_bytes(self.fixed()?).into(),
            Type::Int { bits: 32, signed: true } => i32::from_le_bytes(self.fixed()?).into(),
            Type::Int { bits: 16, .. } | Type::Char16 => u16::from_le_bytes(self.fixed()?).into(),
            Type::Int { bits: 32, .. } | Type::Char32 => u32::from_le_bytes(self.fixed()?).into(),
            Type::Int { bits: 64, .. } => i64::from_le_bytes(self.fixed()?),
            Type::Bool => self.mark()?.into(),
            _ => u8::from_le_bytes(self.fixed()?).into(),
        })
    }

    fn value(&mut self, ty: &Type) -> Walked<V> {
        let visited = match ty {
            Type::Null => {
                self.count_zero_sized()?;
                self.visitor.null()
            }
            Type::Bool => {
                let value = self.mark()?;
                self.visitor.bool(value)
            }
            Type::Int { bits: 128, signed: true } => {
                let value = i128::from_le_bytes(self.fixed()?);
                self.visitor.i128(value)
            }
            Type::Int { bits: 128, .. } => {
                let value = u128::from_le_bytes(self.fixed()?);
                self.visitor.u128(value)
            }
            Type::Int { signed, .. } => {
                let value = self.number(ty)?;
                if *signed { self.visitor.i64(value) } else { self.visitor.u64(value as u64) }
            }
            Type::Float32 => {
                let value = f32::from_le_bytes(self.fixed()?);
                self.visitor.f32(value)
            }
            Type::Float64 => {
                let value = f64::from_le_bytes(self.fixed()?);
                self.visitor.f64(value)
            }
            Type::Char8 => {
                let [unit] = self.fixed()?;
                let value = if unit.is_ascii() { char::from(unit) } else { char::REPLACEMENT_CHARACTER };
                self.visitor.char(value)
            }
            Type::Char16 | Type::Char32 => {
                let value = self.number(ty)?;
                let value =
                    u32::try_from(value).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
                self.visitor.char(value)
            }
            Type::Pointer => {
                let value = u64::from_le_bytes(self.fixed()?);
                self.visitor.pointer(value)
            }
            Type::Text8 => return self.text(1),
            Type::Text16 => return self.text(2),
            Type::Text32 => return self.text(4),
            Type::Bytes => {
                let (len, missing) = self.length(Some(1), true)?;
                let bytes = &self.bytes[self.at..self.at + len as usize];
                self.at += bytes.len();
                self.visitor.bytes(bytes, missing)
            }
            Type::Uuid => {
                let value = self.fixed()?;
                self.visitor.uuid(value)
            }
            Type::Time => {
                let value = i64::from_le_bytes(self.fixed()?);
                self.visitor.time(value)
            }
            Type::Duration => {
                let value = i64::from_le_bytes(self.fixed()?);
                self.visitor.duration(value)
            }
            Type::Any => {
                let (len, _) = self.length(Some(1), false)?;
                let cbor = &self.bytes[self.at..self.at + len as usize];
                self.at += cbor.len();
                self.visitor.any(cbor)
            }
            Type::Optional(inner) => {
                if self.mark()? {
                    self.visitor.some().map_err(WalkError::Visitor)?;
                    return self.value(inner);
                }
                self.visitor.none()
            }
            Type::Sequence(element) | Type::Set(element) => {
                let kind = if matches!(ty, Type::Set(_)) { Sequence::Set } else { Sequence::List };
                let (at, size) = (self.at, element.fixed_size());
                let (len, missing) = self.length(size, size.is_some())?;
                self.check_zero_sized(at, size, len)?;
                return self.elements(kind, element, len, missing);
            }
            Type::Array(count, element) => {
                // Checked before anything is given out: a signature is hostile too.
                let size = if *count == 0 { Some(0) } else { element.fixed_size() };
                let remain = self.bytes.len() - self.at;
                if (*count as usize).checked_mul(size.unwrap_or(1)).is_none_or(|needed| needed > remain) {
                    return Err(DecodeError { at: self.at, kind: DecodeErrorKind::Truncated }.into());
                }
                self.check_zero_sized(self.at, size, *count)?;
                if *count == 0 {
                    self.count_zero_sized()?;
                }
                return self.elements(Sequence::List, element, *count, 0);
            }
            Type::Map(key, value) => {
                let (at, pair) = (self.at, pair_size(key, value));
                let (len, _) = self.length(pair, false)?;
                self.check_zero_sized(at, pair, len)?;
                self.visitor.begin_map(len).map_err(WalkError::Visitor)?;
                for _ in 0..len {
                    self.value(key)?;
                    self.value(value)?;
                }
                self.visitor.end()
            }
            Type::Tuple(tuple) => {
                let types = tuple.types();
                if types.is_empty() {
                    self.count_zero_sized()?;
                }
                self.visitor
                    .begin_sequence(Sequence::Tuple, types.len() as u32, 0)
                    .map_err(WalkError::Visitor)?;
                for ty in types {
                    self.value(ty)?;
                }
                self.visitor.end()
            }
            Type::Record(record) => {
                let fields = record.fields();
                if fields.is_empty() {
                    self.count_zero_sized()?;
                }
                self.visitor.begin_record(record.name(), fields.len()).map_err(WalkError::Visitor)?;
                for (field, ty) in fields {
                    self.visitor.field(field).map_err(WalkError::Visitor)?;
                    self.value(ty)?;
                }
                self.visitor.end()
            }
            Type::Enumeration(enumeration) => {
                let value = self.number(enumeration.underlying())?;
                self.visitor.enumeration(enumeration.name(), enumeration.label(value), value)
            }
            Type::Variant(types) => {
                let at = self.at;
                let [index] = self.fixed()?;
                if index != 255 {
                    let ty = types.get(usize::from(index));
                    let ty = ty.ok_or(DecodeError { at, kind: DecodeErrorKind::Alternative(index) })?;
                    self.visitor.variant(index).map_err(WalkError::Visitor)?;
                    return self.value(ty);
                }
                self.visitor.none()
            }
            Type::Meta(key, text, inner) => {
                self.visitor.meta(key, text).map_err(WalkError::Visitor)?;
                return self.value(inner);
            }
        };
        visited.map_err(WalkError::Visitor)
    }
}

/// A visitor that ignores everything: a walk with it only checks the bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Pieces for Nobody {
    type Error = std::convert::Infallible;

    #[inline]
    fn leaf(&mut self, _: Leaf<'_>) -> Result<(), Self::Error> {
        Ok(())
    }

    #[inline]
    fn begin(&mut self, _: Container<'_>) -> Result<(), Self::Error> {
        Ok(())
    }

    #[inline]
    fn end(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}
