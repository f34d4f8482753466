//! What goes from readers to writers.

use std::io;

use silverpoint_trace::{Context, Kept, Site, What};

use crate::{ReadError, WriteError};

/// The process of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Process {
    /// The executable's name without directories; `?` when unknown.
    pub name: String,
    /// Process id; 0 when unknown.
    pub pid: u32,
}

/// One record, borrowed from its reader.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Nanoseconds since 1970-01-01T00:00Z.
    pub wall_ns: i64,
    /// In the clock of its session, where the source says it.
    pub ticks: Option<u64>,
    /// The process.
    pub process: &'a Process,
    /// Its number; in one conversion the same number is always the same process.
    pub process_number: usize,
    /// Kernel thread id; 0 when unknown.
    pub tid: u32,
    /// The thread's name at this time; may be empty.
    pub thread: &'a str,
    /// Fields of the scopes that the thread was in.
    pub context: Option<&'a Context>,
    /// It was kept back until something happened that it helps to explain.
    pub is_backtrace: bool,
    /// What happened: site and packed arguments, the end of a span, a loss, a wait. Numbers of sites are, in one conversion, always the same site. `begin_ticks` of
    /// a span's end is 0 where the source does not say it: its time less its duration is about when it began.
    pub what: What<'a>,
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
    /// The whole record. `input`: the upper half of numbers of sites and processes.
    pub(crate) fn record<'a>(
        &self,
        sites: &'a [Site],
        processes: &'a [Process],
        input: usize,
        args: &'a [u8],
        thread: &'a str,
        context: Option<&'a Context>,
    ) -> Option<Record<'a>> {
        Some(Record {
            wall_ns: self.wall_ns,
            ticks: self.ticks,
            process: processes.get(self.process)?,
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
