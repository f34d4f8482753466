//! What is open, and iterating over it.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyDict, PyList};
use regex::RegexBuilder;
use silverpoint_convert::{Formats, SILVER};
use silverpoint_trace::{Note, Verdict, with_parts};

use crate::arrow::Table;
use crate::fault::{Fault, offset};
use crate::filter;
use crate::record::Record;
use crate::row::{Row, SiteData};
use crate::site::Site;
use crate::source::{self, Batches, Source, Wanted};
use crate::spans::Spans;

/// Trace files, or files of other formats, that were opened together; or a selection of their records.
#[pyclass(frozen, module = "silverpoint")]
pub(crate) struct Trace {
    pub(crate) source: Arc<Source>,
    pub(crate) wanted: Wanted,
}

/// Bytes of a compiled regular expression at most.
const GREP_BYTES: usize = 4 << 20;

/// Opens files, exactly these or with the other parts of rotated ones.
#[pyfunction]
pub(crate) fn open(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    only: bool,
    format: Option<&str>,
    strict: bool,
) -> PyResult<Trace> {
    let formats = Formats::default();
    let (mut traces, mut others) = (Vec::new(), Vec::new());
    for path in paths {
        let known = match format {
            Some(name) => Some(formats.named(name).ok_or_else(|| {
                let known: Vec<&str> = formats.all().iter().map(|format| format.name).collect();
                PyValueError::new_err(format!("there is no format '{name}': {}", known.join(", ")))
            })?),
            None => formats.of(&path),
        };
        match known {
            Some(format) if format.name != SILVER => match format.reader {
                Some(make) => {
                    std::fs::metadata(&path).map_err(|error| Fault::Io(path.clone(), error).raise(py))?;
                    others.push((path, make));
                }
                None => {
                    return Err(PyValueError::new_err(format!(
                        "{}: {} can only be written, not read",
                        path.display(),
                        format.name
                    )));
                }
            },
            // Names of trace files may be any.
            _ => traces.push(path),
        }
    }
    let trace = py
        .detach(|| {
            if traces.is_empty() && !others.is_empty() {
                return Ok(None);
            }
            let paths = if only { traces } else { with_parts(&traces) };
            let trace = silverpoint_trace::Trace::open(&paths)?;
            match trace.notes().iter().find(|note| note.matter.verdict() == Verdict::NotATraceFile) {
                Some(note) => Err(Fault::not_a_trace(note)),
                None => Ok(Some(trace)),
            }
        })
        .map_err(|fault| fault.raise(py))?;
    let source = Source { trace, others, is_strict: strict };
    Ok(Trace { source: Arc::new(source), wanted: Wanted::default() })
}

/// The words of a filter, on top of those of a selection.
pub(crate) fn narrowed(py: Python<'_>, base: &Wanted, words: Option<&Bound<'_, PyDict>>) -> PyResult<Wanted> {
    let mut wanted = base.clone();
    let words = words.map(|words| words.copy()).transpose()?;
    if let Some(words) = &words
        && let Some(grep) = words.get_item("grep")?
    {
        words.del_item("grep")?;
        if !grep.is_none() {
            // Of a pattern compiled by `re` its text; the grammar is that of the crate `regex`.
            let text: String = match grep.getattr("pattern") {
                Ok(pattern) => pattern.extract()?,
                Err(_) => grep.extract()?,
            };
            let compiled = RegexBuilder::new(&text).size_limit(GREP_BYTES).build();
            wanted.grep = Some(compiled.map_err(|error| Fault::Filter(format!("grep: {error}")).raise(py))?);
        }
    }
    wanted.filter = filter::read(py, &base.filter, words.as_ref())?;
    Ok(wanted)
}

#[pymethods]
impl Trace {
    /// The same with fewer records.
    #[pyo3(signature = (**words))]
    fn filter(&self, py: Python<'_>, words: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Ok(Self { source: Arc::clone(&self.source), wanted: narrowed(py, &self.wanted, words)? })
    }

    /// The records, in order of time.
    #[pyo3(signature = (**words))]
    fn records(&self, py: Python<'_>, words: Option<&Bound<'_, PyDict>>) -> PyResult<Records> {
        let wanted = narrowed(py, &self.wanted, words)?;
        let batches = Batches::begin(&self.source, wanted, source::rows)?;
        Ok(Records { batches, rows: Vec::new().into_iter() })
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<Records> {
        self.records(py, None)
    }

    /// The spans, in the order of their ends.
    #[pyo3(signature = (**words))]
    fn spans(&self, py: Python<'_>, words: Option<&Bound<'_, PyDict>>) -> PyResult<Spans> {
        Ok(Spans::new(Arc::clone(&self.source), narrowed(py, &self.wanted, words)?))
    }

    /// How many records there are.
    #[pyo3(signature = (**words))]
    fn count(&self, py: Python<'_>, words: Option<&Bound<'_, PyDict>>) -> PyResult<u64> {
        let wanted = narrowed(py, &self.wanted, words)?;
        if let Some(trace) = &self.source.trace
            && self.source.others.is_empty()
            && wanted.grep.is_none()
        {
            return Ok(py.detach(|| trace.count(&wanted.filter).events));
        }
        let mut batches = Batches::begin(&self.source, wanted, source::rows)?;
        let mut count = 0;
        while let Some(rows) = batches.next(py)? {
            count += rows.len() as u64;
        }
        Ok(count)
    }

    /// The records as a table; with a name those of one event, with its arguments as columns.
    #[pyo3(signature = (name = None, *, columns = None))]
    fn arrow(&self, py: Python<'_>, name: Option<String>, columns: Option<Vec<String>>) -> PyResult<Table> {
        Table::new(py, &self.source, &self.wanted, false, name, columns)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        self.arrow(py, None, None)?.stream(py)
    }

    /// The tracepoints that trace files describe.
    #[getter]
    fn sites<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let sites = self.source.trace.iter().flat_map(|trace| &trace.sites);
        let made = sites.map(|site| {
            let data = SiteData { site: site.clone(), object: PyOnceLock::new() };
            Ok(Site::of(py, &data)?.clone_ref(py))
        });
        PyList::new(py, made.collect::<PyResult<Vec<_>>>()?)
    }

    /// Name and id of each process of trace files.
    #[getter]
    fn processes(&self) -> Vec<(String, u32)> {
        let sessions = self.source.trace.iter().flat_map(|trace| &trace.sessions);
        sessions.map(|session| (session.name.clone(), session.pid)).collect()
    }

    /// Paths of the trace files, the parts of rotated ones included, and of the others.
    #[getter]
    fn files(&self) -> Vec<String> {
        let files = self.source.trace.iter().flat_map(|trace| &trace.files).map(|file| &file.path);
        files
            .chain(self.source.others.iter().map(|(path, _)| path))
            .map(|path| path.display().to_string())
            .collect()
    }

    /// Times of the first and last record of trace files, in nanoseconds.
    #[getter]
    fn time_range_ns(&self) -> Option<(i64, i64)> {
        self.source.trace.as_ref()?.time_range()
    }

    /// What trace files miss, as far as it is known without reading the records.
    #[getter]
    fn notes(&self) -> Vec<Problem> {
        self.source.trace.iter().flat_map(|trace| trace.notes()).map(Problem::of).collect()
    }

    /// The worst of it.
    #[getter]
    fn verdict(&self) -> &'static str {
        self.source.trace.as_ref().map_or(Verdict::Intact, |trace| trace.verdict()).name()
    }

    fn __repr__(&self) -> String {
        format!("<Trace {}>", self.files().join(" "))
    }
}

/// Something that is not as it should be.
#[pyclass(frozen, module = "silverpoint")]
pub(crate) struct Problem {
    #[pyo3(get)]
    path: String,
    #[pyo3(get)]
    offset: Option<u64>,
    #[pyo3(get)]
    message: String,
    #[pyo3(get)]
    verdict: &'static str,
}

impl Problem {
    pub(crate) fn of(note: &Note) -> Self {
        Self {
            path: note.file.display().to_string(),
            offset: offset(note),
            message: note.to_string(),
            verdict: note.matter.verdict().name(),
        }
    }
}

#[pymethods]
impl Problem {
    fn __str__(&self) -> &str {
        &self.message
    }

    fn __repr__(&self) -> String {
        format!("<Problem {}>", self.message)
    }
}

/// Gives records.
#[pyclass(module = "silverpoint")]
pub(crate) struct Records {
    batches: Batches<Row>,
    rows: std::vec::IntoIter<Row>,
}

#[pymethods]
impl Records {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Record>> {
        loop {
            if let Some(row) = self.rows.next() {
                return Ok(Some(Record::new(row)));
            }
            match self.batches.next(py)? {
                Some(rows) => self.rows = rows.into_iter(),
                None => return Ok(None),
            }
        }
    }

    /// What was missing; complete at the end.
    #[getter]
    fn notes(&self) -> Vec<Problem> {
        self.batches.notes.iter().map(Problem::of).collect()
    }

    /// The worst of it.
    #[getter]
    fn verdict(&self) -> &'static str {
        self.batches.verdict().name()
    }
}
