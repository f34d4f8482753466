//! Values as two kinds of pieces: those without parts, and containers. A reader that treats most values alike implements
//! [`Pieces`] and gets [`Visitor`]; one that needs a function for each type implements [`Visitor`] itself.

use crate::value::{Sequence, Text, Visitor};

/// A value without parts, as [`Visitor`] has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Leaf<'a> {
    /// No value.
    Null,
    /// An optional without value.
    None,
    /// A truth value.
    Bool(bool),
    /// A signed integer of at most 64 bits.
    I64(i64),
    /// An unsigned integer of at most 64 bits.
    U64(u64),
    /// A signed integer of 128 bits.
    I128(i128),
    /// An unsigned integer of 128 bits.
    U128(u128),
    /// A float of 32 bits.
    F32(f32),
    /// A float of 64 bits.
    F64(f64),
    /// A character.
    Char(char),
    /// An address.
    Pointer(u64),
    /// Text, and how many units were cut.
    Text(Text<'a>, u32),
    /// Bytes, and how many were cut.
    Bytes(&'a [u8], u32),
    /// A UUID.
    Uuid([u8; 16]),
    /// Nanoseconds since 1970-01-01T00:00Z.
    Time(i64),
    /// Nanoseconds.
    Duration(i64),
    /// One CBOR item, not validated.
    Any(&'a [u8]),
    /// A value of an enumeration.
    Enumeration {
        /// Of the enumeration.
        name: &'a str,
        /// Of the value, if it is known.
        label: Option<&'a str>,
        /// The underlying number.
        value: i64,
    },
}

impl Leaf<'_> {
    /// Calls the visitor's function for this value.
    #[inline(always)]
    pub fn visit<V: Visitor>(self, visitor: &mut V) -> Result<(), V::Error> {
        match self {
            Leaf::Null => visitor.null(),
            Leaf::None => visitor.none(),
            Leaf::Bool(value) => visitor.bool(value),
            Leaf::I64(value) => visitor.i64(value),
            Leaf::U64(value) => visitor.u64(value),
            Leaf::I128(value) => visitor.i128(value),
            Leaf::U128(value) => visitor.u128(value),
            Leaf::F32(value) => visitor.f32(value),
            Leaf::F64(value) => visitor.f64(value),
            Leaf::Char(value) => visitor.char(value),
            Leaf::Pointer(value) => visitor.pointer(value),
            Leaf::Text(text, missing) => visitor.text(text, missing),
            Leaf::Bytes(bytes, missing) => visitor.bytes(bytes, missing),
            Leaf::Uuid(uuid) => visitor.uuid(uuid),
            Leaf::Time(unix_ns) => visitor.time(unix_ns),
            Leaf::Duration(ns) => visitor.duration(ns),
            Leaf::Any(cbor) => visitor.any(cbor),
            Leaf::Enumeration { name, label, value } => visitor.enumeration(name, label, value),
        }
    }
}

/// A container that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container<'a> {
    /// `len` elements follow; `missing` more were cut.
    Sequence {
        /// What they are to each other.
        kind: Sequence,
        /// How many follow.
        len: u32,
        /// How many were cut.
        missing: u32,
    },
    /// So many pairs follow, key and value in turn.
    Map(u32),
    /// Fields follow, each after its name.
    Record {
        /// Of the type; may be empty.
        name: &'a str,
        /// How many follow.
        fields: usize,
    },
}

impl Container<'_> {
    /// Calls the visitor's function for this container.
    #[inline]
    pub fn visit<V: Visitor>(self, visitor: &mut V) -> Result<(), V::Error> {
        match self {
            Container::Sequence { kind, len, missing } => visitor.begin_sequence(kind, len, missing),
            Container::Map(len) => visitor.begin_map(len),
            Container::Record { name, fields } => visitor.begin_record(name, fields),
        }
    }
}

/// Receives a value in pieces: a leaf, or a container, its contents and its end.
pub trait Pieces {
    /// What stops the visit.
    type Error;
    /// A value without parts.
    fn leaf(&mut self, leaf: Leaf<'_>) -> Result<(), Self::Error>;
    /// A container begins.
    fn begin(&mut self, container: Container<'_>) -> Result<(), Self::Error>;
    /// The innermost container is complete.
    fn end(&mut self) -> Result<(), Self::Error>;
    /// The next value is this field's.
    fn field(&mut self, name: &str) -> Result<(), Self::Error> {
        let _ = name;
        Ok(())
    }
    /// An optional's value follows.
    fn some(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
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

macro_rules! leaves {
    ($($name:ident($($argument:ident: $type:ty),*) => $leaf:expr;)*) => {$(
        #[inline]
        fn $name(&mut self, $($argument: $type),*) -> Result<(), Self::Error> {
            self.leaf($leaf)
        }
    )*};
}

impl<P: Pieces> Visitor for P {
    type Error = P::Error;

    leaves! {
        null() => Leaf::Null;
        none() => Leaf::None;
        bool(value: bool) => Leaf::Bool(value);
        i64(value: i64) => Leaf::I64(value);
        u64(value: u64) => Leaf::U64(value);
        i128(value: i128) => Leaf::I128(value);
        u128(value: u128) => Leaf::U128(value);
        f32(value: f32) => Leaf::F32(value);
        f64(value: f64) => Leaf::F64(value);
        char(value: char) => Leaf::Char(value);
        pointer(value: u64) => Leaf::Pointer(value);
        text(text: Text<'_>, missing: u32) => Leaf::Text(text, missing);
        bytes(bytes: &[u8], missing: u32) => Leaf::Bytes(bytes, missing);
        uuid(uuid: [u8; 16]) => Leaf::Uuid(uuid);
        time(unix_ns: i64) => Leaf::Time(unix_ns);
        duration(ns: i64) => Leaf::Duration(ns);
        any(cbor: &[u8]) => Leaf::Any(cbor);
        enumeration(name: &str, label: Option<&str>, value: i64) => Leaf::Enumeration { name, label, value };
    }

    #[inline]
    fn some(&mut self) -> Result<(), Self::Error> {
        Pieces::some(self)
    }

    #[inline]
    fn begin_sequence(&mut self, kind: Sequence, len: u32, missing: u32) -> Result<(), Self::Error> {
        self.begin(Container::Sequence { kind, len, missing })
    }

    #[inline]
    fn begin_map(&mut self, len: u32) -> Result<(), Self::Error> {
        self.begin(Container::Map(len))
    }

    #[inline]
    fn begin_record(&mut self, name: &str, fields: usize) -> Result<(), Self::Error> {
        self.begin(Container::Record { name, fields })
    }

    #[inline]
    fn field(&mut self, name: &str) -> Result<(), Self::Error> {
        Pieces::field(self, name)
    }

    #[inline]
    fn end(&mut self) -> Result<(), Self::Error> {
        Pieces::end(self)
    }

    #[inline]
    fn variant(&mut self, index: u8) -> Result<(), Self::Error> {
        Pieces::variant(self, index)
    }

    #[inline]
    fn meta(&mut self, key: &str, text: &str) -> Result<(), Self::Error> {
        Pieces::meta(self, key, text)
    }
}
