//! Queries: one at a time, in a thread of their own, with limits on rows, bytes and memory.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::{Value, json};
use silverpoint_sql::{Database, InterruptHandle, Limits, Rows, ValueRef};
use silverpoint_trace::{Trace, with_parts};

use crate::params::Wrong;
use crate::source::Source;

/// Longest query.
pub const QUERY_MAX: usize = 65_536;
/// Rows that are kept, and bytes of their values.
const ROWS_MAX: usize = 10_000;
const BYTES_MAX: usize = 8 << 20;
/// Rows of an answer.
const ANSWER_ROWS: usize = 1000;
/// Bytes of a value.
const VALUE_MAX: usize = 4096;
/// Memory of SQLite.
const MEMORY: u64 = 64 << 20;

/// The job of opening the tables: their names are wanted.
const NAMES: u64 = 0;

/// What a query has brought so far.
#[derive(Default)]
struct Found {
    job: u64,
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
    bytes: usize,
    is_cut: bool,
    error: Option<String>,
    begun: Option<Instant>,
    /// Milliseconds; `None` while it runs.
    ended: Option<u64>,
    tables: Vec<(String, Vec<String>)>,
    /// Their names have been asked for.
    is_asked: bool,
    /// Why they could not be opened, until an answer has said so.
    problem: Option<String>,
}

#[derive(Default)]
struct Shared {
    /// The last query.
    latest: AtomicU64,
    /// The same, unless it was cancelled: another one ends.
    wanted: AtomicU64,
    found: Mutex<Found>,
    handle: Mutex<Option<InterruptHandle>>,
}

/// See the module.
pub struct Sql {
    shared: Arc<Shared>,
    jobs: Option<Sender<(u64, String)>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sql {
    /// Of files; processes without a file have no tables.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(source: &Source) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let Source::Files { paths, options } = source else { return Ok(Self { shared, jobs: None }) };
        let (jobs, receiver) = channel();
        let files = Files { paths: paths.clone(), only: options.only, grow: options.follow };
        let own = Arc::clone(&shared);
        std::thread::Builder::new().name("view-sql".into()).spawn(move || run(&files, &own, &receiver))?;
        Ok(Self { shared, jobs: Some(jobs) })
    }

    /// Begins a query, and ends the one before.
    ///
    /// # Errors
    /// There are no tables.
    pub fn begin(&self, query: String) -> Result<Value, Wrong> {
        let none = || {
            Wrong::usage(
                "SQL reads trace files, not running programs: record one (silverpoint attach -o FILE), and open it",
            )
        };
        let jobs = self.jobs.as_ref().ok_or_else(none)?;
        let job = self.shared.latest.fetch_add(1, Ordering::SeqCst) + 1;
        self.shared.wanted.store(job, Ordering::SeqCst);
        self.interrupt();
        jobs.send((job, query)).map_err(|_| Wrong::failed("the thread for queries has ended"))?;
        Ok(json!({"job": job}))
    }

    /// Ends the query.
    pub fn cancel(&self) -> Value {
        self.shared.wanted.store(0, Ordering::SeqCst);
        self.interrupt();
        json!({})
    }

    /// Rows from a number on.
    ///
    /// # Errors
    /// It is not the last query.
    pub fn rows(&self, job: u64, from: usize) -> Result<Value, Wrong> {
        let latest = self.shared.latest.load(Ordering::SeqCst);
        if job == 0 || job != latest {
            return Err(Wrong::gone(format!("query {job} is not the last one, which is {latest}")));
        }
        let found = lock(&self.shared.found);
        if found.job < job {
            // An earlier one has not ended yet. Between two of its steps an interrupt has no effect: ask again.
            drop(found);
            self.interrupt();
            return Ok(answer(&Found { job, ..Found::default() }, from));
        }
        if self.shared.wanted.load(Ordering::SeqCst) != job && found.ended.is_none() {
            self.interrupt();
        }
        Ok(answer(&found, from))
    }

    /// Names of tables and their columns.
    ///
    /// # Errors
    /// They are not open yet, or cannot be opened. In both cases the next call tries again.
    pub fn tables(&self) -> Result<Value, Wrong> {
        let mut found = lock(&self.shared.found);
        if let Some(jobs) = self.jobs.as_ref().filter(|_| found.tables.is_empty()) {
            if let Some(problem) = found.problem.take() {
                found.is_asked = false;
                return Err(Wrong::failed(problem));
            }
            if !std::mem::replace(&mut found.is_asked, true) {
                jobs.send((NAMES, String::new()))
                    .map_err(|_| Wrong::failed("the thread for queries has ended"))?;
            }
            let text = "the tables are not known yet: ask again".to_owned();
            return Err(Wrong { status: 429, code: "busy", text });
        }
        let tables = found.tables.iter().map(|(name, columns)| json!({"name": name, "columns": columns}));
        Ok(json!({"tables": tables.collect::<Value>()}))
    }

    fn interrupt(&self) {
        if let Some(handle) = &*lock(&self.shared.handle) {
            handle.interrupt();
        }
    }
}

impl Drop for Sql {
    fn drop(&mut self) {
        self.cancel();
    }
}

fn answer(found: &Found, from: usize) -> Value {
    let state = match (&found.error, found.ended) {
        (Some(_), _) => "failed",
        (None, Some(_)) => "done",
        (None, None) => "running",
    };
    let rows: Vec<&Vec<Value>> = found.rows.iter().skip(from).take(ANSWER_ROWS).collect();
    let running = found.begun.map_or(0, |begun| begun.elapsed().as_millis() as u64);
    json!({
        "job": found.job, "state": state, "columns": found.columns, "from": from, "rows": rows,
        "total": found.rows.len(), "cut": found.is_cut,
        "milliseconds": found.ended.unwrap_or(running), "error": found.error,
    })
}

struct Files {
    paths: Vec<PathBuf>,
    only: bool,
    /// They may grow: each query opens them again.
    grow: bool,
}

impl Files {
    fn open(&self) -> Result<Database, String> {
        let paths = if self.only { self.paths.clone() } else { with_parts(&self.paths) };
        let trace = Trace::open(&paths).map_err(|error| error.to_string())?;
        Database::new(trace, Limits { memory: Some(MEMORY) }).map_err(|error| error.to_string())
    }
}

/// Opens the tables when they are asked for, since their index takes as much memory as that of the records.
/// Then runs one query after the other.
fn run(files: &Files, shared: &Shared, jobs: &Receiver<(u64, String)>) {
    let mut database = None;
    while let Ok((job, query)) = jobs.recv() {
        if job == NAMES {
            if lock(&shared.found).tables.is_empty() {
                database = open(files, shared).ok();
            }
            continue;
        }
        let begun = Instant::now();
        {
            let mut found = lock(&shared.found);
            let Found { tables, is_asked, problem, .. } = std::mem::take(&mut *found);
            *found = Found { job, begun: Some(begun), tables, is_asked, problem, ..Found::default() };
        }
        let known = database.take().filter(|_| !files.grow);
        let opened = known.map_or_else(|| open(files, shared), Ok);
        let mut rows = Collected { shared, job };
        let is_wanted = || shared.wanted.load(Ordering::SeqCst) == job;
        let ended = match &opened {
            _ if !is_wanted() => Err(String::new()),
            Ok(database) => database.run(&query, &mut rows).map_err(|error| error.to_string()),
            Err(error) => Err(error.clone()),
        };
        database = opened.ok();
        let mut found = lock(&shared.found);
        found.ended = Some(begun.elapsed().as_millis() as u64);
        if let Err(error) = ended
            && !found.is_cut
        {
            found.error = Some(if is_wanted() { error } else { "the query was ended".to_owned() });
        }
    }
}

fn open(files: &Files, shared: &Shared) -> Result<Database, String> {
    // Before the handle: a query that is asked for meanwhile would interrupt this, and the names stay unknown.
    let opened = files.open().and_then(|database| match database.tables() {
        Ok(tables) => Ok((database, tables)),
        Err(error) => Err(error.to_string()),
    });
    let mut found = lock(&shared.found);
    match opened {
        Ok((database, tables)) => {
            (found.tables, found.problem) = (tables, None);
            drop(found);
            *lock(&shared.handle) = Some(database.interrupt_handle());
            Ok(database)
        }
        Err(error) => {
            found.problem = Some(error.clone());
            Err(error)
        }
    }
}

/// Rows as they come.
struct Collected<'s> {
    shared: &'s Shared,
    job: u64,
}

impl Rows for Collected<'_> {
    fn begin(&mut self, columns: &[&str]) -> std::io::Result<()> {
        let mut found = lock(&self.shared.found);
        found.columns = columns.iter().map(|name| (*name).to_owned()).collect();
        found.rows.clear();
        (found.bytes, found.is_cut) = (0, false);
        Ok(())
    }

    fn row(&mut self, values: &[ValueRef<'_>]) -> std::io::Result<()> {
        if self.shared.wanted.load(Ordering::Relaxed) != self.job {
            return Err(std::io::Error::other("the query was ended"));
        }
        let row: Vec<Value> = values.iter().map(|value| shown(*value)).collect();
        let bytes: usize = row.iter().map(|value| 32 + value.as_str().map_or(0, str::len)).sum();
        let mut found = lock(&self.shared.found);
        if found.rows.len() >= ROWS_MAX || found.bytes + bytes > BYTES_MAX {
            found.is_cut = true;
            return Err(std::io::Error::other("enough rows"));
        }
        found.bytes += bytes;
        found.rows.push(row);
        Ok(())
    }

    fn end(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn shown(value: ValueRef<'_>) -> Value {
    let shorten = |text: &str| {
        let kept = &text[..text.floor_char_boundary(VALUE_MAX)];
        if kept.len() < text.len() { format!("{kept}…") } else { kept.to_owned() }
    };
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => json!(number.to_string()),
        ValueRef::Real(number) => json!(number.to_string()),
        ValueRef::Text(bytes) => {
            // Only so much is looked at: what follows is cut anyway.
            let bytes = &bytes[..bytes.len().min(2 * VALUE_MAX)];
            json!(shorten(&String::from_utf8_lossy(bytes)))
        }
        ValueRef::Blob(bytes) => {
            let kept = &bytes[..bytes.len().min(VALUE_MAX / 2)];
            let digits: String = kept.iter().map(|byte| format!("{byte:02x}")).collect();
            json!(if kept.len() < bytes.len() { format!("x'{digits}…") } else { format!("x'{digits}'") })
        }
    }
}
