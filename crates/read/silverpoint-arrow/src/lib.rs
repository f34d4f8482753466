//! Records as Parquet and Arrow IPC files, for pandas, polars, DuckDB and other readers of these.
//!
//! **The invariant.** A value that a column cannot hold is an error, never a different value.
//!
//! ```sh
//! silverpoint convert app.silver app.parquet    # the program pipes the records, as items of CBOR, to this helper
//! ```
//!
//! ```
//! use std::io::Cursor;
//!
//! use arrow_array::cast::AsArray;
//! use arrow_array::types::{Float64Type, Int64Type};
//! use silverpoint_arrow::{ArrowWriter, Form};
//! use silverpoint_convert::json::JsonReader;
//! use silverpoint_convert::{Input, Reader, Writer};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let lines = r#"
//! {"time":"2026-11-20T19:02:11Z","kind":"event","template":"order","args":{"id":7,"px":2.5}}
//! {"time":"2026-11-20T19:02:12Z","kind":"event","template":"order","args":{"id":8,"px":3.5}}
//! "#;
//! let mut reader = JsonReader::new(Input::new(Box::new(lines.as_bytes())), 0);
//! let mut file = Vec::new();
//! let mut writer = ArrowWriter::event(&mut file, Form::Arrow, "order");
//! while reader.advance()? {
//!     writer.write(&reader.record().ok_or("no record")?)?;
//! }
//! writer.finish()?;
//! drop(writer);
//!
//! // Each argument is a column of its type.
//! let mut batches = arrow_ipc::reader::FileReader::try_new(Cursor::new(file), None)?;
//! let batch = batches.next().ok_or("no batch")??;
//! let column = |name| batch.column_by_name(name).ok_or("no such column");
//! assert_eq!(column("id")?.as_primitive::<Int64Type>().values().as_ref(), [7, 8]);
//! assert_eq!(column("px")?.as_primitive::<Float64Type>().values().as_ref(), [2.5, 3.5]);
//! # Ok(())
//! # }
//! ```
//!
//! ```text
//! Record ─▶ Table: columns of a batch ─▶ File: row groups of Parquet, batches of Arrow
//!           records   every record        parquet   compressed with zstd
//!           event     of one name, an     arrow     IPC file
//!                     argument a column   stream    IPC stream
//! ```
//!
//! Streams: memory is that of one batch, and of one row group of Parquet as it is encoded. It is a crate outside the workspace, because its dependencies take longer to build than all the rest. The program calls it as a helper.
#![forbid(unsafe_code)]

mod column;
mod event;
mod file;
mod records;

use std::io::{self, Write};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use silverpoint_convert::{Record, WriteError, Writer};

use event::Event;
use file::File;
pub use file::Form;
use records::Records;

/// Rows of a batch.
const BATCH_ROWS: usize = 8192;
/// Bytes of texts beyond which a batch ends before it has as many.
const BATCH_BYTES: usize = 8 << 20;

/// Columns that grow until they are a batch.
trait Table {
    /// What the columns are; `None` as long as no record has said it.
    fn schema(&self) -> Option<SchemaRef>;

    /// One more row, unless the record has none here.
    fn push(&mut self, record: &Record<'_>) -> Result<(), WriteError>;

    /// How many rows and bytes wait.
    fn waiting(&self) -> (usize, usize);

    /// Takes what waits.
    fn batch(&mut self) -> io::Result<RecordBatch>;
}

/// Writes a table. See the module.
pub struct ArrowWriter<W: Write + Send> {
    table: Box<dyn Table>,
    form: Form,
    /// Until the columns are known.
    out: Option<W>,
    file: Option<File<W>>,
}

impl<W: Write + Send> ArrowWriter<W> {
    /// All records, one a row.
    pub fn records(out: W, form: Form) -> Self {
        Self { table: Box::new(Records::new()), form, out: Some(out), file: None }
    }

    /// The records of one event, span, counter or message template, each argument a column of its type.
    pub fn event(out: W, form: Form, name: &str) -> Self {
        Self { table: Box::new(Event::new(name)), form, out: Some(out), file: None }
    }

    fn pass_on(&mut self) -> io::Result<()> {
        if self.file.is_none()
            && let Some(schema) = self.table.schema()
            && let Some(out) = self.out.take()
        {
            self.file = Some(File::new(out, self.form, &schema)?);
        }
        let Some(file) = &mut self.file else {
            return Err(io::Error::new(io::ErrorKind::NotFound, "there is no record of this name"));
        };
        if self.table.waiting().0 > 0 {
            file.write(&self.table.batch()?)?;
        }
        Ok(())
    }
}

impl<W: Write + Send> Writer for ArrowWriter<W> {
    fn write(&mut self, record: &Record<'_>) -> Result<(), WriteError> {
        self.table.push(record)?;
        let (rows, bytes) = self.table.waiting();
        if rows >= BATCH_ROWS || bytes >= BATCH_BYTES {
            self.pass_on()?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.pass_on()?;
        self.file.as_mut().map_or(Ok(()), File::finish)
    }
}
