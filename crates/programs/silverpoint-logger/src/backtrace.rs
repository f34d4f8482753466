//! Backtraces: the last records below a sink's level are kept back in memory. They are written when a bad
//! record comes, or on demand.
//!
//! ```text
//!  spool ──▶ of the sink's level or above? ── yes ──▶ bad enough? ── yes ──▶ first what is kept back, marked ──▶ the destination
//!                   │ no                                  │ no ─────────────────────────────────────────────▶
//!                   ▼
//!             kept back: the last N, at most 4 MiB
//! ```
//!
//! **Exactly once.** What is kept back is not written yet. So a file's cursor has two positions for a stream.
//! The first is the end of the written records of the sink's level, the second the begin of the kept ones. A
//! successor reads from the second position. It skips what lies before the first and is of the sink's level,
//! and keeps the rest back again. The parts of the spool that hold kept records stay. The exception are parts
//! older than the last two: a record that waits for ever must not hold up the spool. Such a record stays in
//! memory, and a successor does not have it.

use std::collections::{HashMap, VecDeque};

use silverpoint_query::filter::Filter;
use silverpoint_trace::{Event, Follow, KeptEvent, Trace};
use silverpoint_wire::level::Level;

use crate::config::{Backtrace, Sink};
use crate::cursor::Position;

/// Bytes of memory of what a sink keeps back.
const BYTES_MAX: usize = 4 << 20;
/// Parts of the spool that stay for it.
const PARTS: u64 = 2;

/// What one sink keeps back, and what was written before it began.
#[derive(Debug, Default)]
pub(crate) struct Holder {
    backtrace: Option<Backtrace>,
    /// The sink's level: records below it are kept back.
    level: Option<Level>,
    held: VecDeque<KeptEvent>,
    bytes: usize,
    /// Up to where a predecessor has written, for streams that are read again.
    written: HashMap<([u8; 16], u32), u64>,
}

/// What to do with a record.
pub(crate) enum Fate {
    /// Write it.
    Deliver,
    /// Write it after the records that were kept back.
    Dump,
    /// Do not write it now.
    Keep,
}

impl Holder {
    /// Nothing yet.
    pub(crate) fn new(sink: &Sink) -> Self {
        let mut holder = Self::default();
        holder.set(sink);
        holder
    }

    /// A predecessor has written what is of the sink's level up to these positions.
    pub(crate) fn has_written(&mut self, written: Vec<Position>) {
        self.written = written.into_iter().map(|(session, stream, at)| ((session, stream), at)).collect();
    }

    /// Other settings. Kept records that are not wanted any more are dropped.
    pub(crate) fn set(&mut self, sink: &Sink) {
        self.backtrace = sink.backtrace;
        self.level = level_of(sink);
        self.shrink();
    }

    /// Classifies a record that passed the sink's filter, and keeps it back if necessary.
    pub(crate) fn take(&mut self, event: &Event<'_>) -> Fate {
        let Some(backtrace) = self.backtrace else { return Fate::Deliver };
        let level = event.what.level();
        if self.level.is_some_and(|least| level < least) {
            if let Some(kept) = event.keep() {
                self.bytes += kept.bytes();
                self.held.push_back(kept);
                self.shrink();
            }
            return Fate::Keep;
        }
        if !self.written.is_empty() && self.was_written(event) {
            return Fate::Keep;
        }
        if backtrace.trigger.is_some_and(|trigger| level >= trigger) { Fate::Dump } else { Fate::Deliver }
    }

    /// Whether a record causes the kept records to be written.
    pub(crate) fn is_trigger(&self, event: &Event<'_>) -> bool {
        let level = event.what.level();
        let is_below = self.level.is_some_and(|least| level < least);
        let trigger = self.backtrace.and_then(|backtrace| backtrace.trigger);
        !is_below && trigger.is_some_and(|trigger| level >= trigger)
    }

    /// Whether a predecessor has written it.
    fn was_written(&mut self, event: &Event<'_>) -> bool {
        let Some(info) = &event.session.info else { return false };
        let stream = (info.session_id, event.stream.number);
        let Some(until) = self.written.get(&stream) else { return false };
        if event.position >= *until {
            self.written.remove(&stream);
            return false;
        }
        true
    }

    /// Drops the oldest records above the limits.
    fn shrink(&mut self) {
        let most = self.backtrace.map_or(0, |backtrace| backtrace.records);
        while self.held.len() > most || self.bytes > BYTES_MAX {
            let Some(oldest) = self.held.pop_front() else { break };
            self.bytes -= oldest.bytes().min(self.bytes);
        }
        if self.held.is_empty() {
            self.bytes = 0;
        }
    }

    /// Gives what is kept back, the oldest first; nothing is kept back afterwards.
    pub(crate) fn dump(&mut self, trace: &Trace, mut give: impl FnMut(&Event<'_>)) {
        self.bytes = 0;
        for held in self.held.drain(..) {
            let _ = held.with(trace, &mut give);
        }
    }

    /// What is kept back and can be read again after this process's death.
    fn pinned<'t>(&self, trace: &'t Trace) -> impl Iterator<Item = &KeptEvent> + use<'_, 't> {
        let part = |file: usize| trace.files.get(file).map_or(0, |file| file.part());
        let newest = trace.files.last().map_or(0, |file| file.part());
        self.held.iter().filter(move |held| part(held.file()) + PARTS > newest)
    }

    /// The oldest part of the spool that a successor needs.
    pub(crate) fn oldest_part(&self, trace: &Trace) -> Option<u64> {
        self.pinned(trace).filter_map(|held| Some(trace.files.get(held.file())?.part())).min()
    }
}

/// The least level that goes to a sink with a backtrace; `None`: it has none.
fn level_of(sink: &Sink) -> Option<Level> {
    sink.backtrace.map(|_| sink.filter.level.unwrap_or(Level::Info))
}

/// What a sink reads from the spool: all levels when it keeps some back.
pub(crate) fn filter_of(sink: &Sink) -> Filter {
    match sink.backtrace {
        Some(_) => Filter { level: None, ..sink.filter.clone() },
        None => sink.filter.clone(),
    }
}

/// How far a sink has come. Made only where that is written down: it examines all streams.
pub(crate) struct Reached<'t> {
    pub(crate) follow: &'t Follow,
    pub(crate) holder: &'t Holder,
}

impl Reached<'_> {
    /// Up to where everything of the sink's level is written.
    pub(crate) fn positions(&self) -> Vec<Position> {
        let of = |(session, stream, at): Position| {
            let written = self.holder.written.get(&(session, stream)).copied().unwrap_or(0);
            (session, stream, at.max(written))
        };
        self.follow.positions().map(of).collect()
    }

    /// From where a successor reads instead, because records from there on are kept back.
    pub(crate) fn held(&self) -> Vec<Position> {
        let trace = self.follow.trace();
        let mut oldest: HashMap<([u8; 16], u32), u64> = HashMap::new();
        for held in self.holder.pinned(trace) {
            let (session, stream) = held.stream();
            let Some(info) = trace.sessions.get(session).and_then(|session| session.info.as_ref()) else {
                continue;
            };
            let at = oldest.entry((info.session_id, stream)).or_insert(u64::MAX);
            *at = held.position().min(*at);
        }
        // Where a predecessor had come further, what is read again is not all kept back yet.
        for (session, stream, at) in self.follow.positions() {
            if self.holder.written.contains_key(&(session, stream)) {
                let held = oldest.entry((session, stream)).or_insert(at);
                *held = at.min(*held);
            }
        }
        oldest.into_iter().map(|((session, stream), at)| (session, stream, at)).collect()
    }
}

/// Sets where to continue, by a predecessor's entry, and up to where records must not be written again.
pub(crate) fn go_back(
    positions: Vec<Position>,
    held: &[Position],
    has_backtrace: bool,
) -> (Vec<Position>, Vec<Position>) {
    if !has_backtrace || held.is_empty() {
        return (positions, Vec::new());
    }
    let held: HashMap<_, _> = held.iter().map(|(session, stream, at)| ((*session, *stream), *at)).collect();
    let mut written = Vec::new();
    let back = positions.into_iter().map(|(session, stream, at)| match held.get(&(session, stream)) {
        Some(from) if *from < at => {
            written.push((session, stream, at));
            (session, stream, *from)
        }
        _ => (session, stream, at),
    });
    let back = back.collect();
    (back, written)
}
