//! A trace file: the records that a sink selects, as they were recorded (`spec/file.md`, section 5.1).
//!
//! ```text
//!  file, session, sites, streams, anchors │ records │ sites, streams that are new │ records │ …
//! ```
//!
//! The waiting data is runs of ring bytes, one after the other for each stream. A write makes whole blocks of
//! them, after the descriptions that the file does not have yet, and appends them as module `logfile` appends
//! lines. The filter does not apply to names of threads and contexts: they are always stored. The last ones
//! of each stream are repeated where a new file begins: each file stands alone.
//!
//! The contents of the file are known by its identity and length. These change when it is another file, or
//! when another program has cut it. Then the file itself is read: its headers, its sessions and streams, and
//! the blocks that hold names or contexts.

mod content;
mod run;

use std::collections::BTreeMap;
use std::io;

use silverpoint_trace::{Event, Follow, Trace, What};

use super::interface::Target;
use super::logfile::LogFile;
use super::settings::Settings;
use crate::backtrace::Reached;
use crate::config::FileSink;
use crate::error::LoggerError;
use crate::shared::LogNote;
use crate::spool::Spool;
use content::Content;
use run::Run;

/// Bytes that are written at once.
const BATCH: usize = 1 << 20;

/// See the module.
pub(super) struct TraceTarget {
    log: LogFile,
    /// The file as it was last seen, and its contents.
    content: Content,
    /// By the trace's numbers of sessions, and by streams.
    waiting: BTreeMap<(usize, u32), Vec<Run>>,
    bytes: usize,
    limit: usize,
    notes: Vec<String>,
}

impl TraceTarget {
    /// Continues where the cursor says that its last owner stopped.
    pub(super) fn open(
        settings: Settings<'_>,
        config: &FileSink,
        spool: &Spool,
        follow: &mut Follow,
    ) -> Result<Self, LoggerError> {
        let opening = |error| LoggerError::io(&config.path, "opening it")(error);
        let (log, last) =
            LogFile::open(config.clone(), settings, &spool.cursor(&config.path)).map_err(opening)?;
        let content = Content::read(&log).map_err(opening)?;
        follow.resume(&last.positions);
        follow.give_statements();
        let limit = settings.limit(BATCH);
        Ok(Self { log, content, waiting: BTreeMap::new(), bytes: 0, limit, notes: Vec::new() })
    }

    fn take(&mut self, event: &Event<'_>) {
        let runs = self.waiting.entry((event.session_number, event.stream.number)).or_default();
        self.bytes += event.raw.len();
        if !runs.last_mut().is_some_and(|run| run.extend(event)) {
            runs.push(Run::new(event));
        }
    }
}

impl Target for TraceTarget {
    fn begin(&mut self, _: &Trace) {}

    fn event(&mut self, event: &Event<'_>) {
        match event.what {
            // The logger's own: it has no place in a ring.
            What::Loss { count, .. } if event.raw.is_empty() => {
                self.notes.push(format!("{count} records were skipped: the sink was too slow"));
            }
            _ if event.raw.is_empty() => {}
            _ => self.take(event),
        }
    }

    fn statement(&mut self, event: &Event<'_>) -> bool {
        let is_taken = matches!(event.what, What::ThreadName | What::Context) && !event.raw.is_empty();
        if is_taken {
            self.take(event);
        }
        is_taken
    }

    fn is_full(&self) -> bool {
        self.bytes >= self.limit
    }

    fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.notes.is_empty()
    }

    fn write(&mut self, reached: &Reached<'_>) -> io::Result<()> {
        let (identity, len) = self.log.prepare(self.bytes as u64)?;
        if !self.content.is(identity, len) {
            let mut found = Content::read(&self.log)?;
            // A new file: statements in the file before are still valid.
            if len == 0 {
                found.take_statements(&mut self.content);
            }
            self.content = found;
        }
        let content = &mut self.content;
        let positions = reached.positions();
        let out = content.compose(reached.follow.trace(), &self.waiting, &self.notes, &positions);
        let written = self.log.append_here(&out, positions, reached.held());
        match written {
            Ok(()) => {
                content.has_grown(identity, len + out.len() as u64);
                content.take_stated(reached.follow.trace(), &self.waiting);
            }
            // It is examined again.
            Err(_) => content.is_doubtful(),
        }
        written?;
        self.waiting.clear();
        self.notes.clear();
        self.bytes = 0;
        Ok(())
    }

    fn set(&mut self, settings: Settings<'_>, _: &Trace) {
        self.limit = settings.limit(BATCH);
        self.log.set(settings);
    }

    fn reopen(&mut self) -> io::Result<()> {
        self.log.reopen()
    }

    fn note(&mut self, note: &LogNote) {
        self.notes.push(note.text.clone());
    }

    fn sync(&mut self) -> io::Result<()> {
        self.log.sync()
    }
}
