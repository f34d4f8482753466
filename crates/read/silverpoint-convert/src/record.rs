//! What goes from readers to writers.

use std::io;

use silverpoint_trace::{Context, Kept, Record, Site};

use crate::{ReadError, WriteError};

/// The process of a record, as readers keep it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Process {
    /// The executable's name without directories; `?` when unknown.
    pub name: String,
    /// Process id; 0 when unknown.
    pub pid: u32,
}

/// A record without what it refers to, which its reader keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// See [`Record`].
    pub wall_ns: i64,
    /// See [`Record`].
    pub ticks: Option<u64>,
    /// Index of the process.
    pub process: usize,
    /// See [`Record`].
    pub tid: u32,
    /// See [`Record`].
    pub is_backtrace: bool,
    /// See [`Record`].
    pub what: Kept,
}

impl Head {
    /// The whole record, of a process with this name and id. `input`: the upper half of numbers of sites and processes.
    pub(crate) fn record<'a>(
        &self,
        sites: &'a [Site],
        (process, pid): (&'a str, u32),
        input: usize,
        args: &'a [u8],
        thread: &'a str,
        context: Option<&'a Context>,
    ) -> Option<Record<'a>> {
        Some(Record {
            wall_ns: self.wall_ns,
            ticks: self.ticks,
            process,
            pid,
            process_number: input | self.process,
            tid: self.tid,
            thread,
            context,
            is_backtrace: self.is_backtrace,
            what: self.what.what(sites, input, args)?,
        })
    }
}

/// Gives records, in order of time. [`Reader::advance`] goes to the next one; [`Reader::record`] shows it as often as it is asked for.
pub trait Reader {
    /// Goes to the next record; false at the end.
    ///
    /// # Errors
    /// What cannot be read. When the error [may be passed over](ReadError::may_go_on), the next call continues after the damage.
    fn advance(&mut self) -> Result<bool, ReadError>;

    /// Where [`Reader::advance`] has gone; `None` before the first call and at the end.
    fn record(&self) -> Option<Record<'_>>;

    /// Bytes of the source that have been read.
    fn position(&self) -> u64;
}

/// Takes records.
pub trait Writer {
    /// Writes one.
    ///
    /// # Errors
    /// Those of the output, and a record that the format cannot hold.
    fn write(&mut self, record: &Record<'_>) -> Result<(), WriteError>;

    /// Writes what must stand at the end. Nothing may be written after it.
    ///
    /// # Errors
    /// Those of the output.
    fn finish(&mut self) -> io::Result<()>;
}

/// Writes all records of a reader. `damaged` is asked about each part that cannot be read and may be passed over: an error ends the copy. Gives how many were written.
///
/// # Errors
/// That of `damaged`, and those of writing.
pub fn copy<E: From<ReadError> + From<WriteError>>(
    reader: &mut dyn Reader,
    writer: &mut dyn Writer,
    mut damaged: impl FnMut(ReadError) -> Result<(), E>,
) -> Result<u64, E> {
    let mut count = 0;
    loop {
        match reader.advance() {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) if error.may_go_on => {
                damaged(error)?;
                continue;
            }
            Err(error) => return Err(error.into()),
        }
        if let Some(record) = reader.record() {
            writer.write(&record)?;
            count += 1;
        }
    }
    writer.finish().map_err(WriteError::Io)?;
    Ok(count)
}
