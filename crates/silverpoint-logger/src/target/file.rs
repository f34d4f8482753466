//! A file of text or JSON lines.

use std::io;

use silverpoint_trace::{Event, Follow, Trace};

use super::interface::{BUFFER_MAX, Target};
use super::lines::{BATCH, Lines};
use super::logfile::LogFile;
use crate::backtrace::{Reached, go_back};
use crate::config::{FileSink, Sink, To};
use crate::cursor::Position;
use crate::error::LoggerError;
use crate::shared::LogNote;
use crate::spool::Spool;

/// A file that is rotated by size gets at most this part of the size in one write.
const ROTATED_PART: u64 = 8;

/// Each record exactly once: see module `logfile`.
pub(super) struct FileTarget {
    lines: Lines,
    file: LogFile,
    /// See [`Target::written`].
    written: Vec<Position>,
}

/// Bytes of lines that are written at once.
fn limit(sink: &Sink, config: &FileSink) -> usize {
    let part = config.rotate_bytes.map_or(usize::MAX, |bytes| (bytes / ROTATED_PART) as usize);
    sink.flush.map_or(BATCH, |flush| flush.bytes.clamp(1, BUFFER_MAX)).min(part)
}

impl FileTarget {
    /// Continues where the cursor says that its last owner stopped.
    pub(super) fn open(
        sink: &Sink,
        config: &FileSink,
        spool: &Spool,
        follow: &mut Follow,
    ) -> Result<Self, LoggerError> {
        let lines = Lines::new(sink, limit(sink, config), follow.trace());
        let opened = LogFile::open(config.clone(), sink, &spool.cursor(&config.path));
        let (file, last) = opened.map_err(LoggerError::io(&config.path, "opening it"))?;
        let (positions, written) = go_back(last.positions, &last.held, sink.backtrace.is_some());
        follow.resume(&positions);
        Ok(Self { lines, file, written })
    }
}

impl Target for FileTarget {
    fn begin(&mut self, trace: &Trace) {
        self.lines.begin(trace);
    }

    fn event(&mut self, event: &Event<'_>) {
        self.lines.event(event);
    }

    fn is_full(&self) -> bool {
        self.lines.is_full()
    }

    fn is_empty(&self) -> bool {
        self.lines.text.is_empty()
    }

    fn written(&mut self) -> Vec<Position> {
        std::mem::take(&mut self.written)
    }

    fn write(&mut self, reached: &Reached<'_>) -> io::Result<()> {
        self.file.append(self.lines.text.as_bytes(), reached.positions(), reached.held())?;
        self.lines.text.clear();
        Ok(())
    }

    fn set(&mut self, sink: &Sink, trace: &Trace) {
        if let To::File(config) = &sink.to {
            self.lines.set(sink, limit(sink, config), trace);
            self.file.set(config.clone(), sink);
        }
    }

    fn reopen(&mut self) -> io::Result<()> {
        self.file.reopen()
    }

    fn note(&mut self, note: &LogNote) {
        self.lines.note(note);
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }
}
