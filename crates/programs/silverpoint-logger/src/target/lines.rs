//! Lines that wait to be written.

use silverpoint_render::time::{Style, TimeText, TimeZone};
use silverpoint_render::{json, text};
use silverpoint_trace::{Event, Trace, What, escape};

use super::settings::Settings;
use crate::shared::LogNote;

/// Bytes that are written at once, but for the last line.
const BATCH: usize = 256 << 10;

/// See the module.
pub(super) struct Lines {
    pub(super) text: String,
    /// They are written when they have this many bytes.
    limit: usize,
    writer: Writer,
    /// Of the logger's own lines.
    time: Style,
    zone: TimeZone,
    digits: u8,
}

enum Writer {
    Text(Box<text::Writer>),
    Json(Box<json::Writer>),
}

impl Lines {
    /// In the sink's form.
    pub(super) fn new(settings: Settings<'_>, trace: &Trace) -> Self {
        let writer = match settings.json {
            true => Writer::Json(Box::new(json::Writer::new(json::Options { ticks: false }, trace))),
            false => Writer::Text(Box::new(text::Writer::new(settings.text, trace))),
        };
        let text::Options { time, zone, digits, .. } = settings.text;
        let limit = settings.limit(BATCH);
        Self { text: String::new(), limit, writer, time: *time, zone: zone.clone(), digits: *digits }
    }

    /// A message of the logger, on a line of its own.
    pub(super) fn note(&mut self, note: &LogNote) {
        let mut time = TimeText::new(self.time, self.zone.clone(), self.digits);
        match self.writer {
            Writer::Text(_) => {
                if time.push(&mut self.text, note.wall_ns) {
                    self.text.push(' ');
                }
                self.text.push_str("ERROR silverpoint  ");
                escape::push_escaped(&mut self.text, &note.text);
            }
            Writer::Json(_) => {
                self.text.push_str("{\"time\":\"");
                TimeText::rfc3339_utc().push(&mut self.text, note.wall_ns);
                self.text.push_str(
                    "\",\"level\":\"error\",\"kind\":\"note\",\"category\":\"silverpoint\",\"message\":",
                );
                json::push_string(&mut self.text, &note.text);
                self.text.push('}');
            }
        }
        self.text.push('\n');
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

    /// The part of a crash that needs no symbols. True: [`Lines::stack`] gives the rest.
    pub(super) fn crash(&mut self, event: &Event<'_>) -> bool {
        let is_crash = matches!(event.what, What::Record { site, .. } if site.is_crash());
        match &mut self.writer {
            Writer::Text(writer) if is_crash => {
                writer.line_without_stack(&mut self.text, event);
                true
            }
            Writer::Text(_) | Writer::Json(_) => false,
        }
    }

    /// The stack of a crash.
    pub(super) fn stack(&mut self, event: &Event<'_>) {
        if let Writer::Text(writer) = &mut self.writer {
            writer.stack(&mut self.text, event);
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= self.limit
    }
}
