//! Events as the USDT probe `silverpoint:message`, spans as four others: the callsites of others have no probes of
//! their own (spec/usdt.md). Only in programs that are built with the feature `usdt` of the crate `silverpoint`.

use std::cell::Cell;
use std::fmt;
use std::time::Instant;

use silverpoint::dynamic::{self, Place, SpanStep};
use tracing_core::field::{Field, Visit};
use tracing_core::span::Attributes;
use tracing_core::{Event, Metadata};

use crate::callsite::level_of;
use crate::spans;

/// The text of an event or the name of a span, then ` NAME=VALUE` for each of its fields, as they come.
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
    event_at(&place_of(event.metadata()), event);
}

fn place_of(meta: &'static Metadata<'static>) -> Place<'static> {
    Place {
        level: level_of(meta),
        line: meta.line().unwrap_or(0),
        target: meta.target(),
        file: meta.file().unwrap_or(""),
    }
}

/// A span was made.
#[cold]
#[inline(never)]
pub(crate) fn begin(id: u64, attributes: &Attributes<'_>) {
    let meta = attributes.metadata();
    dynamic::hit_usdt_span(SpanStep::Begin, id, &place_of(meta), &|out| {
        out.write_str(meta.name())?;
        let mut text = Text { out, result: Ok(()), is_first: false };
        attributes.record(&mut text);
        text.result
    });
}

/// A span was entered in this thread.
#[inline(always)]
pub(crate) fn enter(id: u64) {
    if dynamic::is_usdt_attached() { hit_entry(id) } else { forget_times() }
}

/// A span is left in this thread.
#[inline(always)]
pub(crate) fn exit(id: u64) {
    if dynamic::is_usdt_attached() { hit_exit(id) } else { forget_times() }
}

/// This thread does what no tracer sees: which of its spans are still open is not known any more.
#[inline(always)]
fn forget_times() {
    if dynamic::HAS_USDT {
        let _ = ENTERED.try_with(Entered::forget);
    }
}

#[cold]
#[inline(never)]
fn hit_entry(id: u64) {
    if let Some(meta) = spans::metadata(id) {
        step(SpanStep::Entry, id, meta);
        let _ = ENTERED.try_with(|entered| entered.push(id));
    }
}

#[cold]
#[inline(never)]
fn hit_exit(id: u64) {
    let ns = ENTERED
        .try_with(|entered| entered.take(id))
        .ok()
        .flatten()
        .map_or(0, |since| u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX));
    if let Some(meta) = spans::metadata(id) {
        step(SpanStep::Exit { ns }, id, meta);
    }
}

/// One less has a span; true when it is closed.
#[cold]
#[inline(never)]
pub(crate) fn let_go(id: u64) -> bool {
    // Afterwards it may be another.
    let meta = spans::metadata(id);
    let is_closed = spans::let_go(id);
    if let (true, Some(meta)) = (is_closed, meta) {
        step(SpanStep::End, id, meta);
    }
    is_closed
}

fn step(step: SpanStep, id: u64, meta: &'static Metadata<'static>) {
    dynamic::hit_usdt_span(step, id, &place_of(meta), &|out| out.write_str(meta.name()));
}

/// Spans of a thread whose time is known: of more than these, the innermost.
const ENTERED_MOST: usize = 32;

thread_local! {
    static ENTERED: Entered = const { Entered::new() };
}

/// Spans that this thread has entered while a tracer was attached, the innermost last.
struct Entered {
    spans: [Cell<Option<(u64, Instant)>>; ENTERED_MOST],
    count: Cell<usize>,
}

impl Entered {
    const fn new() -> Self {
        Self { spans: [const { Cell::new(None) }; ENTERED_MOST], count: Cell::new(0) }
    }

    fn push(&self, id: u64) {
        if self.count.get() == ENTERED_MOST {
            self.remove(0);
        }
        self.spans[self.count.get()].set(Some((id, Instant::now())));
        self.count.set(self.count.get() + 1);
    }

    #[inline(always)]
    fn forget(&self) {
        if self.count.get() != 0 {
            self.count.set(0);
        }
    }

    /// When the innermost such span was entered.
    fn take(&self, id: u64) -> Option<Instant> {
        let of = |at: usize| self.spans[at].get().filter(|(its, _)| *its == id);
        let (at, (_, since)) = (0..self.count.get()).rev().find_map(|at| Some((at, of(at)?)))?;
        self.remove(at);
        Some(since)
    }

    fn remove(&self, at: usize) {
        let count = self.count.get() - 1;
        (at..count).for_each(|at| self.spans[at].set(self.spans[at + 1].get()));
        self.count.set(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_spans_have_a_time_in_any_order() {
        let entered = Entered::new();
        (0..2 * ENTERED_MOST as u64).for_each(|id| entered.push(id));
        assert!(entered.take(ENTERED_MOST as u64 - 1).is_none());
        let last = 2 * ENTERED_MOST as u64 - 1;
        for id in [40, last, 33, 50] {
            assert!(entered.take(id).is_some() && entered.take(id).is_none(), "{id}");
        }
        assert_eq!(entered.count.get(), ENTERED_MOST - 4);
        // One is entered again within itself.
        let outer = entered.take(41).unwrap();
        entered.push(41);
        entered.push(41);
        assert!(entered.take(41).unwrap() >= entered.take(41).unwrap() && entered.take(41).is_none());
        assert!(outer <= Instant::now());
        // A tracer that went away meanwhile, and came back, may have missed an exit.
        entered.push(42);
        entered.forget();
        assert!(entered.take(42).is_none() && entered.count.get() == 0);
    }
}
