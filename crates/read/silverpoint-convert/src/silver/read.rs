//! Records of trace files, as they are read by `silverpoint_trace`.

use std::sync::Arc;

use silverpoint_query::filter::Filter;
use silverpoint_trace::{Context, Event, Events, Kept, Trace};

use crate::record::Head;
use crate::{ReadError, Reader, Record};

/// Reads the records of a trace that a filter selects; names and ends of threads are contained in the records
/// that follow.
pub struct TraceReader<'t> {
    trace: &'t Trace,
    events: Events<'t>,
    /// Number of the input: the upper half of the numbers of its sites and processes.
    input: usize,
    is_monotonic: bool,
    current: Option<Head>,
    args: Vec<u8>,
    thread: String,
    context: Option<Arc<Context>>,
}

impl<'t> TraceReader<'t> {
    /// Of the input of this number.
    pub fn new(trace: &'t Trace, filter: &Filter, input: u32) -> Self {
        Self {
            trace,
            events: trace.select(filter),
            input: (input as usize) << 32,
            is_monotonic: false,
            current: None,
            args: Vec::new(),
            thread: String::new(),
            context: None,
        }
    }

    /// Records then have the time of CLOCK_MONOTONIC in the place of the wall clock's.
    #[must_use]
    pub fn in_monotonic_time(mut self) -> Self {
        self.is_monotonic = true;
        self
    }

    /// What is known to be missing: complete at the end.
    pub fn events(&self) -> &Events<'t> {
        &self.events
    }
}

impl Reader for TraceReader<'_> {
    fn advance(&mut self) -> Result<bool, ReadError> {
        while let Some(event) = self.events.next() {
            self.current = keep(&event, &mut self.args, &mut self.thread, &mut self.context);
            if let Some(current) = &mut self.current {
                if self.is_monotonic {
                    let session = &self.trace.sessions[current.process];
                    current.wall_ns = session.monotonic_ns(event.ticks).unwrap_or(0);
                }
                return Ok(true);
            }
        }
        self.current = None;
        Ok(false)
    }

    fn record(&self) -> Option<Record<'_>> {
        let (head, context) = (self.current.as_ref()?, self.context.as_deref());
        let session = &self.trace.sessions[head.process];
        let process = (session.name.as_str(), session.pid);
        head.record(&self.trace.sites, process, self.input, &self.args, &self.thread, context)
    }

    /// The events of all files together have no place in one: 0.
    fn position(&self) -> u64 {
        0
    }
}

/// Copies an event, and reuses the allocations of its texts; `None` if it is not a record.
pub(super) fn keep(
    event: &Event<'_>,
    args: &mut Vec<u8>,
    thread: &mut String,
    context: &mut Option<Arc<Context>>,
) -> Option<Head> {
    let (what, packed) = Kept::of(&event.what)?;
    args.clear();
    args.extend_from_slice(packed);
    if thread != event.thread_name {
        thread.clear();
        thread.push_str(event.thread_name);
    }
    if context.as_ref().map(Arc::as_ptr) != event.context.map(Arc::as_ptr) {
        *context = event.context.cloned();
    }
    Some(Head {
        wall_ns: event.wall_ns,
        ticks: Some(event.ticks),
        process: event.session_number,
        tid: event.tid,
        is_backtrace: event.is_backtrace,
        what,
    })
}
