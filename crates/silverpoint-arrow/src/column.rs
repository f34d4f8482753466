//! One column that grows, of any of the types that tables have; and the one value of an argument that goes into it.

use std::convert::Infallible;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Float64Builder, Int64Builder, StringBuilder, TimestampMicrosecondBuilder,
    UInt32Builder,
};
use arrow_schema::{DataType, TimeUnit};
use silverpoint_query::columns::{Kind, kind_of, micros};
use silverpoint_render::json::{Stack, push_plain};
use silverpoint_render::push_uuid;
use silverpoint_wire::signature::Type;
use silverpoint_wire::value::{Sequence, Text, Visitor, WalkError, walk};

/// As Arrow calls it.
pub fn data_type(kind: Kind) -> DataType {
    match kind {
        Kind::Bool => DataType::Boolean,
        Kind::Int => DataType::Int64,
        Kind::Small => DataType::UInt32,
        Kind::Float => DataType::Float64,
        Kind::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        Kind::Bytes => DataType::Binary,
        Kind::Text | Kind::Word | Kind::Json => DataType::Utf8,
    }
}

/// One value.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Cell {
    /// None.
    #[default]
    Null,
    /// Of a column of [`Kind::Bool`].
    Bool(bool),
    /// A number. Of a time: nanoseconds.
    Int(i64),
    /// A number that no column holds.
    TooLarge(u64),
    /// A float.
    Float(f64),
    /// Text or JSON, in the buffer beside it.
    Text,
    /// Bytes, in the buffer beside it.
    Bytes,
}

impl Cell {
    /// Of an unsigned number.
    pub fn unsigned(value: u64) -> Self {
        i64::try_from(value).map_or(Self::TooLarge(value), Self::Int)
    }
}

/// A column.
pub enum Column {
    /// See [`Kind`].
    Bool(BooleanBuilder),
    /// See [`Kind`].
    Int(Int64Builder),
    /// See [`Kind`].
    Small(UInt32Builder),
    /// See [`Kind`].
    Float(Float64Builder),
    /// See [`Kind`].
    Time(TimestampMicrosecondBuilder),
    /// See [`Kind`].
    Bytes(BinaryBuilder),
    /// See [`Kind`].
    Text(StringBuilder),
}

impl Column {
    /// An empty one.
    pub fn new(kind: Kind) -> Self {
        match kind {
            Kind::Bool => Self::Bool(BooleanBuilder::new()),
            Kind::Int => Self::Int(Int64Builder::new()),
            Kind::Small => Self::Small(UInt32Builder::new()),
            Kind::Float => Self::Float(Float64Builder::new()),
            Kind::Time => Self::Time(TimestampMicrosecondBuilder::new().with_timezone("UTC")),
            Kind::Bytes => Self::Bytes(BinaryBuilder::new()),
            Kind::Text | Kind::Word | Kind::Json => Self::Text(StringBuilder::new()),
        }
    }

    /// One more value; what the column cannot have is a null. `text` and `bytes` are the buffers beside the cell.
    pub fn push(&mut self, cell: &Cell, text: &str, bytes: &[u8]) {
        match (self, cell) {
            (Self::Bool(column), Cell::Bool(value)) => column.append_value(*value),
            (Self::Int(column), Cell::Int(value)) => column.append_value(*value),
            (Self::Time(column), Cell::Int(ns)) => column.append_value(micros(*ns)),
            (Self::Small(column), Cell::Int(value)) => column.append_option(u32::try_from(*value).ok()),
            (Self::Float(column), Cell::Float(value)) => column.append_value(*value),
            (Self::Text(column), Cell::Text) => column.append_value(text),
            (Self::Bytes(column), Cell::Bytes) => column.append_value(bytes),
            (Self::Bool(column), _) => column.append_null(),
            (Self::Int(column), _) => column.append_null(),
            (Self::Small(column), _) => column.append_null(),
            (Self::Float(column), _) => column.append_null(),
            (Self::Time(column), _) => column.append_null(),
            (Self::Bytes(column), _) => column.append_null(),
            (Self::Text(column), _) => column.append_null(),
        }
    }

    /// Takes what is in it.
    pub fn take(&mut self) -> ArrayRef {
        match self {
            Self::Bool(column) => Arc::new(column.finish()),
            Self::Int(column) => Arc::new(column.finish()),
            Self::Small(column) => Arc::new(column.finish()),
            Self::Float(column) => Arc::new(column.finish()),
            Self::Time(column) => Arc::new(column.finish()),
            Self::Bytes(column) => Arc::new(column.finish()),
            Self::Text(column) => Arc::new(column.finish()),
        }
    }
}

/// Reads arguments one after the other.
#[derive(Default)]
pub struct Values {
    /// Of the last text, label or JSON.
    pub text: String,
    /// Of the last bytes.
    pub bytes: Vec<u8>,
    cell: Cell,
    stack: Stack,
}

impl Values {
    /// The value of this type at `at`, and the offset after it; `None` where there is none.
    pub fn read(&mut self, ty: &Type, args: &[u8], at: usize) -> Option<(Cell, usize)> {
        self.text.clear();
        self.bytes.clear();
        self.cell = Cell::Null;
        if kind_of(ty) != Kind::Json {
            let walked: Result<usize, WalkError<Infallible>> = walk(ty, args, at, self);
            let end = walked.ok()?;
            return Some((std::mem::take(&mut self.cell), end));
        }
        let end = push_plain(&mut self.text, &mut self.stack, ty, args, at)?;
        let cell = if self.text == "null" { Cell::Null } else { Cell::Text };
        Some((cell, end))
    }

    fn set(&mut self, cell: Cell) -> Result<(), Infallible> {
        self.cell = cell;
        Ok(())
    }

    fn set_text(&mut self, text: &str) -> Result<(), Infallible> {
        self.text.push_str(text);
        self.set(Cell::Text)
    }
}

/// Of a value without parts.
impl Visitor for Values {
    type Error = Infallible;

    fn null(&mut self) -> Result<(), Infallible> {
        self.set(Cell::Null)
    }
    fn bool(&mut self, value: bool) -> Result<(), Infallible> {
        self.set(Cell::Bool(value))
    }
    fn i64(&mut self, value: i64) -> Result<(), Infallible> {
        self.set(Cell::Int(value))
    }
    fn u64(&mut self, value: u64) -> Result<(), Infallible> {
        self.set(Cell::unsigned(value))
    }
    fn i128(&mut self, _: i128) -> Result<(), Infallible> {
        Ok(())
    }
    fn u128(&mut self, _: u128) -> Result<(), Infallible> {
        Ok(())
    }
    fn f32(&mut self, value: f32) -> Result<(), Infallible> {
        self.set(Cell::Float(value.into()))
    }
    fn f64(&mut self, value: f64) -> Result<(), Infallible> {
        self.set(Cell::Float(value))
    }
    fn char(&mut self, value: char) -> Result<(), Infallible> {
        self.set_text(value.encode_utf8(&mut [0; 4]))
    }
    fn pointer(&mut self, value: u64) -> Result<(), Infallible> {
        self.set_text(&format!("0x{value:x}"))
    }
    fn text(&mut self, text: Text<'_>, _: u32) -> Result<(), Infallible> {
        match text.as_str() {
            Some(text) => self.set_text(text),
            None => {
                text.chars().for_each(|character| self.text.push(character));
                self.set(Cell::Text)
            }
        }
    }
    fn bytes(&mut self, bytes: &[u8], _: u32) -> Result<(), Infallible> {
        self.bytes.extend_from_slice(bytes);
        self.set(Cell::Bytes)
    }
    fn uuid(&mut self, uuid: [u8; 16]) -> Result<(), Infallible> {
        push_uuid(&mut self.text, &uuid);
        self.set(Cell::Text)
    }
    fn time(&mut self, unix_ns: i64) -> Result<(), Infallible> {
        self.set(Cell::Int(unix_ns))
    }
    fn duration(&mut self, ns: i64) -> Result<(), Infallible> {
        self.set(Cell::Int(ns))
    }
    fn any(&mut self, _: &[u8]) -> Result<(), Infallible> {
        Ok(())
    }
    fn none(&mut self) -> Result<(), Infallible> {
        self.set(Cell::Null)
    }
    fn begin_sequence(&mut self, _: Sequence, _: u32, _: u32) -> Result<(), Infallible> {
        Ok(())
    }
    fn begin_map(&mut self, _: u32) -> Result<(), Infallible> {
        Ok(())
    }
    fn begin_record(&mut self, _: &str, _: usize) -> Result<(), Infallible> {
        Ok(())
    }
    fn field(&mut self, _: &str) -> Result<(), Infallible> {
        Ok(())
    }
    fn end(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
    fn enumeration(&mut self, _: &str, label: Option<&str>, value: i64) -> Result<(), Infallible> {
        match label {
            Some(label) => self.set_text(label),
            None => self.set_text(&value.to_string()),
        }
    }
}
