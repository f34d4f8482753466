//! What the end of a span says about its begin, and the open span that it belongs to. A span may end in another
//! thread than it began in.
//!
//! Trace files name the begin by its ticks. Other formats have a duration, which is rounded. It is also
//! measured by one clock only, while times are corrected in between.

use std::collections::HashMap;

use silverpoint_query::spans::{OpenSpans, Place};
use silverpoint_trace::{Site, What};

use crate::Record;

/// Number of the process and id of the thread.
pub(crate) type Thread = (usize, u32);

/// That of a record.
pub(crate) fn thread(record: &Record<'_>) -> Thread {
    (record.process_number, record.tid)
}

/// A time as [`OpenSpans`] orders begins.
pub(crate) fn order(wall_ns: i64) -> u64 {
    wall_ns.cast_unsigned() ^ (1 << 63)
}

/// Where and when a span begins.
#[derive(Clone, Copy)]
pub(crate) struct Begin {
    pub thread: Thread,
    pub order: u64,
    pub ticks: Option<u64>,
}

impl Begin {
    pub(crate) fn of(record: &Record<'_>) -> Self {
        Self { thread: thread(record), order: order(record.wall_ns), ticks: record.ticks }
    }
}

/// The ticks by which an async span may name a begin as its first part. Only `tracing` in Rust has such spans.
pub(crate) fn nameable_ticks(record: &Record<'_>, site: &Site) -> Option<u64> {
    const RUST: u16 = 2;
    record.ticks.filter(|_| site.description.language == RUST)
}

/// Begins beyond those that are kept, by thread. Their ends are taken as the first that come.
#[derive(Default)]
pub(crate) struct Beyond(HashMap<Thread, u64>);

impl Beyond {
    /// One more has begun.
    pub(crate) fn begin(&mut self, thread: Thread) {
        *self.0.entry(thread).or_default() += 1;
    }

    /// Whether one of them ends.
    pub(crate) fn end(&mut self, thread: Thread) -> bool {
        let Some(count) = self.0.get_mut(&thread) else { return false };
        *count -= 1;
        if *count == 0 {
            self.0.remove(&thread);
        }
        true
    }
}

/// Nanoseconds up to which begins in other threads are compared.
const ROUNDING: u64 = 1000;

/// See the module.
#[derive(Clone, Copy)]
pub(crate) struct Begun {
    order: u64,
    rounding: u64,
    ticks: Option<u64>,
}

impl Begun {
    /// What an end says; `None`: nothing.
    pub(crate) fn of(record: &Record<'_>) -> Option<Self> {
        let What::SpanEnd { begin_ticks, duration_ns: Some(duration_ns), .. } = record.what else {
            return None;
        };
        Some(Self {
            order: order(record.wall_ns.saturating_sub_unsigned(duration_ns)),
            // Clocks are corrected by at most a two-thousandth.
            rounding: ROUNDING.saturating_add(duration_ns / 1000),
            ticks: record.ticks.and((begin_ticks != 0).then_some(begin_ticks)),
        })
    }

    /// Whether it can be of no other begin.
    pub(crate) fn is_exact(self) -> bool {
        self.ticks.is_some()
    }

    /// The open span that it belongs to. `is_it` is given its site and what is kept of it, `ticks_of` the ticks of its begin.
    pub(crate) fn find<T>(
        self,
        spans: &OpenSpans<u32, T>,
        thread: Thread,
        is_it: impl Fn(usize, &T) -> bool,
        ticks_of: impl Fn(&T) -> Option<u64>,
    ) -> Option<Place<u32>> {
        let is_it = |site: usize, kept: &T| {
            is_it(site, kept) && self.ticks.is_none_or(|ticks| ticks_of(kept) == Some(ticks))
        };
        let place = spans.find(thread, self.order, self.rounding, is_it)?;
        if self.is_exact() || place.thread == thread {
            return Some(place);
        }
        spans.find(thread, self.order, ROUNDING, is_it)
    }
}
