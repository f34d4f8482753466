//! Ids of activities, which spans are: a new one each time that a span begins. A begin names the span around
//! it, too, and events in between name their span.

use silverpoint_query::spans::OpenSpans;
use silverpoint_wire::level::Kind;

use super::identity::{START, opcode};
use crate::Record;
use crate::begun::{Begun, Beyond, order, thread};

/// Spans that are open at once. Those beyond have no activity.
const MOST: usize = 1 << 16;

/// A GUID: numbers of the process and the thread (of an async span 0), then of the span.
pub(super) type Id = [u8; 16];

/// The activity that an event is of, and for a begin the one around it.
#[derive(Default)]
pub(super) struct Activity {
    pub(super) id: Option<Id>,
    pub(super) around: Option<Id>,
}

/// Spans that are open: the ticks of their begins, and their ids.
#[derive(Default)]
pub(super) struct Activities {
    spans: OpenSpans<u32, (Option<u64>, Id)>,
    last: u64,
    beyond: Beyond,
}

fn id(pid: u32, tid: u32, number: u64) -> Id {
    let mut id = [0; 16];
    id[..4].copy_from_slice(&pid.to_le_bytes());
    id[4..8].copy_from_slice(&tid.to_le_bytes());
    id[8..].copy_from_slice(&number.to_le_bytes());
    id
}

impl Activities {
    /// That of a record of a site.
    pub(super) fn of(&mut self, record: &Record<'_>, site: usize, kind: Kind, args: &[u8]) -> Activity {
        let around = self.innermost(record);
        match kind {
            Kind::Span => Activity { id: self.begin(record, site), around },
            Kind::AsyncBegin | Kind::AsyncEnd | Kind::AsyncInstant => {
                let number = args.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
                Activity {
                    id: Some(id(record.pid, 0, number)),
                    around: around.filter(|_| opcode(kind) == START),
                }
            }
            _ => Activity { id: around, around: None },
        }
    }

    fn begin(&mut self, record: &Record<'_>, site: usize) -> Option<Id> {
        let thread = thread(record);
        if self.spans.count() >= MOST {
            self.beyond.begin(thread);
            return None;
        }
        self.last += 1;
        let id = id(record.pid, record.tid, self.last);
        self.spans.begin(thread, site, order(record.wall_ns), (record.ticks, id));
        Some(id)
    }

    /// That of the span of a site that ends; without a site the innermost.
    pub(super) fn end(&mut self, record: &Record<'_>, site: Option<usize>) -> Activity {
        let thread = thread(record);
        let is_it = |of: usize, _: &_| site.is_none_or(|site| of == site);
        let begun = Begun::of(record).filter(|_| site.is_some());
        let known = begun.and_then(|begun| begun.find(&self.spans, thread, is_it, |open| open.0));
        let place = match known {
            Some(place) => Some(place),
            None if self.beyond.end(thread) => None,
            None => self.spans.last(thread, is_it).filter(|_| !begun.is_some_and(Begun::is_exact)),
        };
        let ended = place.and_then(|place| self.spans.end_with(place, |_, may_have_ended| !may_have_ended));
        Activity { id: ended.map(|(_, id)| id), around: None }
    }

    /// That of the innermost open span.
    pub(super) fn innermost(&self, record: &Record<'_>) -> Option<Id> {
        self.spans.innermost(thread(record)).map(|(_, id)| *id)
    }

    /// Records of a thread were lost.
    pub(super) fn lost(&mut self, record: &Record<'_>) {
        self.spans.lost(thread(record));
    }
}
