//! Records as Parquet and Arrow IPC files, for pandas, polars, DuckDB and other readers of these.
//!
//! **The invariant.** A value that a column cannot hold is an error, never a different value.
//!
//! ```sh
//! silverpoint convert app.silver app.parquet    # the program pipes the records, as items of CBOR, to this helper
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
