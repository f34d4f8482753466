//! The small tables: what the dictionaries of the files tell, as it is when the trace is opened.

use rusqlite::types::Null;
use rusqlite::{Connection, ToSql, params};
use silverpoint_render::json::push_string;
use silverpoint_trace::{Session, Trace, loss_causes};
use silverpoint_wire::block::GapInfo;

use crate::plan::event_name;

/// Their columns.
pub(crate) const TABLES: [(&str, &str); 4] = [
    (
        "sites",
        "site integer primary key, process text, pid integer, level text, severity integer, kind text, category text, name text, \
template text, file text, line integer, function text, signature text, arguments text, fault text, flags integer, language integer, names text, recorded_function text",
    ),
    ("threads", "process text, pid integer, tid integer, thread text"),
    ("processes", "process text, pid integer, executable text, command text, about text"),
    (
        "losses",
        "process text, pid integer, tid integer, thread text, cause text, records integer, bytes integer",
    ),
];

/// Makes and fills them.
pub(crate) fn create(connection: &Connection, trace: &Trace) -> rusqlite::Result<()> {
    for (name, columns) in TABLES {
        connection.execute_batch(&format!("create table {name}({columns})"))?;
    }
    sites(connection, trace)?;
    let mut thread_row = connection.prepare("insert into threads values(?, ?, ?, ?)")?;
    let mut process_row = connection.prepare("insert into processes values(?, ?, ?, ?, ?)")?;
    for session in &trace.sessions {
        let line =
            |key: &str| session.process.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
        let pairs = session.process.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let row = params![session.name, session.pid, line("exe"), line("cmdline"), object(pairs)];
        process_row.execute(row)?;
        for thread in &session.threads {
            thread_row.execute(params![session.name, session.pid, thread.tid, thread.name])?;
        }
        losses(connection, session)?;
    }
    Ok(())
}

fn sites(connection: &Connection, trace: &Trace) -> rusqlite::Result<()> {
    let mut owners: Vec<Option<&Session>> = vec![None; trace.sites.len()];
    for session in &trace.sessions {
        for (_, number) in session.site_numbers() {
            owners[number] = Some(session);
        }
    }
    let mut row = connection
        .prepare("insert into sites values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    for (number, (site, owner)) in trace.sites.iter().zip(owners).enumerate() {
        let description = &site.description;
        let mut names = String::from("[");
        for name in &site.names {
            names.push_str(if names.len() > 1 { "," } else { "" });
            push_string(&mut names, name);
        }
        names.push(']');
        row.execute(params![
            number as i64,
            owner.map(|session| session.name.as_str()),
            owner.map(|session| session.pid),
            site.level().name(),
            site.level() as i64,
            site.kind().name(),
            description.category,
            event_name(site),
            description.template,
            description.file,
            description.line,
            site.function(),
            description.signature,
            names,
            site.fault,
            description.flags,
            description.language,
            description.names,
            description.function,
        ])?;
    }
    Ok(())
}

/// The losses, by thread and cause. Ring bytes that could not be stored have the cause `gap`; records that
/// were kept back and dropped on purpose have `forgotten`.
fn losses(connection: &Connection, session: &Session) -> rusqlite::Result<()> {
    let mut row = connection.prepare("insert into losses values(?, ?, ?, ?, ?, ?, ?)")?;
    let mut add = |thread: Option<(u32, &str)>, cause: &str, records: &dyn ToSql, bytes: &dyn ToSql| {
        let (tid, name) = thread.unzip();
        row.execute(params![session.name, session.pid, tid, name, cause, records, bytes]).map(drop)
    };
    let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    for (cause, records) in loss_causes(&session.loss.losses) {
        add(None, cause, &number(records), &Null)?;
    }
    for stream in &session.streams {
        let thread = session.threads.get(stream.thread).map(|thread| (thread.tid, thread.name.as_str()));
        for (cause, records) in loss_causes(&stream.loss.losses) {
            add(thread, cause, &number(records), &Null)?;
        }
        let (forgotten, gaps): (Vec<_>, Vec<_>) = stream.gaps.iter().partition(|gap| gap.forgotten.is_some());
        let bytes = |gaps: &[&GapInfo]| gaps.iter().fold(0u64, |sum, gap| sum.saturating_add(gap.bytes()));
        if bytes(&gaps) > 0 {
            add(thread, "gap", &Null, &number(bytes(&gaps)))?;
        }
        if !forgotten.is_empty() {
            let records = forgotten.iter().filter_map(|gap| gap.forgotten);
            let records = records.fold(0u64, |sum, forgotten| sum.saturating_add(forgotten.records));
            add(thread, "forgotten", &number(records), &number(bytes(&forgotten)))?;
        }
    }
    Ok(())
}

/// Pairs as a JSON object.
fn object<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = String::from("{");
    for (name, value) in pairs {
        out.push_str(if out.len() > 1 { "," } else { "" });
        push_string(&mut out, name);
        out.push(':');
        push_string(&mut out, value);
    }
    out.push('}');
    out
}
