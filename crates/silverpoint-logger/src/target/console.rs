//! Standard error and standard output.

use std::io::{self, Write};

use silverpoint_formats::tracefile::{Event, Follow, Trace};

use super::Target;
use super::file::BUFFER_MAX;
use super::lines::{BATCH, Lines};
use crate::config::Sink;

/// Each record at most once: nobody can say what a terminal has got.
pub(super) struct Console {
    lines: Lines,
    write: fn(&[u8]) -> io::Result<()>,
}

impl Console {
    pub(super) fn stderr(sink: &Sink, trace: &Trace) -> Self {
        Self { lines: lines(sink, trace), write: |lines| io::stderr().lock().write_all(lines) }
    }

    pub(super) fn stdout(sink: &Sink, trace: &Trace) -> Self {
        let write = |lines: &[u8]| {
            let mut out = io::stdout().lock();
            out.write_all(lines).and_then(|()| out.flush())
        };
        Self { lines: lines(sink, trace), write }
    }
}

fn lines(sink: &Sink, trace: &Trace) -> Lines {
    Lines::new(sink, sink.flush.map_or(BATCH, |flush| flush.bytes.clamp(1, BUFFER_MAX)), trace)
}

impl Target for Console {
    fn set(&mut self, sink: &Sink, trace: &Trace) {
        self.lines = lines(sink, trace);
    }

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

    fn write(&mut self, _: &Follow) -> io::Result<()> {
        // One call under the lock of the standard library's stream: no line of the program's own stands within one of these.
        match (self.write)(self.lines.text.as_bytes()) {
            // Nobody reads any more: nothing is owed to a console.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
            _ => self.lines.text.clear(),
        }
        Ok(())
    }
}
