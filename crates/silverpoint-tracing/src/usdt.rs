//! Events as the USDT probe `silverpoint:message`: the callsites of others have no probes of their own
//! (spec/usdt.md). Only in programs that are built with the feature `usdt` of the crate `silverpoint`.

use std::fmt;

use silverpoint::dynamic::{self, Place};
use tracing_core::field::{Field, Visit};
use tracing_core::{Event, Metadata};

use crate::callsite::level_of;

/// Whether a tracer is attached that gets what has such metadata. Spans have no probe.
#[inline(always)]
pub(crate) fn wants(meta: &Metadata<'_>) -> bool {
    dynamic::is_usdt_attached() && meta.is_event()
}

/// The text of an event, then ` NAME=VALUE` for each of its fields, as they come.
struct Text<'t> {
    out: &'t mut dyn fmt::Write,
    result: fmt::Result,
    is_first: bool,
}

impl Text<'_> {
    fn put(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        if self.result.is_ok() {
            let space = if std::mem::take(&mut self.is_first) { "" } else { " " };
            self.result = match field.name() {
                "message" => write!(self.out, "{space}{value}"),
                name => write!(self.out, "{space}{name}={value}"),
            };
        }
    }
}

impl Visit for Text<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.put(field, format_args!("{value}")),
            _ => self.put(field, format_args!("{value:?}")),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Fields that `tracing-log` adds: they are the place.
        if !field.name().starts_with("log.") {
            self.put(field, format_args!("{value:?}"));
        }
    }
}

/// Hits the probe with an event of this place.
#[cold]
#[inline(never)]
pub(crate) fn event_at(place: &Place<'_>, event: &Event<'_>) {
    dynamic::hit_usdt_message(place, &|out| {
        let mut text = Text { out, result: Ok(()), is_first: true };
        event.record(&mut text);
        text.result
    });
}

/// The same with an event of its callsite's place.
#[cold]
#[inline(never)]
pub(crate) fn event(event: &Event<'_>) {
    let meta = event.metadata();
    let place = Place {
        level: level_of(meta),
        line: meta.line().unwrap_or(0),
        target: meta.target(),
        file: meta.file().unwrap_or(""),
    };
    event_at(&place, event);
}
