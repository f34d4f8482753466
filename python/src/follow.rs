//! Records as they come: of files that grow, and of a living process.
//!
//! A process that is collected is read from its collector's file, which its session names. A process without a collector is copied into a temporary
//! directory, which is removed afterwards. Either way nothing is written into a session.

use std::collections::VecDeque;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyProcessLookupError, PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use silverpoint_collect::{Encoding, Existing, Onlooker, OutputConfig};
use silverpoint_shm::observer::{ObservedSession, SessionName, list};
use silverpoint_shm::root::Root;
use silverpoint_trace::{Event, Follow, Note, Trace, Verdict, Watcher, with_parts};

use crate::fault::Fault;
use crate::record::Record;
use crate::row::{Keeper, Row};
use crate::source::Wanted;
use crate::trace::{Problem, narrowed};

/// Between two looks.
const LOOK: Duration = Duration::from_millis(20);
/// Rows that wait at most: more stay in the files.
const ROWS: usize = 4096;
/// Problems that are kept.
const NOTES_MAX: usize = 1000;
/// A part of the copies; those that were read are removed.
const PART_BYTES: u64 = 16 << 20;
/// Private roots (of `silverpoint run`) that are looked into.
const ROOTS_MAX: usize = 1000;

/// Gives records as they come.
#[pyclass(module = "silverpoint")]
pub(crate) struct Following {
    state: Arc<Mutex<State>>,
    timeout: Option<Duration>,
}

struct State {
    follow: Follow,
    live: Option<Live>,
    collected: Collected,
    notes: Vec<Note>,
    has_failed: bool,
}

/// What one look has brought.
struct Collected {
    keeper: Keeper,
    wanted: Wanted,
    rows: VecDeque<Row>,
}

impl Watcher for Collected {
    fn begin(&mut self, _trace: &Trace) {}

    fn event(&mut self, event: &Event<'_>) -> bool {
        if let Some(row) = self.keeper.event(event)
            && self.wanted.takes(&row)
        {
            self.rows.push_back(row);
        }
        self.rows.len() < ROWS
    }
}

/// A living process.
struct Live {
    pid: u32,
    onlooker: Option<(Onlooker, Scratch)>,
    /// Sessions that are copied or read from their collector's file.
    known: Vec<SessionName>,
    is_over: bool,
}

impl Live {
    /// Copies what is new; gives files to be read from now on.
    fn look(&mut self) -> Result<Vec<PathBuf>, Fault> {
        let mut files = Vec::new();
        let mut is_alive = false;
        for (root, name) in sessions(self.pid) {
            let Ok(session) = ObservedSession::open_read_only(&root, name) else { continue };
            if !session.is_alive().unwrap_or(false) {
                continue;
            }
            is_alive = true;
            if self.known.contains(&name) {
                continue;
            }
            if session.is_collected().unwrap_or(false) {
                // Its collector has just come when there is no file yet: the next look finds it.
                if let Some(intent) = session.intent().ok().flatten() {
                    files.push(intent.path);
                    self.known.push(name);
                }
                continue;
            }
            if self.onlooker.is_none() {
                let scratch = Scratch::new().map_err(|error| Fault::Io(std::env::temp_dir(), error))?;
                let file = scratch.0.join("live.silver");
                let output = OutputConfig {
                    existing: Existing::Refuse,
                    encoding: Encoding::Raw,
                    rotate_bytes: Some(PART_BYTES),
                    ..OutputConfig::new(file.clone())
                };
                let onlooker = Onlooker::new(output).map_err(|error| copying(&file, &error))?;
                files.push(file);
                self.onlooker = Some((onlooker, scratch));
            }
            if let Some((onlooker, _)) = &mut self.onlooker
                && onlooker.add(&root, name).is_ok()
            {
                self.known.push(name);
            }
        }
        if let Some((onlooker, _)) = &mut self.onlooker {
            let left = onlooker.pass().map_err(|error| copying(onlooker.path(), &error))?;
            // One that has a collector now is found again, with its file.
            self.known.retain(|name| !left.iter().any(|(gone, _)| gone == name));
            is_alive |= !onlooker.sessions().is_empty();
        }
        self.is_over = !is_alive;
        Ok(files)
    }
}

fn copying(path: &Path, error: &dyn std::fmt::Display) -> Fault {
    Fault::Io(path.to_owned(), io::Error::other(error.to_string()))
}

/// The sessions of a process, in the root and in the private roots beneath it.
fn sessions(pid: u32) -> Vec<(Arc<Root>, SessionName)> {
    let Ok(root) = Root::open() else { return Vec::new() };
    let mut roots = vec![Arc::new(root)];
    let mut at = 0;
    while at < roots.len() && roots.len() < ROOTS_MAX {
        let names =
            fs::read_dir(roots[at].path()).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let beneath: Vec<_> = names
            .filter(|name| name.to_str().is_some_and(|name| name.starts_with("run-")))
            .filter_map(|name| roots[at].open_beneath(&name).ok())
            .collect();
        roots.extend(beneath.into_iter().map(Arc::new));
        at += 1;
    }
    let of = |root: Arc<Root>| {
        let names = list(&root).unwrap_or_default().into_iter().filter(move |name| name.pid == pid);
        names.map(move |name| (Arc::clone(&root), name)).collect::<Vec<_>>()
    };
    roots.into_iter().flat_map(of).collect()
}

/// A directory of our own, removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> io::Result<Self> {
        let mut number = 0;
        loop {
            // Not named as those of the program, which removes them when nobody holds their lock.
            let path =
                std::env::temp_dir().join(format!("silverpoint-follow-{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// Removes parts that have been read: all but the newest.
    fn forget_before(&self, current: &Path) {
        let Ok(entries) = fs::read_dir(&self.0) else { return };
        let mut parts: Vec<PathBuf> =
            entries.flatten().map(|entry| entry.path()).filter(|path| path != current).collect();
        parts.sort();
        // The one before the current may just be being read.
        parts.pop();
        for part in parts {
            let _ = fs::remove_file(part);
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What came of a look.
enum Look {
    Row(Box<Row>),
    Nothing,
    End,
}

impl State {
    /// The next record, if there is one now.
    fn look(&mut self) -> Result<Look, Fault> {
        if let Some(row) = self.collected.rows.pop_front() {
            return Ok(Look::Row(Box::new(row)));
        }
        if self.has_failed {
            return Ok(Look::End);
        }
        let found = self.poll();
        self.has_failed = found.is_err();
        let is_over = found?;
        match self.collected.rows.pop_front() {
            Some(row) => Ok(Look::Row(Box::new(row))),
            None if is_over => Ok(Look::End),
            None => Ok(Look::Nothing),
        }
    }

    fn poll(&mut self) -> Result<bool, Fault> {
        if let Some(live) = &mut self.live {
            for file in live.look()? {
                self.follow.add(&file)?;
            }
        }
        let notes = self.follow.poll(&mut self.collected)?;
        self.notes.extend(notes);
        self.notes.truncate(NOTES_MAX);
        if let Some((onlooker, scratch)) = self.live.as_ref().and_then(|live| live.onlooker.as_ref()) {
            scratch.forget_before(onlooker.path());
        }
        Ok(match &self.live {
            Some(live) => live.is_over && self.follow.is_drained(),
            None => self.follow.is_finished(),
        })
    }
}

/// Follows files, or a process.
#[pyfunction]
#[pyo3(signature = (paths, pid, timeout, words))]
pub(crate) fn follow(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    pid: Option<u32>,
    timeout: Option<f64>,
    words: Option<&Bound<'_, PyDict>>,
) -> PyResult<Following> {
    let wanted = narrowed(py, &Wanted::default(), words)?;
    let timeout = match timeout {
        Some(seconds) => {
            let fault = || PyValueError::new_err("timeout: a number of seconds, from 0 on");
            Some(Duration::try_from_secs_f64(seconds).map_err(|_| fault())?)
        }
        None => None,
    };
    let mut follow = match pid {
        Some(_) => Follow::nothing(),
        None => {
            let opened = py.detach(|| -> Result<Follow, Fault> {
                let trace = Trace::open(&with_parts(&paths))?;
                let foreign = trace.is_foreign().then(|| {
                    trace.notes().iter().find(|note| note.matter.verdict() == Verdict::NotATraceFile).cloned()
                });
                if let Some(note) = foreign.flatten() {
                    return Err(Fault::not_a_trace(&note));
                }
                let head = |path: &PathBuf| {
                    with_parts(std::slice::from_ref(path)).pop().unwrap_or_else(|| path.clone())
                };
                let heads: Vec<PathBuf> = paths.iter().map(head).collect();
                Ok(Follow::new(trace, &heads, &wanted.filter))
            });
            opened.map_err(|fault| fault.raise(py))?
        }
    };
    let mut live = None;
    if let Some(pid) = pid {
        let mut looked = Live { pid, onlooker: None, known: Vec::new(), is_over: false };
        let files = py.detach(|| looked.look()).map_err(|fault| fault.raise(py))?;
        if looked.is_over {
            return Err(PyProcessLookupError::new_err(format!(
                "process {pid} has no living session: there is no such process, or it does not use Silverpoint, or it is another user's"
            )));
        }
        for file in files {
            follow.add(&file).map_err(|error| Fault::from(error).raise(py))?;
        }
        follow.set_filter(&wanted.filter);
        live = Some(looked);
    }
    let collected = Collected { keeper: Keeper::default(), wanted, rows: VecDeque::new() };
    let state = State { follow, live, collected, notes: Vec::new(), has_failed: false };
    Ok(Following { state: Arc::new(Mutex::new(state)), timeout })
}

#[pymethods]
impl Following {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    /// Waits for the next record without the interpreter's lock.
    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Record>> {
        let start = Instant::now();
        loop {
            let found = py.detach(|| self.state.lock().unwrap_or_else(PoisonError::into_inner).look());
            match found.map_err(|fault| fault.raise(py))? {
                Look::Row(row) => return Ok(Some(Record::new(*row))),
                Look::End => return Ok(None),
                Look::Nothing => {}
            }
            if self.timeout.is_some_and(|timeout| start.elapsed() >= timeout) {
                return Err(PyTimeoutError::new_err(
                    "no record has come for so long; the next call goes on waiting",
                ));
            }
            py.check_signals()?;
            py.detach(|| thread::sleep(LOOK));
        }
    }

    /// What was found to be missing so far.
    #[getter]
    fn notes(&self, py: Python<'_>) -> Vec<Problem> {
        let notes = py.detach(|| self.state.lock().unwrap_or_else(PoisonError::into_inner).notes.clone());
        notes.iter().map(Problem::of).collect()
    }
}
