//! Values as trees, packed and written as JSON by the text of spec/wire.md section 10 alone. Nothing here
//! calls the code that the vectors check.

use super::json::Json;

/// A value. Text, bytes and sequences state how many units are *missing* (0: not cut).
#[derive(Clone, Debug)]
pub enum V {
    Null,
    Bool(bool),
    /// Bytes and value; whether it is signed makes no difference to the bytes.
    Int(usize, i128),
    U128(u128),
    F32(f32),
    F64(f64),
    Char8(u8),
    Char16(u16),
    Char32(u32),
    Pointer(u64),
    Text8(Vec<u8>, Option<u32>),
    Text16(Vec<u16>, Option<u32>),
    Text32(Vec<u32>, Option<u32>),
    Bytes(Vec<u8>, Option<u32>),
    Uuid([u8; 16]),
    Time(i64),
    Duration(i64),
    Any(Vec<u8>),
    None,
    Some(Box<V>),
    List(Vec<V>, Option<u32>),
    Set(Vec<V>, Option<u32>),
    Array(Vec<V>),
    Map(Vec<(V, V)>),
    Tuple(Vec<V>),
    Record(&'static str, Vec<(&'static str, V)>),
    Enumeration(&'static str, Option<&'static str>, Box<V>),
    Variant(u8, Box<V>),
    NoVariant,
    Meta(&'static str, &'static str, Box<V>),
}

/// UTF-8 text.
pub fn text(text: &str) -> V {
    V::Text8(text.into(), None)
}

/// UTF-16 text.
pub fn text16(text: &str) -> V {
    V::Text16(text.encode_utf16().collect(), None)
}

/// A signed or unsigned integer of 32 bits.
pub fn int(value: i128) -> V {
    V::Int(4, value)
}

impl V {
    /// Whether some part of it was cut: the record's flag.
    pub fn is_cut(&self) -> bool {
        match self {
            V::Text8(_, missing) | V::Bytes(_, missing) => missing.is_some(),
            V::Text16(_, missing) => missing.is_some(),
            V::Text32(_, missing) => missing.is_some(),
            V::List(items, missing) | V::Set(items, missing) => {
                missing.is_some() || items.iter().any(V::is_cut)
            }
            V::Some(inner) | V::Variant(_, inner) | V::Meta(_, _, inner) => inner.is_cut(),
            V::Array(items) | V::Tuple(items) => items.iter().any(V::is_cut),
            V::Map(pairs) => pairs.iter().any(|(key, value)| key.is_cut() || value.is_cut()),
            V::Record(_, fields) => fields.iter().any(|(_, value)| value.is_cut()),
            _ => false,
        }
    }

    /// Appends the packed bytes.
    pub fn pack(&self, out: &mut Vec<u8>) {
        match self {
            V::Null => {}
            V::Bool(value) => out.push(u8::from(*value)),
            V::Int(size, value) => out.extend_from_slice(&value.to_le_bytes()[..*size]),
            V::U128(value) => out.extend_from_slice(&value.to_le_bytes()),
            V::F32(value) => out.extend_from_slice(&value.to_le_bytes()),
            V::F64(value) => out.extend_from_slice(&value.to_le_bytes()),
            V::Char8(unit) => out.push(*unit),
            V::Char16(unit) => out.extend_from_slice(&unit.to_le_bytes()),
            V::Char32(unit) => out.extend_from_slice(&unit.to_le_bytes()),
            V::Pointer(value) => out.extend_from_slice(&value.to_le_bytes()),
            V::Text8(bytes, missing) | V::Bytes(bytes, missing) => {
                length(bytes.len(), *missing, out);
                out.extend_from_slice(bytes);
            }
            V::Text16(units, missing) => {
                length(units.len(), *missing, out);
                units.iter().for_each(|unit| out.extend_from_slice(&unit.to_le_bytes()));
            }
            V::Text32(units, missing) => {
                length(units.len(), *missing, out);
                units.iter().for_each(|unit| out.extend_from_slice(&unit.to_le_bytes()));
            }
            V::Uuid(bytes) => out.extend_from_slice(bytes),
            V::Time(ns) | V::Duration(ns) => out.extend_from_slice(&ns.to_le_bytes()),
            V::Any(item) => {
                length(item.len(), None, out);
                out.extend_from_slice(item);
            }
            V::None => out.push(0),
            V::Some(inner) => {
                out.push(1);
                inner.pack(out);
            }
            V::List(items, missing) | V::Set(items, missing) => {
                length(items.len(), *missing, out);
                items.iter().for_each(|item| item.pack(out));
            }
            V::Array(items) | V::Tuple(items) => items.iter().for_each(|item| item.pack(out)),
            V::Map(pairs) => {
                length(pairs.len(), None, out);
                for (key, value) in pairs {
                    key.pack(out);
                    value.pack(out);
                }
            }
            V::Record(_, fields) => fields.iter().for_each(|(_, value)| value.pack(out)),
            V::Enumeration(_, _, value) => value.pack(out),
            V::Variant(index, inner) => {
                out.push(*index);
                inner.pack(out);
            }
            V::NoVariant => out.push(255),
            V::Meta(_, _, inner) => inner.pack(out),
        }
    }

    /// The value as JSON, as spec/vectors/README.md says.
    pub fn json(&self) -> Json {
        match self {
            V::Null => Json::Null,
            V::Bool(value) => Json::Bool(*value),
            V::Int(_, value) => Json::int(value),
            V::U128(value) => Json::int(value),
            V::F32(value) => Json::float((*value).into()),
            V::F64(value) => Json::float(*value),
            V::Char8(unit) => character(if *unit < 128 { u32::from(*unit) } else { u32::MAX }),
            V::Char16(unit) => character((*unit).into()),
            V::Char32(unit) => character(*unit),
            V::Pointer(value) => Json::tagged("pointer", Json::int(value)),
            V::Text8(bytes, missing) => {
                cut("text", Json::text(String::from_utf8_lossy(bytes)), *missing, false)
            }
            V::Text16(units, missing) => {
                cut("text", Json::text(String::from_utf16_lossy(units)), *missing, false)
            }
            V::Text32(units, missing) => {
                let text: String = units.iter().map(|unit| replaced(*unit)).collect();
                cut("text", Json::text(text), *missing, false)
            }
            V::Bytes(bytes, missing) => cut("bytes", Json::hex(bytes), *missing, true),
            V::Uuid(bytes) => Json::tagged("uuid", Json::hex(bytes)),
            V::Time(ns) => Json::tagged("time", Json::int(ns)),
            V::Duration(ns) => Json::tagged("duration", Json::int(ns)),
            V::Any(item) => Json::tagged("cbor", Json::hex(item)),
            V::None | V::NoVariant => Json::tagged("none", Json::Bool(true)),
            V::Some(inner) => Json::tagged("some", inner.json()),
            V::List(items, missing) => cut("list", array(items), *missing, false),
            V::Set(items, missing) => cut("set", array(items), *missing, true),
            V::Array(items) => array(items),
            V::Map(pairs) => {
                let pair = |(key, value): &(V, V)| Json::Array(vec![key.json(), value.json()]);
                Json::tagged("map", Json::Array(pairs.iter().map(pair).collect()))
            }
            V::Tuple(items) => Json::tagged("tuple", array(items)),
            V::Record(name, fields) => {
                let field = |(name, value): &(&str, V)| Json::Array(vec![Json::text(*name), value.json()]);
                let fields = Json::Array(fields.iter().map(field).collect());
                Json::Object(vec![("record", Json::text(*name)), ("fields", fields)])
            }
            V::Enumeration(name, label, value) => Json::Object(vec![
                ("enum", Json::text(*name)),
                ("label", label.map_or(Json::Null, Json::text)),
                ("value", value.number()),
            ]),
            V::Variant(index, inner) => {
                Json::Object(vec![("alternative", Json::int(index)), ("value", inner.json())])
            }
            V::Meta(key, text, inner) => Json::Object(vec![
                ("meta", Json::Array(vec![Json::text(*key), Json::text(*text)])),
                ("value", inner.json()),
            ]),
        }
    }

    /// What lies under an enumeration, as a number.
    fn number(&self) -> Json {
        match self {
            V::Bool(value) => Json::int(u8::from(*value)),
            V::Char8(unit) => Json::int(unit),
            V::Char16(unit) => Json::int(unit),
            V::Char32(unit) => Json::int(unit),
            other => other.json(),
        }
    }
}

/// A length, and what is missing.
fn length(len: usize, missing: Option<u32>, out: &mut Vec<u8>) {
    let mark = if missing.is_some() { 0x8000_0000 } else { 0 };
    out.extend_from_slice(&(len as u32 | mark).to_le_bytes());
    if let Some(missing) = missing {
        out.extend_from_slice(&missing.to_le_bytes());
    }
}

fn array(items: &[V]) -> Json {
    Json::Array(items.iter().map(V::json).collect())
}

fn replaced(unit: u32) -> char {
    char::from_u32(unit).unwrap_or('\u{FFFD}')
}

fn character(unit: u32) -> Json {
    Json::text(replaced(unit))
}

/// The content alone, or tagged when it must be, or with what is missing.
fn cut(tag: &'static str, content: Json, missing: Option<u32>, always_tagged: bool) -> Json {
    match missing.filter(|missing| *missing > 0) {
        Some(missing) => Json::Object(vec![(tag, content), ("missing", Json::int(missing))]),
        None if always_tagged => Json::tagged(tag, content),
        None => content,
    }
}
