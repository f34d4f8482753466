//! A trace as a database in a file: the same tables and views, for any program that knows SQLite.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use rusqlite::config::DbConfig;

use silverpoint_trace::files::identity_at;
use silverpoint_trace::{Note, Trace, Verdict, newfile::Part};

use crate::database::Database;
use crate::error::Error;
use crate::module::Kind;
use crate::records::Records;
use crate::spans::Spans;
use crate::{small, views};

/// What was written.
#[derive(Debug)]
pub struct Saved {
    /// Rows of `records`.
    pub records: u64,
    /// Rows of `spans`.
    pub spans: u64,
    /// What is missing in the trace.
    pub notes: Vec<Note>,
    /// The verdict about the trace.
    pub verdict: Verdict,
}

/// Writes a trace as a SQLite database with the tables and views of `docs/sql.md`. It is written in one
/// transaction and under a temporary name beside `path`, and gets its own name when it is complete and
/// durable. Replaces an existing file if `force` is given. `begun` is given what ends it from another thread.
///
/// # Errors
/// The file cannot be written, or is there already; nothing is left then.
pub fn write_database(
    trace: Trace,
    path: &Path,
    force: bool,
    begun: impl FnOnce(rusqlite::InterruptHandle),
) -> Result<Saved, Error> {
    let failed = |error: io::Error| Error::File(format!("{}: {error}", path.display()));
    let exists = || Error::File(format!("{}: it already exists; --force replaces it", path.display()));
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => {
            return Err(Error::File(format!(
                "{}: it exists and is not a regular file; choose another name",
                path.display()
            )));
        }
        Ok(found) => {
            if trace.files.iter().any(|file| is_same(path, &found, &file.path)) {
                return Err(Error::File(format!(
                    "{}: the output would overwrite an input; choose another name",
                    path.display()
                )));
            }
            if !force {
                return Err(exists());
            }
        }
        Err(_) => {}
    }
    // Made absolute: SQLite would take a name that begins with `file:` for a URI.
    let absolute = std::path::absolute(path).map_err(failed)?;
    let (part, _) = Part::create(&absolute).map_err(failed)?;
    let database = Database::unlocked(trace)?;
    begun(database.interrupt_handle());
    // What SQLite says names no file.
    let saved = fill(&database, part.temporary()).map_err(|error| match error {
        Error::File(text) | Error::Failed(text) => Error::File(format!("{}: {text}", path.display())),
        other => other,
    })?;
    File::options().write(true).open(part.temporary()).and_then(|file| file.sync_all()).map_err(failed)?;
    part.publish(force).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => exists(),
        _ => failed(error),
    })?;
    Ok(saved)
}

fn fill(database: &Database, path: &Path) -> Result<Saved, Error> {
    let Some(text) = path.to_str() else {
        return Err(Error::File("SQLite needs a name in UTF-8".to_owned()));
    };
    let connection = database.connection();
    // It is invisible before it has its name: a death leaves nothing that is read.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
    connection.execute("attach ? as saved", [text])?;
    connection.execute_batch("pragma saved.journal_mode = off; pragma saved.synchronous = off; begin")?;
    connection.execute_batch(&format!(
        "create table saved.records({}); create table saved.spans({})",
        columns::<Records>(),
        columns::<Spans>()
    ))?;
    // In a damaged file two records may seem to stand in one place: the first is kept.
    let records = connection.execute(&copy::<Records>("records"), [])?;
    let spans = connection.execute(&copy::<Spans>("spans"), [])?;
    for (name, columns) in small::TABLES {
        connection.execute_batch(&format!(
            "create table saved.{name}({columns}); insert into saved.{name} select * from main.{name}"
        ))?;
    }
    connection.execute_batch(
        "create index saved.records_time on records(time_ns); create index saved.records_name on records(name, time_ns); \
create index saved.spans_name on spans(name, begin_ns)",
    )?;
    views::create(connection, "saved", &views::of(database.trace(), true).0)?;
    connection.execute_batch("commit; detach saved")?;
    Ok(Saved {
        records: records as u64,
        spans: spans as u64,
        notes: database.notes(),
        verdict: database.verdict(),
    })
}

/// The columns of a table; its ids are its row ids, and nothing is hidden.
fn columns<K: Kind>() -> String {
    declared::<K>().replacen("id integer", "id integer primary key", 1).replace(" hidden", "")
}

fn declared<K: Kind>() -> &'static str {
    let schema = K::SCHEMA.to_str().unwrap_or_default();
    schema.split_once('(').map_or("", |(_, columns)| columns).trim_end_matches(')')
}

/// Copies all columns of a table.
fn copy<K: Kind>(table: &str) -> String {
    let names: Vec<&str> =
        declared::<K>().split(", ").filter_map(|column| column.split(' ').next()).collect();
    format!("insert or ignore into saved.{table} select {} from main.{table}", names.join(", "))
}

/// Whether a path leads to the output.
fn is_same(output: &Path, found: &fs::Metadata, path: &Path) -> bool {
    let Ok(other) = fs::metadata(path).and_then(|found| identity_at(path, &found)) else { return false };
    identity_at(output, found).is_ok_and(|own| own == other)
}
