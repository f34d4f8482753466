//! Lines that wait to be written.

use silverpoint_formats::tracefile::{Event, Trace};
use silverpoint_formats::{json, text};

use crate::config::Sink;

/// Most bytes that are written at once, but for the last line.
pub(super) const BATCH: usize = 256 << 10;

/// See the module.
pub(super) struct Lines {
    pub(super) text: String,
    /// They are written when there are so many bytes.
    limit: usize,
    writer: Writer,
}

enum Writer {
    Text(Box<text::Writer>),
    Json(Box<json::Writer>),
}

impl Lines {
    /// As the sink wants them; they are full with `limit` bytes.
    pub(super) fn new(sink: &Sink, limit: usize, trace: &Trace) -> Self {
        let writer = match sink.json {
            true => Writer::Json(Box::new(json::Writer::new(json::Options { ticks: false }, trace))),
            false => Writer::Text(Box::new(text::Writer::new(&sink.text, trace))),
        };
        Self { text: String::new(), limit, writer }
    }

    pub(super) fn begin(&mut self, trace: &Trace) {
        match &mut self.writer {
            Writer::Text(writer) => writer.update(trace),
            Writer::Json(writer) => writer.update(trace),
        }
    }

    pub(super) fn event(&mut self, event: &Event<'_>) {
        match &mut self.writer {
            Writer::Text(writer) => writer.line(&mut self.text, event),
            Writer::Json(writer) => writer.line(&mut self.text, event),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= self.limit
    }
}
