//! What a capture has found: records in order of time, and the spans among them.

use std::sync::Arc;
use std::time::Duration;

use silverpoint_query::spans::OpenSpans;
use silverpoint_wire::level::Kind;

use crate::tail::{Tail, What};
use crate::{Losses, Record};

/// All that a capture has found, in order of time.
pub(crate) struct View {
    pub(crate) records: Vec<Record>,
    pub(crate) spans: Vec<Span>,
    pub(crate) losses: Losses,
    pub(crate) trouble: Option<String>,
    /// Other threads have recorded, which this capture does not see.
    pub(crate) others_recorded: bool,
    /// The directives of the process's collector.
    pub(crate) collected_by: Option<String>,
}

/// A span that is open while records are gone through.
struct OpenSpan {
    number: usize,
    /// Its name, and those around it.
    path: Arc<[String]>,
}

impl View {
    /// Adds all that a tail has found.
    pub(crate) fn fill(&mut self, tail: &Tail, ticks_per_second: u64) {
        let mut open = OpenSpans::default();
        for item in &tail.items {
            // Of this process.
            let thread = (0, item.thread);
            match &item.what {
                What::Record { site, record } => {
                    let around: Option<&OpenSpan> = open.innermost(thread);
                    let record = around.map_or_else(|| record.clone(), |span| record.inside(&span.path));
                    if record.kind() == Kind::Span {
                        let path =
                            record.within().iter().cloned().chain([record.name().to_owned()]).collect();
                        let parent = around.map(|span| span.number);
                        let span = OpenSpan { number: self.spans.len(), path };
                        open.begin(thread, *site as usize, item.ticks, span);
                        let record = record.clone();
                        self.spans.push(Span { record, parent, ended: None, duration: None });
                    }
                    self.records.push(record);
                }
                What::SpanEnd { site, begun } => {
                    if let Some(span) = open.end(thread, *site as usize, *begun) {
                        let span = &mut self.spans[span.number];
                        span.ended = Some(item.ticks);
                        let ticks = u128::from(item.ticks.saturating_sub(*begun));
                        span.duration = (ticks * 1_000_000_000)
                            .checked_div(u128::from(ticks_per_second))
                            .map(|ns| Duration::from_nanos(ns as u64));
                    }
                }
            }
        }
    }
}

/// A span that began while the capture lived.
#[derive(Clone, Debug)]
pub struct Span {
    record: Record,
    parent: Option<usize>,
    ended: Option<u64>,
    duration: Option<Duration>,
}

impl Span {
    /// Its name.
    pub fn name(&self) -> &str {
        self.record.name()
    }

    /// Its begin, with its values.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The span of its thread in which it began: its number in [`Capture::spans`](crate::Capture::spans).
    pub fn parent(&self) -> Option<usize> {
        self.parent
    }

    /// Whether it has ended.
    pub fn is_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// When it ended, comparable with [`Record::ticks`].
    pub fn ended(&self) -> Option<u64> {
        self.ended
    }

    /// How long it took, when it has ended and the clock's pace is known.
    pub fn duration(&self) -> Option<Duration> {
        self.duration
    }
}
