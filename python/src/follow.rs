//! Records as they come: of files that grow, and of a living process.
//!
//! [`Live`] knows in which files a process can be read.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use silverpoint_read::{Live, Targets};
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
            // They are for a terminal.
            live.take_messages();
        }
        let notes = self.follow.poll(&mut self.collected)?;
        self.notes.extend(notes);
        self.notes.truncate(NOTES_MAX);
        Ok(match &mut self.live {
            Some(live) => {
                live.forget_read();
                live.is_over() && self.follow.is_drained()
            }
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
        let looked = py.detach(|| -> Result<_, Fault> {
            let mut live = Live::new(Targets::parse(&[pid.to_string()])?);
            let files = live.look()?;
            live.expect_some()?;
            Ok((live, files))
        });
        let (looked, files) = looked.map_err(|fault| fault.raise(py))?;
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
