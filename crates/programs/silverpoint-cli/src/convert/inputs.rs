//! What is read: files by their formats, trace files together, living processes.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use silverpoint_convert::silver::TraceReader;
use silverpoint_convert::{Filtered, Format, Input, ReadError, Reader, Record};
use silverpoint_query::filter::{Filter, RecordFilter};
use silverpoint_trace::Note;

use super::sqlite;
use crate::exit::{Failed, failure, usage};

/// Whether an input is a process and not a file: an id, or a name that is not a file's.
pub(super) fn is_session(path: &Path) -> bool {
    let Some(text) = path.to_str() else { return false };
    let is_name = !text.is_empty() && text != "-" && !text.contains(['/', '.']);
    text.parse::<u32>().is_ok() || is_name && !path.exists()
}

/// The records of a file that is no trace file, and how many bytes it has (0: unknown).
pub(super) fn reader(
    path: &Path,
    format: &Format,
    number: u32,
    filter: &Filter,
) -> Result<(Filtered<'static>, u64), Failed> {
    let filter = RecordFilter::new(filter).ok_or_else(|| {
        usage("times of day, and times before the end, need a trace file; give a date or +TIME")
    })?;
    let mut bytes = 0;
    let reader: Box<dyn Reader> = if sqlite::is(format) {
        Box::new(sqlite::SqliteReader::open(path, number)?)
    } else {
        let make =
            format.reader.ok_or_else(|| usage(format!("{} can only be written, not read", format.name)))?;
        let (source, size) = open(path)?;
        bytes = size;
        make(Input::new(source), number)
    };
    let name = if path == Path::new("-") { "standard input".into() } else { path.display().to_string() };
    Ok((Filtered::new(reader, filter, name), bytes))
}

/// Opens an input; gives its size too (0: unknown).
fn open(path: &Path) -> Result<(Box<dyn Read>, u64), Failed> {
    if path == Path::new("-") {
        return Ok((Box::new(io::stdin().lock()), 0));
    }
    let open = || {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        let size = metadata.len();
        Ok((Box::new(file) as Box<dyn Read>, size))
    };
    open().map_err(|error| failure(format!("{}: {error}", path.display())))
}

/// The records of trace files; at their end it reports what was missing.
pub(super) struct Told<'t> {
    pub(super) reader: TraceReader<'t>,
    pub(super) missing: &'t RefCell<Vec<Note>>,
}

impl Reader for Told<'_> {
    fn advance(&mut self) -> Result<bool, ReadError> {
        let goes_on = self.reader.advance()?;
        if !goes_on {
            *self.missing.borrow_mut() = self.reader.events().notes().to_vec();
        }
        Ok(goes_on)
    }

    fn record(&self) -> Option<Record<'_>> {
        self.reader.record()
    }

    fn position(&self) -> u64 {
        self.reader.position()
    }
}
