//! Events that are kept for later: with what they consist of, but for what the trace has.

use std::sync::Arc;

use super::{Event, Trace, What};
use crate::Context;
use crate::Site;

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
    what: Kept,
    args: Box<[u8]>,
}

/// What an event is, without what it refers to: sites are numbers, and the arguments are apart.
#[derive(Clone, Copy, Debug)]
pub enum Kept {
    /// As [`What::Record`].
    Record {
        /// Number of the site.
        site: usize,
        /// An argument was cut.
        truncated: bool,
    },
    /// As [`What::Unknown`].
    Unknown {
        /// The site's id.
        site_id: u32,
    },
    /// As [`What::SpanEnd`].
    SpanEnd {
        /// Number of the site, when it is described.
        site: Option<usize>,
        /// When it began.
        begin_ticks: u64,
        /// How long it lasted.
        duration_ns: Option<u64>,
    },
    /// As [`What::Loss`].
    Loss {
        /// Number of the cause.
        cause: u8,
        /// How many.
        count: u64,
        /// Between the first and the last of them.
        span_ns: u64,
    },
    /// As [`What::Stall`].
    Stall {
        /// Number of the cause.
        cause: u8,
        /// How long.
        duration_ns: u64,
    },
}

impl Kept {
    /// Stores the kind of an event, and gives its arguments; `None` if it is not a record.
    pub fn of<'a>(what: &What<'a>) -> Option<(Self, &'a [u8])> {
        Some(match *what {
            What::Record { site_number: site, args, truncated, .. } => {
                (Self::Record { site, truncated }, args)
            }
            What::Unknown { site_id, args } => (Self::Unknown { site_id }, args),
            What::SpanEnd { site_number: site, begin_ticks, duration_ns, .. } => {
                (Self::SpanEnd { site, begin_ticks, duration_ns }, &[])
            }
            What::Loss { cause, count, span_ns } => (Self::Loss { cause, count, span_ns }, &[]),
            What::Stall { cause, duration_ns } => (Self::Stall { cause, duration_ns }, &[]),
            What::ThreadName | What::ThreadEnd | What::Context | What::OtherControl { .. } => return None,
        })
    }

    /// Rebuilds the event; `None` for a record whose site is none of `sites`. The numbers of sites come with
    /// the bits of `input`.
    pub fn what<'a>(self, sites: &'a [Site], input: usize, args: &'a [u8]) -> Option<What<'a>> {
        Some(match self {
            Self::Record { site, truncated } => {
                What::Record { site: sites.get(site)?, site_number: input | site, args, truncated }
            }
            Self::Unknown { site_id } => What::Unknown { site_id, args },
            Self::SpanEnd { site, begin_ticks, duration_ns } => What::SpanEnd {
                site: site.and_then(|site| sites.get(site)),
                site_number: site.map(|site| input | site),
                begin_ticks,
                duration_ns,
            },
            Self::Loss { cause, count, span_ns } => What::Loss { cause, count, span_ns },
            Self::Stall { cause, duration_ns } => What::Stall { cause, duration_ns },
        })
    }
}

impl Event<'_> {
    /// Takes what is needed to have the event again later; `None` for losses and what is not shown.
    pub fn keep(&self) -> Option<KeptEvent> {
        let (what, args) = Kept::of(&self.what).filter(|(what, _)| !matches!(what, Kept::Loss { .. }))?;
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
            args: args.into(),
        })
    }
}

impl KeptEvent {
    /// Gives the event to `take` as one of a backtrace. `trace` is the one that it is of; `None` when it is not.
    pub fn with<R>(&self, trace: &Trace, take: impl FnOnce(&Event<'_>) -> R) -> Option<R> {
        let session = trace.sessions.get(self.session_number)?;
        let what = self.what.what(&trace.sites, 0, &self.args)?;
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
        let context = self.context.as_ref().map_or(0, |context| context.bytes());
        size_of::<Self>() + self.thread_name.len() + self.args.len() + context
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
