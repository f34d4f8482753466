//! One record, as Python sees it: everything is made when it is asked for.

use std::cell::RefCell;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString};
use silverpoint_render::{Renderer, text};
use silverpoint_trace::cause_name;
use silverpoint_wire::level::Kind;

use crate::row::{Kept, Row};
use crate::site::Site;
use crate::value;

thread_local! {
    static RENDERER: RefCell<(Renderer, String)> = RefCell::default();
}

/// Gives what a record says to `take`.
pub(crate) fn with_message<R>(row: &Row, take: impl FnOnce(&str) -> R) -> R {
    RENDERER.with_borrow_mut(|(renderer, out)| {
        out.clear();
        text::say(renderer, out, &row.what(), &row.thread);
        take(out)
    })
}

/// Arguments of a record: a dict when they have names, else a list. What contradicts the signature is None, and everything behind it.
pub(crate) fn arguments<'py>(py: Python<'py>, row: &Row) -> PyResult<Bound<'py, PyAny>> {
    let dict = |pairs: &[(&str, u64)], cause: Option<u8>| {
        let dict = PyDict::new(py);
        if let Some(cause) = cause {
            dict.set_item("cause", cause_name(cause))?;
        }
        pairs.iter().try_for_each(|(name, value)| dict.set_item(name, value))?;
        PyResult::Ok(dict.into_any())
    };
    let (data, bytes) = match &row.what {
        Kept::Record { site, args, .. } => (site, args),
        Kept::Unknown { site_id, .. } => return dict(&[("site", u64::from(*site_id))], None),
        Kept::SpanEnd { .. } => return dict(&[], None),
        Kept::Loss { cause, count, span_ns } => {
            return dict(&[("count", *count), ("span_ns", *span_ns)], Some(*cause));
        }
        Kept::Stall { cause, .. } => return dict(&[], Some(*cause)),
    };
    let site = &data.site;
    let mut at = Some(0);
    let mut next = |ty| -> PyResult<Bound<'py, PyAny>> {
        let read = match at {
            Some(at) => value::argument(py, ty, bytes, at)?,
            None => None,
        };
        at = read.as_ref().map(|(_, end)| *end);
        Ok(read.map_or_else(|| py.None().into_bound(py), |(value, _)| value))
    };
    if site.names.is_empty() && !site.types.is_empty() {
        let list = PyList::empty(py);
        for ty in &site.types {
            list.append(next(ty)?)?;
        }
        return Ok(list.into_any());
    }
    let dict = PyDict::new(py);
    let names = &Site::of(py, data)?.get().names;
    for (ty, name) in site.types.iter().zip(names) {
        dict.set_item(name.bind(py), next(ty)?)?;
    }
    Ok(dict.into_any())
}

/// Fields of a context.
pub(crate) fn context<'py>(py: Python<'py>, row: &Row) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, item) in row.context.iter().flat_map(|context| context.fields()) {
        dict.set_item(name, value::item(py, item)?)?;
    }
    Ok(dict)
}

/// One record.
#[pyclass(frozen, module = "silverpoint")]
pub(crate) struct Record {
    row: Row,
    args: PyOnceLock<Py<PyAny>>,
}

impl Record {
    pub(crate) fn new(row: Row) -> Self {
        Self { row, args: PyOnceLock::new() }
    }

    /// Something of its site, or the empty text.
    fn of_site(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        match self.row.site() {
            Some(data) => Ok(Site::of(py, data)?.bind(py).getattr(name)?.unbind()),
            None => Ok(PyString::intern(py, "").into_any().unbind()),
        }
    }
}

#[pymethods]
impl Record {
    /// Nanoseconds since the beginning of 1970.
    #[getter]
    fn time_ns(&self) -> i64 {
        self.row.wall_ns
    }

    /// The same as a datetime in UTC.
    #[getter]
    fn time<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::time(py, self.row.wall_ns)
    }

    /// How grave it is.
    #[getter]
    fn level(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(value::classes(py)?.levels[self.row.what().level() as usize].clone_ref(py))
    }

    /// What it is.
    #[getter]
    fn kind(&self, py: Python<'_>) -> Py<PyString> {
        PyString::intern(py, self.row.kind()).unbind()
    }

    /// Name of the process.
    #[getter]
    fn process(&self) -> &str {
        &self.row.process.name
    }

    /// Process id.
    #[getter]
    fn pid(&self) -> u32 {
        self.row.process.pid
    }

    /// Thread id.
    #[getter]
    fn tid(&self) -> u32 {
        self.row.tid
    }

    /// Name of the thread.
    #[getter]
    fn thread(&self) -> &str {
        &self.row.thread
    }

    /// Its tracepoint.
    #[getter]
    fn site(&self, py: Python<'_>) -> PyResult<Option<Py<Site>>> {
        self.row.site().map(|data| Ok(Site::of(py, data)?.clone_ref(py))).transpose()
    }

    #[getter]
    fn category(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.of_site(py, "category")
    }

    #[getter]
    fn file(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.of_site(py, "file")
    }

    #[getter]
    fn line(&self) -> u32 {
        self.row.site().map_or(0, |data| data.site.description.line)
    }

    #[getter]
    fn function(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.of_site(py, "function")
    }

    #[getter]
    fn template(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.of_site(py, "template")
    }

    /// Name of an event, span, counter or instant; the empty text for others.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self.row.site() {
            Some(data) if !matches!(data.site.kind(), Kind::Log | Kind::Stream) => {
                self.of_site(py, "template")
            }
            _ => Ok(PyString::intern(py, "").into_any().unbind()),
        }
    }

    /// Arguments.
    #[getter]
    fn args(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let made = self.args.get_or_try_init(py, || arguments(py, &self.row).map(Bound::unbind))?;
        Ok(made.clone_ref(py))
    }

    /// What it says.
    #[getter]
    fn message(&self, py: Python<'_>) -> Py<PyString> {
        with_message(&self.row, |message| PyString::new(py, message).unbind())
    }

    /// Fields of the scopes that the thread was in.
    #[getter]
    fn context<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        context(py, &self.row)
    }

    /// How long a span or a wait took, in nanoseconds.
    #[getter]
    fn duration_ns(&self) -> Option<u64> {
        self.row.duration_ns()
    }

    /// The same as a timedelta.
    #[getter]
    fn duration<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let ns = self.row.duration_ns().and_then(|ns| i64::try_from(ns).ok());
        ns.map(|ns| value::duration(py, ns)).transpose()
    }

    /// Whether the program had to cut an argument.
    #[getter]
    fn truncated(&self) -> bool {
        matches!(self.row.what, Kept::Record { truncated: true, .. })
    }

    /// Whether it was kept back until something happened that it helps to explain.
    #[getter]
    fn is_backtrace(&self) -> bool {
        self.row.is_backtrace
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.args(py)?.into_bound(py).get_item(key)
    }

    #[pyo3(signature = (name, default = None))]
    fn get(&self, py: Python<'_>, name: &str, default: Option<Py<PyAny>>) -> PyResult<Option<Py<PyAny>>> {
        let args = self.args(py)?.into_bound(py);
        let Ok(args) = args.cast::<PyDict>() else { return Ok(default) };
        Ok(args.get_item(name)?.map(Bound::unbind).or(default))
    }

    fn __str__(&self, py: Python<'_>) -> Py<PyString> {
        self.message(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let time = self.time(py)?.call_method0("isoformat")?;
        let level = self.row.what().level().name();
        Ok(with_message(&self.row, |message| format!("<Record {time} {level} {message:?}>")))
    }
}
