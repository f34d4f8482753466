//! Events that `tracing-log` makes of records of the `log` crate: each has the place of its record as fields, and one metadata for all.

use std::fmt;

use silverpoint::dynamic::{self, Arguments, Located, Place};
use tracing_core::field::{Field, FieldSet, Visit};
use tracing_core::{Event, Kind, Metadata};

use crate::{callsite, table, usdt};

/// Whether metadata stands for all records of `log`.
#[inline(always)]
pub(crate) fn is_bridge(meta: &Metadata<'_>) -> bool {
    // The name's length first: two numbers are compared for all others.
    meta.target().len() == 3 && meta.name() == "log event" && meta.target() == "log"
}

/// Whether it may be on. `tracing-log` asks twice before it makes an event. First it asks without the place
/// of the record, when only the level can decide. Then it asks with the place, and that answer decides.
pub(crate) fn would_record(meta: &Metadata<'_>) -> bool {
    if is_bridge(meta) {
        return true;
    }
    if meta.name() == "log record" && meta.file().is_none() {
        return *meta.level() <= callsite::most_verbose();
    }
    table::would_record_now(meta)
}

/// Texts longer than this are cut: names of modules and files.
const LONGEST: usize = 255;

/// A copy of a short text: what a visitor is shown it may not keep.
struct Short {
    bytes: [u8; LONGEST],
    len: usize,
}

impl Short {
    const fn new() -> Self {
        Self { bytes: [0; LONGEST], len: 0 }
    }

    fn set(&mut self, text: &str) {
        let text = &text[..dynamic::floor_char_boundary(text, LONGEST)];
        self.bytes[..text.len()].copy_from_slice(text.as_bytes());
        self.len = text.len();
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.len]).unwrap_or("")
    }
}

/// Where the record was.
struct Whence {
    target: Short,
    file: Short,
    line: u32,
}

impl Visit for Whence {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "log.target" => self.target.set(value),
            "log.file" => self.file.set(value),
            _ => {}
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "log.line" {
            self.line = u32::try_from(value).unwrap_or(0);
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}

/// Its text.
struct Message<'e, 'w>(&'e mut dynamic::Encoder<'w>, bool);

impl Visit for Message<'_, '_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" && !self.1 {
            self.0.formatted(format_args!("{value:?}"));
            self.1 = true;
        }
    }
}

/// Records it as `silverpoint-log` would. `admits`: whether the subscriber wants what has such metadata. (Cold, so that what it keeps on the stack is not made
/// ready for other events.)
#[cold]
#[inline(never)]
pub(crate) fn record(event: &Event<'_>, admits: impl Fn(&Metadata<'_>) -> bool) {
    let mut whence = Whence { target: Short::new(), file: Short::new(), line: 0 };
    event.record(&mut whence);
    let meta = event.metadata();
    let place = Place {
        level: callsite::level_of(meta),
        line: whence.line,
        target: whence.target.text(),
        file: whence.file.text(),
    };
    let own = Metadata::new(
        "log event",
        place.target,
        *meta.level(),
        None,
        None,
        None,
        FieldSet::new(&[], meta.callsite()),
        Kind::EVENT,
    );
    if dynamic::is_usdt_attached() && admits(&own) {
        usdt::event_at(&place, event);
    }
    let located = dynamic::located(&place);
    let wanted = located.map_or_else(|| place.wanted(), Located::wanted);
    if wanted.by_nobody() || !admits(&own) {
        return;
    }
    let text = |encoder: &mut dynamic::Encoder<'_>| {
        let mut message = Message(encoder, false);
        event.record(&mut message);
        if !message.1 {
            message.0.text("");
        }
    };
    match located.map_or(0, Located::text) {
        0 => _ = dynamic::record_elsewhere(&place, wanted, text, None),
        site if wanted.by_ring() || dynamic::tracer_wants(site) => {
            let mut arguments = Arguments::new();
            arguments.encode(text);
            let _ = arguments.give(place.level, site, None, wanted.of_site(site));
        }
        _ => {}
    }
}
