//! What reading gives: one record with everything that is known about it.

use std::sync::Arc;

use silverpoint_wire::bytes::{u32_at, u64_at};
use silverpoint_wire::layout::CAUSE_NAMES;
use silverpoint_wire::layout::record::{CONTEXT, LOSS, SPAN_END, STALL, THREAD_END, THREAD_NAME};
use silverpoint_wire::layout::signature::CUT;
use silverpoint_wire::layout::site_entry::FIRST_ID;
use silverpoint_wire::level::Level;
use silverpoint_wire::record::{Record, RecordHeader};

use super::session::{Session, Stream};
use super::{Head, Trace};
use crate::Context;
use crate::Site;

/// One record, or one control record interpreted.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// The process.
    pub session: &'a Session,
    /// Number of the process in [`Trace::sessions`](super::Trace::sessions).
    pub session_number: usize,
    /// The ring's incarnation.
    pub stream: &'a Stream,
    /// Kernel thread id.
    pub tid: u32,
    /// The thread's name at this time; may be empty.
    pub thread_name: &'a str,
    /// In the session's clock.
    pub ticks: u64,
    /// Nanoseconds since 1970-01-01T00:00Z.
    pub wall_ns: i64,
    /// Fields of the scopes that the thread was in; `None` when there are none.
    pub context: Option<&'a Arc<Context>>,
    /// The file that it stands in, by its number in [`Trace::files`](super::Trace::files).
    pub file: usize,
    /// Where its record began in the ring: with session and stream, what it is known by.
    pub position: u64,
    /// The record as it lies in the ring, header and padding included; empty for what was kept back meanwhile, or never lay in a ring.
    pub raw: &'a [u8],
    /// It was kept back until something happened that it helps to explain: lines mark it.
    pub is_backtrace: bool,
    /// What happened.
    pub what: What<'a>,
}

/// What an [`Event`] is.
#[derive(Clone, Copy, Debug)]
pub enum What<'a> {
    /// A record of a site.
    Record {
        /// The site.
        site: &'a Site,
        /// Its number in [`Trace::sites`](super::Trace::sites).
        site_number: usize,
        /// Packed arguments, and zero bytes up to a multiple of 8.
        args: &'a [u8],
        /// An argument was cut by the program.
        truncated: bool,
    },
    /// A record of a site that no dictionary describes.
    Unknown {
        /// The site's id.
        site_id: u32,
        /// Packed arguments.
        args: &'a [u8],
    },
    /// A span has ended.
    SpanEnd {
        /// The span's site, when it is described.
        site: Option<&'a Site>,
        /// Number of the site.
        site_number: Option<usize>,
        /// When it began.
        begin_ticks: u64,
        /// How long it lasted; `None` when it ended before it began.
        duration_ns: Option<u64>,
    },
    /// Records of this thread were not recorded.
    Loss {
        /// Number of the cause: [`cause_name`].
        cause: u8,
        /// How many.
        count: u64,
        /// Between the first and the last of them.
        span_ns: u64,
    },
    /// The thread waited for room.
    Stall {
        /// Number of the cause.
        cause: u8,
        /// How long.
        duration_ns: u64,
    },
    /// The thread has another name.
    ThreadName,
    /// The thread has ended.
    ThreadEnd,
    /// The thread has entered or left a scope with fields, or says again in which it is.
    Context,
    /// A control record that this version does not know, or that is malformed.
    OtherControl {
        /// Its id.
        site_id: u32,
    },
}

impl Event<'_> {
    /// Whether text and JSON lines have a line for it: names and ends of threads and contexts have none.
    pub fn is_shown(&self) -> bool {
        !matches!(self.what, What::ThreadName | What::ThreadEnd | What::Context | What::OtherControl { .. })
    }
}

impl What<'_> {
    /// The level at which it is shown: the site's; losses as warnings, waits as information, the rest as trace.
    pub fn level(&self) -> Level {
        match self {
            Self::Record { site, .. } | Self::SpanEnd { site: Some(site), .. } => site.level(),
            Self::Loss { .. } => Level::Warn,
            Self::Stall { .. } | Self::Unknown { .. } => Level::Info,
            Self::SpanEnd { site: None, .. }
            | Self::ThreadName
            | Self::ThreadEnd
            | Self::Context
            | Self::OtherControl { .. } => Level::Trace,
        }
    }
}

/// The name of a cause of losses and waits.
pub fn cause_name(cause: u8) -> &'static str {
    CAUSE_NAMES.get(usize::from(cause)).copied().unwrap_or("other")
}

/// Makes sense of a record.
#[inline]
pub(super) fn interpret<'a>(trace: &'a Trace, session_number: usize, record: &Record<'a>) -> What<'a> {
    let session = &trace.sessions[session_number];
    let id = record.header.site;
    if id >= FIRST_ID {
        return match session.site_number(id) {
            Some(site_number) => What::Record {
                site: &trace.sites[site_number],
                site_number,
                args: record.args,
                truncated: record.header.is_truncated(),
            },
            None => What::Unknown { site_id: id, args: record.args },
        };
    }
    control(trace, session, record).unwrap_or(What::OtherControl { site_id: id })
}

/// A control record; `None` when its arguments are too short or its id is not known.
fn control<'a>(trace: &'a Trace, session: &'a Session, record: &Record<'a>) -> Option<What<'a>> {
    let args = record.args;
    let ns = |begin: u64, end: u64| u64::try_from(session.clock.duration_ns(begin, end)).ok();
    Some(match record.header.site {
        LOSS => {
            let (first, last) = (u64_at(args, 9)?, u64_at(args, 17)?);
            What::Loss {
                cause: *args.first()?,
                count: u64_at(args, 1)?,
                span_ns: ns(first, last).unwrap_or(0),
            }
        }
        STALL => What::Stall { cause: *args.first()?, duration_ns: u64_at(args, 1)? },
        SPAN_END => {
            let site_number = session.site_number(u32_at(args, 0)?);
            let begin_ticks = u64_at(args, 4)?;
            let ended = record.header.ticks >= begin_ticks;
            What::SpanEnd {
                site: site_number.map(|number| &trace.sites[number]),
                site_number,
                begin_ticks,
                duration_ns: if ended { ns(begin_ticks, record.header.ticks) } else { None },
            }
        }
        THREAD_NAME => What::ThreadName,
        THREAD_END => What::ThreadEnd,
        CONTEXT => What::Context,
        _ => return None,
    })
}

/// Whether a control record is one that is shown, by [`Event::is_shown`].
pub(super) fn is_shown_control(trace: &Trace, session: &Session, head: Head<'_>) -> bool {
    let header = RecordHeader { size: head.size, flags: 0, site: head.site, ticks: head.ticks };
    let what = control(trace, session, &Record { offset: 0, header, args: head.args });
    matches!(what, Some(What::Loss { .. } | What::Stall { .. } | What::SpanEnd { .. }))
}

/// The name that a *thread name* record gives.
pub(super) fn thread_name(record: &Record<'_>) -> Option<String> {
    let len = u32_at(record.args, 0)? & !CUT;
    let bytes = record.args.get(4..4usize.checked_add(len as usize)?)?;
    Some(String::from_utf8_lossy(bytes).into_owned())
}
