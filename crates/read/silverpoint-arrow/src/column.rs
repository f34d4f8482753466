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
use silverpoint_wire::leaf::{Container, Leaf, Pieces};
use silverpoint_wire::signature::Type;
use silverpoint_wire::value::{WalkError, walk};

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

    fn text(&mut self, text: &str) -> Cell {
        self.text.push_str(text);
        Cell::Text
    }
}

/// Of a value without parts.
impl Pieces for Values {
    type Error = Infallible;

    fn leaf(&mut self, leaf: Leaf<'_>) -> Result<(), Infallible> {
        self.cell = match leaf {
            Leaf::Null | Leaf::None => Cell::Null,
            Leaf::Bool(value) => Cell::Bool(value),
            Leaf::I64(value) | Leaf::Time(value) | Leaf::Duration(value) => Cell::Int(value),
            Leaf::U64(value) => Cell::unsigned(value),
            Leaf::F32(value) => Cell::Float(value.into()),
            Leaf::F64(value) => Cell::Float(value),
            Leaf::Char(value) => self.text(value.encode_utf8(&mut [0; 4])),
            Leaf::Pointer(value) => self.text(&format!("0x{value:x}")),
            Leaf::Text(text, _) => self.text(&text.to_string_lossy()),
            Leaf::Bytes(bytes, _) => {
                self.bytes.extend_from_slice(bytes);
                Cell::Bytes
            }
            Leaf::Uuid(uuid) => {
                push_uuid(&mut self.text, &uuid);
                Cell::Text
            }
            Leaf::Enumeration { label: Some(label), .. } => self.text(label),
            Leaf::Enumeration { label: None, value, .. } => self.text(&value.to_string()),
            // Their column is JSON.
            Leaf::I128(_) | Leaf::U128(_) | Leaf::Any(_) => return Ok(()),
        };
        Ok(())
    }

    fn begin(&mut self, _: Container<'_>) -> Result<(), Infallible> {
        Ok(())
    }

    fn end(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
