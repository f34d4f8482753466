//! CBOR items (RFC 8949) as values: drives the same visitor as packed arguments do, without a tree.
//!
//! Tags are skipped, except 37 (UUID), 1 on an integer (seconds since 1970), and 2 and 3 (integers of up to
//! 128 bits). The tag of metadata is read too (`spec/wire.md`, section 10). Undefined and simple values
//! without a meaning are null.

use std::borrow::Cow;

use minicbor::Decoder;
use minicbor::data::Type;
use silverpoint_wire::value::{Nobody, Sequence, Text, Visitor};

/// Deepest nesting of arrays, maps and tags: as deep as any format is read (`spec/wire.md`, section 10).
const MAX_DEPTH: u32 = 128;

/// The tag of an item with metadata: an array of the text `key=text` and the item.
const METADATA: u64 = 0x5350_6D64;

/// What ended a visit.
#[derive(Debug)]
pub enum Error<E> {
    /// Not one well-formed item: the offset of the mistake.
    Malformed(usize),
    /// The visitor stopped.
    Visitor(E),
}

/// Whether `item` is exactly one well-formed item within the limits: then [`visit`] does not stop half-way.
///
/// # Errors
/// The offset of the mistake.
pub fn check(item: &[u8]) -> Result<(), usize> {
    match visit(item, &mut Nobody) {
        Ok(()) => Ok(()),
        Err(Error::Malformed(at)) => Err(at),
        Err(Error::Visitor(never)) => match never {},
    }
}

/// Where the item ends that begins at an offset.
///
/// # Errors
/// The offset of the mistake, when it is not well-formed within the limits.
pub fn end_of_item(input: &[u8], at: usize) -> Result<usize, usize> {
    let mut reader = Reader { decoder: Decoder::new(input), visitor: &mut Nobody };
    reader.decoder.set_position(at);
    match reader.value(0) {
        Ok(()) => Ok(reader.decoder.position()),
        Err(Error::Malformed(at)) => Err(at),
        Err(Error::Visitor(never)) => match never {},
    }
}

/// Takes a float of 16 bits, which stands next; `None` if the input ends within it.
pub fn half(decoder: &mut Decoder<'_>) -> Option<f32> {
    let at = decoder.position();
    let bytes = decoder.input().get(at + 1..)?.first_chunk()?;
    decoder.set_position(at + 3);
    let bits = u16::from_be_bytes(*bytes);
    let fraction = f32::from(bits & 0x3FF);
    let magnitude = match bits >> 10 & 0x1F {
        0 => fraction * (-24f32).exp2(),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        exponent => (1024.0 + fraction) * (f32::from(exponent) - 25.0).exp2(),
    };
    Some(if bits >> 15 == 1 { -magnitude } else { magnitude })
}

/// Drives `visitor` with one item.
///
/// # Errors
/// When the item is malformed (the visitor has seen what stands before), or the visitor stops.
pub fn visit<V: Visitor>(item: &[u8], visitor: &mut V) -> Result<(), Error<V::Error>> {
    let mut reader = Reader { decoder: Decoder::new(item), visitor };
    reader.value(0)?;
    let at = reader.decoder.position();
    if at == item.len() { Ok(()) } else { Err(Error::Malformed(at)) }
}

struct Reader<'b, 'v, V> {
    decoder: Decoder<'b>,
    visitor: &'v mut V,
}

type Visited<V> = Result<(), Error<<V as Visitor>::Error>>;

impl<'b, V: Visitor> Reader<'b, '_, V> {
    fn malformed(&self) -> Error<V::Error> {
        Error::Malformed(self.decoder.position())
    }

    fn get<T>(&self, result: Result<T, minicbor::decode::Error>) -> Result<T, Error<V::Error>> {
        result.map_err(|_| self.malformed())
    }

    fn value(&mut self, depth: u32) -> Visited<V> {
        if depth > MAX_DEPTH {
            return Err(self.malformed());
        }
        let ty = self.decoder.datatype();
        match self.get(ty)? {
            Type::Null => {
                let read = self.decoder.null();
                self.get(read)?;
                self.visitor.null()
            }
            Type::Undefined => {
                let read = self.decoder.undefined();
                self.get(read)?;
                self.visitor.null()
            }
            Type::Bool => {
                let read = self.decoder.bool();
                let value = self.get(read)?;
                self.visitor.bool(value)
            }
            Type::U8 | Type::U16 | Type::U32 | Type::U64 => {
                let read = self.decoder.u64();
                let value = self.get(read)?;
                self.visitor.u64(value)
            }
            Type::I8 | Type::I16 | Type::I32 | Type::I64 | Type::Int => {
                let read = self.decoder.int();
                let value = i128::from(self.get(read)?);
                match i64::try_from(value) {
                    Ok(value) => self.visitor.i64(value),
                    Err(_) => self.visitor.i128(value),
                }
            }
            Type::F16 => {
                let at = self.decoder.position();
                let value = half(&mut self.decoder).ok_or(Error::Malformed(at))?;
                self.visitor.f32(value)
            }
            Type::F32 => {
                let read = self.decoder.f32();
                let value = self.get(read)?;
                self.visitor.f32(value)
            }
            Type::F64 => {
                let read = self.decoder.f64();
                let value = self.get(read)?;
                self.visitor.f64(value)
            }
            Type::Simple => {
                let read = self.decoder.simple();
                self.get(read)?;
                self.visitor.null()
            }
            Type::Bytes | Type::BytesIndef => {
                let bytes = self.bytes()?;
                self.visitor.bytes(&bytes, 0)
            }
            Type::String | Type::StringIndef => {
                let text = self.text()?;
                self.visitor.text(Text::Utf8(text.as_bytes()), 0)
            }
            Type::Array | Type::ArrayIndef => return self.array(depth),
            Type::Map | Type::MapIndef => return self.map(depth),
            Type::Tag => return self.tagged(depth),
            Type::Break | Type::Unknown(_) => return Err(self.malformed()),
        }
        .map_err(Error::Visitor)
    }

    fn bytes(&mut self) -> Result<Cow<'b, [u8]>, Error<V::Error>> {
        let at = self.decoder.position();
        let mut whole: Cow<'b, [u8]> = Cow::Borrowed(&[]);
        let chunks = self.decoder.bytes_iter().map_err(|_| Error::Malformed(at))?;
        for chunk in chunks {
            let chunk = chunk.map_err(|_| Error::Malformed(at))?;
            if whole.is_empty() {
                whole = Cow::Borrowed(chunk)
            } else {
                whole.to_mut().extend_from_slice(chunk)
            }
        }
        Ok(whole)
    }

    fn text(&mut self) -> Result<Cow<'b, str>, Error<V::Error>> {
        let at = self.decoder.position();
        let mut whole: Cow<'b, str> = Cow::Borrowed("");
        let chunks = self.decoder.str_iter().map_err(|_| Error::Malformed(at))?;
        for chunk in chunks {
            let chunk = chunk.map_err(|_| Error::Malformed(at))?;
            if whole.is_empty() { whole = Cow::Borrowed(chunk) } else { whole.to_mut().push_str(chunk) }
        }
        Ok(whole)
    }

    /// How many items a container has at most: each needs a byte. `None`: up to a break.
    fn length(&self, length: Option<u64>, each: u64) -> Result<Option<u64>, Error<V::Error>> {
        let remain = (self.decoder.input().len() - self.decoder.position()) as u64;
        match length {
            Some(length) if length.checked_mul(each).is_none_or(|bytes| bytes > remain) => {
                Err(self.malformed())
            }
            length => Ok(length),
        }
    }

    /// Whether another item follows; takes the break.
    fn more(&mut self, left: &mut Option<u64>) -> Result<bool, Error<V::Error>> {
        match left {
            Some(0) => Ok(false),
            Some(n) => {
                *n -= 1;
                Ok(true)
            }
            None => {
                let ty = self.decoder.datatype();
                if self.get(ty)? != Type::Break {
                    return Ok(true);
                }
                self.decoder.set_position(self.decoder.position() + 1);
                Ok(false)
            }
        }
    }

    fn array(&mut self, depth: u32) -> Visited<V> {
        let length = self.decoder.array();
        let mut left = self.length(self.get(length)?, 1)?;
        self.visitor.begin_sequence(Sequence::List, left.unwrap_or(0) as u32, 0).map_err(Error::Visitor)?;
        while self.more(&mut left)? {
            self.value(depth + 1)?;
        }
        self.visitor.end().map_err(Error::Visitor)
    }

    fn map(&mut self, depth: u32) -> Visited<V> {
        let length = self.decoder.map();
        let mut left = self.length(self.get(length)?, 2)?;
        self.visitor.begin_map(left.unwrap_or(0) as u32).map_err(Error::Visitor)?;
        while self.more(&mut left)? {
            self.value(depth + 1)?;
            self.value(depth + 1)?;
        }
        self.visitor.end().map_err(Error::Visitor)
    }

    fn tagged(&mut self, depth: u32) -> Visited<V> {
        let tag = self.decoder.tag();
        let tag = self.get(tag)?.as_u64();
        let ty = self.decoder.datatype();
        match (tag, self.get(ty)?) {
            (37, Type::Bytes) => {
                let read = self.decoder.bytes();
                let bytes = self.get(read)?;
                match <[u8; 16]>::try_from(bytes) {
                    Ok(uuid) => self.visitor.uuid(uuid),
                    Err(_) => self.visitor.bytes(bytes, 0),
                }
                .map_err(Error::Visitor)
            }
            (2 | 3, Type::Bytes) => {
                let read = self.decoder.bytes();
                let bytes = self.get(read)?;
                match (wide(bytes), tag) {
                    (Some(magnitude), 2) => self.visitor.u128(magnitude),
                    (Some(magnitude), _) if i128::try_from(magnitude).is_ok() => {
                        self.visitor.i128(!(magnitude as i128))
                    }
                    _ => self.visitor.bytes(bytes, 0),
                }
                .map_err(Error::Visitor)
            }
            (1, Type::U8 | Type::U16 | Type::U32 | Type::U64) => {
                let read = self.decoder.u64();
                let seconds = self.get(read)?;
                match i64::try_from(seconds).ok().and_then(|s| s.checked_mul(1_000_000_000)) {
                    Some(ns) => self.visitor.time(ns),
                    None => self.visitor.u64(seconds),
                }
                .map_err(Error::Visitor)
            }
            (1, Type::F64) => {
                let read = self.decoder.f64();
                let seconds = self.get(read)?;
                match since_epoch(seconds) {
                    Some(ns) => self.visitor.time(ns),
                    None => self.visitor.f64(seconds),
                }
                .map_err(Error::Visitor)
            }
            (METADATA, Type::Array) => {
                let at = self.decoder.position();
                if self.metadata()? {
                    return self.value(depth + 1);
                }
                // Of another shape: its contents, as with any tag.
                self.decoder.set_position(at);
                self.value(depth + 1)
            }
            _ => self.value(depth + 1),
        }
    }

    /// Reports the metadata of the item that follows, if it has the shape for it.
    fn metadata(&mut self) -> Result<bool, Error<V::Error>> {
        let length = self.decoder.array();
        if self.get(length)? != Some(2) || !matches!(self.decoder.datatype(), Ok(Type::String)) {
            return Ok(false);
        }
        let read = self.decoder.str();
        let Some((key, text)) = self.get(read)?.split_once('=') else { return Ok(false) };
        self.visitor.meta(key, text).map_err(Error::Visitor)?;
        Ok(true)
    }
}

/// Seconds as nanoseconds, when 64 bits hold them. Digits beyond microseconds are an accident of the float.
fn since_epoch(seconds: f64) -> Option<i64> {
    let us = (seconds * 1e6).round();
    (us.abs() < 9e15).then(|| us as i64 * 1000)
}

/// Bytes as a number, when 128 bits hold it.
fn wide(bytes: &[u8]) -> Option<u128> {
    let mut whole = [0; 16];
    whole.get_mut(16_usize.checked_sub(bytes.len())?..)?.copy_from_slice(bytes);
    Some(u128::from_be_bytes(whole))
}
