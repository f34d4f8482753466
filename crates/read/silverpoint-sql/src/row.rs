//! Values of columns, as both virtual tables make them: with room that is reused from row to row.

use rusqlite::types::Null;
use rusqlite::vtab::Context;
use silverpoint_render::json::{self, Stack};
use silverpoint_render::{Renderer, text, time::TimeText};
use silverpoint_trace::{Event, Site, What, cause_name};

/// See the module.
pub(crate) struct Writer {
    time: TimeText,
    renderer: Renderer,
    stack: Stack,
    text: String,
}

impl Writer {
    pub(crate) fn new() -> Self {
        let (renderer, stack) = (Renderer::new(), Stack::default());
        Self { time: TimeText::rfc3339_utc(), renderer, stack, text: String::new() }
    }

    /// A time as text.
    pub(crate) fn time(&mut self, wall_ns: i64) -> &str {
        self.text.clear();
        self.time.push(&mut self.text, wall_ns);
        &self.text
    }

    /// What an event says.
    pub(crate) fn message(&mut self, event: &Event<'_>) -> &str {
        self.text.clear();
        text::message(&mut self.renderer, &mut self.text, event);
        &self.text
    }

    /// Arguments of a record as JSON.
    pub(crate) fn args(&mut self, site: &Site, args: &[u8]) -> &str {
        self.text.clear();
        json::push_args(&mut self.text, &mut self.stack, site, args);
        &self.text
    }

    /// The same without the first of them.
    pub(crate) fn later_args(&mut self, site: &Site, args: &[u8]) -> &str {
        self.args(site, args);
        json::without_first(&mut self.text);
        &self.text
    }

    /// What belongs to an event beyond its columns, as JSON; `None` when there is nothing.
    pub(crate) fn event_args(&mut self, what: &What<'_>) -> Option<&str> {
        match what {
            What::Record { site, args, .. } => return Some(self.args(site, args)),
            What::Loss { cause, count, span_ns } => {
                let cause = cause_name(*cause);
                self.text = format!("{{\"cause\":\"{cause}\",\"count\":{count},\"span_ns\":{span_ns}}}");
            }
            What::Stall { cause, .. } => self.text = format!("{{\"cause\":\"{}\"}}", cause_name(*cause)),
            What::Unknown { site_id, .. } => self.text = format!("{{\"site\":{site_id}}}"),
            _ => return None,
        }
        Some(&self.text)
    }
}

/// An integer of SQLite; null when it is none or too large for one.
pub(crate) fn integer(context: &mut Context, value: Option<u64>) -> rusqlite::Result<()> {
    match value.and_then(|value| i64::try_from(value).ok()) {
        Some(value) => context.set_result(value),
        None => context.set_result(Null),
    }
}

/// A text, or null.
pub(crate) fn text(context: &mut Context, value: Option<&str>) -> rusqlite::Result<()> {
    match value {
        Some(value) => context.set_result(value),
        None => context.set_result(Null),
    }
}
