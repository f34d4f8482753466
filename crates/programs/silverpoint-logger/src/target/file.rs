//! A file of text or JSON lines.

use std::io;

use silverpoint_trace::{Event, Follow, Trace};

use super::interface::Target;
use super::lines::Lines;
use super::logfile::LogFile;
use super::settings::Settings;
use crate::backtrace::{Reached, go_back};
use crate::config::FileSink;
use crate::cursor::Position;
use crate::error::LoggerError;
use crate::shared::LogNote;
use crate::spool::Spool;

/// Each record exactly once: see module `logfile`.
pub(super) struct FileTarget {
    lines: Lines,
    file: LogFile,
    /// See [`Target::written`].
    written: Vec<Position>,
}

impl FileTarget {
    /// Continues where the cursor says that its last owner stopped.
    pub(super) fn open(
        settings: Settings<'_>,
        config: &FileSink,
        has_backtrace: bool,
        spool: &Spool,
        follow: &mut Follow,
    ) -> Result<Self, LoggerError> {
        let lines = Lines::new(settings, follow.trace());
        let opened = LogFile::open(config.clone(), settings, &spool.cursor(&config.path));
        let (file, last) = opened.map_err(LoggerError::io(&config.path, "opening it"))?;
        let (positions, written) = go_back(last.positions, &last.held, has_backtrace);
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

    fn set(&mut self, settings: Settings<'_>, trace: &Trace) {
        self.lines = Lines::new(settings, trace);
        self.file.set(settings);
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
