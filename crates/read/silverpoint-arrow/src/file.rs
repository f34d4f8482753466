//! The bytes of the formats, by the libraries of Apache Arrow.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::str::FromStr;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use silverpoint_query::columns::{Kind, SCHEMA_KEY, SCHEMA_VERSION};

use crate::column::data_type;

/// Rows of a row group of Parquet, and the bytes of one, encoded: it is kept in memory until it is whole.
const GROUP_ROWS: usize = 1 << 20;
const GROUP_BYTES: usize = 32 << 20;

/// Of columns with these names and types, which may have nulls or not.
pub fn schema(columns: impl Iterator<Item = (String, Kind, bool)>) -> SchemaRef {
    let field =
        |(name, kind, is_nullable): (String, Kind, bool)| Field::new(name, data_type(kind), is_nullable);
    let metadata = BTreeMap::from([(SCHEMA_KEY.to_owned(), SCHEMA_VERSION.to_owned())]);
    Arc::new(Schema::new_with_metadata(columns.map(field).collect::<Vec<_>>(), metadata))
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Apache Parquet, columns compressed with zstd.
    Parquet,
    /// Arrow IPC file (Feather version 2): may be mapped into memory.
    Arrow,
    /// Arrow IPC stream: may be read while it is written.
    Stream,
}

impl FromStr for Form {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "parquet" => Ok(Self::Parquet),
            "arrow" => Ok(Self::Arrow),
            "arrow-stream" => Ok(Self::Stream),
            _ => Err(format!("'{text}': expected parquet, arrow or arrow-stream")),
        }
    }
}

/// A file that is being written.
pub enum File<W: Write + Send> {
    /// Of Parquet.
    Parquet(Box<ArrowWriter<W>>),
    /// Of Arrow.
    Arrow(Box<FileWriter<W>>),
    /// A stream of Arrow.
    Stream(Box<StreamWriter<W>>),
}

impl<W: Write + Send> File<W> {
    /// Begins.
    pub fn new(out: W, form: Form, schema: &SchemaRef) -> io::Result<Self> {
        Ok(match form {
            Form::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).map_err(io::Error::other)?))
                    .set_max_row_group_row_count(Some(GROUP_ROWS))
                    .set_max_row_group_bytes(Some(GROUP_BYTES))
                    .set_key_value_metadata(Some(vec![KeyValue::new(
                        SCHEMA_KEY.to_owned(),
                        SCHEMA_VERSION.to_owned(),
                    )]))
                    .set_created_by(concat!("silverpoint-arrow ", env!("CARGO_PKG_VERSION")).to_owned())
                    .build();
                let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties));
                Self::Parquet(Box::new(writer.map_err(io::Error::other)?))
            }
            Form::Arrow => Self::Arrow(Box::new(FileWriter::try_new(out, schema).map_err(io::Error::other)?)),
            Form::Stream => {
                Self::Stream(Box::new(StreamWriter::try_new(out, schema).map_err(io::Error::other)?))
            }
        })
    }

    /// Writes a batch, or keeps it until its row group is whole.
    pub fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        match self {
            Self::Parquet(writer) => writer.write(batch).map_err(io::Error::other),
            Self::Arrow(writer) => writer.write(batch).map_err(io::Error::other),
            Self::Stream(writer) => writer.write(batch).map_err(io::Error::other),
        }
    }

    /// Writes what stands at the end.
    pub fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Parquet(writer) => {
                writer.finish().map_err(io::Error::other)?;
                writer.inner_mut().flush()
            }
            Self::Arrow(writer) => {
                writer.finish().map_err(io::Error::other)?;
                writer.get_mut().flush()
            }
            Self::Stream(writer) => {
                writer.finish().map_err(io::Error::other)?;
                writer.get_mut().flush()
            }
        }
    }
}
