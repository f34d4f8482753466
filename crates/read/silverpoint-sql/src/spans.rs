//! The table `spans`: spans and async spans with their durations, in the order of their ends; those without an end come last.
//!
//! Parents are those of one tree. A part of an async span in a thread lies in that span. An async span lies
//! in the span that its link names, or else in the one that was open where it began.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::CStr;
use std::sync::Arc;

use rusqlite::types::Null;
use rusqlite::vtab::Context;
use silverpoint_query::spans::{AsyncSpans, OpenSpans, RecentBegins, async_id};
use silverpoint_query::tree::{Part, part};
use silverpoint_render::{ShowContext, json};
use silverpoint_trace::{Event, Events, Picked, Site, Trace, What};
use silverpoint_wire::level::Kind as SiteKind;

use crate::module::{Kind, Rows};
use crate::open_spans::admit;
use crate::plan::{Column, Plan};
use crate::row::{Writer, integer, text};
use crate::state::State;

/// See the module.
pub(crate) struct Spans;

/// Places of columns whose values are only made where a query asks for them.
const ARGS: usize = 20;
const CONTEXT: usize = 21;

impl Kind for Spans {
    const SCHEMA: &'static CStr = c"create table spans(id integer, begin_ns integer, end_ns integer, begin text, end text, duration_ns integer, name text, kind text, level text, severity integer, category text, file text, line integer, function text, process text, pid integer, tid integer, thread text, site integer, parent integer, args text, context text)";
    const COLUMNS: &'static [Column] = &[
        Column::Other,
        Column::BeginNs,
        Column::EndNs,
        Column::Begin,
        Column::End,
        Column::Other,
        Column::Name,
        Column::Other,
        Column::Level,
        Column::Severity,
        Column::Category,
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
    ];
    type Rows<'t> = SpanRows<'t>;
}

/// The rows of one scan.
pub(crate) struct SpanRows<'t> {
    trace: &'t Trace,
    state: Arc<State>,
    /// `None`: nothing can match, or the end has been reached and reported.
    events: Option<Events<'t>>,
    spans: OpenSpans<usize, Span>,
    asyncs: AsyncSpans<AsyncKey<'t>, Span>,
    /// Those of an id, by session, where parents are wanted.
    by_id: HashMap<(usize, u64), Vec<AsyncKey<'t>>>,
    /// Of spans of threads: where they lie, or themselves.
    recent: RecentBegins<Begin<'t>, i64>,
    /// Those without an end, once the events are at theirs; the last comes first.
    left: Vec<Span>,
    row: Option<Span>,
    wants: Wants,
    writer: RefCell<Writer>,
}

/// What joins the begin and the end of an async span: session, category, name, id.
type AsyncKey<'t> = (usize, &'t str, &'t str, u64);

/// The begin of a span of a thread: session, category, name, ticks.
type Begin<'t> = (usize, &'t str, &'t str, u64);

/// Which values are made at all.
struct Wants {
    parent: bool,
    args: bool,
    context: bool,
}

/// One span.
struct Span {
    id: i64,
    session: usize,
    site: usize,
    tid: u32,
    thread: String,
    begin_ns: i64,
    begin_ticks: u64,
    end_ns: Option<i64>,
    duration_ns: Option<u64>,
    parent: Option<i64>,
    args: Option<String>,
    /// Of an async span that a span of a thread was first: the ticks at which that began.
    first_ticks: Option<u64>,
    context: Option<String>,
}

impl Span {
    /// It got fields after it had begun; of equal names the last counts.
    fn add_fields(&mut self, fields: &str) {
        if let Some(args) = &mut self.args
            && let Some(joined) = json::join_objects(args, fields)
        {
            *args = joined;
        }
    }
}

impl<'t> Rows<'t> for SpanRows<'t> {
    fn begin(trace: &'t Trace, state: &Arc<State>, plan: &Plan) -> Self {
        let picked = widened(trace, plan);
        Self {
            trace,
            state: Arc::clone(state),
            events: (!plan.is_empty).then(|| trace.select(&picked)),
            spans: OpenSpans::default(),
            asyncs: AsyncSpans::default(),
            by_id: HashMap::new(),
            recent: RecentBegins::default(),
            left: Vec::new(),
            row: None,
            wants: Wants { parent: plan.is_nesting_used, args: plan.uses(ARGS), context: plan.uses(CONTEXT) },
            writer: RefCell::new(Writer::new()),
        }
    }

    fn advance(&mut self) -> rusqlite::Result<bool> {
        while let Some(events) = &mut self.events {
            let Some(event) = events.next() else {
                self.finish();
                break;
            };
            let thread = (event.session_number, event.stream.thread);
            match event.what {
                What::Record { site, site_number, args, .. } if site.kind() == SiteKind::Span => {
                    let mut span = begun(&event, site_number, &self.wants, self.writer.get_mut());
                    let (ticks, session, said) = (event.ticks, event.session_number, part(site, args));
                    span.id = self.state.id(events);
                    if self.wants.parent {
                        let names = names(&self.trace.sites[site_number]);
                        let of = match said {
                            Some(Part::Stretch(id)) => self.asyncs.last(&(session, names.0, names.1, id)),
                            _ => None,
                        };
                        let around = self.spans.innermost(thread);
                        span.parent = of.or(around).map(|span| span.id);
                        let begin = (session, names.0, names.1, ticks);
                        self.recent.begin(begin, span.parent.unwrap_or(span.id));
                    }
                    admit(self.spans.count())?;
                    self.spans.begin(thread, site_number, ticks, span);
                }
                What::Record { site, args, .. } if site.kind() == SiteKind::Link => {
                    if let Some(Part::Parent { from, to }) = part(site, args).filter(|_| self.wants.parent) {
                        link(&self.by_id, &mut self.asyncs, event.session_number, from, to);
                    }
                }
                What::SpanEnd { site_number: Some(site), begin_ticks, duration_ns, .. } => {
                    let known = self.spans.end(thread, site, begin_ticks);
                    let is_known = known.is_some();
                    let mut span = known.unwrap_or_else(|| Span {
                        begin_ns: event.session.clock.wall_ns(begin_ticks),
                        begin_ticks,
                        args: None,
                        ..begun(
                            &event,
                            site,
                            &Wants { parent: false, args: false, context: false },
                            self.writer.get_mut(),
                        )
                    });
                    (span.end_ns, span.duration_ns) = (Some(event.wall_ns), duration_ns);
                    if !is_known {
                        // Its begin was lost: the end is what there is of it.
                        span.id = self.state.id(events);
                    }
                    self.row = Some(span);
                    return Ok(true);
                }
                What::Record { site, site_number, args, .. } => {
                    let Some(key) = async_key(&self.trace.sites[site_number], event.session_number, args)
                    else {
                        continue;
                    };
                    if site.kind() == SiteKind::AsyncInstant {
                        let is_fields = matches!(part(site, args), Some(Part::Fields(_)));
                        if is_fields
                            && self.wants.args
                            && let Some(span) = self.asyncs.last_mut(&key)
                        {
                            let fields = self.writer.get_mut().later_args(site, args);
                            span.add_fields(fields);
                            let first = span.first_ticks;
                            let first = first.and_then(|ticks| self.spans.begun_at(key.0, ticks));
                            first.into_iter().for_each(|first| first.add_fields(fields));
                        }
                        continue;
                    }
                    if site.kind() == SiteKind::AsyncBegin {
                        admit(self.asyncs.count())?;
                        let mut span = begun(&event, site_number, &self.wants, self.writer.get_mut());
                        let said = part(site, args);
                        span.id = self.state.id(events);
                        span.first_ticks = match said {
                            Some(Part::Late(ticks)) => Some(ticks),
                            _ => None,
                        };
                        if self.wants.parent {
                            let first = match said {
                                Some(Part::Late(ticks)) => self.recent.get(&(key.0, key.1, key.2, ticks)),
                                _ => None,
                            };
                            let around = || self.spans.innermost(thread).map(|span| span.id);
                            span.parent = first.copied().or_else(around);
                            self.by_id.entry((key.0, key.3)).or_default().push(key);
                        }
                        self.asyncs.begin(key, span);
                        continue;
                    }
                    let Some(mut span) = self.asyncs.end(&key) else { continue };
                    if let Some(keys) = self.by_id.get_mut(&(key.0, key.3)) {
                        if let Some(at) = keys.iter().rposition(|known| *known == key) {
                            keys.remove(at);
                        }
                        if keys.is_empty() {
                            self.by_id.remove(&(key.0, key.3));
                        }
                    }
                    let duration = i128::from(event.session.clock.duration_ns(span.begin_ticks, event.ticks));
                    span.duration_ns = u64::try_from(duration).ok();
                    span.end_ns = Some(event.wall_ns);
                    self.row = Some(span);
                    return Ok(true);
                }
                _ => {}
            }
        }
        self.row = self.left.pop();
        Ok(self.row.is_some())
    }

    fn column(&self, context: &mut Context, column: usize) -> rusqlite::Result<()> {
        let Some(span) = &self.row else { return Ok(()) };
        let mut writer = self.writer.borrow_mut();
        let (site, session) = (&self.trace.sites[span.site], &self.trace.sessions[span.session]);
        match column {
            0 => context.set_result(span.id),
            1 => context.set_result(span.begin_ns),
            2 => context.set_result(span.end_ns),
            3 => context.set_result(writer.time(span.begin_ns)),
            4 => match span.end_ns {
                Some(end_ns) => context.set_result(writer.time(end_ns)),
                None => context.set_result(Null),
            },
            5 => integer(context, span.duration_ns),
            6 => context.set_result(site.description.template.as_str()),
            7 => context.set_result(if site.kind() == SiteKind::Span { "span" } else { "async" }),
            8 => context.set_result(site.level().name()),
            9 => context.set_result(site.level() as i64),
            10 => context.set_result(site.description.category.as_str()),
            11 => context.set_result(site.description.file.as_str()),
            12 => context.set_result(site.description.line),
            13 => context.set_result(site.function()),
            14 => context.set_result(session.name.as_str()),
            15 => context.set_result(session.pid),
            16 => context.set_result(span.tid),
            17 => context.set_result(span.thread.as_str()),
            18 => integer(context, Some(span.site as u64)),
            19 => context.set_result(span.parent),
            ARGS => text(context, span.args.as_deref()),
            CONTEXT => text(context, span.context.as_deref()),
            _ => Ok(()),
        }
    }

    fn rowid(&self) -> i64 {
        self.row.as_ref().map_or(0, |span| span.id)
    }
}

impl SpanRows<'_> {
    /// The events are at their end.
    fn finish(&mut self) {
        self.left = self.spans.take().chain(self.asyncs.take()).collect();
        self.left.sort_unstable_by_key(|span| std::cmp::Reverse((span.begin_ns, span.id)));
        if let Some(events) = self.events.take() {
            self.state.scanned(&events);
        }
    }
}

impl Drop for SpanRows<'_> {
    fn drop(&mut self) {
        if let Some(events) = &self.events {
            self.state.scanned(events);
        }
    }
}

/// An async span lies in another that is open; in nothing: 0.
fn link<'t>(
    by_id: &HashMap<(usize, u64), Vec<AsyncKey<'t>>>,
    asyncs: &mut AsyncSpans<AsyncKey<'t>, Span>,
    session: usize,
    from: u64,
    to: u64,
) {
    let key = |id| by_id.get(&(session, id))?.last();
    let outer = key(from).and_then(|key| Some(asyncs.last(key)?.id));
    let inner = key(to).and_then(|key| asyncs.last_mut(key));
    if let Some(span) = inner.filter(|_| outer.is_some() || from == 0) {
        span.parent = outer;
    }
}

/// A span that begins with an event; its id and parent are still to be set.
fn begun(event: &Event<'_>, site: usize, wants: &Wants, writer: &mut Writer) -> Span {
    let args = if wants.args { writer.event_args(&event.what).map(str::to_owned) } else { None };
    Span {
        id: 0,
        session: event.session_number,
        site,
        tid: event.tid,
        thread: event.thread_name.to_owned(),
        begin_ns: event.wall_ns,
        begin_ticks: event.ticks,
        end_ns: None,
        duration_ns: None,
        parent: None,
        args,
        first_ticks: None,
        context: event.context.filter(|_| wants.context).map(|context| context.json().to_owned()),
    }
}

/// Whether a record is one of those of an async span.
fn is_async(kind: SiteKind) -> bool {
    matches!(kind, SiteKind::AsyncBegin | SiteKind::AsyncInstant | SiteKind::AsyncEnd)
}

/// What joins the records of an async span; `None` for other records.
fn async_key<'t>(site: &'t Site, session: usize, args: &[u8]) -> Option<AsyncKey<'t>> {
    let id = async_id(site, args)?;
    let (category, name) = names(site);
    Some((session, category, name, id))
}

/// Category and name.
fn names(site: &Site) -> (&str, &str) {
    (site.description.category.as_str(), site.description.template.as_str())
}

/// What must be read for the spans that a plan wants: their ends too, and everything else that decides about
/// them.
fn widened(trace: &Trace, plan: &Plan) -> Picked {
    let mut picked = plan.picked.clone();
    picked.others = false;
    let name = |site: &'_ Site| (site.description.category.clone(), site.description.template.clone());
    // An async span may end at another site and in another thread, and ends belong to the last begin of any site.
    let wanted = picked.sites.iter().zip(&trace.sites);
    let wanted = wanted.filter(|(wanted, site)| **wanted && site.kind() == SiteKind::AsyncBegin);
    let asyncs: HashSet<_> = wanted.map(|(_, site)| name(site)).collect();
    for (wanted, site) in picked.sites.iter_mut().zip(&trace.sites) {
        *wanted = match site.kind() {
            SiteKind::Span => *wanted || plan.is_nesting_used,
            // A parent may be any of them.
            SiteKind::Link => plan.is_nesting_used,
            _ => is_async(site.kind()) && (plan.is_nesting_used || asyncs.contains(&name(site))),
        };
    }
    if !asyncs.is_empty() || plan.is_nesting_used {
        picked.tids = None;
    }
    if plan.is_nesting_used || !trace.sessions.iter().all(|session| session.runs_forward()) {
        picked.from_ns = i64::MIN;
    }
    if !trace.sessions.iter().all(|session| session.runs_forward()) {
        picked.until_ns = i64::MAX;
    }
    picked
}
