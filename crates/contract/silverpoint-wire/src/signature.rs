//! Type signatures (spec/wire.md section 10): text to tree and back.

use std::fmt;

use crate::layout::signature::{ARGS_MAX, NESTING_MAX, SIZE_MAX};

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// No value, no bytes.
    Null,
    /// One byte, 0 or 1.
    Bool,
    /// Two's complement or unsigned, of 8, 16, 32, 64 or 128 bits.
    Int {
        /// Width in bits.
        bits: u8,
        /// Two's complement.
        signed: bool,
    },
    /// IEEE 754, 4 bytes.
    Float32,
    /// IEEE 754, 8 bytes.
    Float64,
    /// One UTF-8 unit.
    Char8,
    /// One UTF-16 unit.
    Char16,
    /// One code point.
    Char32,
    /// An address.
    Pointer,
    /// UTF-8 text.
    Text8,
    /// UTF-16 text.
    Text16,
    /// UTF-32 text.
    Text32,
    /// Bytes.
    Bytes,
    /// 16 bytes.
    Uuid,
    /// i64 ns since 1970-01-01T00:00Z.
    Time,
    /// i64 ns.
    Duration,
    /// One CBOR item.
    Any,
    /// A value or none.
    Optional(Box<Type>),
    /// Elements in order.
    Sequence(Box<Type>),
    /// Elements of a set.
    Set(Box<Type>),
    /// A fixed number of elements.
    Array(u32, Box<Type>),
    /// Pairs of key and value.
    Map(Box<Type>, Box<Type>),
    /// Values one after the other.
    Tuple(Box<Tuple>),
    /// Named fields.
    Record(Box<Record>),
    /// A number with names.
    Enumeration(Box<Enumeration>),
    /// One of several; index 255 is none.
    Variant(Vec<Type>),
    /// Metadata (key, text) on a type.
    Meta(String, String, Box<Type>),
}

/// The type of a tuple.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuple {
    types: Vec<Type>,
    /// Kept here, as in [`Record`]: else a sequence of tuples would count the same widths again for every element.
    fixed_size: Option<usize>,
}

impl Tuple {
    /// Of these elements.
    pub fn new(types: Vec<Type>) -> Tuple {
        let fixed_size = sum(types.iter());
        Tuple { types, fixed_size }
    }

    /// The elements' types.
    pub fn types(&self) -> &[Type] {
        &self.types
    }
}

/// The type of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    name: String,
    fields: Vec<(String, Type)>,
    fixed_size: Option<usize>,
}

impl Record {
    /// With this name and these named fields.
    pub fn new(name: String, fields: Vec<(String, Type)>) -> Record {
        let fixed_size = sum(fields.iter().map(|(_, ty)| ty));
        Record { name, fields, fixed_size }
    }

    /// Its name, may be empty.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names and types of its fields, in order.
    pub fn fields(&self) -> &[(String, Type)] {
        &self.fields
    }
}

/// The type of an enumeration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumeration {
    name: String,
    underlying: Type,
    /// In ascending order of values; equal ones as they stood.
    labels: Vec<(i64, String)>,
}

impl Enumeration {
    /// Over `underlying` (an integer of at most 64 bits, bool or character). Labels are values (sign-extended, as two's complement) with their names;
    /// the first of equal values counts.
    pub fn new(name: String, underlying: Type, mut labels: Vec<(i64, String)>) -> Enumeration {
        labels.sort_by_key(|(value, _)| *value);
        Enumeration { name, underlying, labels }
    }

    /// Name of the type, may be empty.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type that is recorded.
    pub fn underlying(&self) -> &Type {
        &self.underlying
    }

    /// Values with their labels, in ascending order; of equal values the first counts.
    pub fn labels(&self) -> impl Iterator<Item = (i64, &str)> {
        self.labels.iter().map(|(value, label)| (*value, label.as_str()))
    }

    /// The label of a value. Time is logarithmic in the number of labels.
    pub fn label(&self, value: i64) -> Option<&str> {
        let at = self.labels.partition_point(|(known, _)| *known < value);
        self.labels.get(at).filter(|(known, _)| *known == value).map(|(_, label)| label.as_str())
    }
}

/// Why a text is no signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureError {
    /// Byte offset in the signature.
    pub at: usize,
    /// What was expected or exceeded.
    pub what: &'static str,
}

impl fmt::Display for SignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "signature, byte {}: {}", self.at, self.what)
    }
}

impl std::error::Error for SignatureError {}

/// Parses the types of all arguments.
pub fn parse(signature: &str) -> Result<Vec<Type>, SignatureError> {
    if signature.len() > SIZE_MAX {
        return Err(SignatureError { at: SIZE_MAX, what: "longer than 16,384 bytes" });
    }
    let mut parser = Parser { text: signature.as_bytes(), at: 0 };
    let mut types = Vec::new();
    while parser.at < parser.text.len() {
        if types.len() == ARGS_MAX {
            return Err(parser.error("more than 255 arguments"));
        }
        types.push(parser.parse_type(0)?);
    }
    Ok(types)
}

impl Type {
    /// The size in bytes that every value of this type has, if it is always the same. A type without one takes at least one byte
    /// a value: decoders rely on this to bound their work by their input. Time is bounded by the nesting (32), not by the width.
    pub fn fixed_size(&self) -> Option<usize> {
        Some(match self {
            Type::Null => 0,
            Type::Bool | Type::Char8 => 1,
            Type::Int { bits, .. } => usize::from(*bits) / 8,
            Type::Char16 => 2,
            Type::Float32 | Type::Char32 => 4,
            Type::Float64 | Type::Pointer | Type::Time | Type::Duration => 8,
            Type::Uuid => 16,
            Type::Array(0, _) => 0,
            Type::Array(count, element) => element.fixed_size()?.checked_mul(*count as usize)?,
            Type::Tuple(tuple) => tuple.fixed_size?,
            Type::Record(record) => record.fixed_size?,
            Type::Enumeration(enumeration) => enumeration.underlying.fixed_size()?,
            Type::Meta(_, _, inner) => inner.fixed_size()?,
            Type::Text8
            | Type::Text16
            | Type::Text32
            | Type::Bytes
            | Type::Any
            | Type::Optional(_)
            | Type::Sequence(_)
            | Type::Set(_)
            | Type::Map(..)
            | Type::Variant(_) => return None,
        })
    }

    /// The type without metadata around it.
    pub fn bare(&self) -> &Type {
        match self {
            Type::Meta(_, _, inner) => inner.bare(),
            other => other,
        }
    }
}

fn sum<'a>(mut types: impl Iterator<Item = &'a Type>) -> Option<usize> {
    types.try_fold(0_usize, |total, ty| total.checked_add(ty.fixed_size()?))
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn error(&self, what: &'static str) -> SignatureError {
        SignatureError { at: self.at, what }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), SignatureError> {
        if self.peek() != Some(byte) {
            return Err(self.error(what));
        }
        self.at += 1;
        Ok(())
    }

    fn parse_type(&mut self, depth: usize) -> Result<Type, SignatureError> {
        if depth >= NESTING_MAX {
            return Err(self.error("nested deeper than 32"));
        }
        let code = self.peek().ok_or_else(|| self.error("a type is expected"))?;
        self.at += 1;
        let int = |bits, signed| Type::Int { bits, signed };
        Ok(match code {
            b'n' => Type::Null,
            b'b' => Type::Bool,
            b'a' => int(8, true),
            b'h' => int(16, true),
            b'i' => int(32, true),
            b'l' => int(64, true),
            b'o' => int(128, true),
            b'A' => int(8, false),
            b'H' => int(16, false),
            b'I' => int(32, false),
            b'L' => int(64, false),
            b'O' => int(128, false),
            b'f' => Type::Float32,
            b'd' => Type::Float64,
            b'c' => Type::Char8,
            b'w' => Type::Char16,
            b'W' => Type::Char32,
            b'p' => Type::Pointer,
            b's' => Type::Text8,
            b'S' => Type::Text16,
            b'Z' => Type::Text32,
            b'y' => Type::Bytes,
            b'u' => Type::Uuid,
            b't' => Type::Time,
            b'T' => Type::Duration,
            b'v' => Type::Any,
            b'?' => Type::Optional(self.boxed(depth)?),
            b'[' => Type::Sequence(self.boxed(depth)?),
            b'$' => Type::Set(self.boxed(depth)?),
            b'#' => {
                let count = self.parse_number()?;
                let count = u32::try_from(count).map_err(|_| self.error("an array's length fits 32 bits"))?;
                self.expect(b':', "':' after an array's length is expected")?;
                Type::Array(count, self.boxed(depth)?)
            }
            b'{' => {
                let key = self.boxed(depth)?;
                let value = self.boxed(depth)?;
                Type::Map(key, value)
            }
            b'(' => Type::Tuple(Box::new(Tuple::new(self.parse_types(depth, b')')?))),
            b'/' => Type::Variant(self.parse_types(depth, b'|')?),
            b'<' => self.parse_record(depth)?,
            b'e' => self.parse_enumeration(depth)?,
            b'@' => {
                let key = self.parse_name(b'=')?;
                let text = self.parse_name(b';')?;
                Type::Meta(key, text, self.boxed(depth)?)
            }
            _ => {
                self.at -= 1;
                return Err(self.error("no type has this code"));
            }
        })
    }

    fn boxed(&mut self, depth: usize) -> Result<Box<Type>, SignatureError> {
        self.parse_type(depth + 1).map(Box::new)
    }

    fn parse_types(&mut self, depth: usize, end: u8) -> Result<Vec<Type>, SignatureError> {
        let mut types = Vec::new();
        while self.peek() != Some(end) {
            types.push(self.parse_type(depth + 1)?);
        }
        self.at += 1;
        Ok(types)
    }

    fn parse_record(&mut self, depth: usize) -> Result<Type, SignatureError> {
        let name = self.parse_name(b'|')?;
        let mut fields = Vec::new();
        while self.peek() != Some(b'>') {
            let field = self.parse_name(b':')?;
            let ty = self.parse_type(depth + 1)?;
            self.expect(b',', "',' after a field is expected")?;
            fields.push((field, ty));
        }
        self.at += 1;
        Ok(Type::Record(Box::new(Record::new(name, fields))))
    }

    fn parse_enumeration(&mut self, depth: usize) -> Result<Type, SignatureError> {
        let name = self.parse_name(b'|')?;
        let before = self.at;
        let underlying = self.parse_type(depth + 1)?;
        let fits = matches!(underlying, Type::Bool | Type::Char8 | Type::Char16 | Type::Char32)
            || matches!(underlying, Type::Int { bits, .. } if bits <= 64);
        if !fits {
            return Err(SignatureError {
                at: before,
                what: "an enumeration lies over an integer, bool or character",
            });
        }
        self.expect(b'|', "'|' after an enumeration's type is expected")?;
        let mut labels = Vec::new();
        while self.peek() != Some(b';') {
            let negative = self.peek() == Some(b'-');
            self.at += usize::from(negative);
            let magnitude = self.parse_number()?;
            let value = if negative { (magnitude as i64).wrapping_neg() } else { magnitude as i64 };
            self.expect(b'=', "'=' after a value is expected")?;
            labels.push((value, self.parse_name(b',')?));
        }
        self.at += 1;
        Ok(Type::Enumeration(Box::new(Enumeration::new(name, underlying, labels))))
    }

    fn parse_number(&mut self) -> Result<u64, SignatureError> {
        let start = self.at;
        let mut number = 0_u64;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            number = number
                .checked_mul(10)
                .and_then(|n| n.checked_add(u64::from(digit - b'0')))
                .ok_or_else(|| self.error("the number is too large"))?;
            self.at += 1;
        }
        if self.at == start { Err(self.error("a decimal number is expected")) } else { Ok(number) }
    }

    /// A name up to `end`, which is passed over; `%HH` is a byte.
    fn parse_name(&mut self, end: u8) -> Result<String, SignatureError> {
        let start = self.at;
        let mut name = Vec::new();
        loop {
            match self.peek() {
                None => return Err(self.error("the signature ends within a name")),
                Some(byte) if byte == end => break,
                Some(b'%') => {
                    let hex =
                        self.text.get(self.at + 1..self.at + 3).and_then(|hex| std::str::from_utf8(hex).ok());
                    let byte = hex
                        .filter(|hex| !hex.starts_with('+'))
                        .and_then(|hex| u8::from_str_radix(hex, 16).ok());
                    name.push(byte.ok_or_else(|| self.error("'%' is followed by two hexadecimal digits"))?);
                    self.at += 3;
                }
                Some(b'|' | b':' | b',' | b';' | b'=' | b'>' | b'<') => {
                    return Err(self.error("a name has this character as %HH only"));
                }
                Some(byte) if !(0x20..0x7F).contains(&byte) => {
                    return Err(self.error("a name has this character as %HH only"));
                }
                Some(byte) => {
                    name.push(byte);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        String::from_utf8(name).map_err(|_| SignatureError { at: start, what: "a name is not UTF-8" })
    }
}

/// Appends `name` as it stands in a signature.
pub fn escape_name(name: &str, out: &mut String) {
    for byte in name.bytes() {
        match byte {
            b'%' | b'|' | b':' | b',' | b';' | b'=' | b'>' | b'<' => push_hex(byte, out),
            0x20..0x7F => out.push(char::from(byte)),
            _ => push_hex(byte, out),
        }
    }
}

fn push_hex(byte: u8, out: &mut String) {
    const DIGITS: [u8; 16] = *b"0123456789ABCDEF";
    out.push('%');
    out.push(char::from(DIGITS[usize::from(byte >> 4)]));
    out.push(char::from(DIGITS[usize::from(byte & 15)]));
}

impl fmt::Display for Type {
    /// The canonical signature; [`parse`] gives the same tree back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |name: &str| {
            let mut escaped = String::new();
            escape_name(name, &mut escaped);
            escaped
        };
        match self {
            Type::Null => f.write_str("n"),
            Type::Bool => f.write_str("b"),
            Type::Int { bits, signed } => {
                let code = match bits {
                    8 => 'a',
                    16 => 'h',
                    32 => 'i',
                    64 => 'l',
                    _ => 'o',
                };
                write!(f, "{}", if *signed { code } else { code.to_ascii_uppercase() })
            }
            Type::Float32 => f.write_str("f"),
            Type::Float64 => f.write_str("d"),
            Type::Char8 => f.write_str("c"),
            Type::Char16 => f.write_str("w"),
            Type::Char32 => f.write_str("W"),
            Type::Pointer => f.write_str("p"),
            Type::Text8 => f.write_str("s"),
            Type::Text16 => f.write_str("S"),
            Type::Text32 => f.write_str("Z"),
            Type::Bytes => f.write_str("y"),
            Type::Uuid => f.write_str("u"),
            Type::Time => f.write_str("t"),
            Type::Duration => f.write_str("T"),
            Type::Any => f.write_str("v"),
            Type::Optional(inner) => write!(f, "?{inner}"),
            Type::Sequence(inner) => write!(f, "[{inner}"),
            Type::Set(inner) => write!(f, "${inner}"),
            Type::Array(count, inner) => write!(f, "#{count}:{inner}"),
            Type::Map(key, value) => write!(f, "{{{key}{value}"),
            Type::Tuple(tuple) => {
                f.write_str("(")?;
                tuple.types.iter().try_for_each(|ty| write!(f, "{ty}"))?;
                f.write_str(")")
            }
            Type::Record(record) => {
                write!(f, "<{}|", name(&record.name))?;
                record.fields.iter().try_for_each(|(field, ty)| write!(f, "{}:{ty},", name(field)))?;
                f.write_str(">")
            }
            Type::Enumeration(e) => {
                write!(f, "e{}|{}|", name(&e.name), e.underlying)?;
                e.labels.iter().try_for_each(|(value, label)| write!(f, "{value}={},", name(label)))?;
                f.write_str(";")
            }
            Type::Variant(types) => {
                f.write_str("/")?;
                types.iter().try_for_each(|ty| write!(f, "{ty}"))?;
                f.write_str("|")
            }
            Type::Meta(key, text, inner) => write!(f, "@{}={};{inner}", name(key), name(text)),
        }
    }
}
