//! Events that are kept for later: with what they consist of, but for what the trace has.

use std::sync::Arc;

use super::{Event, Trace, What};
use crate::context::Context;

/// An event that outlives its turn. Sites, sessions and streams stay in the trace.
#[derive(Clone, Debug)]
pub struct KeptEvent {
    session_number: usize,
    stream: u32,
    tid: u32,
    thread_name: String,
    ticks: u64,
    wall_ns: i64,
    context: Option<Arc<Context>>,
    file: usize,
    position: u64,
    what: KeptWhat,
}

#[derive(Clone, Debug)]
enum KeptWhat {
    Record { site_number: usize, args: Box<[u8]>, truncated: bool },
    SpanEnd { site_number: Option<usize>, begin_ticks: u64, duration_ns: Option<u64> },
    Unknown { site_id: u32, args: Box<[u8]> },
    Stall { cause: u8, duration_ns: u64 },
}

impl Event<'_> {
    /// Takes what is needed to have the event again later; `None` for losses and what is not shown.
    pub fn keep(&self) -> Option<KeptEvent> {
        let what = match self.what {
            What::Record { site_number, args, truncated, .. } => {
                KeptWhat::Record { site_number, args: args.into(), truncated }
            }
            What::SpanEnd { site_number, begin_ticks, duration_ns, .. } => {
                KeptWhat::SpanEnd { site_number, begin_ticks, duration_ns }
            }
            What::Unknown { site_id, args } => KeptWhat::Unknown { site_id, args: args.into() },
            What::Stall { cause, duration_ns } => KeptWhat::Stall { cause, duration_ns },
            What::Loss { .. }
            | What::ThreadName
            | What::ThreadEnd
            | What::Context
            | What::OtherControl { .. } => return None,
        };
        Some(KeptEvent {
            session_number: self.session_number,
            stream: self.stream.number,
            tid: self.tid,
            thread_name: self.thread_name.to_owned(),
            ticks: self.ticks,
            wall_ns: self.wall_ns,
            context: self.context.cloned(),
            file: self.file,
            position: self.position,
            what,
        })
    }
}

impl KeptEvent {
    /// Gives the event to `take` as one of a backtrace. `trace` is the one that it is of; `None` when it is not.
    pub fn with<R>(&self, trace: &Trace, take: impl FnOnce(&Event<'_>) -> R) -> Option<R> {
        let session = trace.sessions.get(self.session_number)?;
        let site = |number: Option<usize>| number.and_then(|number| trace.sites.get(number));
        let what = match &self.what {
            KeptWhat::Record { site_number, args, truncated } => What::Record {
                site: site(Some(*site_number))?,
                site_number: *site_number,
                args,
                truncated: *truncated,
            },
            KeptWhat::SpanEnd { site_number, begin_ticks, duration_ns } => What::SpanEnd {
                site: site(*site_number),
                site_number: *site_number,
                begin_ticks: *begin_ticks,
                duration_ns: *duration_ns,
            },
            KeptWhat::Unknown { site_id, args } => What::Unknown { site_id: *site_id, args },
            KeptWhat::Stall { cause, duration_ns } => {
                What::Stall { cause: *cause, duration_ns: *duration_ns }
            }
        };
        Some(take(&Event {
            session,
            session_number: self.session_number,
            stream: session.stream(self.stream)?,
            tid: self.tid,
            thread_name: &self.thread_name,
            ticks: self.ticks,
            wall_ns: self.wall_ns,
            context: self.context.as_ref(),
            file: self.file,
            position: self.position,
            raw: &[],
            is_backtrace: true,
            what,
        }))
    }

    /// Bytes of memory that it takes, about; a context is its own and others'.
    pub fn bytes(&self) -> usize {
        let args = match &self.what {
            KeptWhat::Record { args, .. } | KeptWhat::Unknown { args, .. } => args.len(),
            KeptWhat::SpanEnd { .. } | KeptWhat::Stall { .. } => 0,
        };
        let context = self.context.as_ref().map_or(0, |context| context.bytes());
        size_of::<Self>() + self.thread_name.len() + args + context
    }

    /// Number of the session in the trace, and of the stream in the session.
    pub fn stream(&self) -> (usize, u32) {
        (self.session_number, self.stream)
    }

    /// As of [`Event`].
    pub fn position(&self) -> u64 {
        self.position
    }

    /// As of [`Event`].
    pub fn file(&self) -> usize {
        self.file
    }
}
