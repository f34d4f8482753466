//! Values that describe themselves by `serde::Serialize`. Feature `serde`.
//!
//! The value is walked as for any format, and written directly into the record, as an item that carries its
//! types itself. Structs and maps are maps, sequences and tuples lists, variants their name or a map of it,
//! an absent value null. Only the value's own code may allocate.

use std::fmt::{self, Display};

use serde_core::ser::{self, Serialize, Serializer};
use silverpoint_wire::bytes::floor_char_boundary;

use super::{Trace, recursive};
use crate::item::{Item, Nest};
use crate::sig::Sig;
use crate::writer::Writer;

/// Any value that can be serialized: `info!("{}", Serde(&config))`. Recorded typed, as text-based formats show it (a `SystemTime` is what its `Serialize` makes of it).
///
/// At most 24 levels of lists and maps; what lies deeper is `…`. A value that no record holds is recorded smaller, at last as `…` alone, and the record says that it
/// was cut. When the value's own code fails, `<error: what it says>` stands for the whole value. It runs once, unless the value is larger than a record.
///
/// Costs a walk over the value, with the names of the fields in each record: several times what a derived type costs.
#[derive(Clone, Copy, Debug)]
pub struct Serde<T>(pub T);

impl<T: Serialize> Trace for Serde<T> {
    const SIGNATURE: Sig = Sig::Text("v");
    const FIXED: Option<usize> = None;
    const DEAR: bool = true;

    fn trace_size(&self) -> usize {
        recursive::size(self)
    }
    fn trace_least(&self) -> usize {
        recursive::least()
    }
    fn trace_write(&self, writer: &mut Writer<'_>) {
        recursive::write(self, writer);
    }
    fn trace_item(&self, item: &mut Item<'_>) {
        let start = item.checkpoint();
        if let Err(failure) = self.0.serialize(Put(item)) {
            if !item.is_full() {
                item.return_to(start);
                item.formatted(format_args!("<error: {failure}>"));
            }
        }
    }
}

/// Why a value could not be written. It is the message of its code, as far as it fits here; or there is no
/// room, which the item knows.
#[derive(Clone, Copy)]
struct Failure {
    text: [u8; Self::MOST],
    len: u8,
}

impl Failure {
    const MOST: usize = 95;
    /// No room: the walk ends.
    const FULL: Self = Self { text: [0; Self::MOST], len: 0 };
}

impl fmt::Write for Failure {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let len = usize::from(self.len);
        let kept = floor_char_boundary(text, Self::MOST - len);
        self.text[len..len + kept].copy_from_slice(&text.as_bytes()[..kept]);
        self.len += kept as u8;
        // What does not fit is left out without an error, which not every Display implementation can handle.
        Ok(())
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.text[..usize::from(self.len)]).unwrap_or_default())
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl std::error::Error for Failure {}

impl ser::Error for Failure {
    fn custom<T: Display>(message: T) -> Self {
        let mut failure = Self::FULL;
        let _ = fmt::Write::write_fmt(&mut failure, format_args!("{message}"));
        failure
    }
}

type Done = Result<(), Failure>;

/// A list or map that was begun.
struct Compound<'i, 'a> {
    item: &'i mut Item<'a>,
    nest: Nest,
    /// The list or map stands in a map of the name of a variant.
    outer: Option<Nest>,
    /// A map's key was written, or left out: its value is next.
    key: Option<bool>,
}

impl<'i, 'a> Compound<'i, 'a> {
    fn list(item: &'i mut Item<'a>) -> Self {
        let nest = item.begin_list();
        Self { item, nest, outer: None, key: None }
    }

    fn map(item: &'i mut Item<'a>) -> Self {
        let nest = item.begin_map();
        Self { item, nest, outer: None, key: None }
    }

    /// Begins the map of a variant's name. `false`: it lies too deep.
    fn variant(item: &mut Item<'a>, name: &str) -> (Nest, bool) {
        let mut outer = item.begin_map();
        let is_there = item.next(&mut outer);
        if is_there {
            item.text(name);
        }
        (outer, is_there)
    }

    fn variant_of(item: &'i mut Item<'a>, name: &str, begin: fn(&mut Item<'a>) -> Nest) -> Self {
        let (outer, is_there) = Self::variant(item, name);
        if !is_there {
            // What comes is left out.
            return Self { item, nest: outer, outer: None, key: None };
        }
        let nest = begin(item);
        Self { item, nest, outer: Some(outer), key: None }
    }

    fn done(&self) -> Done {
        if self.item.is_full() { Err(Failure::FULL) } else { Ok(()) }
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        if self.item.next(&mut self.nest) {
            value.serialize(Put(self.item))?;
        }
        self.done()
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Done {
        if self.item.next(&mut self.nest) {
            self.item.text(name);
            value.serialize(Put(self.item))?;
        }
        self.done()
    }

    fn finish(mut self) -> Done {
        // A key without a value: the map must be one.
        if self.key.take() == Some(true) {
            self.item.null();
        }
        self.item.end(self.nest);
        if let Some(outer) = self.outer {
            self.item.end(outer);
        }
        if self.item.is_full() { Err(Failure::FULL) } else { Ok(()) }
    }
}

macro_rules! scalars {
    ($($name:ident($kind:ty): $put:ident as $wide:ty;)*) => {$(
        fn $name(self, value: $kind) -> Done {
            self.0.$put(<$wide>::from(value));
            done(self.0)
        }
    )*};
}

fn done(item: &Item<'_>) -> Done {
    if item.is_full() { Err(Failure::FULL) } else { Ok(()) }
}

/// An item, as serde knows where values go.
struct Put<'i, 'a>(&'i mut Item<'a>);

impl<'i, 'a> Serializer for Put<'i, 'a> {
    type Ok = ();
    type Error = Failure;
    type SerializeSeq = Compound<'i, 'a>;
    type SerializeTuple = Compound<'i, 'a>;
    type SerializeTupleStruct = Compound<'i, 'a>;
    type SerializeTupleVariant = Compound<'i, 'a>;
    type SerializeMap = Compound<'i, 'a>;
    type SerializeStruct = Compound<'i, 'a>;
    type SerializeStructVariant = Compound<'i, 'a>;

    scalars! {
        serialize_bool(bool): bool as bool;
        serialize_i8(i8): integer as i128;
        serialize_i16(i16): integer as i128;
        serialize_i32(i32): integer as i128;
        serialize_i64(i64): integer as i128;
        serialize_i128(i128): integer as i128;
        serialize_u8(u8): unsigned as u128;
        serialize_u16(u16): unsigned as u128;
        serialize_u32(u32): unsigned as u128;
        serialize_u64(u64): unsigned as u128;
        serialize_u128(u128): unsigned as u128;
        serialize_f32(f32): f32 as f32;
        serialize_f64(f64): f64 as f64;
    }

    fn serialize_char(self, value: char) -> Done {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }
    fn serialize_str(self, value: &str) -> Done {
        self.0.text(value);
        done(self.0)
    }
    fn serialize_bytes(self, value: &[u8]) -> Done {
        self.0.bytes(value);
        done(self.0)
    }
    /// Without the text that is made otherwise.
    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Done {
        self.0.formatted(format_args!("{value}"));
        done(self.0)
    }

    fn serialize_none(self) -> Done {
        self.serialize_unit()
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Done {
        if !self.0.wrapped() {
            return done(self.0);
        }
        value.serialize(Put(self.0))?;
        self.0.unwrapped();
        Ok(())
    }
    fn serialize_unit(self) -> Done {
        self.0.null();
        done(self.0)
    }
    fn serialize_unit_struct(self, _: &'static str) -> Done {
        self.serialize_unit()
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Done {
        self.serialize_str(variant)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Done {
        self.serialize_some(value)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Done {
        let (outer, is_there) = Compound::variant(self.0, variant);
        if is_there {
            value.serialize(Put(self.0))?;
        }
        self.0.end(outer);
        done(self.0)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'i, 'a>, Failure> {
        Ok(Compound::list(self.0))
    }
    fn serialize_tuple(self, _: usize) -> Result<Compound<'i, 'a>, Failure> {
        Ok(Compound::list(self.0))
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Compound<'i, 'a>, Failure> {
        Ok(Compound::list(self.0))
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'i, 'a>, Failure> {
        Ok(Compound::variant_of(self.0, variant, Item::begin_list))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'i, 'a>, Failure> {
        Ok(Compound::map(self.0))
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Compound<'i, 'a>, Failure> {
        Ok(Compound::map(self.0))
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'i, 'a>, Failure> {
        Ok(Compound::variant_of(self.0, variant, Item::begin_map))
    }
}

impl ser::SerializeMap for Compound<'_, '_> {
    type Ok = ();
    type Error = Failure;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Done {
        // Two keys in a row: the map must stay one.
        if self.key.take() == Some(true) {
            self.item.null();
        }
        let is_there = self.item.next(&mut self.nest);
        self.key = Some(is_there);
        if is_there {
            key.serialize(Put(self.item))?;
        }
        self.done()
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        let is_there = self.key.take().unwrap_or_else(|| {
            let is_there = self.item.next(&mut self.nest);
            if is_there {
                self.item.null();
            }
            is_there
        });
        if is_there {
            value.serialize(Put(self.item))?;
        }
        self.done()
    }
    fn end(self) -> Done {
        self.finish()
    }
}

macro_rules! compounds {
    ($($kind:ident: $put:ident($($name:ident: $name_kind:ty)?) => $own:ident;)*) => {$(
        impl ser::$kind for Compound<'_, '_> {
            type Ok = ();
            type Error = Failure;
            fn $put<T: Serialize + ?Sized>(&mut self, $($name: $name_kind,)? value: &T) -> Done {
                self.$own($($name,)? value)
            }
            fn end(self) -> Done {
                self.finish()
            }
        }
    )*};
}

compounds! {
    SerializeSeq: serialize_element() => element;
    SerializeTuple: serialize_element() => element;
    SerializeTupleStruct: serialize_field() => element;
    SerializeTupleVariant: serialize_field() => element;
    SerializeStruct: serialize_field(name: &'static str) => field;
    SerializeStructVariant: serialize_field(name: &'static str) => field;
}
