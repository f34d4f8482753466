//! Spans: begins that have found their ends, in the thread that reads.

use std::collections::HashMap;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyDict, PyString};
use silverpoint_query::filter::{Filter, RecordFilter};
use silverpoint_query::spans::{AsyncSpans, OpenSpans, async_id};
use silverpoint_query::tree::{Part, part};
use silverpoint_trace::{Note, Record, What};
use silverpoint_wire::level::Kind;

use crate::arrow::Table;
use crate::fault::Fault;
use crate::record::{arguments, context, with_message};
use crate::row::{Kept, Row, SiteData};
use crate::site::Site;
use crate::source::{Batches, Source, Wanted, Weighed, some_rows};
use crate::trace::Problem;
use crate::value;

/// Spans that may be open at once; a file of nothing but begins must not fill the memory.
const OPEN_MAX: usize = 1 << 20;
/// By so many nanoseconds a begin may differ from what its end says, where times are all that is known.
const ROUNDING: u64 = 64;
/// Records of later fields of one span.
const LATER_MAX: usize = 1024;

/// One span as it is read.
pub(crate) struct SpanRow {
    /// The record of its begin; of its end, when the begin was not seen.
    pub(crate) row: Row,
    pub(crate) site: Arc<SiteData>,
    pub(crate) has_begin: bool,
    pub(crate) begin_ns: i64,
    pub(crate) end_ns: Option<i64>,
    pub(crate) duration_ns: Option<u64>,
    /// Its number, by the order of begins.
    pub(crate) id: u64,
    /// The span of the same thread that it lies in.
    pub(crate) parent: Option<u64>,
    /// Records of fields that it got after it had begun.
    pub(crate) later: Vec<Row>,
}

impl SpanRow {
    /// What it is.
    pub(crate) fn kind(&self) -> &'static str {
        if self.site.site.kind() == Kind::Span { "span" } else { "async" }
    }
}

impl Weighed for SpanRow {
    fn bytes(&self) -> usize {
        let later: usize = self.later.iter().map(Row::bytes).sum();
        size_of::<Self>() - size_of::<Row>() + self.row.bytes() + later
    }
}

type Thread = (usize, u32);

/// Joins begins and ends.
struct Joiner {
    open: OpenSpans<u32, SpanRow>,
    /// By process, category, name and id.
    asyncs: AsyncSpans<(usize, String, String, u64), SpanRow>,
    last_id: u64,
    /// See [`ROUNDING`].
    rounding: u64,
}

impl Joiner {
    fn take(&mut self, row: Row) -> Result<Option<SpanRow>, Fault> {
        let process = Arc::as_ptr(&row.process) as usize;
        let thread = (process, row.tid);
        match &row.what {
            Kept::Record { site, args, .. } => {
                let (site, kind) = (Arc::clone(site), site.site.kind());
                let key = || {
                    let id = async_id(&site.site, args)?;
                    let description = &site.site.description;
                    let (category, name) = (description.category.clone(), description.template.clone());
                    Some((process, category, name, id))
                };
                match kind {
                    Kind::Span => {
                        let number = number_of(&site);
                        let span = self.begun(row, site, thread)?;
                        self.open.begin(thread, number, span.row.mark, span);
                        Ok(None)
                    }
                    Kind::AsyncBegin => {
                        let Some(key) = key() else { return Ok(None) };
                        let mut span = self.begun(row, site, thread)?;
                        span.parent = None;
                        self.asyncs.begin(key, span);
                        Ok(None)
                    }
                    Kind::AsyncInstant => {
                        if matches!(part(&site.site, args), Some(Part::Fields(_)))
                            && let Some(key) = key()
                            && let Some(span) = self.asyncs.last_mut(&key)
                        {
                            if span.later.len() == LATER_MAX {
                                span.later.remove(0);
                            }
                            span.later.push(row);
                        }
                        Ok(None)
                    }
                    Kind::AsyncEnd => {
                        let Some(key) = key() else { return Ok(None) };
                        Ok(self.asyncs.end(&key).map(|mut span| {
                            span.end_ns = Some(row.wall_ns);
                            span.duration_ns = u64::try_from(row.wall_ns.saturating_sub(span.begin_ns)).ok();
                            span
                        }))
                    }
                    _ => Ok(None),
                }
            }
            Kept::SpanEnd { site: Some(site), begin_mark, duration_ns } => {
                let (duration_ns, end_ns) = (*duration_ns, row.wall_ns);
                let number = number_of(site);
                let known = self.open.find(thread, *begin_mark, self.rounding, |of, _| of == number);
                let mut span = match known.and_then(|place| self.open.remove(place)) {
                    Some(span) => span,
                    None => {
                        // Its begin was lost, or is not among what was asked for.
                        self.last_id += 1;
                        let back = duration_ns.and_then(|ns| i64::try_from(ns).ok()).unwrap_or(0);
                        SpanRow {
                            site: Arc::clone(site),
                            has_begin: false,
                            begin_ns: end_ns.saturating_sub(back),
                            end_ns: None,
                            duration_ns: None,
                            id: self.last_id,
                            parent: None,
                            later: Vec::new(),
                            row,
                        }
                    }
                };
                (span.end_ns, span.duration_ns) = (Some(end_ns), duration_ns);
                Ok(Some(span))
            }
            _ => Ok(None),
        }
    }

    fn begun(&mut self, row: Row, site: Arc<SiteData>, thread: Thread) -> Result<SpanRow, Fault> {
        if self.open.count() + self.asyncs.count() == OPEN_MAX {
            return Err(Fault::Filter(format!(
                "more than {OPEN_MAX} spans are open at once; ask for less of the trace, by time, thread or category"
            )));
        }
        self.last_id += 1;
        let parent = self.open.innermost(thread).map(|span| span.id);
        let (begin_ns, id) = (row.wall_ns, self.last_id);
        Ok(SpanRow {
            row,
            site,
            has_begin: true,
            begin_ns,
            end_ns: None,
            duration_ns: None,
            id,
            parent,
            later: Vec::new(),
        })
    }

    /// Those that have not ended.
    fn left(mut self) -> Vec<SpanRow> {
        let mut left: Vec<SpanRow> = self.open.take().chain(self.asyncs.take()).collect();
        left.sort_unstable_by_key(|span| (span.begin_ns, span.id));
        left
    }
}

/// What a site is known by among open spans.
fn number_of(site: &Arc<SiteData>) -> usize {
    Arc::as_ptr(site) as usize
}

/// Whether a record has to do with spans.
fn concerns(what: &What<'_>) -> bool {
    match what {
        What::Record { site, .. } => {
            matches!(site.kind(), Kind::Span | Kind::AsyncBegin | Kind::AsyncInstant | Kind::AsyncEnd)
        }
        What::SpanEnd { .. } => true,
        _ => false,
    }
}

/// Reads all spans that are wanted. What a filter says of arguments and messages, the begins must satisfy.
pub(crate) fn read(
    source: &Source,
    wanted: &Wanted,
    give: &mut dyn FnMut(SpanRow) -> bool,
) -> Result<Option<Vec<Note>>, Fault> {
    let mut of_values = wanted.filter.expression.as_ref().and_then(|expression| {
        RecordFilter::new(&Filter { expression: Some(expression.clone()), ..Filter::default() })
    });
    let mut numbers = HashMap::new();
    let mut is_wanted = move |span: &SpanRow| {
        let is_asked = of_values.is_some() || wanted.grep.is_some();
        if is_asked && !span.has_begin {
            return false;
        }
        let next = numbers.len();
        let number = *numbers.entry(Arc::as_ptr(&span.site)).or_insert(next);
        let takes = of_values.as_mut().is_none_or(|filter| filter.takes(&record(&span.row, number)));
        let grep = wanted.grep.as_ref();
        takes && grep.is_none_or(|grep| with_message(&span.row, |message| grep.is_match(message)))
    };
    let filter = Filter { expression: None, ..wanted.filter.clone() };
    let everything = Wanted { filter, grep: None };
    let rounding = if source.others.is_empty() { 0 } else { ROUNDING };
    let mut joiner =
        Joiner { open: OpenSpans::default(), asyncs: AsyncSpans::default(), last_id: 0, rounding };
    let mut fault = None;
    let end = some_rows(source, &everything, &concerns, &mut |row| match joiner.take(row) {
        Ok(Some(span)) => !is_wanted(&span) || give(span),
        Ok(None) => true,
        Err(why) => {
            fault = Some(why);
            false
        }
    })?;
    if let Some(fault) = fault {
        return Err(fault);
    }
    if end.is_some() {
        for span in joiner.left() {
            if is_wanted(&span) && !give(span) {
                return Ok(None);
            }
        }
    }
    Ok(end)
}

fn record(row: &Row, number: usize) -> Record<'_> {
    let what = match row.what() {
        What::Record { site, args, truncated, .. } => {
            What::Record { site, site_number: number, args, truncated }
        }
        other => other,
    };
    Record {
        wall_ns: row.wall_ns,
        ticks: None,
        process: &row.process.name,
        pid: row.process.pid,
        process_number: 0,
        tid: row.tid,
        thread: &row.thread,
        context: row.context.as_deref(),
        is_backtrace: row.is_backtrace,
        what,
    }
}

/// One span.
#[pyclass(frozen, module = "silverpoint")]
pub(crate) struct Span {
    span: SpanRow,
    args: PyOnceLock<Py<PyAny>>,
}

impl Span {
    fn of_site(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        Ok(Site::of(py, &self.span.site)?.bind(py).getattr(name)?.unbind())
    }
}

#[pymethods]
impl Span {
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.of_site(py, "template")
    }

    #[getter]
    fn kind(&self) -> &'static str {
        self.span.kind()
    }

    #[getter]
    fn begin_ns(&self) -> i64 {
        self.span.begin_ns
    }

    #[getter]
    fn end_ns(&self) -> Option<i64> {
        self.span.end_ns
    }

    #[getter]
    fn begin<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::time(py, self.span.begin_ns)
    }

    #[getter]
    fn end<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.span.end_ns.map(|ns| value::time(py, ns)).transpose()
    }

    #[getter]
    fn duration_ns(&self) -> Option<u64> {
        self.span.duration_ns
    }

    #[getter]
    fn duration<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let ns = self.span.duration_ns.and_then(|ns| i64::try_from(ns).ok());
        ns.map(|ns| value::duration(py, ns)).transpose()
    }

    #[getter]
    fn id(&self) -> u64 {
        self.span.id
    }

    #[getter]
    fn parent(&self) -> Option<u64> {
        self.span.parent
    }

    #[getter]
    fn site(&self, py: Python<'_>) -> PyResult<Py<Site>> {
        Ok(Site::of(py, &self.span.site)?.clone_ref(py))
    }

    #[getter]
    fn level(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.of_site(py, "level")
    }

    #[getter]
    fn category(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.of_site(py, "category")
    }

    #[getter]
    fn process(&self) -> &str {
        &self.span.row.process.name
    }

    #[getter]
    fn pid(&self) -> u32 {
        self.span.row.process.pid
    }

    #[getter]
    fn tid(&self) -> u32 {
        self.span.row.tid
    }

    #[getter]
    fn thread(&self) -> &str {
        &self.span.row.thread
    }

    #[getter]
    fn args(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let made = self.args.get_or_try_init(py, || {
            let args = arguments(py, &self.span.row)?;
            if let Ok(all) = args.cast::<PyDict>() {
                for later in &self.span.later {
                    let fields = arguments(py, later)?;
                    let Ok(fields) = fields.cast::<PyDict>() else { continue };
                    // The first is the span's id.
                    for (name, value) in fields.iter().skip(1) {
                        all.set_item(name, value)?;
                    }
                }
            }
            Ok::<_, PyErr>(args.unbind())
        })?;
        Ok(made.clone_ref(py))
    }

    #[getter]
    fn message(&self, py: Python<'_>) -> Py<PyString> {
        with_message(&self.span.row, |message| PyString::new(py, message).unbind())
    }

    #[getter]
    fn context<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        context(py, &self.span.row)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.args(py)?.into_bound(py).get_item(key)
    }

    fn __repr__(&self) -> String {
        let duration = self.span.duration_ns.map_or_else(|| "open".to_owned(), |ns| format!("{ns} ns"));
        format!("<Span {:?} {duration}>", self.span.site.site.description.template)
    }
}

/// The spans of a selection.
#[pyclass(frozen, module = "silverpoint")]
pub(crate) struct Spans {
    pub(crate) source: Arc<Source>,
    pub(crate) wanted: Wanted,
}

impl Spans {
    pub(crate) fn new(source: Arc<Source>, wanted: Wanted) -> Self {
        Self { source, wanted }
    }
}

#[pymethods]
impl Spans {
    fn __iter__(&self) -> PyResult<SpanIterator> {
        let batches = Batches::begin(&self.source, self.wanted.clone(), read)?;
        Ok(SpanIterator { batches, spans: Vec::new().into_iter() })
    }

    /// The same as a table; with a name those of this name, with their arguments as columns.
    #[pyo3(signature = (name = None, *, columns = None))]
    fn arrow(&self, py: Python<'_>, name: Option<String>, columns: Option<Vec<String>>) -> PyResult<Table> {
        Table::new(py, &self.source, &self.wanted, true, name, columns)
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
}

/// Gives spans.
#[pyclass(module = "silverpoint")]
pub(crate) struct SpanIterator {
    batches: Batches<SpanRow>,
    spans: std::vec::IntoIter<SpanRow>,
}

#[pymethods]
impl SpanIterator {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Span>> {
        loop {
            if let Some(span) = self.spans.next() {
                return Ok(Some(Span { span, args: PyOnceLock::new() }));
            }
            match self.batches.next(py)? {
                Some(spans) => self.spans = spans.into_iter(),
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
