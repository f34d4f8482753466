//! What fields of TraceLogging a type becomes.
//!
//! | type | field |
//! |---|---|
//! | number of at most 64 bits, bool, address, UUID, time, duration | itself |
//! | text, bytes | counted text, binary |
//! | character, wide text, integer of 128 bits, secret | counted text |
//! | enumeration | its number, then `NAME_label` if it has labels |
//! | optional | `NAME_present`, then the value: zero, empty or null without one |
//! | sequence, set or array of values or texts | array |
//! | record, tuple | structure |
//! | everything else, and a structure that is too deep or too wide | text: JSON; addresses and times in it are numbers |
//!
//! `cpp/src/probes/forms.hpp` and `cpp/src/etw/dialect.hpp` decide the same for events that a tracepoint writes.

use silverpoint_wire::signature::{Enumeration, Record, Tuple, Type};

/// Structures within each other.
const DEEPEST: usize = 7;
/// Fields of a structure: seven bits count them.
const WIDEST: usize = 127;

/// In-types.
mod kind {
    pub(super) const INT8: u8 = 3;
    pub(super) const FLOAT32: u8 = 11;
    pub(super) const FLOAT64: u8 = 12;
    pub(super) const GUID: u8 = 15;
    pub(super) const HEX32: u8 = 20;
    pub(super) const HEX64: u8 = 21;
}

/// Out-types.
mod shown {
    pub(super) const OWN: u8 = 0;
    pub(super) const BOOLEAN: u8 = 3;
    pub(super) const HEX: u8 = 4;
}

/// A value of fixed size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) kind: u8,
    pub(super) shown: u8,
    pub(super) size: usize,
}

impl Value {
    pub(super) const BOOLEAN: Self = Self { kind: kind::INT8 + 1, shown: shown::BOOLEAN, size: 1 };

    fn own(kind: u8, size: usize) -> Self {
        Self { kind, shown: shown::OWN, size }
    }

    fn number(size: usize, is_signed: bool, is_hex: bool) -> Self {
        let int = kind::INT8 + 2 * size.trailing_zeros() as u8;
        match (size, is_hex) {
            (4, true) => Self::own(kind::HEX32, size),
            (8, true) => Self::own(kind::HEX64, size),
            (_, true) => Self { kind: int + 1, shown: shown::HEX, size },
            (_, false) => Self::own(int + u8::from(!is_signed), size),
        }
    }

    /// Its first three numbers are little-endian, unlike those of a record.
    pub(super) fn is_guid(self) -> bool {
        self.kind == kind::GUID
    }

    /// That of a type without metadata.
    fn of(ty: &Type, is_hex: bool) -> Option<Self> {
        Some(match ty {
            Type::Bool => Self::BOOLEAN,
            Type::Int { bits: 128.., .. } => return None,
            Type::Int { bits, signed } => Self::number(usize::from(*bits) / 8, *signed, is_hex),
            Type::Float32 => Self::own(kind::FLOAT32, 4),
            Type::Float64 => Self::own(kind::FLOAT64, 8),
            Type::Pointer => Self::number(8, false, true),
            Type::Time | Type::Duration => Self::number(8, true, false),
            Type::Uuid => Self::own(kind::GUID, 16),
            _ => return None,
        })
    }
}

/// What a type becomes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Field {
    /// No field and no bytes.
    Nothing,
    Value(Value),
    Text,
    Bytes,
    /// A text that is made of the value.
    Made(Type),
    /// A number, and its label if there are any.
    Number {
        value: Value,
        is_signed: bool,
        of: Box<Enumeration>,
    },
    Optional(Box<Field>),
    /// Values; of an array the number, which a record does not say.
    Values(Value, Option<u32>),
    Texts(Option<u32>),
    Structure(Vec<(String, Field)>),
    Json(Type),
}

impl Field {
    pub(super) fn of(ty: &Type) -> Self {
        Self::within(ty, DEEPEST, false)
    }

    /// `depth`: how many structures may still lie within each other.
    fn within(ty: &Type, depth: usize, is_hex: bool) -> Self {
        if has(ty, "secret") {
            return Self::Made(ty.clone());
        }
        let is_hex = is_hex || has(ty, "hex");
        let bare = ty.bare();
        if let Some(value) = Value::of(bare, is_hex) {
            return Self::Value(value);
        }
        match bare {
            Type::Null => Self::Nothing,
            Type::Text8 => Self::Text,
            Type::Bytes => Self::Bytes,
            Type::Text16 | Type::Text32 | Type::Char8 | Type::Char16 | Type::Char32 | Type::Int { .. } => {
                Self::Made(bare.clone())
            }
            Type::Enumeration(of) => Self::enumeration(of, is_hex),
            Type::Optional(inner) => Self::Optional(Box::new(Self::within(inner, depth, is_hex))),
            Type::Sequence(inner) | Type::Set(inner) => Self::list(ty, inner, None, is_hex),
            Type::Array(count, inner) => Self::list(ty, inner, Some(*count), is_hex),
            Type::Tuple(tuple) => {
                let names = (0..).map(|number: usize| number.to_string());
                Self::structure(ty, names.zip(tuple.types()), depth, is_hex)
            }
            Type::Record(record) => {
                let fields = record.fields().iter().map(|(name, ty)| (name.clone(), ty));
                Self::structure(ty, fields, depth, is_hex)
            }
            _ => Self::Json(plain(ty)),
        }
    }

    fn enumeration(of: &Enumeration, is_hex: bool) -> Self {
        let underlying = of.underlying().bare();
        let is_signed = matches!(underlying, Type::Int { signed: true, .. });
        let value = Value::of(underlying, is_hex).unwrap_or_else(|| {
            // A character, by its number.
            Value::number(underlying.fixed_size().unwrap_or(1), false, is_hex)
        });
        Self::Number { value, is_signed, of: Box::new(of.clone()) }
    }

    fn list(ty: &Type, element: &Type, count: Option<u32>, is_hex: bool) -> Self {
        let value = Value::of(element.bare(), is_hex || has(element, "hex"));
        match (value, element.bare()) {
            _ if has(element, "secret") => Self::Json(plain(ty)),
            (Some(value), _) => Self::Values(value, count),
            (None, Type::Text8) => Self::Texts(count),
            (None, _) => Self::Json(plain(ty)),
        }
    }

    fn structure<'t>(
        ty: &Type,
        members: impl Iterator<Item = (String, &'t Type)>,
        depth: usize,
        is_hex: bool,
    ) -> Self {
        if depth == 0 {
            return Self::Json(plain(ty));
        }
        let fields: Vec<(String, Self)> =
            members.map(|(name, ty)| (name, Self::within(ty, depth - 1, is_hex))).collect();
        match fields.iter().map(|(_, field)| field.count()).sum() {
            0 => Self::Nothing,
            1..=WIDEST => Self::Structure(fields),
            _ => Self::Json(plain(ty)),
        }
    }

    /// How many fields it is of the structure that it lies in.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Number { of, .. } => 1 + usize::from(is_labelled(of)),
            Self::Optional(inner) => 1 + inner.count(),
            _ => 1,
        }
    }
}

/// Whether an enumeration has a field for labels.
pub(super) fn is_labelled(of: &Enumeration) -> bool {
    of.labels().next().is_some()
}

/// The type without what changes only how JSON shows a value: numbers are numbers there.
fn plain(ty: &Type) -> Type {
    let inner = |ty: &Type| Box::new(plain(ty));
    let int = |signed| Type::Int { bits: 64, signed };
    match ty {
        Type::Meta(key, text, ty) if key == "secret" => Type::Meta(key.clone(), text.clone(), inner(ty)),
        Type::Meta(_, _, ty) => plain(ty),
        Type::Pointer => int(false),
        Type::Time | Type::Duration => int(true),
        Type::Optional(ty) => Type::Optional(inner(ty)),
        Type::Sequence(ty) => Type::Sequence(inner(ty)),
        Type::Set(ty) => Type::Set(inner(ty)),
        Type::Array(count, ty) => Type::Array(*count, inner(ty)),
        Type::Map(key, value) => Type::Map(inner(key), inner(value)),
        Type::Tuple(tuple) => {
            let types = tuple.types().iter().map(plain).collect();
            Type::Tuple(Box::new(Tuple::new(types)))
        }
        Type::Record(record) => {
            let fields = record.fields().iter().map(|(name, ty)| (name.clone(), plain(ty))).collect();
            Type::Record(Box::new(Record::new(record.name().to_owned(), fields)))
        }
        Type::Variant(types) => Type::Variant(types.iter().map(plain).collect()),
        other => other.clone(),
    }
}

/// Whether a type has metadata of this key.
fn has(ty: &Type, key: &str) -> bool {
    matches!(ty, Type::Meta(found, _, inner) if found == key || has(inner, key))
}
