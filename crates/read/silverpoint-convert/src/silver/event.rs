//! Events that somebody else reads too, as records of a new trace file.

use std::io::{self, Write};
use std::sync::Arc;

use silverpoint_trace::{Context, Event, Session, Trace};

use super::read::keep;
use super::write::SilverWriter;
use crate::{Process, WriteError, Writer};

/// Writes a trace file of the events of one trace, which may grow meanwhile.
pub struct EventWriter<W> {
    writer: SilverWriter<W>,
    processes: Vec<Process>,
    args: Vec<u8>,
    thread: String,
    context: Option<Arc<Context>>,
}

impl<W: Write> EventWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// Those of writing.
    pub fn new(out: W) -> io::Result<Self> {
        Ok(Self {
            writer: SilverWriter::new(out)?,
            processes: Vec::new(),
            args: Vec::new(),
            thread: String::new(),
            context: None,
        })
    }

    /// Writes an event of the trace. Statements that are not records are left out.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(&mut self, trace: &Trace, event: &Event<'_>) -> Result<(), WriteError> {
        let process = |session: &Session| Process { name: session.name.clone(), pid: session.pid };
        self.processes.extend(trace.sessions.iter().skip(self.processes.len()).map(process));
        let Some(kept) = keep(event, &mut self.args, &mut self.thread, &mut self.context) else {
            return Ok(());
        };
        let context = self.context.as_deref();
        match kept.record(&trace.sites, &self.processes, 0, &self.args, &self.thread, context) {
            Some(record) => self.writer.write(&record),
            None => Ok(()),
        }
    }

    /// Completes the file; gives the output.
    ///
    /// # Errors
    /// Those of writing.
    pub fn finish(mut self) -> io::Result<W> {
        self.writer.finish()?;
        Ok(self.writer.into_inner())
    }
}
