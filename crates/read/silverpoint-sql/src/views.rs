//! One view for each event name, with a column for each argument; and `counters`.
//!
//! A view is a query over `records`, or over `spans` for spans, so that it is the same in a database that was saved. Arguments come out of their
//! JSON with the types that they have there: integers, reals, texts; sequences and records as JSON.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;
use silverpoint_trace::Trace;
use silverpoint_wire::level::Kind;

use crate::names::{Names, literal, quoted};
use crate::plan::event_name;

/// Functions that give tables: a view of such a name would stand before the function, in all other views too.
const FUNCTIONS: [&str; 8] = [
    "json_each",
    "json_tree",
    "jsonb_each",
    "jsonb_tree",
    "generate_series",
    "dbstat",
    "bytecode",
    "tables_used",
];

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
    /// Names of arguments in the order in which sites have them, as members of `args` have them.
    arguments: Vec<Argument<'t>>,
    known: BTreeSet<Argument<'t>>,
}

/// Where an argument stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Argument<'t> {
    Named(&'t str),
    Place(usize),
}

/// A view: its name and the statement that makes it, without `create view NAME as`.
pub(crate) struct View {
    pub(crate) name: String,
    pub(crate) query: String,
}

/// The views of a trace, those of events in the order of their names; and how many there would be more. `is_saved`: others will read them, by a SQLite
/// that may be older.
pub(crate) fn of(trace: &Trace, is_saved: bool) -> (Vec<View>, usize) {
    let mut events: BTreeMap<&str, Event<'_>> = BTreeMap::new();
    for site in &trace.sites {
        let Some(name) = event_name(site) else { continue };
        let event = events.entry(name).or_default();
        event.is_span |= matches!(site.kind(), Kind::Span | Kind::AsyncBegin);
        for place in 0..site.types.len() {
            let argument = match site.keys().get(place) {
                Some(name) => Argument::Named(name),
                None => Argument::Place(place),
            };
            if event.arguments.len() < MOST_COLUMNS && event.known.insert(argument) {
                event.arguments.push(argument);
            }
        }
    }
    let mut names = Names::without(TABLES.into_iter().chain(FUNCTIONS));
    let left_out = events.len().saturating_sub(MOST);
    let mut views = vec![counters()];
    for (name, event) in events.into_iter().take(MOST) {
        views.push(View { name: names.make(name, "event"), query: query(name, &event, is_saved) });
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

fn query(name: &str, event: &Event<'_>, is_saved: bool) -> String {
    let columns = if event.is_span { SPAN } else { EVENT };
    let mut names = Names::without(columns.iter().chain(LAST).copied());
    // Arguments are often called `id`: the number of the row has another name here.
    let mut query = format!("select id as {}", columns.join(", "));
    for argument in &event.arguments {
        let (value, wanted) = match argument {
            Argument::Named(name) => (named(name), (*name).to_owned()),
            Argument::Place(place) => (extracted(&format!("$[{place}]")), format!("arg{place}")),
        };
        // SQLite before 3.45 cuts texts of JSON at a zero character.
        let value = match argument {
            _ if !is_saved => value,
            Argument::Named(name) if !is_plain(name) => {
                let (key, text) = (literal(&name.replace('\0', ZERO)), with_zeros("value"));
                format!(
                    "(select case type when 'text' then {text} else {value} end from json_each({WITHOUT_ZEROS}) where key = {key} limit 1)"
                )
            }
            Argument::Named(name) => exact(&value, &format!("$.{name}")),
            Argument::Place(place) => exact(&value, &format!("$[{place}]")),
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

/// A character that no text has: it stands for a zero character while a text is taken out of its JSON. U+FDD1 stands for a backslash.
const ZERO: &str = "\u{FDD0}";

/// The arguments so. Backslashes first: in `\\\\u0000` there is no zero character.
const WITHOUT_ZEROS: &str = "replace(replace(args, '\\\\', char(64977)), '\\u0000', char(64976))";

/// A text of such JSON as it is.
fn with_zeros(value: &str) -> String {
    format!("replace(replace({value}, char(64976), char(0)), char(64977), '\\')")
}

/// The value at a path, a text whole.
fn exact(value: &str, path: &str) -> String {
    let text = with_zeros(&format!("json_extract({WITHOUT_ZEROS}, '{path}')"));
    format!(
        "case when instr(args, '\\u0000') and json_type(args, '{path}') = 'text' then {text} else {value} end"
    )
}

/// Whether a name may stand in a path of JSON, which has no escapes.
fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The value at a path.
fn extracted(path: &str) -> String {
    format!("json_extract(args, '{path}')")
}

/// An argument by its name.
fn named(name: &str) -> String {
    match is_plain(name) {
        true => extracted(&format!("$.{name}")),
        false => format!("(select value from json_each(args) where key = {} limit 1)", literal(name)),
    }
}

fn counters() -> View {
    let query = "select id as record, time_ns, time, category, name, process, pid, tid, thread, \
(select value from json_each(args) limit 1) as value, context from records where kind = 'counter'";
    View { name: "counters".to_owned(), query: query.to_owned() }
}
