//! The table `records`: every record, end of a span, loss and wait, in order of time.

use std::cell::RefCell;
use std::ffi::CStr;
use std::sync::Arc;

use rusqlite::vtab::Context;
use silverpoint_query::spans::{AsyncSpans, OpenSpans};
use silverpoint_query::tree::{Part, part};
use silverpoint_render::ShowContext;
use silverpoint_trace::{Event, Events, Site, Trace, What};
use silverpoint_wire::level::Kind as SiteKind;

use crate::module::{Kind, Rows};
use crate::open_spans::admit;
use crate::plan::{Column, Plan, event_name};
use crate::row::{Writer, integer, text};
use crate::state::State;

/// See the module.
pub(crate) struct Records;

/// Columns that only who asks for them by name gets, and databases that are written: what gives a record back exactly.
const PACKED: usize = 25;
const CONTEXT_CBOR: usize = 26;

impl Kind for Records {
    const SCHEMA: &'static CStr = c"create table records(id integer, time_ns integer, time text, level text, severity integer, kind text, category text, name text, message text, template text, file text, line integer, function text, process text, pid integer, tid integer, thread text, site integer, span integer, duration_ns integer, args text, context text, truncated integer, is_backtrace integer, is_crash integer, packed blob hidden, context_cbor blob hidden)";
    const COLUMNS: &'static [Column] = &[
        Column::Other,
        Column::TimeNs,
        Column::Time,
        Column::Level,
        Column::Severity,
        Column::Kind,
        Column::Category,
        Column::Name,
        Column::Other,
        Column::Template,
        Column::File,
        Column::Line,
        Column::Function,
        Column::Process,
        Column::Pid,
        Column::Tid,
        Column::Other,
        Column::Site,
        Column::Nesting,
        Column::Other,
        Column::Other,
        Column::Other,
        Column::Other,
        Column::Other,
        Column::Other,
        Column::Other,
        Column::Other,
    ];
    type Rows<'t> = RecordRows<'t>;
}

/// The rows of one scan.
pub(crate) struct RecordRows<'t> {
    state: Arc<State>,
    /// `None`: nothing can match.
    events: Option<Events<'t>>,
    /// Which spans are open, where a query asks for it: their ids.
    open: Option<OpenSpans<usize, i64>>,
    /// The same of async spans, by session and id, for records that name such a span.
    asyncs: AsyncSpans<(usize, u64), i64>,
    /// The span that the row is in, begins or ends.
    span: Option<i64>,
    writer: RefCell<Writer>,
}

impl<'t> Rows<'t> for RecordRows<'t> {
    fn begin(trace: &'t Trace, state: &Arc<State>, plan: &Plan) -> Self {
        let mut picked = plan.picked.clone();
        if plan.is_nesting_used {
            // Begins before the time and of other sites decide, too.
            picked.sites.fill(true);
            (picked.others, picked.from_ns) = (true, i64::MIN);
        }
        Self {
            state: Arc::clone(state),
            events: (!plan.is_empty).then(|| trace.select(&picked)),
            open: plan.is_nesting_used.then(OpenSpans::default),
            asyncs: AsyncSpans::default(),
            span: None,
            writer: RefCell::new(Writer::new()),
        }
    }

    fn advance(&mut self) -> rusqlite::Result<bool> {
        let Some(events) = &mut self.events else { return Ok(false) };
        let event = loop {
            match events.next() {
                Some(event) if event.is_shown() => break event,
                Some(_) => {}
                None => return Ok(false),
            }
        };
        if let Some(open) = &mut self.open {
            let thread = (event.session_number, event.stream.thread);
            let said = match event.what {
                What::Record { site, args, .. } => part(site, args),
                _ => None,
            };
            self.span = match event.what {
                What::Record { site, site_number, .. } if site.kind() == SiteKind::Span => {
                    let ticks = event.ticks;
                    let id = self.state.id(events);
                    admit(open.count())?;
                    open.begin(thread, site_number, ticks, id);
                    Some(id)
                }
                What::SpanEnd { site_number: Some(site), begin_ticks, .. } => {
                    open.end(thread, site, begin_ticks)
                }
                What::Record { site, args, .. } => {
                    let span = open.innermost(thread).copied();
                    let key = args.first_chunk().map(|id| (event.session_number, u64::from_le_bytes(*id)));
                    match (site.kind(), said, key) {
                        (_, Some(Part::Of(id)), _) => self.asyncs.last(&(event.session_number, id)).copied(),
                        (SiteKind::AsyncBegin, _, Some(key)) => {
                            admit(self.asyncs.count())?;
                            let id = self.state.id(events);
                            self.asyncs.begin(key, id);
                            span
                        }
                        (SiteKind::AsyncEnd, _, Some(key)) => {
                            self.asyncs.end(&key);
                            span
                        }
                        _ => span,
                    }
                }
                _ => open.innermost(thread).copied(),
            };
        }
        Ok(true)
    }

    fn column(&self, context: &mut Context, column: usize) -> rusqlite::Result<()> {
        let Some((events, event)) = self.events.as_ref().and_then(|e| Some((e, e.current()?))) else {
            return Ok(());
        };
        let mut writer = self.writer.borrow_mut();
        let site = site_of(&event);
        let described = |pick: fn(&Site) -> &str| site.map(|(_, site)| pick(site));
        match column {
            0 => context.set_result(self.state.id(events)),
            1 => context.set_result(event.wall_ns),
            2 => context.set_result(writer.time(event.wall_ns)),
            3 => context.set_result(event.what.level().name()),
            4 => context.set_result(event.what.level() as i64),
            5 => context.set_result(kind(&event)),
            6 => text(context, described(|site| &site.description.category)),
            7 => text(context, site.and_then(|(_, site)| event_name(site))),
            8 => context.set_result(writer.message(&event)),
            9 => text(context, described(|site| &site.description.template)),
            10 => text(context, described(|site| &site.description.file)),
            11 => integer(context, site.map(|(_, site)| site.description.line.into())),
            12 => text(context, described(Site::function)),
            13 => context.set_result(event.session.name.as_str()),
            14 => context.set_result(event.session.pid),
            15 => context.set_result(event.tid),
            16 => context.set_result(event.thread_name),
            17 => integer(context, site.map(|(number, _)| number as u64)),
            18 => integer(context, self.span.and_then(|id| u64::try_from(id).ok())),
            19 => match event.what {
                What::SpanEnd { duration_ns, .. } => integer(context, duration_ns),
                What::Stall { duration_ns, .. } => integer(context, Some(duration_ns)),
                _ => integer(context, None),
            },
            20 => text(context, writer.event_args(&event.what)),
            21 => text(context, event.context.map(|context| context.json())),
            22 => context.set_result(matches!(event.what, What::Record { truncated: true, .. })),
            23 => context.set_result(event.is_backtrace),
            24 => context.set_result(matches!(event.what, What::Record { site, .. } if site.is_crash())),
            PACKED => packed(context, &event.what),
            CONTEXT_CBOR => match event.context {
                Some(fields) => context.set_result(fields.item()),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn rowid(&self) -> i64 {
        self.events.as_ref().map_or(0, |events| self.state.id(events))
    }
}

impl Drop for RecordRows<'_> {
    fn drop(&mut self) {
        if let Some(events) = &self.events {
            self.state.scanned(events);
        }
    }
}

/// The site that an event belongs to, with its number.
fn site_of<'a>(event: &Event<'a>) -> Option<(usize, &'a Site)> {
    match event.what {
        What::Record { site, site_number, .. }
        | What::SpanEnd { site: Some(site), site_number: Some(site_number), .. } => Some((site_number, site)),
        _ => None,
    }
}

/// The packed arguments, as u64 in little endian. A loss has cause, count and duration; a wait cause and
/// length; a span's end its length.
fn packed(context: &mut Context, what: &What<'_>) -> rusqlite::Result<()> {
    let numbers =
        |numbers: &[u64]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    match what {
        What::Record { args, .. } | What::Unknown { args, .. } => context.set_result(*args),
        What::Loss { cause, count, span_ns } => {
            context.set_result(numbers(&[(*cause).into(), *count, *span_ns]))
        }
        What::Stall { cause, duration_ns } => context.set_result(numbers(&[(*cause).into(), *duration_ns])),
        What::SpanEnd { duration_ns: Some(ns), .. } => context.set_result(numbers(&[*ns])),
        _ => Ok(()),
    }
}

fn kind(event: &Event<'_>) -> &'static str {
    match event.what {
        What::Record { site, .. } => site.kind().name(),
        What::SpanEnd { .. } => "span_end",
        What::Loss { .. } => "loss",
        What::Stall { .. } => "stall",
        _ => "unknown",
    }
}
