//! A value of the scratch, packed as its type wants it: the way back of `exact`.

use minicbor::Decoder;
use minicbor::data::Type as Item;
use silverpoint_trace::cbor;
use silverpoint_wire::layout::signature::{CUT, ZERO_SIZED_MAX};
use silverpoint_wire::signature::{Record, Type};

use crate::exact::may_be_null;
use crate::scratch::NESTING_MAX;

/// Why a value is none of the type.
#[derive(Debug)]
pub(crate) struct Mismatch {
    /// Offset in the scratch.
    pub at: usize,
    /// Path below the argument.
    pub path: String,
    pub found: String,
    pub expected: &'static str,
}

impl Mismatch {
    fn within(mut self, step: &str) -> Self {
        self.path.insert_str(0, step);
        self
    }
}

type Packed<T = ()> = Result<T, Mismatch>;

/// Appends the next value of `items` as the type wants it.
pub(crate) fn pack(ty: &Type, items: &mut Decoder<'_>, out: &mut Vec<u8>) -> Packed {
    Packer { out, zero_sized_left: ZERO_SIZED_MAX }.value(ty, items)
}

struct Packer<'o> {
    out: &'o mut Vec<u8>,
    zero_sized_left: usize,
}

/// What stands there, for people.
fn found(items: &Decoder<'_>) -> String {
    let mut ahead = Decoder::new(items.input());
    ahead.set_position(items.position());
    // A date-time or a UUID is reported as its contents.
    let mut begins = ahead.position();
    while matches!(ahead.datatype(), Ok(Item::Tag))
        && ahead.tag().is_ok_and(|tag| matches!(tag.as_u64(), 0 | 37))
    {
        begins = ahead.position();
    }
    ahead.set_position(begins);
    match ahead.datatype() {
        Ok(Item::String) => match ahead.str() {
            Ok(text) => format!("the text {:?}", text.chars().take(40).collect::<String>()),
            Err(_) => "a text".to_owned(),
        },
        Ok(Item::U8 | Item::U16 | Item::U32 | Item::U64) => {
            ahead.u64().map_or_else(|_| "a number".to_owned(), |number| format!("the number {number}"))
        }
        Ok(Item::F16 | Item::F32 | Item::F64) => "a number with a fraction".to_owned(),
        Ok(Item::ArrayIndef | Item::Array) => "a sequence".to_owned(),
        Ok(Item::MapIndef | Item::Map) => "a map".to_owned(),
        Ok(Item::Break) => "the end".to_owned(),
        Ok(Item::I8 | Item::I16 | Item::I32 | Item::I64 | Item::Int) => {
            ahead.int().map_or_else(|_| "a number".to_owned(), |number| format!("the number {number}"))
        }
        Ok(Item::Bool) => match ahead.bool() {
            Ok(true) => "true".to_owned(),
            _ => "false".to_owned(),
        },
        Ok(Item::Null | Item::Undefined) => "null".to_owned(),
        Ok(Item::Bytes | Item::BytesIndef) => "bytes".to_owned(),
        Ok(Item::StringIndef) => "a text".to_owned(),
        Ok(Item::Tag) => match (whole(&mut ahead), ahead.tag()) {
            (Some(Whole::Unsigned(number)), _) => format!("the number {number}"),
            (Some(Whole::Signed(number)), _) => format!("the number {number}"),
            (None, Ok(tag)) => format!("an item of the tag {}", tag.as_u64()),
            (None, Err(_)) => "an item with a tag".to_owned(),
        },
        Ok(Item::Simple | Item::Unknown(_)) => "a simple value of CBOR".to_owned(),
        Err(_) => "the end".to_owned(),
    }
}

pub(crate) fn mismatch(items: &Decoder<'_>, at: usize, expected: &'static str) -> Mismatch {
    let mut there = Decoder::new(items.input());
    there.set_position(at);
    Mismatch { at, path: String::new(), found: found(&there), expected }
}

/// An integer of any sign and size.
pub(crate) enum Whole {
    Signed(i128),
    Unsigned(u128),
}

/// Reads an integer: also a bignum, or a pointer's `"0x…"`.
pub(crate) fn whole(items: &mut Decoder<'_>) -> Option<Whole> {
    Some(match items.datatype().ok()? {
        Item::U8 | Item::U16 | Item::U32 | Item::U64 => Whole::Unsigned(items.u64().ok()?.into()),
        Item::I8 | Item::I16 | Item::I32 | Item::I64 | Item::Int => Whole::Signed(items.int().ok()?.into()),
        Item::Tag => {
            let tag = items.tag().ok()?.as_u64();
            let bytes = items.bytes().ok()?;
            if bytes.len() > 16 || !(2..=3).contains(&tag) {
                return None;
            }
            let value = bytes.iter().fold(0_u128, |sum, byte| sum << 8 | u128::from(*byte));
            match tag {
                2 => Whole::Unsigned(value),
                _ => Whole::Signed(-1 - i128::try_from(value).ok()?),
            }
        }
        Item::String => {
            let text = items.str().ok()?;
            Whole::Unsigned(u128::from_str_radix(text.strip_prefix("0x")?, 16).ok()?)
        }
        _ => return None,
    })
}

/// Reads a float: also an integer, or `"nan"`, `"inf"`, `"-inf"`.
fn float(items: &mut Decoder<'_>) -> Option<f64> {
    Some(match items.datatype().ok()? {
        Item::F16 => cbor::half(items)?.into(),
        Item::F32 => items.f32().ok()?.into(),
        Item::F64 => items.f64().ok()?,
        Item::String => match items.str().ok()? {
            "nan" => f64::NAN,
            "inf" => f64::INFINITY,
            "-inf" => f64::NEG_INFINITY,
            _ => return None,
        },
        _ => match whole(items)? {
            Whole::Signed(value) => value as f64,
            Whole::Unsigned(value) => value as f64,
        },
    })
}

/// Bytes, or their hexadecimal digits.
pub(crate) fn octets(items: &mut Decoder<'_>) -> Option<Vec<u8>> {
    match items.datatype().ok()? {
        Item::Bytes => Some(items.bytes().ok()?.to_vec()),
        Item::String => unhex(items.str().ok()?),
        _ => None,
    }
}

pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let digit = |d: u8| char::from(d).to_digit(16);
    digits.chunks_exact(2).map(|pair| Some((digit(pair[0])? << 4 | digit(pair[1])?) as u8)).collect()
}

/// Nanoseconds since 1970, or a text of RFC 3339 (tag 0 may stand before it).
pub(crate) fn time(items: &mut Decoder<'_>) -> Option<i64> {
    match items.datatype().ok()? {
        Item::Tag => match items.tag().ok()?.as_u64() {
            0 => time(items),
            _ => None,
        },
        Item::String => {
            let time: jiff::Timestamp = items.str().ok()?.parse().ok()?;
            i64::try_from(time.as_nanosecond()).ok()
        }
        _ => match whole(items)? {
            Whole::Signed(value) => i64::try_from(value).ok(),
            Whole::Unsigned(value) => i64::try_from(value).ok(),
        },
    }
}

/// What is expected of a text or number that is no time: one that is a date-time lies beyond what 64 bits of nanoseconds hold.
pub(crate) fn time_error(items: &mut Decoder<'_>) -> &'static str {
    if matches!(items.datatype(), Ok(Item::Tag)) {
        let _ = items.tag();
    }
    let text = items.str().unwrap_or_default();
    let civil = text.get(..19).map(str::parse::<jiff::civil::DateTime>);
    if text.parse::<jiff::Timestamp>().is_ok() || text.len() > 19 && matches!(civil, Some(Ok(_))) {
        "a date-time between 1677-09-21 and 2262-04-11"
    } else {
        "a date-time of RFC 3339"
    }
}

fn uuid(items: &mut Decoder<'_>) -> Option<[u8; 16]> {
    match items.datatype().ok()? {
        Item::Tag => match items.tag().ok()?.as_u64() {
            37 => uuid(items),
            _ => None,
        },
        Item::Bytes => items.bytes().ok()?.try_into().ok(),
        Item::String => unhex(&items.str().ok()?.replace('-', ""))?.try_into().ok(),
        _ => None,
    }
}

impl Packer<'_> {
    fn value(&mut self, ty: &Type, items: &mut Decoder<'_>) -> Packed {
        let at = items.position();
        if ty.fixed_size() == Some(0) {
            self.zero_sized_left = self
                .zero_sized_left
                .checked_sub(1)
                .ok_or_else(|| mismatch(items, at, "at most 65,536 values without bytes"))?;
        }
        match ty {
            Type::Meta(_, _, inner) => self.value(inner, items),
            Type::Null => items.null().map_err(|_| mismatch(items, at, "null")),
            Type::Bool => {
                let value = items.bool().map_err(|_| mismatch(items, at, "true or false"))?;
                self.out.push(value.into());
                Ok(())
            }
            Type::Int { bits, signed } => self.int(items, at, *bits, *signed),
            Type::Pointer => self.int(items, at, 64, false),
            Type::Float32 => {
                let value = float(items).ok_or_else(|| mismatch(items, at, "a number"))?;
                self.out.extend_from_slice(&(value as f32).to_le_bytes());
                Ok(())
            }
            Type::Float64 => {
                let value = float(items).ok_or_else(|| mismatch(items, at, "a number"))?;
                self.out.extend_from_slice(&value.to_le_bytes());
                Ok(())
            }
            Type::Char8 | Type::Char16 | Type::Char32 => self.character(ty, items, at),
            Type::Text8 => self.text(items, at, 1),
            Type::Text16 => self.text(items, at, 2),
            Type::Text32 => self.text(items, at, 4),
            Type::Bytes | Type::Any => match items.datatype() {
                Ok(Item::Map | Item::MapIndef) if *ty == Type::Bytes => self.cut_units(items, at, 1),
                _ => {
                    let bytes = octets(items)
                        .ok_or_else(|| mismatch(items, at, "bytes, or their hexadecimal digits"))?;
                    self.counted(&bytes, bytes.len(), 0);
                    Ok(())
                }
            },
            Type::Uuid => {
                let uuid = uuid(items).ok_or_else(|| mismatch(items, at, "a UUID"))?;
                self.out.extend_from_slice(&uuid);
                Ok(())
            }
            Type::Time => {
                let expected = time_error(&mut items.clone());
                let time = time(items).ok_or_else(|| mismatch(items, at, expected))?;
                self.out.extend_from_slice(&time.to_le_bytes());
                Ok(())
            }
            Type::Duration => self.int(items, at, 64, true),
            Type::Optional(inner) => self.optional(inner, items, at),
            Type::Sequence(element) | Type::Set(element) => self.sequence(element, items, at),
            Type::Array(count, element) => {
                let len = self.elements(items, at, |packer, items| packer.value(element, items))?;
                if len != u64::from(*count) {
                    return Err(mismatch(items, at, "as many elements as the array has"));
                }
                Ok(())
            }
            Type::Tuple(tuple) => {
                let mut types = tuple.types().iter();
                self.elements(items, at, |packer, items| match types.next() {
                    Some(ty) => packer.value(ty, items),
                    None => Err(mismatch(items, items.position(), "the end of the tuple")),
                })?;
                if types.next().is_some() {
                    return Err(mismatch(items, at, "as many elements as the tuple has"));
                }
                Ok(())
            }
            Type::Map(key, value) => {
                let hole = self.hole();
                let len = self.elements(items, at, |packer, items| {
                    let at = items.position();
                    let mut types = [key, value].into_iter();
                    packer.elements(items, at, |packer, items| match types.next() {
                        Some(ty) => packer.value(ty, items),
                        None => Err(mismatch(items, items.position(), "the end of the pair")),
                    })?;
                    if types.next().is_some() {
                        return Err(mismatch(items, at, "a pair of key and value"));
                    }
                    Ok(())
                })?;
                self.fill(hole, len as u32);
                Ok(())
            }
            Type::Record(record) => self.record(record, items, at),
            Type::Enumeration(enumeration) => self.value(enumeration.underlying(), items),
            Type::Variant(types) => self.variant(types, items, at),
        }
    }

    /// Fields by their names: what sorts the members of a map changes only where they stand. Of equal names the first one that is left.
    fn record(&mut self, record: &Record, items: &mut Decoder<'_>, at: usize) -> Packed {
        let stated = items.map().map_err(|_| mismatch(items, at, "a map"))?;
        let mut members = Vec::new();
        while goes_on(items, stated, members.len() as u64) {
            let at = items.position();
            let name = items.str().map_err(|_| mismatch(items, at, "a name"))?;
            members.push((name, Some(items.position())));
            skip(items).ok_or_else(|| mismatch(items, at, "a value"))?;
            if members.len() > record.fields().len() {
                return Err(mismatch(items, at, "only fields of the record").within(&format!(".{name}")));
            }
        }
        for (index, (field, ty)) in record.fields().iter().enumerate() {
            let is_it = |(name, at): &(&str, Option<usize>)| *name == field && at.is_some();
            let found = if members.get(index).is_some_and(is_it) {
                Some(index)
            } else {
                members.iter().position(is_it)
            };
            let Some(value) = found.and_then(|found| members[found].1.take()) else {
                return Err(mismatch(items, at, "all fields of the record"));
            };
            let mut there = Decoder::new(items.input());
            there.set_position(value);
            self.value(ty, &mut there).map_err(|error| error.within(&format!(".{field}")))?;
        }
        match members.iter().find_map(|(name, at)| Some((name, (*at)?))) {
            None => Ok(()),
            Some((name, at)) => {
                Err(mismatch(items, at, "only fields of the record").within(&format!(".{name}")))
            }
        }
    }

    fn int(&mut self, items: &mut Decoder<'_>, at: usize, bits: u8, signed: bool) -> Packed {
        let expected = "an integer that its type can hold";
        let value = whole(items).ok_or_else(|| mismatch(items, at, expected))?;
        let bytes = match (value, signed) {
            (Whole::Signed(value), true) => Some(value),
            (Whole::Unsigned(value), true) => i128::try_from(value).ok(),
            (Whole::Unsigned(value), false) => {
                (bits == 128 || value >> bits == 0).then_some(value.cast_signed())
            }
            (Whole::Signed(value), false) => u128::try_from(value)
                .ok()
                .filter(|value| bits == 128 || value >> bits == 0)
                .map(u128::cast_signed),
        };
        let fits = |value: &i128| {
            !signed || bits == 128 || (-(1_i128 << (bits - 1))..1_i128 << (bits - 1)).contains(value)
        };
        let value = bytes.filter(fits).ok_or_else(|| mismatch(items, at, expected))?;
        self.out.extend_from_slice(&value.to_le_bytes()[..usize::from(bits) / 8]);
        Ok(())
    }

    fn character(&mut self, ty: &Type, items: &mut Decoder<'_>, at: usize) -> Packed {
        let expected = "one character";
        let unit = if matches!(items.datatype(), Ok(Item::String)) {
            let text = items.str().map_err(|_| mismatch(items, at, expected))?;
            let mut chars = text.chars();
            chars.next().filter(|_| chars.next().is_none()).map(u32::from)
        } else {
            match whole(items) {
                Some(Whole::Unsigned(unit)) => u32::try_from(unit).ok(),
                _ => None,
            }
        };
        let size = ty.fixed_size().unwrap_or(4);
        let unit = unit.filter(|unit| size == 4 || unit >> (8 * size) == 0);
        let unit = unit.ok_or_else(|| mismatch(items, at, expected))?;
        self.out.extend_from_slice(&unit.to_le_bytes()[..size]);
        Ok(())
    }

    fn text(&mut self, items: &mut Decoder<'_>, at: usize, unit: usize) -> Packed {
        if matches!(items.datatype(), Ok(Item::Map | Item::MapIndef)) {
            return self.cut_units(items, at, unit);
        }
        let text = items.str().map_err(|_| mismatch(items, at, "text"))?;
        let hole = self.hole();
        match unit {
            1 => self.out.extend_from_slice(text.as_bytes()),
            2 => text.encode_utf16().for_each(|unit| self.out.extend_from_slice(&unit.to_le_bytes())),
            _ => text.chars().for_each(|c| self.out.extend_from_slice(&u32::from(c).to_le_bytes())),
        }
        let len = (self.out.len() - hole - 4) / unit;
        self.fill(hole, len as u32);
        Ok(())
    }

    /// `{units, missing}`.
    fn cut_units(&mut self, items: &mut Decoder<'_>, at: usize, unit: usize) -> Packed {
        let expected = "units and how many are missing";
        let (mut units, mut missing) = (None, None);
        self.pairs(items, at, |_, name, items| {
            let at = items.position();
            match name {
                "units" => units = octets(items),
                "missing" => missing = items.u32().ok(),
                _ => return Err(mismatch(items, at, expected)),
            }
            Ok(())
        })?;
        match (units, missing) {
            (Some(units), Some(missing)) if units.len().is_multiple_of(unit) => {
                self.counted(&units, units.len() / unit, missing);
                Ok(())
            }
            _ => Err(mismatch(items, at, expected)),
        }
    }

    fn counted(&mut self, units: &[u8], len: usize, missing: u32) {
        let mark = if missing > 0 { CUT } else { 0 };
        self.out.extend_from_slice(&(len as u32 & !CUT | mark).to_le_bytes());
        if missing > 0 {
            self.out.extend_from_slice(&missing.to_le_bytes());
        }
        self.out.extend_from_slice(units);
    }

    fn optional(&mut self, inner: &Type, items: &mut Decoder<'_>, at: usize) -> Packed {
        if matches!(items.datatype(), Ok(Item::Null)) {
            items.skip().map_err(|_| mismatch(items, at, "a value"))?;
            self.out.push(0);
            return Ok(());
        }
        self.out.push(1);
        if !may_be_null(inner) {
            return self.value(inner, items);
        }
        let len = self.elements(items, at, |packer, items| packer.value(inner, items))?;
        if len == 1 { Ok(()) } else { Err(mismatch(items, at, "null, or one value in brackets")) }
    }

    fn variant(&mut self, types: &[Type], items: &mut Decoder<'_>, at: usize) -> Packed {
        if matches!(items.datatype(), Ok(Item::Null)) {
            items.skip().map_err(|_| mismatch(items, at, "a value"))?;
            self.out.push(255);
            return Ok(());
        }
        let expected = "null, or an alternative's number and its value";
        let mut chosen = None;
        let len = self.elements(items, at, |packer, items| match chosen {
            None => {
                let at = items.position();
                let index = items.u8().map_err(|_| mismatch(items, at, expected))?;
                chosen = Some(types.get(usize::from(index)).ok_or_else(|| mismatch(items, at, expected))?);
                packer.out.push(index);
                Ok(())
            }
            Some(ty) => packer.value(ty, items),
        })?;
        if len == 2 { Ok(()) } else { Err(mismatch(items, at, expected)) }
    }

    fn sequence(&mut self, element: &Type, items: &mut Decoder<'_>, at: usize) -> Packed {
        if !matches!(items.datatype(), Ok(Item::Map | Item::MapIndef)) {
            let hole = self.hole();
            let len = self.elements(items, at, |packer, items| packer.value(element, items))?;
            self.fill(hole, len as u32);
            return Ok(());
        }
        let expected = "elements and how many are missing";
        if element.fixed_size().is_none() {
            return Err(mismatch(items, at, "a sequence"));
        }
        let start = self.out.len();
        self.out.extend_from_slice(&[0; 8]);
        let (mut len, mut missing) = (None, None);
        self.pairs(items, at, |packer, name, items| {
            let at = items.position();
            match name {
                "elements" if len.is_none() => {
                    len = Some(packer.elements(items, at, |packer, items| packer.value(element, items))?);
                }
                "missing" => missing = items.u32().ok(),
                _ => return Err(mismatch(items, at, expected)),
            }
            Ok(())
        })?;
        let (Some(len), Some(missing)) = (len, missing) else { return Err(mismatch(items, at, expected)) };
        self.out[start..start + 4].copy_from_slice(&(len as u32 & !CUT | CUT).to_le_bytes());
        self.out[start + 4..start + 8].copy_from_slice(&missing.to_le_bytes());
        Ok(())
    }

    /// Room for a length that is known later.
    fn hole(&mut self) -> usize {
        self.out.extend_from_slice(&[0; 4]);
        self.out.len() - 4
    }

    fn fill(&mut self, hole: usize, len: u32) {
        self.out[hole..hole + 4].copy_from_slice(&(len & !CUT).to_le_bytes());
    }

    /// Goes through a sequence; gives the number of its elements.
    fn elements(
        &mut self,
        items: &mut Decoder<'_>,
        at: usize,
        mut each: impl FnMut(&mut Self, &mut Decoder<'_>) -> Packed,
    ) -> Packed<u64> {
        let stated = items.array().map_err(|_| mismatch(items, at, "a sequence"))?;
        let mut len = 0;
        while goes_on(items, stated, len) {
            each(self, items).map_err(|error| error.within(&format!("[{len}]")))?;
            len += 1;
        }
        Ok(len)
    }

    /// Goes through a map of texts.
    fn pairs(
        &mut self,
        items: &mut Decoder<'_>,
        at: usize,
        mut each: impl FnMut(&mut Self, &str, &mut Decoder<'_>) -> Packed,
    ) -> Packed {
        let stated = items.map().map_err(|_| mismatch(items, at, "a map"))?;
        let mut len = 0;
        while goes_on(items, stated, len) {
            let at = items.position();
            let name = items.str().map_err(|_| mismatch(items, at, "a name"))?;
            each(self, name, items).map_err(|error| error.within(&format!(".{name}")))?;
            len += 1;
        }
        Ok(())
    }
}

/// Whether a container has another element; its mark of the end is passed over.
pub(crate) fn goes_on(items: &mut Decoder<'_>, stated: Option<u64>, seen: u64) -> bool {
    match stated {
        Some(stated) => seen < stated,
        None => match items.datatype() {
            Ok(Item::Break) => {
                let _ = items.skip();
                false
            }
            Ok(_) => true,
            Err(_) => false,
        },
    }
}

/// Skips the next value of any kind.
pub(crate) fn skip(items: &mut Decoder<'_>) -> Option<()> {
    skip_nested(items, 0)
}

fn skip_nested(items: &mut Decoder<'_>, depth: usize) -> Option<()> {
    if depth > 2 * NESTING_MAX {
        return None;
    }
    match items.datatype().ok()? {
        ty @ (Item::Array | Item::ArrayIndef | Item::Map | Item::MapIndef) => {
            let is_map = matches!(ty, Item::Map | Item::MapIndef);
            let stated = if is_map { items.map() } else { items.array() }.ok()?;
            let mut seen = 0;
            while goes_on(items, stated, seen) {
                seen += 1;
                for _ in 0..=usize::from(is_map) {
                    skip_nested(items, depth + 1)?;
                }
            }
        }
        Item::Tag => {
            items.tag().ok()?;
            skip_nested(items, depth + 1)?;
        }
        Item::Break => return None,
        _ => items.skip().ok()?,
    }
    Some(())
}
