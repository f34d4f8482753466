//! One view for each event name, with a column for each argument; and `counters`.
//!
//! A view is a query over `records`, or over `spans` for spans, so that it is the same in a database that was saved. Arguments come out of their
//! JSON with the types that they have there: integers, reals, texts; sequences and records as JSON.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;
use silverpoint_formats::tracefile::Trace;
use silverpoint_wire::level::Kind;

use crate::names::{Names, literal, quoted};
use crate::plan::event_name;

/// Names of all other tables and views.
pub(crate) const TABLES: [&str; 7] =
    ["records", "spans", "sites", "threads", "processes", "losses", "counters"];

/// Most views; the events that have none are in `records`.
pub(crate) const MOST: usize = 4096;

/// Most columns of arguments in a view; SQLite has a limit, and what is left out is in `args`.
const MOST_COLUMNS: usize = 400;

/// Columns of the views of events.
const EVENT: &[&str] = &["record", "time_ns", "time", "level", "category", "process", "pid", "tid", "thread"];

/// Columns of the views of spans.
const SPAN: &[&str] = &[
    "span",
    "begin_ns",
    "end_ns",
    "begin",
    "end",
    "duration_ns",
    "level",
    "category",
    "process",
    "pid",
    "tid",
    "thread",
];

/// Columns behind those of the arguments.
const LAST: &[&str] = &["args", "context"];

/// What the sites of one name have.
#[derive(Default)]
struct Event<'t> {
    is_span: bool,
    /// Names of arguments in the order in which sites have them; for one that a site has twice, which of them.
    arguments: Vec<Argument<'t>>,
    known: BTreeSet<Argument<'t>>,
}

/// Where an argument stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Argument<'t> {
    Named(&'t str, usize),
    Place(usize),
}

/// A view: its name and the statement that makes it, without `create view NAME as`.
pub(crate) struct View {
    pub(crate) name: String,
    pub(crate) query: String,
}

/// The views of a trace, those of events in the order of their names; and how many there would be more.
pub(crate) fn of(trace: &Trace) -> (Vec<View>, usize) {
    let mut events: BTreeMap<&str, Event<'_>> = BTreeMap::new();
    for site in &trace.sites {
        let Some(name) = event_name(site) else { continue };
        let event = events.entry(name).or_default();
        event.is_span |= matches!(site.kind(), Kind::Span | Kind::AsyncBegin);
        for place in 0..site.types.len() {
            let argument = match site.names.get(place) {
                Some(name) => {
                    let before = site.names[..place].iter().take(MOST_COLUMNS).filter(|n| *n == name).count();
                    Argument::Named(name, before)
                }
                None => Argument::Place(place),
            };
            if event.arguments.len() < MOST_COLUMNS && event.known.insert(argument) {
                event.arguments.push(argument);
            }
        }
    }
    let mut names = Names::without(TABLES);
    let left_out = events.len().saturating_sub(MOST);
    let mut views = vec![counters()];
    for (name, event) in events.into_iter().take(MOST) {
        views.push(View { name: names.make(name, "event"), query: query(name, &event) });
    }
    (views, left_out)
}

/// Makes them in a database.
pub(crate) fn create(connection: &Connection, schema: &str, views: &[View]) -> rusqlite::Result<()> {
    for view in views {
        let (name, query) = (quoted(&view.name), &view.query);
        connection.execute_batch(&format!("create view {schema}.{name} as {query}"))?;
    }
    Ok(())
}

fn query(name: &str, event: &Event<'_>) -> String {
    let columns = if event.is_span { SPAN } else { EVENT };
    let mut names = Names::without(columns.iter().chain(LAST).copied());
    // Arguments are often called `id`: the number of the row has another name here.
    let mut query = format!("select id as {}", columns.join(", "));
    for argument in &event.arguments {
        let (value, wanted) = match argument {
            Argument::Named(name, before) => (named(name, *before), (*name).to_owned()),
            Argument::Place(place) => (format!("json_extract(args, '$[{place}]')"), format!("arg{place}")),
        };
        query.push_str(&format!(", {value} as {}", quoted(&names.make(&wanted, "arg"))));
    }
    query.push_str(&format!(", {} from ", LAST.join(", ")));
    match event.is_span {
        true => query.push_str(&format!("spans where name = {}", literal(name))),
        false => query.push_str(&format!("records where name = {} and kind <> 'span_end'", literal(name))),
    }
    query
}

/// An argument by its name.
fn named(name: &str, before: usize) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if before == 0
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(is_plain)
    {
        return format!("json_extract(args, '$.{name}')");
    }
    // A path in JSON has no escapes: keys are compared instead.
    format!("(select value from json_each(args) where key = {} limit 1 offset {before})", literal(name))
}

fn counters() -> View {
    let query = "select id as record, time_ns, time, category, name, process, pid, tid, thread, \
(select value from json_each(args) limit 1) as value, context from records where kind = 'counter'";
    View { name: "counters".to_owned(), query: query.to_owned() }
}
