//! SQLite databases as one more format of `convert`: the tables of `silverpoint sql`, which give every record back.

use std::io::BufWriter;
use std::path::{Path, PathBuf};

use silverpoint_convert::silver::SilverWriter;
use silverpoint_convert::{Format, Place, ReadError, Reader, Record, Writer};
use silverpoint_sql::{SavedError, SavedRecords, write_database};
use silverpoint_trace::Trace;
use silverpoint_trace::newfile::{Part, temporary};

use crate::exit::{Exit, Failed, failure};
use crate::input::{Files, exit, tell};
use crate::newfile::EXISTS;
use crate::sql::failed;

/// A database is not a stream of bytes: it is opened and written by its name.
pub(super) const FORMAT: Format = Format {
    name: "sqlite",
    endings: &["sqlite", "sqlite3", "db"],
    about: "database of SQLite",
    reader: None,
    writer: None,
};

/// Whether a format is this one.
pub(super) fn is(format: &Format) -> bool {
    format.name == FORMAT.name
}

/// Reads the records of a database. Its sites and processes have the numbers of this input.
pub(super) struct SqliteReader {
    records: SavedRecords,
    input: usize,
}

impl SqliteReader {
    pub(super) fn open(path: &Path, number: u32) -> Result<Self, Failed> {
        if path == Path::new("-") {
            return Err(Failed::new(
                Exit::Usage,
                "a database cannot be read from a stream: give the name of its file",
            ));
        }
        let records =
            SavedRecords::open(path).map_err(|error| failure(format!("{}: {error}", path.display())))?;
        Ok(Self { records, input: (number as usize) << 32 })
    }
}

fn read_error(error: SavedError) -> ReadError {
    let wrong = ReadError { path: error.path, ..ReadError::new(Place::NOWHERE, error.found, error.expected) };
    if error.may_go_on { wrong.passable() } else { wrong }
}

impl Reader for SqliteReader {
    fn advance(&mut self) -> Result<bool, ReadError> {
        self.records.advance().map_err(read_error)
    }

    fn record(&self) -> Option<Record<'_>> {
        let (record, what) = self.records.record(self.input)?;
        let (process, pid) = &self.records.processes()[record.process];
        Some(Record {
            wall_ns: record.wall_ns,
            ticks: None,
            process,
            pid: *pid,
            process_number: self.input | record.process,
            tid: record.tid,
            thread: &record.thread,
            context: record.context.as_ref(),
            is_backtrace: record.is_backtrace,
            what,
        })
    }

    fn position(&self) -> u64 {
        0
    }
}

/// Checks that a database may be made there, before any work is done for it.
pub(super) fn check(output: &Path, inputs: &[PathBuf], force: bool) -> Result<(), Failed> {
    if output == Path::new("-") {
        return Err(Failed::new(
            Exit::Usage,
            "a database cannot be written to a stream: give the name of a file",
        ));
    }
    let real = std::fs::canonicalize(output).ok();
    if real.is_some() && inputs.iter().any(|input| std::fs::canonicalize(input).ok() == real) {
        return Err(failure(format!(
            "{}: the output would overwrite an input; choose another name",
            output.display()
        )));
    }
    if real.is_some() && !force {
        return Err(failure(format!("{}: {EXISTS}", output.display())));
    }
    Ok(())
}

/// Writes a trace.
pub(super) fn save(trace: Trace, output: &Path, force: bool, quiet: bool) -> Result<Exit, Failed> {
    let saved = write_database(trace, output, force, |_| ()).map_err(failed)?;
    if !quiet {
        tell(saved.notes.iter());
    }
    Ok(exit(saved.verdict))
}

/// A temporary trace file beside the output, for inputs that are not trace files yet. It is removed with
/// this.
pub(super) struct Between(Part);

impl Between {
    /// Makes a trace file of what `write` gives to its writer.
    pub(super) fn of(
        output: &Path,
        write: impl FnOnce(&mut dyn Writer) -> Result<(), Failed>,
    ) -> Result<Self, Failed> {
        let mut path = output.as_os_str().to_owned();
        path.push(".silver");
        let path = PathBuf::from(path);
        let failed = |error: std::io::Error| failure(format!("{}: {error}", temporary(&path).display()));
        let (part, file) = Part::create(&path).map_err(failed)?;
        let mut writer = SilverWriter::new(BufWriter::new(file)).map_err(failed)?;
        write(&mut writer)?;
        Ok(Self(part))
    }

    pub(super) fn open(&self) -> Result<Trace, Failed> {
        Files { files: vec![self.0.temporary().to_owned()], only: true }.open()
    }
}
